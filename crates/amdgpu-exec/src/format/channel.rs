//! One channel: the bits in memory and the value in a register.

use super::{Number, srgb};
use crate::float::half;

/// Register value (f32 bits or integer) of `width` bits in memory.
pub(super) fn load(number: Number, width: u8, bits: u32) -> u32 {
    match number {
        Number::Uint => bits,
        Number::Sint => signed(width, bits).cast_unsigned(),
        Number::Float => load_float(width, bits),
        _ => load_scaled(number, width, bits).to_bits(),
    }
}

/// Integers of up to 24 bits are exact in f32, so every quotient is correctly rounded.
#[expect(
    clippy::cast_precision_loss,
    reason = "scaled channels have 16 bits or less"
)]
fn load_scaled(number: Number, width: u8, bits: u32) -> f32 {
    match number {
        Number::Unorm => bits as f32 / unsigned_limit(width) as f32,
        Number::Snorm => (signed(width, bits) as f32 / signed_limit(width) as f32).max(-1.0),
        Number::Uscaled => bits as f32,
        Number::Srgb => srgb::to_linear(bits),
        _ => signed(width, bits) as f32,
    }
}

/// The floats of 10 and 11 bits are the leading bits of a positive f16.
fn load_float(width: u8, bits: u32) -> u32 {
    match width {
        32 => bits,
        16 => half::f16_to_f32(low_half(bits)).to_bits(),
        _ => half::f16_to_f32(low_half(bits << (15 - width))).to_bits(),
    }
}

/// The bits that a register value (f32 bits or integer) becomes.
pub(super) fn store(number: Number, width: u8, value: u32) -> u32 {
    let float = f32::from_bits(value);
    match number {
        Number::Uint => value.min(unsigned_limit(width)),
        Number::Sint => clamp_signed(width, value.cast_signed()),
        Number::Float => store_float(width, float),
        Number::Unorm => scaled(width, float, 0, unsigned_limit(width), true),
        Number::Uscaled => scaled(width, float, 0, unsigned_limit(width), false),
        Number::Snorm => scaled(width, float, signed_limit(width), signed_limit(width), true),
        Number::Sscaled => {
            let limit = signed_limit(width);
            scaled(width, float, limit + 1, limit, false)
        }
        Number::Srgb => srgb::from_linear(float),
    }
}

/// Nearest even integer between `-below` and `above`, in two's complement; a NaN is zero. A
/// normalised value counts in units of `above`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value was clamped to the channel"
)]
fn scaled(width: u8, value: f32, below: u32, above: u32, normalised: bool) -> u32 {
    let unit = if normalised { f64::from(above) } else { 1.0 };
    let value = f64::from(value) * unit;
    let bounded = value.max(-f64::from(below)).min(f64::from(above));
    let integer = if value.is_nan() {
        0
    } else {
        bounded.round_ties_even() as i64
    };
    integer as u32 & unsigned_limit(width)
}

fn clamp_signed(width: u8, value: i32) -> u32 {
    let limit = signed_limit(width).cast_signed();
    value.clamp(-limit - 1, limit).cast_unsigned() & unsigned_limit(width)
}

fn store_float(width: u8, value: f32) -> u32 {
    match width {
        32 => value.to_bits(),
        16 => u32::from(half::f32_to_f16(value)),
        _ => small_float(value, u32::from(width) - 5),
    }
}

/// An unsigned float with 5 exponent bits, rounded to nearest even; negative numbers become zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a significand of few bits"
)]
fn small_float(value: f32, fraction: u32) -> u32 {
    let infinity = 31 << fraction;
    if value.is_nan() {
        return infinity | 1 << (fraction - 1);
    }
    if value <= 0.0 {
        return 0;
    }
    if value >= 65536.0 {
        return infinity;
    }
    // Unbiased exponent of the quantum's binade; denormals share the lowest one.
    let exponent = ((value.to_bits() >> 23).cast_signed() - 127).max(-14);
    let scale = f64::from(fraction.cast_signed() - exponent).exp2();
    let significand = (f64::from(value) * scale).round_ties_even() as u32;
    // A significand that rounds up to the next binade carries into the exponent.
    let biased = (exponent + 14).cast_unsigned();
    ((biased << fraction) + significand).min(infinity)
}

const fn unsigned_limit(width: u8) -> u32 {
    u32::MAX >> (32 - width)
}

const fn signed_limit(width: u8) -> u32 {
    unsigned_limit(width) >> 1
}

const fn signed(width: u8, bits: u32) -> i32 {
    let shift = 32 - width;
    (bits << shift).cast_signed() >> shift
}

/// Bits 15:0.
pub(super) const fn low_half(value: u32) -> u16 {
    let [a, b, ..] = value.to_le_bytes();
    u16::from_le_bytes([a, b])
}
