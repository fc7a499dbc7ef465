//! Events and waits.

use crate::error::Error;
use crate::kfd::Kfd;
use crate::types::{GpuVa, NodeId};
use std::sync::Arc;

/// Kind of an event (`KFD_IOC_EVENT_*`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum EventKind {
    /// Set by a GPU interrupt or the host.
    Signal = 0,
    /// A node came or went.
    NodeChange = 1,
    /// A device changed state.
    DeviceStateChange = 2,
    /// A GPU was reset.
    HwException = 3,
    /// System event.
    System = 4,
    /// Debugger event.
    Debug = 5,
    /// Profiler event.
    Profile = 6,
    /// Queue event.
    Queue = 7,
    /// Memory fault.
    Memory = 8,
}

/// An event. Dropping it destroys it and wakes its waiters.
#[derive(Debug)]
pub struct Event {
    kfd: Arc<Kfd>,
}

impl Event {
    /// The driver's number; for signal events, what a GPU stores to the mailbox.
    pub fn id(&self) -> u32 {
        0
    }

    /// Kind.
    pub fn kind(&self) -> EventKind {
        EventKind::Signal
    }

    /// Where a GPU stores the id to signal the event (`amd_signal_t.event_mailbox_ptr`); the host
    /// sees it at the same address. `None` for kinds that only the driver signals.
    pub fn mailbox(&self) -> Option<GpuVa> {
        let _ = &self.kfd;
        None
    }

    /// Signals the event.
    ///
    /// # Errors
    /// It is not a signal event.
    pub fn set(&self) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Clears the event.
    ///
    /// # Errors
    /// It is not a signal event.
    pub fn reset(&self) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitStatus {
    /// One event, or all, as asked.
    Complete,
    /// The time ran out.
    Timeout,
}

/// What woke a waiter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitResult {
    /// How it ended.
    pub status: WaitStatus,
    /// Exceptions of memory and hardware events, with the index of the event in the call.
    pub exceptions: Vec<(usize, Exception)>,
}

/// What a memory or hardware event tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// A memory fault.
    Memory(MemoryException),
    /// A GPU reset.
    Hardware(HwException),
}

/// A GPU touched memory that it must not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryException {
    /// The GPU; `None` if the driver names one that is not in the topology.
    pub node: Option<NodeId>,
    /// Its gpu_id.
    pub gpu_id: u32,
    /// Address, or of its page if imprecise.
    pub va: GpuVa,
    /// The page is not mapped to the GPU.
    pub not_present: bool,
    /// A write to a page that may only be read.
    pub read_only: bool,
    /// A fetch from a page that may not be executed.
    pub no_execute: bool,
    /// The address is not exact.
    pub imprecise: bool,
    /// 0 none, 1 ECC SRAM, 2 poison, 3 GPU hang.
    pub error_type: u32,
}

/// A GPU was reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HwException {
    /// The GPU.
    pub node: Option<NodeId>,
    /// Its gpu_id.
    pub gpu_id: u32,
    /// 0 reset of the whole GPU, 1 of one engine.
    pub reset_type: u32,
    /// 0 GPU hang, 1 ECC.
    pub reset_cause: u32,
    /// Device memory has lost its content.
    pub memory_lost: bool,
}
