//! Which instructions watch for what others do.
//!
//! A wave that spins without sleeping wastes its turn. It gives itself away by reading memory past
//! the caches, by atomics whose result it wants, or by reading a clock: nothing else can change
//! while it spins. Such instructions are charged as many, so that a spinning wave soon lets go and
//! is known as one that waits.

use amdgpu_isa::{Encoding, Inst, Op, Operand};

/// What a watching instruction is charged, in instructions: a few of them fill a turn.
const POLL_COST: u32 = 1000;

/// What an instruction is charged to the turn of its wave.
pub(crate) fn cost(inst: &Inst) -> u32 {
    if watches(inst) { POLL_COST } else { 1 }
}

/// How a wave or a group spent its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// It computes.
    Busy,
    /// It waits for others.
    Waiting,
}

impl Activity {
    /// By the instructions executed and charged in a turn.
    pub(crate) fn of(executed: u64, charged: u64) -> Self {
        if charged / 2 > executed {
            Self::Waiting
        } else {
            Self::Busy
        }
    }
}

fn watches(inst: &Inst) -> bool {
    match inst.encoding {
        Encoding::Flat | Encoding::Global | Encoding::Mubuf | Encoding::Mtbuf => {
            inst.dst != Operand::None && is_coherent(inst)
        }
        Encoding::Smem => is_coherent(inst) || matches!(inst.op, Op::S_MEMTIME | Op::S_MEMREALTIME),
        _ => false,
    }
}

/// GLC, DLC, SC0, SC1 and SCC ask for a value that others may have written; from gfx12 on the scope
/// does. Atomics that return have GLC. Beside SLC they only say that data will not be used again
/// (LLVM AMDGPUUsage, "Memory Model": nontemporal loads).
fn is_coherent(inst: &Inst) -> bool {
    let mods = &inst.mods;
    mods.scope != 0 || !mods.slc && (mods.glc || mods.dlc || mods.scc)
}
