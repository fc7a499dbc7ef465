//! DS: local data share, lane permutations and global wave sync.

mod lanes;
mod local;
mod wave_sync;

use amdgpu_isa::{Inst, Operand};

use crate::flat::chunk;
use crate::salu::nothing;
use crate::step::{Step, TranslateEnv};

/// Translates a DS instruction. `dst` data, `src[0]` address, `src[1]` and `src[2]` data chunks,
/// `constant[0]` the offset (of the first access), `constant[1]` that of the second, `aux` bit 0:
/// there is a destination.
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let name = inst.op.name().strip_prefix("ds_")?;
    let lanes = usize::from(env.lanes);
    let mut step = Step::new(nothing, inst, pc);
    step.dst = chunk(inst.dst, lanes).unwrap_or(0);
    for i in 0..3 {
        step.src[i] = chunk(inst.src[i], lanes).unwrap_or(0);
    }
    step.constant[0] = u64::from(inst.imm.cast_unsigned() & 0xffff);
    step.aux = u64::from(inst.dst != Operand::None);
    if name.starts_with("gws_") {
        step.run = wave_sync::select(name)?;
        return Some(step);
    }
    if inst.mods.gds {
        // The global data share is not visible to HSA programs.
        return None;
    }
    step.run = match name {
        "nop" => nothing,
        _ => lanes::select(name).or_else(|| local::select(name, &mut step, env.level))?,
    };
    Some(step)
}
