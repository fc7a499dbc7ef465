//! The seam: the few system calls by which user space drives an AMD GPU.
//!
//! Two implementations exist: `hsakmt::LinuxKfd` passes each call to the operating system, and
//! `vkfd::VirtualKfd` answers it as the kernel driver would. Nothing above the seam can tell them
//! apart; nothing below it may trust what it is given.

use std::ffi::{CStr, c_int, c_void};
use std::fmt;
use std::path::Path;

/// A Linux error number, always positive (`ENOENT`, `EINVAL`, …).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub c_int);

impl Errno {
    /// The error that the calling thread's last failed libc call left in `errno`.
    pub fn last() -> Self {
        Self(
            std::io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EIO),
        )
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", std::io::Error::from_raw_os_error(self.0))
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({})", self)
    }
}

impl std::error::Error for Errno {}

/// A file descriptor number that belongs to one [`Kernel`].
///
/// Both drivers hand out real descriptors of the process (vkfd backs its files with memfds), so a
/// number never collides with an unrelated file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Fd(pub c_int);

/// The system calls that reach `/dev/kfd`, the render nodes and the topology files.
pub trait Kernel: Send + Sync + fmt::Debug {
    /// Opens `/dev/kfd` or a `/dev/dri/renderD*` node with `open(2)` flags.
    ///
    /// # Errors
    /// The errno of `open(2)`: `ENOENT`, `EACCES`, `ENODEV`, …
    fn open(&self, path: &CStr, flags: c_int) -> Result<Fd, Errno>;

    /// Closes a descriptor returned by [`Kernel::open`] or by an ioctl.
    ///
    /// # Errors
    /// `EBADF` if the descriptor is not open.
    fn close(&self, fd: Fd) -> Result<(), Errno>;

    /// Issues one ioctl; `arg` points at the argument struct that `request` encodes.
    ///
    /// # Errors
    /// The errno of the call. No retry is made here; `EINTR` and `EAGAIN` are the caller's.
    ///
    /// # Safety
    /// Memory that the kernel is told to keep (a queue's ring, registered user memory) must stay
    /// valid until the matching release call. A bad `arg` itself is harmless: it answers `EFAULT`.
    unsafe fn ioctl(&self, fd: Fd, request: u32, arg: *mut c_void) -> Result<c_int, Errno>;

    /// Maps `length` bytes of a device file, as `mmap(2)`.
    ///
    /// # Errors
    /// The errno of `mmap(2)`.
    ///
    /// # Safety
    /// With `MAP_FIXED` in `flags`, nothing may be in use at `addr..addr + length`.
    unsafe fn mmap(
        &self,
        addr: *mut c_void,
        length: usize,
        prot: c_int,
        flags: c_int,
        fd: Fd,
        offset: i64,
    ) -> Result<*mut c_void, Errno>;

    /// Reads a whole small file below `/sys` or `/proc`.
    ///
    /// # Errors
    /// The errno of `open(2)` or `read(2)`; `EPERM` is how a cgroup hides a GPU.
    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno>;

    /// Stores `value` to a mapped doorbell.
    ///
    /// On hardware this is the store alone. vkfd also wakes the queue at once; it notices plain
    /// stores too, later.
    ///
    /// # Safety
    /// `doorbell` points at a live doorbell mapping made by [`Kernel::mmap`].
    unsafe fn ring_doorbell(&self, doorbell: *mut u64, value: u64);

    /// Tells the driver that the caller is about to unmap `address..address + length`. Linux notices
    /// by itself; a driver inside the process does not.
    fn unmapped(&self, _address: usize, _length: usize) {}

    /// Whether the driver keeps what this process made (address spaces, event page, queues) when its
    /// descriptors are closed. Linux does, until the process ends: a second open then has to
    /// continue with the first one's render nodes and event page.
    fn outlives_close(&self) -> bool {
        false
    }

    /// A number that two kernels share only if they are the same device.
    fn instance(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Tells the device that the host changed memory which a queue may be waiting for
    /// (a signal that a barrier packet or an SDMA poll depends on). Hardware polls by itself.
    fn host_wrote_signal(&self) {}
}
