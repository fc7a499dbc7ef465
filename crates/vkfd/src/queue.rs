//! A user queue as CREATE_QUEUE describes it: the boundary between the ioctl side (which creates
//! and destroys queues) and the processors (which run them).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What a queue's packets are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueKind {
    /// PM4 compute (type 0).
    Pm4,
    /// AQL compute (type 2).
    Aql,
    /// SDMA (types 1, 3 and 4).
    Sdma,
}

/// A queue's immutable description; addresses are GPU virtual addresses of its GPU.
#[derive(Clone, Debug)]
pub struct QueueDesc {
    /// KFD queue id.
    pub queue_id: u32,
    /// Kind of packets.
    pub kind: QueueKind,
    /// Ring base.
    pub ring_va: u64,
    /// Ring bytes.
    pub ring_bytes: u32,
    /// Address of the read pointer that the processor publishes.
    pub rptr_va: u64,
    /// Address of the write pointer that the client publishes.
    pub wptr_va: u64,
    /// vkfd's own view of the doorbell (the client maps the same page).
    pub doorbell: Doorbell,
}

/// vkfd's view of one 64-bit doorbell.
#[derive(Clone, Debug)]
pub struct Doorbell(pub Arc<dyn DoorbellCell>);

/// Access to a doorbell's shared cell.
pub trait DoorbellCell: Send + Sync + std::fmt::Debug {
    /// The cell, which lives as long as the value that gave it.
    fn cell(&self) -> &AtomicU64;

    /// The queue is about to sleep: from now on, a plain store to the cell must lead to
    /// [`RunningQueue::wake`]. The queue looks for packets once more after this call, so stores
    /// that came before need no notice.
    fn arm(&self) {}
}

/// A running queue; dropping it stops the queue and waits until its waves have left.
pub trait RunningQueue: Send + Sync {
    /// The doorbell was rung, or something a waiting packet polls may have changed.
    fn wake(&self);
    /// Stops (false) or restarts (true) packet processing; stopping waits for the current packet
    /// (UPDATE_QUEUE with percentage or size 0).
    fn set_active(&self, active: bool);
    /// Ends processing for good: waves stop, unread packets stay. Idempotent.
    fn stop(&self);
    /// True if the queue has work or had some very recently (its doorbell should be polled rather
    /// than trapped).
    fn is_busy(&self) -> bool;
    /// Times the queue's thread woke up so far.
    fn wakeups(&self) -> u64 {
        0
    }
}
