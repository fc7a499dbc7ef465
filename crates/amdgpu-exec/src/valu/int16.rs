//! 16-bit integer operations on a half of a register.

#![expect(
    clippy::cast_possible_truncation,
    reason = "operands are the low 16 bits of their lanes"
)]

use amdgpu_isa::{Inst, Op};

use super::kernel::Entry;
use super::macros::op32;
use crate::step::TranslateEnv;

/// The low half, unsigned.
#[inline(always)]
fn u(value: u32) -> u16 {
    value as u16
}

/// The low half, signed.
#[inline(always)]
fn i(value: u32) -> i16 {
    value as i16
}

/// Back to a lane.
#[inline(always)]
fn s(value: i16) -> u32 {
    u32::from(value.cast_unsigned())
}

/// Table entry of a 16-bit integer operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    sums(inst, env)
        .or_else(|| products(inst, env))
        .or_else(|| shifts_and_order(inst.op, env))
}

fn sums(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let entry = match (inst.op, inst.mods.clamp) {
        (V_ADD_U16 | V_ADD_NC_U16 | V_ADD_I16 | V_ADD_NC_I16, false) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).wrapping_add(u(b))))
        }
        (V_SUB_U16 | V_SUB_NC_U16 | V_SUB_I16 | V_SUB_NC_I16, false) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).wrapping_sub(u(b))))
        }
        (V_SUBREV_U16, false) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(b).wrapping_sub(u(a))))
        }
        (V_ADD_U16 | V_ADD_NC_U16, true) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).saturating_add(u(b))))
        }
        (V_SUB_U16 | V_SUB_NC_U16, true) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).saturating_sub(u(b))))
        }
        (V_SUBREV_U16, true) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(b).saturating_sub(u(a))))
        }
        (V_ADD_I16 | V_ADD_NC_I16, true) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| s(i(a).saturating_add(i(b))))
        }
        (V_SUB_I16 | V_SUB_NC_I16, true) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| s(i(a).saturating_sub(i(b))))
        }
        _ => return None,
    };
    Some(entry.saturating())
}

fn products(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let entry = match (inst.op, inst.mods.clamp) {
        (V_MUL_LO_U16, _) => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).wrapping_mul(u(b))))
        }
        (V_MAD_U16 | V_MAD_LEGACY_U16 | V_MAD_I16 | V_MAD_LEGACY_I16, false) => {
            op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| u32::from(
                u(a).wrapping_mul(u(b)).wrapping_add(u(c))
            ))
        }
        (V_MAD_U16 | V_MAD_LEGACY_U16, true) => {
            op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| {
                let wide = u64::from(u(a)) * u64::from(u(b)) + u64::from(u(c));
                wide.min(0xffff) as u32
            })
        }
        (V_MAD_I16 | V_MAD_LEGACY_I16, true) => {
            op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| {
                let wide = i64::from(i(a)) * i64::from(i(b)) + i64::from(i(c));
                s(wide.clamp(-0x8000, 0x7fff) as i16)
            })
        }
        (V_MAD_U32_U16, false) => op32!(env, rare32, [B16, B16, B32] => B32, |a, b, c| {
            (u32::from(u(a)) * u32::from(u(b))).wrapping_add(c)
        }),
        (V_MAD_U32_U16, true) => op32!(env, rare32, [B16, B16, B32] => B32, |a, b, c| {
            (u32::from(u(a)) * u32::from(u(b))).saturating_add(c)
        }),
        (V_MAD_I32_I16, false) => op32!(env, rare32, [B16, B16, B32] => B32, |a, b, c| {
            (i32::from(i(a)) * i32::from(i(b))).wrapping_add(c.cast_signed()).cast_unsigned()
        }),
        (V_MAD_I32_I16, true) => op32!(env, rare32, [B16, B16, B32] => B32, |a, b, c| {
            (i32::from(i(a)) * i32::from(i(b))).saturating_add(c.cast_signed()).cast_unsigned()
        }),
        _ => return None,
    };
    Some(entry.saturating())
}

fn shifts_and_order(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_LSHLREV_B16 => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(b) << (a & 15)))
        }
        V_LSHRREV_B16 => {
            op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(b) >> (a & 15)))
        }
        V_ASHRREV_I16 => op32!(env, rare32, [B16, B16] => B16, |a, b, _| s(i(b) >> (a & 15))),
        V_MIN_U16 => op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).min(u(b)))),
        V_MAX_U16 => op32!(env, rare32, [B16, B16] => B16, |a, b, _| u32::from(u(a).max(u(b)))),
        V_MIN_I16 => op32!(env, rare32, [B16, B16] => B16, |a, b, _| s(i(a).min(i(b)))),
        V_MAX_I16 => op32!(env, rare32, [B16, B16] => B16, |a, b, _| s(i(a).max(i(b)))),
        V_MIN3_U16 => op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| u32::from(
            u(a).min(u(b)).min(u(c))
        )),
        V_MAX3_U16 => op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| u32::from(
            u(a).max(u(b)).max(u(c))
        )),
        V_MED3_U16 => op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| u32::from(
            u(a).max(u(b)).min(u(a).min(u(b)).max(u(c)))
        )),
        V_MIN3_I16 => {
            op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| s(i(a).min(i(b)).min(i(c))))
        }
        V_MAX3_I16 => {
            op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| s(i(a).max(i(b)).max(i(c))))
        }
        V_MED3_I16 => op32!(env, rare32, [B16, B16, B16] => B16, |a, b, c| s(
            i(a).max(i(b)).min(i(a).min(i(b)).max(i(c)))
        )),
        _ => return None,
    })
}
