//! User-mode queues.

use crate::error::Error;
use crate::kfd::Kfd;
use crate::types::{GpuVa, NodeId};
use std::sync::Arc;

/// Kind of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueKind {
    /// Compute queue of AQL packets.
    Aql,
    /// SDMA queue on an engine that the driver chooses.
    Sdma,
    /// SDMA queue on an XGMI engine that the driver chooses.
    SdmaXgmi,
    /// SDMA queue on this engine (interface 1.17).
    SdmaEngine(u32),
}

/// What to create.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueRequest {
    /// The GPU.
    pub node: NodeId,
    /// Kind.
    pub kind: QueueKind,
    /// The ring, mapped to that GPU.
    pub ring: GpuVa,
    /// Bytes of the ring, a power of two.
    pub ring_bytes: u32,
    /// Where the GPU publishes its read index.
    pub read_ptr: GpuVa,
    /// Where the host publishes its write index.
    pub write_ptr: GpuVa,
    /// 0–15, 7 is normal, 15 is what SDMA queues use.
    pub priority: u32,
    /// 0–100; 0 creates the queue suspended.
    pub percentage: u32,
}

/// A queue. Dropping it destroys it and frees its end-of-pipe buffer and context save area.
#[derive(Debug)]
pub struct Queue {
    kfd: Arc<Kfd>,
}

impl Queue {
    /// The driver's number.
    pub fn id(&self) -> u32 {
        0
    }

    /// Where its doorbell is mapped.
    pub fn doorbell(&self) -> *mut u64 {
        std::ptr::null_mut()
    }

    /// Rings the doorbell with the index of the last packet (AQL) or the write pointer in bytes (SDMA).
    ///
    /// No lock, no allocation.
    pub fn ring(&self, _value: u64) {}

    /// Changes ring, percentage and priority; percentage 0 suspends.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn update(
        &self,
        _ring: GpuVa,
        _ring_bytes: u32,
        _percentage: u32,
        _priority: u32,
    ) -> Result<(), Error> {
        let _ = &self.kfd;
        Err(Error::Invalid("skeleton"))
    }

    /// Restricts the queue to compute units: 32 bits a word.
    ///
    /// # Errors
    /// The driver refuses the mask.
    pub fn set_cu_mask(&self, _mask: &[u32]) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Gives the queue global wave sync resources (0 takes them back); answers the first.
    ///
    /// # Errors
    /// `ENODEV` where the device has none.
    pub fn alloc_gws(&self, _count: u32) -> Result<u32, Error> {
        Err(Error::Invalid("skeleton"))
    }
}
