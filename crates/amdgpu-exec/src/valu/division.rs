//! The division sequence: `v_div_scale`, `v_div_fmas`, `v_div_fixup`, and `v_trig_preop`.
//!
//! Compilers divide by scaling numerator and denominator into a safe range, refining a reciprocal
//! with fused multiply-adds, undoing the scale and patching the special cases. The steps must agree
//! with each other more than with any text; the tests run the whole sequence against IEEE division.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "exponent fields of at most 11 bits, lanes in the low dword"
)]

use amdgpu_isa::{Inst, Op};

use super::kernel::Entry;
use super::lanes;
use super::pipeline::{Kernel, Out, Rows};
use super::plan::{Ty, flag};
use super::soften;
use crate::float::soft::{self, F16, F32, F64, Format, Rounding};
use crate::step::TranslateEnv;
use crate::wave::{CHUNK_LANES, Chunk};

/// Table entry of a division step.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    let level = env.level;
    Some(match inst.op {
        V_DIV_SCALE_F32 => {
            Entry::kernel::<Scale<false>>(level, &[Ty::F32; 3], Ty::F32).with(flag::MASK_OUT)
        }
        V_DIV_SCALE_F64 => {
            Entry::kernel::<Scale<true>>(level, &[Ty::F64; 3], Ty::F64).with(flag::MASK_OUT)
        }
        V_DIV_FMAS_F32 => {
            Entry::kernel::<Fmas<false>>(level, &[Ty::F32; 3], Ty::F32).with(flag::MASK_IN)
        }
        V_DIV_FMAS_F64 => {
            Entry::kernel::<Fmas<true>>(level, &[Ty::F64; 3], Ty::F64).with(flag::MASK_IN)
        }
        V_DIV_FIXUP_F32 => Entry::rare_kernel::<Fixup<32>>(&[Ty::F32; 3], Ty::F32),
        V_DIV_FIXUP_F64 => Entry::rare_kernel::<Fixup<64>>(&[Ty::F64; 3], Ty::F64),
        V_DIV_FIXUP_F16 | V_DIV_FIXUP_LEGACY_F16 => {
            Entry::rare_kernel::<Fixup<16>>(&[Ty::F16; 3], Ty::F16)
        }
        V_TRIG_PREOP_F64 => Entry::rare_kernel::<TrigPreop>(&[Ty::F64, Ty::B32], Ty::F64),
        _ => return None,
    })
}

/// Exponent field.
fn exponent(format: Format, bits: u64) -> i32 {
    (bits >> format.fraction & ((1 << format.exponent) - 1)) as i32
}

fn magnitude(format: Format, bits: u64) -> u64 {
    bits & ((1 << (format.fraction + format.exponent)) - 1)
}

fn is_denormal(format: Format, bits: u64) -> bool {
    exponent(format, bits) == 0 && magnitude(format, bits) != 0
}

/// The scaled source 0 and whether the quotient needs scaling back.
///
/// `denominator` and `numerator` are sources 1 and 2; source 0 is one of them. From the CDNA 3 ISA
/// manual, "V_DIV_SCALE", with DENORM tests read on the quotient's exponent.
pub(super) fn scale(format: Format, value: u64, denominator: u64, numerator: u64) -> (u64, bool) {
    let (near_max, power, tiny, max) = if format == F32 {
        (96, 64, 23, 255)
    } else {
        (768, 128, 53, 2047)
    };
    let scaled = |by: i32| soft::scale(format, Rounding::Even, value, by);
    if magnitude(format, numerator) == 0 || magnitude(format, denominator) == 0 {
        return (format.default_nan(), false);
    }
    let (n, d) = (exponent(format, numerator), exponent(format, denominator));
    let is_denominator = value == denominator;
    let only = |chosen: bool| if chosen { scaled(power) } else { value };
    // The manual evaluates the reciprocal in f64, so that of an f32 is never denormal.
    let small_reciprocal = format == F64 && d >= max - 2 && d != max;
    let small_quotient =
        n != max && d != max && quotient_is_denormal(format, numerator, denominator);
    if n - d >= near_max {
        (only(is_denominator), true)
    } else if is_denormal(format, denominator) {
        (scaled(power), false)
    } else if small_reciprocal && small_quotient {
        // The manual says 128; the denominator would overflow.
        (
            if is_denominator {
                scaled(-power)
            } else {
                value
            },
            true,
        )
    } else if small_reciprocal {
        (scaled(-power), false)
    } else if small_quotient {
        (only(value == numerator), true)
    } else if n <= tiny {
        (scaled(power), false)
    } else {
        (value, false)
    }
}

