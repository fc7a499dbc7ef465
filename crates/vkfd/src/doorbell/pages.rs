//! Doorbell pages and the lock-free table of their client mappings.
//!
//! The table is read by [`ring`] on the launch path and by the signal handler, so it is a fixed
//! array of atomics, and what it points at is never freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam::epoch::{self, Atomic, Owned};
use hsakmt_sys::Errno;
use parking_lot::Mutex;

use super::{COUNT, SLICE_BYTES};
use crate::memory::Segment;
use crate::queue::RunningQueue;

/// Client mappings of all doorbell pages: one per GPU and process object, a few more for clients
/// that map twice.
const MAX_MAPPINGS: usize = 512;

struct Entry {
    /// Address of the client's mapping; 0 if the entry is free.
    base: AtomicUsize,
    bytes: AtomicUsize,
    page: AtomicPtr<Page>,
}

static TABLE: [Entry; MAX_MAPPINGS] = [const {
    Entry {
        base: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        page: AtomicPtr::new(std::ptr::null_mut()),
    }
}; MAX_MAPPINGS];
/// Entries at and beyond this index were never used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Serialises changes of the table and of protections; never taken by the readers above.
static CHANGE: Mutex<()> = Mutex::new(());

/// One process's doorbells on one GPU. Lives for ever (see the module's text); it is small, and
/// its queues are detached when the GPU goes.
pub(super) struct Page {
    /// Keeps the alias mapped; `None` once the GPU is gone.
    segment: Mutex<Option<Arc<Segment>>>,
    alias: AtomicPtr<AtomicU64>,
    queues: Box<[Atomic<Arc<dyn RunningQueue>>]>,
    /// The client's mappings may be writable, so stores must be looked for.
    open: AtomicBool,
    /// Doorbells (bit per index) that trapped and whose queue has not been woken yet.
    trapped: [AtomicU64; COUNT / 64],
    /// Signal handlers that look at a queue right now.
    handlers: AtomicUsize,
    watch: Mutex<Watch>,
}

/// What the monitor remembers of an open page.
struct Watch {
    seen: Vec<u64>,
    last_activity: Instant,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page")
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl Page {
    pub(super) fn new(segment: Arc<Segment>) -> &'static Self {
        let alias = std::ptr::from_ref(&segment.cells(0, SLICE_BYTES)[0]).cast_mut();
        Box::leak(Box::new(Self {
            segment: Mutex::new(Some(segment)),
            alias: AtomicPtr::new(alias),
            queues: std::iter::repeat_with(Atomic::null).take(COUNT).collect(),
            open: AtomicBool::new(false),
            trapped: [const { AtomicU64::new(0) }; COUNT / 64],
            handlers: AtomicUsize::new(0),
            watch: Mutex::new(Watch {
                seen: vec![0; COUNT],
                last_activity: Instant::now(),
            }),
        }))
    }

    pub(super) fn attach(&self, index: usize, queue: Arc<dyn RunningQueue>) {
        self.replace(index, Some(queue));
    }

    pub(super) fn detach(&self, index: usize) {
        self.replace(index, None);
    }

    fn replace(&self, index: usize, queue: Option<Arc<dyn RunningQueue>>) {
        let guard = epoch::pin();
        // ORDERING: publishes the queue to `wake`; SeqCst for `wake_from_handler`.
        let old = match queue {
            Some(queue) => self.queues[index].swap(Owned::new(queue), Ordering::SeqCst, &guard),
            None => self.queues[index].swap(epoch::Shared::null(), Ordering::SeqCst, &guard),
        };
        if !old.is_null() {
            // Signal handlers do not pin; they are counted instead.
            while self.handlers.load(Ordering::SeqCst) != 0 {
                std::thread::yield_now();
            }
            // SAFETY: the pointer left the slot, so no later pin can load it; it came from `Owned`.
            unsafe { guard.defer_destroy(old) };
        }
    }

    /// The queue of a doorbell.
    fn with_queue<R>(
        &self,
        index: usize,
        use_it: impl FnOnce(&dyn RunningQueue) -> R,
    ) -> Option<R> {
        let guard = epoch::pin();
        // ORDERING: pairs with the swap in `replace`.
        let shared = self.queues[index].load(Ordering::Acquire, &guard);
        // SAFETY: loaded under the pin, so it is not destroyed before `guard` goes.
        let queue = unsafe { shared.as_ref() }?;
        Some(use_it(queue.as_ref()))
    }

