//! Asynchronous handlers: one thread that sleeps until a signal with a handler changes.
//!
//! The thread starts with the first handler. Handlers are grouped by the event behind their signal,
//! and the driver tells by an event's age which group changed; so the cost of a completion does not
//! grow with the number of handlers. Signals without an event are looked at with a growing pause.

use super::event_pool::{EventPool, PooledEvent};
use super::{Condition, Signal};
use crate::Result;
use crate::error::Error;
use crate::runtime::Runtime;
use hsakmt::Kfd;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What runs when a condition holds; true keeps it registered.
pub(crate) type Handler = Box<dyn FnMut(i64) -> bool + Send>;

/// First and longest pause between two looks at signals without event.
const PAUSE: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(2));
/// Longest sleep if the driver cannot tell that an event fired between look and wait.
const SLEEP_WITHOUT_AGES_MS: u32 = 5;

/// A registered handler. It keeps its signal from being freed.
struct Pending {
    signal: Signal,
    condition: Condition,
    compare: i64,
    handler: Handler,
}

impl Drop for Pending {
    fn drop(&mut self) {
        let slot = self.signal.entry.slot;
        slot.handlers.fetch_sub(1, Ordering::SeqCst);
        slot.sleepers.fetch_sub(1, Ordering::SeqCst);
        self.signal.entry.release();
    }
}

enum Work {
    Handler(Pending),
    Function(Box<dyn FnOnce() + Send>),
}

/// The handlers of one open runtime.
pub(crate) struct Handlers {
    kfd: Arc<Kfd>,
    events: Arc<EventPool>,
    inbox: Mutex<VecDeque<Work>>,
    /// Wakes the thread: an event beside those of signals, and a condition variable without events.
    control: Mutex<Option<Arc<PooledEvent>>>,
    poked: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
    stopping: AtomicBool,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("waiting", &self.inbox.lock().len())
            .finish_non_exhaustive()
    }
}

impl Handlers {
    pub(crate) fn new(kfd: Arc<Kfd>, events: Arc<EventPool>) -> Arc<Self> {
        Arc::new(Self {
            kfd,
            events,
            inbox: Mutex::default(),
            control: Mutex::default(),
            poked: Condvar::new(),
            thread: Mutex::default(),
            stopping: AtomicBool::new(false),
        })
    }

    /// Registers a handler.
    pub(crate) fn add(
        self: &Arc<Self>,
        signal: Signal,
        condition: Condition,
        compare: i64,
        handler: Handler,
    ) -> Result<()> {
        self.start()?;
        if !signal.entry.retain() {
            return Err(Error::InvalidSignal);
        }
        let slot = signal.entry.slot;
        slot.handlers.fetch_add(1, Ordering::SeqCst);
        slot.sleepers.fetch_add(1, Ordering::SeqCst);
        self.push(Work::Handler(Pending {
            signal,
            condition,
            compare,
            handler,
        }));
        Ok(())
    }

    /// Runs `function` once on the thread.
    pub(crate) fn call(self: &Arc<Self>, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.start()?;
        self.push(Work::Function(function));
        Ok(())
    }

    fn push(&self, work: Work) {
        self.inbox.lock().push_back(work);
        self.poke();
    }

    /// Makes the thread look at its inbox and at signals without event.
    fn poke(&self) {
        let control = self.control.lock().clone();
        match control {
            Some(event) => event.set(),
            None => {
                // Taken so that a thread between its look and its sleep is not missed.
                let _inbox = self.inbox.lock();
                self.poked.notify_one();
            }
        }
    }

    /// Starts the thread once, whichever thread comes first.
    fn start(self: &Arc<Self>) -> Result<()> {
        let mut thread = self.thread.lock();
        if self.stopping.load(Ordering::Acquire) {
            return Err(Error::NotInitialized);
        }
        if thread.is_some() {
            return Ok(());
        }
        *self.control.lock() = self.events.get();
        let this = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("hansa-handlers".into())
            .spawn(move || Loop::new(this).run());
        *thread = Some(spawned.map_err(|_| Error::OutOfResources)?);
        Ok(())
    }

