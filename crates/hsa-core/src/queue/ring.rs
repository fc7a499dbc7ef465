//! Memory that a queue shares with the device: its block, its ring, its doorbell. The only unsafe
//! code of the queue module.

use crate::notify;
use amdgpu_abi::aql::packet_type;
use amdgpu_abi::queue::AmdQueue;
use std::ptr;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

fn pointer<T>(address: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

/// The shared block at `address`.
///
/// Callers pass the address of a block that is registered in the queue table or owned by a queue
/// object; either keeps it mapped.
#[inline]
pub(crate) fn block<'a>(address: u64) -> &'a AmdQueue {
    // SAFETY: the block is mapped, page aligned and was zeroed, which is a valid `AmdQueue`: all of
    // its fields are atomics, so host and device may write them at any time.
    unsafe { &*pointer::<AmdQueue>(address) }
}

/// Makes every packet of a new ring invalid, so that the device does not run what was not written.
pub(crate) fn invalidate(ring: u64, packets: u32) {
    for index in 0..u64::from(packets) {
        let header = pointer::<AtomicU16>(ring + index * amdgpu_abi::aql::PACKET_BYTES as u64);
        // SAFETY: the ring has `packets` packets of 64 bytes and is mapped for the host.
        let header = unsafe { &*header };
        header.store(u16::from(packet_type::INVALID), Ordering::Relaxed);
    }
}

/// Rings the hardware doorbell at `doorbell` with a packet index.
#[inline]
pub(crate) fn ring(doorbell: i64, value: u64) {
    let doorbell = pointer::<u64>(doorbell.cast_unsigned());
    notify::with_kernel(|kernel| {
        // SAFETY: doorbell pages stay mapped until the driver is closed, and `with_kernel` finds
        // only an open one; the address comes from a live doorbell signal.
        unsafe { kernel.ring_doorbell(doorbell, value) }
    });
}

/// A word of memory that a queue object owns and the device writes.
pub(crate) fn word64<'a>(address: u64) -> &'a AtomicU64 {
    // SAFETY: as in `block`: mapped by the owner, 8-byte aligned, only accessed atomically.
    unsafe { &*pointer::<AtomicU64>(address) }
}

/// Writes dwords into a copy queue's ring; the device reads them after the doorbell.
pub(crate) fn write_dwords(ring: u64, offset: u64, words: &[u32]) {
    for (at, &word) in (ring + offset..).step_by(4).zip(words) {
        // SAFETY: the caller's offset and length lie within the ring that it owns.
        let cell = unsafe { &*pointer::<AtomicU32>(at) };
        cell.store(word, Ordering::Relaxed);
    }
}
