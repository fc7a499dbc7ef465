//! 64-bit integer operations.

use std::marker::PhantomData;

use amdgpu_isa::{Inst, Op};

use super::kernel::Entry;
use super::lanes;
use super::macros::op64;
use super::pipeline::{Kernel, Out, Rows};
use super::plan::{Ty, flag};
use crate::step::TranslateEnv;
use crate::wave::{CHUNK_LANES, Chunk};

/// Table entry of a 64-bit integer operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match inst.op {
        V_LSHLREV_B64 => op64!(env, [B32, B64] => B64, |a, b, _| b << (a & 63)),
        V_LSHRREV_B64 => op64!(env, [B32, B64] => B64, |a, b, _| b >> (a & 63)),
        V_ASHRREV_I64 => op64!(env, [B32, I64] => I64, |a, b, _| {
            (b.cast_signed() >> (a & 63)).cast_unsigned()
        }),
        V_MAD_U64_U32 => mad::<Unsigned>(env, Ty::B64),
        V_MAD_I64_I32 => mad::<Signed>(env, Ty::I64),
        _ => return None,
    })
}

fn mad<M: Mad>(env: &TranslateEnv, ty: Ty) -> Entry {
    Entry::kernel::<KernelMad<M>>(env.level, &[Ty::B32, Ty::B32, ty], ty).with(flag::MASK_OUT)
}

/// 32 x 32 + 64 bits with carry out.
trait Mad {
    fn mad(a: u32, b: u32, c: u64) -> (u64, bool);
}

struct Unsigned;

impl Mad for Unsigned {
    #[inline(always)]
    fn mad(a: u32, b: u32, c: u64) -> (u64, bool) {
        (u64::from(a) * u64::from(b)).overflowing_add(c)
    }
}

struct Signed;

impl Mad for Signed {
    /// The carry is bit 64 of the 65-bit sum, so the sign of the exact result.
    #[inline(always)]
    fn mad(a: u32, b: u32, c: u64) -> (u64, bool) {
        let product = i64::from(a.cast_signed()) * i64::from(b.cast_signed());
        let (sum, overflow) = product.overflowing_add(c.cast_signed());
        (sum.cast_unsigned(), (sum < 0) ^ overflow)
    }
}

struct KernelMad<M>(PhantomData<M>);

impl<M: Mad> Kernel for KernelMad<M> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let mut carries = Chunk::ZERO;
        for lane in 0..CHUNK_LANES {
            let (value, carry) = M::mad(rows.lo[0].0[lane], rows.lo[1].0[lane], rows.wide(2, lane));
            out.set_wide(lane, value);
            carries.0[lane] = if carry { u32::MAX } else { 0 };
        }
        out.mask = lanes::to_mask(&carries);
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "wide results are cut to compare them"
)]
mod tests {
    use super::*;

    #[test]
    fn mad_carries_follow_wide_arithmetic() {
        let values = [0u32, 1, 7, 0x7fff_ffff, 0x8000_0000, u32::MAX];
        let addends = [0u64, 1, u64::MAX, 1 << 63, (1 << 63) - 1];
        for a in values {
            for b in values {
                for c in addends {
                    let wide = u128::from(a) * u128::from(b) + u128::from(c);
                    assert_eq!(Unsigned::mad(a, b, c), (wide as u64, wide >> 64 != 0));
                    let wide = i128::from(a as i32) * i128::from(b as i32) + i128::from(c as i64);
                    assert_eq!(Signed::mad(a, b, c), (wide as u64, wide < 0));
                }
            }
        }
    }
}
