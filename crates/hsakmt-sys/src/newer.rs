//! What interface versions 1.12 to 1.18 added to the header that [`crate::kfd`] was generated from
//! (1.11, Linux 6.1). Written by hand from `include/uapi/linux/kfd_ioctl.h` of Linux 6.14 (1.17)
//! and of the tree that became 1.18; the layout assertions hold the sizes and offsets compiled from
//! that header. AMD's DKMS driver adds the numbers from 0x80; those come from its own header.

use std::mem::offset_of;

/// Highest minor interface version whose additions are described here.
pub const KFD_IOCTL_MINOR_VERSION: u32 = 18;

/// Queue on an SDMA engine that the caller names (1.17).
pub const KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID: u32 = 4;

/// Coherent with atomics of other devices, gfx9.4.3 (1.12).
pub const KFD_IOC_ALLOC_MEM_FLAGS_EXT_COHERENT: u32 = 1 << 24;
/// VRAM that is physically contiguous (1.16).
pub const KFD_IOC_ALLOC_MEM_FLAGS_CONTIGUOUS: u32 = 1 << 23;

/// SVM range coherent with atomics of other devices (1.12).
pub const KFD_IOCTL_SVM_FLAG_EXT_COHERENT: u32 = 0x80;

/// `misc_process_flag`: MFMA with high precision (1.18).
pub const KFD_PROC_FLAG_MFMA_HIGH_PRECISION: u32 = 1;

/// RUNTIME_ENABLE: on (1.13).
pub const KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK: u32 = 1;
/// RUNTIME_ENABLE: save TTMP registers (1.13).
pub const KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK: u32 = 2;

/// `kfd_ioctl_create_queue_args` since 1.17 (96 bytes; 88 before).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_create_queue_args {
    /// GPU address of the ring.
    pub ring_base_address: u64,
    /// Address of the write pointer.
    pub write_pointer_address: u64,
    /// Address of the read pointer.
    pub read_pointer_address: u64,
    /// Out: mmap offset of the doorbell slice | byte offset of the doorbell in it.
    pub doorbell_offset: u64,
    /// Bytes of the ring.
    pub ring_size: u32,
    /// GPU.
    pub gpu_id: u32,
    /// `KFD_IOC_QUEUE_TYPE_*`.
    pub queue_type: u32,
    /// 0–100 in bits 0–7; XCC for PM4 in bits 8–15.
    pub queue_percentage: u32,
    /// 0–15.
    pub queue_priority: u32,
    /// Out: number of the queue.
    pub queue_id: u32,
    /// End-of-pipe buffer.
    pub eop_buffer_address: u64,
    /// Bytes of it.
    pub eop_buffer_size: u64,
    /// Context save area.
    pub ctx_save_restore_address: u64,
    /// Bytes of one XCC's part, control stack included, without debug memory.
    pub ctx_save_restore_size: u32,
    /// Bytes of one XCC's control stack.
    pub ctl_stack_size: u32,
    /// For [`KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID`].
    pub sdma_engine_id: u32,
    /// Unused until 1.22.
    pub pad: u32,
}

/// `kfd_ioctl_set_memory_policy_args` since 1.18; the last word was padding before.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_set_memory_policy_args {
    /// Start of the alternate aperture.
    pub alternate_aperture_base: u64,
    /// Bytes of it.
    pub alternate_aperture_size: u64,
    /// GPU.
    pub gpu_id: u32,
    /// `KFD_IOC_CACHE_POLICY_*`.
    pub default_policy: u32,
    /// `KFD_IOC_CACHE_POLICY_*`.
    pub alternate_policy: u32,
    /// `KFD_PROC_FLAG_*`.
    pub misc_process_flag: u32,
}

/// `kfd_event_data` with its union as words, so that reading it needs no promise about which member
/// is live. The payload is one of `kfd_hsa_memory_exception_data`, `kfd_hsa_hw_exception_data` or
/// (1.14) [`kfd_hsa_signal_event_data`].
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_event_data {
    /// The union.
    pub payload: [u64; 4],
    /// Pointer to an extension, for future use.
    pub kfd_event_data_ext: u64,
    /// Which event.
    pub event_id: u32,
    /// Unused.
    pub pad: u32,
}

