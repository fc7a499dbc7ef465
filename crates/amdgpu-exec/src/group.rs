//! A resident workgroup: its waves, LDS and barrier.

use crate::api::{Stop, WaveLocation};
use crate::context::Context;
use crate::interp::{Exit, Runner};
use crate::launch::{Extent, Launch};
use crate::memory::lds::Lds;
use crate::memory::scratch::Scratch;
use crate::wave::{Place, Wave};

/// Instructions a wave runs before others get a turn.
const QUANTUM: u64 = 10_000;

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
}

/// How a group's turn ended.
#[derive(Debug)]
pub(crate) enum Turn {
    /// All waves ended.
    Done,
    /// Waves wait for something outside or used their time.
    Yield,
    /// The dispatch must end.
    Stop(Stop, WaveLocation),
}

impl Group {
    /// Creates the waves of a workgroup. `seed` other than zero changes their order.
    pub(crate) fn start(
        launch: &Launch,
        extent: &Extent,
        place: Place,
        seed: u64,
        spare: &mut Spare,
    ) -> Self {
        let mut lds = spare.lds.pop().unwrap_or_default();
        lds.reset(launch.lds_bytes);
        let mut group = Self {
            waves: Vec::new(),
            lds,
            running: 0,
            at_barrier: 0,
        };
        group.waves.reserve_exact(extent.waves as usize);
        for index in 0..extent.waves {
            let in_unit = place.unit_layer * launch.waves_per_group() + index;
            let place = Place {
                simd: in_unit % 4,
                wave_slot: in_unit / 4,
                ..place
            };
            let mut resident = spare.waves.pop().unwrap_or_else(|| {
                Box::new(Resident {
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
            group.waves.push(resident);
        }
        group.running = group.waves.len();
        shuffle(&mut group.waves, seed);
        group
    }

    /// Gives every wave a turn, and again as long as barriers complete.
    pub(crate) fn turn(&mut self, runner: &mut Runner<'_>, context: &mut Context<'_>) -> Turn {
        std::mem::swap(&mut self.lds, &mut context.lds);
        let turn = self.turn_with_lds(runner, context);
        std::mem::swap(&mut self.lds, &mut context.lds);
        turn
    }

    fn turn_with_lds(&mut self, runner: &mut Runner<'_>, context: &mut Context<'_>) -> Turn {
        loop {
            let mut yielded = false;
            for resident in &mut self.waves {
                if resident.state != State::Ready {
                    continue;
                }
                match resident.run(runner, context) {
                    Exit::Yield => yielded = true,
                    Exit::Barrier => {
                        resident.state = State::AtBarrier;
                        self.at_barrier += 1;
                    }
                    Exit::End => {
                        resident.state = State::Done;
                        self.running -= 1;
                    }
                    Exit::Stop(stop, at) => return Turn::Stop(stop, at),
                }
            }
            if self.running == 0 {
                return Turn::Done;
            }
            if self.at_barrier == self.running {
                self.release();
            } else if yielded {
                return Turn::Yield;
            }
        }
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
    fn run(&mut self, runner: &mut Runner<'_>, context: &mut Context<'_>) -> Exit {
        std::mem::swap(&mut self.scratch, &mut context.scratch);
        let exit = runner.run(&mut self.wave, context, QUANTUM);
        std::mem::swap(&mut self.scratch, &mut context.scratch);
        exit
    }
}

/// Fisher-Yates with a small generator; seed 0 keeps the order.
fn shuffle<T>(items: &mut [T], mut seed: u64) {
    if seed == 0 {
        return;
    }
    for i in (1..items.len()).rev() {
        seed = seed
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        items.swap(i, (seed >> 33) as usize % (i + 1));
    }
}
