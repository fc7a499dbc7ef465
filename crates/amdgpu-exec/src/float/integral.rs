//! Minimum and maximum, conversions to integers, exponents and mantissas.

#![expect(
    clippy::cast_possible_truncation,
    reason = "saturating float casts and fields narrower than their type"
)]

/// f32 minimum with -0 below +0; a quiet NaN loses against a number, a signalling one wins in IEEE
/// mode.
#[inline(always)]
pub(crate) fn min_f32(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let smaller = if order_key32(a) <= order_key32(b) {
        a
    } else {
        b
    };
    if x.is_nan() {
        b
    } else if y.is_nan() {
        a
    } else {
        smaller
    }
}

/// f32 maximum, see [`min_f32`].
#[inline(always)]
pub(crate) fn max_f32(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let larger = if order_key32(a) >= order_key32(b) {
        a
    } else {
        b
    };
    if x.is_nan() {
        b
    } else if y.is_nan() {
        a
    } else {
        larger
    }
}

/// Monotonic integer image of a float.
#[inline(always)]
fn order_key32(bits: u32) -> i32 {
    let signed = bits.cast_signed();
    signed ^ ((signed >> 31) & i32::MAX)
}

/// Monotonic integer image of a float.
#[inline(always)]
fn order_key64(bits: u64) -> i64 {
    let signed = bits.cast_signed();
    signed ^ ((signed >> 63) & i64::MAX)
}

/// f64 minimum, see [`min_f32`].
#[inline(always)]
pub(crate) fn min_f64(a: u64, b: u64) -> u64 {
    if f64::from_bits(a).is_nan() {
        b
    } else if f64::from_bits(b).is_nan() || order_key64(a) <= order_key64(b) {
        a
    } else {
        b
    }
}

/// f64 maximum, see [`min_f32`].
#[inline(always)]
pub(crate) fn max_f64(a: u64, b: u64) -> u64 {
    if f64::from_bits(a).is_nan() {
        b
    } else if f64::from_bits(b).is_nan() || order_key64(a) >= order_key64(b) {
        a
    } else {
        b
    }
}

/// Power of two `p` with `value = m * 2^p`, `0.5 <= |m| < 1`; 0 for zero, infinity and NaN.
#[inline(always)]
pub(crate) fn frexp_exp(bits: u64, fraction: u32, exponent: u32) -> i32 {
    let max = (1u64 << exponent) - 1;
    let biased = bits >> fraction & max;
    let part = bits & ((1 << fraction) - 1);
    let bias = (1i32 << (exponent - 1)) - 1;
    if biased == max || (biased == 0 && part == 0) {
        0
    } else if biased == 0 {
        // A denormal's top bit decides: bit `fraction - 1` has weight 2^(-bias).
        let top = 63 - part.leading_zeros().cast_signed();
        top - fraction.cast_signed() + 2 - bias
    } else {
        biased as i32 - bias + 1
    }
}

/// The `m` of [`frexp_exp`]; zero, infinity and NaN are returned as they are (NaN quiet).
#[inline(always)]
pub(crate) fn frexp_mant(bits: u64, fraction: u32, exponent: u32) -> u64 {
    let max = (1u64 << exponent) - 1;
    let biased = bits >> fraction & max;
    let part = bits & ((1 << fraction) - 1);
    let sign = bits & 1 << (fraction + exponent);
    let half = ((1u64 << (exponent - 1)) - 2) << fraction;
    if biased == max {
        let quiet = u64::from(part != 0) << (fraction - 1);
        bits | quiet
    } else if biased == 0 && part == 0 {
        bits
    } else if biased == 0 {
        let shift = part.leading_zeros() - (63 - fraction);
        sign | half | part << shift & ((1 << fraction) - 1)
    } else {
        sign | half | part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_orders_zeros_and_prefers_numbers() {
        let nan = 0x7fc0_0000;
        assert_eq!(min_f32(0, 0x8000_0000), 0x8000_0000);
        assert_eq!(max_f32(0x8000_0000, 0), 0);
        assert_eq!(min_f32(nan, 0x3f80_0000), 0x3f80_0000);
        assert_eq!(max_f32(0x3f80_0000, nan), 0x3f80_0000);
        assert_eq!(min_f64(0, 1 << 63), 1 << 63);
        assert_eq!(max_f32(0xbf80_0000, 0xc000_0000), 0xbf80_0000);
    }

    #[test]
    fn frexp_splits_normals_and_denormals() {
        for value in [
            1.0f64,
            0.75,
            3.0,
            -1e300,
            5e-324,
            -2.5e-310,
            f64::MIN_POSITIVE,
            f64::MAX,
        ] {
            let bits = value.to_bits();
            let mantissa = f64::from_bits(frexp_mant(bits, 52, 11));
            let exponent = frexp_exp(bits, 52, 11);
            assert!((0.5..1.0).contains(&mantissa.abs()), "{value:e}");
            let half = exponent / 2;
            let back = mantissa * 2f64.powi(half) * 2f64.powi(exponent - half);
            assert_eq!(back, value);
        }
        assert_eq!(frexp_exp(0, 52, 11), 0);
        assert_eq!(frexp_exp(f64::INFINITY.to_bits(), 52, 11), 0);
        assert_eq!(frexp_exp(1, 23, 8), -148);
    }
}