    /// Ends the thread and drops all handlers. A handler that is running is waited for, unless it
    /// is the caller.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.poke();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread.filter(|t| t.thread().id() != thread::current().id()) {
            // The thread catches nothing of its own, so a panic was logged by the hook already.
            let _ = thread.join();
        }
        self.inbox.lock().clear();
        *self.control.lock() = None;
    }
}

/// A store to a signal without event that has a handler: the thread would see it only after its
/// pause.
pub(super) fn poke_for_polled(signal: Signal) {
    if signal.entry.slot.event.lock().is_some() {
        return;
    }
    if let Ok(live) = crate::runtime::current().and_then(Runtime::live) {
        live.handlers.poke();
    }
}

/// Handlers whose signals share one event.
struct Group {
    event: Arc<PooledEvent>,
    pending: Vec<Pending>,
    /// A handler ran and stays: its condition may still hold without another event.
    hot: bool,
}

/// The thread's own state; nobody else touches it, so handlers run without a lock.
struct Loop {
    shared: Arc<Handlers>,
    control: Option<Arc<PooledEvent>>,
    groups: Vec<Group>,
    /// Ages of the control event and of the groups' events, in that order.
    ages: Vec<u64>,
    polled: Vec<Pending>,
    pause: Duration,
}

impl Loop {
    fn new(shared: Arc<Handlers>) -> Self {
        let control = shared.control.lock().clone();
        let ages = vec![shared.events.first_age(); usize::from(control.is_some())];
        Self {
            shared,
            control,
            groups: Vec::new(),
            ages,
            polled: Vec::new(),
            pause: PAUSE.0,
        }
    }

    fn run(mut self) {
        while !self.stopping() {
            let mut busy = self.take_inbox();
            busy |= run_all(&mut self.polled, &self.shared).ran;
            busy |= self.check_hot();
            if busy {
                self.pause = PAUSE.0;
            } else {
                self.sleep();
            }
        }
    }

    fn stopping(&self) -> bool {
        self.shared.stopping.load(Ordering::Acquire)
    }

    /// Takes in new handlers, and runs those whose condition holds already.
    fn take_inbox(&mut self) -> bool {
        let work = std::mem::take(&mut *self.shared.inbox.lock());
        let any = !work.is_empty();
        for work in work {
            if self.stopping() {
                break;
            }
            match work {
                Work::Function(function) => function(),
                Work::Handler(pending) => self.adopt(pending),
            }
        }
        any
    }

    fn adopt(&mut self, pending: Pending) {
        let event = pending.signal.entry.slot.event.lock().clone();
        let Some(event) = event.filter(|_| self.control.is_some()) else {
            return self.polled.push(pending);
        };
        let index = self.group_of(event);
        self.groups[index].pending.push(pending);
        self.check(index);
    }

    /// The group of an event.
    fn group_of(&mut self, event: Arc<PooledEvent>) -> usize {
        if let Some(index) = self
            .groups
            .iter()
            .position(|g| Arc::ptr_eq(&g.event, &event))
        {
            return index;
        }
        self.groups.push(Group {
            event,
            pending: Vec::new(),
            hot: false,
        });
        self.ages.push(self.shared.events.first_age());
        self.groups.len() - 1
    }

    fn check(&mut self, index: usize) {
        // ORDERING: pairs with the fence in `Signal::changed`.
        fence(Ordering::SeqCst);
        let group = &mut self.groups[index];
        group.hot = run_all(&mut group.pending, &self.shared).kept;
    }

    fn check_hot(&mut self) -> bool {
        let hot: Vec<usize> = (0..self.groups.len())
            .filter(|&i| self.groups[i].hot)
            .collect();
        hot.iter().for_each(|&index| self.check(index));
        self.groups.iter().any(|g| g.hot)
    }

