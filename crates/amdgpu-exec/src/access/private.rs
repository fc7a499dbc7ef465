//! Private memory of 32 lanes at once: scratch instructions and swizzled buffers.

use super::{Addresses, Private, blend, kind, load_lanes, store_lanes};
use crate::context::Context;
use crate::step::Flow;
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// Byte offsets in the lanes' private segments.
pub(crate) enum Offsets {
    /// The same in every lane.
    Uniform(u32),
    /// One per lane.
    PerLane([u32; CHUNK_LANES]),
}

impl Offsets {
    /// The common offset if whole dwords of all lanes are meant.
    #[inline(always)]
    fn row(&self, exec: u32) -> Option<u32> {
        let offset = match self {
            Self::Uniform(offset) => *offset,
            Self::PerLane(offsets) => {
                let leader = offsets[exec.trailing_zeros() as usize & 31];
                let active = super::expand(exec);
                let differs = offsets
                    .iter()
                    .zip(active.0)
                    .fold(0, |all, (offset, active)| all | (offset ^ leader) & active);
                if differs != 0 {
                    return None;
                }
                leader
            }
        };
        offset.is_multiple_of(4).then_some(offset)
    }

    fn addresses(&self) -> Addresses {
        match self {
            Self::Uniform(offset) => [u64::from(*offset); CHUNK_LANES],
            Self::PerLane(offsets) => offsets.map(u64::from),
        }
    }
}

/// Loads into the registers from `dst` on (first chunk of the register).
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes")]
pub(crate) fn load<const K: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    offsets: &Offsets,
    dst: usize,
    chunk: usize,
    exec: u32,
) -> Flow {
    let bytes = kind::bytes(K) as u32;
    if exec == 0 {
        return Flow::Next;
    }
    if bytes >= 4
        && let Some(offset) = offsets.row(exec)
        && context.scratch.holds(offset, bytes)
    {
        let stride = wave.chunks_per_register();
        for register in 0..kind::registers(K) {
            let row = context.scratch.row(offset + 4 * register as u32, chunk);
            blend(wave.chunk_mut(dst + chunk + register * stride), row, exec);
        }
        return Flow::Next;
    }
    load_lanes::<Private, K>(
        wave,
        context,
        0,
        &offsets.addresses(),
        dst + chunk,
        chunk,
        exec,
    )
}

/// Stores the registers from `data` on.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes")]
pub(crate) fn store<const K: u8>(
    wave: &Wave,
    context: &mut Context<'_>,
    offsets: &Offsets,
    data: usize,
    chunk: usize,
    exec: u32,
) -> Flow {
    let bytes = kind::bytes(K) as u32;
    if exec == 0 {
        return Flow::Next;
    }
    if bytes >= 4
        && let Some(offset) = offsets.row(exec)
        && context.scratch.holds(offset, bytes)
    {
        let stride = wave.chunks_per_register();
        for register in 0..kind::registers(K) {
            let values: &Chunk = wave.chunk(data + chunk + register * stride);
            blend(
                context.scratch.row_mut(offset + 4 * register as u32, chunk),
                values,
                exec,
            );
        }
        return Flow::Next;
    }
    store_lanes::<Private, K>(
        wave,
        context,
        0,
        &offsets.addresses(),
        data + chunk,
        chunk,
        exec,
    )
}
