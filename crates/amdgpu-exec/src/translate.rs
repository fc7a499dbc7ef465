//! From decoded instructions to steps.

use amdgpu_isa::{Encoding, Inst, Operand, Special, Target};

use crate::api::Stop;
use crate::context::Context;
use crate::salu;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::{Wave, mode, slot};
use crate::{buffer, ds, flat, image, indexed, smem, valu};

/// Result of a translation.
pub(crate) enum Translated {
    /// The instruction has no effect.
    Nothing,
    /// Steps, and whether the block goes on behind them.
    Steps(Vec<Step>, bool),
}

/// Decodes the instruction at the start of `bytes`.
pub(crate) fn decode(target: Target, bytes: &[u8]) -> Result<Inst, Stop> {
    amdgpu_isa::decode(target, bytes).map_err(|_| {
        let shown = bytes.len().min(12);
        Stop::IllegalInstruction {
            bytes: bytes[..shown].to_vec(),
        }
    })
}

/// Translates one instruction.
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Result<Translated, Stop> {
    if salu::is_dropped(inst.op) {
        return Ok(Translated::Nothing);
    }
    let mut inst = *inst;
    let mut steps = Vec::with_capacity(2);
    steps.extend(resolve_specials(&mut inst, pc));
    let step = one(&inst, pc, env).ok_or_else(|| Stop::Unsupported {
        text: describe(&inst),
    })?;
    steps.push(step);
    Ok(Translated::Steps(steps, !salu::ends_block(inst.op)))
}

/// The step of an instruction without special operands.
pub(crate) fn one(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.encoding {
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc | Encoding::Sopp => {
            salu::translate(inst, pc, env)
        }
        Encoding::Smem => smem::translate(inst, pc, env),
        Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vop3
        | Encoding::Vop3Sd
        | Encoding::Vop3p
        | Encoding::Vopc
        | Encoding::Vintrp => vector(inst, pc, env),
        Encoding::Ds => ds::translate(inst, pc, env),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => flat::translate(inst, pc, env),
        Encoding::Mubuf | Encoding::Mtbuf => buffer::translate(inst, pc, env),
        Encoding::Mimg | Encoding::Vimage | Encoding::Vsample => image::translate(inst, pc, env),
        Encoding::Exp => None,
    }
}

fn vector(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    if env.mode & mode::VSKIP != 0 {
        return None;
    }
    if env.mode & mode::GPR_INDEX != 0 {
        return Some(indexed::step(inst, pc, env));
    }
    valu::translate(inst, pc, env)
}

/// Text of an instruction for reports.
pub(crate) fn describe(inst: &Inst) -> String {
    format!("{:?}", inst.op).to_lowercase()
}

/// Hardware values that are operands become scalar file entries. The flags are written there by a
/// step before the instruction, the apertures when the wave starts.
fn resolve_specials(inst: &mut Inst, pc: u64) -> Option<Step> {
    let mut flags = false;
    for operand in &mut inst.src {
        let Operand::Special(special) = *operand else {
            continue;
        };
        let index = match special {
            Special::Scc => slot::SCC,
            Special::Vccz => slot::VCCZ,
            Special::Execz => slot::EXECZ,
            Special::SharedBase => slot::SHARED_BASE,
            Special::SharedLimit => slot::SHARED_LIMIT,
            Special::PrivateBase => slot::PRIVATE_BASE,
            Special::PrivateLimit => slot::PRIVATE_LIMIT,
            Special::FlatScratchBaseLo => slot::FLAT_SCRATCH,
            Special::FlatScratchBaseHi => slot::FLAT_SCRATCH + 1,
            Special::PopsExitingWaveId | Special::LdsDirect => continue,
        };
        // The apertures are there from the start.
        flags |= !(slot::SHARED_BASE..=slot::PRIVATE_LIMIT).contains(&index);
        *operand = Operand::Scalar(index);
    }
    flags.then(|| Step::new(fill_flags, inst, pc))
}

fn fill_flags(wave: &mut Wave, _: &mut Context<'_>, _: &Step) -> Flow {
    wave.set_scalar64(slot::SCC, u64::from(wave.scc));
    wave.set_scalar64(slot::VCCZ, u64::from(wave.vcc() == 0));
    wave.set_scalar64(slot::EXECZ, u64::from(wave.exec() == 0));
    wave.set_scalar64(slot::FLAT_SCRATCH, wave.place.flat_scratch);
    Flow::Next
}
