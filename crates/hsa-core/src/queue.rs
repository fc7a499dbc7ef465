//! Queues: creation, indices, state, errors.

use crate::Result;
use crate::error::Error;
use crate::runtime::{self, Runtime};
use crate::table::AddressTable;
use amdgpu_abi::queue::AmdQueue;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

mod create;
mod failure;
mod hardware;
pub(crate) mod ring;
mod soft;
mod state;

use state::Inner;

/// Queues that one GPU can have (ROCr's limit of user queues).
pub const MAX_QUEUES: u32 = 128;

/// `hsa_queue_type_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum QueueType {
    /// Many producers.
    Multi = 0,
    /// One producer.
    Single = 1,
    /// Workgroups of a dispatch run together.
    Cooperative = 2,
}

impl QueueType {
    /// The type of a C value.
    #[must_use]
    pub fn from_raw(raw: u32) -> Option<Self> {
        [Self::Multi, Self::Single, Self::Cooperative]
            .get(usize::try_from(raw).ok()?)
            .copied()
    }
}

/// `hsa_amd_queue_priority_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// 0
    Low,
    /// 1
    Normal,
    /// 2
    High,
}

/// Called with the reason and the queue's handle when a queue fails, no lock held.
pub type ErrorCallback = Box<dyn Fn(Error, u64) + Send + Sync>;

/// `hsa_amd_queue_get_info`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueInfo {
    /// `HSA_AMD_QUEUE_INFO_AGENT`
    pub agent: u64,
    /// `HSA_AMD_QUEUE_INFO_DOORBELL_ID`
    pub doorbell_id: u64,
}

/// Queue blocks by address; the value says nothing.
static LIVE: AddressTable<16384> = AddressTable::new();
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// A live queue: the address of its `hsa_queue_t`. Copying it does not keep the queue alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queue {
    handle: u64,
}

/// Finds the live queue at an address: no lock, and any number is safe to ask about.
#[must_use]
#[inline]
pub fn lookup(handle: u64) -> Option<Queue> {
    LIVE.get(handle).map(|_| Queue { handle })
}

/// The queues of one open runtime.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    by_handle: Mutex<HashMap<u64, Arc<Inner>>>,
    /// The cooperative queue of each agent is one and shared: (handle, users).
    cooperative: Mutex<HashMap<usize, (u64, u32)>>,
}

impl Queues {
    fn add(&self, handle: u64, inner: Arc<Inner>) -> Result<Queue> {
        if !LIVE.insert(handle, 0) {
            return Err(Error::OutOfResources);
        }
        self.by_handle.lock().insert(handle, inner);
        Ok(Queue { handle })
    }

    fn get(&self, queue: Queue) -> Result<Arc<Inner>> {
        self.by_handle
            .lock()
            .get(&queue.handle)
            .cloned()
            .ok_or(Error::InvalidQueue)
    }

    /// Ends a queue: it can no longer be found, its packets stop, its memory goes.
    fn remove(&self, queue: Queue) -> Result<()> {
        let inner = self
            .by_handle
            .lock()
            .remove(&queue.handle)
            .ok_or(Error::InvalidQueue)?;
        LIVE.remove(queue.handle);
        inner.end();
        Ok(())
    }

    /// Hardware queues that an agent has.
    fn count(&self, agent: usize) -> usize {
        self.by_handle
            .lock()
            .values()
            .filter(|q| q.is_hardware_of(agent))
            .count()
    }

    /// Ends every queue: the runtime closes.
    pub(crate) fn destroy_all(&self) {
        let handles: Vec<u64> = self.by_handle.lock().keys().copied().collect();
        for handle in handles {
            // Only another thread's destroy can have been faster.
            let _ = self.remove(Queue { handle });
        }
        self.cooperative.lock().clear();
    }
}

impl Queue {
    /// Address of the `hsa_queue_t`.
    #[must_use]
    pub fn handle(self) -> u64 {
        self.handle
    }

    #[inline]
    fn block<'a>(self) -> &'a AmdQueue {
        ring::block(self.handle)
    }

    fn inner(self) -> Result<Arc<Inner>> {
        runtime::current()?.live()?.queues.get(self)
    }

    /// Stops the queue and frees it (`hsa_queue_destroy`). Packets that did not run never will.
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn destroy(self) -> Result<()> {
        let live = runtime::current().and_then(Runtime::live)?;
        let mut cooperative = live.queues.cooperative.lock();
        if let Some((_, users)) = cooperative
            .values_mut()
            .find(|(handle, _)| *handle == self.handle)
        {
            *users -= 1;
            if *users != 0 {
                return Ok(());
            }
            cooperative.retain(|_, (handle, _)| *handle != self.handle);
        }
        drop(cooperative);
        live.queues.remove(self)
    }

    /// Reads the read index.
    #[must_use]
    #[inline]
    pub fn load_read_index(self, order: Ordering) -> u64 {
        self.block().read_dispatch_id.load(order)
    }

    /// Stores the read index, which is for whoever serves a soft queue.
    #[inline]
    pub fn store_read_index(self, value: u64, order: Ordering) {
        self.block().read_dispatch_id.store(value, order);
    }

    /// Reads the write index.
    #[must_use]
    #[inline]
    pub fn load_write_index(self, order: Ordering) -> u64 {
        self.block().write_dispatch_id.load(order)
    }

    /// Stores the write index.
    #[inline]
    pub fn store_write_index(self, value: u64, order: Ordering) {
        self.block().write_dispatch_id.store(value, order);
    }

    /// Adds to the write index; answers the old one.
    #[inline]
    pub fn add_write_index(self, value: u64, order: Ordering) -> u64 {
        self.block().write_dispatch_id.fetch_add(value, order)
    }

    /// Compare and swap of the write index; answers the old one.
    #[inline]
    pub fn cas_write_index(self, expected: u64, value: u64, order: Ordering) -> u64 {
        let failure = match order {
            Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
            _ => Ordering::Acquire,
        };
        let index = &self.block().write_dispatch_id;
        index
            .compare_exchange(expected, value, order, failure)
            .unwrap_or_else(|old| old)
    }
}
