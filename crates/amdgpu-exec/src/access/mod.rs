//! Loads, stores and atomics of lanes, shared by all memory instructions.
//!
//! An instruction turns its operands into one address per lane and a [`Space`]; what happens at an
//! address is here, once per space.

pub(crate) mod kind;
pub(crate) mod names;
pub(crate) mod private;
pub(crate) mod rmw;
mod spaces;

pub(crate) use spaces::{Flat, Global, Local, Private};

use crate::api::{AccessFault, Stop};
use crate::context::Context;
use crate::step::Flow;
use crate::wave::{CHUNK_LANES, Wave};

/// Why a lane's access did not happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Denied {
    /// The address space refused it.
    Fault(AccessFault),
    /// Outside an aperture, or a misaligned atomic.
    Aperture(u64),
}

impl Denied {
    /// Ends the dispatch because of lane `lane`.
    #[cold]
    pub(crate) fn stop(self, context: &mut Context<'_>, lane: usize) -> Flow {
        match self {
            Self::Fault(fault) => context.fault(lane, fault),
            Self::Aperture(gpu_va) => {
                let lane = u32::try_from(lane).unwrap_or(0);
                context.stop(lane, Stop::ApertureViolation { gpu_va })
            }
        }
    }
}

/// A kind of memory. Addresses are what the space counts from: GPU virtual addresses for global
/// and flat, byte offsets for LDS and private memory.
pub(crate) trait Space {
    /// Loads an element of kind `K` (see [`kind`]), raw and zero-extended.
    fn load<const K: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
    ) -> Result<[u32; 4], Denied>;

    /// Stores the low bytes of an element of kind `K`.
    fn store<const K: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        value: [u32; 4],
    ) -> Result<(), Denied>;

    /// Replaces a 32-bit value by what operation `OP` (see [`rmw`]) makes of it; returns the old.
    fn atomic32<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        data: u32,
        compare: u32,
    ) -> Result<u32, Denied>;

    /// The same for 64 bits.
    fn atomic64<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        data: u64,
        compare: u64,
    ) -> Result<u64, Denied>;
}

/// Set bits of a mask, lowest first.
#[derive(Clone, Copy)]
pub(crate) struct Bits(pub(crate) u32);

impl Iterator for Bits {
    type Item = usize;
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// Addresses of 32 lanes.
pub(crate) type Addresses = [u64; CHUNK_LANES];

/// Loads lane by lane into the registers from chunk `dst` on.
#[inline(always)]
pub(crate) fn load_lanes<S: Space, const K: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    pc: u64,
    addresses: &Addresses,
    dst: usize,
    chunk: usize,
    mask: u32,
) -> Flow {
    let stride = wave.chunks_per_register();
    for lane in Bits(mask) {
        let raw = match S::load::<K>(context, pc, addresses[lane], chunk * CHUNK_LANES + lane) {
            Ok(raw) => raw,
            Err(denied) => return denied.stop(context, chunk * CHUNK_LANES + lane),
        };
        for (register, raw) in raw.into_iter().enumerate().take(kind::registers(K)) {
            let place = &mut wave.chunk_mut(dst + register * stride).0[lane];
            *place = kind::merge::<K>(*place, raw);
        }
    }
    Flow::Next
}

/// Stores lane by lane from the registers from chunk `data` on.
#[inline(always)]
pub(crate) fn store_lanes<S: Space, const K: u8>(
    wave: &Wave,
    context: &mut Context<'_>,
    pc: u64,
    addresses: &Addresses,
    data: usize,
    chunk: usize,
    mask: u32,
) -> Flow {
    let stride = wave.chunks_per_register();
    for lane in Bits(mask) {
        let mut value = [0; 4];
        for (register, value) in value.iter_mut().enumerate().take(kind::registers(K)) {
            *value = wave.chunk(data + register * stride).0[lane];
        }
        let value = kind::shift::<K>(value);
        let number = chunk * CHUNK_LANES + lane;
        if let Err(denied) = S::store::<K>(context, pc, addresses[lane], number, value) {
            return denied.stop(context, number);
        }
    }
    Flow::Next
}

/// Where an atomic's operands are.
#[derive(Clone, Copy)]
pub(crate) struct AtomicOperands {
    /// Chunk of the destination, if the old value is wanted.
    pub(crate) dst: Option<usize>,
    /// Chunk of the data.
    pub(crate) data: usize,
    /// Chunk of the comparison value.
    pub(crate) compare: usize,
}

/// One atomic per active lane, in lane order.
#[inline(always)]
pub(crate) fn atomic_lanes<S: Space, const OP: u8, const WIDE: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    pc: u64,
    addresses: &Addresses,
    operands: AtomicOperands,
    chunk: usize,
    mask: u32,
) -> Flow {
    let stride = wave.chunks_per_register();
    for lane in Bits(mask) {
        let number = chunk * CHUNK_LANES + lane;
        let low = |at: usize| wave.chunk(at).0[lane];
        let pair = |at: usize| u64::from(low(at)) | u64::from(low(at + stride)) << 32;
        let (data, compare, address) = (operands.data, operands.compare, addresses[lane]);
        let old = if WIDE {
            S::atomic64::<OP>(context, pc, address, number, pair(data), pair(compare))
        } else {
            S::atomic32::<OP>(context, pc, address, number, low(data), low(compare)).map(u64::from)
        };
        match old {
            Ok(old) => put_old(wave, operands.dst, lane, old, WIDE),
            Err(denied) => return denied.stop(context, number),
        }
    }
    Flow::Next
}

#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a value into its halves"
)]
fn put_old(wave: &mut Wave, dst: Option<usize>, lane: usize, old: u64, wide: bool) {
    let Some(dst) = dst else { return };
    let stride = wave.chunks_per_register();
    wave.chunk_mut(dst).0[lane] = old as u32;
    if wide {
        wave.chunk_mut(dst + stride).0[lane] = (old >> 32) as u32;
    }
}
