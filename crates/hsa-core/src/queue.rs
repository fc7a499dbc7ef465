//! Queues: creation, indices, state, errors.

use crate::agent::Agent;
use crate::error::Error;
use crate::pool::Pool;
use crate::runtime::Runtime;
use crate::signal::Signal;
use crate::Result;
use std::sync::atomic::Ordering;

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
        [Self::Multi, Self::Single, Self::Cooperative].get(usize::try_from(raw).ok()?).copied()
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

/// A live queue: the address of its `hsa_queue_t`. Copying it does not keep the queue alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queue {
    handle: u64,
}

/// Finds the live queue at an address: no lock, and any number is safe to ask about.
#[must_use]
#[inline]
pub fn lookup(handle: u64) -> Option<Queue> {
    let _ = handle;
    None
}

impl Runtime {
    /// Creates a queue on a GPU (`hsa_queue_create`).
    ///
    /// # Errors
    /// `InvalidArgument` for a size that is not a power of two, `InvalidQueueCreation` for a CPU or
    /// a type that the agent lacks, `OutOfResources`.
    pub fn create_queue(
        &self,
        agent: &Agent,
        size: u32,
        queue_type: QueueType,
        callback: Option<ErrorCallback>,
        private_segment_size: u32,
        group_segment_size: u32,
    ) -> Result<Queue> {
        let _ = (agent, size, queue_type, callback, private_segment_size, group_segment_size);
        Err(Error::NotSupported)
    }

    /// Creates a queue that the application itself serves (`hsa_soft_queue_create`).
    ///
    /// # Errors
    /// `InvalidArgument` for a bad size or no features, `OutOfResources`.
    pub fn create_soft_queue(
        &self,
        region: &Pool,
        size: u32,
        queue_type: QueueType,
        features: u32,
        doorbell: Signal,
    ) -> Result<Queue> {
        let _ = (region, size, queue_type, features, doorbell);
        Err(Error::NotSupported)
    }
}

impl Queue {
    /// Address of the `hsa_queue_t`.
    #[must_use]
    pub fn handle(self) -> u64 {
        self.handle
    }
    /// Stops the queue and frees it (`hsa_queue_destroy`).
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn destroy(self) -> Result<()> {
        Err(Error::NotSupported)
    }
    /// Stops the queue for good (`hsa_queue_inactivate`).
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn inactivate(self) -> Result<()> {
        Err(Error::NotSupported)
    }
    /// Reads the read index.
    #[must_use]
    #[inline]
    pub fn load_read_index(self, order: Ordering) -> u64 {
        let _ = order;
        0
    }
    /// Stores the read index (soft queues only; ignored otherwise, as the packet processor owns it).
    #[inline]
    pub fn store_read_index(self, value: u64, order: Ordering) {
        let _ = (value, order);
    }
    /// Reads the write index.
    #[must_use]
    #[inline]
    pub fn load_write_index(self, order: Ordering) -> u64 {
        let _ = order;
        0
    }
    /// Stores the write index.
    #[inline]
    pub fn store_write_index(self, value: u64, order: Ordering) {
        let _ = (value, order);
    }
    /// Adds to the write index; answers the old one.
    #[inline]
    pub fn add_write_index(self, value: u64, order: Ordering) -> u64 {
        let _ = (value, order);
        0
    }
    /// Compare and swap of the write index; answers the old one.
    #[inline]
    pub fn cas_write_index(self, expected: u64, value: u64, order: Ordering) -> u64 {
        let _ = (expected, value, order);
        0
    }
    /// Restricts the queue to compute units; an empty mask allows all (`hsa_amd_queue_cu_set_mask`).
    ///
    /// # Errors
    /// `CuMaskReduced` if bits were dropped (the rest holds), `InvalidQueue`.
    pub fn set_cu_mask(self, mask: &[u32]) -> Result<()> {
        let _ = mask;
        Err(Error::NotSupported)
    }
    /// The compute-unit mask, one bit per unit.
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn cu_mask(self) -> Result<Vec<u32>> {
        Err(Error::NotSupported)
    }
    /// Sets the priority.
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn set_priority(self, priority: Priority) -> Result<()> {
        let _ = priority;
        Err(Error::NotSupported)
    }
    /// Turns dispatch timestamps on or off (`hsa_amd_profiling_set_profiler_enabled`).
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn set_profiling(self, enable: bool) -> Result<()> {
        let _ = enable;
        Err(Error::NotSupported)
    }
    /// `hsa_amd_queue_get_info`
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn info(self) -> Result<QueueInfo> {
        Err(Error::NotSupported)
    }
}
