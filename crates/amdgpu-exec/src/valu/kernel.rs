//! From a lane function to step functions: the general body and specialised bodies for plain
//! operands.

use std::marker::PhantomData;

use super::lanes;
use super::pipeline::{General, Kernel, Out, Rows, mask_in};
use super::plan::{Kind, Plan, Ty};
use crate::context::Context;
use crate::step::{Body, Flow, HostLevel, Step, StepFn, select};
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

/// A lane of a compare.
pub(super) trait Compare {
    fn test(a: u64, b: u64) -> bool;
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
fn map32<L: Lane32>(
    a: impl Fn(usize) -> u32,
    b: impl Fn(usize) -> u32,
    c: impl Fn(usize) -> u32,
) -> Chunk {
    let mut out = Chunk::ZERO;
    for i in 0..CHUNK_LANES {
        out.0[i] = L::lane(a(i), b(i), c(i));
    }
    if L::FLOAT {
        let mut nan = 0;
        for value in &out.0 {
            nan |= u32::from(L::is_nan(*value));
        }
        if nan != 0 {
            for i in 0..CHUNK_LANES {
                if L::is_nan(out.0[i]) {
                    out.0[i] = L::nan(a(i), b(i), c(i));
                }
            }
        }
    }
    out
}

#[inline(always)]
fn map64<L: Lane64>(
    out: &mut Out,
    a: impl Fn(usize) -> u64,
    b: impl Fn(usize) -> u64,
    c: impl Fn(usize) -> u64,
) {
    for i in 0..CHUNK_LANES {
        out.set_wide(i, L::lane(a(i), b(i), c(i)));
    }
    if L::FLOAT {
        let mut nan = 0;
        for value in &out.hi.0 {
            // Exponent all ones: an infinity is checked again below.
            nan |= u32::from(*value & 0x7ff0_0000 == 0x7ff0_0000);
        }
        if nan != 0 {
            for i in 0..CHUNK_LANES {
                let value = u64::from(out.lo.0[i]) | u64::from(out.hi.0[i]) << 32;
                if is_nan64(value) {
                    out.set_wide(i, L::nan(a(i), b(i), c(i)));
                }
            }
        }
    }
}

struct Kernel32<L>(PhantomData<L>);

impl<L: Lane32> Kernel for Kernel32<L> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let [a, b, c] = rows.lo;
        out.lo = map32::<L>(|i| a.0[i], |i| b.0[i], |i| c.0[i]);
    }
}

struct Kernel64<L>(PhantomData<L>);

impl<L: Lane64> Kernel for Kernel64<L> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        map64::<L>(
            out,
            |i| rows.wide(0, i),
            |i| rows.wide(1, i),
            |i| rows.wide(2, i),
        );
    }
}

struct KernelCompare<C, const WIDE: bool>(PhantomData<C>);

impl<C: Compare, const WIDE: bool> Kernel for KernelCompare<C, WIDE> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let [a, b, _] = rows.lo;
        out.mask = if WIDE {
            compare_row::<C>(|i| rows.wide(0, i), |i| rows.wide(1, i))
        } else {
            compare_row::<C>(|i| u64::from(a.0[i]), |i| u64::from(b.0[i]))
        };
    }
}

#[inline(always)]
fn compare_row<C: Compare>(a: impl Fn(usize) -> u64, b: impl Fn(usize) -> u64) -> u32 {
    let mut row = Chunk::ZERO;
    for i in 0..CHUNK_LANES {
        row.0[i] = if C::test(a(i), b(i)) { u32::MAX } else { 0 };
    }
    lanes::to_mask(&row)
}

struct KernelCarry<L>(PhantomData<L>);

impl<L: Carry> Kernel for KernelCarry<L> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let [a, b, _] = rows.lo;
        (out.lo, out.mask) = carry_row::<L>(rows.mask, |i| a.0[i], |i| b.0[i]);
    }
}

