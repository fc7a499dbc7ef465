//! `amd_signal_t` (amd_hsa_signal.h): 64 bytes, 64-byte aligned, written by host and device.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// Values of [`AmdSignal::kind`].
pub mod kind {
    /// Not a signal (cleared memory).
    pub const INVALID: i64 = 0;
    /// A user signal: `value` is a counter.
    pub const USER: i64 = 1;
    /// A doorbell: the value field holds the address of the hardware doorbell.
    pub const DOORBELL: i64 = -1;
}

/// The shared block behind an `hsa_signal_t` handle.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct AmdSignal {
    /// See [`kind`].
    pub kind: AtomicI64,
    /// Signal value, or the doorbell's address for doorbell signals.
    pub value: AtomicI64,
    /// Address of the event-page slot to write on completion, 0 for polled signals.
    pub event_mailbox_ptr: AtomicU64,
    /// Event id to store to the mailbox.
    pub event_id: AtomicU32,
    reserved1: AtomicU32,
    /// Start of the dispatch or copy, GPU ticks.
    pub start_ts: AtomicU64,
    /// End of the dispatch or copy, GPU ticks.
    pub end_ts: AtomicU64,
    /// For doorbell signals: the `amd_queue_t` that the doorbell belongs to.
    pub queue_ptr: AtomicU64,
    reserved3: [AtomicU32; 2],
}

const _: () = {
    assert!(size_of::<AmdSignal>() == 64);
    assert!(std::mem::offset_of!(AmdSignal, value) == 0x08);
    assert!(std::mem::offset_of!(AmdSignal, event_mailbox_ptr) == 0x10);
    assert!(std::mem::offset_of!(AmdSignal, event_id) == 0x18);
    assert!(std::mem::offset_of!(AmdSignal, start_ts) == 0x20);
    assert!(std::mem::offset_of!(AmdSignal, end_ts) == 0x28);
    assert!(std::mem::offset_of!(AmdSignal, queue_ptr) == 0x30);
};
