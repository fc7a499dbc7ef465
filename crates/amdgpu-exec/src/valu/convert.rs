//! Conversions between number formats.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating float casts are the operations' semantics"
)]

use amdgpu_isa::{Inst, Op};

use super::float32::low32;
use super::kernel::{Entry, Lane32, Lane64, first_nan32, first_nan64};
use super::macros::{op32, op64, rare64, soft};
use super::plan::Ty;
use super::soften::rounds_to_even;
use crate::float::half::{f16_to_f32, f32_to_f16};
use crate::float::soft::{self, F16, F32, F64, Rounding};
use crate::step::TranslateEnv;

#[inline(always)]
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Table entry of a conversion.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    rounding(inst.op, env)
        .or_else(|| to_integer(inst.op, env))
        .or_else(|| exact(inst.op, env))
        .or_else(|| packing(inst.op, env))
}

/// Conversions that round as MODE says.
fn rounding(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_CVT_F32_I32 if rounds_to_even(env, Ty::F32) => {
            op32!(env, lane32, [B32] => F32, |a, _, _| (a.cast_signed() as f32).to_bits())
        }
        V_CVT_F32_U32 if rounds_to_even(env, Ty::F32) => {
            op32!(env, lane32, [B32] => F32, |a, _, _| (a as f32).to_bits())
        }
        V_CVT_F32_I32 => soft!(env, [B32] => F32, |r, a, _, _| {
            soft::from_int(F32, r, i64::from(low32(a).cast_signed()))
        }),
        V_CVT_F32_U32 => soft!(env, [B32] => F32, |r, a, _, _| {
            soft::from_int(F32, r, a.cast_signed())
        }),
        V_CVT_F32_F64 if rounds_to_even(env, Ty::F32) => {
            Entry::lane64::<Narrow>(env.level, &[Ty::F64], Ty::F32)
        }
        V_CVT_F32_F64 => soft!(env, [F64] => F32, |r, a, _, _| soft::convert(F64, F32, r, a)),
        V_CVT_F16_F32 if rounds_to_even(env, Ty::F16) => {
            op32!(env, lane32, [F32] => F16, |a, _, _| u32::from(f32_to_f16(f(a))))
        }
        V_CVT_F16_F32 => soft!(env, [F32] => F16, |r, a, _, _| soft::convert(F32, F16, r, a)),
        V_CVT_F16_U16 => soft!(env, [B16] => F16, |r, a, _, _| {
            soft::from_int(F16, r, i64::from(a as u16))
        }),
        V_CVT_F16_I16 => soft!(env, [B16] => F16, |r, a, _, _| {
            soft::from_int(F16, r, i64::from(a as i16))
        }),
        _ => return None,
    })
}

struct Narrow;

impl Lane64 for Narrow {
    #[inline(always)]
    fn lane(a: u64, _: u64, _: u64) -> u64 {
        let value = f64::from_bits(a);
        if value.is_nan() {
            soft::convert(F64, F32, Rounding::Even, a)
        } else {
            u64::from((value as f32).to_bits())
        }
    }
}

struct Widen;

impl Lane64 for Widen {
    const FLOAT: bool = true;
    #[inline(always)]
    fn lane(a: u64, _: u64, _: u64) -> u64 {
        f64::from(f(low32(a))).to_bits()
    }
    #[inline(always)]
    fn nan(a: u64, _: u64, _: u64) -> u64 {
        first_nan64(soft::convert(F32, F64, Rounding::Even, a), 0, 0)
    }
}

struct WidenHalf;

impl Lane32 for WidenHalf {
    const FLOAT: bool = true;
    #[inline(always)]
    fn lane(a: u32, _: u32, _: u32) -> u32 {
        f16_to_f32(a as u16).to_bits()
    }
    #[inline(always)]
    fn nan(a: u32, _: u32, _: u32) -> u32 {
        first_nan32(f16_to_f32(a as u16).to_bits(), 0, 0)
    }
}

/// Conversions without rounding.
fn exact(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_CVT_F64_F32 => Entry::lane64::<Widen>(env.level, &[Ty::F32], Ty::F64),
        V_CVT_F64_I32 => op64!(env, [B32] => F64, |a, _, _| {
            f64::from(low32(a).cast_signed()).to_bits()
        }),
        V_CVT_F64_U32 => op64!(env, [B32] => F64, |a, _, _| f64::from(low32(a)).to_bits()),
        V_CVT_F32_F16 => Entry::lane32::<WidenHalf>(env.level, &[Ty::F16], Ty::F32),
        V_CVT_F32_UBYTE0 => op32!(env, lane32, [B32] => F32, |a, _, _| byte(a, 0)),
        V_CVT_F32_UBYTE1 => op32!(env, rare32, [B32] => F32, |a, _, _| byte(a, 1)),
        V_CVT_F32_UBYTE2 => op32!(env, rare32, [B32] => F32, |a, _, _| byte(a, 2)),
        V_CVT_F32_UBYTE3 => op32!(env, rare32, [B32] => F32, |a, _, _| byte(a, 3)),
        // A signed 4-bit fraction in sixteenths.
        V_CVT_OFF_F32_I4 => op32!(env, rare32, [B32] => F32, |a, _, _| {
            (((a << 28).cast_signed() >> 28) as f32 / 16.0).to_bits()
        }),
        _ => return None,
    })
}

