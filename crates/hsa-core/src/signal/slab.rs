//! Where signals live: slabs of device-visible blocks, and the host's private slot beside each.
//!
//! A slot's state outlives its signal: it is static memory, so a stale handle finds a state that is
//! not live instead of freed memory. Slabs are added while the runtime is open and never removed
//! before it closes.

use super::cell::{self, Block, STRIDE};
use crate::table::AddressTable;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a slab; slabs are aligned to their size.
pub(crate) const SLAB_BYTES: u64 = 64 << 10;
const SLOTS: usize = (SLAB_BYTES / STRIDE) as usize;
/// Two million signals; AMD's limit is memory, a client that gets here has a leak.
const MAX_SLABS: usize = 4096;

const LIVE: u32 = 1 << 31;

/// Signal slabs by base address.
static BY_ADDRESS: AddressTable<8192> = AddressTable::new();
/// Slots of slab *n*. They are made once and used again by later slabs.
static SLOTS_OF: [OnceLock<Box<[Slot]>>; MAX_SLABS] = [const { OnceLock::new() }; MAX_SLABS];
static FREE: Mutex<Free> = Mutex::new(Free {
    slots: Vec::new(),
    slabs: Vec::new(),
    next_slab: 0,
});

#[derive(Debug)]
struct Free {
    /// Addresses of blocks that no signal uses.
    slots: Vec<u64>,
    /// (base, index) of the registered slabs.
    slabs: Vec<(u64, u32)>,
    next_slab: u32,
}

/// The host's side of one signal.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// [`LIVE`] while the handle is valid, plus the number of users: the application, waits and
    /// handlers. The block is given out again when it reaches 0.
    state: AtomicU32,
    /// Sleeping waits and registered handlers: stores wake only if there are any.
    pub(crate) sleepers: AtomicU32,
    /// What sleepers sleep on; `None` for polled signals.
    pub(crate) event: Mutex<Option<Arc<super::event_pool::PooledEvent>>>,
    /// Index of the agent whose engine made the last copy, plus 1.
    pub(crate) copy_agent: AtomicU32,
    /// Handlers wait for this signal.
    pub(crate) handlers: AtomicU32,
}

/// One signal slot that is or was live: its address and host state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) address: u64,
    pub(crate) slot: &'static Slot,
}

impl Entry {
    #[inline]
    pub(crate) fn block<'a>(self) -> &'a Block {
        cell::block(self.address)
    }

    /// True until the application destroys the signal.
    #[inline]
    pub(crate) fn is_live(self) -> bool {
        self.slot.state.load(Ordering::Acquire) & LIVE != 0
    }

    /// Adds a user; false if the signal is no longer live.
    pub(crate) fn retain(self) -> bool {
        let add = |state: u32| (state & LIVE != 0).then_some(state + 1);
        self.slot
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, add)
            .is_ok()
    }

    /// Removes a user; the last one frees the block.
    pub(crate) fn release(self) {
        // A closed runtime has set the state to 0: there is nothing left to free.
        let remove = |state: u32| state.checked_sub(1);
        if self
            .slot
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, remove)
            == Ok(1)
        {
            self.recycle();
        }
    }

    /// Ends the handle's life; false if it had ended already.
    pub(crate) fn retire(self) -> bool {
        let end = |state: u32| (state & LIVE != 0).then(|| (state & !LIVE) - 1);
        match self
            .slot
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, end)
        {
            Ok(before) if before & !LIVE == 1 => {
                self.recycle();
                true
            }
            Ok(_) => true,
            Err(_) => false,
        }
    }

    fn recycle(self) {
        *self.slot.event.lock() = None;
        self.block()
            .signal
            .kind
            .store(amdgpu_abi::signal::kind::INVALID, Ordering::Release);
        FREE.lock().slots.push(self.address);
    }
}

/// The live signal at `address`; safe for any number.
#[inline]
pub(crate) fn lookup(address: u64) -> Option<Entry> {
    let entry = find(address)?;
    entry.is_live().then_some(entry)
}

#[inline]
fn find(address: u64) -> Option<Entry> {
    if !address.is_multiple_of(STRIDE) {
        return None;
    }
    let index = BY_ADDRESS.get(address & !(SLAB_BYTES - 1))?;
    let slots = SLOTS_OF.get(usize::try_from(index).ok()?)?.get()?;
    let at = usize::try_from(address % SLAB_BYTES / STRIDE).ok()?;
    Some(Entry {
        address,
        slot: slots.get(at)?,
    })
}

/// Takes a free block and makes it live, or answers `None` if a slab has to be added first.
pub(crate) fn take() -> Option<Entry> {
    let entry = find(FREE.lock().slots.pop()?)?;
    entry.slot.sleepers.store(0, Ordering::Relaxed);
    entry.slot.copy_agent.store(0, Ordering::Relaxed);
    entry.slot.state.store(LIVE | 1, Ordering::Release);
    Some(entry)
}

/// Adds a slab of [`SLAB_BYTES`] zero bytes at `base`; false if there are too many.
///
/// The memory stays mapped until [`forget_all`].
pub(crate) fn add_slab(base: u64) -> bool {
    let mut free = FREE.lock();
    let index = free.next_slab;
    let Some(slots) = usize::try_from(index).ok().and_then(|i| SLOTS_OF.get(i)) else {
        return false;
    };
    slots.get_or_init(|| (0..SLOTS).map(|_| Slot::default()).collect());
    if !BY_ADDRESS.insert(base, index) {
        return false;
    }
    free.next_slab += 1;
    free.slabs.push((base, index));
    // Lowest address first: signals that are created together share pages.
    free.slots
        .extend((0..SLAB_BYTES / STRIDE).rev().map(|i| base + i * STRIDE));
    true
}

/// Ends all signals: the runtime closes and the slabs will be unmapped.
pub(crate) fn forget_all() {
    let mut free = FREE.lock();
    free.slots.clear();
    free.next_slab = 0;
    for (base, index) in std::mem::take(&mut free.slabs) {
        BY_ADDRESS.remove(base);
        for slot in usize::try_from(index)
            .ok()
            .and_then(|i| SLOTS_OF[i].get())
            .into_iter()
            .flatten()
        {
            slot.state.store(0, Ordering::Release);
            *slot.event.lock() = None;
        }
    }
}

/// Signals that are live or still used by a wait, a handler or a copy.
pub(crate) fn in_use() -> usize {
    let free = FREE.lock();
    free.slabs.len() * SLOTS - free.slots.len()
}
