//! Dot products of 2, 4 or 8 small numbers, accumulated in 32 bits.

#![expect(
    clippy::cast_possible_truncation,
    reason = "elements are cut out of 32-bit lanes, sums saturate before narrowing"
)]

use amdgpu_isa::{Inst, Op, Target};

use super::half::h;
use super::kernel::{Entry, Lane32};
use super::macros::op32;
use super::plan::Ty;
use crate::step::TranslateEnv;

/// Sum of the products of `BITS`-wide elements and `c`, exact.
#[inline(always)]
fn signed<const BITS: u32>(a: u32, b: u32, c: u32) -> i64 {
    let element = |value: u32, i: u32| {
        i64::from((value << (32 - BITS - i * BITS)).cast_signed() >> (32 - BITS))
    };
    (0..32 / BITS).fold(i64::from(c.cast_signed()), |sum, i| {
        sum + element(a, i) * element(b, i)
    })
}

#[inline(always)]
fn unsigned<const BITS: u32>(a: u32, b: u32, c: u32) -> u64 {
    let element = |value: u32, i: u32| u64::from(value << (32 - BITS - i * BITS) >> (32 - BITS));
    (0..32 / BITS).fold(u64::from(c), |sum, i| sum + element(a, i) * element(b, i))
}

struct Signed<const BITS: u32, const CLAMP: bool>;

impl<const BITS: u32, const CLAMP: bool> Lane32 for Signed<BITS, CLAMP> {
    #[inline(always)]
    fn lane(a: u32, b: u32, c: u32) -> u32 {
        let sum = signed::<BITS>(a, b, c);
        let sum = if CLAMP {
            sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
        } else {
            sum
        };
        (sum as i32).cast_unsigned()
    }
}

struct Unsigned<const BITS: u32, const CLAMP: bool>;

impl<const BITS: u32, const CLAMP: bool> Lane32 for Unsigned<BITS, CLAMP> {
    #[inline(always)]
    fn lane(a: u32, b: u32, c: u32) -> u32 {
        let sum = unsigned::<BITS>(a, b, c);
        if CLAMP {
            sum.min(u64::from(u32::MAX)) as u32
        } else {
            sum as u32
        }
    }
}

fn integer<L: Lane32, C: Lane32>(env: &TranslateEnv, clamp: bool, ty: Ty) -> Entry {
    let types = [ty, ty, Ty::B32];
    let entry = if clamp {
        Entry::rare32::<C>(env.level, &types, Ty::B32)
    } else {
        Entry::rare32::<L>(env.level, &types, Ty::B32)
    };
    entry.saturating()
}

/// Table entry of a dot product.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let clamp = inst.mods.clamp;
    Some(match inst.op {
        V_DOT2_I32_I16 => integer::<Signed<16, false>, Signed<16, true>>(env, clamp, Ty::PkB16),
        V_DOT2_U32_U16 => integer::<Unsigned<16, false>, Unsigned<16, true>>(env, clamp, Ty::PkB16),
        V_DOT4_I32_I8 => integer::<Signed<8, false>, Signed<8, true>>(env, clamp, Ty::B32),
        V_DOT4_U32_U8 => integer::<Unsigned<8, false>, Unsigned<8, true>>(env, clamp, Ty::B32),
        V_DOT8_I32_I4 => integer::<Signed<4, false>, Signed<4, true>>(env, clamp, Ty::B32),
        V_DOT8_U32_U4 => integer::<Unsigned<4, false>, Unsigned<4, true>>(env, clamp, Ty::B32),
        V_DOT2C_I32_I16 => {
            integer::<Signed<16, false>, Signed<16, true>>(env, clamp, Ty::B32).accumulating()
        }
        V_DOT4C_I32_I8 => {
            integer::<Signed<8, false>, Signed<8, true>>(env, clamp, Ty::B32).accumulating()
        }
        V_DOT8C_I32_I4 => {
            integer::<Signed<4, false>, Signed<4, true>>(env, clamp, Ty::B32).accumulating()
        }
        // Products of f16 are exact in f32; the sums round one after the other.
        V_DOT2_F32_F16 => dot2_entry(env),
        V_DOT2C_F32_F16 => dot2_entry(env).accumulating(),
        _ => return None,
    })
}

/// gfx90a flushes f16 denormals and denormal results here, as in its matrix operations.
fn dot2_entry(env: &TranslateEnv) -> Entry {
    if env.target == Target::Gfx90a {
        op32!(env, lane32, [PkF16, PkF16, F32] => F32, |a, b, c| flush(dot2(
            flush_half(a),
            flush_half(b),
            c
        )))
    } else {
        op32!(env, lane32, [PkF16, PkF16, F32] => F32, |a, b, c| dot2(a, b, c))
    }
}

#[inline(always)]
fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// Both halves with denormals as zeros.
#[inline(always)]
fn flush_half(bits: u32) -> u32 {
    let low = if bits & 0x7c00 == 0 { 0x8000 } else { 0xffff };
    let high = if bits & 0x7c00_0000 == 0 {
        0x8000_0000
    } else {
        0xffff_0000
    };
    bits & (low | high)
}

#[inline(always)]
fn dot2(a: u32, b: u32, c: u32) -> u32 {
    let low = h(a) * h(b) + f32::from_bits(c);
    let sum = h(a >> 16) * h(b >> 16) + low;
    if sum.is_nan() {
        0x7fc0_0000
    } else {
        sum.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_sign_extended_and_sums_saturate() {
        assert_eq!(
            signed::<8>(0xff02_0380, 0x0102_7f80, 5),
            -1 + 4 + 3 * 127 + 128 * 128 + 5
        );
        assert_eq!(unsigned::<4>(0xf000_0001, 0xf000_0002, 1), 225 + 2 + 1);
        assert_eq!(
            Signed::<16, true>::lane(0x7fff_7fff, 0x7fff_7fff, i32::MAX as u32),
            0x7fff_ffff
        );
        assert_eq!(
            Unsigned::<16, false>::lane(0xffff_0000, 0xffff_0000, 0),
            0xfffe_0001
        );
    }
}
