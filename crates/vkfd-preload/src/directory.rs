//! Directories of the device: descriptors that stand for one, and streams over its names.

use crate::{device, inside, paths, real};
use hsakmt_sys::Errno;
use libc::{DIR, c_int, c_uint, dirent64};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use vkfd::VirtualKfd;
use vkfd::sysfs::Entry;

/// Paths of descriptors that stand for a directory of the device.
static DESCRIPTORS: Mutex<BTreeMap<c_int, PathBuf>> = Mutex::new(BTreeMap::new());
/// How many there are, so that the common case takes no lock.
static DESCRIPTOR_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Addresses of open [`Stream`]s, by which they are told from the C library's.
static STREAMS: Mutex<BTreeMap<usize, Box<Stream>>> = Mutex::new(BTreeMap::new());
/// How many there are.
static STREAM_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Bytes of an entry.
#[expect(clippy::cast_possible_truncation, reason = "a few hundred")]
const ENTRY_BYTES: u16 = size_of::<dirent64>() as u16;

/// An open directory stream.
struct Stream {
    entries: Vec<dirent64>,
    next: usize,
    fd: c_int,
}

/// Opens a descriptor for a directory of the device. It really is the root directory, opened for
/// its path only, so that no call on it can do harm.
pub(crate) fn open(path: &Path, flags: c_int) -> Result<c_int, Errno> {
    if flags & libc::O_ACCMODE != libc::O_RDONLY {
        return Err(Errno(libc::EISDIR));
    }
    let keep = flags & libc::O_CLOEXEC;
    let flags = libc::O_PATH | libc::O_DIRECTORY | keep;
    // SAFETY: a terminated path; no file is created.
    let fd = device::check(unsafe { real::open(c"/".as_ptr(), flags, 0) })?;
    remember(fd, path.to_owned());
    Ok(fd)
}

fn remember(fd: c_int, path: PathBuf) {
    let mut descriptors = DESCRIPTORS.lock();
    descriptors.insert(fd, path);
    DESCRIPTOR_COUNT.store(descriptors.len(), Ordering::Relaxed);
}

/// Forgets a descriptor that is being closed.
pub(crate) fn forget(fd: c_int) {
    if DESCRIPTOR_COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut descriptors = DESCRIPTORS.lock();
    descriptors.remove(&fd);
    DESCRIPTOR_COUNT.store(descriptors.len(), Ordering::Relaxed);
}

/// Forgets descriptors that are being closed in bulk.
pub(crate) fn forget_range(first: c_uint, last: c_uint) {
    if DESCRIPTOR_COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut descriptors = DESCRIPTORS.lock();
    descriptors.retain(|fd, _| !(first..=last).contains(&fd.cast_unsigned()));
    DESCRIPTOR_COUNT.store(descriptors.len(), Ordering::Relaxed);
}

/// Notes that `new` stands for the same directory as `old`.
pub(crate) fn duplicated(old: c_int, new: c_int) {
    match path_of(old) {
        Some(path) => remember(new, path),
        None => forget(new),
    }
}

/// The directory that a descriptor stands for.
pub(crate) fn path_of(fd: c_int) -> Option<PathBuf> {
    if DESCRIPTOR_COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    DESCRIPTORS.lock().get(&fd).cloned()
}

/// The path that `path` relative to descriptor `dir` means, if it may be the device's.
pub(crate) fn resolve(dir: c_int, path: &CStr) -> Option<PathBuf> {
    if path.to_bytes().first() == Some(&b'/') {
        return paths::candidate(path).map(std::borrow::Cow::into_owned);
    }
    path_of(dir).map(|directory| paths::joined(&directory, path))
}

/// Opens a stream over a directory of the device; `None` if the path is none.
pub(crate) fn open_stream(path: &Path) -> Option<Result<*mut DIR, Errno>> {
    let kfd = device::get()?;
    let names = inside::run(|| Ok(names(kfd, path)));
    match names {
        Ok(names) => names.map(|names| names.map(|names| start(path, names))),
        Err(errno) => Some(Err(errno)),
    }
}

