//! Signals: creation, values, waits, groups, handlers.

use crate::Result;
use crate::error::Error;
use crate::notify;
use amdgpu_abi::signal::kind;
use slab::Entry;
use std::sync::atomic::{AtomicI64, Ordering, fence};

mod cell;
mod create;
pub(crate) mod event_pool;
mod group;
pub(crate) mod handlers;
pub(crate) mod slab;
mod wait;

/// Wakes everyone who sleeps on a signal: the runtime closes.
pub(crate) fn wake_all(events: &event_pool::EventPool) {
    for event in events.lent() {
        event.set();
    }
}

pub(crate) use cell::{COPY_END, COPY_START};
pub(crate) use create::{create, create_doorbell};

/// `hsa_signal_condition_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Condition {
    /// Equal.
    Eq = 0,
    /// Not equal.
    Ne = 1,
    /// Less than.
    Lt = 2,
    /// Greater than or equal.
    Gte = 3,
}

impl Condition {
    /// The condition of a C value.
    #[must_use]
    pub fn from_raw(raw: u32) -> Option<Self> {
        [Self::Eq, Self::Ne, Self::Lt, Self::Gte]
            .get(usize::try_from(raw).ok()?)
            .copied()
    }

    /// Whether `value` satisfies the condition against `compare`.
    #[must_use]
    pub fn holds(self, value: i64, compare: i64) -> bool {
        match self {
            Self::Eq => value == compare,
            Self::Ne => value != compare,
            Self::Lt => value < compare,
            Self::Gte => value >= compare,
        }
    }
}

/// `hsa_wait_state_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitHint {
    /// 0: the thread may sleep.
    Blocked,
    /// 1: the wait is short, spin.
    Active,
}

/// `hsa_amd_signal_attribute_t` bits.
pub mod attribute {
    /// Only GPUs consume the signal: no event behind it.
    pub const GPU_ONLY: u64 = 1;
    /// The signal can be shared with other processes.
    pub const IPC: u64 = 2;
}

/// Value of `copy_agent` for times of the system clock.
const HOST_CLOCK: u32 = u32::MAX;

/// A signal whose block is not freed as long as this lives.
#[derive(Debug)]
pub(crate) struct Kept(Signal);

impl Kept {
    pub(crate) fn signal(&self) -> Signal {
        self.0
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.entry.release();
    }
}

/// A live signal. Copying it does not keep the signal alive.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    entry: Entry,
}

impl PartialEq for Signal {
    fn eq(&self, other: &Self) -> bool {
        self.handle() == other.handle()
    }
}

impl Eq for Signal {}

/// Finds the live signal of a handle: no lock, and any number is safe to ask about.
#[must_use]
#[inline]
pub fn lookup(handle: u64) -> Option<Signal> {
    slab::lookup(handle).map(|entry| Signal { entry })
}

impl Signal {
    /// The handle.
    #[must_use]
    #[inline]
    pub fn handle(self) -> u64 {
        self.entry.address
    }

    /// True for the signal that rings a queue.
    #[must_use]
    #[inline]
    pub fn is_doorbell(self) -> bool {
        self.kind() == kind::DOORBELL
    }

    #[inline]
    fn kind(self) -> i64 {
        self.entry.block().signal.kind.load(Ordering::Relaxed)
    }

    #[inline]
    fn value<'a>(self) -> &'a AtomicI64 {
        &self.entry.block().signal.value
    }

    /// Address of the value (`hsa_amd_signal_value_pointer`).
    ///
    /// # Errors
    /// `InvalidArgument` for a doorbell.
    pub fn value_address(self) -> Result<u64> {
        if self.is_doorbell() {
            return Err(Error::InvalidArgument);
        }
        Ok(self.handle() + std::mem::offset_of!(amdgpu_abi::signal::AmdSignal, value) as u64)
    }

    /// Frees the signal. Waits return; a handler that is still registered keeps the block until it
    /// has run.
    ///
    /// # Errors
    /// `InvalidArgument` for a doorbell, which belongs to its queue; `InvalidSignal` if another
    /// thread was faster.
    pub fn destroy(self) -> Result<()> {
        if self.is_doorbell() {
            return Err(Error::InvalidArgument);
        }
        // Kept over the end of the handle's life so that sleepers can be woken.
        if !self.entry.retain() {
            return Err(Error::InvalidSignal);
        }
        let ended = self.entry.retire();
        self.wake_sleepers();
        self.entry.release();
        if ended {
            Ok(())
        } else {
            Err(Error::InvalidSignal)
        }
    }

    /// Reads the value; 0 for a doorbell.
    #[must_use]
    #[inline]
    pub fn load(self, order: Ordering) -> i64 {
        if self.is_doorbell() {
            0
        } else {
            self.value().load(order)
        }
    }

    /// Stores a value and wakes waiters; a doorbell rings its queue.
    #[inline]
    pub fn store(self, value: i64, order: Ordering) {
        if self.is_doorbell() {
            crate::queue::ring::ring(self.value().load(Ordering::Relaxed), value.cast_unsigned());
            return;
        }
        self.value().store(value, order);
        self.changed();
    }