    fn wake(&self, index: usize) {
        self.with_queue(index, |queue| queue.wake());
    }

    /// [`Page::wake`] for a signal handler: pinning an epoch may run destructors, which neither the
    /// small stack nor the interrupted thread would bear.
    pub(super) fn wake_from_handler(&self, index: usize) {
        // ORDERING: SeqCst on the counter and the slot's swap: either `replace` sees this handler,
        // or the handler sees the slot after the swap.
        self.handlers.fetch_add(1, Ordering::SeqCst);
        // SAFETY: what is loaded is used only until the counter falls; `replace` waits for that.
        let guard = unsafe { epoch::unprotected() };
        let shared = self.queues[index].load(Ordering::SeqCst, guard);
        // SAFETY: as above.
        if let Some(queue) = unsafe { shared.as_ref() } {
            queue.wake();
        }
        self.handlers.fetch_sub(1, Ordering::SeqCst);
    }

    fn attached(&self) -> impl Iterator<Item = usize> + '_ {
        let guard = epoch::pin();
        (0..COUNT).filter(move |index| {
            !self.queues[*index]
                .load(Ordering::Relaxed, &guard)
                .is_null()
        })
    }

    /// vkfd's view of a doorbell; `None` once the GPU is gone.
    fn cell(&self, index: usize) -> Option<&AtomicU64> {
        let alias = self.alias.load(Ordering::Acquire);
        if alias.is_null() {
            return None;
        }
        // SAFETY: `alias` heads `COUNT` cells, and callers pass an index below that.
        let cell = unsafe { alias.add(index) };
        // SAFETY: the segment stays mapped until `retire`, which a client calls by closing the
        // device while nobody may ring its doorbells any more.
        Some(unsafe { &*cell })
    }

    /// Called by the signal handler: only atomics.
    pub(super) fn note_trap(&self, index: usize) {
        self.trapped[index / 64].fetch_or(1 << (index % 64), Ordering::Relaxed);
        // ORDERING: SeqCst, after the page was made writable; see `arm` for the other side.
        self.open.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst)
    }

    /// Wakes the queues whose doorbell was stored to since the last look; true if there were any.
    pub(super) fn look(&self) -> bool {
        let mut watch = self.watch.lock();
        let mut rang = self.wake_trapped();
        for index in self.attached() {
            let Some(value) = self.cell(index).map(|cell| cell.load(Ordering::Acquire)) else {
                break;
            };
            if watch.seen[index] != value {
                watch.seen[index] = value;
                self.wake(index);
                rang = true;
            }
        }
        if rang {
            watch.last_activity = Instant::now();
        }
        rang
    }

    fn wake_trapped(&self) -> bool {
        let mut any = false;
        for (word, bits) in self.trapped.iter().enumerate() {
            let mut rest = bits.swap(0, Ordering::Relaxed);
            while rest != 0 {
                self.wake(word * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
                any = true;
            }
        }
        any
    }

    pub(super) fn is_busy(&self) -> bool {
        self.attached()
            .any(|index| self.with_queue(index, |queue| queue.is_busy()) == Some(true))
    }

    pub(super) fn quiet_since(&self) -> Instant {
        self.watch.lock().last_activity
    }

    /// Protects the client's mappings again. A store that came before the protection is found by a
    /// last look; one with the value of its predecessor shows in the ring, which each queue checks.
    pub(super) fn arm(&self) {
        let _change = CHANGE.lock();
        // ORDERING: `open` falls before the protection rises. A store that traps in between raises
        // it again, so a writable page is never taken for an armed one.
        self.open.store(false, Ordering::SeqCst);
        for (base, bytes) in mappings_of(self) {
            super::trap::protect(base, bytes);
        }
        self.look();
        for index in self.attached().collect::<Vec<_>>() {
            self.wake(index);
        }
    }
}

/// Stores `value` to the doorbell that the client has mapped at `address`, and wakes its queue.
/// An address that is no doorbell is ignored.
pub(crate) fn ring(address: usize, value: u64) {
    let Some((page, index)) = find(address) else {
        tracing::debug!(address, "ring of an address that is no doorbell");
        return;
    };
    let Some(cell) = page.cell(index) else { return };
    // ORDERING: releases the packets that the client wrote before.
    cell.store(value, Ordering::Release);
    page.wake(index);
}

