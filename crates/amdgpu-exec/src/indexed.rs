//! GPR index mode of gfx9: M0 moves the VGPR numbers of vector instructions.
//!
//! Rare and slow by nature, so each execution builds the moved instruction and translates it
//! (Vega ISA manual, "VGPR Indexing").

use amdgpu_isa::{Inst, Operand};

use crate::api::Stop;
use crate::context::Context;
use crate::step::{Flow, HostLevel, Step, TranslateEnv};
use crate::wave::{Wave, mode};

/// A step that executes `inst` with register numbers moved by M0.
pub(crate) fn step(inst: &Inst, pc: u64, env: &TranslateEnv) -> Step {
    let mut step = Step::new(run, inst, pc);
    step.aux = u64::from(env.mode & !mode::GPR_INDEX);
    step.sdst = u16::from(env.level == HostLevel::V3);
    step
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "MODE and wave size were widened to fit"
)]
fn run(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let inst = moved(&step.inst, wave.m0());
    let env = TranslateEnv {
        target: wave.target,
        lanes: wave.lanes() as u8,
        level: if step.sdst == 0 {
            HostLevel::Base
        } else {
            HostLevel::V3
        },
        mode: step.aux as u32,
    };
    match crate::translate::one(&inst, step.pc, &env) {
        // SAFETY: the step was translated for the level of this host.
        Some(moved) => unsafe { (moved.run)(wave, context, &moved) },
        None => {
            let text = crate::translate::describe(&step.inst);
            context.stop(0, Stop::Unsupported { text })
        }
    }
}

/// M0 7:0 is the index; bits 15:12 enable it for source 0, 1, 2 and the destination.
fn moved(inst: &Inst, m0: u32) -> Inst {
    let [index, enables, ..] = m0.to_le_bytes();
    let enables = enables >> 4;
    let mut moved = *inst;
    for (i, source) in moved.src.iter_mut().take(3).enumerate() {
        if enables >> i & 1 != 0 {
            shift(source, index);
        }
    }
    if enables & 8 != 0 {
        shift(&mut moved.dst, index);
    }
    moved
}

fn shift(operand: &mut Operand, by: u8) {
    if let Operand::Vgpr(register) = operand {
        *register = register.wrapping_add(by);
    }
}
