//! The device of this process, its descriptors, and errors in C's way.

use crate::{directory, inside, is_active};
use hsakmt_sys::{Errno, Fd, Kernel};
use libc::{c_int, c_uint};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use vkfd::sysfs::Entry;
use vkfd::{Config, VirtualKfd};

/// A device and the process that made it. Never freed: threads may be in it until the end.
pub(crate) struct Device {
    kfd: Option<Arc<VirtualKfd>>,
    process: c_int,
}

static DEVICE: AtomicPtr<Device> = AtomicPtr::new(ptr::null_mut());
/// Held while the device is made.
static MAKING: parking_lot::Mutex<()> = parking_lot::Mutex::new(());

/// Descriptors that [`OWNED`] can tell.
const MAX_DESCRIPTORS: usize = 1 << 16;
/// The last of them.
const LAST_DESCRIPTOR: c_uint = (1 << 16) - 1;
/// One bit for each descriptor that is the device's: a look without a lock, which is also safe in a
/// forked child.
static OWNED: [AtomicU64; MAX_DESCRIPTORS / 64] =
    [const { AtomicU64::new(0) }; MAX_DESCRIPTORS / 64];

/// Writes to stderr without the standard library's locks.
pub(crate) fn complain(text: &[u8]) {
    // SAFETY: a valid buffer. If stderr is closed there is nobody to tell.
    let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

fn process() -> c_int {
    // SAFETY: cannot fail.
    unsafe { libc::getpid() }
}

/// The device, if a call of the program may be for it; made at the first call.
pub(crate) fn get() -> Option<&'static VirtualKfd> {
    if !is_active() || inside::is_inside() {
        return None;
    }
    let device = match existing() {
        Some(device) if device.process == process() => device,
        // None yet, or the parent's of a forked child, which has a device of its own.
        _ => make(),
    };
    device.kfd.as_deref()
}

/// The device if it has been made in this process.
pub(crate) fn get_existing() -> Option<&'static VirtualKfd> {
    if inside::is_inside() {
        return None;
    }
    existing()
        .filter(|device| device.process == process())?
        .kfd
        .as_deref()
}

fn existing() -> Option<&'static Device> {
    let device = DEVICE.load(Ordering::Acquire);
    // SAFETY: null, or a leaked box.
    unsafe { device.as_ref() }
}

fn make() -> &'static Device {
    let _making = MAKING.lock();
    if let Some(device) = existing().filter(|device| device.process == process()) {
        return device;
    }
    let kfd = inside::run(|| Ok(configured())).unwrap_or(None);
    let device = Box::leak(Box::new(Device {
        kfd,
        process: process(),
    }));
    // ORDERING: publishes what the box holds.
    DEVICE.store(device, Ordering::Release);
    device
}

