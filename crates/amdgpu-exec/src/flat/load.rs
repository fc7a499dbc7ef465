//! Loads of FLAT and GLOBAL.

use super::address::{Block, FLAT, addresses, base, block, copy};
use crate::access::{Addresses, Flat, Global, Space, kind, load_lanes};
use crate::context::Context;
use crate::memory::guard;
use crate::rows::blend;
use crate::step::{Body, Flow, Step};
use crate::wave::{CHUNK_LANES, Chunk, Wave, aperture};

/// A load of kind `K` with addressing `A`.
pub(super) struct Load<const K: u8, const A: u8>;

impl<const K: u8, const A: u8> Body for Load<K, A> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 || load_block::<K, A, V3>(wave, context, step, chunk, exec) {
                continue;
            }
            let flow = load_slow::<K, A, V3>(wave, context, step, chunk, exec);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

/// Loads a chunk whose addresses are consecutive; false if it is none.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 16 bytes")]
fn load_block<const K: u8, const A: u8, const V3: bool>(
    wave: &mut Wave,
    context: &Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
) -> bool {
    let size = kind::bytes(K);
    let Some(host) = block::<A, false, V3>(wave, context, step, chunk, exec, size as u32) else {
        return false;
    };
    let dst = usize::from(step.dst) + chunk;
    match size {
        4 if exec == u32::MAX => {
            let to = std::ptr::from_mut(wave.chunk_mut(dst)).expose_provenance() as u64;
            // SAFETY: the window grants the source; the destination is one chunk.
            unsafe { copy::<V3>(to, host, 1) == 0 }
        }
        1 | 2 => narrow::<K, V3>(wave, dst, host, exec),
        _ => wide::<K, V3>(wave, dst, host, exec),
    }
}

/// Loads 32 elements of one or two bytes.
#[inline(always)]
fn narrow<const K: u8, const V3: bool>(wave: &mut Wave, dst: usize, host: u64, exec: u32) -> bool {
    let size = kind::bytes(K);
    let mut bytes = [0u8; 2 * CHUNK_LANES];
    let mut fault = 0;
    for (at, word) in (host..)
        .step_by(8)
        .zip(bytes.as_chunks_mut::<8>().0)
        .take(4 * size)
    {
        // SAFETY: the window grants all elements.
        *word = unsafe { guard::load64(at, &mut fault) }.to_le_bytes();
    }
    if fault != 0 {
        return false;
    }
    let mut new = *wave.chunk(dst);
    for (lane, value) in new.0.iter_mut().enumerate() {
        let raw = if size == 1 {
            u32::from(bytes[lane])
        } else {
            u32::from(u16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]]))
        };
        *value = kind::merge::<K>(*value, raw);
    }
    blend::<V3>(wave.chunk_mut(dst), &new, exec);
    true
}

/// Loads 32 elements of one to four dwords.
#[inline(always)]
fn wide<const K: u8, const V3: bool>(wave: &mut Wave, dst: usize, host: u64, exec: u32) -> bool {
    let registers = kind::registers(K);
    let mut block = Block([0; 4 * CHUNK_LANES]);
    let to = (&raw mut block).expose_provenance() as u64;
    // SAFETY: the window grants the source; the block holds four dwords of 32 lanes.
    if unsafe { copy::<V3>(to, host, registers) } != 0 {
        // Perhaps only inactive lanes' bytes are gone: the slow path finds out.
        return false;
    }
    let stride = wave.chunks_per_register();
    for register in 0..registers {
        let mut new = Chunk::ZERO;
        for (lane, value) in new.0.iter_mut().enumerate() {
            *value = block.0[lane * registers + register];
        }
        blend::<V3>(wave.chunk_mut(dst + register * stride), &new, exec);
    }
    true
}

#[inline(never)]
fn load_slow<const K: u8, const A: u8, const V3: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
) -> Flow {
    let addresses = addresses::<A>(wave, step, chunk, base::<A>(wave, step));
    if exec.count_ones() > 1 && is_uniform(&addresses, exec) {
        return load_one::<K, A, V3>(wave, context, step, &addresses, chunk, exec);
    }
    let dst = usize::from(step.dst) + chunk;
    let pc = step.pc;
    if A == FLAT {
        load_lanes::<Flat, K>(wave, context, pc, &addresses, dst, chunk, exec)
    } else {
        load_lanes::<Global, K>(wave, context, pc, &addresses, dst, chunk, exec)
    }
}

/// True if all active lanes have one address that is not private (private memory differs by lane).
#[inline(always)]
fn is_uniform(addresses: &Addresses, exec: u32) -> bool {
    let leader = addresses[exec.trailing_zeros() as usize & 31];
    let mut differs = 0;
    for (lane, address) in addresses.iter().enumerate() {
        let active = u64::from(exec >> lane & 1).wrapping_neg();
        differs |= (address ^ leader) & active;
    }
    differs == 0 && leader.wrapping_sub(aperture::PRIVATE_BASE) > aperture::LIMIT
}

/// One load for all lanes.
fn load_one<const K: u8, const A: u8, const V3: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    addresses: &Addresses,
    chunk: usize,
    exec: u32,
) -> Flow {
    let lane = exec.trailing_zeros() as usize & 31;
    let number = chunk * CHUNK_LANES + lane;
    let loaded = if A == FLAT {
        Flat::load::<K>(context, step.pc, addresses[lane], number)
    } else {
        Global::load::<K>(context, step.pc, addresses[lane], number)
    };
    let raw = match loaded {
        Ok(raw) => raw,
        Err(denied) => return denied.stop(context, number),
    };
    let stride = wave.chunks_per_register();
    for (register, raw) in raw.into_iter().enumerate().take(kind::registers(K)) {
        let place = wave.chunk_mut(usize::from(step.dst) + chunk + register * stride);
        let mut new = *place;
        for value in &mut new.0 {
            *value = kind::merge::<K>(*value, raw);
        }
        blend::<V3>(place, &new, exec);
    }
    Flow::Next
}
