//! FLAT, GLOBAL and SCRATCH instructions.

mod address;
mod atomic;
mod global;
mod load;
mod scratch;
mod store;

use amdgpu_isa::{Encoding, Inst, Operand, scalar};

use crate::salu::nothing;
use crate::step::{Step, TranslateEnv};
use crate::wave::{AGPR_BASE, chunk_index};

/// How addresses are formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Addressing {
    /// 64-bit address per lane, apertures apply.
    Flat,
    /// 64-bit global address per lane.
    Vector,
    /// Scalar base and 32-bit offset per lane.
    Scalar,
}

/// Translates an instruction of the family.
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let name = inst.op.name();
    let name = name.split_once('_').map(|(_, rest)| rest)?;
    if inst.mods.lds {
        return None;
    }
    let mut step = prepare(inst, pc, env)?;
    if inst.encoding == Encoding::Scratch {
        step.run = scratch::select(name, env.level)?;
        return Some(step);
    }
    let addressing = match (inst.encoding, has_scalar_base(inst)) {
        (Encoding::Flat, _) => Addressing::Flat,
        (_, true) => Addressing::Scalar,
        (_, false) => Addressing::Vector,
    };
    if addressing != Addressing::Scalar && inst.src[0] == Operand::None {
        return None;
    }
    step.run = global::select(name, addressing, inst, env.level)?;
    Some(step)
}

fn has_scalar_base(inst: &Inst) -> bool {
    matches!(inst.src[2], Operand::Scalar(index) if index != scalar::NULL)
}

/// Resolves the operands: `dst` data, `src[0]` address chunk, `src[1]` data chunk, `src[2]` scalar
/// base, `constant[0]` offset, `aux` bit 0: there is a vector address, bit 1: a scalar base, bit 2:
/// the old value is wanted.
fn prepare(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let lanes = usize::from(env.lanes);
    let mut step = Step::new(nothing, inst, pc);
    step.dst = chunk(inst.dst, lanes).unwrap_or(0);
    step.src[0] = chunk(inst.src[0], lanes).unwrap_or(0);
    step.src[1] = chunk(inst.src[1], lanes).unwrap_or(0);
    if let Operand::Scalar(index) = inst.src[2] {
        step.src[2] = u16::from(index);
    }
    step.constant[0] = i64::from(inst.imm).cast_unsigned();
    let vector = inst.src[0] != Operand::None;
    step.aux =
        u64::from(vector) | u64::from(has_scalar_base(inst)) << 1 | u64::from(inst.mods.glc) << 2;
    Some(step)
}

/// First chunk of a vector operand.
pub(crate) fn chunk(operand: Operand, lanes: usize) -> Option<u16> {
    match operand {
        Operand::Vgpr(register) => Some(chunk_index(u16::from(register), lanes)),
        Operand::Agpr(register) => Some(chunk_index(AGPR_BASE + u16::from(register), lanes)),
        _ => None,
    }
}
