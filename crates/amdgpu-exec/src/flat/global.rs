//! FLAT and GLOBAL: lanes access the GPU's address space.
//!
//! A chunk of 32 lanes whose addresses are consecutive and inside the range used last is one block
//! copy; so is the load of one address by all lanes. Everything else goes lane by lane.

use amdgpu_isa::Inst;

use super::Addressing;
use crate::access::names::{self, with_atomic, with_load_kind, with_store_kind};
use crate::access::{
    self, Addresses, AtomicOperands, Flat, Global, Space, atomic_lanes, blend, kind, load_lanes,
    rmw, store_lanes,
};
use crate::context::Context;
use crate::memory::guard;
use crate::step::{Body, Flow, HostLevel, Step, StepFn, select as level_of};
use crate::wave::{CHUNK_LANES, Chunk, Wave, aperture};

const FLAT: u8 = 0;
const VECTOR: u8 = 1;
const SCALAR: u8 = 2;

/// The function of an instruction.
pub(super) fn select(
    name: &str,
    addressing: Addressing,
    inst: &Inst,
    level: HostLevel,
) -> Option<StepFn> {
    if let Some(kind) = names::load(name) {
        macro_rules! body {
            ($k:expr) => {
                match addressing {
                    Addressing::Flat => level_of::<Load<{ $k }, FLAT>>(level),
                    Addressing::Vector => level_of::<Load<{ $k }, VECTOR>>(level),
                    Addressing::Scalar => level_of::<Load<{ $k }, SCALAR>>(level),
                }
            };
        }
        return Some(with_load_kind!(kind, body));
    }
    if let Some(kind) = names::store(name) {
        macro_rules! body {
            ($k:expr) => {
                match addressing {
                    Addressing::Flat => level_of::<Store<{ $k }, FLAT>>(level),
                    Addressing::Vector => level_of::<Store<{ $k }, VECTOR>>(level),
                    Addressing::Scalar => level_of::<Store<{ $k }, SCALAR>>(level),
                }
            };
        }
        return Some(with_store_kind!(kind, body));
    }
    let (operation, wide) = names::atomic(name)?;
    // Refused here rather than in the body: an atomic without data is no instruction.
    super::chunk(inst.src[1], 64)?;
    macro_rules! body {
        ($op:expr, $wide:expr) => {
            match addressing {
                Addressing::Flat => atomic::<$op, $wide, FLAT> as StepFn,
                Addressing::Vector => atomic::<$op, $wide, VECTOR> as StepFn,
                Addressing::Scalar => atomic::<$op, $wide, SCALAR> as StepFn,
            }
        };
    }
    Some(with_atomic!(operation, wide, body))
}

/// What is added to every lane's address.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn base<const A: u8>(wave: &Wave, step: &Step) -> u64 {
    let offset = step.constant[0];
    if A == SCALAR {
        wave.scalar64(step.src[2] as u8).wrapping_add(offset)
    } else {
        offset
    }
}

/// Lanes' own addresses: from two registers, or zero-extended from one.
#[inline(always)]
fn addresses<const A: u8>(wave: &Wave, step: &Step, chunk: usize, base: u64) -> Addresses {
    let mut addresses = [base; CHUNK_LANES];
    if A == SCALAR && step.aux & 1 == 0 {
        return addresses;
    }
    let first = usize::from(step.src[0]) + chunk;
    let low = wave.chunk(first);
    if A == SCALAR {
        for lane in 0..CHUNK_LANES {
            addresses[lane] = base.wrapping_add(u64::from(low.0[lane]));
        }
    } else {
        let high = wave.chunk(first + wave.chunks_per_register());
        for lane in 0..CHUNK_LANES {
            let own = u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32;
            addresses[lane] = base.wrapping_add(own);
        }
    }
    addresses
}

