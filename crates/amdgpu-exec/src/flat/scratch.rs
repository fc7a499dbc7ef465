//! SCRATCH: lanes access their private memory by offset.

use crate::access::names::{self, with_load_kind, with_store_kind};
use crate::access::private::{Offsets, load, store};
use crate::context::Context;
use crate::step::{Body, Flow, HostLevel, Step, StepFn, select as level_of};
use crate::wave::{Chunk, Wave};

/// The function of an instruction.
pub(super) fn select(name: &str, level: HostLevel) -> Option<StepFn> {
    if let Some(kind) = names::load(name) {
        macro_rules! body {
            ($k:expr) => {
                level_of::<Load<{ $k }>>(level)
            };
        }
        return Some(with_load_kind!(kind, body));
    }
    let kind = names::store(name)?;
    macro_rules! body {
        ($k:expr) => {
            level_of::<Store<{ $k }>>(level)
        };
    }
    Some(with_store_kind!(kind, body))
}

/// Offsets of the lanes: scalar base plus immediate, plus the lane's own offset if there is one.
#[inline(always)]
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
    let mut offsets = Chunk::splat(base);
    for (offset, own) in offsets.0.iter_mut().zip(own.0) {
        *offset = offset.wrapping_add(own);
    }
    Offsets::PerLane(offsets)
}

struct Load<const K: u8>;

impl<const K: u8> Body for Load<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            let offsets = offsets(wave, step, chunk);
            let dst = usize::from(step.dst);
            let flow = load::<K, V3>(wave, context, &offsets, dst, chunk, exec);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

struct Store<const K: u8>;

impl<const K: u8> Body for Store<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            let offsets = offsets(wave, step, chunk);
            let data = usize::from(step.src[1]);
            let flow = store::<K, V3>(wave, context, &offsets, data, chunk, exec);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}
