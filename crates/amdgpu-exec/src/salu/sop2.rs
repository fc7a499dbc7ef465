//! SOP2: two sources, one destination.

use amdgpu_isa::{Inst, Op};

use super::{binary, operand};
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::Wave;

/// A 32-bit operation; the body may set SCC through `wave`.
macro_rules! b32 {
    ($i:ident, $p:ident, $e:ident, |$w:ident, $a:ident, $b:ident| $body:expr) => {
        binary!($i, $p, $e, 32, read32, write32, |$w, $a, $b| $body)
    };
}

/// A 64-bit operation.
macro_rules! b64 {
    ($i:ident, $p:ident, $e:ident, |$w:ident, $a:ident, $b:ident| $body:expr) => {
        binary!($i, $p, $e, 64, read64, write64, |$w, $a, $b| $body)
    };
}

/// SCC becomes "the result is not zero".
macro_rules! test {
    ($w:ident, $value:expr) => {{
        let value = $value;
        $w.scc = value != 0;
        value
    }};
}

pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    arithmetic(inst, pc, env)
        .or_else(|| logic(inst, pc, env))
        .or_else(|| shift(inst, pc, env))
        .or_else(|| other(inst, pc, env))
}

fn arithmetic(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_ADD_U32 => b32!(inst, pc, env, |wave, a, b| carry(
            wave,
            a.overflowing_add(b)
        )),
        Op::S_SUB_U32 => b32!(inst, pc, env, |wave, a, b| carry(
            wave,
            a.overflowing_sub(b)
        )),
        Op::S_ADD_I32 => b32!(inst, pc, env, |wave, a, b| overflow(
            wave,
            a.cast_signed().overflowing_add(b.cast_signed())
        )),
        Op::S_SUB_I32 => b32!(inst, pc, env, |wave, a, b| overflow(
            wave,
            a.cast_signed().overflowing_sub(b.cast_signed())
        )),
        Op::S_ADDC_U32 => {
            b32!(inst, pc, env, |wave, a, b| wide(
                wave,
                u64::from(a) + u64::from(b)
            ))
        }
        Op::S_SUBB_U32 => b32!(inst, pc, env, |wave, a, b| {
            let (first, borrow) = a.overflowing_sub(b);
            let (value, again) = first.overflowing_sub(u32::from(wave.scc));
            wave.scc = borrow | again;
            value
        }),
        Op::S_MIN_I32 => b32!(inst, pc, env, |wave, a, b| choose(
            wave,
            a.cast_signed() < b.cast_signed(),
            a,
            b
        )),
        Op::S_MIN_U32 => b32!(inst, pc, env, |wave, a, b| choose(wave, a < b, a, b)),
        Op::S_MAX_I32 => b32!(inst, pc, env, |wave, a, b| choose(
            wave,
            a.cast_signed() > b.cast_signed(),
            a,
            b
        )),
        Op::S_MAX_U32 => b32!(inst, pc, env, |wave, a, b| choose(wave, a > b, a, b)),
        Op::S_MUL_I32 => b32!(inst, pc, env, |wave, a, b| a.wrapping_mul(b)),
        Op::S_MUL_HI_U32 => {
            b32!(
                inst,
                pc,
                env,
                |wave, a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32
            )
        }
        Op::S_MUL_HI_I32 => b32!(inst, pc, env, |wave, a, b| {
            ((i64::from(a.cast_signed()) * i64::from(b.cast_signed())).cast_unsigned() >> 32) as u32
        }),
        Op::S_ABSDIFF_I32 => b32!(inst, pc, env, |wave, a, b| {
            // The subtraction wraps as in hardware; only then the absolute value is taken.
            test!(
                wave,
                a.wrapping_sub(b)
                    .cast_signed()
                    .wrapping_abs()
                    .cast_unsigned()
            )
        }),
        Op::S_LSHL1_ADD_U32 => b32!(inst, pc, env, |wave, a, b| shift_add(wave, a, b, 1)),
        Op::S_LSHL2_ADD_U32 => b32!(inst, pc, env, |wave, a, b| shift_add(wave, a, b, 2)),
        Op::S_LSHL3_ADD_U32 => b32!(inst, pc, env, |wave, a, b| shift_add(wave, a, b, 3)),
        Op::S_LSHL4_ADD_U32 => b32!(inst, pc, env, |wave, a, b| shift_add(wave, a, b, 4)),
        _ => None,
    }
}

