//! f32 arithmetic.

use amdgpu_isa::{Inst, Op};

use super::kernel::{Entry, is_nan32};
use super::macros::{f32op, op32, soft};
use super::plan::Ty;
use super::soften::rounds_to_even;
use crate::float::integral::{max_f32, min_f32};
use crate::float::soft::{self, F32};
use crate::step::TranslateEnv;
use crate::wave::mode;

/// Table entry of an f32 operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    let arithmetic = if rounds_to_even(env, Ty::F32) {
        arithmetic(inst, env)
    } else {
        rounded(inst.op, env)
    };
    arithmetic
        .or_else(|| order(inst.op, env))
        .or_else(|| integral(inst.op, env))
        .or_else(|| legacy(inst.op, env))
}

fn arithmetic(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match inst.op {
        V_ADD_F32 => f32op!(env, hot32, [F32, F32], |a, b, _| a + b),
        V_SUB_F32 => f32op!(env, hot32, [F32, F32], |a, b, _| a - b),
        V_SUBREV_F32 => f32op!(env, lane32, [F32, F32], |a, b, _| b - a),
        V_MUL_F32 => f32op!(env, hot32, [F32, F32], |a, b, _| a * b),
        V_FMA_F32 | V_FMAMK_F32 | V_FMAAK_F32 => {
            f32op!(env, hot32, [F32, F32, F32], |a, b, c| a.mul_add(b, c))
        }
        V_FMAC_F32 => f32op!(env, hot32, [F32, F32, F32], |a, b, c| a.mul_add(b, c)).accumulating(),
        V_LDEXP_F32 => ldexp(env),
        _ => return None,
    })
}

/// f32 through f64: the scaling is exact there, so the result is rounded once.
fn ldexp(env: &TranslateEnv) -> Entry {
    struct L;
    impl super::kernel::Lane32 for L {
        const FLOAT: bool = true;
        #[inline(always)]
        #[expect(clippy::cast_possible_truncation, reason = "this is the rounding")]
        fn lane(a: u32, b: u32, _: u32) -> u32 {
            let power = b.cast_signed().clamp(-400, 400) + 1023;
            let scale = f64::from_bits(u64::from(power.cast_unsigned()) << 52);
            ((f64::from(f32::from_bits(a)) * scale) as f32).to_bits()
        }
        #[inline(always)]
        fn nan(a: u32, _: u32, _: u32) -> u32 {
            super::kernel::first_nan32(a, 0, 0)
        }
    }
    Entry::lane32::<L>(env.level, &[Ty::F32, Ty::B32], Ty::F32)
}

/// The same in the other rounding modes.
fn rounded(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    const SIGN: u64 = 1 << 31;
    Some(match op {
        V_ADD_F32 => soft!(env, [F32, F32] => F32, |r, a, b, _| soft::add(F32, r, a, b)),
        V_SUB_F32 => {
            soft!(env, [F32, F32] => F32, |r, a, b, _| soft::add(F32, r, a, negate(b, SIGN)))
        }
        V_SUBREV_F32 => {
            soft!(env, [F32, F32] => F32, |r, a, b, _| soft::add(F32, r, negate(a, SIGN), b))
        }
        V_MUL_F32 => soft!(env, [F32, F32] => F32, |r, a, b, _| soft::mul(F32, r, a, b)),
        V_FMA_F32 | V_FMAMK_F32 | V_FMAAK_F32 => {
            soft!(env, [F32, F32, F32] => F32, |r, a, b, c| soft::fma(F32, r, a, b, c))
        }
        V_FMAC_F32 => soft!(env, [F32, F32, F32] => F32, |r, a, b, c| soft::fma(F32, r, a, b, c))
            .accumulating(),
        V_LDEXP_F32 => soft!(env, [F32, B32] => F32, |r, a, b, _| {
            soft::scale(F32, r, a, low32(b).cast_signed())
        }),
        _ => return None,
    })
}

/// The low dword.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "that is its purpose")]
pub(super) fn low32(value: u64) -> u32 {
    value as u32
}

/// Flips the sign, but not of a NaN (hardware keeps its payload and sign).
#[inline(always)]
pub(super) fn negate(bits: u64, sign: u64) -> u64 {
    let infinity = if sign == 1 << 31 {
        0x7f80_0000
    } else if sign == 1 << 63 {
        0x7ff0_0000_0000_0000
    } else {
        0x7c00
    };
    if bits & (sign - 1) > infinity {
        bits
    } else {
        bits ^ sign
    }
}

/// IEEE mode: a signalling NaN is quieted and returned.
#[inline(always)]
fn signalling(bits: u32) -> bool {
    is_nan32(bits) && bits & 0x0040_0000 == 0
}

#[inline(always)]
fn quiet_first(a: u32, b: u32, otherwise: u32) -> u32 {
    if signalling(a) {
        a | 0x0040_0000
    } else if signalling(b) {
        b | 0x0040_0000
    } else {
        otherwise
    }
}

#[inline(always)]
pub(super) fn ieee_min(a: u32, b: u32) -> u32 {
    quiet_first(a, b, min_f32(a, b))
}

#[inline(always)]
pub(super) fn ieee_max(a: u32, b: u32) -> u32 {
    quiet_first(a, b, max_f32(a, b))
}