    /// Stores a value without waking sleeping waits. Queues still see it.
    #[inline]
    pub fn silent_store(self, value: i64, order: Ordering) {
        if self.is_doorbell() {
            return self.store(value, order);
        }
        self.value().store(value, order);
        notify::host_wrote_signal();
    }

    /// Swaps the value and wakes waiters; answers the old value.
    #[inline]
    pub fn exchange(self, value: i64, order: Ordering) -> i64 {
        self.update(|v| v.swap(value, order))
    }

    /// Compare and swap; answers the old value.
    #[inline]
    pub fn cas(self, expected: i64, value: i64, order: Ordering) -> i64 {
        let failure = match order {
            Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
            _ => Ordering::Acquire,
        };
        self.update(|v| {
            v.compare_exchange(expected, value, order, failure)
                .unwrap_or_else(|old| old)
        })
    }

    /// Adds and wakes waiters.
    #[inline]
    pub fn add(self, value: i64, order: Ordering) {
        self.update(|v| v.fetch_add(value, order));
    }

    /// Subtracts and wakes waiters.
    #[inline]
    pub fn subtract(self, value: i64, order: Ordering) {
        self.update(|v| v.fetch_sub(value, order));
    }

    /// Bitwise and; wakes waiters.
    #[inline]
    pub fn and(self, value: i64, order: Ordering) {
        self.update(|v| v.fetch_and(value, order));
    }

    /// Bitwise or; wakes waiters.
    #[inline]
    pub fn or(self, value: i64, order: Ordering) {
        self.update(|v| v.fetch_or(value, order));
    }

    /// Bitwise exclusive or; wakes waiters.
    #[inline]
    pub fn xor(self, value: i64, order: Ordering) {
        self.update(|v| v.fetch_xor(value, order));
    }

    /// Where and what the device stores to raise the signal's event.
    pub(crate) fn mailbox(self) -> Option<(u64, u32)> {
        let shared = &self.entry.block().signal;
        let mailbox = shared.event_mailbox_ptr.load(Ordering::Relaxed);
        (mailbox != 0).then(|| (mailbox, shared.event_id.load(Ordering::Relaxed)))
    }

    /// Remembers whose clock the copy times of this signal are.
    pub(crate) fn set_copy_agent(self, agent: usize) {
        let number = u32::try_from(agent + 1).unwrap_or(0);
        self.entry.slot.copy_agent.store(number, Ordering::Relaxed);
    }

    /// Stores copy times in ticks of the system clock.
    pub(crate) fn set_host_times(self, start: u64, end: u64) {
        let block = self.entry.block();
        block.copy_start.store(start, Ordering::Relaxed);
        block.copy_end.store(end, Ordering::Relaxed);
        self.entry
            .slot
            .copy_agent
            .store(HOST_CLOCK, Ordering::Release);
    }

    /// Times of the last copy, and the agent that they are ticks of (`None`: the system clock).
    pub(crate) fn copy_times(self) -> Option<(u64, u64, Option<usize>)> {
        let block = self.entry.block();
        let times = (
            block.copy_start.load(Ordering::Acquire),
            block.copy_end.load(Ordering::Acquire),
        );
        match self.entry.slot.copy_agent.load(Ordering::Acquire) {
            0 => None,
            HOST_CLOCK => Some((times.0, times.1, None)),
            agent => Some((times.0, times.1, Some(agent as usize - 1))),
        }
    }

    /// Device ticks of the last dispatch.
    pub(crate) fn dispatch_ticks(self) -> (u64, u64) {
        let shared = &self.entry.block().signal;
        (
            shared.start_ts.load(Ordering::Acquire),
            shared.end_ts.load(Ordering::Acquire),
        )
    }

    /// Keeps the block from being freed; `None` if the signal is gone.
    pub(crate) fn keep(self) -> Option<Kept> {
        self.entry.retain().then_some(Kept(self))
    }

    /// Counts one completion: what the device does when a packet or copy is done.
    pub(crate) fn complete(self) {
        self.subtract(1, Ordering::AcqRel);
    }

    #[inline]
    fn update(self, operation: impl FnOnce(&AtomicI64) -> i64) -> i64 {
        if self.is_doorbell() {
            return 0;
        }
        let old = operation(self.value());
        self.changed();
        old
    }

    /// After a store: wakes whoever sleeps on the value, here or on the device.
    #[inline]
    fn changed(self) {
        self.wake_sleepers();
        notify::host_wrote_signal();
    }

    /// After a store, or the end of the handle: wakes whoever sleeps on the signal in this process.
    #[inline]
    fn wake_sleepers(self) {
        // ORDERING: pairs with the fence in `wait::sleep`: either the sleeper sees the new value (or
        // the end) or this thread sees the sleeper.
        fence(Ordering::SeqCst);
        if self.entry.slot.sleepers.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(self) {
        if let Some(event) = self.entry.slot.event.lock().clone() {
            event.set();
        }
        if self.entry.slot.handlers.load(Ordering::Relaxed) != 0 {
            handlers::poke_for_polled(self);
        }
    }
}
