//! Signals as the command processor sees them: `amd_signal_t` in GPU memory.

use std::mem::offset_of;

use amdgpu_abi::signal::AmdSignal;

use crate::guest::{Guest, Result};
use crate::scheduler::notify_waiting;

const VALUE: u64 = offset_of!(AmdSignal, value) as u64;
const MAILBOX: u64 = offset_of!(AmdSignal, event_mailbox_ptr) as u64;
const EVENT_ID: u64 = offset_of!(AmdSignal, event_id) as u64;
const START: u64 = offset_of!(AmdSignal, start_ts) as u64;
const END: u64 = offset_of!(AmdSignal, end_ts) as u64;

/// Start and end of a packet's work, in GPU ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The value of the signal `handle`.
pub(super) fn value(guest: &Guest, handle: u64) -> Result<i64> {
    guest.load_i64(handle.wrapping_add(VALUE))
}

/// Completes a packet: times, one decrement, then the event. No signal, nothing to do.
///
/// `start` and `end` are stored whether or not the queue profiles; a client that reads them without
/// profiling sees valid times instead of old ones.
pub(super) fn complete(guest: &Guest, handle: u64, times: Times) -> Result<()> {
    if handle == 0 {
        return Ok(());
    }
    let event = Event::of(guest, handle)?;
    guest.store_u64(handle.wrapping_add(START), times.start)?;
    guest.store_u64(handle.wrapping_add(END), times.end)?;
    guest.add_i64(handle.wrapping_add(VALUE), -1)?;
    event.raise(guest)
}

/// Stores error bits to a queue's `queue_inactive_signal`.
pub(super) fn store(guest: &Guest, handle: u64, value: i64) -> Result<()> {
    if handle == 0 {
        return Ok(());
    }
    let event = Event::of(guest, handle)?;
    guest.store_u64(handle.wrapping_add(VALUE), value.cast_unsigned())?;
    event.raise(guest)
}

/// The event behind a signal. Read before the value changes: whoever waits for the value may free
/// the signal at once.
struct Event {
    mailbox: u64,
    id: u32,
}

impl Event {
    fn of(guest: &Guest, handle: u64) -> Result<Self> {
        let mailbox = guest.load_u64(handle.wrapping_add(MAILBOX))?;
        let id = guest.load_u32(handle.wrapping_add(EVENT_ID))?;
        Ok(Self { mailbox, id })
    }

    fn raise(&self, guest: &Guest) -> Result<()> {
        notify_waiting();
        if self.mailbox != 0 {
            guest.store_u64(self.mailbox, self.id.into())?;
            guest.host().interrupt(self.id);
        }
        Ok(())
    }
}
