//! The interpreter loop: runs one wave until it has to let go.

use crate::api::{Stop, WaveLocation};
use crate::block::{Block, BlockTable, Key, SharedBlocks};
use crate::context::Context;
use crate::poll::Activity;
use crate::step::{Flow, HostLevel, TranslateEnv};
use crate::wave::{Wave, mode};

/// Why a wave let go.
#[derive(Debug)]
pub(crate) enum Exit {
    /// Its turn is used up, or it sleeps.
    Yield(Activity),
    /// It waits for its workgroup.
    Barrier,
    /// It ended.
    End,
    /// The dispatch must end.
    Stop(Stop, WaveLocation),
}

/// What a worker keeps between dispatches to run waves.
pub(crate) struct Runner<'e> {
    pub(crate) table: &'e mut BlockTable,
    pub(crate) shared: &'e SharedBlocks,
    pub(crate) level: HostLevel,
    /// Entry that a wave was last resumed at.
    pub(crate) resumed: u32,
    /// Instructions executed.
    pub(crate) instructions: u64,
    /// What they were charged, see [`crate::poll`].
    pub(crate) charged: u64,
}

impl Runner<'_> {
    /// Runs `wave` until it is charged about `budget` instructions.
    pub(crate) fn run(&mut self, wave: &mut Wave, context: &mut Context<'_>, budget: u64) -> Exit {
        let (instructions, charged) = (self.instructions, self.charged);
        let mut index = match self.resume(wave, context) {
            Ok(index) => index,
            Err(stop) => return self.stop_at_entry(wave, stop),
        };
        loop {
            let entry = &self.table.entries[index as usize];
            let block = &*entry.block;
            self.instructions += u64::from(block.instructions);
            self.charged += u64::from(block.cost);
            let flow = match run_steps(block, wave, context) {
                Ok(flow) => flow,
                Err(pc) => return stopped(wave, context, pc),
            };
            let hint = match flow {
                Flow::Next => {
                    wave.pc = block.end;
                    entry.next
                }
                Flow::Branch => entry.taken,
                Flow::Yield => {
                    wave.resume_hint = index;
                    return Exit::Yield(Activity::Waiting);
                }
                Flow::Barrier => {
                    wave.resume_hint = index;
                    return Exit::Barrier;
                }
                Flow::End | Flow::Stop => return Exit::End,
            };
            if context.port.refresh() {
                context.forget_code();
            }
            if self.charged - charged >= budget {
                wave.resume_hint = index;
                return Exit::Yield(self.activity_since(instructions, charged));
            }
            index = match self.follow(index, hint, flow, wave, context) {
                Ok(next) => next,
                Err(stop) => return self.stop_at_entry(wave, stop),
            };
        }
    }

    /// What was done since these counts were taken.
    pub(crate) fn activity_since(&self, instructions: u64, charged: u64) -> Activity {
        Activity::of(self.instructions - instructions, self.charged - charged)
    }

    /// The entry that follows entry `from`, by its link if that still leads to `wave.pc`.
    #[inline(always)]
    fn follow(
        &mut self,
        from: u32,
        hint: u32,
        flow: Flow,
        wave: &Wave,
        context: &mut Context<'_>,
    ) -> Result<u32, Stop> {
        let mode = wave.mode & mode::TRANSLATION;
        if self.table.fits(hint, wave.pc, mode)
            && self.table.entries[hint as usize].epoch == context.code_epoch
        {
            return Ok(hint);
        }
        let next = self.enter(wave, context)?;
        if let Some(entry) = self.table.entries.get_mut(from as usize) {
            if flow == Flow::Next {
                entry.next = next;
            } else {
                entry.taken = next;
            }
        }
        Ok(next)
    }

    /// The entry to go on with: what followed last time on the block that the wave left, or where
    /// the wave before this one began.
    fn resume(&mut self, wave: &Wave, context: &mut Context<'_>) -> Result<u32, Stop> {
        let left = self.table.entries.get(wave.resume_hint as usize);
        let hints = left.map_or([self.resumed; 2], |left| [left.next, left.taken]);
        let mode = wave.mode & mode::TRANSLATION;
        for hint in hints {
            if self.table.fits(hint, wave.pc, mode)
                && self.table.entries[hint as usize].epoch == context.code_epoch
            {
                return Ok(hint);
            }
        }
        let index = self.enter(wave, context)?;
        match self.table.entries.get_mut(wave.resume_hint as usize) {
            Some(left) => left.next = index,
            None => self.resumed = index,
        }
        Ok(index)
    }

    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "32 or 64 lanes")]
    fn enter(&mut self, wave: &Wave, context: &mut Context<'_>) -> Result<u32, Stop> {
        let env = TranslateEnv {
            target: wave.target,
            lanes: wave.lanes() as u8,
            level: self.level,
            mode: wave.mode & mode::TRANSLATION,
        };
        let key = Key { pc: wave.pc, env };
        self.table
            .find(&key, context.code_epoch, &mut context.port, self.shared)
    }

    #[cold]
    fn stop_at_entry(&self, wave: &Wave, stop: Stop) -> Exit {
        Exit::Stop(stop, location(wave, 0, wave.pc))
    }
}

/// Runs a block's steps; the address of the step that stopped the wave is the error.
///
/// Only the last step may change the flow. The others are run by a loop of their own, which has one
/// well predicted branch per step.
#[inline(always)]
fn run_steps(block: &Block, wave: &mut Wave, context: &mut Context<'_>) -> Result<Flow, u64> {
    let Some((last, body)) = block.steps.split_last() else {
        return Ok(Flow::Next);
    };
    for step in body {
        // SAFETY: blocks are translated for the level of this host.
        if unsafe { (step.run)(wave, context, step) } != Flow::Next {
            return Err(step.pc);
        }
    }
    // SAFETY: blocks are translated for the level of this host.
    let flow = unsafe { (last.run)(wave, context, last) };
    if flow == Flow::Stop {
        Err(last.pc)
    } else {
        Ok(flow)
    }
}

#[cold]
fn stopped(wave: &Wave, context: &mut Context<'_>, pc: u64) -> Exit {
    // PANIC: not reached without a reason: `Flow::Stop` only comes from `Context::stop`.
    let (stop, lane) = context.stopped.take().unwrap_or((
        Stop::Unsupported {
            text: "change of flow inside a block".into(),
        },
        0,
    ));
    Exit::Stop(stop, location(wave, lane, pc))
}

fn location(wave: &Wave, lane: u32, pc: u64) -> WaveLocation {
    WaveLocation {
        workgroup: wave.place.workgroup,
        wave: wave.place.wave,
        lane,
        pc,
    }
}
