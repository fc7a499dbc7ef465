//! Groups that have begun and not ended: who runs next, and who may take them over.
//!
//! Each worker has a [`Shelf`] for the groups it began. The worker takes from it in turn; a worker
//! without anything to do steals from the others' shelves. Groups that compute and groups that wait
//! have turns alternately, so that many that spin cannot starve the one they wait for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::group::Group;
use crate::poll::Activity;
use crate::wave::Place;

/// SIMDs of a compute unit.
const SIMDS: u32 = 4;

/// The waiting groups of all workers.
pub(crate) struct Shelves {
    shelves: Box<[Mutex<Shelf>]>,
    /// Groups on all shelves.
    total: AtomicUsize,
}

/// The groups of one worker that do not run at the moment.
#[derive(Default)]
struct Shelf {
    busy: VecDeque<Group>,
    waiting: VecDeque<Group>,
    /// Whose turn it is.
    waiting_next: bool,
}

impl Shelves {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            shelves: (0..workers).map(|_| Mutex::default()).collect(),
            total: AtomicUsize::new(0),
        }
    }

    /// Groups on all shelves, at this moment.
    pub(crate) fn total(&self) -> usize {
        // ORDERING: a hint.
        self.total.load(Ordering::Relaxed)
    }

    /// Groups on a worker's shelf.
    pub(crate) fn len(&self, worker: usize) -> usize {
        if self.total() == 0 {
            return 0;
        }
        let shelf = self.shelves[worker].lock();
        shelf.busy.len() + shelf.waiting.len()
    }

    /// Puts a group behind the others of its kind.
    pub(crate) fn put(&self, worker: usize, group: Group, activity: Activity) {
        let mut shelf = self.shelves[worker].lock();
        match activity {
            Activity::Busy => shelf.busy.push_back(group),
            Activity::Waiting => shelf.waiting.push_back(group),
        }
        // ORDERING: a hint for those who look for work; the shelf itself is locked.
        self.total.fetch_add(1, Ordering::Relaxed);
    }

    /// The worker's next group.
    pub(crate) fn take(&self, worker: usize) -> Option<Group> {
        if self.total() == 0 {
            return None;
        }
        let group = self.shelves[worker].lock().take()?;
        // ORDERING: as in `put`.
        self.total.fetch_sub(1, Ordering::Relaxed);
        Some(group)
    }

    /// A group of another worker.
    pub(crate) fn steal(&self, worker: usize) -> Option<Group> {
        let count = self.shelves.len();
        let mut victims = (1..count).map(|distance| (worker + distance) % count);
        let mut group = victims.find_map(|victim| self.take(victim))?;
        group.change_worker();
        Some(group)
    }
}

impl Shelf {
    fn take(&mut self) -> Option<Group> {
        let Self {
            busy,
            waiting,
            waiting_next,
        } = self;
        let (first, second) = if std::mem::replace(waiting_next, !*waiting_next) {
            (waiting, busy)
        } else {
            (busy, waiting)
        };
        first.pop_front().or_else(|| second.pop_front())
    }
}

/// Seats on the device that a worker's groups get.
///
/// A seat stays with its group when another worker takes the group over, and becomes the seat of a
/// later group of the worker where the group ends. So no two resident groups share one.
#[derive(Default, Debug)]
pub(crate) struct Seats {
    free: Vec<u32>,
    used: u32,
}

/// A place for a workgroup on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) slot: u32,
    compute_unit: u32,
    unit_layer: u32,
    shader_engines: u32,
}

impl Seats {
    /// A free slot of worker `worker` of `workers`.
    pub(crate) fn take(&mut self, worker: u32, workers: u32) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.used * workers + worker;
            self.used += 1;
            slot
        })
    }

    /// A group has ended.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

impl Seat {
    /// Slots fill one layer of all compute units, then the next.
    pub(crate) fn new(slot: u32, compute_units: u32, shader_engines: u32) -> Self {
        Self {
            slot,
            compute_unit: slot % compute_units,
            unit_layer: slot / compute_units,
            shader_engines,
        }
    }

    /// The place of a wave of the group.
    pub(crate) fn place(&self, wave: u32, waves_per_group: u32) -> Place {
        let in_unit = self.unit_layer * waves_per_group + wave;
        Place {
            compute_unit: self.compute_unit,
            unit_layer: self.unit_layer,
            shader_engines: self.shader_engines,
            simd: in_unit % SIMDS,
            wave_slot: in_unit / SIMDS,
            ..Place::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_of_resident_groups_differ() {
        let mut workers: [Seats; 3] = std::array::from_fn(|_| Seats::default());
        let mut taken = std::collections::HashSet::new();
        let mut held = Vec::new();
        for round in 0u32..30 {
            let worker = round % 3;
            let slot = workers[worker as usize].take(worker, 3);
            assert!(taken.insert(slot), "{slot}");
            held.push(slot);
            // Every second group ends on another worker than it began on.
            if round % 2 == 1 {
                let slot = held.remove(0);
                taken.remove(&slot);
                workers[(worker as usize + 1) % 3].give_back(slot);
            }
        }
    }
}
