//! Loads, stores and atomics on LDS.

use crate::access::names::with_atomic;
use crate::access::{
    Addresses, AtomicOperands, Local, Space, atomic_lanes, kind, load_lanes, rmw, store_lanes,
};
use crate::context::Context;
use crate::rows::{blend, gather, rises};
use crate::step::{Body, Flow, HostLevel, Step, StepFn, select as level_of};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// The function of an instruction; completes the step's offsets.
pub(super) fn select(name: &str, step: &mut Step, level: HostLevel) -> Option<StepFn> {
    simple(name, level)
        .or_else(|| two(name, step, level))
        .or_else(|| special(name))
        .or_else(|| atomic(name))
}

fn simple(name: &str, level: HostLevel) -> Option<StepFn> {
    Some(match name {
        "read_u8" => level_of::<Load<{ kind::U8 }>>(level),
        "read_i8" => level_of::<Load<{ kind::I8 }>>(level),
        "read_u16" => level_of::<Load<{ kind::U16 }>>(level),
        "read_i16" => level_of::<Load<{ kind::I16 }>>(level),
        "read_b32" => level_of::<Load<{ kind::B32 }>>(level),
        "read_b64" => level_of::<Load<{ kind::B64 }>>(level),
        "read_b96" => level_of::<Load<{ kind::B96 }>>(level),
        "read_b128" => level_of::<Load<{ kind::B128 }>>(level),
        "read_u8_d16" => level_of::<Load<{ kind::U8_D16 }>>(level),
        "read_i8_d16" => level_of::<Load<{ kind::I8_D16 }>>(level),
        "read_u16_d16" => level_of::<Load<{ kind::B16_D16 }>>(level),
        "read_u8_d16_hi" => level_of::<Load<{ kind::U8_D16_HI }>>(level),
        "read_i8_d16_hi" => level_of::<Load<{ kind::I8_D16_HI }>>(level),
        "read_u16_d16_hi" => level_of::<Load<{ kind::B16_D16_HI }>>(level),
        "write_b8" => level_of::<Store<{ kind::U8 }>>(level),
        "write_b16" => level_of::<Store<{ kind::U16 }>>(level),
        "write_b32" => level_of::<Store<{ kind::B32 }>>(level),
        "write_b64" => level_of::<Store<{ kind::B64 }>>(level),
        "write_b96" => level_of::<Store<{ kind::B96 }>>(level),
        "write_b128" => level_of::<Store<{ kind::B128 }>>(level),
        "write_b8_d16_hi" => level_of::<Store<{ kind::U8_D16_HI }>>(level),
        "write_b16_d16_hi" => level_of::<Store<{ kind::B16_D16_HI }>>(level),
        _ => return None,
    })
}

/// Two accesses whose 8-bit offsets count elements, or 64 elements in the `st64` forms.
fn two(name: &str, step: &mut Step, level: HostLevel) -> Option<StepFn> {
    let (base, wide) = match name.strip_suffix("_b64") {
        Some(base) => (base, true),
        None => (name.strip_suffix("_b32")?, false),
    };
    let strided = base.contains("2st64");
    let run: StepFn = match (base.replace("2st64", "2").as_str(), wide) {
        ("read2", false) => level_of::<Load2<{ kind::B32 }>>(level),
        ("read2", true) => level_of::<Load2<{ kind::B64 }>>(level),
        ("write2", false) => store2::<{ kind::B32 }>,
        ("write2", true) => store2::<{ kind::B64 }>,
        ("wrxchg2_rtn", false) => exchange2::<false>,
        ("wrxchg2_rtn", true) => exchange2::<true>,
        _ => return None,
    };
    let scale = if wide { 8 } else { 4 } * if strided { 64 } else { 1 };
    let offsets = step.constant[0];
    step.constant[0] = (offsets & 0xff) * scale;
    step.constant[1] = (offsets >> 8) * scale;
    Some(run)
}

fn special(name: &str) -> Option<StepFn> {
    Some(match name {
        "append" => count::<true>,
        "consume" => count::<false>,
        "read_addtid_b32" => load_by_lane,
        "write_addtid_b32" => store_by_lane,
        "condxchg32_rtn_b64" => conditional_exchange,
        _ => return None,
    })
}

