//! Typed ioctls: the only place where an argument meets its number.
//!
//! A leaf with unsafe code. What the kernel is told to keep (rings, user memory) is reached by GPUs
//! only, and only as far as a program that the application hands to a GPU does so; the
//! responsibility for such a program is taken where it is dispatched, at the C boundary.

use crate::error::Error;
use hsakmt_sys::fam::SvmArgs;
use hsakmt_sys::ioctl::{self, Request};
use hsakmt_sys::{Errno, Fd, Kernel, drm, kfd, newer};
use std::ffi::{c_int, c_void};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

/// An argument struct and the ioctl that takes it.
///
/// # Safety
/// The struct is `repr(C)`, of the size that `REQUEST` encodes or larger, consists of integers only
/// and holds no pointer through which the kernel writes.
pub(crate) unsafe trait Argument {
    /// The ioctl.
    const REQUEST: Request;
}

macro_rules! arguments {
    ($($ty:ty => $request:ident,)*) => {
        $(
            // SAFETY: a C struct of integers, paired with the request of its size in `ioctl.rs`;
            // none of those listed below holds a pointer to write through.
            unsafe impl Argument for $ty {
                const REQUEST: Request = ioctl::$request;
            }
            const _: () = assert!(size_of::<$ty>() == ioctl::$request.size_bytes());
        )*
    };
}

arguments! {
    kfd::kfd_ioctl_get_version_args => GET_VERSION,
    newer::kfd_ioctl_create_queue_args => CREATE_QUEUE,
    kfd::kfd_ioctl_destroy_queue_args => DESTROY_QUEUE,
    newer::kfd_ioctl_set_memory_policy_args => SET_MEMORY_POLICY,
    kfd::kfd_ioctl_get_clock_counters_args => GET_CLOCK_COUNTERS,
    kfd::kfd_ioctl_update_queue_args => UPDATE_QUEUE,
    kfd::kfd_ioctl_create_event_args => CREATE_EVENT,
    kfd::kfd_ioctl_destroy_event_args => DESTROY_EVENT,
    kfd::kfd_ioctl_set_event_args => SET_EVENT,
    kfd::kfd_ioctl_reset_event_args => RESET_EVENT,
    kfd::kfd_ioctl_set_scratch_backing_va_args => SET_SCRATCH_BACKING_VA,
    kfd::kfd_ioctl_set_trap_handler_args => SET_TRAP_HANDLER,
    kfd::kfd_ioctl_acquire_vm_args => ACQUIRE_VM,
    kfd::kfd_ioctl_alloc_memory_of_gpu_args => ALLOC_MEMORY_OF_GPU,
    kfd::kfd_ioctl_free_memory_of_gpu_args => FREE_MEMORY_OF_GPU,
    kfd::kfd_ioctl_import_dmabuf_args => IMPORT_DMABUF,
    kfd::kfd_ioctl_alloc_queue_gws_args => ALLOC_QUEUE_GWS,
    kfd::kfd_ioctl_set_xnack_mode_args => SET_XNACK_MODE,
    kfd::kfd_ioctl_get_available_memory_args => AVAILABLE_MEMORY,
    newer::kfd_ioctl_export_dmabuf_args => EXPORT_DMABUF,
    newer::kfd_ioctl_runtime_enable_args => RUNTIME_ENABLE,
}

/// The driver and its open `/dev/kfd`.
#[derive(Debug)]
pub(crate) struct Device {
    kernel: Arc<dyn Kernel>,
    kfd: Fd,
}

impl Device {
    /// Takes over an open `/dev/kfd`.
    pub(crate) const fn new(kernel: Arc<dyn Kernel>, kfd: Fd) -> Self {
        Self { kernel, kfd }
    }

