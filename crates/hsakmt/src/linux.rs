//! The real driver.

use hsakmt_sys::{Errno, Fd, Kernel};
use std::ffi::{CStr, c_int, c_void};
use std::path::Path;

/// Passes every call of the seam to the operating system.
#[derive(Clone, Copy, Default, Debug)]
pub struct LinuxKfd;

/// libc's `-1` as the errno it left.
fn check(result: c_int) -> Result<c_int, Errno> {
    if result < 0 {
        Err(Errno::last())
    } else {
        Ok(result)
    }
}

impl Kernel for LinuxKfd {
    fn open(&self, path: &CStr, flags: c_int) -> Result<Fd, Errno> {
        // SAFETY: `path` is a terminated string; `open` keeps no pointer.
        check(unsafe { libc::open(path.as_ptr(), flags) }).map(Fd)
    }

    fn close(&self, fd: Fd) -> Result<(), Errno> {
        // SAFETY: closing a number cannot touch memory; the caller owns the descriptor.
        check(unsafe { libc::close(fd.0) }).map(drop)
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, arg: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the caller upholds what `Kernel::ioctl` asks for.
        check(unsafe { libc::ioctl(fd.0, libc::c_ulong::from(request), arg) })
    }

    unsafe fn mmap(
        &self,
        addr: *mut c_void,
        length: usize,
        prot: c_int,
        flags: c_int,
        fd: Fd,
        offset: i64,
    ) -> Result<*mut c_void, Errno> {
        // SAFETY: the caller upholds what `Kernel::mmap` asks for.
        let address = unsafe { libc::mmap(addr, length, prot, flags, fd.0, offset) };
        if address == libc::MAP_FAILED {
            Err(Errno::last())
        } else {
            Ok(address)
        }
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        std::fs::read(path).map_err(|e| Errno(e.raw_os_error().unwrap_or(libc::EIO)))
    }

    fn outlives_close(&self) -> bool {
        true
    }

    /// There is one Linux below a process, however many values of this type.
    fn instance(&self) -> usize {
        0
    }

    unsafe fn ring_doorbell(&self, doorbell: *mut u64, value: u64) {
        // ORDERING: the packet must be visible before the doorbell; x86 keeps store order, and the
        // release makes the compiler keep it.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
        // SAFETY: the caller passes a live doorbell mapping, which is aligned to 8 bytes.
        unsafe { doorbell.write_volatile(value) }
    }
}
