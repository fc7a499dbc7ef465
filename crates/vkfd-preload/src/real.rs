//! The C library's own functions, found behind this library by `dlsym(RTLD_NEXT)`.
//!
//! Found in the constructor. A call that comes before it (an allocator at work while libraries are
//! loaded) resolves its own function; `mmap` and `munmap`, which `dlsym` itself might need, go to
//! the kernel directly until then.

use libc::{DIR, FILE, c_char, c_int, c_uint, c_ulong, c_void, dirent64, off_t, pthread_attr_t};
use libc::{pthread_t, size_t, ssize_t, stat64, statx};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `main` of a thread.
pub(crate) type ThreadMain = extern "C" fn(*mut c_void) -> *mut c_void;
/// Filter of `scandir`.
pub(crate) type DirFilter = Option<unsafe extern "C" fn(*const dirent64) -> c_int>;
/// Order of `scandir`.
pub(crate) type DirCompare =
    Option<unsafe extern "C" fn(*mut *const dirent64, *mut *const dirent64) -> c_int>;

fn find(name: &CStr) -> *mut c_void {
    // SAFETY: a terminated name, and a handle that is always valid.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(
            #[doc = concat!("The real `", stringify!($name), "`.\n\n# Safety\nAs the C function.")]
            pub(crate) unsafe fn $name($($argument: $ty),*) -> $ret {
                let address = slots::$name.load(Ordering::Relaxed);
                let address = if address.is_null() { slots::resolve(&slots::$name, $symbol) } else { address };
                // SAFETY: the address is that of a C function with this signature.
                let function = unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(address)
                };
                // SAFETY: the caller's promise.
                unsafe { function($($argument),*) }
            }
        )*

        /// Addresses, null until found.
        #[expect(non_upper_case_globals, reason = "named after the functions")]
        mod slots {
            use super::*;
            $( pub(super) static $name: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut()); )*

            /// Finds one function; without it the process cannot go on.
            pub(super) fn resolve(slot: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
                let address = find(name);
                if address.is_null() {
                    super::super::device::complain(b"vkfd-preload: the C library lacks a function\n");
                    // SAFETY: ends the process.
                    unsafe { libc::abort() }
                }
                // ORDERING: every thread finds the same address.
                slot.store(address, Ordering::Relaxed);
                address
            }
        }

        /// Finds all functions.
        pub(crate) fn resolve_all() {
            $( slots::resolve(&slots::$name, $symbol); )*
        }
    };
}

functions! {
    open = c"open64"(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    openat = c"openat64"(dir: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    close = c"close"(fd: c_int) -> c_int;
    ioctl = c"ioctl"(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int;
    fcntl = c"fcntl64"(fd: c_int, command: c_int, arg: usize) -> c_int;
    close_range = c"close_range"(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    closefrom = c"closefrom"(first: c_int) -> ();
    dup = c"dup"(fd: c_int) -> c_int;
    dup2 = c"dup2"(old: c_int, new: c_int) -> c_int;
    dup3 = c"dup3"(old: c_int, new: c_int, flags: c_int) -> c_int;
    mmap_found = c"mmap64"(addr: *mut c_void, length: size_t, prot: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void;
    munmap_found = c"munmap"(addr: *mut c_void, length: size_t) -> c_int;
    fopen = c"fopen64"(path: *const c_char, mode: *const c_char) -> *mut FILE;
    fdopen = c"fdopen"(fd: c_int, mode: *const c_char) -> *mut FILE;
    opendir = c"opendir"(path: *const c_char) -> *mut DIR;
    fdopendir = c"fdopendir"(fd: c_int) -> *mut DIR;
    readdir = c"readdir64"(dir: *mut DIR) -> *mut dirent64;
    closedir = c"closedir"(dir: *mut DIR) -> c_int;
    rewinddir = c"rewinddir"(dir: *mut DIR) -> ();
    dirfd = c"dirfd"(dir: *mut DIR) -> c_int;
    scandir = c"scandir64"(path: *const c_char, list: *mut *mut *mut dirent64, filter: DirFilter, compare: DirCompare) -> c_int;
    stat = c"stat64"(path: *const c_char, buffer: *mut stat64) -> c_int;
    lstat = c"lstat64"(path: *const c_char, buffer: *mut stat64) -> c_int;
    fstat = c"fstat64"(fd: c_int, buffer: *mut stat64) -> c_int;
    fstatat = c"fstatat64"(dir: c_int, path: *const c_char, buffer: *mut stat64, flags: c_int) -> c_int;
    statx_call = c"statx"(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, buffer: *mut statx) -> c_int;
    access = c"access"(path: *const c_char, mode: c_int) -> c_int;
    faccessat = c"faccessat"(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    readlink = c"readlink"(path: *const c_char, buffer: *mut c_char, size: size_t) -> ssize_t;
    readlinkat = c"readlinkat"(dir: c_int, path: *const c_char, buffer: *mut c_char, size: size_t) -> ssize_t;
    realpath = c"realpath"(path: *const c_char, resolved: *mut c_char) -> *mut c_char;
    getxattr = c"getxattr"(path: *const c_char, name: *const c_char, value: *mut c_void, size: size_t) -> ssize_t;
    lgetxattr = c"lgetxattr"(path: *const c_char, name: *const c_char, value: *mut c_void, size: size_t) -> ssize_t;
    listxattr = c"listxattr"(path: *const c_char, list: *mut c_char, size: size_t) -> ssize_t;
    llistxattr = c"llistxattr"(path: *const c_char, list: *mut c_char, size: size_t) -> ssize_t;
    pthread_create = c"pthread_create"(thread: *mut pthread_t, attributes: *const pthread_attr_t, main: ThreadMain, argument: *mut c_void) -> c_int;
}

/// The real `mmap`.
///
/// # Safety
/// As the C function.
pub(crate) unsafe fn mmap(
    addr: *mut c_void,
    length: size_t,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    if slots::mmap_found.load(Ordering::Relaxed).is_null() {
        // SAFETY: the caller's promise; the system call takes the same arguments.
        let address =
            unsafe { libc::syscall(libc::SYS_mmap, addr, length, prot, flags, fd, offset) };
        return std::ptr::with_exposed_provenance_mut(
            address.cast_unsigned().try_into().unwrap_or(usize::MAX),
        );
    }
    // SAFETY: the caller's promise.
    unsafe { mmap_found(addr, length, prot, flags, fd, offset) }
}

/// The real `munmap`.
///
/// # Safety
/// As the C function.
pub(crate) unsafe fn munmap(addr: *mut c_void, length: size_t) -> c_int {
    if slots::munmap_found.load(Ordering::Relaxed).is_null() {
        // SAFETY: the caller's promise; the system call takes the same arguments.
        let result = unsafe { libc::syscall(libc::SYS_munmap, addr, length) };
        return if result == 0 { 0 } else { -1 };
    }
    // SAFETY: the caller's promise.
    unsafe { munmap_found(addr, length) }
}
