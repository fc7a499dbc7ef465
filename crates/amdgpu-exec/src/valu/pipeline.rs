//! The general path of a vector instruction: fetch sources with lane movement and modifiers, run
//! the kernel on rows of 32 lanes, shape the result, store it under the write mask.

use std::mem::MaybeUninit;

use super::dpp::{self, Movement};
use super::lanes;
use super::output;
use super::plan::{Kind, Plan, Store, Ty, flag};
use super::sdwa;
use super::shape;
use crate::context::Context;
use crate::step::{Body, Flow, HostLevel, Step};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

static ZERO: Chunk = Chunk::ZERO;

/// Sources of one chunk. `hi` holds the high dwords of register pairs.
pub(crate) struct Rows<'a> {
    pub(super) lo: [&'a Chunk; 3],
    pub(super) hi: [&'a Chunk; 3],
    /// Carry-in or select mask, if the instruction has one.
    pub(super) mask: u32,
    /// Index of the chunk's first lane.
    pub(super) first_lane: u32,
    /// MODE register.
    pub(super) mode: u32,
    /// The instruction, for kernels that read immediates or modifiers.
    pub(super) step: &'a Step,
}

impl Rows<'_> {
    /// 64-bit source `i` of a lane.
    #[inline(always)]
    pub(super) fn wide(&self, i: usize, lane: usize) -> u64 {
        u64::from(self.lo[i].0[lane]) | u64::from(self.hi[i].0[lane]) << 32
    }
}

/// Result of a kernel for one chunk.
pub(crate) struct Out {
    pub(super) lo: Chunk,
    pub(super) hi: Chunk,
    /// Carry out or compare result.
    pub(super) mask: u32,
}

impl Out {
    const ZERO: Self = Self {
        lo: Chunk::ZERO,
        hi: Chunk::ZERO,
        mask: 0,
    };

    /// Sets a lane of a 64-bit result.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "splits into dwords")]
    pub(super) fn set_wide(&mut self, lane: usize, value: u64) {
        self.lo.0[lane] = value as u32;
        self.hi.0[lane] = (value >> 32) as u32;
    }
}

/// The semantics of an instruction on 32 lanes.
pub(super) trait Kernel {
    /// Computes all lanes, active or not (no kernel has side effects).
    fn run(rows: &Rows<'_>, out: &mut Out);
}

/// A kernel compiled for some host level.
///
/// # Safety
/// The host has the features of that level.
pub(crate) type KernelFn = unsafe fn(&Rows<'_>, &mut Out);

/// The function of kernel `K` for a host level.
pub(super) fn kernel_fn<K: Kernel>(level: HostLevel) -> KernelFn {
    match level {
        HostLevel::Base => base::<K>,
        HostLevel::V3 => v3::<K>,
    }
}

/// The function of kernel `K` for every host.
pub(super) fn base_kernel_fn<K: Kernel>() -> KernelFn {
    base::<K>
}

fn base<K: Kernel>(rows: &Rows<'_>, out: &mut Out) {
    K::run(rows, out);
}

#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn v3<K: Kernel>(rows: &Rows<'_>, out: &mut Out) {
    K::run(rows, out);
}

/// Runs the step's kernel.
#[inline(always)]
fn run_kernel(step: &Step, rows: &Rows<'_>, out: &mut Out) {
    if let Some(kernel) = step.kernel {
        // SAFETY: translation chose a kernel for this host's level.
        unsafe { kernel(rows, out) };
    }
}

/// Step function for every operand form.
pub(super) fn general(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let plan = Plan::of(step);
    let movement = movement(wave, step, plan);
    let mut outs = [Out::ZERO, Out::ZERO];
    // Every chunk is computed before one is written: lane movement may cross chunks.
    for (chunk, out) in outs.iter_mut().enumerate().take(wave.chunks_per_register()) {
        let mut buffers = Buffers::new();
        let rows = fetch(wave, step, plan, movement.as_ref(), chunk, &mut buffers);
        run_kernel(step, &rows, out);
    }
    let write = movement.map_or(u64::MAX, |movement| movement.write);
    finish(wave, step, plan, &mut outs, write);
    Flow::Next
}

/// Step body for plain operands: vectors are read in place, scalars spread once per execution.
pub(super) struct Plain;

/// Facts of a plain step by bits of `aux`, without unpacking the plan.
#[derive(Clone, Copy)]
struct Bits(u64);

impl Bits {
    #[inline(always)]
    fn kind(self, i: usize) -> u64 {
        self.0 >> (2 * i) & 3
    }
    #[inline(always)]
    fn wide(self, i: usize) -> bool {
        self.0 >> (56 + i) & 1 != 0
    }
    #[inline(always)]
    fn flag(self, flag: u8) -> bool {
        self.0 >> 48 & u64::from(flag) != 0
    }
    #[inline(always)]
    fn has_result(self) -> bool {
        self.0 >> 60 & 1 != 0
    }
}

impl Body for Plain {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let bits = Bits(step.aux);
        let mut buffers = Buffers::new();
        let spread = spread_all(wave, step, bits, &mut buffers);
        let per_register = wave.chunks_per_register();
        let mut out = Out::ZERO;
        let mut masks = 0;
        for chunk in 0..per_register {
            let exec = wave.exec_chunk(chunk);
            let rows = plain_rows(wave, step, bits, &spread, chunk);
            run_kernel(step, &rows, &mut out);
            masks |= u64::from(out.mask & exec) << (chunk * CHUNK_LANES);
            if bits.has_result() && exec != 0 {
                let dst = usize::from(step.dst) + chunk;
                lanes::store(wave, dst, exec, &out.lo);
                if bits.wide(3) {
                    lanes::store(wave, dst + per_register, exec, &out.hi);
                }
            }
        }
        if bits.flag(flag::MASK_OUT) {
            wave.set_mask(step.sdst.to_le_bytes()[0], masks);
        }
        if bits.flag(flag::EXEC_OUT) {
            wave.set_exec(masks);
        }
        Flow::Next
    }
}

