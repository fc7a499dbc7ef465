//! SOPK: a register and a 16-bit immediate.

use amdgpu_isa::{Inst, Op, Operand};

use super::{hwreg, operand};
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::Wave;

/// A step that reads and writes register `dst` with the sign-extended immediate in `aux`.
macro_rules! update {
    ($inst:ident, $pc:ident, $env:ident, |$wave:ident, $old:ident, $imm:ident| $body:expr) => {{
        fn run($wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
            let $old = operand::read32::<true>($wave, step, 0);
            let $imm = step.inst.imm;
            let value: u32 = $body;
            operand::write32($wave, step, value);
            Flow::Next
        }
        with_register(Step::new(run, $inst, $pc), $inst, $env)
    }};
}

/// Compares a register with the immediate.
macro_rules! compare {
    ($inst:ident, $pc:ident, $env:ident, |$a:ident, $imm:ident| $body:expr) => {{
        fn run(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
            let $a = operand::read32::<true>(wave, step, 0);
            let $imm = step.inst.imm;
            wave.scc = $body;
            Flow::Next
        }
        with_register(Step::new(run, $inst, $pc), $inst, $env)
    }};
}

/// The register may be listed as source, as destination, or both.
fn with_register(mut step: Step, inst: &Inst, env: &TranslateEnv) -> Option<Step> {
    let register = if inst.src[0] == Operand::None {
        inst.dst
    } else {
        inst.src[0]
    };
    step.src[0] = u16::from(operand::destination(register, env.target)?);
    step.dst = match inst.dst {
        Operand::None => step.src[0],
        dst => u16::from(operand::destination(dst, env.target)?),
    };
    Some(step)
}

/// The unsigned compares zero-extend the immediate.
fn unsigned(imm: i32) -> u32 {
    imm.cast_unsigned() & 0xffff
}

pub(super) fn translate(i: &Inst, p: u64, e: &TranslateEnv) -> Option<Step> {
    match i.op {
        Op::S_MOVK_I32 => update!(i, p, e, |wave, _old, imm| imm.cast_unsigned()),
        Op::S_CMOVK_I32 => {
            update!(i, p, e, |wave, old, imm| if wave.scc {
                imm.cast_unsigned()
            } else {
                old
            })
        }
        Op::S_ADDK_I32 => update!(i, p, e, |wave, old, imm| {
            let (value, overflow) = old.cast_signed().overflowing_add(imm);
            wave.scc = overflow;
            value.cast_unsigned()
        }),
        Op::S_MULK_I32 => {
            update!(i, p, e, |wave, old, imm| old
                .wrapping_mul(imm.cast_unsigned()))
        }
        Op::S_VERSION | Op::S_WAITCNT_VSCNT | Op::S_WAITCNT_VMCNT => {
            Some(Step::new(super::sopp::nothing, i, p))
        }
        Op::S_WAITCNT_EXPCNT | Op::S_WAITCNT_LGKMCNT => Some(Step::new(super::sopp::nothing, i, p)),
        _ => compares(i, p, e).or_else(|| control(i, p, e)),
    }
}

fn compares(i: &Inst, p: u64, e: &TranslateEnv) -> Option<Step> {
    match i.op {
        Op::S_CMPK_EQ_I32 => compare!(i, p, e, |a, imm| a.cast_signed() == imm),
        Op::S_CMPK_LG_I32 => compare!(i, p, e, |a, imm| a.cast_signed() != imm),
        Op::S_CMPK_GT_I32 => compare!(i, p, e, |a, imm| a.cast_signed() > imm),
        Op::S_CMPK_GE_I32 => compare!(i, p, e, |a, imm| a.cast_signed() >= imm),
        Op::S_CMPK_LT_I32 => compare!(i, p, e, |a, imm| a.cast_signed() < imm),
        Op::S_CMPK_LE_I32 => compare!(i, p, e, |a, imm| a.cast_signed() <= imm),
        Op::S_CMPK_EQ_U32 => compare!(i, p, e, |a, imm| a == unsigned(imm)),
        Op::S_CMPK_LG_U32 => compare!(i, p, e, |a, imm| a != unsigned(imm)),
        Op::S_CMPK_GT_U32 => compare!(i, p, e, |a, imm| a > unsigned(imm)),
        Op::S_CMPK_GE_U32 => compare!(i, p, e, |a, imm| a >= unsigned(imm)),
        Op::S_CMPK_LT_U32 => compare!(i, p, e, |a, imm| a < unsigned(imm)),
        Op::S_CMPK_LE_U32 => compare!(i, p, e, |a, imm| a <= unsigned(imm)),
        _ => None,
    }
}

fn control(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let run = match inst.op {
        Op::S_GETREG_B32 => hwreg::get,
        Op::S_SETREG_B32 => hwreg::set_register,
        Op::S_SETREG_IMM32_B32 => hwreg::set_constant,
        Op::S_CALL_B64 => call,
        Op::S_SUBVECTOR_LOOP_BEGIN => subvector_begin,
        Op::S_SUBVECTOR_LOOP_END => subvector_end,
        _ => return None,
    };
    let mut step = Step::new(run, inst, pc);
    step.aux = super::sopp::target(&step);
    step.dst = u16::from(operand::destination(inst.dst, env.target)?);
    if let Operand::None | Operand::Scalar(_) = inst.src[0] {
        return with_register(step, inst, env);
    }
    operand::place(&mut step, 0, operand::source(inst, 0, 32, env)?);
    Some(step)
}

fn call(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    operand::write64(wave, step, step.next_pc());
    wave.pc = step.aux;
    Flow::Branch
}

/// Runs a wave64 loop body first for the low, then for the high half of EXEC. The saved half and
/// the pass live in the register. RDNA2 ISA manual, "S_SUBVECTOR_LOOP_BEGIN".
fn subvector_begin(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let (low, high) = (wave.exec_chunk(0), wave.exec_chunk(1));
    if low == 0 && high == 0 {
        wave.pc = step.aux;
        return Flow::Branch;
    }
    if low == 0 {
        operand::write32(wave, step, low);
    } else {
        operand::write32(wave, step, high);
        wave.set_scalar(amdgpu_isa::scalar::EXEC_HI, 0);
    }
    Flow::Next
}

fn subvector_end(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    use amdgpu_isa::scalar::{EXEC_HI, EXEC_LO};
    let saved = operand::read32::<true>(wave, step, 0);
    if wave.exec_chunk(1) != 0 {
        wave.set_scalar(EXEC_LO, saved);
        return Flow::Next;
    }
    if saved == 0 {
        return Flow::Next;
    }
    let low = wave.exec_chunk(0);
    operand::write32(wave, step, low);
    wave.set_scalar(EXEC_LO, 0);
    wave.set_scalar(EXEC_HI, saved);
    wave.pc = step.aux;
    Flow::Branch
}
