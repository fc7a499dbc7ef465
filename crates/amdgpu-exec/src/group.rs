//! A resident workgroup: its waves, LDS and barrier.

use crate::api::{Stop, WaveLocation};
use crate::block;
use crate::context::Context;
use crate::interp::{Exit, Runner};
use crate::launch::{Extent, Launch};
use crate::memory::lds::Lds;
use crate::memory::scratch::Scratch;
use crate::order::Random;
use crate::poll::Activity;
use crate::residents::Seat;
use crate::wave::{Place, Wave};

/// Instructions a wave runs before others get a turn.
const QUANTUM: u64 = 10_000;
/// The shortest turn that a seed gives.
const SHORTEST_QUANTUM: u64 = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Ready,
    AtBarrier,
    Done,
}

/// A wave with its private memory.
pub(crate) struct Resident {
    wave: Wave,
    scratch: Scratch,
    state: State,
}

/// A list of waves that are moved by pointer: a wave has more than a KiB.
type Waves = Vec<Box<Resident>>;

/// Idle waves for reuse.
#[derive(Default)]
pub(crate) struct Spare {
    waves: Waves,
    lds: Vec<Lds>,
}

/// A workgroup that has started.
pub(crate) struct Group {
    waves: Waves,
    lds: Lds,
    running: usize,
    at_barrier: usize,
    /// Chooses the order of the waves and the length of their turns, if a seed asks for it.
    random: Option<Random>,
    /// Where the group is on the device, see [`crate::residents`].
    slot: u32,
}

/// How a group's turn ended.
#[derive(Debug)]
pub(crate) enum Turn {
    /// All waves ended.
    Done,
    /// Waves wait for something outside or used their time.
    Yield(Activity),
    /// The dispatch must end.
    Stop(Stop, WaveLocation),
}

impl Group {
    /// Creates the waves of a workgroup.
    pub(crate) fn start(
        launch: &Launch,
        extent: &Extent,
        seat: Seat,
        random: Option<Random>,
        spare: &mut Spare,
    ) -> Self {
        let mut lds = spare.lds.pop().unwrap_or_default();
        lds.reset(launch.lds_bytes);
        let mut waves = Vec::with_capacity(extent.waves as usize);
        waves.extend((0..extent.waves).map(|index| {
            let place = seat.place(index, launch.waves_per_group());
            Resident::start(launch, extent, index, place, spare)
        }));
        Self {
            running: waves.len(),
            waves,
            lds,
            at_barrier: 0,
            random,
            slot: seat.slot,
        }
    }

    /// What [`Seat::slot`] was.
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// Another worker goes on with the group: hints into the table of the first mean nothing.
    pub(crate) fn change_worker(&mut self) {
        for resident in &mut self.waves {
            resident.wave.resume_hint = block::UNKNOWN;
        }
    }

    /// Gives every wave a turn, and again as long as barriers complete.
    pub(crate) fn turn(&mut self, runner: &mut Runner<'_>, context: &mut Context<'_>) -> Turn {
        std::mem::swap(&mut self.lds, &mut context.lds);
        let turn = self.turn_with_lds(runner, context);
        std::mem::swap(&mut self.lds, &mut context.lds);
        turn
    }

    fn turn_with_lds(&mut self, runner: &mut Runner<'_>, context: &mut Context<'_>) -> Turn {
        let (instructions, charged) = (runner.instructions, runner.charged);
        let limit = charged + QUANTUM * self.waves.len() as u64;
        loop {
            let yielded = match self.round(runner, context) {
                Ok(yielded) => yielded,
                Err((stop, at)) => return Turn::Stop(stop, at),
            };
            if self.running == 0 {
                return Turn::Done;
            }
            if self.at_barrier == self.running {
                self.release();
                // A group may meet at barriers for ever, until another group sets a flag.
                if runner.charged >= limit {
                    return Turn::Yield(runner.activity_since(instructions, charged));
                }
            } else if let Some(activity) = yielded {
                return Turn::Yield(activity);
            }
        }
    }

    /// Runs each ready wave once; what those did that would go on, if there are any.
    fn round(
        &mut self,
        runner: &mut Runner<'_>,
        context: &mut Context<'_>,
    ) -> Result<Option<Activity>, (Stop, WaveLocation)> {
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.waves);
        }
        let mut yielded = None;
        for resident in &mut self.waves {
            if resident.state != State::Ready {
                continue;
            }
            let budget = self.random.as_mut().map_or(QUANTUM, |random| {
                SHORTEST_QUANTUM + random.below(QUANTUM - SHORTEST_QUANTUM)
            });
            match resident.run(runner, context, budget) {
                Exit::Yield(Activity::Busy) => yielded = Some(Activity::Busy),
                Exit::Yield(Activity::Waiting) => {
                    yielded = yielded.or(Some(Activity::Waiting));
                }
                Exit::Barrier => {
                    resident.state = State::AtBarrier;
                    self.at_barrier += 1;
                }
                Exit::End => {
                    resident.state = State::Done;
                    self.running -= 1;
                }
                Exit::Stop(stop, at) => return Err((stop, at)),
            }
        }
        Ok(yielded)
    }

    /// Everybody who still runs has arrived.
    fn release(&mut self) {
        self.at_barrier = 0;
        for resident in &mut self.waves {
            if resident.state == State::AtBarrier {
                resident.state = State::Ready;
            }
        }
    }

    /// Returns the parts for reuse.
    pub(crate) fn recycle(self, spare: &mut Spare) {
        spare.waves.extend(self.waves);
        spare.lds.push(self.lds);
    }
}

impl Resident {
    fn start(
        launch: &Launch,
        extent: &Extent,
        index: u32,
        place: Place,
        spare: &mut Spare,
    ) -> Box<Self> {
        let mut resident = spare.waves.pop().unwrap_or_else(|| {
            Box::new(Self {
                wave: Wave::new(launch.target, launch.lanes),
                scratch: Scratch::default(),
                state: State::Done,
            })
        });
        launch.start(&mut resident.wave, extent, index, place);
        resident
            .scratch
            .reset(launch.scratch_bytes, usize::from(launch.lanes));
        resident.state = State::Ready;
        resident
    }

    fn run(&mut self, runner: &mut Runner<'_>, context: &mut Context<'_>, budget: u64) -> Exit {
        std::mem::swap(&mut self.scratch, &mut context.scratch);
        let exit = runner.run(&mut self.wave, context, budget);
        std::mem::swap(&mut self.scratch, &mut context.scratch);
        exit
    }
}
