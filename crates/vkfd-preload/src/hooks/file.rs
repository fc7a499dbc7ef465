//! Calls on descriptors: `close`, `dup`, `fcntl`, `ioctl`.

use crate::device::{self, answer};
use crate::{directory, inside, real};
use hsakmt_sys::ioctl::{self, Request};
use hsakmt_sys::{Errno, Fd, Kernel};
use libc::{c_int, c_uint, c_ulong, c_void};

/// `close(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if inside::is_inside() {
        // SAFETY: the caller's promise.
        return unsafe { real::close(fd) };
    }
    directory::forget(fd);
    if !device::owns(fd) {
        // SAFETY: the caller's promise.
        return unsafe { real::close(fd) };
    }
    device::set_owned(fd, false);
    match device::get_existing() {
        Some(kfd) => answer(inside::run(|| kfd.close(Fd(fd)).map(|()| 0))),
        // A forked child's copy of its parent's descriptor.
        // SAFETY: the caller's promise.
        None => unsafe { real::close(fd) },
    }
}

/// Lets the device forget the descriptors that are about to be closed in bulk.
fn forget_range(first: c_uint, last: c_uint) {
    for fd in device::owned_between(first, last) {
        device::set_owned(fd, false);
        if let Some(kfd) = device::get_existing() {
            // A panic has been turned into EIO; the number is only left in a table then.
            let _ = inside::run(|| Ok(kfd.closed(fd)));
        }
    }
    directory::forget_range(first, last);
}

/// `close_range(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let closes = !flags.cast_unsigned() & libc::CLOSE_RANGE_CLOEXEC != 0;
    if closes && !inside::is_inside() {
        forget_range(first, last);
    }
    // SAFETY: the caller's promise.
    unsafe { real::close_range(first, last, flags) }
}

/// `closefrom(3)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn closefrom(first: c_int) {
    if !inside::is_inside() {
        forget_range(first.max(0).cast_unsigned(), c_uint::MAX);
    }
    // SAFETY: the caller's promise.
    unsafe { real::closefrom(first) }
}

/// Tells the device and the directory table of a duplicate.
fn duplicated(old: c_int, new: c_int) {
    directory::duplicated(old, new);
    let owned = device::owns(old);
    if (owned || device::owns(new))
        && let Some(kfd) = device::get_existing()
    {
        // A panic has been turned into EIO; the duplicate is then a bare memory file.
        let _ = inside::run(|| Ok(kfd.duplicated(old, new)));
    }
    device::set_owned(new, owned);
}

fn after_dup(old: c_int, new: c_int) -> c_int {
    if new >= 0 && new != old && !inside::is_inside() {
        duplicated(old, new);
    }
    new
}

/// `dup(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn dup(fd: c_int) -> c_int {
    // SAFETY: the caller's promise.
    after_dup(fd, unsafe { real::dup(fd) })
}

/// `dup2(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    // SAFETY: the caller's promise.
    after_dup(old, unsafe { real::dup2(old, new) })
}

/// `dup3(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    after_dup(old, unsafe { real::dup3(old, new, flags) })
}

unsafe fn fcntl_any(fd: c_int, command: c_int, arg: usize) -> c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { real::fcntl(fd, command, arg) };
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => after_dup(fd, result),
        _ => result,
    }
}

macro_rules! fcntl_names {
    ($($name:ident)*) => { $(
        /// `fcntl(2)`. The argument is passed on as a word, whatever it is.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, command: c_int, arg: usize) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { fcntl_any(fd, command, arg) }
        }
    )* };
}

fcntl_names! { fcntl fcntl64 }

/// `ioctl(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    if !device::owns(fd) || inside::is_inside() {
        // SAFETY: the caller's promise.
        return unsafe { real::ioctl(fd, request, arg) };
    }
    let Some(kfd) = device::get_existing() else {
        return device::fail(Errno(libc::EBADF));
    };
    let request = Request::from_code(code(request));
    // SAFETY: the caller's promise about what the driver keeps; a bad `arg` is the driver's affair.
    let result = inside::run(|| unsafe { kfd.ioctl(Fd(fd), request.code(), arg) });
    if result.is_ok() {
        // SAFETY: the driver has accepted `arg` for this request.
        unsafe { note_new_descriptor(request, arg) };
    }
    answer(result)
}

/// The kernel looks at the low 32 bits of a code.
#[expect(clippy::cast_possible_truncation, reason = "as the kernel does")]
const fn code(request: c_ulong) -> u32 {
    request as u32
}

/// Some ioctls make a descriptor that later calls will be about.
///
/// # Safety
/// `arg` is the argument of a successful `request`.
unsafe fn note_new_descriptor(request: Request, arg: *mut c_void) {
    let offset = match (request.magic(), request.nr()) {
        (m, n) if (m, n) == key(ioctl::EXPORT_DMABUF) => 12,
        (m, n) if (m, n) == key(ioctl::SMI_EVENTS) => 4,
        (m, n) if (m, n) == key(ioctl::DRM_PRIME_HANDLE_TO_FD) => 8,
        _ => return,
    };
    if request.size_bytes() < offset + size_of::<c_int>() {
        return;
    }
    // SAFETY: within the argument, whose size the code tells; C structs need not be aligned here.
    let fd = unsafe {
        arg.wrapping_byte_add(offset)
            .cast::<c_int>()
            .read_unaligned()
    };
    device::set_owned(fd, true);
}

const fn key(request: Request) -> (u8, u8) {
    (request.magic(), request.nr())
}
