//! Address space of this process that is set aside for GPU addresses.
//!
//! A leaf with unsafe code. The CPU's kernel chooses the addresses, so that no other mapping of the
//! process can have them; GPUs use the same numbers (kfd-contract: "mmap-managed aperture").

use crate::error::Error;
use crate::types::{GpuVa, HostPtr};
use hsakmt_sys::{Errno, Fd, Kernel};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Bytes of a page of every host that KFD runs on with this crate.
pub(crate) const PAGE: u64 = 4096;

/// [`PAGE`] as a length of host memory.
const PAGE_LENGTH: usize = 4096;

/// Largest alignment that allocations get by their size: a fragment that one TLB entry covers.
const LARGEST_NATURAL_ALIGNMENT: u64 = 2 << 20;

/// `bytes` rounded up to a multiple of `unit`, a power of two; `None` on overflow.
pub(crate) fn round_up(bytes: u64, unit: u64) -> Option<u64> {
    bytes.checked_add(unit - 1).map(|sum| sum & !(unit - 1))
}

/// The alignment for an allocation: at least a page and what is asked for, growing with the size up
/// to 2 MiB so that the GPU's page tables can use large fragments.
pub(crate) fn natural_alignment(size_bytes: u64, asked: u64) -> u64 {
    let by_size = match size_bytes.checked_ilog2() {
        Some(log) => 1_u64 << log,
        None => PAGE,
    };
    by_size.clamp(PAGE, LARGEST_NATURAL_ALIGNMENT).max(asked)
}

/// A reserved range with an inaccessible guard page on either side.
///
/// Dropping it gives the whole range back, whatever was mapped into it.
#[derive(Debug)]
pub(crate) struct Reservation {
    /// Start of the mapping, at the first guard page.
    start: HostPtr,
    /// Bytes of the mapping with both guard pages.
    length: usize,
}

impl Reservation {
    /// Reserves `size_bytes` (whole pages) at a multiple of `alignment` (a power of two ≥ a page).
    pub(crate) fn new(size_bytes: u64, alignment: u64) -> Result<Self, Error> {
        let failed = |errno| Error::Map {
            what: "GPU address space",
            size_bytes,
            errno,
        };
        let too_much = || failed(Errno(libc::ENOMEM));
        let length = size_bytes.checked_add(2 * PAGE).ok_or_else(too_much)?;
        let slack = alignment - PAGE;
        let oversized = length.checked_add(slack).ok_or_else(too_much)?;
        let oversized = usize::try_from(oversized).map_err(|_| too_much())?;
        let alignment = usize::try_from(alignment).map_err(|_| too_much())?;
        let length = usize::try_from(length).map_err(|_| too_much())?;
        let raw = map_inaccessible(oversized).map_err(failed)?;
        Ok(trim(raw, oversized, length, alignment))
    }

    /// First usable byte, as GPUs see it.
    pub(crate) fn va(&self) -> GpuVa {
        GpuVa(self.host().addr() as u64)
    }

    /// First usable byte, as the host sees it.
    pub(crate) fn host(&self) -> HostPtr {
        self.start.add(PAGE_LENGTH)
    }

    /// Usable bytes.
    pub(crate) fn size(&self) -> usize {
        self.length - 2 * PAGE_LENGTH
    }

    /// Puts a device mapping over the usable range.
    pub(crate) fn map_device(
        &self,
        kernel: &dyn Kernel,
        fd: Fd,
        offset: u64,
        prot: c_int,
        what: &'static str,
    ) -> Result<(), Error> {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let at = self.host().as_ptr::<c_void>();
        // SAFETY: the range lies in this reservation, which nothing else uses.
        unsafe { kernel.mmap(at, self.size(), prot, flags, fd, offset.cast_signed()) }
            .map(drop)
            .map_err(|errno| Error::Map {
                what,
                size_bytes: self.size() as u64,
                errno,
            })
    }

    /// Keeps the range out of forked children, whose writes would otherwise hit device memory.
    pub(crate) fn dont_fork(&self) {
        // SAFETY: advice about a mapping that this reservation owns.
        let done = unsafe { libc::madvise(self.host().as_ptr(), self.size(), libc::MADV_DONTFORK) };
        if done != 0 {
            // A child then keeps an unwanted view, which harms nobody who does not write to it.
            tracing::debug!(errno = %Errno::last(), "madvise(MADV_DONTFORK) refused");
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        #[cfg(test)]
        tests::discount(self.length);
        unmap(self.start, self.length);
    }
}

/// A device mapping at an address of the kernel's choice.
#[derive(Debug)]
pub(crate) struct DeviceMapping {
    start: HostPtr,
    length: usize,
}

impl DeviceMapping {
    /// Maps `length` bytes of `fd` for reading and writing.
    pub(crate) fn new(
        kernel: &dyn Kernel,
        fd: Fd,
        length: usize,
        offset: u64,
        what: &'static str,
    ) -> Result<Self, Error> {
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        let (at, flags) = (ptr::null_mut(), libc::MAP_SHARED);
        // SAFETY: without MAP_FIXED the kernel chooses free address space.
        unsafe { kernel.mmap(at, length, prot, flags, fd, offset.cast_signed()) }
            .map(|start| Self {
                start: HostPtr::from_ptr(start),
                length,
            })
            .map_err(|errno| Error::Map {
                what,
                size_bytes: length as u64,
                errno,
            })
    }