/// Rows of the sources that are no vectors.
type Spread<'a> = [(&'a Chunk, &'a Chunk); 3];

#[inline(always)]
fn spread_all<'a>(wave: &Wave, step: &Step, bits: Bits, buffers: &'a mut Buffers) -> Spread<'a> {
    let [a, b, c] = &mut buffers.0;
    [
        spread(wave, step, bits, 0, a),
        spread(wave, step, bits, 1, b),
        spread(wave, step, bits, 2, c),
    ]
}

#[inline(always)]
fn spread<'a>(
    wave: &Wave,
    step: &Step,
    bits: Bits,
    i: usize,
    buffer: &'a mut [MaybeUninit<Chunk>; 2],
) -> (&'a Chunk, &'a Chunk) {
    let kind = match bits.kind(i) {
        1 => Kind::Scalar,
        2 => Kind::Constant,
        _ => return (&ZERO, &ZERO),
    };
    let (lo, hi) = scalar_pair(wave, step, kind, i, bits.wide(i));
    let [low, high] = buffer;
    let high = if bits.wide(i) {
        high.write(Chunk::splat(hi))
    } else {
        &ZERO
    };
    (low.write(Chunk::splat(lo)), high)
}

#[inline(always)]
fn plain_rows<'a>(
    wave: &'a Wave,
    step: &'a Step,
    bits: Bits,
    spread: &Spread<'a>,
    chunk: usize,
) -> Rows<'a> {
    let mut rows = Rows {
        lo: [spread[0].0, spread[1].0, spread[2].0],
        hi: [spread[0].1, spread[1].1, spread[2].1],
        mask: 0,
        first_lane: if chunk == 0 { 0 } else { 32 },
        mode: wave.mode,
        step,
    };
    for i in 0..3 {
        if bits.kind(i) == Kind::Vector as u64 {
            let (lo, hi) = vector_indexes(wave, step, i, chunk);
            rows.lo[i] = wave.chunk(lo);
            if bits.wide(i) {
                rows.hi[i] = wave.chunk(hi);
            }
        }
    }
    if bits.flag(flag::MASK_IN) {
        rows.mask = mask_in(wave, step, chunk);
    }
    rows
}

/// Space for sources that cannot be read in place.
pub(super) struct Buffers([[MaybeUninit<Chunk>; 2]; 3]);

impl Buffers {
    fn new() -> Self {
        Self([[MaybeUninit::uninit(); 2]; 3])
    }
}

fn movement(wave: &Wave, step: &Step, plan: Plan) -> Option<Movement> {
    let dpp = step.inst.dpp.filter(|_| plan.has(flag::DPP))?;
    Some(dpp::movement(dpp, wave))
}

fn fetch<'a>(
    wave: &'a Wave,
    step: &'a Step,
    plan: Plan,
    movement: Option<&Movement>,
    chunk: usize,
    buffers: &'a mut Buffers,
) -> Rows<'a> {
    let [a, b, c] = &mut buffers.0;
    let (a_lo, a_hi) = source(wave, step, plan, 0, movement, chunk, a);
    let (b_lo, b_hi) = source(wave, step, plan, 1, None, chunk, b);
    let (c_lo, c_hi) = source(wave, step, plan, 2, None, chunk, c);
    Rows {
        lo: [a_lo, b_lo, c_lo],
        hi: [a_hi, b_hi, c_hi],
        mask: if plan.has(flag::MASK_IN) {
            mask_in(wave, step, chunk)
        } else {
            0
        },
        first_lane: if chunk == 0 { 0 } else { 32 },
        mode: wave.mode,
        step,
    }
}

/// Bits of the mask operand that belong to a chunk.
#[inline(always)]
pub(super) fn mask_in(wave: &Wave, step: &Step, chunk: usize) -> u32 {
    wave.scalar(step.src[3].to_le_bytes()[0].wrapping_add(u8::from(chunk != 0)))
}

