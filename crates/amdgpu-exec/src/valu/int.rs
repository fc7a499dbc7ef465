//! 32-bit integer and bit operations.

#![expect(
    clippy::cast_possible_truncation,
    reason = "low halves of products are what the operations return"
)]

use amdgpu_isa::{Inst, Op};

use super::kernel::Entry;
use super::macros::{carry, op32};
use super::plan::flag;
use crate::step::TranslateEnv;

/// The low 24 bits, sign-extended.
#[inline(always)]
pub(super) fn i24(value: u32) -> i32 {
    (value << 8).cast_signed() >> 8
}

/// The low 24 bits.
#[inline(always)]
pub(super) fn u24(value: u32) -> u32 {
    value & 0xff_ffff
}

#[inline(always)]
fn i(value: u32) -> i32 {
    value.cast_signed()
}

#[inline(always)]
fn u(value: i32) -> u32 {
    value.cast_unsigned()
}

/// Table entry of a 32-bit integer operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    arithmetic(inst, env)
        .or_else(|| logic(inst.op, env))
        .or_else(|| order(inst.op, env))
        .or_else(|| carries(inst, env))
        .or_else(|| products(inst, env))
        .or_else(|| fields(inst.op, env))
}

fn arithmetic(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let entry = match (inst.op, inst.mods.clamp) {
        (V_ADD_U32 | V_ADD_NC_U32, false) => {
            op32!(env, hot32, [B32, B32] => B32, |a, b, _| a.wrapping_add(b))
        }
        (V_SUB_U32 | V_SUB_NC_U32, false) => {
            op32!(env, hot32, [B32, B32] => B32, |a, b, _| a.wrapping_sub(b))
        }
        (V_SUBREV_U32 | V_SUBREV_NC_U32, false) => {
            op32!(env, lane32, [B32, B32] => B32, |a, b, _| b.wrapping_sub(a))
        }
        (V_ADD_U32 | V_ADD_NC_U32, true) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| a.saturating_add(b))
        }
        (V_SUB_U32 | V_SUB_NC_U32, true) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| a.saturating_sub(b))
        }
        (V_SUBREV_U32 | V_SUBREV_NC_U32, true) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| b.saturating_sub(a))
        }
        (V_ADD_I32 | V_ADD_NC_I32, false) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| a.wrapping_add(b))
        }
        (V_SUB_I32 | V_SUB_NC_I32, false) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| a.wrapping_sub(b))
        }
        (V_ADD_I32 | V_ADD_NC_I32, true) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| u(i(a).saturating_add(i(b))))
        }
        (V_SUB_I32 | V_SUB_NC_I32, true) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| u(i(a).saturating_sub(i(b))))
        }
        (V_ADD3_U32, _) => op32!(env, hot32, [B32, B32, B32] => B32, |a, b, c| a
            .wrapping_add(b)
            .wrapping_add(c)),
        (V_LSHL_ADD_U32, _) => op32!(env, hot32, [B32, B32, B32] => B32, |a, b, c| (a
            << (b & 31))
            .wrapping_add(c)),
        (V_ADD_LSHL_U32, _) => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| a
            .wrapping_add(b)
            << (c & 31)),
        (V_XAD_U32, _) => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| (a ^ b)
            .wrapping_add(c)),
        (V_BCNT_U32_B32, _) => op32!(env, rare32, [B32, B32] => B32, |a, b, _| a
            .count_ones()
            .wrapping_add(b)),
        _ => return None,
    };
    Some(entry.saturating())
}

