//! Driver events, used again and again, and shared when there are many signals.

use hsakmt::{Event, EventKind, Kfd};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Distinct events for signals. KFD has 4095, for the whole process; and the handler thread's wait
/// grows with their number. Beyond it signals share events, which costs spurious wake-ups only.
const MAX_EVENTS: usize = 512;

/// An event that one signal, or several, sleep on.
#[derive(Debug)]
pub(crate) struct PooledEvent {
    event: Option<Event>,
    pool: Weak<EventPool>,
}

impl PooledEvent {
    /// The driver's event.
    pub(crate) fn event(&self) -> &Event {
        // PANIC: only `drop` takes the event.
        self.event.as_ref().expect("present until drop")
    }

    /// Wakes the sleepers.
    pub(crate) fn set(&self) {
        if let Err(error) = self.event().set() {
            tracing::error!(%error, "an event cannot be set; sleepers may wake late");
        }
    }
}

impl Drop for PooledEvent {
    fn drop(&mut self) {
        let (Some(event), Some(pool)) = (self.event.take(), self.pool.upgrade()) else {
            return;
        };
        pool.state.lock().give_back(event);
    }
}

/// The events of one open runtime.
#[derive(Debug)]
pub(crate) struct EventPool {
    kfd: Arc<Kfd>,
    enabled: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    free: Vec<Event>,
    made: usize,
    /// Events in use, to be shared in turn when no more can be made.
    lent: Vec<Weak<PooledEvent>>,
    next_shared: usize,
    closed: bool,
}

impl State {
    fn give_back(&mut self, event: Event) {
        self.made -= usize::from(self.closed);
        if !self.closed {
            self.free.push(event);
        }
    }

    fn share(&mut self) -> Option<Arc<PooledEvent>> {
        self.lent.retain(|e| e.strong_count() != 0);
        let count = self.lent.len();
        self.next_shared += 1;
        self.lent
            .get(self.next_shared.checked_rem(count)?)?
            .upgrade()
    }
}

impl EventPool {
    pub(crate) fn new(kfd: Arc<Kfd>, enabled: bool) -> Arc<Self> {
        Arc::new(Self {
            kfd,
            enabled,
            state: Mutex::default(),
        })
    }

    /// The device.
    pub(crate) fn kfd(&self) -> &Arc<Kfd> {
        &self.kfd
    }

    /// The driver tells whether an event fired between look and wait (interface 1.14).
    pub(crate) fn has_ages(&self) -> bool {
        self.kfd.version().minor >= 14
    }

    /// The age to begin a series of waits with: that of an event which never fired. If it did fire,
    /// the first wait ends at once and tells the real age.
    pub(crate) fn first_age(&self) -> u64 {
        u64::from(self.has_ages())
    }

    /// An event for a signal; `None` if interrupts are off or the driver has none left, and then the
    /// signal is polled.
    pub(crate) fn get(self: &Arc<Self>) -> Option<Arc<PooledEvent>> {
        if !self.enabled {
            return None;
        }
        let mut state = self.state.lock();
        let event = match state.free.pop() {
            Some(event) => event,
            None if state.made >= MAX_EVENTS => return state.share(),
            None => match self.kfd.create_event(EventKind::Signal, true) {
                Ok(event) => {
                    state.made += 1;
                    event
                }
                Err(error) => {
                    tracing::debug!(%error, "no more events; the signal shares one");
                    return state.share();
                }
            },
        };
        let pooled = Arc::new(PooledEvent {
            event: Some(event),
            pool: Arc::downgrade(self),
        });
        // Entries of returned events are dropped while few, so that the list and the memory behind
        // it stay as small as what is in use.
        if state.lent.len() >= 64 + 2 * state.made {
            state.lent.retain(|e| e.strong_count() != 0);
        }
        state.lent.push(Arc::downgrade(&pooled));
        Some(pooled)
    }

    /// All events in use.
    pub(crate) fn lent(&self) -> Vec<Arc<PooledEvent>> {
        self.state
            .lock()
            .lent
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// Destroys the free events; those in use go when they are returned.
    pub(crate) fn close(&self) {
        let free = {
            let mut state = self.state.lock();
            state.closed = true;
            std::mem::take(&mut state.free)
        };
        drop(free);
    }
}
