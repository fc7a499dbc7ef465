//! Operands of scalar instructions.

use amdgpu_isa::{Inst, Operand, Target, scalar};

use crate::step::{Step, TranslateEnv};
use crate::wave::{Wave, slot};

/// A resolved scalar source.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Register(u8),
    Constant(u64),
}

/// Index a scalar destination is written at.
pub(crate) fn destination(operand: Operand, target: Target) -> Option<u8> {
    match operand {
        Operand::Scalar(scalar::NULL) if target.is_rdna() => Some(slot::SINK),
        Operand::Scalar(index) => Some(index),
        Operand::None => Some(slot::SINK),
        _ => None,
    }
}

/// Source `i` of an instruction whose operands have `bits` bits. Inline integers are sign-extended,
/// float constants take the operand's width. A literal in a 64-bit operation is sign-extended if
/// the operation is signed, otherwise zero-extended (LLVM's `S_MOV_B64_IMM_PSEUDO` relies on that).
pub(crate) fn source(inst: &Inst, i: usize, bits: u32, env: &TranslateEnv) -> Option<Source> {
    let constant = match inst.src[i] {
        Operand::Scalar(scalar::NULL) if env.target.is_rdna() => 0,
        Operand::Scalar(index) => return Some(Source::Register(index)),
        Operand::Int(value) => i64::from(value).cast_unsigned(),
        Operand::Literal(value) if inst.op.name().ends_with("i64") => {
            i64::from(value.cast_signed()).cast_unsigned()
        }
        Operand::Literal(value) => u64::from(value),
        Operand::Float(code) if bits == 64 => float64(code)?,
        Operand::Float(code) => u64::from(float32(code)?),
        _ => return None,
    };
    Some(Source::Constant(constant))
}

/// Bits of an inline float constant as f32.
pub(crate) fn float32(code: u8) -> Option<u32> {
    const ONE_OVER_TWO_PI: u32 = 0x3e22_f983;
    let value: f32 = match code {
        240 => 0.5,
        241 => -0.5,
        242 => 1.0,
        243 => -1.0,
        244 => 2.0,
        245 => -2.0,
        246 => 4.0,
        247 => -4.0,
        248 => return Some(ONE_OVER_TWO_PI),
        _ => return None,
    };
    Some(value.to_bits())
}

/// Bits of an inline float constant as f64.
pub(crate) fn float64(code: u8) -> Option<u64> {
    const ONE_OVER_TWO_PI: u64 = 0x3fc4_5f30_6dc9_c882;
    if code == 248 {
        return Some(ONE_OVER_TWO_PI);
    }
    Some(f64::from(f32::from_bits(float32(code)?)).to_bits())
}

/// Puts source `i` into the step; true if it is a register.
pub(crate) fn place(step: &mut Step, i: usize, source: Source) -> bool {
    match source {
        Source::Register(index) => {
            step.src[i] = u16::from(index);
            true
        }
        Source::Constant(value) => {
            step.constant[i] = value;
            false
        }
    }
}

/// Reads a 32-bit source.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "register indexes and 32-bit constants"
)]
pub(crate) fn read32<const REGISTER: bool>(wave: &Wave, step: &Step, i: usize) -> u32 {
    if REGISTER {
        wave.scalar(step.src[i] as u8)
    } else {
        step.constant[i] as u32
    }
}

/// Reads a 64-bit source.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "register indexes fit u8")]
pub(crate) fn read64<const REGISTER: bool>(wave: &Wave, step: &Step, i: usize) -> u64 {
    if REGISTER {
        wave.scalar64(step.src[i] as u8)
    } else {
        step.constant[i]
    }
}

/// Writes the 32-bit destination.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "register indexes fit u8")]
pub(crate) fn write32(wave: &mut Wave, step: &Step, value: u32) {
    wave.set_scalar(step.dst as u8, value);
}

/// Writes the 64-bit destination.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "register indexes fit u8")]
pub(crate) fn write64(wave: &mut Wave, step: &Step, value: u64) {
    wave.set_scalar64(step.dst as u8, value);
}
