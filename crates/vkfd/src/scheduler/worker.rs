//! The loop of a queue's thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hsakmt_sys::device::Errno;

use super::control::{Control, Mode};
use super::doze::{Ticket, prepare_thread};
use super::waiters::Waiting;
use super::{Processor, Step};
use crate::queue::Doorbell;

/// How long the thread looks for more after activity before it sleeps. Covers the time in which a
/// host that waits for one completion sends the next packet.
const SPIN: Duration = Duration::from_micros(40);
/// Part of it without giving up the core, which the host may need: both may share one.
const SPIN_HARD: Duration = Duration::from_micros(2);
/// First sleep of a packet that waits for memory.
const FIRST_NAP: Duration = Duration::from_micros(1);
/// Longest sleep of a waiting packet: what a plain store of the host may take to be seen.
const LONGEST_NAP: Duration = Duration::from_millis(1);
/// After this much waiting the naps grow to [`LAZY_NAP`], so that a queue left waiting for hours
/// costs well below one percent of a processor.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest sleep of a packet that waited for [`PATIENCE`].
const LAZY_NAP: Duration = Duration::from_millis(4);

/// Starts the thread of a queue.
pub(super) fn spawn(
    name: String,
    control: Arc<Control>,
    doorbell: Doorbell,
    processor: Box<dyn Processor>,
) -> Result<JoinHandle<()>, Errno> {
    let body = move || {
        prepare_thread();
        Worker {
            control,
            doorbell,
            processor,
            rest: Rest::default(),
        }
        .run();
    };
    std::thread::Builder::new()
        .name(name)
        .spawn(body)
        .map_err(|e| Errno(e.raw_os_error().unwrap_or(libc::EAGAIN)))
}

struct Worker {
    control: Arc<Control>,
    doorbell: Doorbell,
    processor: Box<dyn Processor>,
    rest: Rest,
}

/// What the thread did since its last packet.
#[derive(Default)]
struct Rest {
    since: Option<Instant>,
    /// The doorbell was told that the queue goes to sleep.
    announced: bool,
    nap: Duration,
    waiting: Option<Waiting>,
}

impl Worker {
    fn run(mut self) {
        loop {
            let ticket = self.control.ticket();
            match self.control.mode() {
                Mode::Run => self.turn(ticket),
                Mode::Pause => self.park(ticket),
                Mode::Stop => break,
            }
        }
        self.control.set_busy(false);
        self.control.set_parked(true);
    }

    fn park(&mut self, ticket: Ticket) {
        self.rest = Rest::default();
        self.control.set_parked(true);
        self.control.sleep(ticket, None);
        self.control.set_parked(false);
    }

    fn turn(&mut self, ticket: Ticket) {
        match self.step() {
            Step::Progress => self.active(),
            Step::Idle => self.idle(ticket),
            Step::Waiting => self.wait(ticket),
            Step::Halted => {
                self.control.set_busy(false);
                self.control.sleep(ticket, None);
            }
        }
    }

    fn step(&mut self) -> Step {
        let Self {
            control, processor, ..
        } = self;
        catch_unwind(AssertUnwindSafe(|| processor.step(control))).unwrap_or_else(|_| {
            processor.abandon();
            Step::Halted
        })
    }

    fn active(&mut self) {
        if self.rest.announced {
            self.control.set_busy(true);
        }
        if self.rest.since.is_some() {
            self.rest = Rest::default();
        }
    }

    /// True while the time to spin is not used up.
    fn spin(&mut self) -> bool {
        let spun = self.rest.since.get_or_insert_with(Instant::now).elapsed();
        if spun >= SPIN_HARD {
            std::thread::yield_now();
        }
        for _ in 0..16 {
            std::hint::spin_loop();
        }
        spun < SPIN
    }

    fn idle(&mut self, ticket: Ticket) {
        if self.rest.waiting.is_some() {
            self.rest = Rest::default();
            self.control.set_busy(true);
        }
        if self.spin() {
            return;
        }
        if !self.rest.announced {
            // From here on a plain store to the doorbell must call `wake`; one that came before is
            // found by the next look, so the sleep comes a turn later.
            self.rest.announced = true;
            self.control.set_busy(false);
            self.doorbell.0.arm();
            return;
        }
        self.control.sleep(ticket, None);
        // Whoever woke the thread has work for it: spin again before the next sleep.
        self.rest = Rest::default();
        self.control.set_busy(true);
    }

    fn wait(&mut self, ticket: Ticket) {
        if self.rest.waiting.is_none() {
            self.rest = Rest::default();
            self.rest.waiting = Some(Waiting::enter(&self.control));
            return;
        }
        if self.spin() {
            return;
        }
        self.control.set_busy(false);
        self.rest.announced = true;
        let nap = self.next_nap();
        self.control.sleep(ticket, Some(nap));
    }

    fn next_nap(&mut self) -> Duration {
        let waited = self
            .rest
            .since
            .map_or(Duration::ZERO, |since| since.elapsed());
        let longest = if waited > PATIENCE {
            LAZY_NAP
        } else {
            LONGEST_NAP
        };
        self.rest.nap = (self.rest.nap * 2).clamp(FIRST_NAP, longest);
        self.rest.nap
    }
}
