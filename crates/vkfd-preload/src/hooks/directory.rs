//! Directory streams.

use super::open::text;
use crate::real::{self, DirCompare, DirFilter};
use crate::{device, directory, paths};
use hsakmt_sys::Errno;
use libc::{DIR, c_char, c_int, c_void, dirent64};
use std::ptr;

/// `opendir(3)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    // SAFETY: the caller's promise.
    let stream = unsafe { text(path) }
        .and_then(paths::candidate)
        .and_then(|path| directory::open_stream(&path));
    match stream {
        Some(result) => stream_or_null(result),
        // SAFETY: the caller's promise.
        None => unsafe { real::opendir(path) },
    }
}

/// `fdopendir(3)`. The descriptor belongs to the stream from then on.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn fdopendir(fd: c_int) -> *mut DIR {
    let stream = directory::path_of(fd).and_then(|path| directory::open_stream(&path));
    match stream {
        Some(result) => {
            directory::forget(fd);
            // SAFETY: the caller gives the descriptor away; the stream has one of its own.
            unsafe { real::close(fd) };
            stream_or_null(result)
        }
        // SAFETY: the caller's promise.
        None => unsafe { real::fdopendir(fd) },
    }
}

fn stream_or_null(result: Result<*mut DIR, Errno>) -> *mut DIR {
    result.unwrap_or_else(|errno| {
        device::fail(errno);
        ptr::null_mut()
    })
}

macro_rules! readdir_names {
    ($($name:ident)*) => { $(
        /// `readdir(3)`; `struct dirent` and `struct dirent64` are the same on x86-64.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dir: *mut DIR) -> *mut dirent64 {
            // SAFETY: the caller's promise.
            directory::next(dir).unwrap_or_else(|| unsafe { real::readdir(dir) })
        }
    )* };
}

readdir_names! { readdir readdir64 }

/// `closedir(3)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(dir: *mut DIR) -> c_int {
    if directory::close(dir) {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { real::closedir(dir) }
}

/// `rewinddir(3)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn rewinddir(dir: *mut DIR) {
    if !directory::rewind(dir) {
        // SAFETY: the caller's promise.
        unsafe { real::rewinddir(dir) }
    }
}

/// `dirfd(3)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn dirfd(dir: *mut DIR) -> c_int {
    // SAFETY: the caller's promise.
    directory::descriptor(dir).unwrap_or_else(|| unsafe { real::dirfd(dir) })
}

/// Collects a stream into the list that `scandir` answers.
///
/// # Safety
/// `list` may be written; the functions may be called with entries.
unsafe fn collect(
    dir: *mut DIR,
    list: *mut *mut *mut dirent64,
    filter: DirFilter,
    compare: DirCompare,
) -> c_int {
    let mut kept: Vec<*mut dirent64> = Vec::new();
    while let Some(entry) = directory::next(dir).filter(|entry| !entry.is_null()) {
        // SAFETY: the entry is valid until the next call on the stream.
        if filter.is_none_or(|keep| unsafe { keep(entry) } != 0) {
            // SAFETY: an allocation of this size.
            let copy = unsafe { libc::malloc(size_of::<dirent64>()) }.cast::<dirent64>();
            if copy.is_null() {
                return device::fail(Errno(libc::ENOMEM));
            }
            // SAFETY: both are valid for one entry and apart.
            unsafe { ptr::copy_nonoverlapping(entry, copy, 1) };
            kept.push(copy);
        }
    }
    if let Some(compare) = compare {
        kept.sort_by(|a, b| {
            let (mut a, mut b) = (a.cast_const(), b.cast_const());
            // SAFETY: pointers to pointers to valid entries, as C's qsort would pass.
            unsafe { compare(&raw mut a, &raw mut b) }.cmp(&0)
        });
    }
    // SAFETY: the caller frees the array and each entry, hence malloc for both.
    let array =
        unsafe { libc::malloc(size_of_val(kept.as_slice()).max(1)) }.cast::<*mut dirent64>();
    if array.is_null() {
        return device::fail(Errno(libc::ENOMEM));
    }
    // SAFETY: the array has room for all.
    unsafe { ptr::copy_nonoverlapping(kept.as_ptr(), array, kept.len()) };
    // SAFETY: the caller's promise.
    unsafe { *list = array };
    c_int::try_from(kept.len()).unwrap_or(c_int::MAX)
}

macro_rules! scandir_names {
    ($($name:ident)*) => { $(
        /// `scandir(3)`.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            path: *const c_char,
            list: *mut *mut *mut dirent64,
            filter: DirFilter,
            compare: DirCompare,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let stream = unsafe { text(path) }
                .and_then(paths::candidate)
                .and_then(|path| directory::open_stream(&path));
            match stream {
                Some(Ok(dir)) => {
                    // SAFETY: the caller's promise.
                    let count = unsafe { collect(dir, list, filter, compare) };
                    directory::close(dir);
                    count
                }
                Some(Err(errno)) => device::fail(errno),
                // SAFETY: the caller's promise.
                None => unsafe { real::scandir(path, list, filter, compare) },
            }
        }
    )* };
}

scandir_names! { scandir scandir64 }

/// A pointer type that C and Rust agree on for streams.
const _: () = assert!(size_of::<*mut DIR>() == size_of::<*mut c_void>());
