//! Image operations: texels by coordinate, through descriptors in SGPRs.
//!
//! Rules: Vega, RDNA2, RDNA3 and RDNA4 ISA manuals, "Image" chapters; the OpenCL C specification,
//! "Image Addressing and Filtering", where those leave arithmetic open. Images are linear in
//! memory and have one level; whatever else a descriptor asks for stops the dispatch by name.

mod address;
mod atomic;
mod coordinate;
mod data;
mod descriptor;
mod filter;
mod gather;
mod load;
mod sample;
mod sampler;
mod texel;

use amdgpu_isa::{ImageAction, ImageOp, Inst, Operand};

use crate::access::{Bits, Denied};
use crate::api::Stop;
use crate::context::Context;
use crate::flat::chunk;
use crate::salu::nothing;
use crate::step::{Flow, Step, StepFn, TranslateEnv};
use crate::wave::{CHUNK_LANES, Wave};

/// Why a lane could not go on.
#[derive(Debug)]
enum Refused {
    /// Memory refused an access.
    Access(Denied),
    /// What is asked for is not implemented.
    Unsupported(String),
}

impl From<Denied> for Refused {
    fn from(denied: Denied) -> Self {
        Self::Access(denied)
    }
}

impl Refused {
    /// Names what is not implemented.
    fn unsupported<T>(text: impl Into<String>) -> Result<T> {
        Err(Self::Unsupported(text.into()))
    }

    #[cold]
    fn stop(self, context: &mut Context<'_>, step: &Step, lane: usize) -> Flow {
        match self {
            Self::Access(denied) => denied.stop(context, lane),
            Self::Unsupported(reason) => {
                let text = format!("{}: {reason}", step.inst.op.name());
                let lane = u32::try_from(lane).unwrap_or(0);
                context.stop(lane, Stop::Unsupported { text })
            }
        }
    }
}

type Result<T> = std::result::Result<T, Refused>;

/// Translates an image instruction. The step's operands are read from the instruction itself;
/// `dst` is the register number (not the chunk) of the data.
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let parts = ImageOp::of(inst.op)?;
    let mut step = Step::new(nothing, inst, pc);
    step.run = select(inst, parts)?;
    let data = match inst.src[1] {
        Operand::None => inst.dst,
        data => data,
    };
    step.dst = chunk(data, CHUNK_LANES)?;
    let (Operand::Scalar(_), Operand::Vgpr(_)) = (inst.src[2], inst.src[0]) else {
        return None;
    };
    debug_assert!(env.lanes == 32 || env.lanes == 64);
    Some(step)
}

/// The operations that no compute code uses are refused: see docs/decode-exceptions.md.
fn select(inst: &Inst, parts: ImageOp) -> Option<StepFn> {
    if parts.packed || inst.mods.image & amdgpu_isa::inst::image::R128 != 0 {
        return None;
    }
    match parts.action {
        ImageAction::Load => Some(load::load),
        ImageAction::Store => Some(load::store),
        ImageAction::GetResinfo => Some(load::resinfo),
        ImageAction::Atomic => atomic::select(inst),
        ImageAction::Sample => Some(sample::sample),
        ImageAction::Gather4 => Some(gather::gather4),
        ImageAction::Gather4h
        | ImageAction::GetLod
        | ImageAction::MsaaLoad
        | ImageAction::IntersectRay => None,
    }
}

/// Name parts of a step's operation; translation has checked that there are any.
fn parts(step: &Step) -> ImageOp {
    ImageOp::of(step.inst.op).unwrap_or(ImageOp::LOAD)
}

/// Runs `body` for every active lane.
fn each_lane(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    mut body: impl FnMut(&mut Wave, &mut Context<'_>, usize) -> Result<()>,
) -> Flow {
    for chunk in 0..wave.chunks_per_register() {
        for lane in Bits(wave.exec_chunk(chunk)) {
            let lane = chunk * CHUNK_LANES + lane;
            if let Err(refused) = body(wave, context, lane) {
                return refused.stop(context, step, lane);
            }
        }
    }
    Flow::Next
}

#[cfg(test)]
mod tests;
