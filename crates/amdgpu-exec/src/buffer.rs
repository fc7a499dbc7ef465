//! MUBUF: accesses through buffer descriptors.
//!
//! Address and range rules: Vega and RDNA2 ISA manuals, "Buffer Addressing" and "Range Checking".
//! A swizzled descriptor that adds the lane number is the private segment: it goes to the wave's
//! own scratch, see [`crate::memory::scratch`].

use std::sync::atomic::{Ordering, fence};

use amdgpu_isa::{Inst, Op, Operand};

use crate::access::names::{self, with_atomic, with_load_kind, with_store_kind};
use crate::access::private::{self, Offsets};
use crate::access::{
    Addresses, AtomicOperands, Global, atomic_lanes, kind, load_lanes, rmw, store_lanes,
};
use crate::context::Context;
use crate::flat::chunk;
use crate::launch::{ADD_TID_ENABLE, SWIZZLE_ENABLE};
use crate::rows::blend;
use crate::salu::operand::Source;
use crate::salu::{nothing, operand};
use crate::step::{Body, Flow, HostLevel, Step, StepFn, TranslateEnv, select as level_of};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// Translates an MUBUF instruction. `dst` data, `src[0]` address, `src[1]` data chunks, `src[2]`
/// descriptor SGPR, `src[3]` offset SGPR; `constant[0]` offset, `aux` constant SOFFSET (one of the two
/// is zero).
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    if let Some(run) = cache_control(inst.op) {
        return Some(Step::new(run, inst, pc));
    }
    if inst.mods.lds || inst.mods.tfe {
        return None;
    }
    let lanes = usize::from(env.lanes);
    let mut step = Step::new(nothing, inst, pc);
    step.dst = chunk(inst.dst, lanes).unwrap_or(0);
    step.src[0] = chunk(inst.src[0], lanes).unwrap_or(0);
    step.src[1] = chunk(inst.src[1], lanes).unwrap_or(step.dst);
    let Operand::Scalar(descriptor) = inst.src[2] else {
        return None;
    };
    step.src[2] = u16::from(descriptor);
    step.src[3] = u16::from(crate::wave::slot::ZERO);
    match inst.src[3] {
        Operand::None => {}
        _ => match operand::source(inst, 3, 32, env)? {
            Source::Register(index) => step.src[3] = u16::from(index),
            Source::Constant(value) => step.aux = value & 0xffff_ffff,
        },
    }
    step.constant[0] = u64::from(inst.imm.cast_unsigned());
    step.run = select(inst.op.name().strip_prefix("buffer_")?, env.level)?;
    Some(step)
}

fn cache_control(op: Op) -> Option<StepFn> {
    Some(match op {
        Op::BUFFER_WBINVL1
        | Op::BUFFER_WBINVL1_VOL
        | Op::BUFFER_INVL2
        | Op::BUFFER_GL0_INV
        | Op::BUFFER_GL1_INV => acquire,
        Op::BUFFER_WBL2 => release,
        _ => return None,
    })
}

fn acquire(_: &mut Wave, _: &mut Context<'_>, _: &Step) -> Flow {
    fence(Ordering::SeqCst);
    Flow::Next
}

fn release(_: &mut Wave, context: &mut Context<'_>, _: &Step) -> Flow {
    fence(Ordering::SeqCst);
    context.device.memory_written();
    Flow::Next
}

fn select(name: &str, level: HostLevel) -> Option<StepFn> {
    if let Some(kind) = names::load(name) {
        macro_rules! body {
            ($k:expr) => {
                level_of::<Load<{ $k }>>(level)
            };
        }
        return Some(with_load_kind!(kind, body));
    }
    if let Some(kind) = names::store(name) {
        macro_rules! body {
            ($k:expr) => {
                level_of::<Store<{ $k }>>(level)
            };
        }
        return Some(with_store_kind!(kind, body));
    }
    let (operation, wide) = names::atomic(name)?;
    macro_rules! body {
        ($op:expr, $wide:expr) => {
            atomic::<$op, $wide> as StepFn
        };
    }
    Some(with_atomic!(operation, wide, body))
}

/// A buffer descriptor's fields.
#[derive(Clone, Copy)]
struct Descriptor {
    base: u64,
    stride: u64,
    records: u64,
    swizzle: bool,
    add_lane: bool,
    /// Records that are interleaved when swizzled.
    index_stride: u64,
    range: RangeCheck,
}

/// What makes an access out of range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangeCheck {
    /// Byte offset against the size in bytes.
    Raw,
    /// Index against the number of records.
    Index,
    /// Index, and offset against the stride.
    Structured,
    /// An empty buffer only.
    Empty,
}

