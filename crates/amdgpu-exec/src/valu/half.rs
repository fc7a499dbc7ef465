//! f16 arithmetic.
//!
//! Sums and products of f16 are computed in f32, where rounding twice is innocuous (24 >= 2 * 11 + 2
//! bits); the fused multiply-add has its own way ([`fma_f16`]).

#![expect(
    clippy::cast_possible_truncation,
    reason = "f16 values sit in the low half"
)]

use amdgpu_isa::{Inst, Op};

use super::float32::{low32, negate};
use super::kernel::{Entry, Lane32};
use super::macros::{op32, soft};
use super::plan::Ty;
use super::soften::rounds_to_even;
use crate::float::half::{f16_to_f32, f32_to_f16, fma_f16};
use crate::float::integral::{frexp_exp, frexp_mant};
use crate::float::soft::{self, F16, Rounding};
use crate::step::TranslateEnv;
use crate::wave::mode;

/// Bits of a half in a register are a NaN.
#[inline(always)]
pub(super) fn is_nan16(bits: u32) -> bool {
    bits & 0x7fff > 0x7c00
}

/// The first NaN operand, quieted; the default NaN if there is none.
pub(super) fn first_nan16(a: u32, b: u32, c: u32) -> u32 {
    let nan = [a, b, c].into_iter().find(|v| is_nan16(*v));
    nan.map_or(0x7e00, |v| v & 0xffff | 0x200)
}

/// Widens the low half.
#[inline(always)]
pub(super) fn h(bits: u32) -> f32 {
    f16_to_f32(bits as u16)
}

/// Narrows to the low half.
#[inline(always)]
pub(super) fn n(value: f32) -> u32 {
    u32::from(f32_to_f16(value))
}

/// An f16 operation computed in f32.
macro_rules! f16op {
    ($env:expr, [$($ty:ident),*], |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl Lane32 for L {
            const FLOAT: bool = true;
            #[inline(always)]
            fn lane(a: u32, b: u32, c: u32) -> u32 {
                let ($a, $b, $c) = (h(a), h(b), h(c));
                n($body)
            }
            #[inline(always)]
            fn is_nan(result: u32) -> bool {
                is_nan16(result)
            }
            #[inline(always)]
            fn nan(a: u32, b: u32, c: u32) -> u32 {
                first_nan16(a, b, c)
            }
        }
        Entry::lane32::<L>($env.level, &[$(Ty::$ty),*], Ty::F16)
    }};
}

/// Table entry of an f16 operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    let arithmetic = if rounds_to_even(env, Ty::F16) {
        arithmetic(inst.op, env)
    } else {
        rounded(inst.op, env)
    };
    arithmetic
        .or_else(|| order(inst.op, env))
        .or_else(|| integral(inst.op, env))
}

struct Fma;

impl Lane32 for Fma {
    const FLOAT: bool = true;
    #[inline(always)]
    fn lane(a: u32, b: u32, c: u32) -> u32 {
        u32::from(fma_f16(a as u16, b as u16, c as u16))
    }
    #[inline(always)]
    fn is_nan(result: u32) -> bool {
        is_nan16(result)
    }
    #[inline(always)]
    fn nan(a: u32, b: u32, c: u32) -> u32 {
        first_nan16(a, b, c)
    }
}

fn arithmetic(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let fma = || Entry::lane32::<Fma>(env.level, &[Ty::F16; 3], Ty::F16);
    Some(match op {
        V_ADD_F16 => f16op!(env, [F16, F16], |a, b, _| a + b),
        V_SUB_F16 => f16op!(env, [F16, F16], |a, b, _| a - b),
        V_SUBREV_F16 => f16op!(env, [F16, F16], |a, b, _| b - a),
        V_MUL_F16 => f16op!(env, [F16, F16], |a, b, _| a * b),
        V_FMA_F16 | V_FMA_LEGACY_F16 | V_FMAMK_F16 | V_FMAAK_F16 => fma(),
        V_FMAC_F16 => fma().accumulating(),
        V_MAD_F16 | V_MAD_LEGACY_F16 | V_MADMK_F16 | V_MADAK_F16 => {
            f16op!(env, [F16, F16, F16], |a, b, c| h(n(a * b)) + c)
        }
        V_MAC_F16 => f16op!(env, [F16, F16, F16], |a, b, c| h(n(a * b)) + c).accumulating(),
        V_LDEXP_F16 => soft!(env, [F16, B16] => F16, |_, a, b, _| {
            soft::scale(F16, Rounding::Even, a & 0xffff, i32::from(b as i16))
        }),
        _ => return None,
    })
}

