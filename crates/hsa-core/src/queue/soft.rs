//! Queues that the application itself serves (`hsa_soft_queue_create`).

use super::state::Inner;
use super::{Queue, QueueType, ring};
use crate::Result;
use crate::error::{Error, driver};
use crate::pool::Pool;
use crate::runtime::Runtime;
use crate::signal::Signal;
use hsakmt::{AllocFlags, AllocRequest, MemoryKind, MemoryObject, NodeId};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Runtime {
    /// Creates a queue that the application itself serves (`hsa_soft_queue_create`); `doorbell` is
    /// what producers store to.
    ///
    /// # Errors
    /// `InvalidArgument` for a size that is not a power of two or no features, `InvalidRegion` for
    /// memory that the host cannot use, `OutOfResources`.
    pub fn create_soft_queue(
        &self,
        region: &Pool,
        size: u32,
        queue_type: QueueType,
        features: u32,
        doorbell: Signal,
    ) -> Result<Queue> {
        if !size.is_power_of_two() || features == 0 || features & !3 != 0 {
            return Err(Error::InvalidArgument);
        }
        if !region.kind.is_system() {
            return Err(Error::InvalidRegion);
        }
        let live = self.live()?;
        let gpus: Vec<NodeId> = live.kfd.topology().gpus().map(|n| n.id).collect();
        let memory = |bytes| {
            let flags = AllocFlags::HOST_ACCESS | AllocFlags::COHERENT;
            let node = self.pool_agent(region).node_id();
            let request = AllocRequest {
                node,
                size_bytes: bytes,
                alignment: 0,
                kind: MemoryKind::System,
                flags,
            };
            let object = live
                .kfd
                .allocate(&request)
                .map_err(driver("queue memory"))?;
            if !gpus.is_empty() {
                object.map(&gpus).map_err(driver("queue memory"))?;
            }
            Ok::<MemoryObject, Error>(object)
        };
        let block = memory(4096)?;
        let packets = memory((u64::from(size) * 64).max(4096))?;
        let handle = block.gpu_va().get();
        ring::invalidate(packets.gpu_va().get(), size);
        let q = ring::block(handle);
        q.read_dispatch_id_field_base_byte_offset
            .store(0x80, Ordering::Relaxed);
        let h = &q.hsa_queue;
        h.queue_type.store(queue_type as u32, Ordering::Relaxed);
        h.features.store(features, Ordering::Relaxed);
        h.base_address
            .store(packets.gpu_va().get(), Ordering::Relaxed);
        h.doorbell_signal
            .store(doorbell.handle(), Ordering::Relaxed);
        h.size.store(size, Ordering::Relaxed);
        h.id.store(
            super::NEXT_ID.fetch_add(1, Ordering::Relaxed),
            Ordering::Relaxed,
        );
        let inner = Inner {
            agent: region.agent,
            agent_handle: region.agent_handle(),
            compute_units: 0,
            hardware: Mutex::default(),
            soft: Mutex::new(vec![packets, block]),
            is_hardware: false,
            cu_mask: Mutex::default(),
        };
        live.queues.add(handle, Arc::new(inner))
    }
}
