//! Float instructions of one source: rounding to integers, exponents, approximations.

use super::valu::{self, Form};
use crate::arch;
use crate::case::{Allowed, Cases};
use crate::edge::Kind;
use crate::model::float::{self, Format, Mode, Value};
use crate::state::mode;
use rustc_apfloat::Round;

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("float to integral");
    for (name, direction) in INTEGRAL {
        for format in FORMATS {
            add_integral(
                cases,
                &format!("{name}_{}", suffix(format)),
                format,
                direction,
            );
        }
    }
    cases.family("float approximations");
    for op in &APPROXIMATE {
        if let Some(name) = arch::name(op.names, cases.target) {
            add_approximate(cases, name, op);
        }
    }
}

const FORMATS: [Format; 3] = [Format::F16, Format::F32, Format::F64];

/// How an instruction's name ends.
pub(crate) fn suffix(format: Format) -> &'static str {
    match format {
        Format::F16 => "f16",
        Format::F32 => "f32",
        Format::F64 => "f64",
    }
}

const INTEGRAL: [(&str, Round); 4] = [
    ("v_trunc", Round::TowardZero),
    ("v_ceil", Round::TowardPositive),
    ("v_floor", Round::TowardNegative),
    ("v_rndne", Round::NearestTiesToEven),
];

fn add_integral(cases: &mut Cases, name: &str, format: Format, direction: Round) {
    let kinds = (Kind::Float(format), &[Kind::Float(format)][..]);
    for denormals in [0, 3] {
        for batch in 0..2 {
            let register = (denormals * 0x50) | mode::DX10_CLAMP;
            let mode = Mode::of(register, format);
            let note = format!("denormals {denormals}");
            let form = Form {
                mode: register,
                batch,
                note: &note,
                ..Form::PLAIN
            };
            valu::add_form(cases, name, kinds, &form, |sources| {
                float::under_mode(format, mode, 1, sources, |[a, ..]| {
                    float::integral(format, direction, a)
                })
            });
        }
    }
}

/// An approximation, its function in f64, and its error in units of the last place.
struct Approximate {
    names: &'static str,
    format: Format,
    function: fn(f64) -> f64,
    ulp: f64,
}

const fn approximate(
    names: &'static str,
    format: Format,
    ulp: f64,
    function: fn(f64) -> f64,
) -> Approximate {
    Approximate {
        names,
        format,
        function,
        ulp,
    }
}

/// Errors that the ISA manuals and LLVM's cost tables state: 1 ulp in f32, and 0.51 in f16; f64 has
/// 2^-24 or so relative error, which only refinement turns into a result.
const APPROXIMATE: [Approximate; 10] = [
    approximate("v_rcp_f32", Format::F32, 1.0, |x| 1.0 / x),
    approximate("v_rsq_f32", Format::F32, 1.0, |x| 1.0 / x.sqrt()),
    approximate("v_sqrt_f32", Format::F32, 1.0, f64::sqrt),
    approximate("v_exp_f32", Format::F32, 1.0, f64::exp2),
    approximate("v_log_f32", Format::F32, 1.0, f64::log2),
    approximate("v_rcp_f16", Format::F16, 0.51, |x| 1.0 / x),
    approximate("v_rsq_f16", Format::F16, 0.51, |x| 1.0 / x.sqrt()),
    approximate("v_sqrt_f16", Format::F16, 0.51, f64::sqrt),
    approximate("v_exp_f16", Format::F16, 0.51, f64::exp2),
    approximate("v_log_f16", Format::F16, 0.51, f64::log2),
];

/// Distance to the next number of the format at `value`.
fn unit(format: Format, value: f64) -> f64 {
    let least = format.to_f64(1 << format.fraction());
    let magnitude = value.abs().max(least);
    let bits = format.nearest(magnitude);
    format.to_f64(bits + 1) - format.to_f64(bits)
}

fn approximation(op: &Approximate, [a, ..]: [u64; 3]) -> Value {
    let format = op.format;
    if let Some(nan) = float::nan_result(format, &[a]) {
        return nan;
    }
    // f32 functions see no denormals, and make none.
    let flushes = format == Format::F32;
    let source = if flushes { format.flushed(a) } else { a };
    let exact = (op.function)(format.to_f64(source));
    let bits = format.nearest(exact);
    if format.is_nan(bits) {
        return (bits, Some(Allowed::QuietNan));
    }
    let largest = format.to_f64(format.infinity() - 1);
    if exact.is_infinite() || exact == 0.0 {
        return (bits, None);
    }
    let error = op.ulp * unit(format, exact);
    let (mut least, mut most) = (exact - error, exact + error);
    if flushes && exact.abs() < format.to_f64(1 << format.fraction()) {
        (least, most) = (least.min(0.0), most.max(0.0));
    }
    if exact.abs() + error > largest {
        most = if exact > 0.0 { f64::INFINITY } else { most };
        least = if exact < 0.0 {
            f64::NEG_INFINITY
        } else {
            least
        };
    }
    (bits, Some(Allowed::Between(least, most)))
}

fn add_approximate(cases: &mut Cases, name: &str, op: &Approximate) {
    let kind = Kind::Float(op.format);
    for batch in 0..3 {
        let form = Form {
            batch,
            // f32 denormals are flushed in any mode, so ask for that.
            mode: 0x1c0,
            ..Form::PLAIN
        };
        valu::add_form(cases, name, (kind, &[kind]), &form, |sources| {
            approximation(op, sources)
        });
    }
}
