//! Conversions between integers and floats and between float formats, and scaling by a power of two.

use super::valu::{self, Form};
use crate::case::Cases;
use crate::edge::Kind;
use crate::model::float::{self, Format, Mode, Value};
use crate::state::{low, mode};

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("conversions");
    for (name, kind, bits, signed, format) in FROM_INTEGER {
        in_modes(
            cases,
            name,
            (Kind::Float(format), &[kind]),
            format,
            |mode, [a, ..]| {
                (
                    float::from_integer(format, mode.round, integer(a, bits, signed)),
                    None,
                )
            },
        );
    }
    for (name, format, kind, least, most) in TO_INTEGER {
        in_modes(
            cases,
            name,
            (kind, &[Kind::Float(format)]),
            format,
            |_, [a, ..]| (saturated(format.to_f64(a), least, most), None),
        );
    }
    for (name, from, to) in BETWEEN {
        in_modes(
            cases,
            name,
            (Kind::Float(to), &[Kind::Float(from)]),
            to,
            |mode, [a, ..]| {
                // The payload keeps its upper bits, as in every IEEE conversion.
                (
                    from.convert(a, to, mode.round) | nan_quiet(from, to, a),
                    None,
                )
            },
        );
    }
    cases.family("scaling");
    for (name, format) in SCALE {
        let kind = Kind::Float(format);
        let exponent = if format == Format::F16 {
            Kind::B16
        } else {
            Kind::Count
        };
        in_modes(
            cases,
            name,
            (kind, &[kind, exponent]),
            format,
            |mode, [a, power, _]| {
                float::under_mode(format, mode, 1, [a, 0, 0], |_| {
                    float::scaled(format, mode.round, a, exponent_of(format, power))
                })
            },
        );
    }
}

/// The quiet bit, if the source is a NaN.
fn nan_quiet(from: Format, to: Format, bits: u64) -> u64 {
    if from.is_nan(bits) { to.quiet_bit() } else { 0 }
}

/// The exponent of a scaling: 16 bits for f16, else 32.
fn exponent_of(format: Format, bits: u64) -> i32 {
    let bits = low(bits).cast_signed();
    let power = if format == Format::F16 {
        bits << 16 >> 16
    } else {
        bits
    };
    // Beyond this every number is zero or infinite.
    power.clamp(-5000, 5000)
}

type FromInteger = (&'static str, Kind, u32, bool, Format);

const FROM_INTEGER: [FromInteger; 6] = [
    ("v_cvt_f32_i32", Kind::B32, 32, true, Format::F32),
    ("v_cvt_f32_u32", Kind::B32, 32, false, Format::F32),
    ("v_cvt_f64_i32", Kind::B32, 32, true, Format::F64),
    ("v_cvt_f64_u32", Kind::B32, 32, false, Format::F64),
    ("v_cvt_f16_i16", Kind::B16, 16, true, Format::F16),
    ("v_cvt_f16_u16", Kind::B16, 16, false, Format::F16),
];

type ToInteger = (&'static str, Format, Kind, f64, f64);

const TO_INTEGER: [ToInteger; 6] = [
    (
        "v_cvt_i32_f32",
        Format::F32,
        Kind::B32,
        -2_147_483_648.0,
        2_147_483_647.0,
    ),
    (
        "v_cvt_u32_f32",
        Format::F32,
        Kind::B32,
        0.0,
        4_294_967_295.0,
    ),
    (
        "v_cvt_i32_f64",
        Format::F64,
        Kind::B32,
        -2_147_483_648.0,
        2_147_483_647.0,
    ),
    (
        "v_cvt_u32_f64",
        Format::F64,
        Kind::B32,
        0.0,
        4_294_967_295.0,
    ),
    ("v_cvt_i16_f16", Format::F16, Kind::B16, -32768.0, 32767.0),
    ("v_cvt_u16_f16", Format::F16, Kind::B16, 0.0, 65535.0),
];

const BETWEEN: [(&str, Format, Format); 4] = [
    ("v_cvt_f32_f16", Format::F16, Format::F32),
    ("v_cvt_f16_f32", Format::F32, Format::F16),
    ("v_cvt_f64_f32", Format::F32, Format::F64),
    ("v_cvt_f32_f64", Format::F64, Format::F32),
];

const SCALE: [(&str, Format); 3] = [
    ("v_ldexp_f32", Format::F32),
    ("v_ldexp_f16", Format::F16),
    ("v_ldexp_f64", Format::F64),
];

fn integer(value: u64, bits: u32, signed: bool) -> i128 {
    let shift = 64 - bits;
    if signed {
        i128::from((value << shift).cast_signed() >> shift)
    } else {
        i128::from(value)
    }
}

/// Towards zero, to the bounds of the type; NaN becomes zero.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are within i64")]
fn saturated(value: f64, least: f64, most: f64) -> u64 {
    if value.is_nan() {
        0
    } else {
        (value.trunc().clamp(least, most) as i64).cast_unsigned()
    }
}

fn in_modes(
    cases: &mut Cases,
    name: &str,
    kinds: (Kind, &[Kind]),
    format: Format,
    compute: impl Fn(Mode, [u64; 3]) -> Value,
) {
    for round in 0..4 {
        for batch in 0..2 {
            let note = format!("round {round}");
            let form = Form {
                mode: mode::PLAIN | (round * 5),
                batch,
                note: &note,
                ..Form::PLAIN
            };
            let mode = Mode::of(form.mode, format);
            valu::add_form(cases, name, kinds, &form, |sources| compute(mode, sources));
        }
    }
}
