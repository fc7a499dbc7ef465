//! Copies between vkfd and its caller's memory, as `copy_from_user` and `copy_to_user`.
//!
//! The caller lives in the same process, so its pointers could be dereferenced; but they are not
//! trusted. `process_vm_readv` on ourselves makes the kernel check them: a bad pointer is `EFAULT`.

use std::mem::{MaybeUninit, size_of};

use hsakmt_sys::Errno;

const EFAULT: Errno = Errno(libc::EFAULT);

/// A plain struct of the uapi.
///
/// # Safety
/// Every bit pattern is a valid value, and there is no implicit padding.
pub(crate) unsafe trait Wire: Copy + 'static {}

// SAFETY: integers have no padding and no invalid values.
unsafe impl Wire for u32 {}
// SAFETY: as above.
unsafe impl Wire for u64 {}
// SAFETY: as above.
unsafe impl Wire for u8 {}

/// Fills `buffer` from the caller's memory at `address`.
pub(crate) fn read(address: u64, buffer: &mut [u8]) -> Result<(), Errno> {
    if buffer.is_empty() {
        return Ok(());
    }
    let local = iovec(buffer.as_mut_ptr() as usize, buffer.len());
    let remote = iovec(usize::try_from(address).map_err(|_| EFAULT)?, buffer.len());
    // SAFETY: `local` is ours and writable; the kernel checks `remote`.
    let copied =
        unsafe { libc::process_vm_readv(own_pid(), &raw const local, 1, &raw const remote, 1, 0) };
    if copied < 0 && is_forbidden(Errno::last()) {
        return bounce::copy(remote, local);
    }
    complete(copied, buffer.len())
}

/// Stores `bytes` to the caller's memory at `address`.
pub(crate) fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    let local = iovec(bytes.as_ptr() as usize, bytes.len());
    let remote = iovec(usize::try_from(address).map_err(|_| EFAULT)?, bytes.len());
    // SAFETY: `local` is only read; the kernel checks that `remote` is writable by this process.
    let copied =
        unsafe { libc::process_vm_writev(own_pid(), &raw const local, 1, &raw const remote, 1, 0) };
    if copied < 0 && is_forbidden(Errno::last()) {
        return bounce::copy(local, remote);
    }
    complete(copied, bytes.len())
}

/// Sandboxes that filter system calls may refuse the two calls altogether.
fn is_forbidden(errno: Errno) -> bool {
    errno == Errno(libc::EPERM) || errno == Errno(libc::ENOSYS)
}

/// The same copies through a file, whose read and write check pointers as well. Slower.
mod bounce {
    use std::os::fd::AsRawFd;

    use hsakmt_sys::Errno;

    use super::EFAULT;
    use crate::memory::memfd;

    /// Copies between two ranges of equal length, either of which may be a caller's.
    pub(super) fn copy(from: libc::iovec, to: libc::iovec) -> Result<(), Errno> {
        let file = memfd(c"vkfd-copy")?;
        let length = from.iov_len;
        // SAFETY: the kernel checks the source range and answers EFAULT for a bad one.
        let stored = unsafe { libc::pwrite(file.as_raw_fd(), from.iov_base, length, 0) };
        if usize::try_from(stored) != Ok(length) {
            return Err(EFAULT);
        }
        // SAFETY: the kernel checks the target range; it is the caller's or a buffer of `read`.
        let loaded = unsafe { libc::pread(file.as_raw_fd(), to.iov_base, length, 0) };
        if usize::try_from(loaded) == Ok(length) {
            Ok(())
        } else {
            Err(EFAULT)
        }
    }
}

/// Reads the first `bytes` bytes of a `T`; the rest of it is zero, as the kernel's dispatcher does
/// for a caller whose struct is older and shorter.
pub(crate) fn read_prefix<T: Wire>(address: u64, bytes: usize) -> Result<T, Errno> {
    let mut value = MaybeUninit::<T>::zeroed();
    let length = bytes.min(size_of::<T>());
    // SAFETY: the storage is `size_of::<T>()` bytes long, zeroed, and borrowed only here.
    let storage =
        unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), length) };
    read(address, storage)?;
    // SAFETY: `Wire` promises that any bits make a valid `T`.
    Ok(unsafe { value.assume_init() })
}

/// Stores the first `bytes` bytes of `value`.
pub(crate) fn write_prefix<T: Wire>(address: u64, value: &T, bytes: usize) -> Result<(), Errno> {
    let length = bytes.min(size_of::<T>());
    // SAFETY: `value` is readable for its size and, by `Wire`, free of uninitialised padding.
    let storage =
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), length) };
    write(address, storage)
}

/// Reads a whole `T`.
pub(crate) fn get<T: Wire>(address: u64) -> Result<T, Errno> {
    read_prefix(address, size_of::<T>())
}

/// Stores a whole `T`.
pub(crate) fn put<T: Wire>(address: u64, value: &T) -> Result<(), Errno> {
    write_prefix(address, value, size_of::<T>())
}

/// Reads `count` consecutive `T`.
pub(crate) fn get_array<T: Wire>(address: u64, count: usize) -> Result<Vec<T>, Errno> {
    let bytes = count.checked_mul(size_of::<T>()).ok_or(EFAULT)?;
    let mut values = vec![MaybeUninit::<T>::zeroed(); count];
    // SAFETY: the vector owns `bytes` zeroed bytes, borrowed only here.
    let storage =
        unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), bytes) };
    read(address, storage)?;
    // SAFETY: `Wire` promises that any bits make a valid `T`.
    Ok(values
        .into_iter()
        .map(|value| unsafe { value.assume_init() })
        .collect())
}

fn iovec(base: usize, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(base),
        iov_len: length,
    }
}

fn own_pid() -> libc::pid_t {
    // SAFETY: getpid cannot fail and touches no memory.
    unsafe { libc::getpid() }
}

/// A short copy means that a page in the middle was not accessible.
fn complete(copied: isize, wanted: usize) -> Result<(), Errno> {
    if usize::try_from(copied) == Ok(wanted) {
        Ok(())
    } else {
        Err(EFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_source_leaves_the_rest_zero() {
        let source = 0x1122_3344_5566_7788u64;
        let address = std::ptr::from_ref(&source) as u64;
        assert_eq!(read_prefix::<u64>(address, 2), Ok(0x7788));
    }

    #[test]
    fn bad_pointers_are_efault() {
        assert_eq!(get::<u64>(0), Err(EFAULT));
        assert_eq!(get::<u64>(8), Err(EFAULT));
        assert_eq!(get::<u64>(u64::MAX - 3), Err(EFAULT));
        assert_eq!(put(0xffff_8000_0000_0000, &1u64), Err(EFAULT));
    }

    #[test]
    fn the_way_through_a_file_checks_pointers_too() {
        let source = 0x1122_3344u64;
        let mut target = 0u64;
        let range = |pointer: *const u64| iovec(pointer.addr(), 8);
        let (from, to) = (range(&raw const source), range(&raw mut target));
        assert_eq!(bounce::copy(from, to), Ok(()));
        assert_eq!(target, source);
        assert_eq!(bounce::copy(range(std::ptr::dangling()), to), Err(EFAULT));
        assert_eq!(bounce::copy(from, range(std::ptr::dangling())), Err(EFAULT));
    }

    #[test]
    fn read_only_memory_refuses_a_store() {
        static CONSTANT: u64 = 7;
        let address = std::ptr::from_ref(&CONSTANT) as u64;
        assert_eq!(get::<u64>(address), Ok(7));
        assert_eq!(put(address, &1u64), Err(EFAULT));
    }
}
