//! `s_sendmsg_rtn`: messages of gfx11 and later that return a value.
//!
//! RDNA3 ISA manual, "S_SENDMSG_RTN_B32"; numbers from LLVM's `SIDefines.h` (`SendMsg::Id`).

use amdgpu_isa::{Inst, Op};

use super::operand;
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::Wave;

/// The 100 MHz counter. What else can be asked for belongs to graphics, to trap handlers, or is the
/// number of a doorbell, which the engine does not know.
const GET_REALTIME: i32 = 131;

pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let run = match (inst.op, inst.imm) {
        (Op::S_SENDMSG_RTN_B32, GET_REALTIME) => realtime32,
        (Op::S_SENDMSG_RTN_B64, GET_REALTIME) => realtime64,
        _ => return None,
    };
    let mut step = Step::new(run, inst, pc);
    step.dst = u16::from(operand::destination(inst.dst, env.target)?);
    Some(step)
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is asked for")]
fn realtime32(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    operand::write32(wave, step, context.device.realtime_ticks() as u32);
    Flow::Next
}

fn realtime64(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    operand::write64(wave, step, context.device.realtime_ticks());
    Flow::Next
}
