//! Vector ALU instructions.
//!
//! An operation is a table entry ([`kernel::Entry`]): a lane function, the types of its operands
//! and what it does with masks. [`translate`] joins it with the operand forms of one instruction.
//! Plain forms of common operations get specialised bodies; everything else runs through
//! [`pipeline`], which knows every form.

mod bytes;
mod compare;
mod convert;
mod crosslane;
mod cube;
mod division;
mod dot;
mod dpp;
mod float32;
mod float64;
pub(crate) mod fuse;
mod half;
mod int;
mod int16;
mod int64;
mod kernel;
mod lanes;
mod macros;
mod matrix;
mod operand;
mod output;
mod packed;
mod pipeline;
mod plan;
mod sdwa;
mod shape;
mod soften;
#[cfg(test)]
mod tests;
mod transcendental;

use amdgpu_isa::{Encoding, Inst, Op, Operand, scalar};

use crate::step::{Step, TranslateEnv, select};
use kernel::Entry;
pub(crate) use pipeline::KernelFn;
use plan::{Kind, Plan, Store, Ty, flag};

/// Translates a VOP1, VOP2, VOP3, VOP3P, VOPC or VINTRP instruction at `pc`; `None` if it is no
/// vector ALU instruction or not supported.
pub fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    if let Some(step) = crosslane::translate(inst, pc, env) {
        return Some(step);
    }
    if let Some(step) = bytes::translate(inst, pc, env) {
        return Some(step);
    }
    if let Some(step) = matrix::translate(inst, pc, env) {
        return Some(step);
    }
    build(entry(inst, env)?, inst, pc, env)
}

/// The operation's table entry.
fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    int::entry(inst, env)
        .or_else(|| int64::entry(inst, env))
        .or_else(|| float32::entry(inst, env))
        .or_else(|| float64::entry(inst, env))
        .or_else(|| convert::entry(inst, env))
        .or_else(|| compare::entry(inst, env))
        .or_else(|| division::entry(inst, env))
        .or_else(|| half::entry(inst, env))
        .or_else(|| packed::entry(inst, env))
        .or_else(|| int16::entry(inst, env))
        .or_else(|| transcendental::entry(inst, env))
        .or_else(|| bytes::entry(inst, env))
        .or_else(|| dot::entry(inst, env))
        .or_else(|| cube::entry(inst.op, env))
}

/// Joins an operation with an instruction's operands.
fn build(entry: Entry, inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(pipeline::general, inst, pc);
    step.kernel = Some(entry.kernel);
    let mut kinds = [Kind::Absent; 3];
    let mut vectors = 0;
    for (i, kind) in kinds.iter_mut().enumerate() {
        if entry.types[i] == Ty::None {
            continue;
        }
        let operand = if i == 2 && entry.accumulates {
            inst.dst
        } else {
            inst.src[i]
        };
        *kind = operand::place(&mut step, i, operand, entry.types[i], env)?;
        vectors |= usize::from(*kind == Kind::Vector) << i;
    }
    let flags = entry.flags | form_flags(&entry, inst, env);
    masks(&mut step, inst, flags, env)?;
    let store = store_mode(&entry, inst, env)?;
    if store != Store::Nothing {
        step.dst = operand::vector(inst.dst, env)?;
    }
    let plan = Plan {
        kinds,
        types: entry.types,
        dst: entry.dst,
        store,
        flags,
    };
    step.aux = plan.pack();
    step.constant[2] = entry.argument.unwrap_or(step.constant[2]);
    let plain = matches!(store, Store::Nothing | Store::Full | Store::Pair);
    if plain && !plan.has(flag::GENERAL) {
        step.run = entry.hot[vectors].unwrap_or(select::<pipeline::Plain>(env.level));
    }
    Some(step)
}

/// Scalar operands: masks read and written.
fn masks(step: &mut Step, inst: &Inst, flags: u8, env: &TranslateEnv) -> Option<()> {
    if flags & flag::MASK_IN != 0 {
        step.src[3] = match inst.src[2] {
            Operand::Scalar(index) if !is_fmas(inst.op) => u16::from(index),
            _ => u16::from(scalar::VCC_LO),
        };
    }
    if flags & flag::MASK_OUT != 0 {
        let destination = if compare::is_compare(inst.op) {
            inst.dst
        } else {
            inst.sdst
        };
        step.sdst = operand::scalar_destination(destination, env)?;
    } else {
        step.sdst = operand::scalar_destination(Operand::None, env)?;
    }
    Some(())
}

/// The mask of `v_div_fmas` is always VCC; its third source is a value.
fn is_fmas(op: Op) -> bool {
    matches!(op, Op::V_DIV_FMAS_F32 | Op::V_DIV_FMAS_F64)
}

/// Work that the instruction's form asks of the general path.
fn form_flags(entry: &Entry, inst: &Inst, env: &TranslateEnv) -> u8 {
    let mods = &inst.mods;
    let mut flags = 0;
    if inst.dpp.is_some() {
        flags |= flag::DPP;
    }
    if inst.sdwa.is_some() {
        flags |= flag::SDWA;
    }
    if entry.types.iter().any(|ty| ty.is_float()) && shape::flushes(env, entry.types) {
        flags |= flag::SHAPED;
    }
    for (i, ty) in entry.types.iter().enumerate() {
        if shape::shapes(inst, *ty, 1 << i) {
            flags |= flag::SHAPED;
        }
    }
    let modified = mods.clamp && !entry.saturates || mods.omod != 0;
    if entry.dst.is_float() && (modified || output::flushes(env, entry.dst)) {
        flags |= flag::OUTPUT;
    }
    flags
}

/// How the result is stored. gfx9 zeroes the high half of most 16-bit results, gfx10 keeps it
/// (LLVM, `GCNSubtarget::zeroesHigh16BitsOfDest`).
fn store_mode(entry: &Entry, inst: &Inst, env: &TranslateEnv) -> Option<Store> {
    if let Some(store) = entry.store {
        return Some(store);
    }
    if entry.dst == Ty::None {
        return Some(Store::Nothing);
    }
    if inst.sdwa.is_some() {
        return Some(Store::Sdwa);
    }
    if entry.dst.is_wide() {
        return Some(Store::Pair);
    }
    if !entry.dst.is_half() {
        return Some(Store::Full);
    }
    let vop3 = matches!(inst.encoding, Encoding::Vop3 | Encoding::Vop3Sd);
    if vop3 && inst.mods.op_sel & 8 != 0 {
        return Some(Store::HighKeep);
    }
    let zero = env.target.is_gfx9() && !keeps_high_half_on_gfx9(inst.op);
    Some(if zero { Store::LowZero } else { Store::LowKeep })
}

/// The f16 multiply-accumulate family keeps the high half already on gfx9.
fn keeps_high_half_on_gfx9(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        V_MADAK_F16
            | V_MADMK_F16
            | V_MAC_F16
            | V_FMAMK_F16
            | V_FMAAK_F16
            | V_FMAC_F16
            | V_FMA_MIXLO_F16
    )
}
