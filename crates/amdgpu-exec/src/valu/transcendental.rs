//! Reciprocals, roots, exponentials, logarithms and sines.
//!
//! The hardware's tables are not public. Everything is computed in f64 with polynomials of relative
//! error below 2^-33 and rounded once, so f32 results are off by at most 0.51 ulp and do not depend
//! on the host; f64 reciprocals and roots are exact roundings.

use amdgpu_isa::{Inst, Op};

use super::half::{first_nan16, h, is_nan16, n};
use super::kernel::{Entry, Lane32};
use super::macros::{f32op, f64op};
use super::plan::Ty;
use crate::float::approximate::{cosine, exp2, log2, sine};
use crate::step::TranslateEnv;

/// Table entry of a transcendental operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    singles(inst.op, env)
        .or_else(|| halves(inst.op, env))
        .or_else(|| doubles(inst.op, env))
}

/// The last step: one rounding to f32.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "this is the rounding")]
fn r(value: f64) -> f32 {
    value as f32
}

/// Denormal inputs and results of exp and log are zero: the hardware has no denormals there, and
/// compilers scale around it.
#[inline(always)]
fn flush(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE {
        0.0f32.copysign(value)
    } else {
        value
    }
}

fn singles(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_RCP_F32 | V_RCP_IFLAG_F32 => f32op!(env, lane32, [F32], |a, _, _| 1.0 / a),
        V_RSQ_F32 => f32op!(env, lane32, [F32], |a, _, _| r(1.0 / f64::from(a).sqrt())),
        V_SQRT_F32 => f32op!(env, lane32, [F32], |a, _, _| a.sqrt()),
        V_EXP_F32 | V_EXP_LEGACY_F32 => {
            f32op!(env, lane32, [F32], |a, _, _| flush(r(exp2(f64::from(a)))))
        }
        V_LOG_F32 | V_LOG_LEGACY_F32 => {
            f32op!(env, lane32, [F32], |a, _, _| r(log2(f64::from(flush(a)))))
        }
        V_SIN_F32 => f32op!(env, lane32, [F32], |a, _, _| r(sine(f64::from(a)))),
        V_COS_F32 => f32op!(env, lane32, [F32], |a, _, _| r(cosine(f64::from(a)))),
        _ => return None,
    })
}

fn doubles(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_RCP_F64 => f64op!(env, [F64], |a, _, _| 1.0 / a),
        V_RSQ_F64 => f64op!(env, [F64], |a, _, _| 1.0 / a.sqrt()),
        V_SQRT_F64 => f64op!(env, [F64], |a, _, _| a.sqrt()),
        _ => return None,
    })
}

/// An f16 operation through f64; results need 11 bits, so rounding through f32 is harmless.
macro_rules! half {
    ($env:expr, |$a:ident| $body:expr) => {{
        struct L;
        impl Lane32 for L {
            const FLOAT: bool = true;
            #[inline(always)]
            fn lane(a: u32, _: u32, _: u32) -> u32 {
                let $a = f64::from(h(a));
                n(r($body))
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
        Entry::rare32::<L>($env.level, &[Ty::F16], Ty::F16)
    }};
}

fn halves(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_RCP_F16 => half!(env, |a| 1.0 / a),
        V_RSQ_F16 => half!(env, |a| 1.0 / a.sqrt()),
        V_SQRT_F16 => half!(env, |a| a.sqrt()),
        V_EXP_F16 => half!(env, |a| exp2(a)),
        V_LOG_F16 => half!(env, |a| log2(a)),
        V_SIN_F16 => half!(env, |a| sine(a)),
        V_COS_F16 => half!(env, |a| cosine(a)),
        _ => return None,
    })
}
