//! What exists only while the runtime is open, and the order in which it ends.

use crate::Result;
use crate::copy::Copies;
use crate::env::Env;
use crate::error::Error;
use crate::event::Faults;
use crate::loader;
use crate::memory::Memory;
use crate::profile::Clocks;
use crate::queue::Queues;
use crate::signal::event_pool::EventPool;
use crate::signal::handlers::Handlers;
use crate::signal::{self, slab};
use crate::tables::{DeviceFacts, Tables};
use hsakmt::{Kfd, MemoryObject, Node};
use hsakmt_sys::Kernel;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

type Hook = Box<dyn FnOnce() + Send>;

/// The open device and everything made on it.
pub(crate) struct Live {
    pub(crate) env: Env,
    pub(crate) memory: Memory,
    pub(crate) events: Arc<EventPool>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) queues: Queues,
    pub(crate) copies: Copies,
    pub(crate) clocks: Clocks,
    pub(crate) faults: Faults,
    /// Memory of signal slabs.
    pub(crate) slabs: Mutex<Vec<MemoryObject>>,
    hooks: Mutex<Vec<Hook>>,
    pub(crate) kfd: Arc<Kfd>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("env", &self.env)
            .finish_non_exhaustive()
    }
}

/// Clock of the dispatch timestamps if the driver does not say (gfx9 and later).
const DEFAULT_TIMESTAMP_HZ: u64 = 100_000_000;

impl Live {
    /// Opens the device and reads what there is.
    pub(crate) fn open(kernel: Arc<dyn Kernel>) -> Result<(Tables, Self)> {
        let env = Env::from_process();
        let kfd = Kfd::open(kernel).map_err(report)?;
        announce(&kfd);
        let facts: Vec<DeviceFacts> = kfd
            .topology()
            .gpus()
            .map(|node| device_facts(&kfd, node))
            .collect();
        let tables = Tables::build(kfd.topology(), &facts, &env, kfd.xnack_enabled());
        let events = EventPool::new(Arc::clone(&kfd), env.interrupts);
        let live = Self {
            memory: Memory::new(Arc::clone(&kfd), env.fragments),
            handlers: Handlers::new(Arc::clone(&kfd), Arc::clone(&events)),
            events,
            queues: Queues::default(),
            copies: Copies::new(),
            clocks: Clocks::default(),
            faults: Faults::default(),
            slabs: Mutex::default(),
            hooks: Mutex::default(),
            env,
            kfd,
        };
        Ok((tables, live))
    }

    pub(crate) fn add_hook(&self, hook: Hook) {
        self.hooks.lock().push(hook);
    }

    /// Runs the shut-down hooks, last registered first, each without a lock held.
    pub(crate) fn run_hooks(&self) {
        loop {
            let hook = self.hooks.lock().pop();
            match hook {
                Some(hook) => hook(),
                None => return,
            }
        }
    }
}

/// Ends everything: threads first, then users of memory, then memory, then the device.
pub(crate) fn close(live: Arc<Live>) {
    live.faults.stop();
    live.handlers.stop();
    live.queues.destroy_all();
    live.copies.stop();
    loader::forget_all();
    live.memory.free_all();
    signal::wake_all(&live.events);
    slab::forget_all();
    live.slabs.lock().clear();
    live.events.close();
    drop(live);
}

/// Debuggers and the virtual device's fault reports find the loaded code through this object.
fn announce(kfd: &Kfd) {
    if let Err(error) = kfd.runtime_enable(loader::debug::object().address()) {
        tracing::warn!(%error, "debuggers will not see this process");
    }
}

fn device_facts(kfd: &Kfd, node: &Node) -> DeviceFacts {
    let apertures = kfd.apertures(node.id).unwrap_or_default();
    let high = |base: u64| u32::try_from(base >> 32).unwrap_or(0);
    let khz = kfd
        .device_info(node.id)
        .map_or(0, |info| info.gpu_counter_khz);
    DeviceFacts {
        gpu_id: node.gpu_id,
        lds_aperture_hi: high(apertures.lds_base),
        scratch_aperture_hi: high(apertures.scratch_base),
        timestamp_frequency: if khz == 0 {
            DEFAULT_TIMESTAMP_HZ
        } else {
            u64::from(khz) * 1000
        },
    }
}

/// The status says nothing of the cause; `hsa-api` names it for people.
fn report(error: hsakmt::Error) -> Error {
    tracing::error!(%error, "the device cannot be opened");
    Error::OutOfResources
}
