//! One dispatch in execution: which groups have begun, who runs them, and how it ends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::api::{Device, Dispatch, Memory, Outcome, Stats, Stop, WaveLocation};
use crate::block;
use crate::context::Context;
use crate::engine::{Interpreter, Worker};
use crate::group::{Group, Spare, Turn};
use crate::host;
use crate::interp::Runner;
use crate::launch::Launch;
use crate::memory::Port;
use crate::memory::lds::Lds;
use crate::memory::scratch::Scratch;
use crate::order::{GroupOrder, Random};
use crate::poll::Activity;
use crate::pool::Work;
use crate::residents::{Seat, Seats, Shelves};
use crate::sync::Gws;

/// Waves a compute unit holds at most: 8 on each of 4 SIMDs (CDNA2); RDNA2 holds as many per unit.
const WAVES_PER_UNIT: u64 = 32;
/// Remaining work that makes waking helpers worth its cost.
const WORTH_WAKING: Duration = Duration::from_micros(20);
/// Turns without a sign of waiting after which one more group begins all the same, for each group
/// that is resident: a wave may wait in a way that [`crate::poll`] does not see.
const PATIENCE: usize = 16;
/// Turns in which all groups only waited before the worker rests.
const FRUITLESS_TURNS: usize = 4096;
/// A rest: short beside what those wait for who waited that long.
const REST: Duration = Duration::from_micros(50);

/// One dispatch in execution.
pub(crate) struct DispatchJob<'a> {
    engine: &'a Interpreter,
    launch: &'a Launch,
    memory: &'a dyn Memory,
    device: &'a dyn Device,
    gws: &'a Gws,
    epoch: u64,
    groups: u64,
    order: GroupOrder,
    shelves: Shelves,
    /// Resident groups of a worker before new ones wait.
    resident_limit: u64,
    compute_units: u32,
    shader_engines: u32,
    next_position: AtomicU64,
    stopping: AtomicBool,
    stopped: Mutex<Option<(Stop, WaveLocation)>>,
    instructions: AtomicU64,
    waves: AtomicU64,
}

impl<'a> DispatchJob<'a> {
    pub(crate) fn new(
        engine: &'a Interpreter,
        dispatch: &Dispatch,
        launch: &'a Launch,
        memory: &'a dyn Memory,
        device: &'a dyn Device,
        gws: &'a Gws,
    ) -> Self {
        let resident_limit = resident_limit(dispatch, launch);
        let groups = launch.group_count();
        Self {
            engine,
            launch,
            memory,
            device,
            gws,
            epoch: block::next_epoch(),
            groups,
            order: GroupOrder::new(engine.config.seed, groups, resident_limit),
            shelves: Shelves::new(engine.workers()),
            resident_limit,
            compute_units: dispatch.compute_units.max(1),
            shader_engines: dispatch.shader_engines.max(1),
            next_position: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            stopped: Mutex::new(None),
            instructions: AtomicU64::new(0),
            waves: AtomicU64::new(0),
        }
    }

