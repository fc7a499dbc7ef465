//! A case: a snippet, the state before it and what must follow.

use amdgpu_exec::Stop;
use amdgpu_isa::Target;

use crate::model::float::Format;
use crate::state::State;

/// One kernel.
pub(crate) struct Case {
    /// Group that the report counts by.
    pub(crate) family: &'static str,
    /// The instruction and what is special about its inputs.
    pub(crate) name: String,
    /// The instructions under test.
    pub(crate) asm: String,
    /// Lanes of the wave.
    pub(crate) lanes: u8,
    /// State before the snippet.
    pub(crate) before: State,
    /// What must follow.
    pub(crate) expected: Expected,
}

/// How a kernel must end.
pub(crate) enum Expected {
    /// In exactly this state, but for what the rules allow.
    State(Box<State>, Vec<Rule>),
    /// Stopped for this reason.
    Stop(Stopped),
}

/// Why a kernel must stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stopped {
    /// An access to the test memory plus this offset was refused.
    Fault(i64),
    /// A trap with this id.
    Trap(u8),
    /// The bytes are no instruction.
    Illegal,
}

impl Stopped {
    /// True if the engine stopped for this reason; the test memory is at `memory`.
    pub(crate) fn matches(self, stop: &Stop, memory: u64) -> bool {
        match (self, stop) {
            (Self::Fault(offset), Stop::MemoryFault(fault)) => {
                fault.gpu_va == memory.wrapping_add_signed(offset)
            }
            (Self::Trap(wanted), Stop::Trap { id }) => wanted == *id,
            (Self::Illegal, Stop::IllegalInstruction { .. }) => true,
            _ => false,
        }
    }
}

/// Results of a lane that no specification states bit by bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// First vector register of the result.
    pub(crate) register: usize,
    /// The lane.
    pub(crate) lane: usize,
    /// Lowest bit of the result in its register.
    pub(crate) shift: u32,
    /// Format of the result.
    pub(crate) format: Format,
    /// What is allowed.
    pub(crate) allowed: Allowed,
}

/// What a [`Rule`] allows instead of the expected bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowed {
    /// Any quiet NaN.
    QuietNan,
    /// Numbers from the first to the second, inclusive.
    Between(f64, f64),
    /// Any NaN.
    Nan,
}

impl Allowed {
    /// True if a result may be these bits.
    pub(crate) fn permits(self, format: Format, bits: u64) -> bool {
        match self {
            Self::QuietNan => format.is_quiet_nan(bits),
            Self::Between(least, most) => (least..=most).contains(&format.to_f64(bits)),
            Self::Nan => format.is_nan(bits),
        }
    }
}

/// The cases of a target, as they are made.
pub(crate) struct Cases {
    /// The target.
    pub(crate) target: Target,
    /// Lanes of the waves of the cases that are added.
    pub(crate) lanes: u8,
    /// All so far.
    pub(crate) list: Vec<Case>,
    /// Family of the cases that are added.
    family: &'static str,
}

impl Cases {
    /// None yet.
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            lanes: 64,
            list: Vec::new(),
            family: "",
        }
    }

    /// Begins a family.
    pub(crate) fn family(&mut self, name: &'static str) {
        self.family = name;
    }

    /// Adds a case whose expected state `model` makes from the state before.
    pub(crate) fn add(
        &mut self,
        note: &str,
        asm: impl Into<String>,
        before: State,
        model: impl FnOnce(&mut State, &mut Vec<Rule>),
    ) {
        let mut after = before.clone();
        let mut rules = Vec::new();
        model(&mut after, &mut rules);
        let expected = Expected::State(Box::new(after), rules);
        self.push(note, asm.into(), before, expected);
    }

    /// Adds a case that must stop.
    pub(crate) fn add_stop(&mut self, note: &str, asm: &str, before: State, stop: Stopped) {
        self.push(note, asm.into(), before, Expected::Stop(stop));
    }

    fn push(&mut self, note: &str, asm: String, before: State, expected: Expected) {
        let text = asm.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        let text = text.trim_end_matches("; ");
        let wave = if self.lanes == 32 { " wave32" } else { "" };
        let name = if note.is_empty() {
            format!("{text}{wave}")
        } else {
            format!("{text} [{note}]{wave}")
        };
        self.list.push(Case {
            family: self.family,
            name,
            asm,
            lanes: self.lanes,
            before,
            expected,
        });
    }

    /// A lane mask in scalar registers from `register` on.
    pub(crate) fn mask(&self, register: usize) -> String {
        if self.lanes == 64 {
            format!("s[{register}:{}]", register + 1)
        } else {
            format!("s{register}")
        }
    }

    /// VCC as a lane mask.
    pub(crate) fn vcc(&self) -> &'static str {
        if self.lanes == 64 { "vcc" } else { "vcc_lo" }
    }
}
