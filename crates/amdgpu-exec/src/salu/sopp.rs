//! SOPP: branches, waits, messages and the end of the program.

use amdgpu_isa::{Inst, Op};

use crate::api::Stop;
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::{Wave, mode};

/// Instructions without an effect here: accesses complete at once, so waits are over, and hints
/// hint at nothing. They are counted but get no step.
pub(crate) fn is_dropped(op: Op) -> bool {
    matches!(
        op,
        Op::S_NOP
            | Op::S_WAITCNT
            | Op::S_WAITCNT_DEPCTR
            | Op::S_WAITCNT_VSCNT
            | Op::S_WAITCNT_VMCNT
            | Op::S_WAITCNT_EXPCNT
            | Op::S_WAITCNT_LGKMCNT
            | Op::S_WAIT_IDLE
            | Op::S_WAIT_EVENT
            | Op::S_WAIT_LOADCNT
            | Op::S_WAIT_STORECNT
            | Op::S_WAIT_SAMPLECNT
            | Op::S_WAIT_BVHCNT
            | Op::S_WAIT_EXPCNT
            | Op::S_WAIT_DSCNT
            | Op::S_WAIT_KMCNT
            | Op::S_WAIT_LOADCNT_DSCNT
            | Op::S_WAIT_STORECNT_DSCNT
            | Op::S_DELAY_ALU
            | Op::S_CLAUSE
            | Op::S_INST_PREFETCH
            | Op::S_SETPRIO
            | Op::S_WAKEUP
            | Op::S_TTRACEDATA
            | Op::S_TTRACEDATA_IMM
            | Op::S_INCPERFLEVEL
            | Op::S_DECPERFLEVEL
            | Op::S_VERSION
            | Op::S_CBRANCH_CDBGSYS
            | Op::S_CBRANCH_CDBGUSER
            | Op::S_CBRANCH_CDBGSYS_OR_USER
            | Op::S_CBRANCH_CDBGSYS_AND_USER
    )
}

/// Where a branch with this immediate goes: dwords from the next instruction.
pub(crate) fn target(step: &Step) -> u64 {
    step.next_pc()
        .wrapping_add_signed(i64::from(step.inst.imm) * 4)
}

/// True if a step of this operation always or possibly leaves the block.
pub(crate) fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::S_BRANCH
            | Op::S_CBRANCH_SCC0
            | Op::S_CBRANCH_SCC1
            | Op::S_CBRANCH_VCCZ
            | Op::S_CBRANCH_VCCNZ
            | Op::S_CBRANCH_EXECZ
            | Op::S_CBRANCH_EXECNZ
            | Op::S_SUBVECTOR_LOOP_BEGIN
            | Op::S_SUBVECTOR_LOOP_END
            | Op::S_SETPC_B64
            | Op::S_SWAPPC_B64
            | Op::S_RFE_B64
            | Op::S_CALL_B64
            | Op::S_ENDPGM
            | Op::S_ENDPGM_SAVED
            | Op::S_ENDPGM_ORDERED_PS_DONE
            | Op::S_SETREG_B32
            | Op::S_SETREG_IMM32_B32
            | Op::S_ROUND_MODE
            | Op::S_DENORM_MODE
            | Op::S_SET_GPR_IDX_ON
            | Op::S_SET_GPR_IDX_OFF
            | Op::S_BARRIER
            | Op::S_SLEEP
            | Op::S_ICACHE_INV
            | Op::S_TRAP
            | Op::S_SETHALT
            | Op::DS_GWS_INIT
            | Op::DS_GWS_BARRIER
            | Op::DS_GWS_SEMA_BR
            | Op::DS_GWS_SEMA_P
            | Op::DS_GWS_SEMA_V
            | Op::DS_GWS_SEMA_RELEASE_ALL
    )
}

pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let run = branch(inst.op).or_else(|| control(inst, env))?;
    let mut step = Step::new(run, inst, pc);
    step.aux = target(&step);
    Some(step)
}

