//! Every ioctl number of `/dev/kfd` and those of the render node that a compute runtime issues,
//! with the KFD interface version that brought each.
//!
//! The kernel looks at the number alone and copies `min(caller's size, its own size)` bytes, so a
//! [`Request`] built with an older or newer struct still reaches the same handler.

use crate::{drm, kfd, newer};
use std::fmt;

/// Direction bits of an ioctl code, as the caller sees them (asm-generic/ioctl.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Direction {
    /// No argument.
    None = 0,
    /// The kernel only reads the argument (`_IOW`).
    Write = 1,
    /// The kernel only writes the argument (`_IOR`).
    Read = 2,
    /// Both (`_IOWR`).
    ReadWrite = 3,
}

/// An ioctl code: direction, argument size, magic and number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request(u32);

impl Request {
    /// Encodes as the `_IOC` macro of asm-generic/ioctl.h does.
    pub const fn new(direction: Direction, magic: u8, nr: u8, size: usize) -> Self {
        assert!(
            size < 1 << 14,
            "an ioctl argument has at most 14 bits of size"
        );
        #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
        let size = size as u32;
        Self((direction as u32) << 30 | size << 16 | (magic as u32) << 8 | nr as u32)
    }

    /// The request that a raw code stands for.
    pub const fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// The code to pass to `ioctl(2)`.
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The number in bits 0–7.
    pub const fn nr(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    /// The magic in bits 8–15: `b'K'` for KFD, `b'd'` for DRM.
    pub const fn magic(self) -> u8 {
        self.0.to_le_bytes()[1]
    }

    /// Argument size in bytes, bits 16–29.
    pub const fn size_bytes(self) -> usize {
        (self.0 >> 16 & 0x3fff) as usize
    }

    /// The caller wants the argument written back.
    pub const fn writes_back(self) -> bool {
        self.0 >> 30 & Direction::Read as u32 != 0
    }

    /// The same request with another argument size.
    pub const fn with_size(self, size: usize) -> Self {
        assert!(
            size < 1 << 14,
            "an ioctl argument has at most 14 bits of size"
        );
        #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
        let size = size as u32;
        Self(self.0 & !(0x3fff << 16) | size << 16)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match name(*self) {
            Some(name) => write!(f, "{name}({:#010x})", self.0),
            None => write!(f, "ioctl({:#010x})", self.0),
        }
    }
}

/// Magic of `/dev/kfd` (`AMDKFD_IOCTL_BASE`).
pub const KFD_MAGIC: u8 = b'K';
/// Magic of DRM nodes (`DRM_IOCTL_BASE`).
pub const DRM_MAGIC: u8 = b'd';
/// First driver-private DRM number (`DRM_COMMAND_BASE`).
pub const DRM_COMMAND_BASE: u8 = 0x40;

macro_rules! requests {
    ($( $(#[$doc:meta])* $name:ident = $magic:ident $nr:expr, $direction:ident $ty:ty, since $since:expr; )*) => {
        $(
            $(#[$doc])*
            #[doc = concat!("\n\nSince KFD interface 1.", stringify!($since), ".")]
            pub const $name: Request =
                Request::new(Direction::$direction, $magic, $nr, size_of::<$ty>());
        )*

        /// Name of a request, by magic and number.
        pub const fn name(request: Request) -> Option<&'static str> {
            $(
                if request.magic() == $magic && request.nr() == $nr {
                    return Some(stringify!($name));
                }
            )*
            None
        }

        /// Every request with the minor KFD interface version that brought it.
        pub const ALL: &[(Request, u32)] = &[ $( ($name, $since), )* ];
    };
}

requests! {
    /// Interface version of the driver.
    GET_VERSION = KFD_MAGIC 0x01, Read kfd::kfd_ioctl_get_version_args, since 0;
    /// Creates a user-mode queue. 88 bytes until 1.16, 96 since 1.17.
    CREATE_QUEUE = KFD_MAGIC 0x02, ReadWrite newer::kfd_ioctl_create_queue_args, since 0;
    /// Destroys a queue.
    DESTROY_QUEUE = KFD_MAGIC 0x03, ReadWrite kfd::kfd_ioctl_destroy_queue_args, since 0;
    /// Cache policy of the two apertures of gfx7 and gfx8; accepted and ignored since gfx9.
    SET_MEMORY_POLICY = KFD_MAGIC 0x04, Write newer::kfd_ioctl_set_memory_policy_args, since 0;
    /// GPU, CPU and system clocks at one instant.
    GET_CLOCK_COUNTERS = KFD_MAGIC 0x05, ReadWrite kfd::kfd_ioctl_get_clock_counters_args, since 0;
    /// Apertures of at most seven GPUs; superseded by [`GET_PROCESS_APERTURES_NEW`].
    GET_PROCESS_APERTURES = KFD_MAGIC 0x06, Read kfd::kfd_ioctl_get_process_apertures_args, since 0;
    /// Changes ring, priority or percentage of a queue.
    UPDATE_QUEUE = KFD_MAGIC 0x07, Write kfd::kfd_ioctl_update_queue_args, since 0;
    /// Creates an event.
    CREATE_EVENT = KFD_MAGIC 0x08, ReadWrite kfd::kfd_ioctl_create_event_args, since 0;
    /// Destroys an event.
    DESTROY_EVENT = KFD_MAGIC 0x09, Write kfd::kfd_ioctl_destroy_event_args, since 0;
    /// Signals an event.
    SET_EVENT = KFD_MAGIC 0x0a, Write kfd::kfd_ioctl_set_event_args, since 0;
    /// Clears an event.
    RESET_EVENT = KFD_MAGIC 0x0b, Write kfd::kfd_ioctl_reset_event_args, since 0;
    /// Waits for one or all of several events.
    WAIT_EVENTS = KFD_MAGIC 0x0c, ReadWrite kfd::kfd_ioctl_wait_events_args, since 0;
    /// Address of scratch memory, shifted right by 16.
    SET_SCRATCH_BACKING_VA = KFD_MAGIC 0x11, ReadWrite kfd::kfd_ioctl_set_scratch_backing_va_args, since 0;
    /// Tiling configuration, for images.
    GET_TILE_CONFIG = KFD_MAGIC 0x12, ReadWrite kfd::kfd_ioctl_get_tile_config_args, since 0;
    /// Second-level trap handler.
    SET_TRAP_HANDLER = KFD_MAGIC 0x13, Write kfd::kfd_ioctl_set_trap_handler_args, since 0;
    /// Apertures of every GPU.
    GET_PROCESS_APERTURES_NEW = KFD_MAGIC 0x14, ReadWrite kfd::kfd_ioctl_get_process_apertures_new_args, since 0;
    /// Makes a render node's VM the compute VM of this process on a GPU.
    ACQUIRE_VM = KFD_MAGIC 0x15, Write kfd::kfd_ioctl_acquire_vm_args, since 0;
    /// Allocates a buffer object or registers user memory.
    ALLOC_MEMORY_OF_GPU = KFD_MAGIC 0x16, ReadWrite kfd::kfd_ioctl_alloc_memory_of_gpu_args, since 0;
    /// Frees a buffer object.
    FREE_MEMORY_OF_GPU = KFD_MAGIC 0x17, Write kfd::kfd_ioctl_free_memory_of_gpu_args, since 0;
    /// Maps a buffer object into GPUs.
    MAP_MEMORY_TO_GPU = KFD_MAGIC 0x18, ReadWrite kfd::kfd_ioctl_map_memory_to_gpu_args, since 0;
    /// Unmaps a buffer object from GPUs.
    UNMAP_MEMORY_FROM_GPU = KFD_MAGIC 0x19, ReadWrite kfd::kfd_ioctl_unmap_memory_from_gpu_args, since 0;
    /// Compute units that a queue may use.
    SET_CU_MASK = KFD_MAGIC 0x1a, Write kfd::kfd_ioctl_set_cu_mask_args, since 0;
    /// Saved wave state of a suspended queue.
    GET_QUEUE_WAVE_STATE = KFD_MAGIC 0x1b, ReadWrite kfd::kfd_ioctl_get_queue_wave_state_args, since 0;
    /// Size, metadata and owner of a dma-buf.
    GET_DMABUF_INFO = KFD_MAGIC 0x1c, ReadWrite kfd::kfd_ioctl_get_dmabuf_info_args, since 0;
    /// Imports a dma-buf as a buffer object.
    IMPORT_DMABUF = KFD_MAGIC 0x1d, ReadWrite kfd::kfd_ioctl_import_dmabuf_args, since 0;
    /// Global wave sync resources of a queue.
    ALLOC_QUEUE_GWS = KFD_MAGIC 0x1e, ReadWrite kfd::kfd_ioctl_alloc_queue_gws_args, since 0;
    /// A descriptor that delivers system-management events.
    SMI_EVENTS = KFD_MAGIC 0x1f, ReadWrite kfd::kfd_ioctl_smi_events_args, since 3;
    /// Shared virtual memory attributes; the code's size grows with the attributes, see [`crate::fam`].
    SVM = KFD_MAGIC 0x20, ReadWrite kfd::kfd_ioctl_svm_args, since 5;
    /// Retry faults (XNACK) of the process; negative queries.
    SET_XNACK_MODE = KFD_MAGIC 0x21, ReadWrite kfd::kfd_ioctl_set_xnack_mode_args, since 5;
    /// Checkpoint and restore.
    CRIU_OP = KFD_MAGIC 0x22, ReadWrite kfd::kfd_ioctl_criu_args, since 7;
    /// Bytes of VRAM that an allocation may still get.
    AVAILABLE_MEMORY = KFD_MAGIC 0x23, ReadWrite kfd::kfd_ioctl_get_available_memory_args, since 9;
    /// Exports a buffer object as a dma-buf.
    EXPORT_DMABUF = KFD_MAGIC 0x24, ReadWrite newer::kfd_ioctl_export_dmabuf_args, since 12;
    /// Announces the runtime to the debugger.
    RUNTIME_ENABLE = KFD_MAGIC 0x25, ReadWrite newer::kfd_ioctl_runtime_enable_args, since 13;
    /// Debugger operations.
    DBG_TRAP = KFD_MAGIC 0x26, ReadWrite newer::kfd_ioctl_dbg_trap_args, since 13;
    /// Imports an IPC handle (AMD's DKMS driver only).
    IPC_IMPORT_HANDLE = KFD_MAGIC 0x80, ReadWrite newer::kfd_ioctl_ipc_import_handle_args, since 0;
    /// Exports an IPC handle (AMD's DKMS driver only).
    IPC_EXPORT_HANDLE = KFD_MAGIC 0x81, ReadWrite newer::kfd_ioctl_ipc_export_handle_args, since 0;

    /// Name and version of a DRM driver (`DRM_IOCTL_VERSION`).
    DRM_VERSION = DRM_MAGIC 0x00, ReadWrite drm::drm_version, since 0;
    /// Closes a GEM handle (`DRM_IOCTL_GEM_CLOSE`).
    DRM_GEM_CLOSE = DRM_MAGIC 0x09, Write drm::drm_gem_close, since 0;
    /// A dma-buf descriptor of a GEM handle (`DRM_IOCTL_PRIME_HANDLE_TO_FD`).
    DRM_PRIME_HANDLE_TO_FD = DRM_MAGIC 0x2d, ReadWrite drm::drm_prime_handle, since 0;
    /// A GEM handle of a dma-buf descriptor (`DRM_IOCTL_PRIME_FD_TO_HANDLE`).
    DRM_PRIME_FD_TO_HANDLE = DRM_MAGIC 0x2e, ReadWrite drm::drm_prime_handle, since 0;
    /// mmap offset of a GEM handle (`DRM_IOCTL_AMDGPU_GEM_MMAP`).
    AMDGPU_GEM_MMAP = DRM_MAGIC DRM_COMMAND_BASE + 0x01, ReadWrite drm::drm_amdgpu_gem_mmap, since 0;
    /// Device queries (`DRM_IOCTL_AMDGPU_INFO`).
    AMDGPU_INFO = DRM_MAGIC DRM_COMMAND_BASE + 0x05, Write drm::drm_amdgpu_info, since 0;
    /// Maps a GEM handle at a GPU address (`DRM_IOCTL_AMDGPU_GEM_VA`); usable on compute VMs since 1.15.
    AMDGPU_GEM_VA = DRM_MAGIC DRM_COMMAND_BASE + 0x08, Write drm::drm_amdgpu_gem_va, since 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes as compiled from the C headers of interface 1.11 and 1.23.
    #[test]
    fn codes_equal_those_of_the_c_headers() {
        let table = [
            (GET_VERSION, 0x8008_4b01),
            (CREATE_QUEUE, 0xc060_4b02),
            (DESTROY_QUEUE, 0xc008_4b03),
            (SET_MEMORY_POLICY, 0x4020_4b04),
            (GET_CLOCK_COUNTERS, 0xc028_4b05),
            (GET_PROCESS_APERTURES, 0x8190_4b06),
            (UPDATE_QUEUE, 0x4018_4b07),
            (CREATE_EVENT, 0xc020_4b08),
            (DESTROY_EVENT, 0x4008_4b09),
            (SET_EVENT, 0x4008_4b0a),
            (RESET_EVENT, 0x4008_4b0b),
            (WAIT_EVENTS, 0xc018_4b0c),
            (SET_SCRATCH_BACKING_VA, 0xc010_4b11),
            (GET_TILE_CONFIG, 0xc028_4b12),
            (SET_TRAP_HANDLER, 0x4018_4b13),
            (GET_PROCESS_APERTURES_NEW, 0xc010_4b14),
            (ACQUIRE_VM, 0x4008_4b15),
            (ALLOC_MEMORY_OF_GPU, 0xc028_4b16),
            (FREE_MEMORY_OF_GPU, 0x4008_4b17),
            (MAP_MEMORY_TO_GPU, 0xc018_4b18),
            (UNMAP_MEMORY_FROM_GPU, 0xc018_4b19),
            (SET_CU_MASK, 0x4010_4b1a),
            (GET_QUEUE_WAVE_STATE, 0xc018_4b1b),
            (GET_DMABUF_INFO, 0xc020_4b1c),
            (IMPORT_DMABUF, 0xc018_4b1d),
            (ALLOC_QUEUE_GWS, 0xc010_4b1e),
            (SMI_EVENTS, 0xc008_4b1f),
            (SVM, 0xc018_4b20),
            (SET_XNACK_MODE, 0xc004_4b21),
            (CRIU_OP, 0xc038_4b22),
            (AVAILABLE_MEMORY, 0xc010_4b23),
            (EXPORT_DMABUF, 0xc010_4b24),
            (RUNTIME_ENABLE, 0xc010_4b25),
            (DBG_TRAP, 0xc020_4b26),
            (IPC_IMPORT_HANDLE, 0xc030_4b80),
            (IPC_EXPORT_HANDLE, 0xc020_4b81),
            (DRM_PRIME_FD_TO_HANDLE, 0xc00c_642e),
        ];
        for (request, code) in table {
            assert_eq!(request.code(), code, "{request:?}");
        }
    }

    #[test]
    fn a_request_is_found_by_number_whatever_its_size() {
        let old = Request::from_code(0xc058_4b02);
        assert_eq!(name(old), Some("CREATE_QUEUE"));
        assert_eq!(old.size_bytes(), 88);
        assert_eq!(old.with_size(96), CREATE_QUEUE);
    }

    #[test]
    fn an_unknown_number_has_no_name() {
        assert_eq!(
            name(Request::new(Direction::None, KFD_MAGIC, 0x7f, 0)),
            None
        );
    }
}
