//! The ioctls and mmap offsets of `/dev/kfd` and the render nodes.
//!
//! Decoding is amdkfd's: only the number selects the handler; the argument is copied in for the
//! caller's size, the rest of the struct is zero; it is copied out for the caller's size even when
//! the call fails; an unknown number is `EINVAL` and touches nothing.

mod debug;
mod dmabuf;
mod drm;
mod drm_info;
mod event;
mod map;
mod memory;
mod misc;
mod queue;
mod svm;
mod wire;

use std::ffi::c_int;

use hsakmt_sys::Errno;
use hsakmt_sys::ioctl::{self, Direction, Request};

use crate::files::OpenFile;
use crate::kernel::VirtualKfd;
use crate::uaccess::{self, Wire};

pub(crate) use map::{MapRequest, map_dmabuf, map_kfd, map_render};

const EINVAL: Errno = Errno(libc::EINVAL);

/// An argument on its way: where the caller keeps it, and how much of it.
struct Call {
    /// What the kernel's table says.
    known: Request,
    /// What the caller said.
    request: Request,
    arg: u64,
}

impl Call {
    /// Copies in, runs the handler, copies out.
    fn run<T: Wire + Default>(
        self,
        handler: impl FnOnce(&mut T) -> Result<(), Errno>,
    ) -> Result<c_int, Errno> {
        let direction = self.known.code() >> 30;
        let bytes = self.request.size_bytes();
        let mut args = match direction & Direction::Write as u32 {
            0 => T::default(),
            _ => uaccess::read_prefix::<T>(self.arg, bytes)?,
        };
        let result = handler(&mut args);
        if direction & Direction::Read as u32 != 0 {
            uaccess::write_prefix(self.arg, &args, bytes)?;
        }
        result.map(|()| 0)
    }
}

/// Chooses a handler by number.
macro_rules! dispatch {
    ($request:expr, $arg:expr, { $($name:ident => $handler:expr,)* }, $otherwise:expr) => {
        match $request.nr() {
            $(nr if nr == ioctl::$name.nr() => {
                Call { known: ioctl::$name, request: $request, arg: $arg }.run($handler)
            })*
            nr => $otherwise(nr),
        }
    };
}

/// An ioctl on `/dev/kfd`.
pub(crate) fn kfd(kfd: &VirtualKfd, request: Request, arg: u64) -> Result<c_int, Errno> {
    if request.nr() == ioctl::SVM.nr() {
        // Its size grows with its attributes.
        return svm::svm(kfd, request, arg).map(|()| 0);
    }
    dispatch!(request, arg, {
        GET_VERSION => misc::get_version,
        CREATE_QUEUE => |args| queue::create(kfd, args),
        DESTROY_QUEUE => |args| queue::destroy(kfd, args),
        SET_MEMORY_POLICY => |args| misc::set_memory_policy(kfd, args),
        GET_CLOCK_COUNTERS => |args| misc::get_clock_counters(kfd, args),
        GET_PROCESS_APERTURES => |args| misc::get_process_apertures(kfd, args),
        UPDATE_QUEUE => |args| queue::update(kfd, args),
        CREATE_EVENT => |args| event::create(kfd, args),
        DESTROY_EVENT => |args| event::destroy(kfd, args),
        SET_EVENT => |args| event::set(kfd, args),
        RESET_EVENT => |args| event::reset(kfd, args),
        WAIT_EVENTS => |args| event::wait(kfd, args),
        SET_SCRATCH_BACKING_VA => |args| misc::set_scratch_backing_va(kfd, args),
        GET_TILE_CONFIG => |args| misc::get_tile_config(kfd, args),
        SET_TRAP_HANDLER => |args| misc::set_trap_handler(kfd, args),
        GET_PROCESS_APERTURES_NEW => |args| misc::get_process_apertures_new(kfd, args),
        ACQUIRE_VM => |args| memory::acquire_vm(kfd, args),
        ALLOC_MEMORY_OF_GPU => |args| memory::alloc(kfd, args),
        FREE_MEMORY_OF_GPU => |args| memory::free(kfd, args),
        MAP_MEMORY_TO_GPU => |args| memory::map(kfd, args),
        UNMAP_MEMORY_FROM_GPU => |args| memory::unmap(kfd, args),
        SET_CU_MASK => |args| queue::set_cu_mask(kfd, args),
        GET_QUEUE_WAVE_STATE => |args| queue::get_wave_state(kfd, args),
        GET_DMABUF_INFO => |args| dmabuf::get_info(kfd, args),
        IMPORT_DMABUF => |args| dmabuf::import(kfd, args),
        ALLOC_QUEUE_GWS => |args| queue::alloc_gws(kfd, args),
        SMI_EVENTS => |args| misc::smi_events(kfd, args),
        SET_XNACK_MODE => |args| svm::set_xnack_mode(kfd, args),
        CRIU_OP => debug::criu,
        AVAILABLE_MEMORY => |args| memory::available(kfd, args),
        EXPORT_DMABUF => |args| dmabuf::export(kfd, args),
        RUNTIME_ENABLE => |args| debug::runtime_enable(kfd, args),
        DBG_TRAP => debug::dbg_trap,
    }, debug::unlisted)
}

/// An ioctl on the render node of the GPU with this index.
pub(crate) fn drm(
    kfd: &VirtualKfd,
    file: &OpenFile,
    gpu: usize,
    request: Request,
    arg: u64,
) -> Result<c_int, Errno> {
    dispatch!(request, arg, {
        DRM_VERSION => drm::version,
        DRM_GEM_CLOSE => |args| drm::gem_close(file, args),
        DRM_PRIME_HANDLE_TO_FD => |args| drm::handle_to_fd(kfd, file, args),
        DRM_PRIME_FD_TO_HANDLE => |args| drm::fd_to_handle(kfd, file, args),
        AMDGPU_GEM_MMAP => |args| drm::gem_mmap(file, args),
        AMDGPU_INFO => |args| drm_info::info(kfd, gpu, args),
        AMDGPU_GEM_VA => |args| drm::gem_va(kfd, file, gpu, args),
    }, |nr| {
        tracing::debug!(nr, "DRM ioctl that a compute client does not need");
        Err(EINVAL)
    })
}