type Run = fn(&mut Wave, &mut Context<'_>, &Step) -> Flow;

fn branch(op: Op) -> Option<crate::step::StepFn> {
    let run: Run = match op {
        Op::S_BRANCH => |wave, _, step| taken(wave, step, true),
        Op::S_CBRANCH_SCC0 => |wave, _, step| taken(wave, step, !wave.scc),
        Op::S_CBRANCH_SCC1 => |wave, _, step| taken(wave, step, wave.scc),
        Op::S_CBRANCH_VCCZ => |wave, _, step| taken(wave, step, wave.vcc() == 0),
        Op::S_CBRANCH_VCCNZ => |wave, _, step| taken(wave, step, wave.vcc() != 0),
        Op::S_CBRANCH_EXECZ => |wave, _, step| taken(wave, step, wave.exec() == 0),
        Op::S_CBRANCH_EXECNZ => |wave, _, step| taken(wave, step, wave.exec() != 0),
        _ => return None,
    };
    Some(run)
}

#[inline(always)]
fn taken(wave: &mut Wave, step: &Step, condition: bool) -> Flow {
    if condition {
        wave.pc = step.aux;
        Flow::Branch
    } else {
        Flow::Next
    }
}

fn control(inst: &Inst, env: &TranslateEnv) -> Option<crate::step::StepFn> {
    const INTERRUPT: i32 = 1;
    const FREE_VGPRS: i32 = 3;
    let run: Run = match inst.op {
        Op::S_ENDPGM | Op::S_ENDPGM_SAVED | Op::S_ENDPGM_ORDERED_PS_DONE => |_, _, _| Flow::End,
        Op::S_BARRIER => |wave, _, step| leave(wave, step, Flow::Barrier),
        Op::S_SLEEP => |wave, _, step| leave(wave, step, Flow::Yield),
        Op::S_TRAP => trap,
        Op::S_SETHALT if inst.imm & 1 == 0 => nothing,
        Op::S_SENDMSG if inst.imm & message_mask(env) == INTERRUPT => send_interrupt,
        // Registers are given back when the wave ends.
        Op::S_SENDMSG if env.target.is_gfx11_plus() && inst.imm & 0xff == FREE_VGPRS => nothing,
        Op::S_ICACHE_INV => |wave, context, step| {
            context.forget_code();
            leave(wave, step, Flow::Branch)
        },
        Op::S_ROUND_MODE => |wave, _, step| {
            super::write_mode(wave, 0, 4, step.inst.imm.cast_unsigned());
            leave(wave, step, Flow::Branch)
        },
        Op::S_DENORM_MODE => |wave, _, step| {
            super::write_mode(wave, 4, 4, step.inst.imm.cast_unsigned());
            leave(wave, step, Flow::Branch)
        },
        Op::S_SET_GPR_IDX_OFF if env.target.is_gfx9() => |wave, _, step| {
            wave.mode &= !mode::GPR_INDEX;
            leave(wave, step, Flow::Branch)
        },
        Op::S_SET_GPR_IDX_MODE if env.target.is_gfx9() => |wave, _, step| {
            let mask = step.inst.imm.cast_unsigned() & 0xf;
            let m0 = wave.m0() & !0xf000 | mask << 12;
            wave.set_scalar(amdgpu_isa::scalar::M0, m0);
            Flow::Next
        },
        op if is_dropped(op) => nothing,
        _ => return None,
    };
    Some(run)
}

/// The bits of a message's number.
const fn message_mask(env: &TranslateEnv) -> i32 {
    if env.target.is_gfx11_plus() {
        0xff
    } else {
        0xf
    }
}

pub(crate) fn nothing(_: &mut Wave, _: &mut Context<'_>, _: &Step) -> Flow {
    Flow::Next
}

/// Goes on at the next instruction after `flow` was dealt with.
pub(super) fn leave(wave: &mut Wave, step: &Step, flow: Flow) -> Flow {
    wave.pc = step.next_pc();
    flow
}

/// `s_trap 3` is a debugger break, which has no effect without a debugger (LLVM AMDGPUUsage,
/// "Trap Handler ABI").
#[expect(clippy::cast_possible_truncation, reason = "the id has 8 bits")]
fn trap(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    const DEBUG_TRAP: u8 = 3;
    let id = step.inst.imm.cast_unsigned() as u8;
    if id == DEBUG_TRAP {
        return leave(wave, step, Flow::Branch);
    }
    context.stop(0, Stop::Trap { id })
}

fn send_interrupt(wave: &mut Wave, context: &mut Context<'_>, _: &Step) -> Flow {
    context.device.interrupt(wave.m0());
    Flow::Next
}
