//! Events: the signal page that the GPU writes, the objects that clients wait for, and the wait.
//!
//! Semantics follow amdkfd `kfd_events.c` (Linux 6.7); the age protocol came with interface 1.14.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hsakmt_sys::Errno;
use parking_lot::{Condvar, Mutex};

/// Signal slots of a full event page.
pub const SIGNAL_SLOTS: u32 = 4096;
/// Bytes of a full event page.
pub const PAGE_BYTES: u64 = 8 * SIGNAL_SLOTS as u64;
/// Content of a slot that nobody has signalled.
const UNSIGNALLED: u64 = u64::MAX;
/// First id of events that have no slot.
const FIRST_NON_SIGNAL_ID: u32 = 0x4000_0000;

/// `KFD_IOC_EVENT_*`: what an event stands for. Unknown values are representable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventType(pub u32);

impl EventType {
    /// Signalled by packets through the event page, or by SET_EVENT.
    pub const SIGNAL: Self = Self(0);
    /// Hardware exceptions (reset).
    pub const HW_EXCEPTION: Self = Self(3);
    /// Debugger events; they own a slot as signal events do.
    pub const DEBUG: Self = Self(5);
    /// Memory exceptions.
    pub const MEMORY: Self = Self(8);

    fn has_slot(self) -> bool {
        self == Self::SIGNAL || self == Self::DEBUG
    }
}

/// `kfd_hsa_memory_exception_data`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MemoryException {
    /// GPU that faulted; clients ignore the report if it is 0.
    pub gpu_id: u32,
    /// Page of the first refused address.
    pub va: u64,
    /// No mapping at the address.
    pub not_present: bool,
    /// A write to a read-only mapping.
    pub read_only: bool,
    /// Instruction fetch without the right.
    pub no_execute: bool,
    /// The wave went on before the fault was reported.
    pub imprecise: bool,
}

/// `kfd_hsa_hw_exception_data`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HwException {
    /// GPU that was reset.
    pub gpu_id: u32,
    /// 0 whole GPU, 1 per engine.
    pub reset_type: u32,
    /// 0 hang, 1 ECC.
    pub reset_cause: u32,
    /// VRAM content is gone.
    pub memory_lost: bool,
}

/// What the last signalling of an event reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// Nothing besides the fact.
    None,
    /// A memory exception.
    Memory(MemoryException),
    /// A hardware exception.
    Hw(HwException),
}

/// The result of creating an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Created {
    /// Id to be used in later calls.
    pub id: u32,
    /// Slot in the event page (0 for types that have none).
    pub slot: u32,
}

/// One element of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Event id.
    pub id: u32,
    /// Age that the client saw last, 0 if it does not follow ages.
    pub last_age: u64,
}

/// How a wait ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WaitResult {
    /// The condition holds; per element what to report, `None` if that event did not fire.
    Complete(Vec<Option<Fired>>),
    /// Time ran out.
    Timeout,
    /// An event was destroyed meanwhile.
    Destroyed,
}

/// What a fired event reports to its waiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fired {
    /// Age after the event fired.
    pub age: u64,
    /// Type of the event.
    pub event_type: EventType,
    /// Its data.
    pub payload: Payload,
}

/// The signal page: memory that the client allocated (or vkfd, if it did not) and the GPU writes.
pub trait SignalPage: Send + Sync {
    /// The slots; the memory lives as long as the value.
    fn slots(&self) -> &[AtomicU64];
}

#[derive(Debug)]
struct Waiter {
    activated: Vec<bool>,
    destroyed: bool,
}

#[derive(Debug)]
struct Parked {
    state: Mutex<Waiter>,
    changed: Condvar,
}

#[derive(Debug)]
struct Event {
    event_type: EventType,
    auto_reset: bool,
    signalled: bool,
    age: u64,
    payload: Payload,
    /// Waiters with the position of this event in their list.
    waiters: Vec<(Arc<Parked>, usize)>,
}

#[derive(Default)]
struct Table {
    events: BTreeMap<u32, Event>,
    page: Option<Arc<dyn SignalPage>>,
    next_non_signal: u32,
}