/// The page and doorbell index of an address inside a client mapping.
pub(super) fn find(address: usize) -> Option<(&'static Page, usize)> {
    let entry = entry_of(address)?;
    let page = entry.page.load(Ordering::Acquire);
    let index = (address - entry.base.load(Ordering::Acquire)) / size_of::<u64>();
    // SAFETY: the table only holds pointers from `Page::new`, which are never freed.
    let page = unsafe { page.as_ref() }?;
    (index < COUNT).then_some((page, index))
}

/// Base and length of the client mapping around an address.
pub(super) fn mapping_of(address: usize) -> Option<(usize, usize)> {
    let entry = entry_of(address)?;
    Some((
        entry.base.load(Ordering::Acquire),
        entry.bytes.load(Ordering::Acquire),
    ))
}

fn entry_of(address: usize) -> Option<&'static Entry> {
    let used = USED.load(Ordering::Acquire);
    TABLE[..used].iter().find(|entry| {
        let base = entry.base.load(Ordering::Acquire);
        base != 0 && address.wrapping_sub(base) < entry.bytes.load(Ordering::Acquire)
    })
}

fn mappings_of(page: &Page) -> Vec<(usize, usize)> {
    let wanted = std::ptr::from_ref(page).cast_mut();
    let used = USED.load(Ordering::Acquire);
    let live = TABLE[..used]
        .iter()
        .filter(|entry| entry.page.load(Ordering::Acquire) == wanted);
    live.map(|entry| {
        (
            entry.base.load(Ordering::Acquire),
            entry.bytes.load(Ordering::Acquire),
        )
    })
    .filter(|(base, _)| *base != 0)
    .collect()
}

pub(super) fn register(address: usize, bytes: usize, page: &'static Page) -> Result<(), Errno> {
    let _change = CHANGE.lock();
    clear(|base, length| base < address + bytes && address < base + length);
    let free = TABLE
        .iter()
        .position(|entry| entry.base.load(Ordering::Relaxed) == 0);
    let index = free.ok_or(Errno(libc::ENOMEM))?;
    let entry = &TABLE[index];
    entry
        .page
        .store(std::ptr::from_ref(page).cast_mut(), Ordering::Release);
    entry.bytes.store(bytes, Ordering::Release);
    // ORDERING: the base makes the entry valid, so it comes last.
    entry.base.store(address, Ordering::Release);
    USED.fetch_max(index + 1, Ordering::AcqRel);
    Ok(())
}

pub(super) fn unregister(address: usize, bytes: usize) {
    if entry_count() == 0 {
        return;
    }
    let _change = CHANGE.lock();
    clear(|base, length| base < address.saturating_add(bytes) && address < base + length);
}

/// Opens the mappings in a range for good and forgets them.
pub(super) fn release(address: usize, bytes: usize) {
    let _change = CHANGE.lock();
    let end = address.saturating_add(bytes);
    clear(|base, length| {
        let is_gone = base < end && address < base + length;
        is_gone && super::trap::open(base, length)
    });
}

/// Forgets all mappings and queues of a page whose GPU goes.
pub(super) fn forget(page: &'static Page) {
    let _change = CHANGE.lock();
    let wanted = std::ptr::from_ref(page).cast_mut();
    for entry in &TABLE[..USED.load(Ordering::Acquire)] {
        if entry.page.load(Ordering::Acquire) == wanted {
            entry.base.store(0, Ordering::Release);
        }
    }
    page.open.store(false, Ordering::SeqCst);
    for index in 0..COUNT {
        page.detach(index);
    }
    page.alias.store(std::ptr::null_mut(), Ordering::Release);
    *page.segment.lock() = None;
}

fn entry_count() -> usize {
    USED.load(Ordering::Acquire)
}

fn clear(is_gone: impl Fn(usize, usize) -> bool) {
    for entry in &TABLE[..entry_count()] {
        let (base, bytes) = (
            entry.base.load(Ordering::Acquire),
            entry.bytes.load(Ordering::Acquire),
        );
        if base != 0 && is_gone(base, bytes) {
            entry.base.store(0, Ordering::Release);
        }
    }
}