/// The correctly rounded quotient would be denormal: its exponent is below the smallest normal one.
fn quotient_is_denormal(format: Format, numerator: u64, denominator: u64) -> bool {
    let bias = (1 << (format.exponent - 1)) - 1;
    let (n, n_part) = normalised(format, numerator);
    let (d, d_part) = normalised(format, denominator);
    let quotient = n - d - i32::from(n_part < d_part);
    quotient < 1 - bias
}

/// Unbiased exponent and significand with the hidden bit.
fn normalised(format: Format, bits: u64) -> (i32, u64) {
    let bias = (1 << (format.exponent - 1)) - 1;
    let part = bits & ((1 << format.fraction) - 1);
    let field = exponent(format, bits);
    if field != 0 {
        return (field - bias, part | 1 << format.fraction);
    }
    let shift = part.leading_zeros() - (63 - format.fraction);
    (1 - bias - shift as i32, part << shift)
}

struct Scale<const WIDE: bool>;

impl<const WIDE: bool> Kernel for Scale<WIDE> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let mut flags = Chunk::ZERO;
        let format = if WIDE { F64 } else { F32 };
        for lane in 0..CHUNK_LANES {
            let [a, b, c] = [0, 1, 2].map(|i| rows.wide(i, lane));
            let (value, flag) = scale(format, a, b, c);
            out.set_wide(lane, value);
            flags.0[lane] = if flag { u32::MAX } else { 0 };
        }
        out.mask = lanes::to_mask(&flags);
    }
}

/// Fused multiply-add, scaled back by the power that [`scale`] applied where VCC is set: a large
/// quotient was made smaller, a small one larger.
pub(super) fn fmas(format: Format, rounding: Rounding, [a, b, c]: [u64; 3], scaled: bool) -> u64 {
    let (power, bias) = if format == F32 {
        (64, 127)
    } else {
        (128, 1023)
    };
    let power = match (scaled, exponent(format, c) > bias) {
        (false, _) => 0,
        (true, true) => power,
        (true, false) => -power,
    };
    soft::fma_scaled(format, rounding, [a, b, c], power)
}

struct Fmas<const WIDE: bool>;

impl<const WIDE: bool> Kernel for Fmas<WIDE> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let (format, ty) = if WIDE { (F64, Ty::F64) } else { (F32, Ty::F32) };
        let rounding = soften::rounding(rows.mode, ty);
        for lane in 0..CHUNK_LANES {
            let [a, b, c] = [0, 1, 2].map(|i| rows.wide(i, lane));
            let scaled = rows.mask >> lane & 1 != 0;
            // The common case in host arithmetic; NaNs and scaling take the exact path.
            let native = if scaled || rounding != Rounding::Even {
                None
            } else if WIDE {
                native64(a, b, c)
            } else {
                native32(a as u32, b as u32, c as u32)
            };
            let value = native.unwrap_or_else(|| fmas(format, rounding, [a, b, c], scaled));
            out.set_wide(lane, value);
        }
    }
}

#[inline(always)]
fn native32(a: u32, b: u32, c: u32) -> Option<u64> {
    let value = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
    (!value.is_nan()).then(|| u64::from(value.to_bits()))
}

