//! From a lane function to step functions: the general body and specialised bodies for plain
//! operands.

use std::marker::PhantomData;

use super::lanes;
use super::pipeline::{Kernel, KernelFn, Out, Rows, base_kernel_fn, kernel_fn, mask_in};
use super::plan::{Kind, Store, Ty, flag};
use crate::context::Context;
use crate::rows;
use crate::step::{Body, Flow, HostLevel, Step, StepFn, select_v3};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// A lane of a 32-bit operation. Unused sources are zero.
pub(super) trait Lane32 {
    /// The result may be a NaN whose payload needs care.
    const FLOAT: bool = false;
    fn lane(a: u32, b: u32, c: u32) -> u32;
    /// The result is a NaN.
    #[inline(always)]
    fn is_nan(result: u32) -> bool {
        is_nan32(result)
    }
    /// The NaN to return when `lane` yields one.
    #[inline(always)]
    fn nan(a: u32, b: u32, c: u32) -> u32 {
        first_nan32(a, b, c)
    }
}

/// A lane of an operation with a 64-bit source or result; 32-bit sources are zero-extended.
pub(super) trait Lane64 {
    /// The result may be an f64 NaN whose payload needs care.
    const FLOAT: bool = false;
    fn lane(a: u64, b: u64, c: u64) -> u64;
    /// The NaN to return when `lane` yields one.
    #[inline(always)]
    fn nan(a: u64, b: u64, c: u64) -> u64 {
        first_nan64(a, b, c)
    }
}

/// A lane with a mask in and out (carry chains, select).
pub(super) trait Carry {
    fn lane(a: u32, b: u32, carry: bool) -> (u32, bool);
}

pub(super) const fn is_nan32(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

pub(super) const fn is_nan64(bits: u64) -> bool {
    bits & 0x7fff_ffff_ffff_ffff > 0x7ff0_0000_0000_0000
}

/// The first NaN operand, quieted; the default NaN if there is none.
pub(super) fn first_nan32(a: u32, b: u32, c: u32) -> u32 {
    let nan = [a, b, c].into_iter().find(|v| is_nan32(*v));
    nan.map_or(0x7fc0_0000, |v| v | 0x0040_0000)
}

/// The first NaN operand, quieted; the default NaN if there is none.
pub(super) fn first_nan64(a: u64, b: u64, c: u64) -> u64 {
    let nan = [a, b, c].into_iter().find(|v| is_nan64(*v));
    nan.map_or(0x7ff8_0000_0000_0000, |v| v | 0x0008_0000_0000_0000)
}

#[inline(always)]
fn map32<L: Lane32>(a: &Chunk, b: &Chunk, c: &Chunk) -> Chunk {
    let mut out = Chunk::ZERO;
    for i in 0..CHUNK_LANES {
        out.0[i] = L::lane(a.0[i], b.0[i], c.0[i]);
    }
    if L::FLOAT {
        let mut nan = 0;
        for value in &out.0 {
            nan |= u32::from(L::is_nan(*value));
        }
        if nan != 0 {
            repair32::<L>(&mut out, a, b, c);
        }
    }
    out
}

/// Replaces NaNs by those the hardware yields.
#[cold]
#[inline(never)]
fn repair32<L: Lane32>(out: &mut Chunk, a: &Chunk, b: &Chunk, c: &Chunk) {
    for i in 0..CHUNK_LANES {
        if L::is_nan(out.0[i]) {
            out.0[i] = L::nan(a.0[i], b.0[i], c.0[i]);
        }
    }
}

#[inline(always)]
fn map64<L: Lane64>(rows: &Rows<'_>, out: &mut Out) {
    for i in 0..CHUNK_LANES {
        out.set_wide(
            i,
            L::lane(rows.wide(0, i), rows.wide(1, i), rows.wide(2, i)),
        );
    }
    if L::FLOAT {
        let mut nan = 0;
        for value in &out.hi.0 {
            // An exponent of all ones may be an infinity; the repair looks closer.
            nan |= u32::from(*value & 0x7ff0_0000 == 0x7ff0_0000);
        }
        if nan != 0 {
            repair64::<L>(rows, out);
        }
    }
}

#[cold]
#[inline(never)]
fn repair64<L: Lane64>(rows: &Rows<'_>, out: &mut Out) {
    for i in 0..CHUNK_LANES {
        let value = u64::from(out.lo.0[i]) | u64::from(out.hi.0[i]) << 32;
        if is_nan64(value) {
            out.set_wide(i, L::nan(rows.wide(0, i), rows.wide(1, i), rows.wide(2, i)));
        }
    }
}

struct Kernel32<L>(PhantomData<L>);

impl<L: Lane32> Kernel for Kernel32<L> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let [a, b, c] = rows.lo;
        out.lo = map32::<L>(a, b, c);
    }
}

