//! Operand forms of vector instructions that work lane by lane.

use crate::arch::{self, Set};
use crate::case::{Cases, Rule};
use crate::edge::{Kind, inputs};
use crate::model::float::{Format, Value};
use crate::state::{State, low};

/// First register of the result.
pub(crate) const DST: usize = 8;
/// Lanes that are active when not all are.
pub(crate) const SOME_LANES: u64 = 0xf0f1_8000_7fff_00a5;
/// A literal that is no inline constant.
const LITERAL: u32 = 0x4123_4567;

/// An instruction that computes each lane from its sources.
pub(crate) struct Op {
    /// Names, see [`arch::name`].
    pub(crate) names: &'static str,
    /// Targets that have it.
    pub(crate) on: Set,
    /// Result.
    pub(crate) dst: Kind,
    /// Sources.
    pub(crate) src: &'static [Kind],
    /// It has an encoding of 32 bits, which can take a literal on every target.
    pub(crate) short: bool,
    /// The result.
    pub(crate) compute: fn([u64; 3]) -> u64,
}

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// `v[2i]`.
    Vector,
    /// `s[16 + 2i]`.
    Scalar,
    /// An inline integer.
    Inline(i8),
    /// 0x41234567, or 0x4123 for 16 bits.
    Literal,
}

/// A way to write an instruction.
pub(crate) struct Form<'a> {
    pub(crate) sources: [Source; 3],
    /// Appended to the name, such as `_e64`.
    pub(crate) suffix: &'static str,
    /// Appended to the operands, such as `clamp`.
    pub(crate) modifiers: &'a str,
    /// First register of the result.
    pub(crate) dst: usize,
    /// Active lanes.
    pub(crate) exec: u64,
    /// Batch of inputs.
    pub(crate) batch: u32,
    /// What the report adds to the text.
    pub(crate) note: &'a str,
    /// MODE before.
    pub(crate) mode: u32,
}

impl Form<'_> {
    /// All sources in vector registers, all lanes active.
    pub(crate) const PLAIN: Self = Self {
        sources: [Source::Vector; 3],
        suffix: "",
        modifiers: "",
        dst: DST,
        exec: u64::MAX,
        batch: 0,
        note: "",
        mode: crate::state::mode::PLAIN,
    };
}

/// An operand's text.
fn operand(source: Source, kind: Kind, i: usize) -> String {
    let register = |letter: char, first: usize| {
        if kind.is_wide() {
            format!("{letter}[{first}:{}]", first + 1)
        } else {
            format!("{letter}{first}")
        }
    };
    match source {
        Source::Vector => register('v', 2 * i),
        Source::Scalar => register('s', 16 + 2 * i),
        Source::Inline(value) => value.to_string(),
        Source::Literal => format!("{:#x}", narrow_literal(kind)),
    }
}

/// The literal, as wide as the assembler takes it for a kind.
fn narrow_literal(kind: Kind) -> u32 {
    if narrow(kind, u64::MAX) == 0xffff {
        LITERAL >> 16
    } else {
        LITERAL
    }
}

/// What an instruction reads from a constant operand of a kind.
fn constant(source: Source, kind: Kind) -> u64 {
    match source {
        Source::Inline(value) if kind.is_wide() => i64::from(value).cast_unsigned(),
        Source::Inline(value) => u64::from(i32::from(value).cast_unsigned()),
        Source::Literal if kind == Kind::Float(Format::F64) => u64::from(LITERAL) << 32,
        _ => narrow_literal(kind).into(),
    }
}

/// Only the bits that a kind has.
fn narrow(kind: Kind, bits: u64) -> u64 {
    match kind {
        Kind::B16 | Kind::Float(Format::F16) => bits & 0xffff,
        Kind::B64 | Kind::Float(Format::F64) => bits,
        _ => bits & 0xffff_ffff,
    }
}

/// The text of an instruction in a form.
pub(crate) fn text(name: &str, dst: Kind, src: &[Kind], form: &Form<'_>) -> String {
    let d = form.dst;
    let mut operands = vec![if dst.is_wide() {
        format!("v[{d}:{}]", d + 1)
    } else {
        format!("v{d}")
    }];
    for (i, kind) in src.iter().enumerate() {
        operands.push(operand(form.sources[i], *kind, i));
    }
    let separator = if form.modifiers.is_empty() { "" } else { " " };
    format!(
        "{name}{} {}{separator}{}",
        form.suffix,
        operands.join(", "),
        form.modifiers
    )
}

