//! Elementary functions for f32 and f16 results: f64 polynomials, branch-free so that rows
//! vectorise, the same bits on every host.

#![expect(
    clippy::cast_possible_truncation,
    reason = "exponents after clamping fit their integers"
)]

/// `2^x`.
#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    // Beyond these the f32 result is zero or infinite. NaN stays.
    let bounded = x.clamp(-1000.0, 1000.0);
    let whole = round(bounded);
    let t = (bounded - whole) * std::f64::consts::LN_2;
    // exp(t) for |t| <= 0.347: the first dropped term is below 2^-47.
    let mut sum = 1.0 / 479_001_600.0;
    for inverse in [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * t + inverse;
    }
    sum * power_of_two(whole)
}

/// Nearest integer for magnitudes below 2^51, ties to even.
#[inline(always)]
fn round(x: f64) -> f64 {
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    (x + MAGIC) - MAGIC
}

/// `2^whole` of an integer within f64's normal exponents.
#[inline(always)]
fn power_of_two(whole: f64) -> f64 {
    f64::from_bits((((whole + 1023.0) as i32).cast_unsigned() as u64) << 52)
}

/// Binary logarithm. Only for values that are normal in f64.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    /// Bits of sqrt(1/2): mantissas are brought to sqrt(1/2)..sqrt(2).
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits();
    let from_root = bits.wrapping_sub(SQRT_HALF);
    let exponent = (from_root.cast_signed() >> 52) as i32;
    let mantissa = f64::from_bits((from_root & MANTISSA).wrapping_add(SQRT_HALF));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    // 2 atanh(s) for |s| <= 0.172: the first dropped term is below 2^-60 relative.
    let mut sum = 1.0 / 23.0;
    for inverse in [
        1.0 / 21.0,
        1.0 / 19.0,
        1.0 / 17.0,
        1.0 / 15.0,
        1.0 / 13.0,
        1.0 / 11.0,
        1.0 / 9.0,
        1.0 / 7.0,
        1.0 / 5.0,
        1.0 / 3.0,
        1.0,
    ] {
        sum = sum * z + inverse;
    }
    let result = f64::from(exponent) + s * sum * (2.0 * std::f64::consts::LOG2_E);
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x == f64::INFINITY {
        x
    } else if x > 0.0 {
        result
    } else {
        f64::NAN
    }
}

/// Sine of `x` revolutions.
#[inline(always)]
pub(crate) fn sine(x: f64) -> f64 {
    let turn = x - x.round_ties_even();
    let folded = if turn > 0.25 {
        0.5 - turn
    } else if turn < -0.25 {
        -0.5 - turn
    } else {
        turn
    };
    sine_quarter(folded)
}

/// Cosine of `x` revolutions.
#[inline(always)]
pub(crate) fn cosine(x: f64) -> f64 {
    let turn = (x - x.round_ties_even()).abs();
    sine_quarter(0.25 - turn)
}

/// Sine of at most a quarter revolution to either side.
#[inline(always)]
fn sine_quarter(turn: f64) -> f64 {
    let t = turn * std::f64::consts::TAU;
    let z = t * t;
    // |t| <= pi/2: the first dropped term is below 2^-50.
    let mut sum = -1.0 / 121_645_100_408_832_000.0;
    for inverse in [
        1.0 / 355_687_428_096_000.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
        1.0,
    ] {
        sum = sum * z + inverse;
    }
    t * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error in units of the last place of f32, over a sweep of f32 arguments.
    fn worst(
        function: fn(f64) -> f64,
        exact: fn(f64) -> f64,
        arguments: impl Iterator<Item = f32>,
    ) -> f64 {
        arguments
            .map(|x| {
                let truth = exact(f64::from(x));
                let ulp = f64::from((truth.abs() as f32).max(f32::MIN_POSITIVE)) * 2f64.powi(-23);
                (f64::from(function(f64::from(x)) as f32) - truth).abs() / ulp
            })
            .fold(0.0, f64::max)
    }

    fn sweep(from: f32, to: f32) -> impl Iterator<Item = f32> {
        (0..200_000u32).map(move |i| from + (to - from) * (i as f32 / 200_000.0))
    }

    #[test]
    fn results_are_within_0_51_ulp_of_libm() {
        let up = f64::exp2;
        assert!(worst(exp2, up, sweep(-126.0, 127.9)) < 0.51);
        assert!(worst(log2, f64::log2, sweep(1e-30, 1e30)) < 0.51);
        assert!(worst(log2, f64::log2, sweep(0.5, 2.0)) < 0.51);
        assert!(worst(log2, f64::log2, sweep(1e-38, 1e-30)) < 0.51);
    }

    #[test]
    fn sines_take_revolutions() {
        // libm's argument in radians carries a rounding error, so compare away from the zeros.
        for x in sweep(-3.0, 3.0) {
            let x = f64::from(x);
            assert!((sine(x) - (x * std::f64::consts::TAU).sin()).abs() < 1e-14);
            assert!((cosine(x) - (x * std::f64::consts::TAU).cos()).abs() < 1e-14);
        }
        assert_eq!(sine(0.25) as f32, 1.0);
        assert_eq!(sine(0.5), 0.0);
        assert_eq!(cosine(0.25), 0.0);
        assert_eq!(cosine(1e9) as f32, 1.0);
    }

    #[test]
    fn special_arguments() {
        assert_eq!(exp2(f64::NEG_INFINITY) as f32, 0.0);
        assert_eq!(exp2(f64::INFINITY) as f32, f32::INFINITY);
        assert_eq!(exp2(3.0), 8.0);
        assert_eq!(log2(0.0), f64::NEG_INFINITY);
        assert_eq!(log2(1.0), 0.0);
        assert!(log2(-1.0).is_nan());
        assert!(exp2(f64::NAN).is_nan());
    }
}
