//! One SDMA queue: a ring of packets with one writer at a time.

use crate::Result;
use crate::agent::Agent;
use crate::error::driver;
use crate::queue::ring;
use amdgpu_abi::sdma::Generation;
use hsakmt::{AllocFlags, AllocRequest, Kfd, MemoryKind, MemoryObject, QueueKind, QueueRequest};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Bytes of the ring, as ROCr 5.2.3 makes it.
const RING_BYTES: u32 = 1 << 20;
/// Offsets in the page of the two indices, as the thunk places them.
const WRITE_PTR: u64 = 0x08;
const READ_PTR: u64 = 0x10;
/// KFD priority of SDMA queues.
const PRIORITY: u32 = 15;

/// One SDMA queue of a GPU.
#[derive(Debug)]
pub(super) struct Engine {
    queue: hsakmt::Queue,
    ring: MemoryObject,
    indices: MemoryObject,
    generation: Generation,
    /// Bytes written since the queue was made.
    written: Mutex<u64>,
}

impl Engine {
    pub(super) fn new(kfd: &Arc<Kfd>, agent: &Agent) -> Result<Self> {
        let memory = |bytes| {
            let flags = AllocFlags::HOST_ACCESS
                | AllocFlags::COHERENT
                | AllocFlags::UNCACHED
                | AllocFlags::EXECUTABLE;
            let node = agent.node_id();
            let request = AllocRequest {
                node,
                size_bytes: bytes,
                alignment: 0,
                kind: MemoryKind::System,
                flags,
            };
            let object = kfd
                .allocate(&request)
                .map_err(driver("copy queue memory"))?;
            object.map(&[node]).map_err(driver("copy queue memory"))?;
            Ok::<MemoryObject, crate::Error>(object)
        };
        let ring = memory(u64::from(RING_BYTES))?;
        let indices = memory(4096)?;
        let request = QueueRequest {
            node: agent.node_id(),
            kind: QueueKind::Sdma,
            ring: ring.gpu_va(),
            ring_bytes: RING_BYTES,
            read_ptr: indices.gpu_va().add(READ_PTR),
            write_ptr: indices.gpu_va().add(WRITE_PTR),
            priority: PRIORITY,
            percentage: 100,
        };
        let queue = kfd.create_queue(&request).map_err(driver("CREATE_QUEUE"))?;
        Ok(Self {
            queue,
            ring,
            indices,
            generation: generation(agent),
            written: Mutex::new(0),
        })
    }

    pub(super) fn generation(&self) -> Generation {
        self.generation
    }

    /// The device has consumed everything.
    pub(super) fn is_idle(&self) -> bool {
        *self.written.lock() == self.consumed()
    }

    fn consumed(&self) -> u64 {
        ring::word64(self.indices.gpu_va().get() + READ_PTR).load(Ordering::Acquire)
    }

    /// Writes batches of packets, in order and without others between them. Each batch is shorter
    /// than the ring; a full ring is waited for.
    pub(super) fn submit(&self, batches: &[Vec<u32>]) {
        let mut written = self.written.lock();
        for words in batches {
            self.write(&mut written, words);
        }
    }

    fn write(&self, written: &mut u64, words: &[u32]) {
        let ring_bytes = u64::from(RING_BYTES);
        let bytes = words.len() as u64 * 4;
        let offset = *written % ring_bytes;
        // Packets do not wrap: the rest of the ring becomes NOPs (zero dwords).
        let pad = if offset + bytes > ring_bytes {
            ring_bytes - offset
        } else {
            0
        };
        self.wait_for_room(*written, pad + bytes);
        let base = self.ring.gpu_va().get();
        if pad != 0 {
            ring::write_dwords(
                base,
                offset,
                &vec![0; usize::try_from(pad / 4).unwrap_or(0)],
            );
        }
        ring::write_dwords(base, (*written + pad) % ring_bytes, words);
        *written += pad + bytes;
        // ORDERING: release publishes the packets before the index that covers them.
        ring::word64(self.indices.gpu_va().get() + WRITE_PTR).store(*written, Ordering::Release);
        self.queue.ring(*written);
    }

    fn wait_for_room(&self, written: u64, bytes: u64) {
        let mut nap = Duration::from_micros(10);
        // One dword stays free, so that full and empty differ on engines that wrap their index.
        while written + bytes - self.consumed() > u64::from(RING_BYTES) - 4 {
            std::thread::sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(1));
        }
    }
}

fn generation(agent: &Agent) -> Generation {
    let version = hsakmt::topology::GfxVersion::from_target(agent.gfx_target_version);
    let byte = |v: u32| u8::try_from(v).unwrap_or(u8::MAX);
    Generation::of_gfx(
        byte(version.major),
        byte(version.minor),
        byte(version.stepping),
    )
}