impl Descriptor {
    #[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
    fn read(wave: &Wave, step: &Step) -> Self {
        let first = step.src[2] as u8 & !3;
        let word = |i| wave.scalar(first + i);
        let stride = u64::from(word(1) >> 16 & 0x3fff);
        let swizzle = word(1) & SWIZZLE_ENABLE != 0;
        let range = match wave.target {
            _ if wave.target.is_rdna() => match word(3) >> 28 & 3 {
                0 => RangeCheck::Structured,
                1 => RangeCheck::Index,
                2 => RangeCheck::Empty,
                _ => RangeCheck::Raw,
            },
            _ if stride == 0 || !swizzle => RangeCheck::Raw,
            _ => RangeCheck::Index,
        };
        Self {
            base: wave.scalar64(first) & 0xffff_ffff_ffff,
            stride,
            records: u64::from(word(2)),
            swizzle,
            add_lane: word(3) & ADD_TID_ENABLE != 0,
            index_stride: 8 << (word(3) >> 21 & 3),
            range,
        }
    }

    fn is_private(&self) -> bool {
        self.swizzle && self.add_lane
    }

    /// Byte offset from the base, or `None` if out of range. `bytes` is one dword or less.
    fn locate(&self, index: u64, offset: u64, bytes: u64) -> Option<u64> {
        let linear = index * self.stride + offset;
        let inside = match self.range {
            RangeCheck::Raw => {
                let size = if self.stride == 0 {
                    self.records
                } else {
                    self.records * self.stride
                };
                linear + bytes <= size
            }
            RangeCheck::Index => index < self.records,
            RangeCheck::Structured => {
                index < self.records && (self.stride == 0 || offset + bytes <= self.stride)
            }
            RangeCheck::Empty => self.records != 0,
        };
        if !inside {
            return None;
        }
        if !self.swizzle {
            return Some(linear);
        }
        const ELEMENT: u64 = 4;
        let (row, column) = (index / self.index_stride, index % self.index_stride);
        let (element, byte) = (offset / ELEMENT, offset % ELEMENT);
        Some((row * self.stride + element * ELEMENT) * self.index_stride + column * ELEMENT + byte)
    }
}

#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "scalar indexes fit u8, constants 32 bits"
)]
fn scalar_offset(wave: &Wave, step: &Step) -> u32 {
    wave.scalar(step.src[3] as u8).wrapping_add(step.aux as u32)
}

/// Index and offset of a lane.
#[inline(always)]
fn lane_operands(
    wave: &Wave,
    step: &Step,
    buffer: &Descriptor,
    chunk: usize,
    lane: usize,
) -> (u64, u64) {
    let mods = &step.inst.mods;
    let stride = wave.chunks_per_register();
    let value =
        |i: usize| u64::from(wave.chunk(usize::from(step.src[0]) + chunk + i * stride).0[lane]);
    let mut index = if mods.idxen { value(0) } else { 0 };
    if buffer.add_lane {
        index += (chunk * CHUNK_LANES + lane) as u64;
    }
    let own = if mods.offen {
        value(usize::from(mods.idxen))
    } else {
        0
    };
    (index, step.constant[0] + own)
}

/// Addresses of dword `dword` of a chunk's elements, and the lanes that are in range.
fn addresses(
    wave: &Wave,
    step: &Step,
    buffer: &Descriptor,
    chunk: usize,
    dword: usize,
    bytes: usize,
) -> (Addresses, u32) {
    let base = buffer
        .base
        .wrapping_add(u64::from(scalar_offset(wave, step)));
    let mut addresses = [0; CHUNK_LANES];
    let mut inside = 0;
    for (lane, address) in addresses.iter_mut().enumerate() {
        let (index, offset) = lane_operands(wave, step, buffer, chunk, lane);
        let offset = offset + 4 * dword as u64;
        if let Some(at) = buffer.locate(index, offset, bytes.min(4) as u64) {
            *address = base.wrapping_add(at);
            inside |= 1 << lane;
        }
    }
    (addresses, inside)
}

/// Private offsets: what precedes the lane part is not swizzled, so it counts for all lanes.
#[expect(
    clippy::cast_possible_truncation,
    reason = "offsets are taken modulo 2^32"
)]
fn private_offsets(
    wave: &Wave,
    context: &Context<'_>,
    step: &Step,
    buffer: &Descriptor,
    chunk: usize,
) -> Offsets {
    let mask = 0xffff_ffff_ffff;
    let moved = buffer.base.wrapping_sub(context.launch.scratch_base) & mask;
    let common = moved.wrapping_add(u64::from(scalar_offset(wave, step)));
    let base = (common / wave.lanes() as u64).wrapping_add(step.constant[0]) as u32;
    if !step.inst.mods.offen {
        return Offsets::Uniform(base);
    }
    let second = usize::from(step.inst.mods.idxen) * wave.chunks_per_register();
    let own = wave.chunk(usize::from(step.src[0]) + chunk + second);
    let mut offsets = Chunk::splat(base);
    for (offset, own) in offsets.0.iter_mut().zip(own.0) {
        *offset = offset.wrapping_add(own);
    }
    Offsets::PerLane(offsets)
}