fn logic(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_AND_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a & b)),
        Op::S_AND_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, a & b)),
        Op::S_OR_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a | b)),
        Op::S_OR_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, a | b)),
        Op::S_XOR_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a ^ b)),
        Op::S_XOR_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, a ^ b)),
        Op::S_ANDN2_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a & !b)),
        Op::S_ANDN2_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, a & !b)),
        Op::S_ORN2_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a | !b)),
        Op::S_ORN2_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, a | !b)),
        Op::S_NAND_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, !(a & b))),
        Op::S_NAND_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, !(a & b))),
        Op::S_NOR_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, !(a | b))),
        Op::S_NOR_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, !(a | b))),
        Op::S_XNOR_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, !(a ^ b))),
        Op::S_XNOR_B64 => b64!(inst, pc, env, |wave, a, b| test!(wave, !(a ^ b))),
        Op::S_CSELECT_B32 => b32!(inst, pc, env, |wave, a, b| if wave.scc { a } else { b }),
        Op::S_CSELECT_B64 => b64!(inst, pc, env, |wave, a, b| if wave.scc { a } else { b }),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "shift counts use their low bits"
)]
fn shift(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_LSHL_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a << (b & 31))),
        Op::S_LSHR_B32 => b32!(inst, pc, env, |wave, a, b| test!(wave, a >> (b & 31))),
        Op::S_ASHR_I32 => b32!(inst, pc, env, |wave, a, b| {
            test!(wave, (a.cast_signed() >> (b & 31)).cast_unsigned())
        }),
        Op::S_LSHL_B64 => shift64::<0>(inst, pc, env),
        Op::S_LSHR_B64 => shift64::<1>(inst, pc, env),
        Op::S_ASHR_I64 => shift64::<2>(inst, pc, env),
        Op::S_BFM_B32 => b32!(inst, pc, env, |wave, a, b| mask(u64::from(a & 31), b & 31)
            as u32),
        Op::S_BFM_B64 => bfm64(inst, pc, env),
        Op::S_BFE_U32 => b32!(inst, pc, env, |wave, a, b| {
            test!(wave, field(u64::from(a), b & 31, (b >> 16) & 0x7f) as u32)
        }),
        Op::S_BFE_I32 => b32!(inst, pc, env, |wave, a, b| {
            let value = i64::from(a.cast_signed()).cast_unsigned();
            test!(wave, signed_field(value, b & 31, (b >> 16) & 0x7f) as u32)
        }),
        Op::S_BFE_U64 => bfe64::<false>(inst, pc, env),
        Op::S_BFE_I64 => bfe64::<true>(inst, pc, env),
        _ => None,
    }
}

fn other(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_PACK_LL_B32_B16 => {
            b32!(inst, pc, env, |wave, a, b| (a & 0xffff) | (b << 16))
        }
        Op::S_PACK_LH_B32_B16 => {
            b32!(inst, pc, env, |wave, a, b| (a & 0xffff) | (b & 0xffff_0000))
        }
        Op::S_PACK_HH_B32_B16 => {
            b32!(inst, pc, env, |wave, a, b| (a >> 16) | (b & 0xffff_0000))
        }
        Op::S_PACK_HL_B32_B16 => b32!(inst, pc, env, |wave, a, b| (a >> 16) | (b << 16)),
        _ => None,
    }
}

