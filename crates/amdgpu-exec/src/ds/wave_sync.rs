//! `ds_gws_*`: see [`crate::sync`].

use crate::context::Context;
use crate::step::{Flow, Step, StepFn};
use crate::wave::Wave;

pub(super) fn select(name: &str) -> Option<StepFn> {
    Some(match name {
        "gws_init" => init,
        "gws_barrier" => barrier,
        "gws_sema_v" => post_one,
        "gws_sema_br" => post_many,
        "gws_sema_p" => take,
        "gws_sema_release_all" => release_all,
        _ => return None,
    })
}

/// The resource is M0 21:16 plus the offset.
#[expect(clippy::cast_possible_truncation, reason = "the offset has 16 bits")]
fn resource(wave: &Wave, step: &Step) -> u32 {
    (wave.m0() >> 16 & 0x3f).wrapping_add(step.constant[0] as u32) & 0x3f
}

/// The data of the first active lane; lane 0 if there is none.
fn data(wave: &Wave, step: &Step) -> u32 {
    let lane = wave.exec().trailing_zeros() as usize % wave.lanes();
    // The operand is listed as address or as first data, by decoder.
    let first = if step.inst.src[0] == amdgpu_isa::Operand::None {
        1
    } else {
        0
    };
    wave.chunk(usize::from(step.src[first]) + lane / 32).0[lane % 32]
}

fn advance(wave: &mut Wave, step: &Step, flow: Flow) -> Flow {
    wave.pc = step.next_pc();
    flow
}

/// The wave executes the instruction again when its turn comes.
fn again(wave: &mut Wave, step: &Step) -> Flow {
    wave.pc = step.pc;
    Flow::Yield
}

fn init(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    context.gws.init(resource(wave, step), data(wave, step));
    advance(wave, step, Flow::Branch)
}

fn barrier(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let resource = resource(wave, step);
    match wave.place.gws_ticket {
        Some(ticket) if context.gws.released(resource, ticket) => {
            wave.place.gws_ticket = None;
            advance(wave, step, Flow::Branch)
        }
        Some(_) => again(wave, step),
        None => {
            wave.place.gws_ticket = context.gws.arrive(resource);
            if wave.place.gws_ticket.is_some() {
                again(wave, step)
            } else {
                advance(wave, step, Flow::Branch)
            }
        }
    }
}

fn post_one(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    context.gws.post(resource(wave, step), 1);
    advance(wave, step, Flow::Branch)
}

fn post_many(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    context.gws.post(resource(wave, step), data(wave, step));
    advance(wave, step, Flow::Branch)
}

fn take(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    if context.gws.take(resource(wave, step)) {
        advance(wave, step, Flow::Branch)
    } else {
        again(wave, step)
    }
}

fn release_all(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    context.gws.post(resource(wave, step), u32::MAX);
    advance(wave, step, Flow::Branch)
}