/// The middle of three; with a NaN among them, the minimum of the others.
#[inline(always)]
fn med3(a: u32, b: u32, c: u32, min: fn(u32, u32) -> u32, max: fn(u32, u32) -> u32) -> u32 {
    if is_nan32(a) || is_nan32(b) || is_nan32(c) {
        min(min(a, b), c)
    } else {
        max_f32(min_f32(a, b), min_f32(max(a, b), c))
    }
}

fn order(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let ieee = env.mode & mode::IEEE != 0;
    Some(match (op, ieee) {
        (V_MIN_F32, true) => op32!(env, lane32, [F32, F32] => F32, |a, b, _| ieee_min(a, b)),
        (V_MAX_F32, true) => op32!(env, lane32, [F32, F32] => F32, |a, b, _| ieee_max(a, b)),
        (V_MIN_F32, false) => op32!(env, rare32, [F32, F32] => F32, |a, b, _| min_f32(a, b)),
        (V_MAX_F32, false) => op32!(env, rare32, [F32, F32] => F32, |a, b, _| max_f32(a, b)),
        (V_MIN3_F32, true) => {
            op32!(env, rare32, [F32, F32, F32] => F32, |a, b, c| ieee_min(ieee_min(a, b), c))
        }
        (V_MAX3_F32, true) => {
            op32!(env, rare32, [F32, F32, F32] => F32, |a, b, c| ieee_max(ieee_max(a, b), c))
        }
        (V_MIN3_F32, false) => {
            op32!(env, rare32, [F32, F32, F32] => F32, |a, b, c| min_f32(min_f32(a, b), c))
        }
        (V_MAX3_F32, false) => {
            op32!(env, rare32, [F32, F32, F32] => F32, |a, b, c| max_f32(max_f32(a, b), c))
        }
        (V_MED3_F32, true) => {
            op32!(env, rare32, [F32, F32, F32] => F32, |a, b, c| med3(a, b, c, ieee_min, ieee_max))
        }
        (V_MED3_F32, false) => {
            op32!(env, rare32, [F32, F32, F32] => F32, |a, b, c| med3(a, b, c, min_f32, max_f32))
        }
        _ => return None,
    })
}

fn integral(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_RNDNE_F32 => f32op!(env, lane32, [F32], |a, _, _| a.round_ties_even()),
        V_FLOOR_F32 => f32op!(env, lane32, [F32], |a, _, _| a.floor()),
        V_CEIL_F32 => f32op!(env, lane32, [F32], |a, _, _| a.ceil()),
        V_TRUNC_F32 => f32op!(env, lane32, [F32], |a, _, _| a.trunc()),
        // Below one even where the difference rounds to one.
        V_FRACT_F32 => f32op!(env, lane32, [F32], |a, _, _| {
            let fraction = a - a.floor();
            if fraction >= 1.0 {
                1.0 - f32::EPSILON / 2.0
            } else {
                fraction
            }
        }),
        V_FREXP_EXP_I32_F32 => op32!(env, rare32, [F32] => B32, |a, _, _| {
            crate::float::integral::frexp_exp(u64::from(a), 23, 8).cast_unsigned()
        }),
        V_FREXP_MANT_F32 => op32!(env, rare32, [F32] => F32, |a, _, _| {
            low32(crate::float::integral::frexp_mant(u64::from(a), 23, 8))
        }),
        _ => return None,
    })
}

/// Denormals become zero of the same sign.
#[inline(always)]
fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    let kept = if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    };
    f32::from_bits(kept)
}

/// Multiply-add with two roundings and without denormals (`v_mad_f32` has no denormal support).
#[inline(always)]
fn mad(a: f32, b: f32, c: f32) -> f32 {
    flush(flush(flush(a) * flush(b)) + flush(c))
}

/// DX9 rule: zero times anything is zero.
#[inline(always)]
fn legacy_mul(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn legacy(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_MAD_F32 | V_MADMK_F32 | V_MADAK_F32 => {
            f32op!(env, lane32, [F32, F32, F32], |a, b, c| mad(a, b, c))
        }
        V_MAC_F32 => f32op!(env, lane32, [F32, F32, F32], |a, b, c| mad(a, b, c)).accumulating(),
        V_MUL_LEGACY_F32 => {
            f32op!(env, rare32, [F32, F32], |a, b, _| legacy_mul(a, b))
        }
        V_MAD_LEGACY_F32 => f32op!(env, rare32, [F32, F32, F32], |a, b, c| {
            flush(flush(legacy_mul(flush(a), flush(b))) + flush(c))
        }),
        V_FMA_LEGACY_F32 => f32op!(env, rare32, [F32, F32, F32], |a, b, c| {
            if a == 0.0 || b == 0.0 {
                c
            } else {
                a.mul_add(b, c)
            }
        }),
        V_FMAC_LEGACY_F32 => f32op!(env, rare32, [F32, F32, F32], |a, b, c| {
            if a == 0.0 || b == 0.0 {
                c
            } else {
                a.mul_add(b, c)
            }
        })
        .accumulating(),
        V_MULLIT_F32 if env.target.is_rdna() => {
            f32op!(env, rare32, [F32, F32, F32], |a, b, c| {
                if b == -f32::MAX || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan()
                {
                    -f32::MAX
                } else {
                    legacy_mul(a, b)
                }
            })
        }
        _ => return None,
    })
}