struct Kernel64<L>(PhantomData<L>);

impl<L: Lane64> Kernel for Kernel64<L> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        map64::<L>(rows, out);
    }
}

struct KernelCarry<L>(PhantomData<L>);

impl<L: Carry> Kernel for KernelCarry<L> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let [a, b, _] = rows.lo;
        (out.lo, out.mask) = carry_row::<L>(rows.mask, a, b);
    }
}

#[inline(always)]
fn carry_row<L: Carry>(mask: u32, a: &Chunk, b: &Chunk) -> (Chunk, u32) {
    let mut out = Chunk::ZERO;
    let mut carries = Chunk::ZERO;
    for i in 0..CHUNK_LANES {
        let (value, carry) = L::lane(a.0[i], b.0[i], lanes::lane_mask(mask, i) != 0);
        out.0[i] = value;
        carries.0[i] = if carry { u32::MAX } else { 0 };
    }
    (out, lanes::to_mask(&carries))
}

/// A scalar or constant source of a specialised body.
#[inline(always)]
fn uniform(wave: &Wave, step: &Step, i: usize) -> u64 {
    if step.aux >> (2 * i) & 3 == Kind::Scalar as u64 {
        u64::from(wave.scalar(step.src[i].to_le_bytes()[0]))
    } else {
        step.constant[i]
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "32-bit operand")]
pub(super) fn uniform32(wave: &Wave, step: &Step, i: usize) -> u32 {
    uniform(wave, step, i) as u32
}

/// Lanes that one AVX2 register holds: what a specialised body loads, computes and stores at once,
/// so that a destination may be one of the sources and no row is copied.
pub(super) const BLOCK: usize = 8;

/// Body of a very common 32-bit operation; A, B, C say which sources are vectors.
struct Hot32<L, const A: bool, const B: bool, const C: bool>(PhantomData<L>);

impl<L: Lane32, const A: bool, const B: bool, const C: bool> Body for Hot32<L, A, B, C> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let a = if A { 0 } else { uniform32(wave, step, 0) };
        let b = if B { 0 } else { uniform32(wave, step, 1) };
        let c = if C { 0 } else { uniform32(wave, step, 2) };
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 {
                continue;
            }
            for first in (0..CHUNK_LANES).step_by(BLOCK) {
                let a = if A {
                    block(wave, step.src[0], chunk, first)
                } else {
                    [a; BLOCK]
                };
                let b = if B {
                    block(wave, step.src[1], chunk, first)
                } else {
                    [b; BLOCK]
                };
                let c = if C {
                    block(wave, step.src[2], chunk, first)
                } else {
                    [c; BLOCK]
                };
                let out = map_block::<L>(&a, &b, &c);
                store_block(wave, usize::from(step.dst) + chunk, first, exec, &out);
            }
        }
        Flow::Next
    }
}

#[inline(always)]
pub(super) fn block(wave: &Wave, register: u16, chunk: usize, first: usize) -> [u32; BLOCK] {
    let row = &wave.chunk(usize::from(register) + chunk).0;
    let mut out = [0; BLOCK];
    out.copy_from_slice(&row[first..first + BLOCK]);
    out
}

