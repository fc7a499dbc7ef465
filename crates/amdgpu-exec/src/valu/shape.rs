//! Source modifiers: sub-dword and half selection, absolute value, negation.

use amdgpu_isa::{Encoding, Inst};

use super::plan::Ty;
use super::sdwa;
use crate::float::half::f16_to_f32;
use crate::step::{Step, TranslateEnv};
use crate::wave::Chunk;

/// Applies the modifiers of source `i`, and MODE's denormal rule.
pub(super) fn apply(step: &Step, mode: u32, ty: Ty, i: usize, lo: &mut Chunk, hi: &mut Chunk) {
    let inst = &step.inst;
    let bit = 1u8 << i;
    if let Some(sdwa) = inst.sdwa.filter(|_| i < 2) {
        sdwa::select(lo, sdwa.src_sel[i], sdwa.src_sext[i]);
    }
    match ty {
        Ty::PkB16 | Ty::PkF16 if inst.encoding == Encoding::Vop3p => {
            packed_halves(step, bit, ty == Ty::PkF16, lo);
        }
        Ty::PkF32 => packed_dwords(step, bit, lo, hi),
        Ty::Mix => mix(step, bit, lo),
        _ => {
            if ty.is_half() && inst.mods.op_sel & bit != 0 {
                each(lo, |value| value >> 16);
            }
            signs(step, ty, bit, lo, hi);
        }
    }
    if ty.is_float() && mode & denormal_bit(ty) == 0 {
        flush(ty, lo, hi);
    }
}

/// Denormals become zeros of the same sign.
pub(super) fn flush(ty: Ty, lo: &mut Chunk, hi: &mut Chunk) {
    let single = |bits: u32| {
        if bits & 0x7f80_0000 == 0 {
            bits & 0x8000_0000
        } else {
            bits
        }
    };
    let half = |bits: u32| {
        if bits & 0x7c00 == 0 {
            bits & 0x8000
        } else {
            bits
        }
    };
    match ty {
        Ty::F32 | Ty::Mix => each(lo, single),
        Ty::PkF32 => {
            each(lo, single);
            each(hi, single);
        }
        Ty::F16 => each(lo, |bits| half(bits & 0xffff)),
        Ty::PkF16 => each(lo, |bits| half(bits & 0xffff) | half(bits >> 16) << 16),
        Ty::F64 => {
            for (lo, hi) in lo.0.iter_mut().zip(&mut hi.0) {
                if *hi & 0x7ff0_0000 == 0 {
                    *lo = 0;
                    *hi &= 0x8000_0000;
                }
            }
        }
        _ => {}
    }
}

fn each(row: &mut Chunk, f: impl Fn(u32) -> u32) {
    for value in &mut row.0 {
        *value = f(*value);
    }
}

/// Absolute value, then negation, of unpacked floats.
fn signs(step: &Step, ty: Ty, bit: u8, lo: &mut Chunk, hi: &mut Chunk) {
    let (row, sign) = match ty {
        Ty::F32 | Ty::S32 => (lo, 1 << 31),
        Ty::F64 => (hi, 1 << 31),
        Ty::F16 => (lo, 0x8000),
        _ => return,
    };
    let mods = &step.inst.mods;
    if mods.abs & bit != 0 {
        each(row, |value| value & !sign);
    }
    if mods.neg & bit != 0 {
        each(row, |value| value ^ sign);
    }
}

/// Chooses and negates the halves of packed 16-bit operands.
fn packed_halves(step: &Step, bit: u8, float: bool, lo: &mut Chunk) {
    let mods = &step.inst.mods;
    let low_shift = if mods.op_sel & bit != 0 { 16 } else { 0 };
    let high_shift = if mods.op_sel_hi & bit != 0 { 16 } else { 0 };
    let mut flip = 0;
    if float && mods.neg & bit != 0 {
        flip |= 0x8000;
    }
    if float && mods.neg_hi & bit != 0 {
        flip |= 0x8000_0000;
    }
    each(lo, |value| {
        (value >> low_shift & 0xffff | (value >> high_shift) << 16) ^ flip
    });
}

/// Chooses and negates the dwords of packed f32 operands.
fn packed_dwords(step: &Step, bit: u8, lo: &mut Chunk, hi: &mut Chunk) {
    let mods = &step.inst.mods;
    let (low, high) = (*lo, *hi);
    *lo = if mods.op_sel & bit != 0 { high } else { low };
    *hi = if mods.op_sel_hi & bit != 0 { high } else { low };
    if mods.neg & bit != 0 {
        each(lo, |value| value ^ 1 << 31);
    }
    if mods.neg_hi & bit != 0 {
        each(hi, |value| value ^ 1 << 31);
    }
}

/// Operand of `v_fma_mix*`: f32, or an f16 half widened. NEG_HI is its absolute value.
fn mix(step: &Step, bit: u8, lo: &mut Chunk) {
    let mods = &step.inst.mods;
    if mods.op_sel_hi & bit != 0 {
        let shift = if mods.op_sel & bit != 0 { 16 } else { 0 };
        each(lo, |value| {
            let [a, b, _, _] = (value >> shift).to_le_bytes();
            f16_to_f32(u16::from_le_bytes([a, b])).to_bits()
        });
    }
    if (mods.abs | mods.neg_hi) & bit != 0 {
        each(lo, |value| value & !(1 << 31));
    }
    if mods.neg & bit != 0 {
        each(lo, |value| value ^ 1 << 31);
    }
}

/// The instruction's modifiers change source bit `bit` of type `ty`.
pub(super) fn shapes(inst: &Inst, ty: Ty, bit: u8) -> bool {
    let mods = &inst.mods;
    let packed = inst.encoding == Encoding::Vop3p;
    match ty {
        // `v_pk_mov_b32` chooses its dwords itself.
        Ty::None | Ty::PkB32 => false,
        Ty::Mix => true,
        Ty::PkF32 | Ty::PkB16 | Ty::PkF16 if packed => {
            let negated = (mods.neg | mods.neg_hi) & bit != 0;
            mods.op_sel & bit != 0 || mods.op_sel_hi & bit == 0 || negated
        }
        _ => {
            ty.has_sign() && (mods.neg | mods.abs) & bit != 0
                || ty.is_half() && mods.op_sel & bit != 0
        }
    }
}

/// Denormal inputs of one of the types read as zero in this mode.
pub(super) fn flushes(env: &TranslateEnv, types: [Ty; 3]) -> bool {
    types
        .iter()
        .any(|ty| ty.is_float() && env.mode & denormal_bit(*ty) == 0)
}

/// MODE bit that keeps denormal inputs of a float type.
fn denormal_bit(ty: Ty) -> u32 {
    match ty {
        Ty::F32 | Ty::PkF32 | Ty::Mix => 1 << 4,
        _ => 1 << 6,
    }
}