/// Address of lane 0 if the active lanes' addresses rise by `stride` bytes per lane.
#[inline(always)]
fn consecutive<const A: u8>(
    wave: &Wave,
    step: &Step,
    chunk: usize,
    exec: u32,
    stride: u32,
) -> Option<u64> {
    if A == SCALAR && step.aux & 1 == 0 {
        return None;
    }
    let first = usize::from(step.src[0]) + chunk;
    let leader = exec.trailing_zeros() & 31;
    let low = &wave.chunk(first).0;
    let origin = low[leader as usize].wrapping_sub(leader * stride);
    if origin > u32::MAX - CHUNK_LANES as u32 * stride {
        return None;
    }
    let mut wrong = [0u32; CHUNK_LANES];
    for (lane, wrong) in wrong.iter_mut().enumerate() {
        *wrong = low[lane] ^ origin.wrapping_add(lane as u32 * stride);
    }
    let mut top = 0;
    if A != SCALAR {
        let high = &wave.chunk(first + wave.chunks_per_register()).0;
        top = high[leader as usize];
        for (wrong, high) in wrong.iter_mut().zip(high) {
            *wrong |= high ^ top;
        }
    }
    if exec != u32::MAX {
        let active = access::expand(exec);
        for (wrong, active) in wrong.iter_mut().zip(active.0) {
            *wrong &= active;
        }
    }
    let wrong = wrong.iter().fold(0, |all, wrong| all | wrong);
    (wrong == 0).then(|| u64::from(origin) | u64::from(top) << 32)
}

/// Copies `count` times 128 bytes.
///
/// # Safety
/// As for [`guard::copy`]; `V3` tells the truth about the host.
#[inline(always)]
unsafe fn copy<const V3: bool>(to: u64, from: u64, count: usize) -> u64 {
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

/// Interleaved elements of 32 lanes.
#[repr(C, align(128))]
struct Block<const N: usize>([u32; N]);

/// True if addresses from `va` on are not in an aperture.
#[inline(always)]
fn is_global<const A: u8>(va: u64) -> bool {
    A != FLAT || !(aperture::SHARED_BASE..=aperture::PRIVATE_BASE + aperture::LIMIT).contains(&va)
}

struct Load<const K: u8, const A: u8>;

impl<const K: u8, const A: u8> Body for Load<K, A> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        let base = base::<A>(wave, step);
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 || load_block::<K, A, V3>(wave, context, step, chunk, exec, base) {
                continue;
            }
            let flow = load_slow::<K, A>(wave, context, step, chunk, exec, base);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

/// Loads a chunk whose addresses are consecutive; false if it is none.
#[inline(always)]
fn load_block<const K: u8, const A: u8, const V3: bool>(
    wave: &mut Wave,
    context: &Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
    base: u64,
) -> bool {
    let size = kind::bytes(K);
    if size < 4 {
        return false;
    }
    let Some(origin) = consecutive::<A>(wave, step, chunk, exec, size as u32) else {
        return false;
    };
    let va = base.wrapping_add(origin);
    let window = context.port.window::<false>(step.pc);
    let Some(host) = window
        .host(va, (size * CHUNK_LANES) as u64)
        .filter(|_| is_global::<A>(va))
    else {
        return false;
    };
    let dst = usize::from(step.dst) + chunk;
    if K == kind::B32 && exec == u32::MAX {
        let to = std::ptr::from_mut(wave.chunk_mut(dst)).expose_provenance() as u64;
        // SAFETY: the window grants the source; the destination is one chunk.
        return unsafe { copy::<V3>(to, host, 1) } == 0;
    }
    let mut block = Block([0u32; 4 * CHUNK_LANES]);
    let to = (&raw mut block).expose_provenance() as u64;
    // SAFETY: the window grants the source; the block holds four dwords of 32 lanes.
    if unsafe { copy::<V3>(to, host, size / 4) } != 0 {
        // Perhaps only inactive lanes' bytes are gone: the slow path finds out.
        return false;
    }
    let stride = wave.chunks_per_register();
    for register in 0..size / 4 {
        let mut new = Chunk::ZERO;
        for lane in 0..CHUNK_LANES {
            new.0[lane] = block.0[lane * (size / 4) + register];
        }
        blend(wave.chunk_mut(dst + register * stride), &new, exec);
    }
    true
}

#[inline(never)]
fn load_slow<const K: u8, const A: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
    base: u64,
) -> Flow {
    let addresses = addresses::<A>(wave, step, chunk, base);
    let dst = usize::from(step.dst) + chunk;
    if exec.count_ones() > 1 && is_uniform(&addresses, exec) {
        return load_one::<K, A>(wave, context, step, &addresses, chunk, exec);
    }
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
    let active = access::expand(exec);
    let differs = addresses
        .iter()
        .zip(active.0)
        .fold(0, |all, (address, active)| {
            all | (address ^ leader) & u64::from(active) * 0x1_0000_0001
        });
    differs == 0 && leader.wrapping_sub(aperture::PRIVATE_BASE) > aperture::LIMIT
}