#[inline(always)]
pub(super) fn store_block(
    wave: &mut Wave,
    index: usize,
    first: usize,
    exec: u32,
    new: &[u32; BLOCK],
) {
    let row = &mut wave.chunk_mut(index).0[first..first + BLOCK];
    if exec == u32::MAX {
        row.copy_from_slice(new);
        return;
    }
    for i in 0..BLOCK {
        let take = lanes::lane_mask(exec, first + i);
        row[i] = (row[i] & !take) | (new[i] & take);
    }
}

#[inline(always)]
fn map_block<L: Lane32>(a: &[u32; BLOCK], b: &[u32; BLOCK], c: &[u32; BLOCK]) -> [u32; BLOCK] {
    let mut out = [0; BLOCK];
    for i in 0..BLOCK {
        out[i] = L::lane(a[i], b[i], c[i]);
    }
    if L::FLOAT {
        let mut nan = 0;
        for value in &out {
            nan |= u32::from(L::is_nan(*value));
        }
        if nan != 0 {
            repair_block::<L>(&mut out, a, b, c);
        }
    }
    out
}

/// Replaces NaNs by those the hardware yields.
#[cold]
#[inline(never)]
fn repair_block<L: Lane32>(
    out: &mut [u32; BLOCK],
    a: &[u32; BLOCK],
    b: &[u32; BLOCK],
    c: &[u32; BLOCK],
) {
    for i in 0..BLOCK {
        if L::is_nan(out[i]) {
            out[i] = L::nan(a[i], b[i], c[i]);
        }
    }
}

/// Body of a very common 64-bit operation: bit `i` of VECTORS says that source `i` is a vector, of
/// WIDE that it has 64 bits.
struct Hot64<L, const VECTORS: u8, const WIDE: u8>(PhantomData<L>);

impl<L: Lane64, const VECTORS: u8, const WIDE: u8> Body for Hot64<L, VECTORS, WIDE> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let per_register = wave.chunks_per_register();
        let a = uniform64::<WIDE>(wave, step, 0);
        let b = uniform64::<WIDE>(wave, step, 1);
        let c = uniform64::<WIDE>(wave, step, 2);
        for chunk in 0..per_register {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 {
                continue;
            }
            for first in (0..CHUNK_LANES).step_by(BLOCK) {
                let a = block64::<VECTORS, WIDE>(wave, step, 0, a, chunk, first);
                let b = block64::<VECTORS, WIDE>(wave, step, 1, b, chunk, first);
                let c = block64::<VECTORS, WIDE>(wave, step, 2, c, chunk, first);
                let (low, high) = map_block64::<L>(&a, &b, &c);
                let dst = usize::from(step.dst) + chunk;
                store_block(wave, dst, first, exec, &low);
                store_block(wave, dst + per_register, first, exec, &high);
            }
        }
        Flow::Next
    }
}

/// A scalar or constant source of one or two dwords.
#[inline(always)]
fn uniform64<const WIDE: u8>(wave: &Wave, step: &Step, i: usize) -> u64 {
    if WIDE >> i & 1 != 0 && step.aux >> (2 * i) & 3 == Kind::Scalar as u64 {
        wave.scalar64(step.src[i].to_le_bytes()[0])
    } else {
        uniform(wave, step, i)
    }
}

#[inline(always)]
fn block64<const VECTORS: u8, const WIDE: u8>(
    wave: &Wave,
    step: &Step,
    i: usize,
    uniform: u64,
    chunk: usize,
    first: usize,
) -> [u64; BLOCK] {
    if VECTORS >> i & 1 == 0 {
        return [uniform; BLOCK];
    }
    let low = block(wave, step.src[i], chunk, first);
    let mut out = low.map(u64::from);
    if WIDE >> i & 1 != 0 {
        let high = block(wave, step.src[i], chunk + wave.chunks_per_register(), first);
        for (out, high) in out.iter_mut().zip(high) {
            *out |= u64::from(high) << 32;
        }
    }
    out
}