/// `add_u32`, `add_rtn_u32`, `cmpst_rtn_b64` ...
fn atomic(name: &str) -> Option<StepFn> {
    let name = name.replace("_rtn", "");
    let (operation, suffix) = name.split_once('_')?;
    let float = suffix.starts_with('f');
    let signed = suffix.starts_with('i');
    let wide = suffix.ends_with("64");
    let operation = match (operation, float, signed) {
        ("add", true, _) => rmw::FADD,
        ("min", true, _) => rmw::FMIN,
        ("max", true, _) => rmw::FMAX,
        ("cmpst", true, _) => rmw::FCMPSWAP,
        ("add", ..) => rmw::ADD,
        ("sub", ..) => rmw::SUB,
        ("rsub", ..) => rmw::RSUB,
        ("inc", ..) => rmw::INC,
        ("dec", ..) => rmw::DEC,
        ("min", _, true) => rmw::SMIN,
        ("max", _, true) => rmw::SMAX,
        ("min", ..) => rmw::UMIN,
        ("max", ..) => rmw::UMAX,
        ("and", ..) => rmw::AND,
        ("or", ..) => rmw::OR,
        ("xor", ..) => rmw::XOR,
        ("mskor", ..) => rmw::MSKOR,
        ("wrxchg", ..) => rmw::SWAP,
        ("cmpst", ..) => rmw::CMPSWAP,
        ("wrap", ..) => rmw::WRAP,
        _ => return None,
    };
    macro_rules! body {
        ($op:expr, $wide:expr) => {
            read_modify_write::<$op, $wide> as StepFn
        };
    }
    Some(with_atomic!(operation, wide, body))
}

/// Byte addresses of a chunk's lanes.
#[inline(always)]
fn addresses(wave: &Wave, step: &Step, chunk: usize, offset: u64) -> Addresses {
    let own = wave.chunk(usize::from(step.src[0]) + chunk);
    let mut addresses = [offset; CHUNK_LANES];
    for (address, own) in addresses.iter_mut().zip(own.0) {
        *address += u64::from(own);
    }
    addresses
}

/// Address of lane 0 if the active lanes' addresses rise by a dword.
#[inline(always)]
fn consecutive<const V3: bool>(wave: &Wave, step: &Step, chunk: usize, exec: u32) -> Option<u32> {
    let own = wave.chunk(usize::from(step.src[0]) + chunk);
    let leader = exec.trailing_zeros() & 31;
    let origin = own.0[leader as usize].checked_sub(4 * leader)?;
    let offset = u32::try_from(step.constant[0]).ok()?;
    if rises::<V3>(own, origin, 4, None, exec) {
        origin.checked_add(offset)
    } else {
        None
    }
}

struct Load<const K: u8>;

impl<const K: u8> Body for Load<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 || K == kind::B32 && load_row::<V3>(wave, context, step, chunk, exec) {
                continue;
            }
            let dst = usize::from(step.dst) + chunk;
            if kind::bytes(K) >= 4 {
                let own = *wave.chunk(usize::from(step.src[0]) + chunk);
                load_dwords::<K, V3>(wave, context, &own, step.constant[0], dst, exec);
                continue;
            }
            let addresses = addresses(wave, step, chunk, step.constant[0]);
            load_lanes::<Local, K>(wave, context, step.pc, &addresses, dst, chunk, exec);
        }
        Flow::Next
    }
}

/// Loads one to four dwords per lane; elements that are not wholly inside read as zero.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "LDS has 64 KiB, offsets 19 bits"
)]
fn load_dwords<const K: u8, const V3: bool>(
    wave: &mut Wave,
    context: &Context<'_>,
    own: &Chunk,
    offset: u64,
    dst: usize,
    exec: u32,
) {
    let bytes = context.lds.bytes();
    let last = bytes.len().checked_sub(kind::bytes(K));
    for register in 0..kind::registers(K) {
        let skip = 4 * register as u32;
        let values = last.map_or(Chunk::ZERO, |last| {
            gather::<V3>(bytes, own, offset as u32 + skip, last as u32 + skip)
        });
        let stride = wave.chunks_per_register();
        blend::<V3>(wave.chunk_mut(dst + register * stride), &values, exec);
    }
}

