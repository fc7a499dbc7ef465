//! What files are: `stat` and its relatives.

use super::open::text;
use crate::device;
use crate::{directory, inside, paths, real};
use hsakmt_sys::Errno;
use libc::{c_char, c_int, c_uint, stat64 as Stat, statx as Statx};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use vkfd::sysfs::{DRM_MAJOR, Entry, KFD_MAJOR};
use vkfd::{FileKind, VirtualKfd};

/// Device number of sysfs as far as anybody can tell.
const SYSFS_DEVICE: u64 = 21;

/// What the device knows about a path: an entry, a path of the host behind a link, or an error.
pub(super) enum Found {
    Entry(Entry),
    Outside(PathBuf),
}

/// Looks a path up; `None` if it is not the device's.
pub(super) fn find(path: &Path, follow: bool) -> Option<Result<Found, Errno>> {
    let kfd = device::get()?;
    inside::run(|| Ok(find_inside(kfd, path, follow, 0))).unwrap_or_else(|errno| Some(Err(errno)))
}

fn find_inside(
    kfd: &VirtualKfd,
    path: &Path,
    follow: bool,
    links: u32,
) -> Option<Result<Found, Errno>> {
    if !kfd.owns_path(path) {
        return None;
    }
    match kfd.sysfs().entry(path) {
        Some(Ok(Entry::Link)) if links >= 40 => Some(Err(Errno(libc::ELOOP))),
        Some(Ok(Entry::Link)) if follow => {
            let target = device::link_target(kfd, path)?;
            find_inside(kfd, &target, follow, links + 1).or(Some(Ok(Found::Outside(target))))
        }
        Some(entry) => Some(entry.map(Found::Entry)),
        // Served, though the host has the entry too: /proc/modules.
        None => Some(Ok(Found::Entry(Entry::File(0)))),
    }
}

/// Type and permission bits, device number, size.
pub(super) fn facts(entry: Entry) -> (u32, u64, i64) {
    match entry {
        Entry::Directory => (libc::S_IFDIR | 0o755, 0, 0),
        Entry::File(bytes) => (
            libc::S_IFREG | 0o444,
            0,
            i64::try_from(bytes).unwrap_or(i64::MAX),
        ),
        Entry::Link => (libc::S_IFLNK | 0o777, 0, 0),
        Entry::Device { major, minor } => (libc::S_IFCHR | 0o666, libc::makedev(major, minor), 0),
    }
}

/// A number for a path, the same each time.
fn inode(path: &Path) -> u64 {
    // FNV-1a, 64 bits.
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    path.as_os_str()
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, mix)
        | 1
}

fn filled(path: &Path, entry: Entry) -> Stat {
    // SAFETY: a struct of integers, for which zero is a value.
    let mut stat: Stat = unsafe { std::mem::zeroed() };
    let (mode, device, size) = facts(entry);
    stat.st_dev = SYSFS_DEVICE;
    stat.st_ino = inode(path);
    stat.st_nlink = 1;
    stat.st_mode = mode;
    stat.st_rdev = device;
    stat.st_size = size;
    stat.st_blksize = 4096;
    stat
}

/// Answers a stat of `path`; `None` if it is not the device's.
///
/// # Safety
/// `buffer` may be written.
unsafe fn stat_virtual(path: &Path, follow: bool, buffer: *mut Stat) -> Option<c_int> {
    Some(match find(path, follow)? {
        Ok(Found::Entry(entry)) => {
            // SAFETY: the caller's promise.
            unsafe { buffer.write(filled(path, entry)) };
            0
        }
        Ok(Found::Outside(target)) => match device::c_path(&target) {
            // SAFETY: a terminated path and the caller's buffer.
            Ok(target) => unsafe { real::stat(target.as_ptr(), buffer) },
            Err(errno) => device::fail(errno),
        },
        Err(errno) => device::fail(errno),
    })
}

/// # Safety
/// As `stat(2)`.
unsafe fn stat_any(path: *const c_char, buffer: *mut Stat) -> c_int {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(paths::candidate)
        // SAFETY: the caller's promise.
        .and_then(|path| unsafe { stat_virtual(&path, true, buffer) });
    // SAFETY: the caller's promise.
    found.unwrap_or_else(|| unsafe { real::stat(path, buffer) })
}

/// # Safety
/// As `lstat(2)`.
unsafe fn lstat_any(path: *const c_char, buffer: *mut Stat) -> c_int {
    // SAFETY: the caller's promise.
    let found = unsafe { text(path) }
        .and_then(paths::candidate)
        // SAFETY: the caller's promise.
        .and_then(|path| unsafe { stat_virtual(&path, false, buffer) });
    // SAFETY: the caller's promise.
    found.unwrap_or_else(|| unsafe { real::lstat(path, buffer) })
}

/// The path and entry that a descriptor of the device stands for.
fn entry_of_descriptor(fd: c_int) -> Option<(PathBuf, Entry)> {
    if !device::owns(fd) {
        return directory::path_of(fd).map(|path| (path, Entry::Directory));
    }
    let kfd = device::get_existing()?;
    match inside::run(|| Ok(kfd.file_kind(fd))).ok()?? {
        FileKind::Kfd => {
            let (major, minor) = (KFD_MAJOR, 0);
            Some(("/dev/kfd".into(), Entry::Device { major, minor }))
        }
        FileKind::Render(gpu) => {
            let (major, minor) = (DRM_MAJOR, kfd.render_minor(gpu)?);
            let path = format!("/dev/dri/renderD{minor}");
            Some((path.into(), Entry::Device { major, minor }))
        }
        // A dma-buf or an event stream is a file of its own.
        _ => None,
    }
}