/// One load for all lanes.
fn load_one<const K: u8, const A: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    addresses: &Addresses,
    chunk: usize,
    exec: u32,
) -> Flow {
    let lane = exec.trailing_zeros() as usize;
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
    for register in 0..kind::registers(K) {
        let place = wave.chunk_mut(usize::from(step.dst) + chunk + register * stride);
        let mut new = *place;
        for value in &mut new.0 {
            *value = kind::merge::<K>(*value, raw[register]);
        }
        blend(place, &new, exec);
    }
    Flow::Next
}

struct Store<const K: u8, const A: u8>;

impl<const K: u8, const A: u8> Body for Store<K, A> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        let base = base::<A>(wave, step);
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 || store_block::<K, A, V3>(wave, context, step, chunk, exec, base) {
                continue;
            }
            let flow = store_slow::<K, A>(wave, context, step, chunk, exec, base);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

/// Stores a full chunk to consecutive addresses; false if it is none.
#[inline(always)]
fn store_block<const K: u8, const A: u8, const V3: bool>(
    wave: &Wave,
    context: &Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
    base: u64,
) -> bool {
    let size = kind::bytes(K);
    if size < 4 || exec != u32::MAX {
        return false;
    }
    let Some(origin) = consecutive::<A>(wave, step, chunk, exec, size as u32) else {
        return false;
    };
    let va = base.wrapping_add(origin);
    let window = context.port.window::<true>(step.pc);
    let Some(host) = window
        .host(va, (size * CHUNK_LANES) as u64)
        .filter(|_| is_global::<A>(va))
    else {
        return false;
    };
    let data = usize::from(step.src[1]) + chunk;
    if K == kind::B32 {
        let from = std::ptr::from_ref(wave.chunk(data)).expose_provenance() as u64;
        // SAFETY: the window grants the destination; the source is one chunk.
        return unsafe { copy::<V3>(host, from, 1) } == 0;
    }
    let mut block = Block([0u32; 4 * CHUNK_LANES]);
    let stride = wave.chunks_per_register();
    for register in 0..size / 4 {
        let values = wave.chunk(data + register * stride);
        for lane in 0..CHUNK_LANES {
            block.0[lane * (size / 4) + register] = values.0[lane];
        }
    }
    let from = (&raw const block).expose_provenance() as u64;
    // SAFETY: the window grants the destination; the block holds four dwords of 32 lanes.
    unsafe { copy::<V3>(host, from, size / 4) == 0 }
}

#[inline(never)]
fn store_slow<const K: u8, const A: u8>(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
    base: u64,
) -> Flow {
    let addresses = addresses::<A>(wave, step, chunk, base);
    let data = usize::from(step.src[1]) + chunk;
    let pc = step.pc;
    if A == FLAT {
        store_lanes::<Flat, K>(wave, context, pc, &addresses, data, chunk, exec)
    } else {
        store_lanes::<Global, K>(wave, context, pc, &addresses, data, chunk, exec)
    }
}

fn atomic<const OP: u8, const WIDE: bool, const A: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let base = base::<A>(wave, step);
    let compares = OP == rmw::CMPSWAP || OP == rmw::FCMPSWAP;
    let width = if WIDE { 2 } else { 1 };
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        if exec == 0 {
            continue;
        }
        let addresses = addresses::<A>(wave, step, chunk, base);
        let data = usize::from(step.src[1]) + chunk;
        let operands = AtomicOperands {
            dst: (step.aux & 4 != 0).then(|| usize::from(step.dst) + chunk),
            data,
            // The value to compare with follows the new value.
            compare: if compares {
                data + width * wave.chunks_per_register()
            } else {
                data
            },
        };
        let pc = step.pc;
        let flow = if A == FLAT {
            atomic_lanes::<Flat, OP, WIDE>(wave, context, pc, &addresses, operands, chunk, exec)
        } else {
            atomic_lanes::<Global, OP, WIDE>(wave, context, pc, &addresses, operands, chunk, exec)
        };
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}