fn logic(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_MOV_B32 => op32!(env, hot32, [B32] => B32, |a, _, _| a),
        V_ACCVGPR_READ_B32 | V_ACCVGPR_WRITE_B32 | V_ACCVGPR_MOV_B32 => {
            op32!(env, lane32, [B32] => B32, |a, _, _| a)
        }
        V_NOT_B32 => op32!(env, lane32, [B32] => B32, |a, _, _| !a),
        V_BFREV_B32 => op32!(env, lane32, [B32] => B32, |a, _, _| a.reverse_bits()),
        V_AND_B32 => op32!(env, hot32, [B32, B32] => B32, |a, b, _| a & b),
        V_OR_B32 => op32!(env, hot32, [B32, B32] => B32, |a, b, _| a | b),
        V_XOR_B32 => op32!(env, hot32, [B32, B32] => B32, |a, b, _| a ^ b),
        V_XNOR_B32 => op32!(env, lane32, [B32, B32] => B32, |a, b, _| !(a ^ b)),
        V_OR3_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| a | b | c),
        V_XOR3_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| a ^ b ^ c),
        V_AND_OR_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| a & b | c),
        V_LSHL_OR_B32 => {
            op32!(env, hot32, [B32, B32, B32] => B32, |a, b, c| a << (b & 31) | c)
        }
        V_LSHLREV_B32 => op32!(env, hot32, [B32, B32] => B32, |a, b, _| b << (a & 31)),
        V_LSHRREV_B32 => op32!(env, hot32, [B32, B32] => B32, |a, b, _| b >> (a & 31)),
        V_ASHRREV_I32 => op32!(env, hot32, [B32, B32] => B32, |a, b, _| u(i(b) >> (a & 31))),
        V_FFBH_U32 => op32!(env, rare32, [B32] => B32, |a, _, _| first_or_minus_one(
            a.leading_zeros()
        )),
        V_FFBL_B32 => op32!(env, rare32, [B32] => B32, |a, _, _| first_or_minus_one(
            a.trailing_zeros()
        )),
        V_FFBH_I32 => op32!(env, rare32, [B32] => B32, |a, _, _| first_or_minus_one(
            (a ^ u(i(a) >> 31)).leading_zeros()
        )),
        _ => return None,
    })
}

/// A bit position, or -1 if there is no such bit.
#[inline(always)]
fn first_or_minus_one(position: u32) -> u32 {
    if position == 32 { u32::MAX } else { position }
}

fn order(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_MIN_U32 => op32!(env, lane32, [B32, B32] => B32, |a, b, _| a.min(b)),
        V_MAX_U32 => op32!(env, lane32, [B32, B32] => B32, |a, b, _| a.max(b)),
        V_MIN_I32 => op32!(env, lane32, [B32, B32] => B32, |a, b, _| u(i(a).min(i(b)))),
        V_MAX_I32 => op32!(env, lane32, [B32, B32] => B32, |a, b, _| u(i(a).max(i(b)))),
        V_MIN3_U32 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| a.min(b).min(c)),
        V_MAX3_U32 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| a.max(b).max(c)),
        V_MIN3_I32 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| u(i(a)
            .min(i(b))
            .min(i(c)))),
        V_MAX3_I32 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| u(i(a)
            .max(i(b))
            .max(i(c)))),
        V_MED3_U32 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| a
            .max(b)
            .min(a.min(b).max(c))),
        V_MED3_I32 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| u(i(a)
            .max(i(b))
            .min(i(a).min(i(b)).max(i(c))))),
        _ => return None,
    })
}

#[inline(always)]
fn subtract(a: u32, b: u32, borrow: bool) -> (u32, bool) {
    let (value, first) = a.overflowing_sub(b);
    let (value, second) = value.overflowing_sub(u32::from(borrow));
    (value, first | second)
}

#[inline(always)]
fn add(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let (value, first) = a.overflowing_add(b);
    let (value, second) = value.overflowing_add(u32::from(carry));
    (value, first | second)
}

