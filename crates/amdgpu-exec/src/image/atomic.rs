//! Atomics on texels of 32 and 64 bits.

use amdgpu_isa::Inst;

use super::load::place;
use super::{Refused, Result, descriptor, each_lane, parts};
use crate::access::names::{self, with_atomic};
use crate::access::{Global, Space};
use crate::context::Context;
use crate::step::{Flow, Step, StepFn};
use crate::wave::Wave;

/// The body of an atomic; DMASK says how many registers the data has.
pub(super) fn select(inst: &Inst) -> Option<StepFn> {
    let name = inst.op.name().strip_prefix("image_")?;
    let (operation, _) = names::atomic(common(name))?;
    let wide = match (inst.mods.format, name.ends_with("cmpswap")) {
        (1, false) | (3, true) => false,
        (3, false) | (15, true) => true,
        _ => return None,
    };
    macro_rules! body {
        ($op:expr, $wide:expr) => {
            atomic::<$op, $wide> as StepFn
        };
    }
    Some(with_atomic!(operation, wide, body))
}

/// gfx12 names types where the older generations' names are shared with buffers.
fn common(name: &str) -> &str {
    match name {
        "atomic_add_uint" => "atomic_add",
        "atomic_sub_uint" => "atomic_sub",
        "atomic_min_int" => "atomic_smin",
        "atomic_min_uint" => "atomic_umin",
        "atomic_max_int" => "atomic_smax",
        "atomic_max_uint" => "atomic_umax",
        "atomic_inc_uint" => "atomic_inc",
        "atomic_dec_uint" => "atomic_dec",
        "atomic_add_flt" => "atomic_add_f32",
        "atomic_min_flt" => "atomic_fmin",
        "atomic_max_flt" => "atomic_fmax",
        other => other,
    }
}

fn atomic<const OP: u8, const WIDE: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let parts = parts(step);
    let bytes = if WIDE { 8 } else { 4 };
    let image = match descriptor::read(wave, step) {
        Ok(Some(image)) if image.format.bytes() != bytes => {
            let text = format!("texels of {} bytes", image.format.bytes());
            return Refused::Unsupported(text).stop(context, step, 0);
        }
        Ok(image) => image,
        Err(refused) => return refused.stop(context, step, 0),
    };
    each_lane(wave, context, step, |wave, context, lane| {
        let address = match image {
            Some(image) => place(wave, step, parts, &image, lane)?,
            None => None,
        };
        let old = match address {
            Some(address) => modify::<OP, WIDE>(wave, context, step, lane, address)?,
            None => 0,
        };
        if step.inst.mods.glc {
            put::<WIDE>(wave, step, lane, old);
        }
        Ok(())
    })
}

/// Replaces the value at an address; the value to compare with follows the new one.
fn modify<const OP: u8, const WIDE: bool>(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    lane: usize,
    address: u64,
) -> Result<u64> {
    let word = |index: u16| wave.lane(step.dst + index, lane);
    let pair = |index: u16| u64::from(word(index)) | u64::from(word(index + 1)) << 32;
    let compares = parts(step).exchange;
    if WIDE {
        let compare = if compares { pair(2) } else { 0 };
        Ok(Global::atomic64::<OP>(
            context,
            step.pc,
            address,
            lane,
            pair(0),
            compare,
        )?)
    } else {
        let compare = if compares { word(1) } else { 0 };
        let old = Global::atomic32::<OP>(context, step.pc, address, lane, word(0), compare)?;
        Ok(u64::from(old))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a value into its halves"
)]
fn put<const WIDE: bool>(wave: &mut Wave, step: &Step, lane: usize, old: u64) {
    wave.set_lane(step.dst, lane, old as u32);
    if WIDE {
        wave.set_lane(step.dst + 1, lane, (old >> 32) as u32);
    }
}