#[inline(always)]
fn byte(value: u32, index: u32) -> u32 {
    ((value >> (8 * index) & 0xff) as f32).to_bits()
}

/// Rust's float casts truncate, saturate and send NaN to zero, as the hardware does.
fn to_integer(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_CVT_I32_F32 => {
            op32!(env, lane32, [F32] => B32, |a, _, _| (f(a) as i32).cast_unsigned())
        }
        V_CVT_U32_F32 => op32!(env, lane32, [F32] => B32, |a, _, _| f(a) as u32),
        V_CVT_FLR_I32_F32 => {
            op32!(env, rare32, [F32] => B32, |a, _, _| (f(a).floor() as i32).cast_unsigned())
        }
        V_CVT_RPI_I32_F32 => op32!(env, rare32, [F32] => B32, |a, _, _| {
            ((f64::from(f(a)) + 0.5).floor() as i32).cast_unsigned()
        }),
        V_CVT_I32_F64 => op64!(env, [F64] => B32, |a, _, _| {
            u64::from((f64::from_bits(a) as i32).cast_unsigned())
        }),
        V_CVT_U32_F64 => {
            op64!(env, [F64] => B32, |a, _, _| u64::from(f64::from_bits(a) as u32))
        }
        V_CVT_U16_F16 => op32!(env, rare32, [F16] => B16, |a, _, _| {
            u32::from(f16_to_f32(a as u16) as u16)
        }),
        V_CVT_I16_F16 => op32!(env, rare32, [F16] => B16, |a, _, _| {
            u32::from((f16_to_f32(a as u16) as i16).cast_unsigned())
        }),
        V_CVT_NORM_I16_F16 => op32!(env, rare32, [F16] => B16, |a, _, _| {
            snorm(f16_to_f32(a as u16))
        }),
        V_CVT_NORM_U16_F16 => op32!(env, rare32, [F16] => B16, |a, _, _| {
            unorm(f16_to_f32(a as u16))
        }),
        _ => return None,
    })
}

/// -1..=1 to a signed 16-bit fraction, nearest even; NaN gives zero.
#[inline(always)]
fn snorm(value: f32) -> u32 {
    let scaled = f64::from(value.clamp(-1.0, 1.0)) * 32767.0;
    u32::from((scaled.round_ties_even() as i16).cast_unsigned())
}

/// 0..=1 to an unsigned 16-bit fraction, nearest even; NaN gives zero.
#[inline(always)]
fn unorm(value: f32) -> u32 {
    let scaled = f64::from(value.clamp(0.0, 1.0)) * 65535.0;
    u32::from(scaled.round_ties_even() as u16)
}

#[inline(always)]
fn truncate_to_half(bits: u32) -> u32 {
    soft::convert(F32, F16, Rounding::Zero, u64::from(bits)) as u32
}

fn packing(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_CVT_PKRTZ_F16_F32 => op32!(env, rare32, [F32, F32] => B32, |a, b, _| {
            truncate_to_half(a) | truncate_to_half(b) << 16
        }),
        V_CVT_PKNORM_I16_F32 => op32!(env, rare32, [F32, F32] => B32, |a, b, _| {
            snorm(f(a)) | snorm(f(b)) << 16
        }),
        V_CVT_PKNORM_U16_F32 => op32!(env, rare32, [F32, F32] => B32, |a, b, _| {
            unorm(f(a)) | unorm(f(b)) << 16
        }),
        V_CVT_PKNORM_I16_F16 => op32!(env, rare32, [F16, F16] => B32, |a, b, _| {
            snorm(f16_to_f32(a as u16)) | snorm(f16_to_f32(b as u16)) << 16
        }),
        V_CVT_PKNORM_U16_F16 => op32!(env, rare32, [F16, F16] => B32, |a, b, _| {
            unorm(f16_to_f32(a as u16)) | unorm(f16_to_f32(b as u16)) << 16
        }),
        V_CVT_PK_U16_U32 => op32!(env, rare32, [B32, B32] => B32, |a, b, _| {
            a.min(0xffff) | b.min(0xffff) << 16
        }),
        V_CVT_PK_I16_I32 => op32!(env, rare32, [B32, B32] => B32, |a, b, _| {
            let narrow = |v: u32| u32::from((v.cast_signed().clamp(-32768, 32767) as i16).cast_unsigned());
            narrow(a) | narrow(b) << 16
        }),
        V_CVT_PK_U8_F32 => soft!(env, [F32, B32, B32] => B32, |_, a, b, c| {
            let shift = 8 * (b & 3);
            c & !(0xff << shift) | u64::from(f(low32(a)).round_ties_even() as u8) << shift
        }),
        V_CVT_PKACCUM_U8_F32 => rare64!(env, [F32, B32, B32] => B32, |a, b, c| {
            let shift = 8 * (b & 3);
            c & !(0xff << shift) | u64::from(f(low32(a)).round_ties_even() as u8) << shift
        })
        .accumulating(),
        V_PACK_B32_F16 => op32!(env, lane32, [F16, F16] => B32, |a, b, _| a & 0xffff | b << 16),
        V_SAT_PK_U8_I16 => op32!(env, rare32, [B32] => B16, |a, _, _| {
            let narrow = |v: u32| u32::from((v as i16).clamp(0, 255).cast_unsigned());
            narrow(a) | narrow(a >> 16) << 8
        }),
        _ => return None,
    })
}