fn source<'a>(
    wave: &'a Wave,
    step: &Step,
    plan: Plan,
    i: usize,
    movement: Option<&Movement>,
    chunk: usize,
    buffer: &'a mut [MaybeUninit<Chunk>; 2],
) -> (&'a Chunk, &'a Chunk) {
    let ty = plan.types[i];
    if ty == Ty::None {
        return (&ZERO, &ZERO);
    }
    let shaped = plan.has(flag::SHAPED | flag::SDWA);
    if plan.kinds[i] == Kind::Vector && !shaped && movement.is_none() {
        let (lo, hi) = vector_indexes(wave, step, i, chunk);
        let hi = if ty.is_wide() { wave.chunk(hi) } else { &ZERO };
        return (wave.chunk(lo), hi);
    }
    let (mut lo, mut hi) = read(wave, step, plan, i, movement, chunk);
    if shaped {
        shape::apply(step, wave.mode, ty, i, &mut lo, &mut hi);
    }
    let [low, high] = buffer;
    (low.write(lo), high.write(hi))
}

/// Chunk of the low and of the high dword of a vector source.
#[inline(always)]
fn vector_indexes(wave: &Wave, step: &Step, i: usize, chunk: usize) -> (usize, usize) {
    let lo = usize::from(step.src[i]) + chunk;
    (lo, lo + wave.chunks_per_register())
}

/// The unmodified values of a source.
fn read(
    wave: &Wave,
    step: &Step,
    plan: Plan,
    i: usize,
    movement: Option<&Movement>,
    chunk: usize,
) -> (Chunk, Chunk) {
    let wide = plan.types[i].is_wide();
    if plan.kinds[i] != Kind::Vector {
        let (lo, hi) = scalar_pair(wave, step, plan.kinds[i], i, wide);
        return (Chunk::splat(lo), Chunk::splat(hi));
    }
    if let Some(movement) = movement {
        let base = usize::from(step.src[i]);
        let lo = movement.gather(wave, base, chunk);
        let hi = if wide {
            movement.gather(wave, base + wave.chunks_per_register(), chunk)
        } else {
            Chunk::ZERO
        };
        return (lo, hi);
    }
    let (lo, hi) = vector_indexes(wave, step, i, chunk);
    let high = if wide { *wave.chunk(hi) } else { Chunk::ZERO };
    (*wave.chunk(lo), high)
}

/// Both dwords of a scalar or constant source.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "splits into dwords")]
fn scalar_pair(wave: &Wave, step: &Step, kind: Kind, i: usize, wide: bool) -> (u32, u32) {
    if kind == Kind::Constant {
        let value = step.constant[i];
        return (value as u32, (value >> 32) as u32);
    }
    let index = step.src[i].to_le_bytes()[0];
    if wide {
        let value = wave.scalar64(index);
        (value as u32, (value >> 32) as u32)
    } else {
        (wave.scalar(index), 0)
    }
}

/// Stores results and masks.
fn finish(wave: &mut Wave, step: &Step, plan: Plan, outs: &mut [Out; 2], write: u64) {
    let per_register = wave.chunks_per_register();
    if plan.has(flag::OUTPUT) {
        for out in outs.iter_mut().take(per_register) {
            output::apply(step, plan.dst, wave.mode, out);
        }
    }
    let mask = u64::from(outs[0].mask) | u64::from(outs[1].mask) << CHUNK_LANES;
    let exec = wave.exec() & write;
    for (chunk, out) in outs.iter_mut().enumerate().take(per_register) {
        let lanes = exec.to_le_bytes();
        let lanes = if chunk == 0 {
            u32::from_le_bytes([lanes[0], lanes[1], lanes[2], lanes[3]])
        } else {
            u32::from_le_bytes([lanes[4], lanes[5], lanes[6], lanes[7]])
        };
        store(wave, step, plan.store, chunk, lanes, out);
    }
    if plan.has(flag::MASK_OUT) {
        wave.set_mask(step.sdst.to_le_bytes()[0], mask & exec);
    }
    if plan.has(flag::EXEC_OUT) {
        wave.set_exec(mask & exec);
    }
}

fn store(wave: &mut Wave, step: &Step, how: Store, chunk: usize, mask: u32, out: &mut Out) {
    let index = usize::from(step.dst) + chunk;
    match how {
        Store::Nothing => return,
        Store::Full => {}
        Store::Pair => lanes::store(wave, index + wave.chunks_per_register(), mask, &out.hi),
        Store::LowZero => out.lo.0.iter_mut().for_each(|v| *v &= 0xffff),
        Store::LowKeep => half(&mut out.lo, wave.chunk(index), 0),
        Store::HighKeep => half(&mut out.lo, wave.chunk(index), 16),
        Store::Sdwa => {
            if let Some(sdwa) = &step.inst.sdwa {
                sdwa::merge(sdwa, &mut out.lo, wave.chunk(index));
            }
        }
    }
    lanes::store(wave, index, mask, &out.lo);
}

/// Puts the low 16 bits of `value` at `shift`, keeping the other half of `old`.
fn half(value: &mut Chunk, old: &Chunk, shift: u32) {
    let part = 0xffff << shift;
    for (value, old) in value.0.iter_mut().zip(&old.0) {
        *value = (*value << shift) & part | old & !part;
    }
}
