//! The sRGB transfer function (IEC 61966-2-1) of 8-bit channels.

/// Linear intensity of an encoded byte.
#[expect(clippy::cast_possible_truncation, reason = "rounds to f32")]
pub(super) fn to_linear(byte: u32) -> f32 {
    let encoded = f64::from(byte) / 255.0;
    let linear = if encoded <= 0.04045 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    };
    linear as f32
}

/// Encoded byte of a linear intensity, rounded to nearest even; a NaN is zero (the cast makes it so).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0 ..= 255"
)]
pub(super) fn from_linear(linear: f32) -> u32 {
    let linear = f64::from(linear).clamp(0.0, 1.0);
    let encoded = if linear <= 0.003_130_8 {
        linear * 12.92
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    };
    (encoded * 255.0).round_ties_even() as u32
}
