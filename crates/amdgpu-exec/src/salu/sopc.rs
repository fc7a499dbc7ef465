//! SOPC: comparisons into SCC, and the GPR index mode.

use amdgpu_isa::{Inst, Op};

use super::operand;
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::{Wave, mode};

macro_rules! compare {
    ($inst:ident, $pc:ident, $env:ident, $bits:literal, $read:ident, |$a:ident, $b:ident| $body:expr) => {{
        fn run<const A: bool, const B: bool>(
            wave: &mut Wave,
            _: &mut Context<'_>,
            step: &Step,
        ) -> Flow {
            let $a = operand::$read::<A>(wave, step, 0);
            let $b = operand::$read::<B>(wave, step, 1);
            wave.scc = $body;
            Flow::Next
        }
        let mut step = Step::new(run::<false, false>, $inst, $pc);
        let a = operand::place(&mut step, 0, operand::source($inst, 0, $bits, $env)?);
        let b = operand::place(&mut step, 1, operand::source($inst, 1, $bits, $env)?);
        step.run = match (a, b) {
            (false, false) => run::<false, false>,
            (false, true) => run::<false, true>,
            (true, false) => run::<true, false>,
            (true, true) => run::<true, true>,
        };
        Some(step)
    }};
}

pub(super) fn translate(i: &Inst, p: u64, e: &TranslateEnv) -> Option<Step> {
    match i.op {
        Op::S_CMP_EQ_I32 | Op::S_CMP_EQ_U32 => compare!(i, p, e, 32, read32, |a, b| a == b),
        Op::S_CMP_LG_I32 | Op::S_CMP_LG_U32 => compare!(i, p, e, 32, read32, |a, b| a != b),
        Op::S_CMP_GT_U32 => compare!(i, p, e, 32, read32, |a, b| a > b),
        Op::S_CMP_GE_U32 => compare!(i, p, e, 32, read32, |a, b| a >= b),
        Op::S_CMP_LT_U32 => compare!(i, p, e, 32, read32, |a, b| a < b),
        Op::S_CMP_LE_U32 => compare!(i, p, e, 32, read32, |a, b| a <= b),
        Op::S_CMP_GT_I32 => {
            compare!(i, p, e, 32, read32, |a, b| a.cast_signed()
                > b.cast_signed())
        }
        Op::S_CMP_GE_I32 => {
            compare!(i, p, e, 32, read32, |a, b| a.cast_signed()
                >= b.cast_signed())
        }
        Op::S_CMP_LT_I32 => {
            compare!(i, p, e, 32, read32, |a, b| a.cast_signed()
                < b.cast_signed())
        }
        Op::S_CMP_LE_I32 => {
            compare!(i, p, e, 32, read32, |a, b| a.cast_signed()
                <= b.cast_signed())
        }
        Op::S_CMP_EQ_U64 => compare!(i, p, e, 64, read64, |a, b| a == b),
        Op::S_CMP_LG_U64 => compare!(i, p, e, 64, read64, |a, b| a != b),
        Op::S_BITCMP0_B32 => compare!(i, p, e, 32, read32, |a, b| a >> (b & 31) & 1 == 0),
        Op::S_BITCMP1_B32 => compare!(i, p, e, 32, read32, |a, b| a >> (b & 31) & 1 == 1),
        Op::S_BITCMP0_B64 => bit64::<0>(i, p, e),
        Op::S_BITCMP1_B64 => bit64::<1>(i, p, e),
        Op::S_SET_GPR_IDX_ON => index_on(i, p, e),
        _ => None,
    }
}

/// The value has 64 bits, the bit number 32.
fn bit64<const WANT: u64>(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    fn run<const WANT: u64, const A: bool, const B: bool>(
        wave: &mut Wave,
        _: &mut Context<'_>,
        step: &Step,
    ) -> Flow {
        let value = operand::read64::<A>(wave, step, 0);
        let bit = operand::read32::<B>(wave, step, 1) & 63;
        wave.scc = value >> bit & 1 == WANT;
        Flow::Next
    }
    let mut step = Step::new(run::<WANT, false, false>, inst, pc);
    let a = operand::place(&mut step, 0, operand::source(inst, 0, 64, env)?);
    let b = operand::place(&mut step, 1, operand::source(inst, 1, 32, env)?);
    step.run = match (a, b) {
        (false, false) => run::<WANT, false, false>,
        (false, true) => run::<WANT, false, true>,
        (true, false) => run::<WANT, true, false>,
        (true, true) => run::<WANT, true, true>,
    };
    Some(step)
}

/// `s_set_gpr_idx_on s, mask`: M0 gets the index (7:0) and the operand mask (15:12), MODE the
/// enable bit. Vega ISA manual, "S_SET_GPR_IDX_ON".
fn index_on(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    fn run<const A: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let index = operand::read32::<A>(wave, step, 0) & 0xff;
        let mask = operand::read32::<false>(wave, step, 1) & 0xf;
        let m0 = wave.m0() & !0xf0ff | index | mask << 12;
        wave.set_scalar(amdgpu_isa::scalar::M0, m0);
        wave.mode |= mode::GPR_INDEX;
        wave.pc = step.next_pc();
        Flow::Branch
    }
    let mut step = Step::new(run::<false>, inst, pc);
    if operand::place(&mut step, 0, operand::source(inst, 0, 32, env)?) {
        step.run = run::<true>;
    }
    // The mask is an immediate in the source-1 field, whatever operand the decoder shows it as.
    step.constant[1] = match inst.src[1] {
        amdgpu_isa::Operand::Int(value) => u64::from(value.cast_unsigned()),
        amdgpu_isa::Operand::Literal(value) => u64::from(value),
        amdgpu_isa::Operand::Scalar(code) => u64::from(code),
        amdgpu_isa::Operand::None => u64::from(inst.imm.cast_unsigned()),
        _ => return None,
    };
    Some(step)
}
