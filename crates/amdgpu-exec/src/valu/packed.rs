//! Packed operations: two halves in a register, or (gfx90a) two f32 in a pair.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "halves are taken out of 32-bit lanes"
)]

use std::marker::PhantomData;

use amdgpu_isa::{Inst, Op};

use super::half::{first_nan16, h, ieee_max, ieee_min, is_nan16, n};
use super::kernel::{Entry, Lane32, first_nan32};
use super::pipeline::{Kernel, Out, Rows};
use super::plan::{Store, Ty};
use super::soften;
use crate::float::half::fma_f16;
use crate::float::soft::{self, F16, F32, Rounding};
use crate::step::TranslateEnv;
use crate::wave::CHUNK_LANES;

/// An operation on each half; sources and result sit in the low 16 bits.
trait Half {
    fn half(a: u32, b: u32, c: u32) -> u32;
}

struct Both<H>(PhantomData<H>);

impl<H: Half> Lane32 for Both<H> {
    #[inline(always)]
    fn lane(a: u32, b: u32, c: u32) -> u32 {
        let low = H::half(a & 0xffff, b & 0xffff, c & 0xffff);
        let high = H::half(a >> 16, b >> 16, c >> 16);
        low & 0xffff | high << 16
    }
}

macro_rules! both {
    ($env:expr, $ctor:ident, $ty:ident, $count:literal, |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct H;
        impl Half for H {
            #[inline(always)]
            fn half($a: u32, $b: u32, $c: u32) -> u32 {
                $body
            }
        }
        Entry::$ctor::<Both<H>>($env.level, &[Ty::$ty; $count], Ty::$ty)
    }};
}

/// Table entry of a packed operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    integers(inst, env)
        .or_else(|| halves(inst.op, env))
        .or_else(|| singles(inst.op, env))
        .or_else(|| mixed(inst.op, env))
}

#[inline(always)]
fn i(value: u32) -> i32 {
    i32::from(value as i16)
}

#[inline(always)]
fn saturate_signed(value: i64) -> u32 {
    (value.clamp(-0x8000, 0x7fff) as i32).cast_unsigned()
}

#[inline(always)]
fn saturate_unsigned(value: i64) -> u32 {
    value.clamp(0, 0xffff) as u32
}

fn integers(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let entry = match (inst.op, inst.mods.clamp) {
        (V_PK_ADD_U16 | V_PK_ADD_I16, false) => {
            both!(env, rare32, PkB16, 2, |a, b, _| a.wrapping_add(b))
        }
        (V_PK_SUB_U16 | V_PK_SUB_I16, false) => {
            both!(env, rare32, PkB16, 2, |a, b, _| a.wrapping_sub(b))
        }
        (V_PK_ADD_U16, true) => both!(env, rare32, PkB16, 2, |a, b, _| (a + b).min(0xffff)),
        (V_PK_SUB_U16, true) => both!(env, rare32, PkB16, 2, |a, b, _| a.saturating_sub(b)),
        (V_PK_ADD_I16, true) => {
            both!(env, rare32, PkB16, 2, |a, b, _| saturate_signed(i64::from(
                i(a) + i(b)
            )))
        }
        (V_PK_SUB_I16, true) => {
            both!(env, rare32, PkB16, 2, |a, b, _| saturate_signed(i64::from(
                i(a) - i(b)
            )))
        }
        (V_PK_MUL_LO_U16, _) => both!(env, rare32, PkB16, 2, |a, b, _| a.wrapping_mul(b)),
        (V_PK_MAD_U16 | V_PK_MAD_I16, false) => {
            both!(env, rare32, PkB16, 3, |a, b, c| a
                .wrapping_mul(b)
                .wrapping_add(c))
        }
        (V_PK_MAD_U16, true) => both!(env, rare32, PkB16, 3, |a, b, c| saturate_unsigned(
            i64::from(a) * i64::from(b) + i64::from(c)
        )),
        (V_PK_MAD_I16, true) => both!(env, rare32, PkB16, 3, |a, b, c| saturate_signed(
            i64::from(i(a)) * i64::from(i(b)) + i64::from(i(c))
        )),
        (V_PK_LSHLREV_B16, _) => both!(env, rare32, PkB16, 2, |a, b, _| b << (a & 15)),
        (V_PK_LSHRREV_B16, _) => both!(env, rare32, PkB16, 2, |a, b, _| b >> (a & 15)),
        (V_PK_ASHRREV_I16, _) => {
            both!(env, rare32, PkB16, 2, |a, b, _| (i(b) >> (a & 15))
                .cast_unsigned())
        }
        (V_PK_MIN_U16, _) => both!(env, rare32, PkB16, 2, |a, b, _| a.min(b)),
        (V_PK_MAX_U16, _) => both!(env, rare32, PkB16, 2, |a, b, _| a.max(b)),
        (V_PK_MIN_I16, _) => {
            both!(env, rare32, PkB16, 2, |a, b, _| i(a)
                .min(i(b))
                .cast_unsigned())
        }
        (V_PK_MAX_I16, _) => {
            both!(env, rare32, PkB16, 2, |a, b, _| i(a)
                .max(i(b))
                .cast_unsigned())
        }
        _ => return None,
    };
    Some(entry.saturating())
}

