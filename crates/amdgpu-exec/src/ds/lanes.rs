//! Data movement between lanes that uses the LDS crossbar but no LDS.

use crate::access::Bits;
use crate::context::Context;
use crate::rows::blend;
use crate::step::{Flow, Step, StepFn};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

pub(super) fn select(name: &str) -> Option<StepFn> {
    Some(match name {
        "swizzle_b32" => swizzle,
        "permute_b32" => permute,
        "bpermute_b32" => backward_permute,
        _ => return None,
    })
}

/// Both chunks of a register; the second is zero in wave32.
type Lanes = [Chunk; 2];

fn read(wave: &Wave, register: u16) -> Lanes {
    let mut lanes = [Chunk::ZERO; 2];
    for (i, chunk) in lanes
        .iter_mut()
        .enumerate()
        .take(wave.chunks_per_register())
    {
        *chunk = *wave.chunk(usize::from(register) + i);
    }
    lanes
}

fn write(wave: &mut Wave, register: u16, lanes: &Lanes) {
    for (i, chunk) in lanes.iter().enumerate().take(wave.chunks_per_register()) {
        let exec = wave.exec_chunk(i);
        blend::<false>(wave.chunk_mut(usize::from(register) + i), chunk, exec);
    }
}

#[inline(always)]
fn active(exec: u64, lane: usize) -> bool {
    exec >> lane & 1 != 0
}

/// On RDNA each half of 32 lanes permutes on its own.
fn partner(wave: &Wave, lane: usize, wanted: usize) -> usize {
    if wave.target.is_rdna() {
        lane & !31 | wanted & 31
    } else {
        wanted & 63
    }
}

/// Lane numbers from byte addresses.
#[expect(clippy::cast_possible_truncation, reason = "the offset has 16 bits")]
fn wanted(step: &Step, address: u32) -> usize {
    (address.wrapping_add(step.constant[0] as u32) / 4) as usize
}

/// Every lane fetches from the lane it names; lanes that are off give zero.
fn backward_permute(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let exec = wave.exec();
    let addresses = read(wave, step.src[0]);
    let data = read(wave, step.src[1]);
    let mut result = [Chunk::ZERO; 2];
    for chunk in 0..wave.chunks_per_register() {
        for lane in Bits(wave.exec_chunk(chunk)) {
            let number = chunk * CHUNK_LANES + lane;
            let from = partner(wave, number, wanted(step, addresses[chunk].0[lane]));
            if active(exec, from) {
                result[chunk].0[lane] = data[from / CHUNK_LANES].0[from % CHUNK_LANES];
            }
        }
    }
    write(wave, step.dst, &result);
    Flow::Next
}

/// Every active lane sends to the lane it names; the highest sender wins, others get zero.
fn permute(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let addresses = read(wave, step.src[0]);
    let data = read(wave, step.src[1]);
    let mut result = [Chunk::ZERO; 2];
    for chunk in 0..wave.chunks_per_register() {
        for lane in Bits(wave.exec_chunk(chunk)) {
            let number = chunk * CHUNK_LANES + lane;
            let to = partner(wave, number, wanted(step, addresses[chunk].0[lane]));
            result[to / CHUNK_LANES].0[to % CHUNK_LANES] = data[chunk].0[lane];
        }
    }
    write(wave, step.dst, &result);
    Flow::Next
}

fn swizzle(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let exec = wave.exec();
    let data = read(wave, step.src[0]);
    let mut result = [Chunk::ZERO; 2];
    for chunk in 0..wave.chunks_per_register() {
        for lane in 0..CHUNK_LANES {
            let from = swizzled((step.constant[0] & 0xffff) as usize, lane);
            if active(exec, chunk * CHUNK_LANES + from) {
                result[chunk].0[lane] = data[chunk].0[from];
            }
        }
    }
    write(wave, step.dst, &result);
    Flow::Next
}

/// Source lane (of 32) for a lane. Vega ISA manual, "DS_SWIZZLE_B32".
fn swizzled(offset: usize, lane: usize) -> usize {
    const FFT: usize = 0xe000;
    const ROTATE: usize = 0xc000;
    const QUAD: usize = 0x8000;
    let low = offset & 0x1f;
    let next = offset >> 5 & 0x1f;
    let from = if offset >= FFT {
        let reversed = (0..5).fold(0, |bits, i| bits | (lane >> i & 1) << (4 - i));
        reversed >> low.count_ones() | lane & low
    } else if offset >= ROTATE {
        let by = if offset & 0x400 == 0 {
            next
        } else {
            next.wrapping_neg()
        };
        lane & low | lane.wrapping_add(by) & !low
    } else if offset & QUAD != 0 {
        lane & !3 | offset >> (2 * (lane & 3)) & 3
    } else {
        (lane & low | next) ^ (offset >> 10 & 0x1f)
    };
    from & 0x1f
}