/// Low and high dwords of the results.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "splits into dwords")]
fn map_block64<L: Lane64>(
    a: &[u64; BLOCK],
    b: &[u64; BLOCK],
    c: &[u64; BLOCK],
) -> ([u32; BLOCK], [u32; BLOCK]) {
    let mut out = [0; BLOCK];
    for i in 0..BLOCK {
        out[i] = L::lane(a[i], b[i], c[i]);
    }
    if L::FLOAT {
        let mut nan = 0;
        for value in &out {
            nan |= u64::from(value & 0x7fff_ffff_ffff_ffff > 0x7ff0_0000_0000_0000);
        }
        if nan != 0 {
            repair_block64::<L>(&mut out, a, b, c);
        }
    }
    (
        out.map(|value| value as u32),
        out.map(|value| (value >> 32) as u32),
    )
}

/// Replaces NaNs by those the hardware yields.
#[cold]
#[inline(never)]
fn repair_block64<L: Lane64>(
    out: &mut [u64; BLOCK],
    a: &[u64; BLOCK],
    b: &[u64; BLOCK],
    c: &[u64; BLOCK],
) {
    for i in 0..BLOCK {
        if is_nan64(out[i]) {
            out[i] = L::nan(a[i], b[i], c[i]);
        }
    }
}

/// Body of a carry chain or select: A and B say which sources are vectors, IN and OUT which masks
/// there are.
struct HotCarry<L, const A: bool, const B: bool, const IN: bool, const OUT: bool>(PhantomData<L>);

impl<L: Carry, const A: bool, const B: bool, const IN: bool, const OUT: bool> Body
    for HotCarry<L, A, B, IN, OUT>
{
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let a = if A { 0 } else { uniform32(wave, step, 0) };
        let b = if B { 0 } else { uniform32(wave, step, 1) };
        let mut masks = 0;
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            let mask = if IN { mask_in(wave, step, chunk) } else { 0 };
            let mut carries = 0;
            for first in (0..CHUNK_LANES).step_by(BLOCK) {
                let a = if A {
                    block(wave, step.src[0], chunk, first)
                } else {
                    [a; BLOCK]
                };
                let b = if B {
                    block(wave, step.src[1], chunk, first)
                } else {
                    [b; BLOCK]
                };
                let mut out = [0; BLOCK];
                let mut carry_out = [0; BLOCK];
                for i in 0..BLOCK {
                    let carry_in = lanes::lane_mask(mask, first + i) != 0;
                    let (value, carry) = L::lane(a[i], b[i], carry_in);
                    out[i] = value;
                    carry_out[i] = if carry { u32::MAX } else { 0 };
                }
                carries |= rows::signs::<V3>(&carry_out) << first;
                store_block(wave, usize::from(step.dst) + chunk, first, exec, &out);
            }
            if OUT {
                masks |= u64::from(carries & exec) << (chunk * CHUNK_LANES);
            }
        }
        if OUT {
            wave.set_mask(step.sdst.to_le_bytes()[0], masks);
        }
        Flow::Next
    }
}

/// A compare of 32-bit values whose condition is known when it is compiled.
pub(super) trait Test32 {
    fn holds(a: u32, b: u32) -> bool;
}

/// Body of a compare that writes a mask; A and B say which sources are vectors.
struct HotCompare<T, const A: bool, const B: bool>(PhantomData<T>);

