//! `mmap` and `munmap`.

use crate::{device, inside, real};
use hsakmt_sys::{Errno, Fd, Kernel};
use libc::{c_int, c_void, off_t, size_t};

unsafe fn mmap_any(
    addr: *mut c_void,
    length: size_t,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let is_file = flags & libc::MAP_ANONYMOUS == 0;
    if is_file && device::owns(fd) && !inside::is_inside() {
        let Some(kfd) = device::get_existing() else {
            device::fail(Errno(libc::EBADF));
            return libc::MAP_FAILED;
        };
        // SAFETY: the caller's promise.
        let map = || unsafe { kfd.mmap(addr, length, prot, flags, Fd(fd), offset) };
        return inside::run(map).unwrap_or_else(|errno| {
            device::fail(errno);
            libc::MAP_FAILED
        });
    }
    if flags & libc::MAP_FIXED != 0 {
        tell_unmapped(addr, length);
    }
    // SAFETY: the caller's promise.
    unsafe { real::mmap(addr, length, prot, flags, fd, offset) }
}

/// Tells the device before the range can be used for something else.
fn tell_unmapped(addr: *mut c_void, length: size_t) {
    if let Some(kfd) = device::get_existing() {
        // The program's unmapping goes on whatever the device makes of it.
        let _ = inside::run(|| {
            kfd.unmapped(addr.addr(), length);
            Ok(())
        });
    }
}

macro_rules! mmap_names {
    ($($name:ident)*) => { $(
        /// `mmap(2)`.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            addr: *mut c_void,
            length: size_t,
            prot: c_int,
            flags: c_int,
            fd: c_int,
            offset: off_t,
        ) -> *mut c_void {
            // SAFETY: the caller's promise.
            unsafe { mmap_any(addr, length, prot, flags, fd, offset) }
        }
    )* };
}

mmap_names! { mmap mmap64 }

/// `munmap(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(addr: *mut c_void, length: size_t) -> c_int {
    tell_unmapped(addr, length);
    // SAFETY: the caller's promise.
    unsafe { real::munmap(addr, length) }
}
