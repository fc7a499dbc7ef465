//! Copies and fills of memory that only an address is known of. The only unsafe code of the memory
//! module.
//!
//! The memory may be written by the device or by other threads at the same time, so nothing here
//! makes a reference to it.

use std::ptr;

fn pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Copies `size` bytes; the ranges may overlap.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `size` bytes.
pub(crate) unsafe fn copy(dst: u64, src: u64, size: u64) {
    // SAFETY: the caller vouches for both ranges; `ptr::copy` allows overlap.
    unsafe { ptr::copy(pointer(src), pointer(dst), bytes(size)) }
}

/// Fills `count` dwords.
///
/// # Safety
/// `dst` is 4-byte aligned and valid for writes of `4 * count` bytes.
pub(crate) unsafe fn fill(dst: u64, value: u32, count: u64) {
    let first = pointer(dst).cast::<u32>();
    let whole = value.to_ne_bytes();
    if whole.iter().all(|&b| b == whole[0]) {
        // SAFETY: the caller vouches for the range.
        unsafe { ptr::write_bytes(first.cast::<u8>(), whole[0], bytes(count * 4)) };
        return;
    }
    for i in 0..bytes(count) {
        // SAFETY: `i` is below the count that the caller vouches for.
        let at = unsafe { first.add(i) };
        // SAFETY: aligned and valid by the caller's promise.
        unsafe { at.write(value) };
    }
}
