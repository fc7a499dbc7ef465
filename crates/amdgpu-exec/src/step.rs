//! The translated form of an instruction: a function and its resolved operands.
//!
//! A step's function is called once per execution with the wave and the step itself. Whatever can
//! be decided once (operand kinds, register positions, constants, MODE, wave size, host features)
//! is decided at translation, so bodies are straight code.

use amdgpu_isa::{Inst, Target};

use crate::context::Context;
use crate::wave::Wave;

/// What happens after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Flow {
    /// The next step follows; at the end of a block, execution falls through.
    Next,
    /// `wave.pc` names the next block.
    Branch,
    /// Give other waves a turn, then go on at `wave.pc`.
    Yield,
    /// Wait for the workgroup, then go on at `wave.pc`.
    Barrier,
    /// `s_endpgm`.
    End,
    /// Something is wrong; the context knows what.
    Stop,
}

/// The code of a step.
///
/// # Safety
/// The host has the features of the [`HostLevel`] the step was translated for. Safe functions
/// coerce to this type; functions with `#[target_feature]` come from [`select`].
pub type StepFn = unsafe fn(&mut Wave, &mut Context<'_>, &Step) -> Flow;

/// Host instruction sets that step bodies are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum HostLevel {
    /// Any x86-64.
    Base,
    /// x86-64-v3: AVX2, FMA, F16C, BMI.
    V3,
}

impl HostLevel {
    /// The best level of this machine.
    pub fn detect() -> Self {
        let v3 = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt");
        if v3 { Self::V3 } else { Self::Base }
    }
}

/// A step's body, written once and compiled for every [`HostLevel`].
///
/// Implement it on a (possibly generic) unit type with `#[inline(always)]` on `run` and on all that
/// it calls, then [`select`] the function. `LEVEL` lets a body choose explicit intrinsics.
pub trait Body {
    /// Executes the step.
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow;
}

/// The function of body `B` for a host level.
pub fn select<B: Body>(level: HostLevel) -> StepFn {
    match level {
        HostLevel::Base => base::<B>,
        HostLevel::V3 => v3::<B>,
    }
}

/// The function of body `B` for hosts of level V3 only; no base version is compiled.
pub(crate) fn select_v3<B: Body>() -> StepFn {
    v3::<B>
}

fn base<B: Body>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    B::run::<false>(wave, context, step)
}

#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn v3<B: Body>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    B::run::<true>(wave, context, step)
}

/// What translation may depend on. A block belongs to one environment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TranslateEnv {
    /// Architecture.
    pub target: Target,
    /// 32 or 64.
    pub lanes: u8,
    /// Host instruction set.
    pub level: HostLevel,
    /// MODE, only the bits of [`crate::wave::mode::TRANSLATION`]. An instruction that changes one
    /// of them ends its block, so a step may rely on them. The host's MXCSR always is the default
    /// (nearest even, no flushing, exceptions masked) when a step is entered and must be when it returns.
    pub mode: u32,
}

/// A translated instruction. The meaning of `dst`, `src`, `constant` and `aux` is private to the
/// step's function.
#[repr(C, align(64))]
#[derive(Clone)]
pub struct Step {
    /// The code.
    pub run: StepFn,
    /// Destination: chunk index or scalar index.
    pub dst: u16,
    /// Scalar destination: scalar index.
    pub sdst: u16,
    /// Sources: chunk or scalar indexes.
    pub src: [u16; 4],
    /// Values of constant sources (f32/integer: low half).
    pub constant: [u64; 3],
    /// Anything else.
    pub aux: u64,
    /// Row function of a vector operation.
    pub(crate) kernel: Option<crate::valu::KernelFn>,
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction itself, for slow paths and reports.
    pub inst: Inst,
}

impl Step {
    /// A step whose operands are filled in by the caller.
    pub fn new(run: StepFn, inst: &Inst, pc: u64) -> Self {
        Self {
            run,
            dst: 0,
            sdst: 0,
            src: [0; 4],
            constant: [0; 3],
            aux: 0,
            kernel: None,
            pc,
            inst: *inst,
        }
    }

    /// Address of the following instruction.
    pub fn next_pc(&self) -> u64 {
        self.pc.wrapping_add(u64::from(self.inst.size_bytes))
    }
}
