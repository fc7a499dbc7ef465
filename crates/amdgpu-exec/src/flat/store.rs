//! Stores of FLAT and GLOBAL.

use super::address::{Block, FLAT, addresses, base, block, copy};
use crate::access::{Flat, Global, kind, store_lanes};
use crate::context::Context;
use crate::memory::guard;
use crate::step::{Body, Flow, Step};
use crate::wave::{CHUNK_LANES, Wave};

/// A store of kind `K` with addressing `A`.
pub(super) struct Store<const K: u8, const A: u8>;

impl<const K: u8, const A: u8> Body for Store<K, A> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 || store_block::<K, A, V3>(wave, context, step, chunk, exec) {
                continue;
            }
            let flow = store_slow::<K, A>(wave, context, step, chunk, exec);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

/// Stores a full chunk to consecutive addresses; false if it is none. After a fault the slow path
/// repeats the store lane by lane and names the lane.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes")]
fn store_block<const K: u8, const A: u8, const V3: bool>(
    wave: &Wave,
    context: &Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
) -> bool {
    if exec != u32::MAX {
        return false;
    }
    let size = kind::bytes(K);
    let Some(host) = block::<A, true, V3>(wave, context, step, chunk, exec, size as u32) else {
        return false;
    };
    let data = usize::from(step.src[1]) + chunk;
    match size {
        4 => {
            let from = std::ptr::from_ref(wave.chunk(data)).expose_provenance() as u64;
            // SAFETY: the window grants the destination; the source is one chunk.
            unsafe { copy::<V3>(host, from, 1) == 0 }
        }
        1 | 2 => narrow::<K>(wave, data, host),
        _ => wide::<K, V3>(wave, data, host),
    }
}

/// Stores 32 elements of one or two bytes.
#[inline(always)]
fn narrow<const K: u8>(wave: &Wave, data: usize, host: u64) -> bool {
    let size = kind::bytes(K);
    let mut bytes = [0u8; 2 * CHUNK_LANES];
    for (lane, value) in wave.chunk(data).0.into_iter().enumerate() {
        let [value, ..] = kind::shift::<K>([value, 0, 0, 0]);
        let value = value.to_le_bytes();
        bytes[lane * size..(lane + 1) * size].copy_from_slice(&value[..size]);
    }
    let mut fault = 0;
    for (at, word) in (host..)
        .step_by(8)
        .zip(bytes.as_chunks::<8>().0)
        .take(4 * size)
    {
        // SAFETY: the window grants all elements.
        unsafe { guard::store64(at, u64::from_le_bytes(*word), &mut fault) };
    }
    fault == 0
}

/// Stores 32 elements of two to four dwords.
#[inline(always)]
fn wide<const K: u8, const V3: bool>(wave: &Wave, data: usize, host: u64) -> bool {
    let registers = kind::registers(K);
    let mut block = Block([0; 4 * CHUNK_LANES]);
    let stride = wave.chunks_per_register();
    for register in 0..registers {
        let values = wave.chunk(data + register * stride);
        for (lane, value) in values.0.into_iter().enumerate() {
            block.0[lane * registers + register] = value;
        }
    }
    let from = (&raw const block).expose_provenance() as u64;
    // SAFETY: the window grants the destination; the block holds four dwords of 32 lanes.
    unsafe { copy::<V3>(host, from, registers) == 0 }
}

#[inline(never)]
fn store_slow<const K: u8, const A: u8>(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
) -> Flow {
    let addresses = addresses::<A>(wave, step, chunk, base::<A>(wave, step));
    let data = usize::from(step.src[1]) + chunk;
    let pc = step.pc;
    if A == FLAT {
        store_lanes::<Flat, K>(wave, context, pc, &addresses, data, chunk, exec)
    } else {
        store_lanes::<Global, K>(wave, context, pc, &addresses, data, chunk, exec)
    }
}
