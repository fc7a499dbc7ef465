//! Minimum and maximum: signed zeros, and NaNs in and out of IEEE mode.

use super::float_unary::suffix;
use super::valu::{self, Form};
use crate::case::{Allowed, Cases};
use crate::edge::Kind;
use crate::model::float::{Format, Mode, Value};
use crate::state::mode;

/// Adds the family; gfx12 has other instructions.
pub(crate) fn add(cases: &mut Cases) {
    if cases.target.is_gfx12() {
        return;
    }
    cases.family("float minimum and maximum");
    for format in [Format::F16, Format::F32, Format::F64] {
        for (name, maximum) in [("v_min", false), ("v_max", true)] {
            add_two(
                cases,
                &format!("{name}_{}", suffix(format)),
                format,
                maximum,
            );
        }
    }
}

/// Minus the value for a maximum, so that both are minima. -0 is below +0 (ISA manuals, V_MIN_F32).
fn before(format: Format, maximum: bool, a: u64, b: u64) -> bool {
    let (x, y) = (format.to_f64(a), format.to_f64(b));
    let (x, y) = if maximum { (-x, -y) } else { (x, y) };
    x < y || x == y && x.is_sign_negative()
}

/// A number wins over a quiet NaN; in IEEE mode a signalling NaN wins and is quieted.
fn smaller(format: Format, mode: Mode, maximum: bool, [a, b, _]: [u64; 3]) -> Value {
    let signalling = [a, b].into_iter().find(|x| format.is_signalling_nan(*x));
    let both = format.is_nan(a) && format.is_nan(b);
    let allowed = both.then_some(Allowed::Nan);
    if let (true, Some(nan)) = (mode.ieee, signalling) {
        return (nan | format.quiet_bit(), allowed);
    }
    let first = format.is_nan(b) || !format.is_nan(a) && before(format, maximum, a, b);
    (if first { a } else { b }, allowed)
}

fn add_two(cases: &mut Cases, name: &str, format: Format, maximum: bool) {
    let kind = Kind::Float(format);
    for (ieee, note) in [(0, ""), (mode::IEEE, "IEEE")] {
        for batch in 0..4 {
            let form = Form {
                mode: mode::PLAIN | ieee,
                batch,
                note,
                ..Form::PLAIN
            };
            let mode = Mode::of(form.mode, format);
            valu::add_form(cases, name, (kind, &[kind, kind]), &form, |sources| {
                smaller(format, mode, maximum, sources)
            });
        }
    }
}
