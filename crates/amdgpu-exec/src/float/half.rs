//! f16 to and from f32 and f64, branch-free so that rows vectorise.

#![expect(
    clippy::cast_possible_truncation,
    reason = "results are built in wider registers"
)]

/// Exact. A signalling NaN stays signalling.
#[inline(always)]
pub(crate) fn f16_to_f32(half: u16) -> f32 {
    const EXPONENT: u32 = 0x7c00 << 13;
    const REBIAS: u32 = (127 - 15) << 23;
    let magnitude = u32::from(half & 0x7fff) << 13;
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = magnitude & EXPONENT;
    let normal = magnitude + REBIAS;
    // Infinities and NaNs need the rest of the way to the top exponent.
    let special = normal + ((128 - 16) << 23);
    // A denormal is fraction * 2^-24.
    let denormal = ((magnitude >> 13) as f32 * f32::from_bits(0x3380_0000)).to_bits();
    let bits = if exponent == EXPONENT {
        special
    } else if exponent == 0 {
        denormal
    } else {
        normal
    };
    f32::from_bits(bits | sign)
}

/// Rounds to nearest, ties to even. A NaN keeps its leading payload bits and becomes quiet.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Adding 0.5 puts the rounding position of f16 denormals at bit 0.
    let magic = f32::from_bits(0x3f00_0000);
    let denormal = (f32::from_bits(magnitude) + magic)
        .to_bits()
        .wrapping_sub(magic.to_bits());
    let odd = magnitude >> 13 & 1;
    let normal = magnitude
        .wrapping_sub((127 - 15) << 23)
        .wrapping_add(0xfff + odd)
        >> 13;
    let nan = 0x7e00 | magnitude >> 13 & 0x3ff;
    let result = if magnitude > 0x7f80_0000 {
        nan
    } else if magnitude >= 0x4780_0000 {
        0x7c00
    } else if magnitude < 0x3880_0000 {
        denormal
    } else {
        normal
    };
    (result | sign) as u16
}

/// f64 to f32 rounded to odd: a later rounding to a much narrower format is then correct.
/// Only for magnitudes that are normal in f32 or zero.
#[inline(always)]
pub(crate) fn f64_to_f32_odd(value: f64) -> f32 {
    let bits = value.to_bits();
    let sign = (bits >> 32) as u32 & 0x8000_0000;
    let magnitude = bits & 0x7fff_ffff_ffff_ffff;
    let kept = (magnitude >> 29).wrapping_sub((1023 - 127) << 23) as u32;
    let sticky = u32::from(magnitude & 0x1fff_ffff != 0);
    let bits = if magnitude >= 0x7ff0_0000_0000_0000 {
        0x7f80_0000 | (magnitude >> 29) as u32 & 0x7f_ffff
    } else if magnitude == 0 {
        0
    } else {
        kept | sticky
    };
    f32::from_bits(bits | sign)
}

/// `a * b + c` of f16 with one rounding (to nearest even).
#[inline(always)]
pub(crate) fn fma_f16(a: u16, b: u16, c: u16) -> u16 {
    let (a, b, c) = (
        f64::from(f16_to_f32(a)),
        f64::from(f16_to_f32(b)),
        f64::from(f16_to_f32(c)),
    );
    let product = a * b;
    let sum = product + c;
    // Knuth's two-sum: the exact rounding error of the addition (the product is exact).
    let other = sum - product;
    let error = (product - (sum - other)) + (c - other);
    let bits = sum.to_bits();
    // Round to odd: an even significand with an error moves one unit towards the exact value.
    let towards = if (error > 0.0) == (sum > 0.0) {
        1
    } else {
        u64::MAX
    };
    // Infinite sums have a NaN for an error and stay as they are.
    let inexact = error.abs() > 0.0;
    let odd = if inexact && bits & 1 == 0 {
        bits.wrapping_add(towards)
    } else {
        bits
    };
    f32_to_f16(f64_to_f32_odd(f64::from_bits(odd)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::soft::{self, F16, F32, Rounding};

    #[test]
    fn every_half_widens_exactly_and_back() {
        for half in 0..=u16::MAX {
            let wide = f16_to_f32(half);
            let expected = soft::convert(F16, F32, Rounding::Even, u64::from(half));
            if F16.is_nan(u64::from(half)) {
                assert!(wide.is_nan());
                assert_eq!(f32_to_f16(wide), half | 0x200);
            } else {
                assert_eq!(u64::from(wide.to_bits()), expected);
                assert_eq!(f32_to_f16(wide), half);
            }
        }
    }

    #[test]
    fn narrowing_rounds_to_nearest_even() {
        // Every f32 whose value is a half, a midpoint between two halves, or next to one.
        for half in 0..0x7c00u16 {
            let base = f16_to_f32(half).to_bits();
            let step = f16_to_f32(half + 1).to_bits();
            let middle = (f32::from_bits(base) + f32::from_bits(step)) / 2.0;
            for bits in [
                base,
                base + 1,
                middle.to_bits() - 1,
                middle.to_bits(),
                middle.to_bits() + 1,
            ] {
                let expected = soft::convert(F32, F16, Rounding::Even, u64::from(bits));
                assert_eq!(
                    u64::from(f32_to_f16(f32::from_bits(bits))),
                    expected,
                    "{bits:x}"
                );
            }
        }
    }

    #[test]
    fn fused_half_rounds_once() {
        let mut state = 1u64;
        for _ in 0..2_000_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let [a, b, c] = [16, 32, 48].map(|shift| (state >> shift) as u16);
            let expected = soft::fma(F16, Rounding::Even, a.into(), b.into(), c.into());
            let ours = u64::from(fma_f16(a, b, c));
            assert!(
                ours == expected || F16.is_nan(ours) && F16.is_nan(expected),
                "{a:x} {b:x} {c:x}"
            );
        }
    }
}
