//! What a queue's owner and its thread share.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::doze::{Doze, Ticket};

/// What the owner wants the thread to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Process packets.
    Run,
    /// Leave the packets alone.
    Pause,
    /// Leave.
    Stop,
}

const RUN: u8 = 0;
const PAUSE: u8 = 1;
const STOP: u8 = 2;

/// Wakes, pauses and ends a queue's thread.
#[derive(Debug)]
pub struct Control {
    doze: Doze,
    mode: AtomicU8,
    busy: AtomicBool,
    wakeups: AtomicU64,
    /// True while the thread is known not to touch packets.
    parked: Mutex<bool>,
    parked_changed: Condvar,
}

impl Default for Control {
    fn default() -> Self {
        Self::new()
    }
}

impl Control {
    /// Of a queue that runs.
    pub fn new() -> Self {
        Self {
            doze: Doze::default(),
            mode: AtomicU8::new(RUN),
            busy: AtomicBool::new(true),
            wakeups: AtomicU64::new(0),
            parked: Mutex::new(false),
            parked_changed: Condvar::new(),
        }
    }

    /// Work may have arrived. Lock-free; a system call only if the thread sleeps.
    pub fn wake(&self) {
        self.doze.wake();
    }

    /// Running waves are to stop.
    pub fn cancelled(&self) -> bool {
        self.mode.load(Ordering::Relaxed) == STOP
    }

    /// The thread looks for packets, or did so a moment ago.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst)
    }

    /// Times the thread returned from a sleep.
    pub fn wakeups(&self) -> u64 {
        self.wakeups.load(Ordering::Relaxed)
    }

    pub(super) fn mode(&self) -> Mode {
        match self.mode.load(Ordering::SeqCst) {
            RUN => Mode::Run,
            PAUSE => Mode::Pause,
            _ => Mode::Stop,
        }
    }

    pub(super) fn ticket(&self) -> Ticket {
        self.doze.ticket()
    }

    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::SeqCst);
    }

    pub(super) fn sleep(&self, ticket: Ticket, timeout: Option<Duration>) {
        self.doze.sleep(ticket, timeout);
        self.wakeups.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the thread's work for good.
    pub(super) fn stop(&self) {
        self.mode.store(STOP, Ordering::SeqCst);
        self.wake();
    }

    /// Pauses, waiting until the current packet is done, or continues.
    pub(super) fn set_active(&self, active: bool) {
        let (from, to) = if active { (PAUSE, RUN) } else { (RUN, PAUSE) };
        // A stopped queue stays stopped, so a failed exchange is not an error.
        let _ = self
            .mode
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        self.wake();
        let mut parked = self.parked.lock();
        while !active && !*parked {
            self.parked_changed.wait(&mut parked);
        }
    }

    /// The thread says whether it keeps its hands off the packets.
    pub(super) fn set_parked(&self, parked: bool) {
        *self.parked.lock() = parked;
        self.parked_changed.notify_all();
    }
}