/// Loads a dword per lane from consecutive addresses that all exist; false if they are not.
#[inline(always)]
fn load_row<const V3: bool>(
    wave: &mut Wave,
    context: &Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
) -> bool {
    let Some(first) = consecutive::<V3>(wave, step, chunk, exec) else {
        return false;
    };
    let Some(span) = context.lds.span(first, 4 * CHUNK_LANES) else {
        return false;
    };
    let mut new = Chunk::ZERO;
    for (value, bytes) in new.0.iter_mut().zip(span.as_chunks::<4>().0) {
        *value = u32::from_le_bytes(*bytes);
    }
    blend::<V3>(wave.chunk_mut(usize::from(step.dst) + chunk), &new, exec);
    true
}

struct Store<const K: u8>;

impl<const K: u8> Body for Store<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 || K == kind::B32 && store_row::<V3>(wave, context, step, chunk, exec) {
                continue;
            }
            let addresses = addresses(wave, step, chunk, step.constant[0]);
            let data = usize::from(step.src[1]) + chunk;
            store_lanes::<Local, K>(wave, context, step.pc, &addresses, data, chunk, exec);
        }
        Flow::Next
    }
}

/// Stores a dword per lane to consecutive addresses that all exist; false if they are not.
#[inline(always)]
fn store_row<const V3: bool>(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    chunk: usize,
    exec: u32,
) -> bool {
    if exec != u32::MAX {
        return false;
    }
    let Some(first) = consecutive::<V3>(wave, step, chunk, exec) else {
        return false;
    };
    let Some(span) = context.lds.span_mut(first, 4 * CHUNK_LANES) else {
        return false;
    };
    let values = wave.chunk(usize::from(step.src[1]) + chunk);
    for (bytes, value) in span.as_chunks_mut::<4>().0.iter_mut().zip(values.0) {
        *bytes = value.to_le_bytes();
    }
    true
}

struct Load2<const K: u8>;

impl<const K: u8> Body for Load2<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        let second = kind::registers(K) * wave.chunks_per_register();
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            // The destination may be the address.
            let own = *wave.chunk(usize::from(step.src[0]) + chunk);
            let dst = usize::from(step.dst) + chunk;
            load_dwords::<K, V3>(wave, context, &own, step.constant[0], dst, exec);
            load_dwords::<K, V3>(wave, context, &own, step.constant[1], dst + second, exec);
        }
        Flow::Next
    }
}

fn store2<const K: u8>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        for i in 0..2 {
            let addresses = addresses(wave, step, chunk, step.constant[i]);
            let data = usize::from(step.src[1 + i]) + chunk;
            store_lanes::<Local, K>(wave, context, step.pc, &addresses, data, chunk, exec);
        }
    }
    Flow::Next
}

fn exchange2<const WIDE: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let stride = wave.chunks_per_register();
    let width = if WIDE { 2 } else { 1 };
    for chunk in 0..stride {
        let exec = wave.exec_chunk(chunk);
        let own = [0, 1].map(|i| addresses(wave, step, chunk, step.constant[i]));
        // The data may overlap the destination, so both elements are read first.
        let data = [0, 1].map(|i| {
            let first = usize::from(step.src[1 + i]) + chunk;
            [
                *wave.chunk(first),
                *wave.chunk(first + stride * (width - 1)),
            ]
        });
        for i in 0..2 {
            for lane in crate::access::Bits(exec) {
                let [low, high] = [data[i][0].0[lane], data[i][1].0[lane]];
                let dst = usize::from(step.dst) + chunk + i * width * stride;
                exchange::<WIDE>(wave, context, own[i][lane], low, high, dst, lane);
            }
        }
    }
    Flow::Next
}

/// Exchanges one element; LDS accesses never fail.
#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a value into its halves"
)]
fn exchange<const WIDE: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    address: u64,
    low: u32,
    high: u32,
    dst: usize,
    lane: usize,
) {
    if WIDE {
        let data = u64::from(low) | u64::from(high) << 32;
        let old = Local::atomic64::<{ rmw::SWAP }>(context, 0, address, lane, data, 0);
        let old = old.unwrap_or(0);
        wave.chunk_mut(dst).0[lane] = old as u32;
        wave.chunk_mut(dst + wave.chunks_per_register()).0[lane] = (old >> 32) as u32;
    } else {
        let old = Local::atomic32::<{ rmw::SWAP }>(context, 0, address, lane, low, 0);
        wave.chunk_mut(dst).0[lane] = old.unwrap_or(0);
    }
}

