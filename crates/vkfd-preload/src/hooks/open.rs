//! `open` and its relatives, `fopen`.

use crate::device::{self, answer};
use crate::{directory, inside, is_active, paths, real};
use libc::{FILE, c_char, c_int, c_uint};
use std::ffi::CStr;
use std::ptr;

/// The path as a C string, if calls are intercepted and it is not null.
///
/// # Safety
/// `path` is null or terminated, and stays so while the result is used.
pub(super) unsafe fn text<'a>(path: *const c_char) -> Option<&'a CStr> {
    if !is_active() || inside::is_inside() || path.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller's promise.
    Some(unsafe { CStr::from_ptr(path) })
}

unsafe fn open_any(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    let virtual_file = unsafe { text(path) }
        .and_then(paths::candidate)
        .and_then(|path| device::open(&path, flags));
    match virtual_file {
        Some(result) => answer(result),
        // SAFETY: the caller's promise.
        None => unsafe { real::open(path, flags, mode) },
    }
}

unsafe fn openat_any(dir: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    let virtual_file = unsafe { text(path) }
        .and_then(|path| directory::resolve(dir, path))
        .and_then(|path| device::open(&path, flags));
    match virtual_file {
        Some(result) => answer(result),
        // SAFETY: the caller's promise.
        None => unsafe { real::openat(dir, path, flags, mode) },
    }
}

macro_rules! open_names {
    ($($name:ident)*) => { $(
        /// `open(2)`. The mode is an argument here; a caller that passes none leaves a value there
        /// that is not looked at.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { open_any(path, flags, mode) }
        }
    )* };
}

macro_rules! openat_names {
    ($($name:ident)*) => { $(
        /// `openat(2)`.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            dir: c_int,
            path: *const c_char,
            flags: c_int,
            mode: c_uint,
        ) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { openat_any(dir, path, flags, mode) }
        }
    )* };
}

// The names that end in _2 are what a fortified program calls for opens without a mode.
open_names! { open open64 __open_2 __open64_2 }
openat_names! { openat openat64 __openat_2 __openat64_2 }

/// Flags of `open` for a mode of `fopen`. Content is read-only, so only reading matters.
fn flags_of(mode: &CStr) -> c_int {
    let mode = mode.to_bytes();
    let access = match (mode.first(), mode.contains(&b'+')) {
        (Some(b'r'), false) => libc::O_RDONLY,
        (Some(b'r'), true) => libc::O_RDWR,
        _ => libc::O_WRONLY,
    };
    access
        | if mode.contains(&b'e') {
            libc::O_CLOEXEC
        } else {
            0
        }
}

unsafe fn fopen_any(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's promise.
    let flags = unsafe { text(mode) }.map_or(0, flags_of);
    // SAFETY: the caller's promise.
    let virtual_file = unsafe { text(path) }
        .and_then(paths::candidate)
        .and_then(|path| device::open(&path, flags));
    match virtual_file {
        // SAFETY: a fresh descriptor and the caller's mode.
        Some(Ok(fd)) => unsafe { real::fdopen(fd, mode) },
        Some(Err(errno)) => {
            device::fail(errno);
            ptr::null_mut()
        }
        // SAFETY: the caller's promise.
        None => unsafe { real::fopen(path, mode) },
    }
}

macro_rules! fopen_names {
    ($($name:ident)*) => { $(
        /// `fopen(3)`.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut FILE {
            // SAFETY: the caller's promise.
            unsafe { fopen_any(path, mode) }
        }
    )* };
}

fopen_names! { fopen fopen64 }
