//! The shared block behind a signal handle. The only unsafe code of the signal module.
//!
//! Invariant: an address comes here only from [`super::slab`], which gives out addresses inside of
//! slabs that stay mapped and typed until the runtime closes; [`Block`] is never stored longer.

use amdgpu_abi::signal::AmdSignal;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes from one signal to the next: `amd_signal_t` and two copy timestamps.
pub(crate) const STRIDE: u64 = 128;
/// Offset of the copy engine's start timestamp; the engine wants 32-byte alignment.
pub(crate) const COPY_START: u64 = 64;
/// Offset of the copy engine's end timestamp.
pub(crate) const COPY_END: u64 = 96;

/// What host and device share for one signal.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Block {
    /// The architected part.
    pub(crate) signal: AmdSignal,
    /// Device ticks when a copy started, 0 if none did.
    pub(crate) copy_start: AtomicU64,
    reserved1: [u64; 3],
    /// Device ticks when a copy ended.
    pub(crate) copy_end: AtomicU64,
    reserved2: [u64; 3],
}

const _: () = {
    assert!(size_of::<Block>() as u64 == STRIDE);
    assert!(std::mem::offset_of!(Block, copy_start) as u64 == COPY_START);
    assert!(std::mem::offset_of!(Block, copy_end) as u64 == COPY_END);
};

/// The block of a slab slot. All fields are atomics, so the device may write them at any time.
///
/// Private to the signal module: only addresses of registered slabs are passed.
#[inline]
pub(super) fn block<'a>(address: u64) -> &'a Block {
    debug_assert!(address != 0 && address.is_multiple_of(STRIDE));
    let pointer = std::ptr::with_exposed_provenance::<Block>(usize::try_from(address).unwrap_or(0));
    // SAFETY: the address lies in a slab that is mapped read-write until the runtime closes, and the
    // slab was zeroed, which is a valid `Block`; every field is atomic or never accessed.
    unsafe { &*pointer }
}

/// Makes a fresh slot's block a user signal.
pub(super) fn initialise(block: &Block, value: i64, mailbox: u64, event_id: u32) {
    let s = &block.signal;
    s.value.store(value, Ordering::Relaxed);
    s.event_mailbox_ptr.store(mailbox, Ordering::Relaxed);
    s.event_id.store(event_id, Ordering::Relaxed);
    for time in [&s.start_ts, &s.end_ts, &block.copy_start, &block.copy_end] {
        time.store(0, Ordering::Relaxed);
    }
    s.queue_ptr.store(0, Ordering::Relaxed);
    // ORDERING: release pairs with a device that finds the kind and then reads the other fields.
    s.kind
        .store(amdgpu_abi::signal::kind::USER, Ordering::Release);
}
