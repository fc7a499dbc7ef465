//! User queues of the process: ids, doorbells, engine slots, and the processors behind them.

use std::collections::BTreeMap;
use std::sync::Arc;

use hsakmt_sys::Errno;
use parking_lot::Mutex;

use crate::doorbell::{COUNT, Slice};
use crate::queue::{QueueDesc, RunningQueue};

/// Most queues of a process on one GPU (`max_no_of_hqd` × pipes of the HWS, amdkfd 6.7).
pub(crate) const MAX_PER_GPU: usize = 127;
/// Most queues of a process (`KFD_MAX_NUM_OF_QUEUES_PER_PROCESS`).
const MAX_QUEUES: u32 = 1024;
/// First SDMA doorbell and doorbells per engine on gfx9 (Vega20 and newer) and gfx10
/// (amdgpu_doorbell.h `sDMA_ENGINE0`…).
const SDMA_FIRST: u32 = 0x100;
const SDMA_PER_ENGINE: u32 = 0xa;

/// A slot of an SDMA engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SdmaSlot {
    pub(crate) engine: u32,
    pub(crate) queue: u32,
}

impl SdmaSlot {
    /// `engine_base + (queue & 1) * 512 + (queue >> 1)`.
    fn doorbell(self) -> usize {
        let index =
            SDMA_FIRST + SDMA_PER_ENGINE * self.engine + (self.queue & 1) * 512 + (self.queue >> 1);
        index as usize
    }
}

/// One queue.
#[derive(Clone)]
pub(crate) struct Queue {
    /// Index of its GPU.
    pub(crate) gpu: usize,
    pub(crate) doorbell: usize,
    pub(crate) sdma: Option<SdmaSlot>,
    pub(crate) desc: QueueDesc,
    pub(crate) active: bool,
    pub(crate) has_gws: bool,
    pub(crate) running: Arc<dyn RunningQueue>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("desc", &self.desc)
            .field("active", &self.active)
            .finish_non_exhaustive()
    }
}

/// Where a new queue finds its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Compute,
    /// Any of the engines in the range, the least used first.
    Sdma {
        first: u32,
        engines: u32,
        queues: u32,
    },
}

/// A reserved place: the queue's id, doorbell and engine slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) id: u32,
    pub(crate) doorbell: usize,
    pub(crate) sdma: Option<SdmaSlot>,
}

#[derive(Debug, Default)]
struct Table {
    live: BTreeMap<u32, Queue>,
    /// Places taken by queues that are being created.
    reserved: BTreeMap<u32, (usize, Place)>,
}

/// All queues of the process.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    table: Mutex<Table>,
}

impl Queues {
    /// Reserves a place; [`Queues::publish`] or [`Queues::release`] must follow.
    pub(crate) fn reserve(&self, gpu: usize, wanted: Wanted) -> Result<Place, Errno> {
        let mut table = self.table.lock();
        let taken: Vec<Place> = table.places(gpu).collect();
        if taken.len() >= MAX_PER_GPU {
            return Err(Errno(libc::ENOSPC));
        }
        let id = table.free_id().ok_or(Errno(libc::ENOSPC))?;
        let (doorbell, sdma) = match wanted {
            Wanted::Compute => (free_doorbell(&taken).ok_or(Errno(libc::EBUSY))?, None),
            Wanted::Sdma {
                first,
                engines,
                queues,
            } => {
                let slot =
                    free_slot(&taken, first..first + engines, queues).ok_or(Errno(libc::ENOMEM))?;
                (slot.doorbell(), Some(slot))
            }
        };
        let place = Place { id, doorbell, sdma };
        table.reserved.insert(id, (gpu, place));
        Ok(place)
    }

    pub(crate) fn publish(&self, queue: Queue) {
        let mut table = self.table.lock();
        table.reserved.remove(&queue.desc.queue_id);
        table.live.insert(queue.desc.queue_id, queue);
    }

    pub(crate) fn release(&self, place: Place) {
        self.table.lock().reserved.remove(&place.id);
    }

    pub(crate) fn get(&self, id: u32) -> Result<Queue, Errno> {
        self.table
            .lock()
            .live
            .get(&id)
            .cloned()
            .ok_or(Errno(libc::EINVAL))
    }