#[inline(always)]
fn native64(a: u64, b: u64, c: u64) -> Option<u64> {
    let value = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    (!value.is_nan()).then(|| value.to_bits())
}

/// The special cases of a division; otherwise the quotient's magnitude with the right sign.
pub(super) fn fixup(format: Format, quotient: u64, denominator: u64, numerator: u64) -> u64 {
    let sign_bit = 1u64 << (format.fraction + format.exponent);
    let sign = (denominator ^ numerator) & sign_bit;
    let quiet = 1u64 << (format.fraction - 1);
    let (d, n) = (magnitude(format, denominator), magnitude(format, numerator));
    let infinity = format.infinity();
    if format.is_nan(numerator) {
        numerator | quiet
    } else if format.is_nan(denominator) {
        denominator | quiet
    } else if d == 0 && n == 0 || d == infinity && n == infinity {
        // The indeterminate NaN of divisions has its sign set (ISA manuals, 0xffc00000).
        format.default_nan() | sign_bit
    } else if d == 0 || n == infinity {
        sign | infinity
    } else if d == infinity || n == 0 {
        sign
    } else {
        ordinary(format, quotient, denominator, numerator, sign)
    }
}

/// A quotient of two numbers. Exponents far apart decide underflow and overflow before the
/// quotient, which may have lost itself on the way.
fn ordinary(format: Format, quotient: u64, denominator: u64, numerator: u64, sign: u64) -> u64 {
    let (d, n) = (exponent(format, denominator), exponent(format, numerator));
    let (least, most) = if format == F32 {
        (-150, 255)
    } else if format == F64 {
        (-1075, 2047)
    } else {
        return sign | magnitude(format, quotient);
    };
    if n - d < least {
        sign
    } else if d == most || format.is_nan(quotient) {
        sign | format.infinity()
    } else {
        sign | magnitude(format, quotient)
    }
}

struct Fixup<const BITS: u32>;

impl<const BITS: u32> Kernel for Fixup<BITS> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        for lane in 0..CHUNK_LANES {
            let [q, d, n] = [0, 1, 2].map(|i| rows.wide(i, lane));
            let value = match BITS {
                16 => fixup(F16, q & 0xffff, d & 0xffff, n & 0xffff),
                32 => fixup(F32, q, d, n),
                _ => fixup(F64, q, d, n),
            };
            out.set_wide(lane, value);
        }
    }
}

/// The first 1216 bits of 2/pi after the binary point, most significant first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// 53 bits of 2/pi from bit `first` after the binary point on.
fn two_over_pi_bits(first: usize) -> u64 {
    let word = |i: usize| TWO_OVER_PI.get(i).copied().unwrap_or(0);
    let (index, offset) = (first / 64, first % 64);
    let pair = u128::from(word(index)) << 64 | u128::from(word(index + 1));
    (pair << offset >> 75) as u64
}

/// A 53-bit segment of 2/pi for the argument's exponent (CDNA 3 ISA manual, "V_TRIG_PREOP_F64").
fn trig_preop(argument: u64, segment: u32) -> u64 {
    let field = exponent(F64, argument);
    let mut shift = (segment & 31) as i32 * 53;
    if field > 1077 {
        shift += field - 1077;
    }
    let bits = usize::try_from(shift).map_or(0, two_over_pi_bits);
    let mut power = -53 - shift;
    if field >= 1968 {
        power += 128;
    }
    let value = (bits as f64).to_bits();
    soft::scale(F64, Rounding::Even, value, power)
}

struct TrigPreop;

