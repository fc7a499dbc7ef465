//! Atomics of FLAT and GLOBAL.

use super::address::{FLAT, addresses, base};
use crate::access::{AtomicOperands, Flat, Global, atomic_lanes, rmw};
use crate::context::Context;
use crate::step::{Flow, Step};
use crate::wave::Wave;

/// An atomic operation with addressing `A`.
pub(super) fn atomic<const OP: u8, const WIDE: bool, const A: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let base = base::<A>(wave, step);
    let compares = OP == rmw::CMPSWAP || OP == rmw::FCMPSWAP;
    let width = if WIDE { 2 } else { 1 };
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        if exec == 0 {
            continue;
        }
        let addresses = addresses::<A>(wave, step, chunk, base);
        let data = usize::from(step.src[1]) + chunk;
        let operands = AtomicOperands {
            dst: (step.aux & 4 != 0).then(|| usize::from(step.dst) + chunk),
            data,
            // The value to compare with follows the new value.
            compare: if compares {
                data + width * wave.chunks_per_register()
            } else {
                data
            },
        };
        let pc = step.pc;
        let flow = if A == FLAT {
            atomic_lanes::<Flat, OP, WIDE>(wave, context, pc, &addresses, operands, chunk, exec)
        } else {
            atomic_lanes::<Global, OP, WIDE>(wave, context, pc, &addresses, operands, chunk, exec)
        };
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}
