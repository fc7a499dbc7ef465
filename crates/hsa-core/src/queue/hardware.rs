//! A queue that a GPU serves: block, ring, driver queue and signals.

use super::ring;
use crate::Result;
use crate::agent::Agent;
use crate::error::{Error, driver};
use crate::live::Live;
use crate::signal::{self, Signal};
use hsakmt::{AllocFlags, AllocRequest, Kfd, MemoryKind, MemoryObject, QueueKind, QueueRequest};
use parking_lot::Mutex;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use amdgpu_abi::queue::AmdQueue;

/// Bytes of the shared block: one page of its own, as new kernels insist.
const BLOCK_BYTES: u64 = 4096;
/// Stored to the inactive signal by us: the queue ends, no error happened.
pub(super) const ENDED: i64 = i64::MIN;
/// KFD's normal priority.
const NORMAL_PRIORITY: u32 = 7;

/// The parts of a queue, in the order in which they end.
#[derive(Debug)]
pub(super) struct Hardware {
    driver: hsakmt::Queue,
    ring: MemoryObject,
    ring_bytes: u32,
    block: MemoryObject,
    doorbell: Signal,
    inactive: Signal,
    priority: Mutex<u32>,
    suspended: Mutex<bool>,
}

impl Hardware {
    pub(super) fn new(live: &Live, agent: &Agent, packets: u32) -> Result<Self> {
        let kfd = &live.kfd;
        let block = shared(kfd, agent, BLOCK_BYTES, AllocFlags::empty())?;
        let ring_bytes = packets * 64;
        let ring = shared(kfd, agent, u64::from(ring_bytes), AllocFlags::AQL_QUEUE)?;
        ring::invalidate(ring.gpu_va().get(), packets);
        let at = |offset: usize| block.gpu_va().add(offset as u64);
        // The packet processor finds the block through this field when it gets the queue.
        ring::block(block.gpu_va().get())
            .read_dispatch_id_field_base_byte_offset
            .store(0x80, Ordering::Relaxed);
        let inactive = signal::create(live, 0, true)?;
        prepare(
            ring::block(block.gpu_va().get()),
            agent,
            &ring,
            packets,
            inactive,
        );
        let request = QueueRequest {
            node: agent.node_id(),
            kind: QueueKind::Aql,
            ring: ring.gpu_va(),
            ring_bytes,
            read_ptr: at(offset_of!(AmdQueue, read_dispatch_id)),
            write_ptr: at(offset_of!(AmdQueue, write_dispatch_id)),
            priority: NORMAL_PRIORITY,
            percentage: 100,
        };
        let undo = |error| {
            let _ = inactive.destroy();
            error
        };
        let queue = kfd
            .create_queue(&request)
            .map_err(driver("CREATE_QUEUE"))
            .map_err(undo)?;
        let doorbell =
            signal::create_doorbell(live, queue.doorbell().addr() as u64, block.gpu_va().get())
                .map_err(undo)?;
        ring::block(block.gpu_va().get())
            .hsa_queue
            .doorbell_signal
            .store(doorbell.handle(), Ordering::Release);
        Ok(Self {
            driver: queue,
            ring,
            ring_bytes,
            block,
            doorbell,
            inactive,
            priority: Mutex::new(NORMAL_PRIORITY),
            suspended: Mutex::new(false),
        })
    }

    pub(super) fn address(&self) -> u64 {
        self.block.gpu_va().get()
    }

    pub(super) fn inactive(&self) -> Signal {
        self.inactive
    }

    /// Stops the queue, then frees its signals and memory.
    pub(super) fn end(self) {
        let Self {
            driver,
            ring,
            block,
            doorbell,
            inactive,
            ..
        } = self;
        drop(driver);
        doorbell.destroy_doorbell();
        // The error handler sees this value and goes; then the signal is free.
        inactive.store(ENDED, Ordering::SeqCst);
        let _ = inactive.destroy();
        drop((ring, block));
    }

    fn update(&self, percentage: u32, priority: u32) -> Result<()> {
        self.driver
            .update(self.ring.gpu_va(), self.ring_bytes, percentage, priority)
            .map_err(driver("UPDATE_QUEUE"))
    }

    pub(super) fn suspend(&self) -> Result<()> {
        let mut suspended = self.suspended.lock();
        if !*suspended {
            self.update(0, *self.priority.lock())?;
            *suspended = true;
        }
        Ok(())
    }

    pub(super) fn set_priority(&self, level: u32) -> Result<()> {
        let suspended = self.suspended.lock();
        self.update(if *suspended { 0 } else { 100 }, level)?;
        *self.priority.lock() = level;
        Ok(())
    }

    pub(super) fn set_cu_mask(&self, mask: &[u32]) -> Result<()> {
        self.driver.set_cu_mask(mask).map_err(driver("SET_CU_MASK"))
    }

    /// Gives the queue global wave synchronisation, which cooperative launches need.
    pub(super) fn make_cooperative(&self) -> Result<()> {
        self.driver.alloc_gws(1).map(drop).map_err(|error| {
            tracing::debug!(%error, "no global wave sync for a cooperative queue");
            Error::InvalidQueueCreation
        })
    }

    /// Index of the doorbell in its page.
    pub(super) fn doorbell_id(&self) -> u64 {
        self.driver.doorbell().addr() as u64 % 8192 / 8
    }
}

/// Fills in what applications, device code and the packet processor read.
fn prepare(q: &AmdQueue, agent: &Agent, ring: &MemoryObject, packets: u32, inactive: Signal) {
    let h = &q.hsa_queue;
    h.features.store(1, Ordering::Relaxed);
    h.base_address.store(ring.gpu_va().get(), Ordering::Relaxed);
    h.size.store(packets, Ordering::Relaxed);
    h.id.store(
        super::NEXT_ID.fetch_add(1, Ordering::Relaxed),
        Ordering::Relaxed,
    );
    q.group_segment_aperture_base_hi
        .store(agent.lds_aperture_hi, Ordering::Relaxed);
    q.private_segment_aperture_base_hi
        .store(agent.scratch_aperture_hi, Ordering::Relaxed);
    q.max_cu_id.store(
        agent.compute_unit_count.saturating_sub(1),
        Ordering::Relaxed,
    );
    let waves = agent
        .max_waves_per_cu
        .checked_div(agent.simds_per_cu)
        .unwrap_or(1);
    q.max_wave_id
        .store(waves.saturating_sub(1), Ordering::Relaxed);
    q.queue_properties
        .store(amdgpu_abi::queue::properties::IS_PTR64, Ordering::Relaxed);
    q.queue_inactive_signal
        .store(inactive.handle(), Ordering::Relaxed);
}

/// Host memory that the host and one GPU share.
pub(super) fn shared(
    kfd: &Arc<Kfd>,
    agent: &Agent,
    bytes: u64,
    extra: AllocFlags,
) -> Result<MemoryObject> {
    let object = kfd
        .allocate(&AllocRequest {
            node: agent.node_id(),
            size_bytes: bytes,
            alignment: 0,
            kind: MemoryKind::System,
            flags: AllocFlags::HOST_ACCESS
                | AllocFlags::COHERENT
                | AllocFlags::UNCACHED
                | AllocFlags::EXECUTABLE
                | extra,
        })
        .map_err(driver("queue memory"))?;
    object
        .map(&[agent.node_id()])
        .map_err(driver("queue memory"))?;
    Ok(object)
}
