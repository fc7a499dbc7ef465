//! f64 arithmetic.

use amdgpu_isa::{Inst, Op};

use super::float32::low32;
use super::kernel::{Entry, Lane64, first_nan64, is_nan64};
use super::macros::{f64op, op64, rare64, soft};
use super::plan::Ty;
use super::soften::rounds_to_even;
use crate::float::integral::{frexp_exp, frexp_mant, max_f64, min_f64};
use crate::float::soft::{self, F64, Rounding};
use crate::step::TranslateEnv;
use crate::wave::mode;

/// Table entry of an f64 operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    let arithmetic = if rounds_to_even(env, Ty::F64) {
        arithmetic(inst.op, env)
    } else {
        rounded(inst.op, env)
    };
    arithmetic.or_else(|| other(inst.op, env))
}

fn arithmetic(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_ADD_F64 => f64op!(env, [F64, F64], |a, b, _| a + b),
        V_MUL_F64 => f64op!(env, [F64, F64], |a, b, _| a * b),
        V_FMA_F64 => f64op!(env, [F64, F64, F64], |a, b, c| a.mul_add(b, c)),
        V_FMAC_F64 => f64op!(env, [F64, F64, F64], |a, b, c| a.mul_add(b, c)).accumulating(),
        V_LDEXP_F64 => Entry::lane64::<Ldexp>(env.level, &[Ty::F64, Ty::B32], Ty::F64),
        _ => return None,
    })
}

struct Ldexp;

impl Lane64 for Ldexp {
    const FLOAT: bool = true;
    #[inline(always)]
    fn lane(a: u64, b: u64, _: u64) -> u64 {
        let power = low32(b).cast_signed();
        if (-1022..=1023).contains(&power) {
            // The scale is a normal number, so there is one rounding.
            let scale = f64::from_bits(u64::from((power + 1023).cast_unsigned()) << 52);
            (f64::from_bits(a) * scale).to_bits()
        } else {
            soft::scale(F64, Rounding::Even, a, power)
        }
    }
    #[inline(always)]
    fn nan(a: u64, _: u64, _: u64) -> u64 {
        first_nan64(a, 0, 0)
    }
}

fn rounded(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_ADD_F64 => soft!(env, [F64, F64] => F64, |r, a, b, _| soft::add(F64, r, a, b)),
        V_MUL_F64 => soft!(env, [F64, F64] => F64, |r, a, b, _| soft::mul(F64, r, a, b)),
        V_FMA_F64 => {
            soft!(env, [F64, F64, F64] => F64, |r, a, b, c| soft::fma(F64, r, a, b, c))
        }
        V_FMAC_F64 => soft!(env, [F64, F64, F64] => F64, |r, a, b, c| soft::fma(F64, r, a, b, c))
            .accumulating(),
        V_LDEXP_F64 => soft!(env, [F64, B32] => F64, |r, a, b, _| {
            soft::scale(F64, r, a, low32(b).cast_signed())
        }),
        _ => return None,
    })
}

#[inline(always)]
fn quiet_first(a: u64, b: u64, otherwise: u64) -> u64 {
    const QUIET: u64 = 1 << 51;
    if is_nan64(a) && a & QUIET == 0 {
        a | QUIET
    } else if is_nan64(b) && b & QUIET == 0 {
        b | QUIET
    } else {
        otherwise
    }
}

fn other(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let ieee = env.mode & mode::IEEE != 0;
    Some(match (op, ieee) {
        (V_MIN_F64, true) => {
            op64!(env, [F64, F64] => F64, |a, b, _| quiet_first(a, b, min_f64(a, b)))
        }
        (V_MAX_F64, true) => {
            op64!(env, [F64, F64] => F64, |a, b, _| quiet_first(a, b, max_f64(a, b)))
        }
        (V_MIN_F64, false) => rare64!(env, [F64, F64] => F64, |a, b, _| min_f64(a, b)),
        (V_MAX_F64, false) => rare64!(env, [F64, F64] => F64, |a, b, _| max_f64(a, b)),
        (V_RNDNE_F64, _) => f64op!(env, [F64], |a, _, _| a.round_ties_even()),
        (V_FLOOR_F64, _) => f64op!(env, [F64], |a, _, _| a.floor()),
        (V_CEIL_F64, _) => f64op!(env, [F64], |a, _, _| a.ceil()),
        (V_TRUNC_F64, _) => f64op!(env, [F64], |a, _, _| a.trunc()),
        (V_FRACT_F64, _) => f64op!(env, [F64], |a, _, _| {
            let fraction = a - a.floor();
            if fraction >= 1.0 {
                1.0 - f64::EPSILON / 2.0
            } else {
                fraction
            }
        }),
        (V_FREXP_MANT_F64, _) => rare64!(env, [F64] => F64, |a, _, _| frexp_mant(a, 52, 11)),
        (V_FREXP_EXP_I32_F64, _) => rare64!(env, [F64] => B32, |a, _, _| {
            u64::from(frexp_exp(a, 52, 11).cast_unsigned())
        }),
        _ => return None,
    })
}