impl<T: Test32, const A: bool, const B: bool> Body for HotCompare<T, A, B> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let a = if A { 0 } else { uniform32(wave, step, 0) };
        let b = if B { 0 } else { uniform32(wave, step, 1) };
        let mut masks = 0;
        for chunk in 0..wave.chunks_per_register() {
            let mut lanes = 0;
            for first in (0..CHUNK_LANES).step_by(BLOCK) {
                let a = if A {
                    block(wave, step.src[0], chunk, first)
                } else {
                    [a; BLOCK]
                };
                let b = if B {
                    block(wave, step.src[1], chunk, first)
                } else {
                    [b; BLOCK]
                };
                let mut row = [0; BLOCK];
                for i in 0..BLOCK {
                    row[i] = if T::holds(a[i], b[i]) { u32::MAX } else { 0 };
                }
                lanes |= rows::signs::<V3>(&row) << first;
            }
            masks |= u64::from(lanes & wave.exec_chunk(chunk)) << (chunk * CHUNK_LANES);
        }
        wave.set_mask(step.sdst.to_le_bytes()[0], masks);
        Flow::Next
    }
}

/// Bodies of a compare by the set of sources that are vectors.
pub(super) fn hot_compare<T: Test32>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b11] = Some(select_v3::<HotCompare<T, true, true>>());
    hot[0b10] = Some(select_v3::<HotCompare<T, false, true>>());
    hot[0b01] = Some(select_v3::<HotCompare<T, true, false>>());
    hot
}

/// What an operation's table entry says: its code and the types of its operands.
pub(super) struct Entry {
    /// Code for rows.
    pub(super) kernel: KernelFn,
    /// Bodies for plain operands, by the set of sources that are vectors (bit i = source i).
    pub(super) hot: [Option<StepFn>; 8],
    pub(super) types: [Ty; 3],
    pub(super) dst: Ty,
    /// Bits of [`flag`].
    pub(super) flags: u8,
    /// The destination is also source 2.
    pub(super) accumulates: bool,
    /// CLAMP is done by the kernel (integer saturation).
    pub(super) saturates: bool,
    /// Parameter of the kernel, in `step.constant[2]` (of operations with at most two sources).
    pub(super) argument: Option<u64>,
    /// Destination half that is written whatever the encoding says (`v_fma_mixlo/hi`).
    pub(super) store: Option<Store>,
}

impl Entry {
    /// Any kernel, compiled for the host level.
    pub(super) fn kernel<K: Kernel>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::new(kernel_fn::<K>(level), types, dst)
    }

    fn new(kernel: KernelFn, types: &[Ty], dst: Ty) -> Self {
        let mut padded = [Ty::None; 3];
        padded[..types.len()].copy_from_slice(types);
        Self {
            kernel,
            hot: [None; 8],
            types: padded,
            dst,
            flags: 0,
            accumulates: false,
            saturates: false,
            argument: None,
            store: None,
        }
    }

    /// A 32-bit lane function.
    pub(super) fn lane32<L: Lane32>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::kernel::<Kernel32<L>>(level, types, dst)
    }

    /// A 32-bit lane function that is rare enough to be compiled for the base level only.
    pub(super) fn rare32<L: Lane32>(_: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::rare_kernel::<Kernel32<L>>(types, dst)
    }

    /// A 32-bit lane function with specialised bodies, for the operations that dominate kernels.
    pub(super) fn hot32<L: Lane32>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        let mut entry = Self::lane32::<L>(level, types, dst);
        if level == HostLevel::V3 {
            entry.hot = match types.len() {
                1 => hot32_1::<L>(),
                2 => hot32_2::<L>(),
                _ => hot32_3::<L>(),
            };
        }
        entry
    }

    /// A 64-bit lane function.
    pub(super) fn lane64<L: Lane64>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        let mut entry = Self::kernel::<Kernel64<L>>(level, types, dst);
        if level == HostLevel::V3 && dst.is_wide() {
            entry.hot = match *types {
                [a, b] if !a.is_wide() && b.is_wide() => hot64_shift::<L>(),
                [a, b] if a.is_wide() && b.is_wide() => hot64_2::<L>(),
                [a, b, c] if a.is_wide() && b.is_wide() && c.is_wide() => hot64_3::<L>(),
                _ => entry.hot,
            };
        }
        entry
    }

    /// A 64-bit lane function that is compiled for the base level only.
    pub(super) fn rare64<L: Lane64>(_: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::rare_kernel::<Kernel64<L>>(types, dst)
    }

    /// Any kernel, compiled for the base level only.
    pub(super) fn rare_kernel<K: Kernel>(types: &[Ty], dst: Ty) -> Self {
        Self::new(base_kernel_fn::<K>(), types, dst)
    }

    /// A carry chain or select with masks in and out as told.
    pub(super) fn carry<L: Carry>(level: HostLevel, ty: Ty, mask_flags: u8) -> Self {
        let mut entry = Self::kernel::<KernelCarry<L>>(level, &[ty, ty], ty).with(mask_flags);
        if level == HostLevel::V3 {
            entry.hot = match mask_flags {
                flag::MASK_IN => hot_carry::<L, true, false>(),
                flag::MASK_OUT => hot_carry::<L, false, true>(),
                _ => hot_carry::<L, true, true>(),
            };
        }
        entry
    }

    /// Source 2 is the destination.
    pub(super) fn accumulating(mut self) -> Self {
        self.accumulates = true;
        self
    }

    /// The kernel saturates, so CLAMP needs no output step.
    pub(super) fn saturating(mut self) -> Self {
        self.saturates = true;
        self
    }

    /// Adds flags.
    pub(super) fn with(mut self, flags: u8) -> Self {
        self.flags |= flags;
        self
    }

    /// Fixes the way of storing.
    pub(super) fn storing(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }
}

