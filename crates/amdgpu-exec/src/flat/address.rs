//! Addresses of FLAT and GLOBAL lanes.

use crate::access::Addresses;
use crate::context::Context;
use crate::memory::guard;
use crate::rows;
use crate::step::Step;
use crate::wave::{CHUNK_LANES, Wave, aperture};

/// 64-bit address per lane, apertures apply.
pub(super) const FLAT: u8 = 0;
/// 64-bit global address per lane.
pub(super) const VECTOR: u8 = 1;
/// Scalar base and 32-bit offset per lane.
pub(super) const SCALAR: u8 = 2;

/// What is added to every lane's address.
#[inline(always)]
pub(super) fn base<const A: u8>(wave: &Wave, step: &Step) -> u64 {
    let offset = step.constant[0];
    if A == SCALAR {
        let [index, _] = step.src[2].to_le_bytes();
        wave.scalar64(index).wrapping_add(offset)
    } else {
        offset
    }
}

/// True if the instruction has a vector address.
#[inline(always)]
fn has_vector<const A: u8>(step: &Step) -> bool {
    A != SCALAR || step.aux & 1 != 0
}

/// Lanes' addresses: from two registers, or zero-extended from one.
#[inline(always)]
pub(super) fn addresses<const A: u8>(
    wave: &Wave,
    step: &Step,
    chunk: usize,
    base: u64,
) -> Addresses {
    let mut addresses = [base; CHUNK_LANES];
    if !has_vector::<A>(step) {
        return addresses;
    }
    let first = usize::from(step.src[0]) + chunk;
    let low = wave.chunk(first);
    for (address, low) in addresses.iter_mut().zip(low.0) {
        *address = address.wrapping_add(u64::from(low));
    }
    if A != SCALAR {
        let high = wave.chunk(first + wave.chunks_per_register());
        for (address, high) in addresses.iter_mut().zip(high.0) {
            *address = address.wrapping_add(u64::from(high) << 32);
        }
    }
    addresses
}

/// Host address of lane 0 if the active lanes' addresses rise by `size` bytes per lane and all 32
/// elements lie in the range that the instruction used last.
#[inline(always)]
pub(super) fn block<const A: u8, const WRITE: bool, const V3: bool>(
    wave: &Wave,
    context: &Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
    size: u32,
) -> Option<u64> {
    if !has_vector::<A>(step) {
        return None;
    }
    let first = usize::from(step.src[0]) + chunk;
    let leader = exec.trailing_zeros() & 31;
    let low = wave.chunk(first);
    let origin = low.0[leader as usize].wrapping_sub(leader * size);
    // Beyond, the low halves would carry into the high ones.
    if origin > u32::MAX - 32 * size {
        return None;
    }
    let high = (A != SCALAR).then(|| {
        let high = wave.chunk(first + wave.chunks_per_register());
        (high, high.0[leader as usize])
    });
    if !rows::rises::<V3>(low, origin, size, high, exec) {
        return None;
    }
    let top = high.map_or(0, |(_, top)| top);
    let own = u64::from(origin) | u64::from(top) << 32;
    let va = base::<A>(wave, step).wrapping_add(own);
    let host = context
        .port
        .window::<WRITE>(step.pc)
        .host(va, 32 * u64::from(size))?;
    is_global::<A>(va).then_some(host)
}

/// True if addresses from `va` on are not in an aperture.
#[inline(always)]
fn is_global<const A: u8>(va: u64) -> bool {
    A != FLAT || !(aperture::SHARED_BASE..=aperture::PRIVATE_BASE + aperture::LIMIT).contains(&va)
}

/// Copies `count` times 128 bytes; returns zero or the first faulting host address.
///
/// # Safety
/// As for [`guard::copy`]; `V3` tells the truth about the host.
#[inline(always)]
pub(super) unsafe fn copy<const V3: bool>(to: u64, from: u64, count: usize) -> u64 {
    let mut fault = 0;
    if V3 {
        // SAFETY: the caller's promise.
        unsafe { guard::copy_avx(to, from, count, &mut fault) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { guard::copy(to, from, count, &mut fault) };
    }
    fault
}

/// Interleaved elements of 32 lanes, 16 bytes each at most.
#[repr(C, align(128))]
pub(super) struct Block(pub(super) [u32; 4 * CHUNK_LANES]);