fn names(kfd: &VirtualKfd, path: &Path) -> Option<Result<Vec<(String, u8)>, Errno>> {
    if !kfd.owns_path(path) {
        return None;
    }
    match kfd.sysfs().entry(path)? {
        Err(errno) => return Some(Err(errno)),
        Ok(Entry::Directory) => {}
        Ok(_) => return Some(Err(Errno(libc::ENOTDIR))),
    }
    let typed = |name: String| {
        let kind = kind(kfd.sysfs().entry(&path.join(&name)));
        (name, kind)
    };
    let dots = [".", ".."].map(|name| (name.to_owned(), libc::DT_DIR));
    let listed = kfd.sysfs().list(path)?.into_iter().map(typed);
    Some(Ok(dots.into_iter().chain(listed).collect()))
}

fn kind(entry: Option<Result<Entry, Errno>>) -> u8 {
    match entry {
        Some(Ok(Entry::Directory)) => libc::DT_DIR,
        Some(Ok(Entry::Device { .. })) => libc::DT_CHR,
        Some(Ok(Entry::Link)) => libc::DT_LNK,
        Some(Ok(Entry::File(_))) => libc::DT_REG,
        _ => libc::DT_UNKNOWN,
    }
}

fn start(path: &Path, names: Vec<(String, u8)>) -> *mut DIR {
    let numbered = names.iter().enumerate();
    let entries = numbered
        .map(|(index, (name, kind))| entry(index, name, *kind))
        .collect();
    // A stream has a descriptor only if somebody asks for it; -1 where none can be had.
    let fd = open(path, libc::O_CLOEXEC).unwrap_or(-1);
    let stream = Box::new(Stream {
        entries,
        next: 0,
        fd,
    });
    let address = std::ptr::from_ref(&*stream).addr();
    let mut streams = STREAMS.lock();
    streams.insert(address, stream);
    STREAM_COUNT.store(streams.len(), Ordering::Relaxed);
    std::ptr::without_provenance_mut(address)
}

fn entry(index: usize, name: &str, kind: u8) -> dirent64 {
    let mut d_name = [0; 256];
    // One byte stays 0. Names of the device are short.
    for (to, from) in d_name.iter_mut().zip(name.bytes().take(255)) {
        *to = from.cast_signed();
    }
    dirent64 {
        d_ino: index as u64 + 1,
        d_off: index as i64 + 1,
        d_reclen: ENTRY_BYTES,
        d_type: kind,
        d_name,
    }
}

/// Runs `body` on a stream of the device; `None` if it is the C library's.
fn with<T>(dir: *mut DIR, body: impl FnOnce(&mut Stream) -> T) -> Option<T> {
    if STREAM_COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    STREAMS
        .lock()
        .get_mut(&dir.addr())
        .map(|stream| body(stream))
}

/// The next entry, valid until the next call on the stream; `None` if the stream is not ours.
pub(crate) fn next(dir: *mut DIR) -> Option<*mut dirent64> {
    with(dir, |stream| match stream.entries.get_mut(stream.next) {
        Some(entry) => {
            stream.next += 1;
            std::ptr::from_mut(entry)
        }
        None => std::ptr::null_mut(),
    })
}

/// Starts from the first entry again.
pub(crate) fn rewind(dir: *mut DIR) -> bool {
    with(dir, |stream| stream.next = 0).is_some()
}

/// The descriptor of a stream.
pub(crate) fn descriptor(dir: *mut DIR) -> Option<c_int> {
    with(dir, |stream| stream.fd)
}

/// Closes a stream; false if it is not ours.
pub(crate) fn close(dir: *mut DIR) -> bool {
    if STREAM_COUNT.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let mut streams = STREAMS.lock();
    let Some(stream) = streams.remove(&dir.addr()) else {
        return false;
    };
    STREAM_COUNT.store(streams.len(), Ordering::Relaxed);
    drop(streams);
    if stream.fd >= 0 {
        forget(stream.fd);
        // SAFETY: opened by `start`, not given away.
        unsafe { real::close(stream.fd) };
    }
    true
}