#[inline(always)]
fn carry_row<L: Carry>(
    mask: u32,
    a: impl Fn(usize) -> u32,
    b: impl Fn(usize) -> u32,
) -> (Chunk, u32) {
    let mut out = Chunk::ZERO;
    let mut carries = Chunk::ZERO;
    for i in 0..CHUNK_LANES {
        let (value, carry) = L::lane(a(i), b(i), lanes::lane_mask(mask, i) != 0);
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

/// The same, of a register pair.
#[inline(always)]
fn uniform64(wave: &Wave, step: &Step, i: usize) -> u64 {
    if step.aux >> (2 * i) & 3 == Kind::Scalar as u64 {
        let index = step.src[i].to_le_bytes()[0];
        if Plan::of(step).types[i].is_wide() {
            wave.scalar64(index)
        } else {
            u64::from(wave.scalar(index))
        }
    } else {
        step.constant[i]
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "32-bit operand")]
fn uniform32(wave: &Wave, step: &Step, i: usize) -> u32 {
    uniform(wave, step, i) as u32
}

/// Plain 32-bit operation; A, B, C say which sources are vectors.
struct Fast32<L, const A: bool, const B: bool, const C: bool>(PhantomData<L>);

impl<L: Lane32, const A: bool, const B: bool, const C: bool> Body for Fast32<L, A, B, C> {
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
            let va = wave.chunk(if A { usize::from(step.src[0]) + chunk } else { 0 });
            let vb = wave.chunk(if B { usize::from(step.src[1]) + chunk } else { 0 });
            let vc = wave.chunk(if C { usize::from(step.src[2]) + chunk } else { 0 });
            let out = map32::<L>(
                |i| if A { va.0[i] } else { a },
                |i| if B { vb.0[i] } else { b },
                |i| if C { vc.0[i] } else { c },
            );
            lanes::store(wave, usize::from(step.dst) + chunk, exec, &out);
        }
        Flow::Next
    }
}

/// Plain operation on pairs. WIDE has a bit for each source that is a pair, bit 3 for the result.
struct Fast64<L, const WIDE: u8, const A: bool, const B: bool, const C: bool>(PhantomData<L>);

#[inline(always)]
fn wide_lane(lo: &Chunk, hi: &Chunk, wide: bool, lane: usize) -> u64 {
    if wide {
        u64::from(lo.0[lane]) | u64::from(hi.0[lane]) << 32
    } else {
        u64::from(lo.0[lane])
    }
}

impl<L: Lane64, const WIDE: u8, const A: bool, const B: bool, const C: bool> Body
    for Fast64<L, WIDE, A, B, C>
{
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let a = if A { 0 } else { uniform64(wave, step, 0) };
        let b = if B { 0 } else { uniform64(wave, step, 1) };
        let c = if C { 0 } else { uniform64(wave, step, 2) };
        let n = wave.chunks_per_register();
        for chunk in 0..n {
            let exec = wave.exec_chunk(chunk);
            if exec == 0 {
                continue;
            }
            let mut out = Out {
                lo: Chunk::ZERO,
                hi: Chunk::ZERO,
                mask: 0,
            };
            let [ia, ib, ic, _] = step.src.map(|index| usize::from(index) + chunk);
            let (al, ah) = (wave.chunk(ia), wave.chunk(ia + n));
            let (bl, bh) = (wave.chunk(ib), wave.chunk(ib + n));
            let (cl, ch) = (wave.chunk(ic), wave.chunk(ic + n));
            map64::<L>(
                &mut out,
                |i| if A { wide_lane(al, ah, WIDE & 1 != 0, i) } else { a },
                |i| if B { wide_lane(bl, bh, WIDE & 2 != 0, i) } else { b },
                |i| if C { wide_lane(cl, ch, WIDE & 4 != 0, i) } else { c },
            );
            let dst = usize::from(step.dst) + chunk;
            lanes::store(wave, dst, exec, &out.lo);
            if WIDE & 8 != 0 {
                lanes::store(wave, dst + n, exec, &out.hi);
            }
        }
        Flow::Next
    }
}

/// Plain compare.
struct FastCompare<K, const WIDE: bool, const A: bool, const B: bool>(PhantomData<K>);

impl<K: Compare, const WIDE: bool, const A: bool, const B: bool> Body
    for FastCompare<K, WIDE, A, B>
{
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let read = if WIDE { uniform64 } else { uniform };
        let a = if A { 0 } else { read(wave, step, 0) };
        let b = if B { 0 } else { read(wave, step, 1) };
        let n = wave.chunks_per_register();
        let mut mask = 0;
        for chunk in 0..n {
            let [ia, ib, _, _] = step.src.map(|index| usize::from(index) + chunk);
            let (al, ah) = (wave.chunk(ia), wave.chunk(ia + n));
            let (bl, bh) = (wave.chunk(ib), wave.chunk(ib + n));
            let row = compare_row::<K>(
                |i| if A { wide_lane(al, ah, WIDE, i) } else { a },
                |i| if B { wide_lane(bl, bh, WIDE, i) } else { b },
            );
            mask |= u64::from(row) << (chunk * CHUNK_LANES);
        }
        let mask = mask & wave.exec();
        wave.set_mask(step.sdst.to_le_bytes()[0], mask);
        if Plan::of(step).has(super::plan::flag::EXEC_OUT) {
            wave.set_exec(mask);
        }
        Flow::Next
    }
}