/// # Safety
/// As `fstat(2)`.
unsafe fn fstat_any(fd: c_int, buffer: *mut Stat) -> c_int {
    if !inside::is_inside()
        && let Some((path, entry)) = entry_of_descriptor(fd)
    {
        // SAFETY: the caller's promise.
        unsafe { buffer.write(filled(&path, entry)) };
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { real::fstat(fd, buffer) }
}

/// # Safety
/// As `fstatat(2)`.
unsafe fn fstatat_any(dir: c_int, path: *const c_char, buffer: *mut Stat, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    if let Some(name) = unsafe { text(path) } {
        if name.is_empty() && flags & libc::AT_EMPTY_PATH != 0 && entry_of_descriptor(dir).is_some()
        {
            // SAFETY: the caller's promise.
            return unsafe { fstat_any(dir, buffer) };
        }
        let follow = flags & libc::AT_SYMLINK_NOFOLLOW == 0;
        let found = directory::resolve(dir, name)
            // SAFETY: the caller's promise.
            .and_then(|path| unsafe { stat_virtual(&path, follow, buffer) });
        if let Some(result) = found {
            return result;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { real::fstatat(dir, path, buffer, flags) }
}

macro_rules! stat_names {
    ($($name:ident = $inner:ident ($($argument:ident: $ty:ty),*);)*) => { $(
        /// One of the `stat(2)` family; `struct stat` and `struct stat64` are the same on x86-64.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $ty),*) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { $inner($($argument),*) }
        }
    )* };
}

stat_names! {
    stat = stat_any(path: *const c_char, buffer: *mut Stat);
    stat64 = stat_any(path: *const c_char, buffer: *mut Stat);
    lstat = lstat_any(path: *const c_char, buffer: *mut Stat);
    lstat64 = lstat_any(path: *const c_char, buffer: *mut Stat);
    fstat = fstat_any(fd: c_int, buffer: *mut Stat);
    fstat64 = fstat_any(fd: c_int, buffer: *mut Stat);
    fstatat = fstatat_any(dir: c_int, path: *const c_char, buffer: *mut Stat, flags: c_int);
    fstatat64 = fstatat_any(dir: c_int, path: *const c_char, buffer: *mut Stat, flags: c_int);
}

macro_rules! versioned_stat_names {
    ($($name:ident = $inner:ident ($($argument:ident: $ty:ty),*);)*) => { $(
        /// What programs built against a C library before 2.33 call; on x86-64 the version says
        /// nothing that matters.
        ///
        /// # Safety
        /// As the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(_version: c_int, $($argument: $ty),*) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { $inner($($argument),*) }
        }
    )* };
}

versioned_stat_names! {
    __xstat = stat_any(path: *const c_char, buffer: *mut Stat);
    __xstat64 = stat_any(path: *const c_char, buffer: *mut Stat);
    __lxstat = lstat_any(path: *const c_char, buffer: *mut Stat);
    __lxstat64 = lstat_any(path: *const c_char, buffer: *mut Stat);
    __fxstat = fstat_any(fd: c_int, buffer: *mut Stat);
    __fxstat64 = fstat_any(fd: c_int, buffer: *mut Stat);
    __fxstatat = fstatat_any(dir: c_int, path: *const c_char, buffer: *mut Stat, flags: c_int);
    __fxstatat64 = fstatat_any(dir: c_int, path: *const c_char, buffer: *mut Stat, flags: c_int);
}

/// `statx(2)`.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    buffer: *mut Statx,
) -> c_int {
    // SAFETY: the caller's promise.
    let mine = unsafe { text(path) }.is_some_and(|name| {
        let by_descriptor = name.is_empty() && entry_of_descriptor(dir).is_some();
        by_descriptor
            || directory::resolve(dir, name).is_some_and(|path| find(&path, true).is_some())
    });
    if !mine {
        // SAFETY: the caller's promise.
        return unsafe { real::statx_call(dir, path, flags, mask, buffer) };
    }
    // SAFETY: a struct of integers, for which zero is a value.
    let mut plain: Stat = unsafe { std::mem::zeroed() };
    // SAFETY: the caller's promise, and a buffer of our own.
    let result = unsafe { fstatat_any(dir, path, &raw mut plain, flags) };
    if result == 0 {
        // SAFETY: the caller's promise.
        unsafe { buffer.write(extended(&plain)) };
    }
    result
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the fields have the kernel's widths"
)]
#[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
fn extended(plain: &Stat) -> Statx {
    // SAFETY: a struct of integers, for which zero is a value.
    let mut extended: Statx = unsafe { std::mem::zeroed() };
    extended.stx_mask = libc::STATX_BASIC_STATS;
    extended.stx_blksize = plain.st_blksize as u32;
    extended.stx_nlink = plain.st_nlink as u32;
    extended.stx_mode = plain.st_mode as u16;
    extended.stx_ino = plain.st_ino;
    extended.stx_size = plain.st_size as u64;
    extended.stx_rdev_major = libc::major(plain.st_rdev);
    extended.stx_rdev_minor = libc::minor(plain.st_rdev);
    extended.stx_dev_minor = plain.st_dev as u32;
    extended
}