    /// First byte.
    pub(crate) const fn host(&self) -> HostPtr {
        self.start
    }
}

impl Drop for DeviceMapping {
    fn drop(&mut self) {
        unmap(self.start, self.length);
    }
}

/// Writes `words` to the start of a host view.
pub(crate) fn write_words(reservation: &Reservation, offset: usize, words: &[u32]) {
    assert!(offset.is_multiple_of(4) && offset + size_of_val(words) <= reservation.size());
    for (index, word) in words.iter().enumerate() {
        let at = reservation.host().add(offset + 4 * index).as_ptr::<u32>();
        // SAFETY: within the reservation (asserted), aligned to 4, and the callers have mapped it
        // for writing.
        unsafe { at.write_volatile(*word) }
    }
}

fn map_inaccessible(length: usize) -> Result<HostPtr, Errno> {
    #[cfg(test)]
    tests::fail_if_injected()?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice.
    let start = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        Err(Errno::last())
    } else {
        Ok(HostPtr::from_ptr(start))
    }
}

/// Cuts `raw` down so that the byte after the first guard page is aligned.
fn trim(raw: HostPtr, oversized: usize, length: usize, alignment: usize) -> Reservation {
    let usable = (raw.addr() + PAGE_LENGTH).next_multiple_of(alignment);
    let before = usable - PAGE_LENGTH - raw.addr();
    let after = oversized - before - length;
    if before > 0 {
        unmap(raw, before);
    }
    if after > 0 {
        unmap(raw.add(before + length), after);
    }
    #[cfg(test)]
    tests::count(length);
    Reservation {
        start: raw.add(before),
        length,
    }
}

fn unmap(start: HostPtr, length: usize) {
    // SAFETY: the callers own `start..start + length` and hold no reference into it.
    if unsafe { libc::munmap(start.as_ptr(), length) } != 0 {
        tracing::error!(?start, length, errno = %Errno::last(), "munmap refused");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    thread_local! {
        /// Calls until the next reservation fails; negative never fails.
        static FAIL_AFTER: Cell<i64> = const { Cell::new(-1) };
        /// Bytes that this thread has reserved.
        static RESERVED: Cell<usize> = const { Cell::new(0) };
    }

    /// Bytes of address space that this thread holds.
    pub(crate) fn reserved_bytes() -> usize {
        RESERVED.get()
    }

    pub(super) fn count(bytes: usize) {
        RESERVED.set(RESERVED.get() + bytes);
    }

    pub(super) fn discount(bytes: usize) {
        RESERVED.set(RESERVED.get() - bytes);
    }

    /// Makes the reservation after `count` successful ones of this thread fail, once.
    pub(crate) fn fail_reservation_after(count: i64) {
        FAIL_AFTER.set(count);
    }

    pub(super) fn fail_if_injected() -> Result<(), Errno> {
        let left = FAIL_AFTER.get();
        FAIL_AFTER.set(left - i64::from(left >= 0));
        if left == 0 {
            Err(Errno(libc::ENOMEM))
        } else {
            Ok(())
        }
    }

    #[test]
    fn alignment_grows_with_size_up_to_two_mebibytes() {
        assert_eq!(natural_alignment(0x1000, 0), 0x1000);
        assert_eq!(natural_alignment(0x1001, 0), 0x1000);
        assert_eq!(natural_alignment(0x2_0000, 0), 0x2_0000);
        assert_eq!(natural_alignment(2 << 20, 0), 2 << 20);
        assert_eq!(natural_alignment(1 << 40, 0), 2 << 20);
        assert_eq!(natural_alignment(0x1000, 1 << 30), 1 << 30);
    }

    #[test]
    fn an_impossible_size_is_refused() {
        let error = Reservation::new(!0xfff, PAGE).unwrap_err();
        assert_eq!(error.errno(), Some(Errno(libc::ENOMEM)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn reservations_are_aligned_and_never_overlap(
            requests in prop::collection::vec((1_u64..600, 0_u32..10), 1..24)
        ) {
            let mut live: Vec<Reservation> = Vec::new();
            for (index, (pages, shift)) in requests.into_iter().enumerate() {
                let alignment = natural_alignment(pages * PAGE, PAGE << shift);
                let new = Reservation::new(pages * PAGE, alignment).unwrap();
                prop_assert_eq!(new.va().get() % alignment, 0);
                prop_assert_eq!(new.size() as u64, pages * PAGE);
                for old in &live {
                    let (a, b) = (new.start.addr(), old.start.addr());
                    prop_assert!(a + new.length <= b || b + old.length <= a);
                }
                live.push(new);
                if index % 3 == 2 {
                    live.swap_remove(index / 3 % live.len());
                }
            }
        }
    }
}