/// A result that is NaN becomes the one hardware yields.
#[inline(always)]
fn nan16(result: u32, a: u32, b: u32, c: u32) -> u32 {
    if is_nan16(result) {
        first_nan16(a, b, c)
    } else {
        result
    }
}

fn halves(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    if !soften::rounds_to_even(env, Ty::F16) {
        return rounded_halves(op, env);
    }
    let fma = || {
        both!(env, lane32, PkF16, 3, |a, b, c| nan16(
            u32::from(fma_f16(a as u16, b as u16, c as u16)),
            a,
            b,
            c
        ))
    };
    Some(match op {
        V_PK_ADD_F16 => both!(env, lane32, PkF16, 2, |a, b, _| nan16(
            n(h(a) + h(b)),
            a,
            b,
            0
        )),
        V_PK_MUL_F16 => both!(env, lane32, PkF16, 2, |a, b, _| nan16(
            n(h(a) * h(b)),
            a,
            b,
            0
        )),
        V_PK_FMA_F16 => fma(),
        V_PK_FMAC_F16 => fma().accumulating(),
        _ => return packed_order(op, env),
    })
}

fn packed_order(op: Op, env: &TranslateEnv) -> Option<Entry> {
    Some(match op {
        Op::V_PK_MIN_F16 => both!(env, rare32, PkF16, 2, |a, b, _| ieee_min(a, b)),
        Op::V_PK_MAX_F16 => both!(env, rare32, PkF16, 2, |a, b, _| ieee_max(a, b)),
        _ => return None,
    })
}

/// Packed f16 arithmetic in the other rounding modes.
struct Rounded<const FUSED: bool, const PRODUCT: bool>;

impl<const FUSED: bool, const PRODUCT: bool> Kernel for Rounded<FUSED, PRODUCT> {
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let rounding = soften::rounding(rows.mode, Ty::PkF16);
        for lane in 0..CHUNK_LANES {
            let half = |shift: u32| {
                let [a, b, c] = rows.lo.map(|row| u64::from(row.0[lane] >> shift & 0xffff));
                let value = if FUSED {
                    soft::fma(F16, rounding, a, b, c)
                } else if PRODUCT {
                    soft::mul(F16, rounding, a, b)
                } else {
                    soft::add(F16, rounding, a, b)
                };
                value as u32
            };
            out.lo.0[lane] = half(0) | half(16) << 16;
        }
    }
}

fn rounded_halves(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match op {
        V_PK_ADD_F16 => Entry::rare_kernel::<Rounded<false, false>>(&[Ty::PkF16; 2], Ty::PkF16),
        V_PK_MUL_F16 => Entry::rare_kernel::<Rounded<false, true>>(&[Ty::PkF16; 2], Ty::PkF16),
        V_PK_FMA_F16 => Entry::rare_kernel::<Rounded<true, false>>(&[Ty::PkF16; 3], Ty::PkF16),
        V_PK_FMAC_F16 => {
            Entry::rare_kernel::<Rounded<true, false>>(&[Ty::PkF16; 3], Ty::PkF16).accumulating()
        }
        _ => return packed_order(op, env),
    })
}

/// An f32 operation on both dwords.
trait Single {
    fn native(a: f32, b: f32, c: f32) -> f32;
    fn soft(rounding: Rounding, a: u64, b: u64, c: u64) -> u64;
}

struct Add;

impl Single for Add {
    #[inline(always)]
    fn native(a: f32, b: f32, _: f32) -> f32 {
        a + b
    }
    fn soft(rounding: Rounding, a: u64, b: u64, _: u64) -> u64 {
        soft::add(F32, rounding, a, b)
    }
}

struct Mul;

