//! The interpreter as an [`Engine`]: dispatches, workers and resident groups.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::api::{Device, Dispatch, Engine, Memory, Outcome, Stats, Stop, WaveLocation};
use crate::block::{self, BlockTable, SharedBlocks};
use crate::context::Context;
use crate::group::{Group, Spare, Turn};
use crate::host;
use crate::interp::Runner;
use crate::launch::Launch;
use crate::memory::Port;
use crate::memory::lds::Lds;
use crate::memory::scratch::Scratch;
use crate::pool::{Pool, Work};
use crate::step::HostLevel;
use crate::sync::Gws;
use crate::wave::Place;

/// Waves a compute unit holds at most: 8 on each of 4 SIMDs (CDNA2); RDNA2 holds as many per unit.
const WAVES_PER_UNIT: u64 = 32;
/// Remaining work that makes waking helpers worth its cost.
const WORTH_WAKING: Duration = Duration::from_micros(20);

/// How an [`Interpreter`] runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Threads that execute a dispatch, the calling one included; at least 1.
    pub threads: usize,
    /// Order of waves and groups: 0 natural, otherwise permuted by this seed. With one thread
    /// every run with the same seed is the same.
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
    config: Config,
    level: HostLevel,
    pool: Pool,
    workers: Mutex<Vec<Worker>>,
    blocks: SharedBlocks,
    gws: Mutex<HashMap<u64, Arc<Gws>>>,
}

/// What one thread keeps between dispatches.
#[derive(Default)]
struct Worker {
    table: BlockTable,
    spare: Spare,
}

impl Interpreter {
    /// An engine with its own worker threads (started when first needed, parked while idle).
    pub fn new(config: Config) -> Self {
        Self {
            config,
            level: HostLevel::detect(),
            pool: Pool::new(config.threads.max(1) - 1),
            workers: Mutex::default(),
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

/// One dispatch in execution.
struct DispatchJob<'a> {
    engine: &'a Interpreter,
    launch: &'a Launch,
    memory: &'a dyn Memory,
    device: &'a dyn Device,
    gws: &'a Gws,
    epoch: u64,
    groups: u64,
    /// Resident groups of a worker before new ones wait.
    resident_limit: u64,
    compute_units: u32,
    shader_engines: u32,
    next_group: AtomicU64,
    stopping: AtomicBool,
    stopped: Mutex<Option<(Stop, WaveLocation)>>,
    instructions: AtomicU64,
    waves: AtomicU64,
}

impl<'a> DispatchJob<'a> {
    fn new(
        engine: &'a Interpreter,
        dispatch: &Dispatch,
        launch: &'a Launch,
        memory: &'a dyn Memory,
        device: &'a dyn Device,
        gws: &'a Gws,
    ) -> Self {
        let units = u64::from(dispatch.compute_units.max(1));
        let per_unit = (WAVES_PER_UNIT / u64::from(launch.waves_per_group())).max(1);
        let limit = if dispatch.cooperative {
            u64::MAX
        } else {
            units * per_unit
        };
        Self {
            engine,
            launch,
            memory,
            device,
            gws,
            epoch: block::next_epoch(),
            groups: launch.group_count(),
            resident_limit: limit,
            compute_units: dispatch.compute_units.max(1),
            shader_engines: dispatch.shader_engines.max(1),
            next_group: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            stopped: Mutex::new(None),
            instructions: AtomicU64::new(0),
            waves: AtomicU64::new(0),
        }
    }

    fn outcome(self) -> Outcome {
        if let Some((stop, at)) = self.stopped.into_inner() {
            return Outcome::Stopped { stop, at };
        }
        Outcome::Complete(Stats {
            wave_instructions: self.instructions.into_inner(),
            waves: self.waves.into_inner(),
            workgroups: self.groups,
        })
    }

    /// The calling thread's part: it works itself, and calls helpers once that pays.
    fn run_caller(&self) {
        let mut published = None;
        let begin = Instant::now();
        let after_turn = || {
            let left = self.left();
            if published.is_some() || left == 0 || self.engine.pool.size() == 0 {
                return;
            }
            let helpers = usize::try_from(left).unwrap_or(usize::MAX);
            let elapsed = begin.elapsed();
            if elapsed.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX)) >= WORTH_WAKING {
                // SAFETY: `published` is dropped at the end of this function, before `self`.
                published = Some(unsafe { self.engine.pool.publish(self, helpers) });
            }
        };
        self.work(0, after_turn);
        drop(published);
    }

    /// Groups nobody has begun.
    fn left(&self) -> u64 {
        // ORDERING: a hint.
        self.groups
            .saturating_sub(self.next_group.load(Ordering::Relaxed))
    }

