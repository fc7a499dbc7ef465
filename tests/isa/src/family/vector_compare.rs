//! Compares of every type: the mask in VCC, in scalar registers, and in EXEC.

use super::valu::{self, Form, SOME_LANES};
use crate::case::Cases;
use crate::edge::Kind;
use crate::model::float::Format;

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("vector compare");
    for (ty, kind) in INTEGERS {
        for (condition, holds) in INTEGER_CONDITIONS {
            let signed = ty.starts_with('i');
            let test =
                |a: u64, b: u64| holds(ordered(a, kind, signed).cmp(&ordered(b, kind, signed)));
            add_compare(cases, &format!("{condition}_{ty}"), kind, test);
        }
    }
    for (ty, format) in [
        ("f16", Format::F16),
        ("f32", Format::F32),
        ("f64", Format::F64),
    ] {
        for (condition, less, equal, greater, unordered) in FLOAT_CONDITIONS {
            let test = |a: u64, b: u64| match format.to_f64(a).partial_cmp(&format.to_f64(b)) {
                Some(std::cmp::Ordering::Less) => less,
                Some(std::cmp::Ordering::Equal) => equal,
                Some(std::cmp::Ordering::Greater) => greater,
                None => unordered,
            };
            add_compare(
                cases,
                &format!("{condition}_{ty}"),
                Kind::Float(format),
                test,
            );
        }
    }
}

const INTEGERS: [(&str, Kind); 6] = [
    ("i16", Kind::B16),
    ("u16", Kind::B16),
    ("i32", Kind::B32),
    ("u32", Kind::B32),
    ("i64", Kind::B64),
    ("u64", Kind::B64),
];

type Holds = fn(std::cmp::Ordering) -> bool;

const INTEGER_CONDITIONS: [(&str, Holds); 6] = [
    ("lt", std::cmp::Ordering::is_lt),
    ("eq", std::cmp::Ordering::is_eq),
    ("le", std::cmp::Ordering::is_le),
    ("gt", std::cmp::Ordering::is_gt),
    ("ne", std::cmp::Ordering::is_ne),
    ("ge", std::cmp::Ordering::is_ge),
];

/// Name; then what it says of less, equal, greater, unordered.
const FLOAT_CONDITIONS: [(&str, bool, bool, bool, bool); 14] = [
    ("lt", true, false, false, false),
    ("eq", false, true, false, false),
    ("le", true, true, false, false),
    ("gt", false, false, true, false),
    ("lg", true, false, true, false),
    ("ge", false, true, true, false),
    ("o", true, true, true, false),
    ("u", false, false, false, true),
    ("nge", true, false, false, true),
    ("nlg", false, true, false, true),
    ("ngt", true, true, false, true),
    ("nle", false, false, true, true),
    ("neq", true, false, true, true),
    ("nlt", false, true, true, true),
];

/// The value as a number that orders like its type.
fn ordered(bits: u64, kind: Kind, signed: bool) -> i128 {
    let width = match kind {
        Kind::B16 => 16,
        Kind::B64 => 64,
        _ => 32,
    };
    let shifted = i128::from(bits) << (128 - width);
    if signed {
        shifted >> (128 - width)
    } else {
        i128::from(bits & (u64::MAX >> (64 - width)))
    }
}

fn add_compare(cases: &mut Cases, name: &str, kind: Kind, holds: impl Fn(u64, u64) -> bool) {
    let kinds = [kind, kind];
    let (a, b) = if kind.is_wide() {
        ("v[0:1]", "v[2:3]")
    } else {
        ("v0", "v2")
    };
    for batch in 0..2 {
        let form = Form {
            batch,
            exec: if batch == 0 { u64::MAX } else { SOME_LANES },
            ..Form::PLAIN
        };
        let (before, values) = valu::prepare(&kinds, &form);
        let mask = (0..64).fold(0, |mask, lane| {
            let [a, b, _] = values[lane];
            mask | u64::from(before.active(lane) && holds(a, b)) << lane
        });
        let (note, vcc) = (if batch == 0 { "" } else { "some lanes" }, cases.vcc());
        let asm = format!("v_cmp_{name} {vcc}, {a}, {b}");
        cases.add(note, asm, before.clone(), |state, _| state.vcc = mask);
        let asm = format!("v_cmp_{name} {}, {a}, {b}", cases.mask(20));
        let lanes = cases.lanes;
        cases.add(note, asm, before.clone(), |state, _| {
            state.set_mask(20, lanes, mask)
        });
        // V_CMPX writes EXEC, and up to gfx9 its other destination too.
        let gfx9 = cases.target.is_gfx9();
        let asm = if gfx9 {
            format!("v_cmpx_{name} vcc, {a}, {b}")
        } else {
            format!("v_cmpx_{name} {a}, {b}")
        };
        cases.add(note, asm, before, |state, _| {
            state.exec = mask;
            if gfx9 {
                state.vcc = mask;
            }
        });
    }
}