fn carry(wave: &mut Wave, (value, carry): (u32, bool)) -> u32 {
    wave.scc = carry;
    value
}

fn overflow(wave: &mut Wave, (value, overflow): (i32, bool)) -> u32 {
    wave.scc = overflow;
    value.cast_unsigned()
}

/// Adds SCC to a sum and keeps the carry.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the carry leaves through SCC"
)]
fn wide(wave: &mut Wave, sum: u64) -> u32 {
    let sum = sum + u64::from(wave.scc);
    wave.scc = sum > u64::from(u32::MAX);
    sum as u32
}

fn choose(wave: &mut Wave, first: bool, a: u32, b: u32) -> u32 {
    wave.scc = first;
    if first { a } else { b }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the carry leaves through SCC"
)]
fn shift_add(wave: &mut Wave, a: u32, b: u32, shift: u32) -> u32 {
    let sum = (u64::from(a) << shift) + u64::from(b);
    wave.scc = sum > u64::from(u32::MAX);
    sum as u32
}

fn mask(width: u64, offset: u32) -> u64 {
    ((1u64 << width) - 1) << offset
}

/// `width` bits from `offset`; a width of zero gives zero, bits past the top are zero.
fn field(value: u64, offset: u32, width: u32) -> u64 {
    let shifted = value >> offset;
    if width >= 64 {
        shifted
    } else {
        shifted & ((1 << width) - 1)
    }
}

fn signed_field(value: u64, offset: u32, width: u32) -> u64 {
    let shifted = value.cast_signed() >> offset;
    match width {
        0 => 0,
        64.. => shifted.cast_unsigned(),
        _ => (shifted << (64 - width) >> (64 - width)).cast_unsigned(),
    }
}

/// Builds a step whose first source has 64 bits and whose second has 32.
macro_rules! mixed {
    ($inst:ident, $pc:ident, $env:ident, $first:literal, $read:ident, |$wave:ident, $a:ident, $b:ident| $body:expr, [$($generic:ident: $type:ty),*]) => {{
        fn run<$(const $generic: $type,)* const A: bool, const B: bool>(
            $wave: &mut Wave,
            _: &mut Context<'_>,
            step: &Step,
        ) -> Flow {
            let $a = operand::$read::<A>($wave, step, 0);
            let $b = operand::read32::<B>($wave, step, 1);
            let value: u64 = $body;
            operand::write64($wave, step, value);
            Flow::Next
        }
        let mut step = Step::new(run::<$($generic,)* false, false>, $inst, $pc);
        step.dst = u16::from(operand::destination($inst.dst, $env.target)?);
        let a = operand::place(&mut step, 0, operand::source($inst, 0, $first, $env)?);
        let b = operand::place(&mut step, 1, operand::source($inst, 1, 32, $env)?);
        step.run = match (a, b) {
            (false, false) => run::<$($generic,)* false, false>,
            (false, true) => run::<$($generic,)* false, true>,
            (true, false) => run::<$($generic,)* true, false>,
            (true, true) => run::<$($generic,)* true, true>,
        };
        Some(step)
    }};
}

fn shift64<const KIND: u8>(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    mixed!(inst, pc, env, 64, read64, |wave, a, b| {
        let count = b & 63;
        test!(wave, match KIND {
            0 => a << count,
            1 => a >> count,
            _ => (a.cast_signed() >> count).cast_unsigned(),
        })
    }, [KIND: u8])
}

fn bfe64<const SIGNED: bool>(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    mixed!(inst, pc, env, 64, read64, |wave, a, b| {
        let (offset, width) = (b & 63, (b >> 16) & 0x7f);
        test!(wave, if SIGNED { signed_field(a, offset, width) } else { field(a, offset, width) })
    }, [SIGNED: bool])
}

fn bfm64(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    mixed!(
        inst,
        pc,
        env,
        32,
        read32,
        |wave, a, b| mask(u64::from(a & 63), b & 63),
        []
    )
}
