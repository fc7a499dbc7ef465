//! Operations on whole rows of 32 lanes: masks to rows and back, masked stores.

use std::arch::x86_64::{
    __m128i, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32,
};

use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// All ones if bit `lane` of `mask` is set, else zero.
#[inline(always)]
pub(super) fn lane_mask(mask: u32, lane: usize) -> u32 {
    (((mask << (31 - lane)).cast_signed()) >> 31).cast_unsigned()
}

/// Lanes of `new` whose bit in `mask` is set, `old` elsewhere.
#[inline(always)]
pub(super) fn blend(mask: u32, new: &Chunk, old: &mut Chunk) {
    for lane in 0..CHUNK_LANES {
        let take = lane_mask(mask, lane);
        old.0[lane] = (old.0[lane] & !take) | (new.0[lane] & take);
    }
}

/// Writes the lanes of `mask` to a chunk of the register file.
#[inline(always)]
pub(super) fn store(wave: &mut Wave, index: usize, mask: u32, value: &Chunk) {
    let chunk = wave.chunk_mut(index);
    if mask == u32::MAX {
        *chunk = *value;
    } else {
        blend(mask, value, chunk);
    }
}

/// Gathers the lanes (each zero or all ones) into a mask.
#[inline(always)]
pub(super) fn to_mask(row: &Chunk) -> u32 {
    let low = half_mask(&row.0, 0);
    let high = half_mask(&row.0, 16);
    low | high << 16
}

/// Mask of the 16 lanes that start at `first`.
#[inline(always)]
fn half_mask(row: &[u32; CHUNK_LANES], first: usize) -> u32 {
    let a = quad(row, first);
    let b = quad(row, first + 4);
    let c = quad(row, first + 8);
    let d = quad(row, first + 12);
    let words = pack16(pack32(a, b), pack32(c, d));
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_movemask_epi8(words) }.cast_unsigned()
}

/// Narrows lanes to 16 bits; signed saturation keeps 0 and -1 as they are.
#[inline(always)]
fn pack32(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_packs_epi32(a, b) }
}

#[inline(always)]
fn pack16(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_packs_epi16(a, b) }
}

#[inline(always)]
fn quad(row: &[u32; CHUNK_LANES], first: usize) -> __m128i {
    let four = &row[first..first + 4];
    // SAFETY: `four` is 16 readable bytes; the load has no alignment demand.
    unsafe { _mm_loadu_si128(four.as_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_round_trips_through_a_row() {
        for mask in [0, 1, 0x8000_0000, 0xffff_ffff, 0xdead_beef, 0x0001_8000] {
            let mut row = Chunk::ZERO;
            blend(mask, &Chunk::splat(u32::MAX), &mut row);
            assert_eq!(to_mask(&row), mask);
        }
    }
}