    /// The driver.
    pub(crate) const fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.kernel
    }

    /// The open `/dev/kfd`.
    pub(crate) const fn kfd(&self) -> Fd {
        self.kfd
    }

    /// Issues the ioctl of `T`.
    pub(crate) fn call<T: Argument>(&self, argument: &mut T) -> Result<(), Error> {
        // SAFETY: `Argument` promises that the kernel writes only within `argument`, and any
        // integers are valid there.
        unsafe { self.issue(self.kfd, T::REQUEST, (&raw mut *argument).cast()) }
    }

    /// As [`Device::call`] for the few callers that decide by errno and cannot use the error.
    pub(crate) fn try_call<T: Argument>(&self, argument: &mut T) -> Result<(), Errno> {
        // SAFETY: as in `call`.
        unsafe { self.issue_raw(self.kfd, T::REQUEST, (&raw mut *argument).cast()) }
    }

    /// Fills `apertures`; answers how many the driver has, or filled.
    pub(crate) fn apertures(
        &self,
        apertures: &mut [kfd::kfd_process_device_apertures],
    ) -> Result<usize, Error> {
        let mut argument = kfd::kfd_ioctl_get_process_apertures_new_args {
            kfd_process_device_apertures_ptr: address(apertures.as_mut_ptr()),
            num_of_nodes: count(apertures.len())?,
            pad: 0,
        };
        let request = ioctl::GET_PROCESS_APERTURES_NEW;
        // SAFETY: the pointer and the count in `argument` describe `apertures`, which is borrowed
        // mutably for this call.
        unsafe { self.issue(self.kfd, request, (&raw mut argument).cast()) }?;
        Ok(argument.num_of_nodes as usize)
    }

    /// Maps a buffer object to GPUs; on failure says how many of them got it.
    pub(crate) fn map_memory(&self, handle: u64, gpus: &[u32]) -> Result<(), (usize, Error)> {
        let mut argument = kfd::kfd_ioctl_map_memory_to_gpu_args {
            handle,
            device_ids_array_ptr: address(gpus.as_ptr().cast_mut()),
            n_devices: count(gpus.len()).map_err(|e| (0, e))?,
            n_success: 0,
        };
        // SAFETY: the kernel reads `n_devices` ids from `gpus` and writes within `argument` only.
        unsafe {
            self.issue(
                self.kfd,
                ioctl::MAP_MEMORY_TO_GPU,
                (&raw mut argument).cast(),
            )
        }
        .map_err(|e| ((argument.n_success as usize).min(gpus.len()), e))
    }

    /// Unmaps a buffer object from GPUs; on failure says how many of them lost it.
    pub(crate) fn unmap_memory(&self, handle: u64, gpus: &[u32]) -> Result<(), (usize, Error)> {
        let mut argument = kfd::kfd_ioctl_unmap_memory_from_gpu_args {
            handle,
            device_ids_array_ptr: address(gpus.as_ptr().cast_mut()),
            n_devices: count(gpus.len()).map_err(|e| (0, e))?,
            n_success: 0,
        };
        // SAFETY: the kernel reads `n_devices` ids from `gpus` and writes within `argument` only.
        unsafe {
            self.issue(
                self.kfd,
                ioctl::UNMAP_MEMORY_FROM_GPU,
                (&raw mut argument).cast(),
            )
        }
        .map_err(|e| ((argument.n_success as usize).min(gpus.len()), e))
    }

    /// Restricts a queue to compute units.
    pub(crate) fn set_cu_mask(&self, queue_id: u32, mask: &[u32]) -> Result<(), Error> {
        let bits = mask
            .len()
            .checked_mul(32)
            .ok_or(Error::Invalid("compute unit mask too long"))?;
        let mut argument = kfd::kfd_ioctl_set_cu_mask_args {
            queue_id,
            num_cu_mask: count(bits)?,
            cu_mask_ptr: address(mask.as_ptr().cast_mut()),
        };
        // SAFETY: the kernel reads `num_cu_mask` bits from `mask` and writes nothing.
        unsafe { self.issue(self.kfd, ioctl::SET_CU_MASK, (&raw mut argument).cast()) }
    }

    /// Waits for events; `argument`'s pointer and count are filled in from `events`.
    pub(crate) fn wait_events(
        &self,
        argument: &mut kfd::kfd_ioctl_wait_events_args,
        events: &mut [newer::kfd_event_data],
    ) -> Result<(), Errno> {
        argument.events_ptr = address(events.as_mut_ptr());
        argument.num_events = u32::try_from(events.len()).map_err(|_| Errno(libc::EINVAL))?;
        // SAFETY: the pointer and the count describe `events`, which is borrowed mutably.
        unsafe { self.issue_raw(self.kfd, ioctl::WAIT_EVENTS, (&raw mut *argument).cast()) }
    }

    /// Sets or gets SVM attributes.
    pub(crate) fn svm(&self, argument: &mut SvmArgs) -> Result<(), Error> {
        let request = argument.request();
        // SAFETY: `request` has the size of the words behind the pointer.
        unsafe { self.issue(self.kfd, request, argument.as_mut_ptr()) }
    }

    /// Asks the render node for `AMDGPU_INFO_DEV_INFO`.
    pub(crate) fn device_info(&self, render: Fd) -> Result<drm::drm_amdgpu_info_device, Error> {
        let mut answer = drm::drm_amdgpu_info_device::default();
        let mut argument = drm::drm_amdgpu_info {
            return_pointer: address(&raw mut answer),
            return_size: count(size_of_val(&answer))?,
            query: drm::AMDGPU_INFO_DEV_INFO,
            ..Default::default()
        };
        // SAFETY: the kernel writes at most `return_size` bytes to `answer`.
        unsafe { self.issue(render, ioctl::AMDGPU_INFO, (&raw mut argument).cast()) }?;
        Ok(answer)
    }

    /// A dma-buf descriptor of a buffer object.
    pub(crate) fn export_dmabuf(&self, handle: u64) -> Result<OwnedFd, Error> {
        let flags = libc::O_CLOEXEC.cast_unsigned() | libc::O_RDWR.cast_unsigned();
        let mut argument = newer::kfd_ioctl_export_dmabuf_args {
            handle,
            flags,
            ..Default::default()
        };
        self.call(&mut argument)?;
        let descriptor = c_int::try_from(argument.dmabuf_fd).map_err(|_| Error::Protocol {
            request: "EXPORT_DMABUF",
            reason: "negative descriptor",
        })?;
        // SAFETY: the driver has just made this descriptor for us; nobody else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }

    /// # Safety
    /// `argument` points at what `request` takes, pointers within it included.
    unsafe fn issue(&self, fd: Fd, request: Request, argument: *mut c_void) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.issue_raw(fd, request, argument) }.map_err(|errno| Error::Ioctl {
            request: ioctl::name(request).unwrap_or("unknown ioctl"),
            errno,
        })
    }

    /// Repeats after `EINTR` and `EAGAIN`, as the kernel's contract asks for.
    ///
    /// # Safety
    /// As [`Device::issue`].
    unsafe fn issue_raw(
        &self,
        fd: Fd,
        request: Request,
        argument: *mut c_void,
    ) -> Result<(), Errno> {
        loop {
            // SAFETY: the caller's promise; `Kernel::ioctl` asks for no more than this crate keeps:
            // kept memory is freed after its release call (see the drop order of the owners).
            match unsafe { self.kernel.ioctl(fd, request.code(), argument) } {
                Ok(_) => return Ok(()),
                Err(Errno(libc::EINTR | libc::EAGAIN)) => {}
                Err(errno) => {
                    tracing::debug!(?request, %errno, "ioctl refused");
                    return Err(errno);
                }
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if let Err(errno) = self.kernel.close(self.kfd) {
            tracing::warn!(%errno, "cannot close /dev/kfd");
        }
    }
}

fn address<T>(pointer: *mut T) -> u64 {
    pointer.expose_provenance() as u64
}

fn count(n: usize) -> Result<u32, Error> {
    u32::try_from(n).map_err(|_| Error::Invalid("more than 2^32 elements"))
}
