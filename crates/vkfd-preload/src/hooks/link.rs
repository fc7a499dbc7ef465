//! What may be done with paths and where they lead: `access`, `readlink`, `realpath` and their
//! relatives.

use super::open::text;
use super::stat::{Found, facts, find};
use crate::device::{self, answer, check};
use crate::{directory, inside, paths, real};
use hsakmt_sys::Errno;
use libc::{c_char, c_int, c_void, size_t, ssize_t};
use std::path::{Path, PathBuf};
use std::ptr;

/// Whether a path of the device may be accessed in this way.
fn access_virtual(path: &Path, mode: c_int) -> Option<Result<c_int, Errno>> {
    let found = match find(path, true)? {
        Ok(Found::Entry(entry)) => entry,
        Ok(Found::Outside(target)) => {
            let outside = device::c_path(&target)
                // SAFETY: a terminated path.
                .and_then(|path| check(unsafe { real::access(path.as_ptr(), mode) }));
            return Some(outside);
        }
        Err(errno) => return Some(Err(errno)),
    };
    let (bits, ..) = facts(found);
    // R_OK, W_OK and X_OK are the bits of one permission triple.
    let refused = mode & 7 & !c_int::try_from(bits & 7).unwrap_or(0) != 0;
    Some(if refused {
        Err(Errno(libc::EACCES))
    } else {
        Ok(0)
    })
}

/// `access(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(paths::candidate)
        .and_then(|path| access_virtual(&path, mode));
    match found {
        Some(result) => answer(result),
        // SAFETY: the caller's promise.
        None => unsafe { real::access(path, mode) },
    }
}

/// `faccessat(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn faccessat(
    dir: c_int,
    path: *const c_char,
    mode: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(|path| directory::resolve(dir, path))
        .and_then(|path| access_virtual(&path, mode));
    match found {
        Some(result) => answer(result),
        // SAFETY: the caller's promise.
        None => unsafe { real::faccessat(dir, path, mode, flags) },
    }
}

/// Copies a link's target as far as there is room; `None` if the path is not the device's.
///
/// # Safety
/// `buffer` is valid for `size` bytes.
unsafe fn read_link(path: &Path, buffer: *mut c_char, size: size_t) -> Option<ssize_t> {
    let kfd = device::get()?;
    let target = inside::run(|| {
        if !kfd.owns_path(path) {
            return Ok(None);
        }
        match kfd.sysfs().read_link(path) {
            Some(target) => Ok(Some(target.to_owned())),
            None => match kfd.sysfs().entry(path) {
                Some(Err(errno)) => Err(errno),
                _ => Err(Errno(libc::EINVAL)),
            },
        }
    });
    match target {
        Ok(target) => {
            let target = target?;
            let length = target.len().min(size);
            // SAFETY: `length` is within both.
            unsafe { ptr::copy_nonoverlapping(target.as_ptr(), buffer.cast(), length) };
            ssize_t::try_from(length).ok()
        }
        Err(errno) => Some(device::fail(errno) as ssize_t),
    }
}

/// `readlink(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn readlink(path: *const c_char, buffer: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(paths::candidate)
        // SAFETY: the caller's promise.
        .and_then(|path| unsafe { read_link(&path, buffer, size) });
    // SAFETY: the caller's promise.
    found.unwrap_or_else(|| unsafe { real::readlink(path, buffer, size) })
}

/// `readlinkat(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn readlinkat(
    dir: c_int,
    path: *const c_char,
    buffer: *mut c_char,
    size: size_t,
) -> ssize_t {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(|path| directory::resolve(dir, path))
        // SAFETY: the caller's promise.
        .and_then(|path| unsafe { read_link(&path, buffer, size) });
    // SAFETY: the caller's promise.
    found.unwrap_or_else(|| unsafe { real::readlinkat(dir, path, buffer, size) })
}

/// A path of the device without links; `None` if it is not the device's.
fn resolved(path: &Path) -> Option<Result<PathBuf, Errno>> {
    match find(path, true)? {
        Ok(Found::Entry(_)) => {
            let kfd = device::get()?;
            let target = inside::run(|| Ok(device::link_target(kfd, path))).ok()?;
            Some(Ok(target.unwrap_or_else(|| path.to_owned())))
        }
        Ok(Found::Outside(target)) => Some(Ok(target)),
        Err(errno) => Some(Err(errno)),
    }
}

/// # Safety
/// As `realpath(3)`.
unsafe fn realpath_any(path: *const c_char, resolved_path: *mut c_char) -> *mut c_char {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(paths::candidate)
        .and_then(|path| resolved(&path));
    let target = match found {
        None => {
            // SAFETY: the caller's promise.
            return unsafe { real::realpath(path, resolved_path) };
        }
        Some(result) => result.and_then(|path| device::c_path(&path)),
    };
    match target {
        // SAFETY: both are terminated; the caller's buffer has PATH_MAX bytes, and paths of the
        // device are shorter.
        Ok(target) if !resolved_path.is_null() => unsafe {
            libc::strcpy(resolved_path, target.as_ptr())
        },
        // SAFETY: a terminated string; the caller frees the copy.
        Ok(target) => unsafe { libc::strdup(target.as_ptr()) },
        Err(errno) => {
            device::fail(errno);
            ptr::null_mut()
        }
    }
}

/// `realpath(3)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(path: *const c_char, resolved: *mut c_char) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe { realpath_any(path, resolved) }
}

/// `realpath(3)` of a fortified program, which says how large its buffer is.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn __realpath_chk(
    path: *const c_char,
    resolved: *mut c_char,
    _size: size_t,
) -> *mut c_char {
    // SAFETY: the caller's promise; fortified callers have been checked for PATH_MAX.
    unsafe { realpath_any(path, resolved) }
}

/// Whether the device has the path; then errno says that its files have no extended attributes.
///
/// # Safety
/// `path` is null or terminated.
unsafe fn refuse_attributes(path: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(paths::candidate)
        .and_then(|path| find(&path, true));
    match found {
        None => false,
        Some(Ok(_)) => {
            device::fail(Errno(libc::ENOTSUP));
            true
        }
        Some(Err(errno)) => {
            device::fail(errno);
            true
        }
    }
}

macro_rules! attribute_names {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => { $(
        /// A call about extended attributes, which files of sysfs do not have.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, $($argument: $ty),*) -> ssize_t {
            // SAFETY: the caller's promise.
            if unsafe { refuse_attributes(path) } {
                return -1;
            }
            // SAFETY: the caller's promise.
            unsafe { real::$name(path, $($argument),*) }
        }
    )* };
}

attribute_names! {
    getxattr(name: *const c_char, value: *mut c_void, size: size_t);
    lgetxattr(name: *const c_char, value: *mut c_void, size: size_t);
    listxattr(list: *mut c_char, size: size_t);
    llistxattr(list: *mut c_char, size: size_t);
}
