//! The interpreter as an [`Engine`], and what it keeps between dispatches.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::api::{Device, Dispatch, Engine, Memory, Outcome, WaveLocation};
use crate::block::{BlockTable, SharedBlocks};
use crate::group::Spare;
use crate::job::DispatchJob;
use crate::launch::Launch;
use crate::pool::Pool;
use crate::step::HostLevel;
use crate::sync::Gws;

/// How an [`Interpreter`] runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Threads that execute a dispatch, the calling one included; at least 1.
    pub threads: usize,
    /// Order in which groups begin and waves have turns, and the length of turns: 0 natural,
    /// otherwise chosen by this seed. With one thread every run with the same seed is the same.
    pub seed: u64,
}

impl Default for Config {
    /// All cores, natural order.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, seed: 0 }
    }
}

/// The reference engine.
pub struct Interpreter {
    pub(crate) config: Config,
    pub(crate) level: HostLevel,
    pub(crate) pool: Pool,
    /// Kept parts of threads that do not work at the moment.
    pub(crate) idle: Mutex<Vec<Worker>>,
    pub(crate) blocks: SharedBlocks,
    gws: Mutex<HashMap<u64, Arc<Gws>>>,
}

/// What one thread keeps between dispatches.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) table: BlockTable,
    pub(crate) spare: Spare,
}

impl Interpreter {
    /// An engine with its own worker threads (started when first needed, parked while idle).
    pub fn new(config: Config) -> Self {
        Self {
            config,
            level: HostLevel::detect(),
            pool: Pool::new(config.threads.max(1) - 1),
            idle: Mutex::default(),
            blocks: SharedBlocks::default(),
            gws: Mutex::default(),
        }
    }

    /// The same engine limited to a host level, for tests of the fall-back code.
    pub fn with_level(config: Config, level: HostLevel) -> Self {
        let level = level.min(HostLevel::detect());
        Self {
            level,
            ..Self::new(config)
        }
    }

    /// Threads that work for a dispatch: its own and the pool's.
    pub(crate) fn workers(&self) -> usize {
        self.pool.size() + 1
    }

    /// Global wave sync belongs to a queue; a cooperative launch initialises it in a dispatch of
    /// its own.
    fn gws(&self, queue_va: u64) -> Arc<Gws> {
        Arc::clone(self.gws.lock().entry(queue_va).or_default())
    }
}

impl Engine for Interpreter {
    fn run(&self, dispatch: &Dispatch, memory: &dyn Memory, device: &dyn Device) -> Outcome {
        let launch = match Launch::new(dispatch, memory) {
            Ok(launch) => launch,
            Err(stop) => {
                let at = WaveLocation {
                    pc: dispatch.kernel_object,
                    ..WaveLocation::default()
                };
                return Outcome::Stopped { stop, at };
            }
        };
        let gws = self.gws(dispatch.queue_va);
        let job = DispatchJob::new(self, dispatch, &launch, memory, device, &gws);
        job.run_caller();
        job.outcome()
    }
}
