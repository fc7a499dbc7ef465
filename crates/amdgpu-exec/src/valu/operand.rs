//! Resolves decoded operands to register positions and constants.

use amdgpu_isa::{Operand, Special, scalar};

use super::plan::{Kind, Ty};
use crate::step::{Step, TranslateEnv};
use crate::wave::{AGPR_BASE, chunk_index, slot};

/// f32 bits of inline constants 240..=248 (the last is 1/(2 pi)).
const INLINE_F32: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];
/// f16 bits of the same.
const INLINE_F16: [u16; 9] = [
    0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118,
];
/// f64 bits of 1/(2 pi); the others follow from f32 exactly.
const ONE_OVER_TWO_PI_F64: u64 = 0x3fc4_5f30_6dc9_c882;

/// First chunk of a vector operand.
pub(super) fn vector(operand: Operand, env: &TranslateEnv) -> Option<u16> {
    let register = match operand {
        Operand::Vgpr(n) => u16::from(n),
        Operand::Agpr(n) => AGPR_BASE + u16::from(n),
        _ => return None,
    };
    Some(chunk_index(register, usize::from(env.lanes)))
}

/// Index that a scalar destination is written at.
pub(super) fn scalar_destination(operand: Operand, env: &TranslateEnv) -> Option<u16> {
    match operand {
        Operand::Scalar(scalar::NULL) if env.target.is_rdna() => Some(u16::from(slot::SINK)),
        Operand::Scalar(index) => Some(u16::from(index)),
        Operand::None => Some(u16::from(slot::SINK)),
        _ => None,
    }
}

/// Puts source `i` into the step and says where it comes from.
pub(super) fn place(
    step: &mut Step,
    i: usize,
    operand: Operand,
    ty: Ty,
    env: &TranslateEnv,
) -> Option<Kind> {
    if let Some(chunk) = vector(operand, env) {
        step.src[i] = chunk;
        return Some(Kind::Vector);
    }
    let index = match operand {
        Operand::Scalar(scalar::NULL) if env.target.is_rdna() => None,
        Operand::Scalar(index) => Some(index),
        Operand::Special(Special::Scc) => Some(slot::SCC),
        Operand::Special(Special::Vccz) => Some(slot::VCCZ),
        Operand::Special(Special::Execz) => Some(slot::EXECZ),
        _ => None,
    };
    if let Some(index) = index {
        step.src[i] = u16::from(index);
        return Some(Kind::Scalar);
    }
    step.constant[i] = constant(operand, ty)?;
    Some(Kind::Constant)
}

/// Value of a constant operand of type `ty`.
fn constant(operand: Operand, ty: Ty) -> Option<u64> {
    Some(match operand {
        Operand::None | Operand::Scalar(scalar::NULL) => 0,
        Operand::Int(value) if ty.is_wide() && !matches!(ty, Ty::PkF32 | Ty::PkB32) => {
            i64::from(value).cast_unsigned()
        }
        Operand::Int(value) => u64::from(i32::from(value).cast_unsigned()),
        Operand::Literal(value) => literal(value, ty),
        Operand::Float(code) => inline_float(code, ty)?,
        _ => return None,
    })
}

/// A 32-bit literal widened to the operand's type.
fn literal(value: u32, ty: Ty) -> u64 {
    match ty {
        Ty::F64 => u64::from(value) << 32,
        Ty::I64 => i64::from(value.cast_signed()).cast_unsigned(),
        _ => u64::from(value),
    }
}

/// An inline float constant in the operand's format. Integer operands see f32 bits (LLVM,
/// `isInlinableLiteralV2I16` and relatives).
fn inline_float(code: u8, ty: Ty) -> Option<u64> {
    let i = usize::from(code.checked_sub(240)?);
    let single = *INLINE_F32.get(i)?;
    Some(match ty {
        Ty::F16 | Ty::PkF16 => u64::from(INLINE_F16[i]),
        Ty::B64 | Ty::I64 | Ty::F64 if i == 8 => ONE_OVER_TWO_PI_F64,
        Ty::B64 | Ty::I64 | Ty::F64 => f64::from(f32::from_bits(single)).to_bits(),
        _ => u64::from(single),
    })
}