fn configured() -> Option<Arc<VirtualKfd>> {
    let made = match Config::from_env() {
        Ok(config) => VirtualKfd::new(config?).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    made.inspect_err(|error| complain(format!("vkfd: {error}\n").as_bytes()))
        .ok()
}

/// Whether a descriptor is the device's.
pub(crate) fn owns(fd: c_int) -> bool {
    let Ok(number) = usize::try_from(fd) else {
        return false;
    };
    // ORDERING: a program that passes a descriptor to another thread orders that itself.
    OWNED
        .get(number / 64)
        .is_some_and(|word| word.load(Ordering::Relaxed) >> (number % 64) & 1 != 0)
}

/// Notes whether a descriptor is the device's.
pub(crate) fn set_owned(fd: c_int, owned: bool) {
    let Ok(number) = usize::try_from(fd) else {
        return;
    };
    let Some(word) = OWNED.get(number / 64) else {
        complain(b"vkfd-preload: descriptor number too large for the device\n");
        return;
    };
    let bit = 1 << (number % 64);
    if owned {
        word.fetch_or(bit, Ordering::Relaxed);
    } else {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// The device's descriptors in a range of numbers.
pub(crate) fn owned_between(first: c_uint, last: c_uint) -> impl Iterator<Item = c_int> {
    let numbers = (first..=last.min(LAST_DESCRIPTOR)).map(c_uint::cast_signed);
    numbers.filter(|fd| owns(*fd))
}

/// Opens a path of the device; `None` if it is none.
pub(crate) fn open(path: &Path, flags: c_int) -> Option<Result<c_int, Errno>> {
    let kfd = get()?;
    inside::run(|| Ok(open_inside(kfd, path, flags, 0))).unwrap_or_else(|errno| Some(Err(errno)))
}

/// Most links that are followed, as in the kernel.
const MAX_LINKS: u32 = 40;

fn open_inside(
    kfd: &VirtualKfd,
    path: &Path,
    flags: c_int,
    links: u32,
) -> Option<Result<c_int, Errno>> {
    if !kfd.owns_path(path) {
        return None;
    }
    match kfd.sysfs().entry(path) {
        Some(Err(errno)) => Some(Err(errno)),
        Some(Ok(Entry::Device { .. })) => Some(open_node(kfd, path, flags)),
        Some(Ok(Entry::Directory)) => Some(directory::open(path, flags)),
        Some(Ok(Entry::Link)) if links < MAX_LINKS && flags & libc::O_NOFOLLOW == 0 => {
            let target = link_target(kfd, path)?;
            open_inside(kfd, &target, flags, links + 1).or_else(|| Some(open_real(&target, flags)))
        }
        Some(Ok(Entry::Link)) => Some(Err(Errno(libc::ELOOP))),
        Some(Ok(Entry::File(_))) | None => Some(open_content(kfd, path, flags)),
    }
}

/// Where a link of the device leads.
pub(crate) fn link_target(kfd: &VirtualKfd, path: &Path) -> Option<std::path::PathBuf> {
    let target = kfd.sysfs().read_link(path)?;
    Some(path.parent()?.join(target))
}

fn open_node(kfd: &VirtualKfd, path: &Path, flags: c_int) -> Result<c_int, Errno> {
    let c_path = c_path(path)?;
    let Fd(fd) = kfd.open(&c_path, flags)?;
    set_owned(fd, true);
    Ok(fd)
}

fn open_real(path: &Path, flags: c_int) -> Result<c_int, Errno> {
    let c_path = c_path(path)?;
    // SAFETY: a terminated path; without O_CREAT the mode does not matter.
    check(unsafe { crate::real::open(c_path.as_ptr(), flags & !libc::O_CREAT, 0) })
}

pub(crate) fn c_path(path: &Path) -> Result<CString, Errno> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno(libc::EINVAL))
}

/// A descriptor from which the program reads a file's content; nothing of the device is behind it
/// any more, so every call on it works by itself.
fn open_content(kfd: &VirtualKfd, path: &Path, flags: c_int) -> Result<c_int, Errno> {
    if flags & libc::O_ACCMODE != libc::O_RDONLY {
        return Err(Errno(libc::EACCES));
    }
    if flags & libc::O_DIRECTORY != 0 {
        return Err(Errno(libc::ENOTDIR));
    }
    content_descriptor(&kfd.read_file(path)?, flags)
}

fn content_descriptor(content: &[u8], flags: c_int) -> Result<c_int, Errno> {
    let cloexec: c_uint = if flags & libc::O_CLOEXEC == 0 {
        0
    } else {
        libc::MFD_CLOEXEC
    };
    // SAFETY: a terminated name.
    let fd = check(unsafe { libc::memfd_create(c"vkfd-file".as_ptr(), cloexec) })?;
    let filled = fill(fd, content);
    if let Err(errno) = filled {
        // SAFETY: our own descriptor, not yet given away.
        unsafe { crate::real::close(fd) };
        return Err(errno);
    }
    Ok(fd)
}

fn fill(fd: c_int, content: &[u8]) -> Result<(), Errno> {
    let mut done = 0;
    while let Some(rest) = content.get(done..).filter(|rest| !rest.is_empty()) {
        let offset = i64::try_from(done).map_err(|_| Errno(libc::EFBIG))?;
        // SAFETY: `rest` is valid for its length; `pwrite` leaves the file position at 0.
        let written = unsafe { libc::pwrite(fd, rest.as_ptr().cast(), rest.len(), offset) };
        done += usize::try_from(written).map_err(|_| Errno::last())?;
    }
    Ok(())
}

/// A C result of -1 as the errno it left.
pub(crate) fn check(result: c_int) -> Result<c_int, Errno> {
    if result < 0 {
        Err(Errno::last())
    } else {
        Ok(result)
    }
}

/// Sets `errno` and answers -1.
pub(crate) fn fail(errno: Errno) -> c_int {
    // SAFETY: the address of this thread's errno.
    let slot = unsafe { libc::__errno_location() };
    // SAFETY: valid as long as the thread.
    unsafe { *slot = errno.0 };
    -1
}

/// A result in C's way.
pub(crate) fn answer(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(fail)
}
