//! Float arithmetic of the vector ALU in every rounding and denormal mode, with modifiers.

use super::valu::{self, Form, SOME_LANES};
use crate::arch::{self, ALL, Set};
use crate::case::Cases;
use crate::edge::Kind;
use crate::model::float::{self, Exact, Format, Mode, Value};
use crate::state::mode;

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("float modes");
    for op in &TABLE {
        let name = arch::name(op.names, cases.target).filter(|_| op.on.has(cases.target));
        if let Some(name) = name {
            add_modes(cases, op, name);
        }
    }
    cases.family("float modifiers");
    for op in &TABLE {
        let name = arch::name(op.names, cases.target).filter(|_| op.on.has(cases.target));
        if let Some(name) = name {
            add_modifiers(cases, op, name);
        }
    }
}

struct Op {
    names: &'static str,
    on: Set,
    format: Format,
    src: &'static [Kind],
    exact: Exact,
}

const H: Kind = Kind::Float(Format::F16);
const S: Kind = Kind::Float(Format::F32);
const D: Kind = Kind::Float(Format::F64);

const fn op(names: &'static str, format: Format, src: &'static [Kind], exact: Exact) -> Op {
    Op {
        names,
        on: ALL,
        format,
        src,
        exact,
    }
}

const TABLE: [Op; 13] = [
    op("v_add_f32", Format::F32, &[S, S], Exact::Add),
    op("v_sub_f32", Format::F32, &[S, S], Exact::Sub),
    op("v_subrev_f32", Format::F32, &[S, S], Exact::SubRev),
    op("v_mul_f32", Format::F32, &[S, S], Exact::Mul),
    op("v_fma_f32", Format::F32, &[S, S, S], Exact::Fma),
    op("v_add_f16", Format::F16, &[H, H], Exact::Add),
    op("v_sub_f16", Format::F16, &[H, H], Exact::Sub),
    op("v_subrev_f16", Format::F16, &[H, H], Exact::SubRev),
    op("v_mul_f16", Format::F16, &[H, H], Exact::Mul),
    op("v_fma_f16", Format::F16, &[H, H, H], Exact::Fma),
    op("v_add_f64", Format::F64, &[D, D], Exact::Add),
    op("v_mul_f64", Format::F64, &[D, D], Exact::Mul),
    op("v_fma_f64", Format::F64, &[D, D, D], Exact::Fma),
];

fn compute(op: &Op, mode: Mode, sources: [u64; 3]) -> Value {
    float::under_mode(op.format, mode, op.src.len(), sources, |sources| {
        float::exact(op.format, mode.round, op.exact, sources)
    })
}

/// MODE with the same rounding and denormal fields for all formats.
fn register(round: u32, denormals: u32) -> u32 {
    (round * 5) | ((denormals * 5) << 4) | mode::DX10_CLAMP
}

fn add_modes(cases: &mut Cases, op: &Op, name: &str) {
    for round in 0..4 {
        for denormals in 0..4 {
            let register = register(round, denormals);
            let note = format!("round {round} denormals {denormals}");
            let form = Form {
                mode: register,
                batch: round * 4 + denormals,
                note: &note,
                ..Form::PLAIN
            };
            let mode = Mode::of(register, op.format);
            let kind = Kind::Float(op.format);
            valu::add_form(cases, name, (kind, op.src), &form, |s| compute(op, mode, s));
        }
    }
}

fn add_modifiers(cases: &mut Cases, op: &Op, name: &str) {
    let kind = Kind::Float(op.format);
    let mode = Mode::of(mode::PLAIN, op.format);
    for batch in [0, 5] {
        let form = Form {
            modifiers: "clamp",
            suffix: if op.src.len() == 2 && op.format != Format::F64 {
                "_e64"
            } else {
                ""
            },
            batch,
            exec: SOME_LANES,
            ..Form::PLAIN
        };
        valu::add_form(cases, name, (kind, op.src), &form, |s| {
            float::clamped(op.format, mode, compute(op, mode, s))
        });
    }
}