/// Plain carry chain or select: IN reads a mask, OUT writes one.
struct FastCarry<L, const IN: bool, const OUT: bool, const A: bool, const B: bool>(PhantomData<L>);

impl<L: Carry, const IN: bool, const OUT: bool, const A: bool, const B: bool> Body
    for FastCarry<L, IN, OUT, A, B>
{
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let a = if A { 0 } else { uniform32(wave, step, 0) };
        let b = if B { 0 } else { uniform32(wave, step, 1) };
        let mut carries = 0;
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            let va = wave.chunk(if A { usize::from(step.src[0]) + chunk } else { 0 });
            let vb = wave.chunk(if B { usize::from(step.src[1]) + chunk } else { 0 });
            let mask = if IN { mask_in(wave, step, chunk) } else { 0 };
            let (out, carry) = carry_row::<L>(
                mask,
                |i| if A { va.0[i] } else { a },
                |i| if B { vb.0[i] } else { b },
            );
            carries |= u64::from(carry & exec) << (chunk * CHUNK_LANES);
            lanes::store(wave, usize::from(step.dst) + chunk, exec, &out);
        }
        if OUT {
            wave.set_mask(step.sdst.to_le_bytes()[0], carries);
        }
        Flow::Next
    }
}

/// What an operation's table entry says: its code and the types of its operands.
pub(super) struct Entry {
    /// Takes every operand form.
    pub(super) general: StepFn,
    /// Bodies for plain operands, by the set of sources that are vectors (bit i = source i).
    pub(super) fast: [Option<StepFn>; 8],
    pub(super) types: [Ty; 3],
    pub(super) dst: Ty,
    /// Bits of [`super::plan::flag`].
    pub(super) flags: u8,
    /// The destination is also source 2.
    pub(super) accumulates: bool,
    /// CLAMP is done by the kernel (integer saturation).
    pub(super) saturates: bool,
    /// Destination half that is written whatever the encoding says (`v_fma_mixlo/hi`).
    pub(super) store: Option<super::plan::Store>,
}

impl Entry {
    fn new(general: StepFn, types: &[Ty], dst: Ty) -> Self {
        let mut padded = [Ty::None; 3];
        padded[..types.len()].copy_from_slice(types);
        Self {
            general,
            fast: [None; 8],
            types: padded,
            dst,
            flags: 0,
            accumulates: false,
            saturates: false,
            store: None,
        }
    }