/// The signal part of `kfd_event_data`'s union (1.14).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_hsa_signal_event_data {
    /// In: age that the caller saw last, 0 to ignore ages. Out: the age now.
    pub last_event_age: u64,
}

/// `kfd_ioctl_export_dmabuf_args` (1.12).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_export_dmabuf_args {
    /// Buffer object.
    pub handle: u64,
    /// `O_CLOEXEC`, `O_RDWR`.
    pub flags: u32,
    /// Out.
    pub dmabuf_fd: u32,
}

/// `kfd_ioctl_runtime_enable_args` (1.13).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_runtime_enable_args {
    /// Address of the process's `r_debug` for the debugger.
    pub r_debug: u64,
    /// `KFD_RUNTIME_ENABLE_MODE_*`.
    pub mode_mask: u32,
    /// In/out.
    pub capabilities_mask: u32,
}

/// `kfd_ioctl_dbg_trap_args` (1.13).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_dbg_trap_args {
    /// Process to debug.
    pub pid: u32,
    /// `KFD_IOC_DBG_TRAP_*`.
    pub op: u32,
    /// Argument of the operation (a union in C).
    pub operation: [u64; 3],
}

/// `kfd_ioctl_ipc_import_handle_args` of AMD's DKMS driver.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_ipc_import_handle_args {
    /// Out: buffer object.
    pub handle: u64,
    /// Where to place it.
    pub va_addr: u64,
    /// Out: offset for the render node.
    pub mmap_offset: u64,
    /// What the exporter got.
    pub share_handle: [u32; 4],
    /// GPU.
    pub gpu_id: u32,
    /// Out.
    pub flags: u32,
}

/// `kfd_ioctl_ipc_export_handle_args` of AMD's DKMS driver.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct kfd_ioctl_ipc_export_handle_args {
    /// Buffer object.
    pub handle: u64,
    /// Out.
    pub share_handle: [u32; 4],
    /// GPU.
    pub gpu_id: u32,
    /// Reserved.
    pub flags: u32,
}

const _: () = {
    assert!(size_of::<kfd_ioctl_create_queue_args>() == 96);
    assert!(offset_of!(kfd_ioctl_create_queue_args, doorbell_offset) == 24);
    assert!(offset_of!(kfd_ioctl_create_queue_args, ring_size) == 32);
    assert!(offset_of!(kfd_ioctl_create_queue_args, queue_id) == 52);
    assert!(offset_of!(kfd_ioctl_create_queue_args, eop_buffer_address) == 56);
    assert!(offset_of!(kfd_ioctl_create_queue_args, ctx_save_restore_size) == 80);
    assert!(offset_of!(kfd_ioctl_create_queue_args, ctl_stack_size) == 84);
    assert!(offset_of!(kfd_ioctl_create_queue_args, sdma_engine_id) == 88);
    assert!(size_of::<kfd_ioctl_set_memory_policy_args>() == 32);
    assert!(offset_of!(kfd_ioctl_set_memory_policy_args, misc_process_flag) == 28);
    assert!(size_of::<kfd_event_data>() == size_of::<crate::kfd::kfd_event_data>());
    assert!(
        offset_of!(kfd_event_data, event_id) == offset_of!(crate::kfd::kfd_event_data, event_id)
    );
    assert!(size_of::<kfd_hsa_signal_event_data>() == 8);
    assert!(size_of::<kfd_ioctl_export_dmabuf_args>() == 16);
    assert!(size_of::<kfd_ioctl_runtime_enable_args>() == 16);
    assert!(size_of::<kfd_ioctl_dbg_trap_args>() == 32);
    assert!(size_of::<kfd_ioctl_ipc_import_handle_args>() == 48);
    assert!(size_of::<kfd_ioctl_ipc_export_handle_args>() == 32);
};