    pub(crate) fn outcome(self) -> Outcome {
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
    pub(crate) fn run_caller(&self) {
        let mut published = None;
        let begin = Instant::now();
        let after_turn = || {
            let left = self.available();
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

    /// Groups that a worker without one could run.
    fn available(&self) -> u64 {
        // ORDERING: a hint.
        let begun = self.next_position.load(Ordering::Relaxed);
        self.groups.saturating_sub(begun) + self.shelves.total() as u64
    }

    fn record(&self, stop: Stop, at: WaveLocation) {
        self.stopped.lock().get_or_insert((stop, at));
        self.stopping.store(true, Ordering::Release);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Runs groups until none is left to run. `after_turn` is called after each turn of a group.
    fn work(&self, number: usize, mut after_turn: impl FnMut()) {
        let mut worker = self.engine.idle.lock().pop().unwrap_or_default();
        {
            let _mode = host::FloatEnvironment::enter();
            self.work_with(&mut worker, number, &mut after_turn);
        }
        self.engine.idle.lock().push(worker);
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
            charged: 0,
        };
        let mut bench = Bench {
            number,
            spare,
            seats: Seats::default(),
            next: None,
            busy_turns: 0,
            fruitless_turns: 0,
        };
        while !self.is_stopping() {
            let Some(mut group) = bench.next(self) else {
                break;
            };
            match group.turn(&mut runner, &mut context) {
                Turn::Done => {
                    self.device.memory_written();
                    self.poll_cancelled();
                    bench.finish(group);
                }
                Turn::Yield(activity) => {
                    self.poll_cancelled();
                    bench.put(self, group, activity);
                }
                Turn::Stop(stop, at) => self.record(stop, at),
            }
            after_turn();
        }
        bench.clear(self);
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

    /// The number of a group that has not begun, if there is one.
    fn claim(&self) -> Option<u64> {
        // ORDERING: only uniqueness counts; the dispatch's data was published by the pool's lock.
        let position = self.next_position.fetch_add(1, Ordering::Relaxed);
        (position < self.groups).then(|| self.order.group(position))
    }

    /// Begins a group at `slot`.
    fn begin(&self, number: u64, slot: u32, spare: &mut Spare) -> Group {
        let extent = self.launch.extent(number);
        // ORDERING: a counter read at the end.
        self.waves
            .fetch_add(u64::from(extent.waves), Ordering::Relaxed);
        let seat = Seat::new(slot, self.compute_units, self.shader_engines);
        let seed = self.engine.config.seed;
        let random = (seed != 0).then(|| Random::new(seed, number));
        Group::start(self.launch, &extent, seat, random, spare)
    }
}

/// Groups of the device's size can wait beside each other; a cooperative grid does as a whole.
fn resident_limit(dispatch: &Dispatch, launch: &Launch) -> u64 {
    if dispatch.cooperative {
        return u64::MAX;
    }
    let per_unit = WAVES_PER_UNIT / u64::from(launch.waves_per_group());
    u64::from(dispatch.compute_units.max(1)) * per_unit.max(1)
}

impl Work for DispatchJob<'_> {
    fn help(&self, worker: usize) {
        self.work(worker, || {});
    }

    fn wants_help(&self) -> bool {
        self.available() > 0 && !self.is_stopping()
    }

    /// The group that was being run is lost.
    fn abandon(&self) {
        let stop = Stop::Unsupported {
            text: "the engine failed while it ran a workgroup".into(),
        };
        self.record(stop, WaveLocation::default());
    }
}

/// A worker's view of the groups while it works for a dispatch.
struct Bench<'s> {
    number: usize,
    spare: &'s mut Spare,
    seats: Seats,
    /// What to run before anything on the shelf.
    next: Option<Group>,
    /// Turns since a group began in which none was seen to wait.
    busy_turns: usize,
    /// Turns since a group computed.
    fruitless_turns: usize,
}

impl Bench<'_> {
    /// The group whose turn it is: one that has begun, a new one, another worker's.
    fn next(&mut self, job: &DispatchJob<'_>) -> Option<Group> {
        self.next
            .take()
            .or_else(|| job.shelves.take(self.number))
            .or_else(|| self.begin(job))
            .or_else(|| job.shelves.steal(self.number))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most 1024 worker threads"
    )]
    fn begin(&mut self, job: &DispatchJob<'_>) -> Option<Group> {
        let number = job.claim()?;
        let workers = job.engine.workers() as u32;
        let slot = self.seats.take(self.number as u32, workers);
        Some(job.begin(number, slot, self.spare))
    }

    fn finish(&mut self, group: Group) {
        self.fruitless_turns = 0;
        self.seats.give_back(group.slot());
        group.recycle(self.spare);
    }

    /// A group let go. Others may hold what it waits for: those on the shelf, or one more that
    /// begins now and runs next.
    fn put(&mut self, job: &DispatchJob<'_>, group: Group, activity: Activity) {
        let others = job.shelves.len(self.number);
        self.next = self
            .wants_more(job, others, activity)
            .then(|| self.begin(job))
            .flatten();
        if self.next.is_none() {
            self.rest(others);
        }
        if others == 0 && self.next.is_none() {
            self.next = Some(group);
        } else {
            job.shelves.put(self.number, group, activity);
        }
    }

    /// Long computations need not stand in each other's way, waiting ones must not.
    fn wants_more(&mut self, job: &DispatchJob<'_>, others: usize, activity: Activity) -> bool {
        match activity {
            Activity::Waiting => self.fruitless_turns += 1,
            Activity::Busy => {
                self.fruitless_turns = 0;
                self.busy_turns += 1;
            }
        }
        let wanted = activity == Activity::Waiting || self.busy_turns > PATIENCE * (others + 1);
        if wanted {
            self.busy_turns = 0;
        }
        wanted && (others as u64) < job.resident_limit
    }

    /// All wait: what they wait for may need this core, or take its time.
    fn rest(&self, others: usize) {
        if self.fruitless_turns > FRUITLESS_TURNS.max(8 * others) {
            std::thread::sleep(REST);
        } else if self.fruitless_turns > others {
            std::thread::yield_now();
        }
    }

    /// Takes apart what was left when the dispatch stopped.
    fn clear(&mut self, job: &DispatchJob<'_>) {
        let left =
            std::iter::from_fn(|| self.next.take().or_else(|| job.shelves.take(self.number)));
        for group in left {
            group.recycle(self.spare);
        }
    }
}