    /// Changes a queue under the table's lock.
    pub(crate) fn update<R>(
        &self,
        id: u32,
        change: impl FnOnce(&mut Queue) -> R,
    ) -> Result<R, Errno> {
        self.table
            .lock()
            .live
            .get_mut(&id)
            .map(change)
            .ok_or(Errno(libc::EINVAL))
    }

    /// Takes a queue out. Its place stays taken until [`Queues::release`], so that a new queue
    /// does not get the doorbell while the old one is being stopped.
    pub(crate) fn remove(&self, id: u32) -> Result<(Queue, Place), Errno> {
        let mut table = self.table.lock();
        let queue = table.live.remove(&id).ok_or(Errno(libc::EINVAL))?;
        let place = Place {
            id,
            doorbell: queue.doorbell,
            sdma: queue.sdma,
        };
        table.reserved.insert(id, (queue.gpu, place));
        Ok((queue, place))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.lock().live.is_empty()
    }

    /// True if the queues of a GPU use any of the addresses `start..end` for ring or pointers.
    pub(crate) fn take_all(&self) -> Vec<Queue> {
        std::mem::take(&mut self.table.lock().live)
            .into_values()
            .collect()
    }
}

impl Table {
    fn places(&self, gpu: usize) -> impl Iterator<Item = Place> + '_ {
        let live = self.live.iter().filter(move |(_, queue)| queue.gpu == gpu);
        let live = live.map(|(id, queue)| Place {
            id: *id,
            doorbell: queue.doorbell,
            sdma: queue.sdma,
        });
        live.chain(
            self.reserved
                .values()
                .filter(move |(owner, _)| *owner == gpu)
                .map(|(_, place)| *place),
        )
    }

    fn free_id(&self) -> Option<u32> {
        (0..MAX_QUEUES).find(|id| !self.live.contains_key(id) && !self.reserved.contains_key(id))
    }
}

fn free_doorbell(taken: &[Place]) -> Option<usize> {
    let is_free = |index: &usize| {
        Slice::is_for_compute(*index) && taken.iter().all(|place| place.doorbell != *index)
    };
    (0..COUNT).find(is_free)
}

fn free_slot(taken: &[Place], engines: std::ops::Range<u32>, queues: u32) -> Option<SdmaSlot> {
    let load = |engine: u32| {
        taken
            .iter()
            .filter(|place| place.sdma.is_some_and(|slot| slot.engine == engine))
            .count()
    };
    let is_free = |slot: &SdmaSlot| taken.iter().all(|place| place.sdma != Some(*slot));
    let slots = engines.flat_map(|engine| (0..queues).map(move |queue| SdmaSlot { engine, queue }));
    slots
        .filter(is_free)
        .min_by_key(|slot| (load(slot.engine), slot.engine, slot.queue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doorbells_are_those_of_the_kernel() {
        let queues = Queues::default();
        let compute = queues.reserve(0, Wanted::Compute).unwrap();
        assert_eq!((compute.id, compute.doorbell), (0, 0));
        let sdma = Wanted::Sdma {
            first: 0,
            engines: 2,
            queues: 8,
        };
        let places: Vec<_> = (0..4)
            .map(|_| queues.reserve(0, sdma).unwrap().doorbell)
            .collect();
        assert_eq!(places, [0x100, 0x10a, 0x300, 0x30a]);
    }

    #[test]
    fn compute_queues_never_get_a_reserved_doorbell() {
        assert!(Slice::is_for_compute(0xff) && !Slice::is_for_compute(0x100));
        assert!(!Slice::is_for_compute(0x190) && Slice::is_for_compute(0x191));
        assert!(!Slice::is_for_compute(0x300) && Slice::is_for_compute(0x391));
    }

    #[test]
    fn limits_answer_like_the_kernel() {
        let queues = Queues::default();
        for _ in 0..MAX_PER_GPU {
            queues.reserve(0, Wanted::Compute).unwrap();
        }
        assert_eq!(queues.reserve(0, Wanted::Compute), Err(Errno(libc::ENOSPC)));
        let sdma = Wanted::Sdma {
            first: 0,
            engines: 1,
            queues: 2,
        };
        assert!(queues.reserve(1, sdma).is_ok() && queues.reserve(1, sdma).is_ok());
        assert_eq!(queues.reserve(1, sdma), Err(Errno(libc::ENOMEM)));
    }
}