fn carries(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    const IN: u8 = flag::MASK_IN;
    const OUT: u8 = flag::MASK_OUT;
    let entry = match inst.op {
        V_ADD_CO_U32 => carry!(env, OUT, B32, |a, b, _| a.overflowing_add(b)),
        V_SUB_CO_U32 => carry!(env, OUT, B32, |a, b, _| a.overflowing_sub(b)),
        V_SUBREV_CO_U32 => carry!(env, OUT, B32, |a, b, _| b.overflowing_sub(a)),
        V_ADDC_CO_U32 | V_ADD_CO_CI_U32 => carry!(env, IN | OUT, B32, |a, b, c| add(a, b, c)),
        V_SUBB_CO_U32 | V_SUB_CO_CI_U32 => {
            carry!(env, IN | OUT, B32, |a, b, c| subtract(a, b, c))
        }
        V_SUBBREV_CO_U32 | V_SUBREV_CO_CI_U32 => {
            carry!(env, IN | OUT, B32, |a, b, c| subtract(b, a, c))
        }
        // Abs and neg apply to the sources.
        V_CNDMASK_B32 => {
            carry!(env, IN, S32, |a, b, c| (if c { b } else { a }, false))
        }
        _ => return None,
    };
    Some(entry.saturating())
}

fn products(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let entry = match (inst.op, inst.mods.clamp) {
        (V_MUL_LO_U32, _) => op32!(env, hot32, [B32, B32] => B32, |a, b, _| a.wrapping_mul(b)),
        (V_MUL_HI_U32, _) => {
            op32!(env, lane32, [B32, B32] => B32, |a, b, _| ((u64::from(a) * u64::from(b)) >> 32)
                as u32)
        }
        (V_MUL_HI_I32, _) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| u(((i64::from(i(a)) * i64::from(i(b))) >> 32)
                as i32))
        }
        (V_MUL_U32_U24, _) => {
            op32!(env, hot32, [B32, B32] => B32, |a, b, _| u24(a).wrapping_mul(u24(b)))
        }
        (V_MUL_HI_U32_U24, _) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32)
        }
        (V_MUL_I32_I24, _) => {
            op32!(env, lane32, [B32, B32] => B32, |a, b, _| u(i24(a).wrapping_mul(i24(b))))
        }
        (V_MUL_HI_I32_I24, _) => {
            op32!(env, rare32, [B32, B32] => B32, |a, b, _| u(((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as i32))
        }
        (V_MAD_U32_U24, false) => op32!(env, hot32, [B32, B32, B32] => B32, |a, b, c| u24(a)
            .wrapping_mul(u24(b))
            .wrapping_add(c)),
        (V_MAD_I32_I24, false) => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| u(i24(
            a
        )
        .wrapping_mul(i24(b))
        .wrapping_add(i(c)))),
        (V_MAD_U32_U24, true) => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| {
            let wide = u64::from(u24(a)) * u64::from(u24(b)) + u64::from(c);
            wide.min(u64::from(u32::MAX)) as u32
        }),
        (V_MAD_I32_I24, true) => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| {
            let wide = i64::from(i24(a)) * i64::from(i24(b)) + i64::from(i(c));
            u(wide.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
        }),
        _ => return None,
    };
    Some(entry.saturating())
}

fn fields(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_BFE_U32 => op32!(env, hot32, [B32, B32, B32] => B32, |a, b, c| {
            a >> (b & 31) & ((1u32 << (c & 31)) - 1)
        }),
        V_BFE_I32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| {
            let width = c & 31;
            let up = (32 - width) & 31;
            let field = u(i(u(i(a) >> (b & 31)) << up) >> up);
            if width == 0 { 0 } else { field }
        }),
        V_BFI_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| a & b | !a & c),
        V_BFM_B32 => op32!(env, rare32, [B32, B32] => B32, |a, b, _| {
            ((1u32 << (a & 31)) - 1) << (b & 31)
        }),
        V_ALIGNBIT_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| {
            ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
        }),
        V_ALIGNBYTE_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| {
            ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
        }),
        _ => return None,
    })
}

#[cfg(test)]
#[expect(
    clippy::cast_sign_loss,
    reason = "wide results are cut to compare them"
)]
mod tests {
    use super::*;

    #[test]
    fn borrow_follows_wide_arithmetic() {
        for a in [0, 1, 5, u32::MAX] {
            for b in [0, 1, 4, 5, u32::MAX] {
                for borrow in [false, true] {
                    let wide = i64::from(a) - i64::from(b) - i64::from(borrow);
                    assert_eq!(subtract(a, b, borrow), (wide as u32, wide < 0));
                }
            }
        }
    }
}