struct Load<const K: u8>;

impl<const K: u8> Body for Load<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        let buffer = Descriptor::read(wave, step);
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 {
                continue;
            }
            let flow = if buffer.is_private() {
                let offsets = private_offsets(wave, context, step, &buffer, chunk);
                private::load::<K, V3>(wave, context, &offsets, usize::from(step.dst), chunk, exec)
            } else {
                load_chunk::<K>(wave, context, step, &buffer, chunk, exec)
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

/// Loads dword by dword: each is in range or not on its own, and swizzling may separate them.
fn load_chunk<const K: u8>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    buffer: &Descriptor,
    chunk: usize,
    exec: u32,
) -> Flow {
    let bytes = kind::bytes(K);
    let stride = wave.chunks_per_register();
    // The address registers may be among the destinations, so all addresses come first.
    let mut places = [([0; CHUNK_LANES], 0); 4];
    for (dword, place) in places.iter_mut().enumerate().take(kind::registers(K)) {
        *place = addresses(wave, step, buffer, chunk, dword, bytes);
    }
    for (dword, (addresses, inside)) in places.iter().enumerate().take(kind::registers(K)) {
        let dst = usize::from(step.dst) + chunk + dword * stride;
        let outside = exec & !inside;
        if outside != 0 {
            let mut zero = *wave.chunk(dst);
            for value in &mut zero.0 {
                *value = kind::merge::<K>(*value, 0);
            }
            blend::<false>(wave.chunk_mut(dst), &zero, outside);
        }
        let mask = exec & inside;
        let flow = if bytes < 4 {
            load_lanes::<Global, K>(wave, context, step.pc, addresses, dst, chunk, mask)
        } else {
            load_lanes::<Global, { kind::B32 }>(wave, context, step.pc, addresses, dst, chunk, mask)
        };
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}

struct Store<const K: u8>;

impl<const K: u8> Body for Store<K> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
        let buffer = Descriptor::read(wave, step);
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 {
                continue;
            }
            let flow = if buffer.is_private() {
                let offsets = private_offsets(wave, context, step, &buffer, chunk);
                private::store::<K, V3>(
                    wave,
                    context,
                    &offsets,
                    usize::from(step.src[1]),
                    chunk,
                    exec,
                )
            } else {
                store_chunk::<K>(wave, context, step, &buffer, chunk, exec)
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }
}

fn store_chunk<const K: u8>(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    buffer: &Descriptor,
    chunk: usize,
    exec: u32,
) -> Flow {
    let bytes = kind::bytes(K);
    let stride = wave.chunks_per_register();
    for dword in 0..kind::registers(K) {
        let (addresses, inside) = addresses(wave, step, buffer, chunk, dword, bytes);
        let data = usize::from(step.src[1]) + chunk + dword * stride;
        let mask = exec & inside;
        let flow = if bytes < 4 {
            store_lanes::<Global, K>(wave, context, step.pc, &addresses, data, chunk, mask)
        } else {
            store_lanes::<Global, { kind::B32 }>(
                wave, context, step.pc, &addresses, data, chunk, mask,
            )
        };
        if flow != Flow::Next {
            return flow;
        }
    }
    Flow::Next
}

fn atomic<const OP: u8, const WIDE: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let buffer = Descriptor::read(wave, step);
    let stride = wave.chunks_per_register();
    let compares = OP == rmw::CMPSWAP || OP == rmw::FCMPSWAP;
    let width = if WIDE { 2 } else { 1 };
    for chunk in 0..stride {
        let exec = wave.exec_chunk(chunk);
        let bytes = 4 * width;
        let (addresses, inside) = addresses(wave, step, &buffer, chunk, 0, bytes);
        let data = usize::from(step.src[1]) + chunk;
        let dst = (step.inst.mods.glc).then(|| usize::from(step.dst) + chunk);
        let operands = AtomicOperands {
            dst,
            data,
            compare: if compares {
                data + width * stride
            } else {
                data
            },
        };
        let mask = exec & inside;
        let flow = atomic_lanes::<Global, OP, WIDE>(
            wave, context, step.pc, &addresses, operands, chunk, mask,
        );
        if flow != Flow::Next {
            return flow;
        }
        if let Some(dst) = dst {
            for register in 0..width {
                blend::<false>(
                    wave.chunk_mut(dst + register * stride),
                    &Chunk::ZERO,
                    exec & !inside,
                );
            }
        }
    }
    Flow::Next
}