/// All events of a process.
#[derive(Default)]
pub struct Events {
    table: Mutex<Table>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Events {
    /// True once a signal page is known.
    pub fn has_page(&self) -> bool {
        self.table.lock().page.is_some()
    }

    /// Makes `page` the signal page and clears all its slots.
    ///
    /// # Errors
    /// `EINVAL` if there is a page already.
    pub fn set_page(&self, page: Arc<dyn SignalPage>) -> Result<(), Errno> {
        let mut table = self.table.lock();
        if table.page.is_some() {
            return Err(Errno(libc::EINVAL));
        }
        for slot in page.slots() {
            slot.store(UNSIGNALLED, Ordering::Relaxed);
        }
        table.page = Some(page);
        Ok(())
    }

    /// Creates an event; the page must exist for types that own a slot.
    ///
    /// # Errors
    /// `ENOSPC` if all slots are taken, `ENOMEM` without a page.
    pub fn create(&self, event_type: EventType, auto_reset: bool) -> Result<Created, Errno> {
        let mut table = self.table.lock();
        let created = if event_type.has_slot() {
            let id = table.free_slot()?;
            Created { id, slot: id }
        } else {
            Created {
                id: table.next_non_signal_id()?,
                slot: 0,
            }
        };
        table
            .events
            .insert(created.id, Event::new(event_type, auto_reset));
        Ok(created)
    }

    /// Destroys an event; its waiters fail.
    ///
    /// # Errors
    /// `EINVAL` if the id is unknown.
    pub fn destroy(&self, id: u32) -> Result<(), Errno> {
        let event = self
            .table
            .lock()
            .events
            .remove(&id)
            .ok_or(Errno(libc::EINVAL))?;
        for (parked, _) in event.waiters {
            parked.state.lock().destroyed = true;
            parked.changed.notify_all();
        }
        Ok(())
    }

    /// SET_EVENT.
    ///
    /// # Errors
    /// `EINVAL` if the id is unknown or the event is no signal event.
    pub fn set(&self, id: u32) -> Result<(), Errno> {
        self.table.lock().signal_event(id)?.fire(Payload::None);
        Ok(())
    }

    /// RESET_EVENT.
    ///
    /// # Errors
    /// As [`Events::set`].
    pub fn reset(&self, id: u32) -> Result<(), Errno> {
        self.table.lock().signal_event(id)?.signalled = false;
        Ok(())
    }

    /// The GPU raised an interrupt with an event id after storing it to the event's mailbox slot
    /// (end of pipe, SDMA trap, `s_sendmsg`). A slot that is not marked makes it look for others:
    /// the id may be partial or the store may have overtaken an earlier interrupt.
    pub fn interrupt(&self, event_id: u32) {
        let mut table = self.table.lock();
        let Some(page) = table.page.clone() else {
            return;
        };
        let slots = page.slots();
        if marked(slots, event_id) && table.events.contains_key(&event_id) {
            table.acknowledge(slots, event_id);
            return;
        }
        let ids: Vec<u32> = table
            .events
            .range(..FIRST_NON_SIGNAL_ID)
            .map(|(id, _)| *id)
            .collect();
        for id in ids.into_iter().filter(|id| marked(slots, *id)) {
            table.acknowledge(slots, id);
        }
    }

    /// Reports a memory exception to all MEMORY events; true if there was one.
    pub fn memory_fault(&self, exception: MemoryException) -> bool {
        self.table
            .lock()
            .fire_all(EventType::MEMORY, Payload::Memory(exception))
    }

    /// Reports a hardware exception to all HW_EXCEPTION events; true if there was one.
    pub fn hw_exception(&self, exception: HwException) -> bool {
        self.table
            .lock()
            .fire_all(EventType::HW_EXCEPTION, Payload::Hw(exception))
    }

    /// Waits until all or any of the events fired; `timeout` `None` waits for ever.
    ///
    /// # Errors
    /// `EINVAL` if an id is unknown.
    pub fn wait(
        &self,
        wanted: &[Wanted],
        all: bool,
        timeout: Option<Duration>,
    ) -> Result<WaitResult, Errno> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let parked = self.enqueue(wanted)?;
        parked.sleep(all, deadline);
        Ok(self.table.lock().finish(wanted, &parked, all))
    }

    /// Takes what has fired already and registers for the rest.
    fn enqueue(&self, wanted: &[Wanted]) -> Result<Arc<Parked>, Errno> {
        let mut table = self.table.lock();
        if wanted.iter().any(|w| !table.events.contains_key(&w.id)) {
            return Err(Errno(libc::EINVAL));
        }
        let mut activated = Vec::with_capacity(wanted.len());
        for want in wanted {
            // PANIC: the check above saw every id, under the same lock.
            let event = table.events.get_mut(&want.id).expect("checked above");
            activated.push(event.take_or_aged(want.last_age));
        }
        let parked = Arc::new(Parked {
            state: Mutex::new(Waiter {
                activated,
                destroyed: false,
            }),
            changed: Condvar::new(),
        });
        for (index, want) in wanted.iter().enumerate() {
            if let Some(event) = table.events.get_mut(&want.id) {
                event.waiters.push((Arc::clone(&parked), index));
            }
        }
        Ok(parked)
    }

    /// Number of events that exist.
    pub fn count(&self) -> usize {
        self.table.lock().events.len()
    }
}

impl Table {
    fn free_slot(&self) -> Result<u32, Errno> {
        let page = self.page.as_ref().ok_or(Errno(libc::ENOMEM))?;
        let slots = u32::try_from(page.slots().len())
            .unwrap_or(SIGNAL_SLOTS)
            .min(SIGNAL_SLOTS);
        let mut free = 1;
        for id in self.events.range(1..FIRST_NON_SIGNAL_ID).map(|(id, _)| *id) {
            if id != free {
                break;
            }
            free = id + 1;
        }
        if free < slots {
            Ok(free)
        } else {
            Err(Errno(libc::ENOSPC))
        }
    }