impl Single for Mul {
    #[inline(always)]
    fn native(a: f32, b: f32, _: f32) -> f32 {
        a * b
    }
    fn soft(rounding: Rounding, a: u64, b: u64, _: u64) -> u64 {
        soft::mul(F32, rounding, a, b)
    }
}

struct Fma;

impl Single for Fma {
    #[inline(always)]
    fn native(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    fn soft(rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
        soft::fma(F32, rounding, a, b, c)
    }
}

struct Pair<S>(PhantomData<S>);

impl<S: Single> Kernel for Pair<S> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        single_row::<S>(rows, rows.lo, &mut out.lo);
        single_row::<S>(rows, rows.hi, &mut out.hi);
    }
}

type Sources<'a> = [&'a crate::wave::Chunk; 3];

#[inline(always)]
fn single_row<S: Single>(rows: &Rows<'_>, [a, b, c]: Sources<'_>, out: &mut crate::wave::Chunk) {
    let mut nan = false;
    for i in 0..CHUNK_LANES {
        let value = S::native(
            f32::from_bits(a.0[i]),
            f32::from_bits(b.0[i]),
            f32::from_bits(c.0[i]),
        );
        nan |= value.is_nan();
        out.0[i] = value.to_bits();
    }
    let rounding = soften::rounding(rows.mode, Ty::F32);
    if nan || rounding != Rounding::Even {
        exact_row::<S>(rounding, [a, b, c], out);
    }
}

#[cold]
#[inline(never)]
fn exact_row<S: Single>(rounding: Rounding, [a, b, c]: Sources<'_>, out: &mut crate::wave::Chunk) {
    for i in 0..CHUNK_LANES {
        let [a, b, c] = [a, b, c].map(|row| u64::from(row.0[i]));
        out.0[i] = S::soft(rounding, a, b, c) as u32;
    }
}

/// `v_pk_mov_b32`: the dwords that op_sel chooses of sources 0 and 1. It is too frequent for the
/// general path, so the choice is made here.
struct Move;

impl Kernel for Move {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let op_sel = rows.step.inst.mods.op_sel;
        let chosen = |i: usize| {
            if op_sel >> i & 1 == 0 {
                rows.lo[i]
            } else {
                rows.hi[i]
            }
        };
        out.lo = *chosen(0);
        out.hi = *chosen(1);
    }
}

fn singles(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let level = env.level;
    Some(match op {
        V_PK_ADD_F32 => Entry::kernel::<Pair<Add>>(level, &[Ty::PkF32; 2], Ty::PkF32),
        V_PK_MUL_F32 => Entry::kernel::<Pair<Mul>>(level, &[Ty::PkF32; 2], Ty::PkF32),
        V_PK_FMA_F32 => Entry::kernel::<Pair<Fma>>(level, &[Ty::PkF32; 3], Ty::PkF32),
        V_PK_MOV_B32 => Entry::kernel::<Move>(level, &[Ty::PkB32; 2], Ty::PkB32),
        _ => return None,
    })
}

/// `v_fma_mix*`: an f32 fused multiply-add; the `lo` and `hi` forms round its result to f16.
struct Mix<const HALF: bool>;

impl<const HALF: bool> Kernel for Mix<HALF> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let rounding = soften::rounding(rows.mode, Ty::F32);
        let half_rounding = soften::rounding(rows.mode, Ty::F16);
        for lane in 0..CHUNK_LANES {
            let [a, b, c] = rows.lo.map(|row| row.0[lane]);
            let native = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
            let single = if native.is_nan() {
                first_nan32(a, b, c)
            } else if rounding == Rounding::Even {
                native.to_bits()
            } else {
                soft::fma(F32, rounding, a.into(), b.into(), c.into()) as u32
            };
            out.lo.0[lane] = if HALF {
                soft::convert(F32, F16, half_rounding, u64::from(single)) as u32
            } else {
                single
            };
        }
    }
}

fn mixed(op: Op, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let level = env.level;
    Some(match op {
        V_FMA_MIX_F32 => Entry::kernel::<Mix<false>>(level, &[Ty::Mix; 3], Ty::F32),
        V_FMA_MIXLO_F16 => {
            Entry::kernel::<Mix<true>>(level, &[Ty::Mix; 3], Ty::F16).storing(Store::LowKeep)
        }
        V_FMA_MIXHI_F16 => {
            Entry::kernel::<Mix<true>>(level, &[Ty::Mix; 3], Ty::F16).storing(Store::HighKeep)
        }
        _ => return None,
    })
}
