//! Operations on whole rows of 32 lanes, with AVX2 where the host has it.
//!
//! Written with intrinsics because the compiler unrolls loops over 32 lanes before it looks for
//! vectors and then often finds none.

use std::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi32,
    _mm256_mask_i32gather_epi32, _mm256_min_epu32, _mm256_movemask_ps, _mm256_mullo_epi32,
    _mm256_or_si256, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256,
    _mm256_testz_si256, _mm256_xor_si256,
};

use crate::wave::{CHUNK_LANES, Chunk};

/// Lanes of an AVX2 register.
const LANES: i32 = 8;

type Vectors = [__m256i; 4];

#[inline(always)]
fn vectors(chunk: &Chunk) -> Vectors {
    // SAFETY: both are 128 bytes of plain integers.
    unsafe { std::mem::transmute::<Chunk, Vectors>(*chunk) }
}

#[inline(always)]
fn chunk(vectors: Vectors) -> Chunk {
    // SAFETY: both are 128 bytes of plain integers.
    unsafe { std::mem::transmute::<Vectors, Chunk>(vectors) }
}

/// Writes `new` into the lanes of `mask`. `V3` says that the host has AVX2.
#[inline(always)]
pub(crate) fn blend<const V3: bool>(old: &mut Chunk, new: &Chunk, mask: u32) {
    if mask == u32::MAX {
        *old = *new;
    } else if V3 {
        // SAFETY: the caller's level has AVX2.
        unsafe { blend_avx2(old, new, mask) };
    } else {
        for lane in 0..CHUNK_LANES {
            if mask >> lane & 1 != 0 {
                old.0[lane] = new.0[lane];
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn blend_avx2(old: &mut Chunk, new: &Chunk, mask: u32) {
    let (mut result, new) = (vectors(old), vectors(new));
    for (i, (result, new)) in (0i32..).zip(result.iter_mut().zip(new)) {
        *result = _mm256_blendv_epi8(*result, new, active(mask, i));
    }
    *old = chunk(result);
}

/// All ones in the lanes of group `i` (of 8) whose bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn active(mask: u32, i: i32) -> __m256i {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let mask = _mm256_set1_epi32((mask >> (LANES * i)).cast_signed());
    _mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits)
}

/// True if lane `l` of `low` is `origin + l * stride` and all lanes of `high` are `top`, as far as
/// the lanes are in `mask`.
#[inline(always)]
pub(crate) fn rises<const V3: bool>(
    low: &Chunk,
    origin: u32,
    stride: u32,
    high: Option<(&Chunk, u32)>,
    mask: u32,
) -> bool {
    if V3 {
        // SAFETY: the caller's level has AVX2.
        return unsafe { rises_avx2(low, origin, stride, high, mask) };
    }
    (0u32..)
        .zip(low.0.iter().enumerate())
        .all(|(number, (lane, low))| {
            let fits = *low == origin.wrapping_add(number.wrapping_mul(stride));
            let same = high.is_none_or(|(high, top)| high.0[lane] == top);
            mask >> lane & 1 == 0 || fits && same
        })
}

#[inline]
#[target_feature(enable = "avx2")]
fn rises_avx2(
    low: &Chunk,
    origin: u32,
    stride: u32,
    high: Option<(&Chunk, u32)>,
    mask: u32,
) -> bool {
    let stride = stride.cast_signed();
    let steps = _mm256_mullo_epi32(
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _mm256_set1_epi32(stride),
    );
    let mut want = _mm256_add_epi32(_mm256_set1_epi32(origin.cast_signed()), steps);
    let next = _mm256_set1_epi32(stride.wrapping_mul(LANES));
    let top = _mm256_set1_epi32(high.map_or(0, |(_, top)| top.cast_signed()));
    let high = high.map(|(high, _)| vectors(high));
    let mut wrong = _mm256_setzero_si256();
    for (i, low) in vectors(low).into_iter().enumerate() {
        let mut differs = _mm256_xor_si256(low, want);
        if let Some(high) = high {
            differs = _mm256_or_si256(differs, _mm256_xor_si256(high[i], top));
        }
        if mask != u32::MAX {
            let group = active(mask, [0, 1, 2, 3][i]);
            differs = _mm256_and_si256(differs, group);
        }
        wrong = _mm256_or_si256(wrong, differs);
        want = _mm256_add_epi32(want, next);
    }
    _mm256_testz_si256(wrong, wrong) != 0
}

/// Bit `i` is set if value `i` is negative (all ones, for a lane mask).
#[inline(always)]
pub(crate) fn signs<const V3: bool>(values: &[u32; 8]) -> u32 {
    if V3 {
        // SAFETY: the caller's level has AVX2.
        return unsafe { signs_avx2(values) };
    }
    (0..)
        .zip(values)
        .fold(0, |bits, (i, value)| bits | (value >> 31) << i)
}

#[inline]
#[target_feature(enable = "avx2")]
fn signs_avx2(values: &[u32; 8]) -> u32 {
    // SAFETY: both are 32 bytes of plain values.
    let values = unsafe { std::mem::transmute::<[u32; 8], __m256>(*values) };
    _mm256_movemask_ps(values).cast_unsigned()
}

/// Dwords at byte offsets `addresses + first`; zero where the offset is above `last`.
///
/// `last + 4` bytes must exist, otherwise the result is zero everywhere.
#[inline(always)]
pub(crate) fn gather<const V3: bool>(
    bytes: &[u8],
    addresses: &Chunk,
    first: u32,
    last: u32,
) -> Chunk {
    if last as usize + 4 > bytes.len() || first > last {
        return Chunk::ZERO;
    }
    if V3 {
        // SAFETY: the caller's level has AVX2.
        return unsafe { gather_avx2(bytes, addresses, first, last) };
    }
    let mut result = Chunk::ZERO;
    for (value, own) in result.0.iter_mut().zip(addresses.0) {
        if own <= last - first {
            let at = (own + first) as usize;
            let dword = bytes.get(at..).and_then(|tail| tail.first_chunk());
            *value = dword.map_or(0, |dword| u32::from_le_bytes(*dword));
        }
    }
    result
}

#[inline]
#[target_feature(enable = "avx2")]
fn gather_avx2(bytes: &[u8], addresses: &Chunk, first: u32, last: u32) -> Chunk {
    let limit = _mm256_set1_epi32((last - first).cast_signed());
    let mut result = vectors(addresses);
    // The first dword that any lane may read.
    let start = bytes[first as usize..].as_ptr().cast::<i32>();
    for own in &mut result {
        let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(*own, limit), *own);
        let zero = _mm256_setzero_si256();
        // SAFETY: lanes that read have an offset of at most `last - first` from `start`, and
        // `last + 4` bytes exist; offsets are below 2^31 because LDS has 64 KiB.
        *own = unsafe { _mm256_mask_i32gather_epi32::<1>(zero, start, *own, inside) };
    }
    chunk(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rising(origin: u32, stride: u32) -> Chunk {
        let mut row = Chunk::ZERO;
        for (number, lane) in (0u32..).zip(&mut row.0) {
            *lane = origin.wrapping_add(number * stride);
        }
        row
    }

    fn agree<const V3: bool>() {
        for mask in [0, 1, 0x8000_0000, u32::MAX, 0xdead_beef] {
            let mut row = rising(5, 3);
            blend::<V3>(&mut row, &Chunk::splat(9), mask);
            for (lane, value) in (0u32..).zip(row.0) {
                assert_eq!(
                    value,
                    if mask >> lane & 1 != 0 {
                        9
                    } else {
                        5 + 3 * lane
                    }
                );
            }
        }
        let mut row = rising(100, 4);
        let high = Chunk::splat(7);
        assert!(rises::<V3>(&row, 100, 4, Some((&high, 7)), u32::MAX));
        assert!(!rises::<V3>(&row, 100, 4, Some((&high, 8)), u32::MAX));
        let values = [u32::MAX, 0, 0, u32::MAX, 0, 0, 0, u32::MAX];
        assert_eq!(signs::<V3>(&values), 0b1000_1001);
        let bytes: Vec<u8> = (0..=255).collect();
        let mut addresses = rising(1, 7);
        addresses.0[3] = u32::MAX;
        let got = gather::<V3>(&bytes, &addresses, 20, 100);
        for (lane, (value, own)) in got.0.into_iter().zip(addresses.0).enumerate() {
            let at = u64::from(own) + 20;
            let want = (0..4).fold(0, |word, i| word | (at + i) << (8 * i));
            assert_eq!(u64::from(value), if at <= 100 { want } else { 0 }, "{lane}");
        }
        row.0[19] += 1;
        assert!(!rises::<V3>(&row, 100, 4, None, u32::MAX));
        assert!(rises::<V3>(&row, 100, 4, None, !(1 << 19)));
    }

    #[test]
    fn rows_blend_and_compare_by_lane() {
        agree::<false>();
        if std::arch::is_x86_feature_detected!("avx2") {
            agree::<true>();
        }
    }
}