    fn next_non_signal_id(&mut self) -> Result<u32, Errno> {
        let id = FIRST_NON_SIGNAL_ID
            .checked_add(self.next_non_signal)
            .ok_or(Errno(libc::ENOSPC))?;
        self.next_non_signal += 1;
        Ok(id)
    }

    fn signal_event(&mut self, id: u32) -> Result<&mut Event, Errno> {
        let event = self.events.get_mut(&id).ok_or(Errno(libc::EINVAL))?;
        if event.event_type == EventType::SIGNAL {
            Ok(event)
        } else {
            Err(Errno(libc::EINVAL))
        }
    }

    fn acknowledge(&mut self, slots: &[AtomicU64], id: u32) {
        // ORDERING: the slot is cleared before the event fires, so a new mark is a new signal.
        slots[id as usize].store(UNSIGNALLED, Ordering::SeqCst);
        if let Some(event) = self.events.get_mut(&id) {
            event.fire(Payload::None);
        }
    }

    fn fire_all(&mut self, event_type: EventType, payload: Payload) -> bool {
        let mut found = false;
        for event in self
            .events
            .values_mut()
            .filter(|event| event.event_type == event_type)
        {
            event.fire(payload);
            found = true;
        }
        found
    }

    /// Leaves the waiter lists and collects what the waiter reports. The condition is tested again
    /// here, under the table's lock: an event that fires just as time runs out is not lost.
    fn finish(&mut self, wanted: &[Wanted], parked: &Arc<Parked>, all: bool) -> WaitResult {
        for want in wanted {
            if let Some(event) = self.events.get_mut(&want.id) {
                event
                    .waiters
                    .retain(|(other, _)| !Arc::ptr_eq(other, parked));
            }
        }
        let state = parked.state.lock();
        match state.outcome(all) {
            Some(Outcome::Destroyed) => WaitResult::Destroyed,
            Some(Outcome::Complete) => WaitResult::Complete(self.reports(wanted, &state.activated)),
            None => {
                self.give_back(wanted, &state.activated);
                WaitResult::Timeout
            }
        }
    }

    /// A wait for all that timed out gives back the auto-reset events it had taken.
    fn give_back(&mut self, wanted: &[Wanted], activated: &[bool]) {
        for (want, _) in wanted.iter().zip(activated).filter(|(_, taken)| **taken) {
            if let Some(event) = self.events.get_mut(&want.id) {
                event.signalled |= event.auto_reset;
            }
        }
    }

    fn reports(&self, wanted: &[Wanted], activated: &[bool]) -> Vec<Option<Fired>> {
        let report = |(want, fired): (&Wanted, &bool)| {
            let event = self.events.get(&want.id).filter(|_| *fired)?;
            Some(Fired {
                age: event.age,
                event_type: event.event_type,
                payload: event.payload,
            })
        };
        wanted.iter().zip(activated).map(report).collect()
    }
}

impl Event {
    fn new(event_type: EventType, auto_reset: bool) -> Self {
        Self {
            event_type,
            auto_reset,
            signalled: false,
            age: 1,
            payload: Payload::None,
            waiters: Vec::new(),
        }
    }

    /// `set_event`: an auto-reset event that has waiters is consumed by them.
    fn fire(&mut self, payload: Payload) {
        self.payload = payload;
        self.signalled = !self.auto_reset || self.waiters.is_empty();
        self.age = next_age(self.age);
        for (parked, index) in &self.waiters {
            parked.state.lock().activated[*index] = true;
            parked.changed.notify_all();
        }
    }

    /// `init_event_waiter`: true if the event has fired already, which consumes an auto-reset one,
    /// or if the client's age is out of date.
    fn take_or_aged(&mut self, last_age: u64) -> bool {
        let taken = self.signalled;
        self.signalled &= !self.auto_reset;
        taken || (last_age != 0 && last_age != self.age)
    }
}

/// Ages 0 and 1 mean "not followed" and "never fired"; a wrap skips them.
fn next_age(age: u64) -> u64 {
    age.wrapping_add(1).max(2)
}

fn marked(slots: &[AtomicU64], id: u32) -> bool {
    // ORDERING: pairs with the release store of the packet processor into the mailbox.
    slots
        .get(id as usize)
        .is_some_and(|slot| slot.load(Ordering::Acquire) != UNSIGNALLED)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Complete,
    Destroyed,
}

impl Waiter {
    fn outcome(&self, all: bool) -> Option<Outcome> {
        if self.destroyed {
            return Some(Outcome::Destroyed);
        }
        let done = match all {
            true => self.activated.iter().all(|fired| *fired),
            false => self.activated.iter().any(|fired| *fired),
        };
        done.then_some(Outcome::Complete)
    }
}

impl Parked {
    /// Sleeps until there is an outcome or the deadline has passed.
    fn sleep(&self, all: bool, deadline: Option<Instant>) {
        let mut state = self.state.lock();
        while state.outcome(all).is_none() {
            match deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) => {
                    if self.changed.wait_until(&mut state, deadline).timed_out() {
                        return;
                    }
                }
            }
        }
    }
}