    /// Any kernel, general path only.
    pub(super) fn kernel<K: Kernel>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::new(select::<General<K>>(level), types, dst)
    }

    /// A 32-bit lane function with specialised bodies.
    pub(super) fn lane32<L: Lane32>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        let mut entry = Self::rare32::<L>(level, types, dst);
        if level == HostLevel::V3 {
            entry.fast = match types.len() {
                1 => fast32_1::<L>(level),
                2 => fast32_2::<L>(level),
                _ => fast32_3::<L>(level),
            };
        }
        entry
    }

    /// A 32-bit lane function without specialised bodies.
    pub(super) fn rare32<L: Lane32>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::kernel::<Kernel32<L>>(level, types, dst)
    }

    /// A 64-bit lane function; `WIDE` as in the types, see [`wide_bits`].
    pub(super) fn lane64<L: Lane64, const WIDE: u8>(
        level: HostLevel,
        types: &[Ty],
        dst: Ty,
    ) -> Self {
        debug_assert_eq!(wide_bits(types, dst), WIDE);
        let mut entry = Self::rare64::<L>(level, types, dst);
        if level == HostLevel::V3 {
            entry.fast = match types.len() {
                1 => fast64_1::<L, WIDE>(level),
                2 => fast64_2::<L, WIDE>(level),
                _ => fast64_3::<L, WIDE>(level),
            };
        }
        entry
    }

    /// A 64-bit lane function without specialised bodies.
    pub(super) fn rare64<L: Lane64>(level: HostLevel, types: &[Ty], dst: Ty) -> Self {
        Self::kernel::<Kernel64<L>>(level, types, dst)
    }

    /// A compare of sources of type `ty`, with specialised bodies.
    pub(super) fn compare<C: Compare, const WIDE: bool>(level: HostLevel, ty: Ty) -> Self {
        let mut entry = Self::rare_compare::<C, WIDE>(level, [ty, ty]);
        if level == HostLevel::V3 {
            entry.fast[0b11] = Some(select::<FastCompare<C, WIDE, true, true>>(level));
            entry.fast[0b10] = Some(select::<FastCompare<C, WIDE, false, true>>(level));
            entry.fast[0b01] = Some(select::<FastCompare<C, WIDE, true, false>>(level));
        }
        entry
    }

    /// A compare without specialised bodies.
    pub(super) fn rare_compare<C: Compare, const WIDE: bool>(
        level: HostLevel,
        types: [Ty; 2],
    ) -> Self {
        Self::kernel::<KernelCompare<C, WIDE>>(level, &types, Ty::None)
    }

    /// A carry chain or select with masks in and out as told.
    pub(super) fn carry<L: Carry, const IN: bool, const OUT: bool>(
        level: HostLevel,
        ty: Ty,
    ) -> Self {
        let mut entry = Self::kernel::<KernelCarry<L>>(level, &[ty, ty], ty);
        if level == HostLevel::V3 {
            entry.fast[0b11] = Some(select::<FastCarry<L, IN, OUT, true, true>>(level));
            entry.fast[0b10] = Some(select::<FastCarry<L, IN, OUT, false, true>>(level));
            entry.fast[0b01] = Some(select::<FastCarry<L, IN, OUT, true, false>>(level));
            entry.fast[0b00] = Some(select::<FastCarry<L, IN, OUT, false, false>>(level));
        }
        if IN {
            entry.flags |= super::plan::flag::MASK_IN;
        }
        if OUT {
            entry.flags |= super::plan::flag::MASK_OUT;
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
    pub(super) fn storing(mut self, store: super::plan::Store) -> Self {
        self.store = Some(store);
        self
    }
}

/// Which operands are register pairs: bit i for source i, bit 3 for the destination.
fn wide_bits(types: &[Ty], dst: Ty) -> u8 {
    let sources = types
        .iter()
        .enumerate()
        .fold(0, |bits, (i, ty)| bits | u8::from(ty.is_wide()) << i);
    sources | u8::from(dst.is_wide()) << 3
}

fn fast32_1<L: Lane32>(level: HostLevel) -> [Option<StepFn>; 8] {
    let mut fast = [None; 8];
    fast[0b1] = Some(select::<Fast32<L, true, false, false>>(level));
    fast[0b0] = Some(select::<Fast32<L, false, false, false>>(level));
    fast
}

fn fast32_2<L: Lane32>(level: HostLevel) -> [Option<StepFn>; 8] {
    let mut fast = [None; 8];
    fast[0b11] = Some(select::<Fast32<L, true, true, false>>(level));
    fast[0b10] = Some(select::<Fast32<L, false, true, false>>(level));
    fast[0b01] = Some(select::<Fast32<L, true, false, false>>(level));
    fast
}

fn fast32_3<L: Lane32>(level: HostLevel) -> [Option<StepFn>; 8] {
    let mut fast = [None; 8];
    fast[0b111] = Some(select::<Fast32<L, true, true, true>>(level));
    fast[0b110] = Some(select::<Fast32<L, false, true, true>>(level));
    fast[0b101] = Some(select::<Fast32<L, true, false, true>>(level));
    fast[0b011] = Some(select::<Fast32<L, true, true, false>>(level));
    fast[0b001] = Some(select::<Fast32<L, true, false, false>>(level));
    fast
}

fn fast64_1<L: Lane64, const W: u8>(level: HostLevel) -> [Option<StepFn>; 8] {
    let mut fast = [None; 8];
    fast[0b1] = Some(select::<Fast64<L, W, true, false, false>>(level));
    fast
}

fn fast64_2<L: Lane64, const W: u8>(level: HostLevel) -> [Option<StepFn>; 8] {
    let mut fast = [None; 8];
    fast[0b11] = Some(select::<Fast64<L, W, true, true, false>>(level));
    fast[0b10] = Some(select::<Fast64<L, W, false, true, false>>(level));
    fast[0b01] = Some(select::<Fast64<L, W, true, false, false>>(level));
    fast
}

fn fast64_3<L: Lane64, const W: u8>(level: HostLevel) -> [Option<StepFn>; 8] {
    let mut fast = [None; 8];
    fast[0b111] = Some(select::<Fast64<L, W, true, true, true>>(level));
    fast[0b110] = Some(select::<Fast64<L, W, false, true, true>>(level));
    fast[0b101] = Some(select::<Fast64<L, W, true, false, true>>(level));
    fast[0b011] = Some(select::<Fast64<L, W, true, true, false>>(level));
    fast
}
