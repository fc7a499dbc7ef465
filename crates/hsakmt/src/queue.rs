//! User-mode queues.

use crate::cwsr::SaveArea;
use crate::doorbell::{Doorbell, DoorbellSlice};
use crate::driver::{Driver, Gpu};
use crate::error::Error;
use crate::memory::{AllocFlags, AllocRequest, MemoryKind, MemoryObject};
use crate::topology::{GfxVersion, Node};
use crate::types::{GpuVa, NodeId};
use hsakmt_sys::{kfd, newer};
use parking_lot::Mutex;
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

impl QueueKind {
    const fn kfd_type(self) -> u32 {
        match self {
            Self::Aql => kfd::KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
            Self::Sdma => kfd::KFD_IOC_QUEUE_TYPE_SDMA,
            Self::SdmaXgmi => kfd::KFD_IOC_QUEUE_TYPE_SDMA_XGMI,
            Self::SdmaEngine(_) => newer::KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID,
        }
    }

    /// What the driver reads only for [`QueueKind::SdmaEngine`].
    const fn engine(self) -> u32 {
        match self {
            Self::SdmaEngine(engine) => engine,
            _ => u32::MAX,
        }
    }
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

/// Doorbell slices by node, mapped when a GPU gets its first queue and kept.
#[derive(Debug)]
pub(crate) struct Slices(Vec<Mutex<Option<Arc<DoorbellSlice>>>>);

impl Slices {
    pub(crate) fn for_nodes(count: usize) -> Self {
        Self((0..count).map(|_| Mutex::new(None)).collect())
    }

    fn get(
        &self,
        driver: &Arc<Driver>,
        gpu: &Gpu,
        offset: u64,
    ) -> Result<Arc<DoorbellSlice>, Error> {
        let slot = self.0.get(gpu.node.index());
        let mut slot = slot
            .ok_or(Error::BadNode {
                node: gpu.node,
                wanted: "a GPU",
            })?
            .lock();
        if let Some(slice) = &*slot {
            return Ok(Arc::clone(slice));
        }
        let slice = Arc::new(DoorbellSlice::new(driver, gpu, offset)?);
        tracing::debug!(node = %gpu.node, handle = slice.handle(), "doorbells mapped");
        *slot = Some(Arc::clone(&slice));
        Ok(slice)
    }
}

/// A queue. Dropping it destroys it and frees its end-of-pipe buffer and context save area.
#[derive(Debug)]
pub struct Queue {
    /// Dropped first: the hardware must let go before its buffers are freed.
    hardware: HardwareQueue,
    doorbell: Doorbell,
    _buffers: Buffers,
}

/// What the hardware needs beside the ring; nothing of it is touched by software again.
#[derive(Debug, Default)]
struct Buffers {
    end_of_pipe: Option<MemoryObject>,
    save_area: Option<(MemoryObject, SaveArea)>,
}

impl Buffers {
    fn for_compute(driver: &Arc<Driver>, node: &Node) -> Result<Self, Error> {
        let end_of_pipe = match end_of_pipe_bytes(node) {
            0 => None,
            bytes => Some(allocate_end_of_pipe(driver, node.id, bytes)?),
        };
        let save_area = match SaveArea::of(node) {
            None => None,
            Some(area) => Some((allocate_save_area(driver, node.id, &area)?, area)),
        };
        Ok(Self {
            end_of_pipe,
            save_area,
        })
    }
}

impl Queue {
    pub(crate) fn create(
        driver: &Arc<Driver>,
        slices: &Slices,
        request: &QueueRequest,
    ) -> Result<Self, Error> {
        let gpu = driver.gpu(request.node)?;
        let node = driver.node(request.node)?;
        check(driver, node, request)?;
        let buffers = match request.kind {
            QueueKind::Aql => Buffers::for_compute(driver, node)?,
            _ => Buffers::default(),
        };
        let mut argument = arguments(gpu, request, &buffers);
        driver.device.call(&mut argument)?;
        let hardware = HardwareQueue {
            driver: Arc::clone(driver),
            id: argument.queue_id,
        };
        let slice = slices.get(driver, gpu, argument.doorbell_offset)?;
        let doorbell = slice.doorbell(driver, argument.doorbell_offset);
        Ok(Self {
            hardware,
            doorbell,
            _buffers: buffers,
        })
    }

    /// The driver's number.
    pub const fn id(&self) -> u32 {
        self.hardware.id
    }

    /// Where its doorbell is mapped; valid while the queue lives.
    pub fn doorbell(&self) -> *mut u64 {
        self.doorbell.pointer()
    }

    /// Rings the doorbell with the index of the last packet (AQL) or the write pointer in bytes
    /// (SDMA), after everything that this thread stored before.
    ///
    /// No lock, no allocation.
    pub fn ring(&self, value: u64) {
        self.doorbell.ring(value);
    }

    /// Changes ring, percentage and priority; percentage 0 suspends.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn update(
        &self,
        ring: GpuVa,
        ring_bytes: u32,
        percentage: u32,
        priority: u32,
    ) -> Result<(), Error> {
        self.hardware
            .driver
            .device
            .call(&mut kfd::kfd_ioctl_update_queue_args {
                ring_base_address: ring.get(),
                queue_id: self.id(),
                ring_size: ring_bytes,
                queue_percentage: percentage,
                queue_priority: priority,
            })
    }

    /// Restricts the queue to compute units: 32 bits a word.
    ///
    /// # Errors
    /// The mask is empty, or on gfx10 and later splits a pair of compute units.
    pub fn set_cu_mask(&self, mask: &[u32]) -> Result<(), Error> {
        self.hardware.driver.device.set_cu_mask(self.id(), mask)
    }