fn read_modify_write<const OP: u8, const WIDE: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        if exec == 0 {
            continue;
        }
        let addresses = addresses(wave, step, chunk, step.constant[0]);
        let [first, second] = [1, 2].map(|i| usize::from(step.src[i]) + chunk);
        // Compare-and-store lists the comparison value first, the others their data.
        let compares = OP == rmw::CMPSWAP || OP == rmw::FCMPSWAP;
        let operands = AtomicOperands {
            dst: (step.aux & 1 != 0).then(|| usize::from(step.dst) + chunk),
            data: if compares { second } else { first },
            compare: if compares { first } else { second },
        };
        atomic_lanes::<Local, OP, WIDE>(wave, context, step.pc, &addresses, operands, chunk, exec);
    }
    Flow::Next
}

/// Writes the low or high dword of the data if its bit 31 is set (Vega ISA manual,
/// "DS_CONDXCHG32_RTN_B64"); the other bits are the value.
fn conditional_exchange(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let stride = wave.chunks_per_register();
    for chunk in 0..stride {
        let own = addresses(wave, step, chunk, step.constant[0]);
        for lane in crate::access::Bits(wave.exec_chunk(chunk)) {
            let first = usize::from(step.src[1]) + chunk;
            let data = [
                wave.chunk(first).0[lane],
                wave.chunk(first + stride).0[lane],
            ];
            for (i, data) in data.into_iter().enumerate() {
                let address = u32::try_from(own[lane] + 4 * i as u64).unwrap_or(u32::MAX);
                let old = context.lds.read32(address);
                if data >> 31 != 0 {
                    context.lds.write32(address, data & 0x7fff_ffff);
                }
                wave.chunk_mut(usize::from(step.dst) + chunk + i * stride).0[lane] = old;
            }
        }
    }
    Flow::Next
}

/// Adds or subtracts the number of active lanes to the counter at M0 31:16 plus offset; all
/// active lanes get the old value.
#[expect(clippy::cast_possible_truncation, reason = "the offset has 16 bits")]
fn count<const UP: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let address = (wave.m0() >> 16) + step.constant[0] as u32;
    let old = context.lds.read32(address);
    let lanes = wave.exec().count_ones();
    let new = if UP {
        old.wrapping_add(lanes)
    } else {
        old.wrapping_sub(lanes)
    };
    context.lds.write32(address, new);
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        blend::<false>(
            wave.chunk_mut(usize::from(step.dst) + chunk),
            &Chunk::splat(old),
            exec,
        );
    }
    Flow::Next
}

/// Offset plus M0 15:0 plus four times the lane.
fn by_lane(wave: &Wave, step: &Step, chunk: usize) -> Addresses {
    let base = step.constant[0] + u64::from(wave.m0() & 0xffff);
    let mut addresses = [base; CHUNK_LANES];
    for (lane, address) in addresses.iter_mut().enumerate() {
        *address += 4 * (chunk * CHUNK_LANES + lane) as u64;
    }
    addresses
}

fn load_by_lane(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        let addresses = by_lane(wave, step, chunk);
        let dst = usize::from(step.dst) + chunk;
        load_lanes::<Local, { kind::B32 }>(wave, context, step.pc, &addresses, dst, chunk, exec);
    }
    Flow::Next
}

fn store_by_lane(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    // The data is the only vector operand, wherever the decoder lists it.
    let data = if step.inst.src[1] == amdgpu_isa::Operand::None {
        step.src[0]
    } else {
        step.src[1]
    };
    for chunk in 0..wave.chunks_per_register() {
        let exec = wave.exec_chunk(chunk);
        let addresses = by_lane(wave, step, chunk);
        let data = usize::from(data) + chunk;
        store_lanes::<Local, { kind::B32 }>(wave, context, step.pc, &addresses, data, chunk, exec);
    }
    Flow::Next
}