    fn sleep(&mut self) {
        self.forget_empty_groups();
        if self.control.is_some() {
            self.sleep_on_events();
        } else {
            self.sleep_on_condition();
        }
        self.pause = (self.pause * 2).min(PAUSE.1);
    }

    fn forget_empty_groups(&mut self) {
        let first = usize::from(self.control.is_some());
        for index in (0..self.groups.len())
            .rev()
            .filter(|&i| self.groups[i].pending.is_empty())
            .collect::<Vec<_>>()
        {
            self.groups.swap_remove(index);
            self.ages.swap_remove(first + index);
        }
    }

    fn sleep_on_events(&mut self) {
        let before = self.ages.clone();
        let events: Vec<_> = self
            .control
            .iter()
            .chain(self.groups.iter().map(|g| &g.event))
            .map(|e| e.event())
            .collect();
        let ages = self.shared.events.has_ages();
        let timeout = match (self.polled.is_empty(), ages) {
            (false, _) => u32::try_from(self.pause.as_millis()).unwrap_or(0),
            (true, true) => u32::MAX,
            (true, false) => SLEEP_WITHOUT_AGES_MS,
        };
        let result = self
            .shared
            .kfd
            .wait_events(&events, &mut self.ages, false, timeout);
        drop(events);
        if let Err(error) = &result {
            tracing::error!(%error, "the handler thread cannot wait for events");
            thread::sleep(PAUSE.1);
        }
        let mut any = false;
        for index in 0..self.groups.len() {
            let at = index + 1;
            if !ages || result.is_err() || self.ages[at] != before[at] {
                any = true;
                self.check(index);
            }
        }
        if !self.polled.is_empty() && timeout == 0 && !any && self.ages.first() == before.first() {
            thread::sleep(self.pause);
        }
    }

    fn sleep_on_condition(&mut self) {
        let mut inbox = self.shared.inbox.lock();
        if !inbox.is_empty() || self.stopping() {
            return;
        }
        if self.polled.is_empty() {
            self.shared.poked.wait(&mut inbox);
        } else {
            self.shared.poked.wait_for(&mut inbox, self.pause);
        }
    }
}

/// What one look at a list of handlers did.
#[derive(Clone, Copy, Default)]
struct Ran {
    /// A handler ran.
    ran: bool,
    /// A handler ran and stays.
    kept: bool,
}

/// Runs every handler whose condition holds, once.
fn run_all(pending: &mut Vec<Pending>, shared: &Handlers) -> Ran {
    let mut result = Ran::default();
    let mut index = 0;
    while index < pending.len() && !shared.stopping.load(Ordering::Acquire) {
        let p = &mut pending[index];
        let value = p.signal.load(Ordering::Acquire);
        if !p.condition.holds(value, p.compare) {
            index += 1;
            continue;
        }
        result.ran = true;
        if (p.handler)(value) {
            result.kept = true;
            index += 1;
        } else {
            pending.swap_remove(index);
        }
    }
    result
}

impl Runtime {
    /// Runs `handler` with the observed value on the runtime's thread when the condition holds,
    /// again while it answers true (`hsa_amd_signal_async_handler`).
    ///
    /// The handler may call anything in this crate. It runs while queues are blocked, and a signal
    /// that is destroyed before it ran still runs it.
    ///
    /// # Errors
    /// `OutOfResources`; `InvalidSignal` for a signal that was destroyed meanwhile.
    pub fn async_handler(
        &self,
        signal: Signal,
        condition: Condition,
        compare: i64,
        handler: Box<dyn FnMut(i64) -> bool + Send>,
    ) -> Result<()> {
        self.live()?
            .handlers
            .add(signal, condition, compare, handler)
    }

    /// Runs `function` once on the runtime's thread (`hsa_amd_async_function`).
    ///
    /// # Errors
    /// `OutOfResources`
    pub fn async_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.live()?.handlers.call(function)
    }
}