    /// Gives the queue global wave sync resources (0 takes them back); answers the first.
    ///
    /// # Errors
    /// `ENODEV` where the device has none.
    pub fn alloc_gws(&self, count: u32) -> Result<u32, Error> {
        let mut argument = kfd::kfd_ioctl_alloc_queue_gws_args {
            queue_id: self.id(),
            num_gws: count,
            ..Default::default()
        };
        self.hardware.driver.device.call(&mut argument)?;
        Ok(argument.first_gws)
    }
}

/// The driver's queue.
#[derive(Debug)]
struct HardwareQueue {
    driver: Arc<Driver>,
    id: u32,
}

impl Drop for HardwareQueue {
    fn drop(&mut self) {
        let mut argument = kfd::kfd_ioctl_destroy_queue_args {
            queue_id: self.id,
            pad: 0,
        };
        if let Err(error) = self.driver.device.call(&mut argument) {
            tracing::error!(%error, queue = self.id, "cannot destroy a queue");
        }
    }
}

/// Rules whose breach the driver answers with a bare `EINVAL`, or not at all.
fn check(driver: &Driver, node: &Node, request: &QueueRequest) -> Result<(), Error> {
    if !node.gfx().at_least(9, 0) {
        return Err(Error::Invalid(
            "queues need 64-bit doorbells (gfx9 or later)",
        ));
    }
    if !request.ring_bytes.is_power_of_two() {
        return Err(Error::Invalid("the size of a ring is a power of two"));
    }
    if request.percentage > 100 {
        return Err(Error::Invalid("queue percentage above 100"));
    }
    if request.priority > 15 {
        return Err(Error::Invalid("queue priority above 15"));
    }
    match request.kind {
        QueueKind::SdmaEngine(_) => driver.need("a queue on a named SDMA engine", 17),
        _ => Ok(()),
    }
}

fn arguments(
    gpu: &Gpu,
    request: &QueueRequest,
    buffers: &Buffers,
) -> newer::kfd_ioctl_create_queue_args {
    let end_of_pipe = buffers.end_of_pipe.as_ref();
    let (save_memory, area) = buffers.save_area.as_ref().map(|(m, a)| (m, *a)).unzip();
    // Both sizes come from 32-bit counts of one XCC; the kernel's fields have 32 bits.
    let word = |bytes: Option<u64>| bytes.map_or(0, |b| u32::try_from(b).unwrap_or(u32::MAX));
    newer::kfd_ioctl_create_queue_args {
        ring_base_address: request.ring.get(),
        write_pointer_address: request.write_ptr.get(),
        read_pointer_address: request.read_ptr.get(),
        ring_size: request.ring_bytes,
        gpu_id: gpu.gpu_id,
        queue_type: request.kind.kfd_type(),
        queue_percentage: request.percentage,
        queue_priority: request.priority,
        eop_buffer_address: end_of_pipe.map_or(0, |m| m.gpu_va().get()),
        eop_buffer_size: end_of_pipe.map_or(0, MemoryObject::size_bytes),
        ctx_save_restore_address: save_memory.map_or(0, |m| m.gpu_va().get()),
        ctx_save_restore_size: word(area.map(|a| a.context_bytes)),
        ctl_stack_size: word(area.map(|a| a.control_stack_bytes)),
        sdma_engine_id: request.kind.engine(),
        ..Default::default()
    }
}

/// Bytes of the end-of-pipe buffer of an AQL queue: none on gfx9.4.3 and gfx9.5, a page elsewhere.
fn end_of_pipe_bytes(node: &Node) -> u64 {
    match (node.properties.eop_buffer_size, node.gfx()) {
        (
            0,
            GfxVersion {
                major: 9,
                minor: 4 | 5,
                ..
            },
        ) => 0,
        (0, _) => 4096,
        (published, _) => u64::from(published),
    }
}

fn allocate_end_of_pipe(
    driver: &Arc<Driver>,
    node: NodeId,
    size_bytes: u64,
) -> Result<MemoryObject, Error> {
    let memory = MemoryObject::allocate(
        driver,
        &AllocRequest {
            node,
            size_bytes,
            alignment: 0,
            kind: MemoryKind::Vram,
            flags: AllocFlags::EXECUTABLE,
        },
    )?;
    memory.map(&[node])?;
    Ok(memory)
}

/// System memory, because a debugger reads it. It costs pages only where a save has written.
fn allocate_save_area(
    driver: &Arc<Driver>,
    node: NodeId,
    area: &SaveArea,
) -> Result<MemoryObject, Error> {
    let size_bytes = area
        .total_bytes()
        .ok_or(Error::Invalid("context save area too large"))?;
    let flags = AllocFlags::HOST_ACCESS | AllocFlags::EXECUTABLE | AllocFlags::COHERENT;
    let request = AllocRequest {
        node,
        size_bytes,
        alignment: 0,
        kind: MemoryKind::System,
        flags,
    };
    let memory = MemoryObject::allocate(driver, &request)?;
    for (offset, words) in area.headers() {
        let [debug_offset, debug_size] = words.map(|w| u32::try_from(w).unwrap_or(u32::MAX));
        let start = usize::try_from(offset).map_err(|_| Error::Invalid("save area too large"))?;
        memory.write_words(start + DEBUG_OFFSET, &[debug_offset, debug_size]);
    }
    memory.map(&[node])?;
    Ok(memory)
}

/// Byte of `DebugOffset` in `HsaUserContextSaveAreaHeader`; `DebugSize` follows.
const DEBUG_OFFSET: usize = 16;

#[cfg(test)]
mod tests;