impl Kernel for TrigPreop {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        for lane in 0..CHUNK_LANES {
            let value = trig_preop(rows.wide(0, lane), rows.lo[1].0[lane]);
            out.set_wide(lane, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's expansion of a 32-bit division (`LowerFDIV32`).
    fn divide32(numerator: f32, denominator: f32) -> f32 {
        let (n, d) = (
            u64::from(numerator.to_bits()),
            u64::from(denominator.to_bits()),
        );
        let single = |bits: u64| f32::from_bits(bits as u32);
        let scaled_d = single(scale(F32, d, d, n).0);
        let (scaled_n, flag) = scale(F32, n, d, n);
        let scaled_n = single(scaled_n);
        let reciprocal = 1.0 / scaled_d;
        let error = (-scaled_d).mul_add(reciprocal, 1.0);
        let better = error.mul_add(reciprocal, reciprocal);
        let quotient = scaled_n * better;
        let error = (-scaled_d).mul_add(quotient, scaled_n);
        let quotient = error.mul_add(better, quotient);
        let error = (-scaled_d).mul_add(quotient, scaled_n);
        let operands = [error, better, quotient].map(|v| u64::from(v.to_bits()));
        single(fixup(F32, fmas(F32, Rounding::Even, operands, flag), d, n))
    }

    /// LLVM's expansion of a 64-bit division (`LowerFDIV64`).
    fn divide64(numerator: f64, denominator: f64) -> f64 {
        let (n, d) = (numerator.to_bits(), denominator.to_bits());
        let scaled_d = f64::from_bits(scale(F64, d, d, n).0);
        let (scaled_n, flag) = scale(F64, n, d, n);
        let scaled_n = f64::from_bits(scaled_n);
        let reciprocal = 1.0 / scaled_d;
        let error = (-scaled_d).mul_add(reciprocal, 1.0);
        let better = reciprocal.mul_add(error, reciprocal);
        let error = (-scaled_d).mul_add(better, 1.0);
        let better = better.mul_add(error, better);
        let quotient = scaled_n * better;
        let error = (-scaled_d).mul_add(quotient, scaled_n);
        let operands = [error, better, quotient].map(f64::to_bits);
        f64::from_bits(fixup(F64, fmas(F64, Rounding::Even, operands, flag), d, n))
    }

    fn random(state: &mut u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) << 40 ^ *state >> 11
    }

    #[test]
    fn single_division_sequence_is_ieee_division() {
        let mut state = 1;
        let special = [
            0,
            1,
            0x7f_ffff,
            0x80_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x3f80_0000,
            0x8000_0000,
        ];
        let check = |n: f32, d: f32| {
            let (ours, exact) = (divide32(n, d), n / d);
            assert!(
                ours.to_bits() == exact.to_bits() || ours.is_nan() && exact.is_nan(),
                "{n:e} / {d:e} = {exact:e} not {ours:e}"
            );
        };
        for n in special {
            for d in special {
                check(f32::from_bits(n), f32::from_bits(d));
            }
        }
        for _ in 0..1_000_000 {
            check(
                f32::from_bits(random(&mut state) as u32),
                f32::from_bits(random(&mut state) as u32),
            );
        }
    }

    #[test]
    fn double_division_sequence_is_ieee_division() {
        let mut state = 3;
        for _ in 0..1_000_000 {
            let (n, d) = (
                f64::from_bits(random(&mut state)),
                f64::from_bits(random(&mut state)),
            );
            let (ours, exact) = (divide64(n, d), n / d);
            assert!(
                ours.to_bits() == exact.to_bits() || ours.is_nan() && exact.is_nan(),
                "{n:e} / {d:e} = {exact:e} not {ours:e}"
            );
        }
    }

    #[test]
    fn segments_of_two_over_pi_add_up() {
        let sum: f64 = (0..3)
            .rev()
            .map(|i| f64::from_bits(trig_preop(1.0f64.to_bits(), i)))
            .sum();
        assert_eq!(sum, std::f64::consts::FRAC_2_PI);
        assert_eq!(f64::from_bits(trig_preop(1.0f64.to_bits(), 0)), {
            let bits = 0xa2f9_836e_4e44_1529u64 >> 11;
            bits as f64 * 2f64.powi(-53)
        });
    }
}