    fn record(&self, stop: Stop, at: WaveLocation) {
        self.stopped.lock().get_or_insert((stop, at));
        self.stopping.store(true, Ordering::Release);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Runs groups until none is left to begin. `after_turn` is called after each turn of a group.
    fn work(&self, number: usize, mut after_turn: impl FnMut()) {
        let mut worker = self.engine.workers.lock().pop().unwrap_or_default();
        {
            let _mode = host::FloatEnvironment::enter();
            self.work_with(&mut worker, number, &mut after_turn);
        }
        self.engine.workers.lock().push(worker);
    }

    fn work_with(&self, worker: &mut Worker, number: usize, after_turn: &mut dyn FnMut()) {
        let mut context = self.context();
        let Worker { table, spare } = worker;
        let mut runner = Runner {
            table,
            shared: &self.engine.blocks,
            level: self.engine.level,
            resumed: block::UNKNOWN,
            instructions: 0,
        };
        let mut residents = Residents {
            groups: VecDeque::new(),
            number,
            spare,
        };
        while !self.is_stopping() {
            let Some(mut group) = residents.next(self) else {
                break;
            };
            match group.turn(&mut runner, &mut context) {
                Turn::Done => {
                    self.device.memory_written();
                    self.poll_cancelled();
                    group.recycle(residents.spare);
                }
                Turn::Yield => {
                    residents.groups.push_back(group);
                    self.poll_cancelled();
                    residents.widen(self);
                }
                Turn::Stop(stop, at) => self.record(stop, at),
            }
            after_turn();
        }
        for group in residents.groups.drain(..) {
            group.recycle(residents.spare);
        }
        // ORDERING: read after all helpers have left, which synchronises through the pool's lock.
        self.instructions
            .fetch_add(runner.instructions, Ordering::Relaxed);
    }

    fn poll_cancelled(&self) {
        if self.device.cancelled() {
            self.record(Stop::Killed, WaveLocation::default());
        }
    }

    fn context(&self) -> Context<'a> {
        Context {
            device: self.device,
            lds: Lds::default(),
            scratch: Scratch::default(),
            port: Port::new(self.memory),
            launch: self.launch,
            gws: self.gws,
            stopped: None,
            code_epoch: self.epoch,
        }
    }

    /// Begins the next group, if there is one.
    fn begin(&self, worker: usize, layer: usize, spare: &mut Spare) -> Option<Group> {
        // ORDERING: only uniqueness counts; the dispatch's data was published by the pool's lock.
        let number = self.next_group.fetch_add(1, Ordering::Relaxed);
        if number >= self.groups {
            return None;
        }
        let extent = self.launch.extent(number);
        // ORDERING: a counter read at the end.
        self.waves
            .fetch_add(u64::from(extent.waves), Ordering::Relaxed);
        let place = self.place(worker, layer);
        let seed = self.engine.config.seed.wrapping_mul(number.wrapping_add(1));
        Some(Group::start(self.launch, &extent, place, seed, spare))
    }

    /// A compute unit for the `layer`-th resident group of a worker.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "remainder of a 32-bit divisor"
    )]
    fn place(&self, worker: usize, layer: usize) -> Place {
        let slot = layer * (self.engine.pool.size() + 1) + worker;
        let units = self.compute_units as usize;
        Place {
            compute_unit: (slot % units) as u32,
            unit_layer: (slot / units) as u32,
            shader_engines: self.shader_engines,
            ..Place::default()
        }
    }
}

impl Work for DispatchJob<'_> {
    fn help(&self, worker: usize) {
        self.work(worker, || {});
    }

    fn wants_help(&self) -> bool {
        self.left() > 0 && !self.is_stopping()
    }
}

/// The groups that a worker has begun and not finished.
struct Residents<'s> {
    groups: VecDeque<Group>,
    number: usize,
    spare: &'s mut Spare,
}

impl Residents<'_> {
    /// The group whose turn it is: one that waits, otherwise a new one.
    fn next(&mut self, job: &DispatchJob<'_>) -> Option<Group> {
        self.groups
            .pop_front()
            .or_else(|| job.begin(self.number, 0, self.spare))
    }

    /// After a group let go, others may hold what it waits for: begin one more, to run next.
    fn widen(&mut self, job: &DispatchJob<'_>) {
        let layer = self.groups.len();
        if (layer as u64) < job.resident_limit
            && let Some(group) = job.begin(self.number, layer, self.spare)
        {
            self.groups.push_front(group);
        } else if layer == 1 {
            // Alone and waiting: what it waits for may need this core.
            std::thread::yield_now();
        }
    }
}