fn rounded(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    const SIGN: u64 = 0x8000;
    const MASK: u64 = 0xffff;
    let fma = || {
        soft!(env, [F16, F16, F16] => F16, |r, a, b, c| {
            soft::fma(F16, r, a & MASK, b & MASK, c & MASK)
        })
    };
    let mad = || {
        soft!(env, [F16, F16, F16] => F16, |r, a, b, c| {
            soft::add(F16, r, soft::mul(F16, r, a & MASK, b & MASK), c & MASK)
        })
    };
    Some(match op {
        V_ADD_F16 => {
            soft!(env, [F16, F16] => F16, |r, a, b, _| soft::add(F16, r, a & MASK, b & MASK))
        }
        V_SUB_F16 => soft!(env, [F16, F16] => F16, |r, a, b, _| {
            soft::add(F16, r, a & MASK, negate(b & MASK, SIGN))
        }),
        V_SUBREV_F16 => soft!(env, [F16, F16] => F16, |r, a, b, _| {
            soft::add(F16, r, negate(a & MASK, SIGN), b & MASK)
        }),
        V_MUL_F16 => {
            soft!(env, [F16, F16] => F16, |r, a, b, _| soft::mul(F16, r, a & MASK, b & MASK))
        }
        V_FMA_F16 | V_FMA_LEGACY_F16 | V_FMAMK_F16 | V_FMAAK_F16 => fma(),
        V_FMAC_F16 => fma().accumulating(),
        V_MAD_F16 | V_MAD_LEGACY_F16 | V_MADMK_F16 | V_MADAK_F16 => mad(),
        V_MAC_F16 => mad().accumulating(),
        V_LDEXP_F16 => soft!(env, [F16, B16] => F16, |r, a, b, _| {
            soft::scale(F16, r, a & MASK, i32::from(b as i16))
        }),
        _ => return None,
    })
}

#[inline(always)]
fn order_key(bits: u32) -> i32 {
    let signed = i32::from(bits as i16);
    signed ^ ((signed >> 31) & 0x7fff)
}

#[inline(always)]
fn plain_min(a: u32, b: u32) -> u32 {
    if is_nan16(a) {
        b & 0xffff
    } else if is_nan16(b) || order_key(a) <= order_key(b) {
        a & 0xffff
    } else {
        b & 0xffff
    }
}

#[inline(always)]
fn plain_max(a: u32, b: u32) -> u32 {
    if is_nan16(a) {
        b & 0xffff
    } else if is_nan16(b) || order_key(a) >= order_key(b) {
        a & 0xffff
    } else {
        b & 0xffff
    }
}

#[inline(always)]
fn quiet_first(a: u32, b: u32, otherwise: u32) -> u32 {
    if is_nan16(a) && a & 0x200 == 0 {
        a & 0xffff | 0x200
    } else if is_nan16(b) && b & 0x200 == 0 {
        b & 0xffff | 0x200
    } else {
        otherwise
    }
}

/// f16 minimum in IEEE mode.
#[inline(always)]
pub(super) fn ieee_min(a: u32, b: u32) -> u32 {
    quiet_first(a, b, plain_min(a, b))
}

/// f16 maximum in IEEE mode.
#[inline(always)]
pub(super) fn ieee_max(a: u32, b: u32) -> u32 {
    quiet_first(a, b, plain_max(a, b))
}

#[inline(always)]
fn med3(a: u32, b: u32, c: u32) -> u32 {
    if is_nan16(a) || is_nan16(b) || is_nan16(c) {
        ieee_min(ieee_min(a, b), c)
    } else {
        plain_max(plain_min(a, b), plain_min(plain_max(a, b), c))
    }
}

fn order(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let ieee = env.mode & mode::IEEE != 0;
    Some(match (op, ieee) {
        (V_MIN_F16, true) => op32!(env, rare32, [F16, F16] => F16, |a, b, _| ieee_min(a, b)),
        (V_MAX_F16, true) => op32!(env, rare32, [F16, F16] => F16, |a, b, _| ieee_max(a, b)),
        (V_MIN_F16, false) => op32!(env, rare32, [F16, F16] => F16, |a, b, _| plain_min(a, b)),
        (V_MAX_F16, false) => op32!(env, rare32, [F16, F16] => F16, |a, b, _| plain_max(a, b)),
        (V_MIN3_F16, _) => {
            op32!(env, rare32, [F16, F16, F16] => F16, |a, b, c| ieee_min(ieee_min(a, b), c))
        }
        (V_MAX3_F16, _) => {
            op32!(env, rare32, [F16, F16, F16] => F16, |a, b, c| ieee_max(ieee_max(a, b), c))
        }
        (V_MED3_F16, _) => op32!(env, rare32, [F16, F16, F16] => F16, |a, b, c| med3(a, b, c)),
        _ => return None,
    })
}

fn integral(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_RNDNE_F16 => f16op!(env, [F16], |a, _, _| a.round_ties_even()),
        V_FLOOR_F16 => f16op!(env, [F16], |a, _, _| a.floor()),
        V_CEIL_F16 => f16op!(env, [F16], |a, _, _| a.ceil()),
        V_TRUNC_F16 => f16op!(env, [F16], |a, _, _| a.trunc()),
        // The largest f16 below one.
        V_FRACT_F16 => f16op!(env, [F16], |a, _, _| {
            let fraction = a - a.floor();
            let largest = f32::from_bits(0x3f7f_e000);
            if fraction > largest {
                largest
            } else {
                fraction
            }
        }),
        V_FREXP_MANT_F16 => op32!(env, rare32, [F16] => F16, |a, _, _| {
            low32(frexp_mant(u64::from(a & 0xffff), 10, 5))
        }),
        V_FREXP_EXP_I16_F16 => op32!(env, rare32, [F16] => B16, |a, _, _| {
            frexp_exp(u64::from(a & 0xffff), 10, 5).cast_unsigned() & 0xffff
        }),
        _ => return None,
    })
}