fn hot32_1<L: Lane32>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b1] = Some(select_v3::<Hot32<L, true, false, false>>());
    hot[0b0] = Some(select_v3::<Hot32<L, false, false, false>>());
    hot
}

fn hot32_2<L: Lane32>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b11] = Some(select_v3::<Hot32<L, true, true, false>>());
    hot[0b10] = Some(select_v3::<Hot32<L, false, true, false>>());
    hot[0b01] = Some(select_v3::<Hot32<L, true, false, false>>());
    hot
}

fn hot32_3<L: Lane32>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b111] = Some(select_v3::<Hot32<L, true, true, true>>());
    hot[0b110] = Some(select_v3::<Hot32<L, false, true, true>>());
    hot[0b101] = Some(select_v3::<Hot32<L, true, false, true>>());
    hot[0b011] = Some(select_v3::<Hot32<L, true, true, false>>());
    hot
}

fn hot64_shift<L: Lane64>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b11] = Some(select_v3::<Hot64<L, 0b11, 0b10>>());
    hot[0b10] = Some(select_v3::<Hot64<L, 0b10, 0b10>>());
    hot
}

fn hot64_2<L: Lane64>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b11] = Some(select_v3::<Hot64<L, 0b11, 0b11>>());
    hot[0b10] = Some(select_v3::<Hot64<L, 0b10, 0b11>>());
    hot[0b01] = Some(select_v3::<Hot64<L, 0b01, 0b11>>());
    hot
}

fn hot64_3<L: Lane64>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b111] = Some(select_v3::<Hot64<L, 0b111, 0b111>>());
    hot[0b110] = Some(select_v3::<Hot64<L, 0b110, 0b111>>());
    hot[0b101] = Some(select_v3::<Hot64<L, 0b101, 0b111>>());
    hot[0b011] = Some(select_v3::<Hot64<L, 0b011, 0b111>>());
    hot
}

fn hot_carry<L: Carry, const IN: bool, const OUT: bool>() -> [Option<StepFn>; 8] {
    let mut hot = [None; 8];
    hot[0b11] = Some(select_v3::<HotCarry<L, true, true, IN, OUT>>());
    hot[0b10] = Some(select_v3::<HotCarry<L, false, true, IN, OUT>>());
    hot[0b01] = Some(select_v3::<HotCarry<L, true, false, IN, OUT>>());
    hot[0b00] = Some(select_v3::<HotCarry<L, false, false, IN, OUT>>());
    hot
}
