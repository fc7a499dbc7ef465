//! SCRATCH: lanes access their private memory by offset.

use crate::access::names::{self, with_load_kind, with_store_kind};
use crate::access::private::{Offsets, load, store};
use crate::context::Context;
use crate::step::{Flow, HostLevel, Step, StepFn};
use crate::wave::{CHUNK_LANES, Wave};

/// The function of an instruction.
pub(super) fn select(name: &str, _level: HostLevel) -> Option<StepFn> {
    if let Some(kind) = names::load(name) {
        macro_rules! body {
            ($k:expr) => {
                run_load::<{ $k }> as StepFn
            };
        }
        return Some(with_load_kind!(kind, body));
    }
    let kind = names::store(name)?;
    macro_rules! body {
        ($k:expr) => {
            run_store::<{ $k }> as StepFn
        };
    }
    Some(with_store_kind!(kind, body))
}

/// Offsets of the lanes: scalar base plus immediate, plus the lane's own offset if there is one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "offsets are taken modulo 2^32"
)]
fn offsets(wave: &Wave, step: &Step, chunk: usize) -> Offsets {
    let mut base = step.constant[0] as u32;
    if step.aux & 2 != 0 {
        base = base.wrapping_add(wave.scalar(step.src[2] as u8));
    }
    if step.aux & 1 == 0 {
        return Offsets::Uniform(base);
    }
    let own = wave.chunk(usize::from(step.src[0]) + chunk);
    let mut offsets = [0; CHUNK_LANES];
    for (offset, own) in offsets.iter_mut().zip(own.0) {
        *offset = base.wrapping_add(own);
    }
    Offsets::PerLane(offsets)
}

fn run_load<const K: u8>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        let offsets = offsets(wave, step, chunk);
        let flow = load::<K>(wave, context, &offsets, usize::from(step.dst), chunk, exec);
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}

fn run_store<const K: u8>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        let offsets = offsets(wave, step, chunk);
        let flow = store::<K>(
            wave,
            context,
            &offsets,
            usize::from(step.src[1]),
            chunk,
            exec,
        );
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}
