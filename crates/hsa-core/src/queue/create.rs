//! `hsa_queue_create`.

use super::hardware::Hardware;
use super::state::{Inner, full_mask};
use super::{ErrorCallback, Queue, QueueType, failure, ring};
use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::live::Live;
use crate::runtime::Runtime;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Runtime {
    /// Creates a queue on a GPU (`hsa_queue_create`). The segment sizes are hints: scratch comes with
    /// the dispatch that needs it.
    ///
    /// Cooperative queues of one GPU are one queue: the hardware gives a process one set of wave
    /// synchronisation resources. It ends with its last user.
    ///
    /// # Errors
    /// `InvalidArgument` for a size that is not a power of two or below the agent's minimum,
    /// `InvalidQueueCreation` for a CPU or a type that the agent lacks, `OutOfResources` for a size
    /// above its maximum or too many queues.
    pub fn create_queue(
        &self,
        agent: &Agent,
        size: u32,
        queue_type: QueueType,
        callback: Option<ErrorCallback>,
        private_segment_size: u32,
        group_segment_size: u32,
    ) -> Result<Queue> {
        let _ = (private_segment_size, group_segment_size);
        if !size.is_power_of_two() {
            return Err(Error::InvalidArgument);
        }
        if !agent.is_gpu() || (queue_type == QueueType::Cooperative && !agent.cooperative_queues) {
            return Err(Error::InvalidQueueCreation);
        }
        if size > agent.queue_max_size {
            return Err(Error::OutOfResources);
        }
        if size < agent.queue_min_size {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        if queue_type != QueueType::Cooperative {
            return create(&live, agent, size, queue_type, callback);
        }
        let mut shared = live.queues.cooperative.lock();
        if let Some((handle, users)) = shared.get_mut(&agent.index) {
            *users += 1;
            return Ok(Queue { handle: *handle });
        }
        let queue = create(&live, agent, size, queue_type, callback)?;
        shared.insert(agent.index, (queue.handle, 1));
        Ok(queue)
    }
}

fn create(
    live: &Arc<Live>,
    agent: &Agent,
    size: u32,
    queue_type: QueueType,
    callback: Option<ErrorCallback>,
) -> Result<Queue> {
    if live.queues.count(agent.index) >= agent.queues_max as usize {
        return Err(Error::OutOfResources);
    }
    live.faults.start(live)?;
    let hardware = Hardware::new(live, agent, size)?;
    if queue_type == QueueType::Cooperative
        && let Err(error) = hardware.make_cooperative()
    {
        hardware.end();
        return Err(error);
    }
    let handle = hardware.address();
    let inactive = hardware.inactive();
    ring::block(handle)
        .hsa_queue
        .queue_type
        .store(queue_type as u32, Ordering::Release);
    let inner = Arc::new(Inner {
        agent: agent.index,
        agent_handle: agent.handle(),
        compute_units: agent.compute_unit_count,
        hardware: Mutex::new(Some(hardware)),
        soft: Mutex::default(),
        is_hardware: true,
        cu_mask: Mutex::new(full_mask(agent.compute_unit_count)),
    });
    let watched = failure::watch(live, &inner, inactive, handle, callback);
    let added = watched.and_then(|()| live.queues.add(handle, Arc::clone(&inner)));
    added.inspect_err(|_| inner.end())
}