/// The state before, and the sources of each lane as the instruction reads them.
pub(crate) fn prepare(src: &[Kind], form: &Form<'_>) -> (State, Vec<[u64; 3]>) {
    let mut state = State::new();
    state.exec = form.exec;
    state.mode = form.mode;
    let mut values = inputs(src, form.batch);
    for (i, kind) in src.iter().enumerate() {
        for (lane, sources) in values.iter_mut().enumerate() {
            match form.sources[i] {
                Source::Vector if kind.is_wide() => state.set_wide(2 * i, lane, sources[i]),
                // The upper half of a 16-bit source is noise.
                Source::Vector if narrow(*kind, u64::MAX) == 0xffff => {
                    let noise = state.v[2 * i][lane] & 0xffff_0000;
                    state.v[2 * i][lane] = noise | low(sources[i]);
                }
                Source::Vector => state.v[2 * i][lane] = low(sources[i]),
                Source::Scalar => {
                    let value = if kind.is_wide() {
                        state.sgpr64(16 + 2 * i)
                    } else {
                        state.sgpr(16 + 2 * i).into()
                    };
                    sources[i] = narrow(*kind, value);
                }
                other => sources[i] = narrow(*kind, constant(other, *kind)),
            }
        }
    }
    (state, values)
}

/// Adds an instruction in a form; `compute` gives the result of a lane.
pub(crate) fn add_form(
    cases: &mut Cases,
    name: &str,
    (dst, src): (Kind, &[Kind]),
    form: &Form<'_>,
    compute: impl Fn([u64; 3]) -> Value,
) {
    let (before, values) = prepare(src, form);
    let keeps_high = cases.target.is_rdna();
    let asm = text(name, dst, src, form);
    cases.add(form.note, asm, before, |state, rules| {
        for (lane, sources) in values.iter().enumerate() {
            if state.active(lane) {
                write(
                    state,
                    rules,
                    (form.dst, lane),
                    dst,
                    keeps_high,
                    compute(*sources),
                );
            }
        }
    });
}

/// Writes a result. Those of 16 bits clear the upper half on gfx9 and leave it later (LLVM,
/// `zeroesHigh16BitsOfDest`).
pub(crate) fn write(
    state: &mut State,
    rules: &mut Vec<Rule>,
    (register, lane): (usize, usize),
    kind: Kind,
    keeps_high: bool,
    (bits, allowed): Value,
) {
    if kind.is_wide() {
        state.set_wide(register, lane, bits);
    } else if narrow(kind, u64::MAX) == 0xffff && keeps_high {
        let high = state.v[register][lane] & 0xffff_0000;
        state.v[register][lane] = high | low(bits & 0xffff);
    } else {
        state.v[register][lane] = low(narrow(kind, bits));
    }
    if let (Some(allowed), Kind::Float(format)) = (allowed, kind) {
        rules.push(Rule {
            register,
            lane,
            shift: 0,
            format,
            allowed,
        });
    }
}

/// Adds an integer instruction in all forms that it has.
pub(crate) fn add_all(cases: &mut Cases, op: &Op) {
    let Some(name) = arch::name(op.names, cases.target).filter(|_| op.on.has(cases.target)) else {
        return;
    };
    for form in forms(op, cases.target.is_rdna()) {
        let compute = |sources| ((op.compute)(sources), None);
        add_form(cases, name, (op.dst, op.src), &form, compute);
    }
    if cases.target.is_rdna() {
        cases.lanes = 32;
        let form = Form {
            exec: SOME_LANES,
            batch: 3,
            ..Form::PLAIN
        };
        let compute = |sources| ((op.compute)(sources), None);
        add_form(cases, name, (op.dst, op.src), &form, compute);
        cases.lanes = 64;
    }
}

/// The operand forms of an instruction.
fn forms(op: &Op, rdna: bool) -> Vec<Form<'static>> {
    use Source::{Inline, Literal, Scalar, Vector};
    let partial = Form {
        exec: SOME_LANES,
        batch: 1,
        note: "some lanes",
        ..Form::PLAIN
    };
    let with = |sources, batch| Form {
        sources,
        batch,
        ..Form::PLAIN
    };
    let mut forms = vec![Form::PLAIN, partial];
    forms.push(with([Scalar, Vector, Vector], 2));
    forms.push(with([Inline(-5), Vector, Vector], 0));
    forms.push(Form {
        dst: 0,
        note: "result over a source",
        batch: 2,
        ..Form::PLAIN
    });
    if op.src.len() > 1 {
        forms.push(Form {
            suffix: if op.short { "_e64" } else { "" },
            ..with([Vector, Scalar, Vector], 0)
        });
        forms.push(Form {
            suffix: if op.short { "_e64" } else { "" },
            ..with([Vector, Inline(17), Inline(17)], 1)
        });
    }
    if op.src[0] != Kind::B64 && (op.short || rdna) {
        forms.push(with([Literal, Vector, Vector], 1));
    }
    forms
}
