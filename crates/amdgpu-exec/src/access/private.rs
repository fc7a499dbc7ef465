//! Private memory of 32 lanes at once: scratch instructions and swizzled buffers.

use super::{Addresses, Private, kind, load_lanes, store_lanes};
use crate::context::Context;
use crate::rows::{blend, rises};
use crate::step::Flow;
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// Byte offsets in the lanes' private segments.
pub(crate) enum Offsets {
    /// The same in every lane.
    Uniform(u32),
    /// One per lane.
    PerLane(Chunk),
}

impl Offsets {
    /// The common offset if whole dwords of all lanes are meant.
    #[inline(always)]
    fn row<const V3: bool>(&self, exec: u32) -> Option<u32> {
        let offset = match self {
            Self::Uniform(offset) => *offset,
            Self::PerLane(offsets) => {
                let leader = offsets.0[exec.trailing_zeros() as usize & 31];
                if !rises::<V3>(offsets, leader, 0, None, exec) {
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
            Self::PerLane(offsets) => offsets.0.map(u64::from),
        }
    }
}

/// Loads into the registers from `dst` on (first chunk of the register).
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes")]
pub(crate) fn load<const K: u8, const V3: bool>(
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
        && let Some(offset) = offsets.row::<V3>(exec)
        && context.scratch.holds(offset, bytes)
    {
        let stride = wave.chunks_per_register();
        for register in 0..kind::registers(K) {
            let row = context.scratch.row(offset + 4 * register as u32, chunk);
            blend::<V3>(wave.chunk_mut(dst + chunk + register * stride), row, exec);
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
pub(crate) fn store<const K: u8, const V3: bool>(
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
        && let Some(offset) = offsets.row::<V3>(exec)
        && context.scratch.holds(offset, bytes)
    {
        let stride = wave.chunks_per_register();
        for register in 0..kind::registers(K) {
            let values: &Chunk = wave.chunk(data + chunk + register * stride);
            blend::<V3>(
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
