//! Global wave sync: the counters behind `ds_gws_*`.
//!
//! A queue owns up to 64 resources. `ds_gws_init` sets a counter, `ds_gws_barrier` holds a wave
//! until as many waves as the counter says (plus one) have arrived, the semaphore forms count
//! releases (Vega ISA manual, "DS_GWS_*").

use parking_lot::Mutex;

const RESOURCES: usize = 64;

/// Resources of one queue.
#[derive(Debug)]
pub(crate) struct Gws {
    resources: Mutex<[Resource; RESOURCES]>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Resource {
    /// Arrivals still awaited after the next one, or semaphore units.
    counter: u32,
    /// What the counter starts from again.
    initial: u32,
    /// Completed barriers.
    generation: u64,
}

impl Default for Gws {
    fn default() -> Self {
        Self {
            resources: Mutex::new([Resource::default(); RESOURCES]),
        }
    }
}

impl Gws {
    pub(crate) fn init(&self, id: u32, value: u32) {
        let mut resources = self.resources.lock();
        let resource = &mut resources[id as usize % RESOURCES];
        resource.counter = value;
        resource.initial = value;
    }

    /// Arrives at a barrier. `None`: everybody is there; otherwise a ticket for [`Gws::released`].
    pub(crate) fn arrive(&self, id: u32) -> Option<u64> {
        let mut resources = self.resources.lock();
        let resource = &mut resources[id as usize % RESOURCES];
        if resource.counter == 0 {
            resource.counter = resource.initial;
            resource.generation += 1;
            return None;
        }
        resource.counter -= 1;
        Some(resource.generation)
    }

    /// True once the barrier of a ticket is complete.
    pub(crate) fn released(&self, id: u32, ticket: u64) -> bool {
        self.resources.lock()[id as usize % RESOURCES].generation != ticket
    }

    /// Adds semaphore units.
    pub(crate) fn post(&self, id: u32, units: u32) {
        let mut resources = self.resources.lock();
        let resource = &mut resources[id as usize % RESOURCES];
        resource.counter = resource.counter.saturating_add(units);
    }

    /// Takes a semaphore unit; false if there is none.
    pub(crate) fn take(&self, id: u32) -> bool {
        let mut resources = self.resources.lock();
        let resource = &mut resources[id as usize % RESOURCES];
        let available = resource.counter > 0;
        resource.counter = resource.counter.saturating_sub(1);
        available
    }
}
