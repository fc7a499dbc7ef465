//! Integer, bit and shift instructions of the vector ALU.

use super::valu::{self, Form, Op};
use crate::arch::{ALL, CDNA, GFX9, GFX10_ON, Set, TO_GFX10};
use crate::case::Cases;
use crate::edge::Kind::{self, B16, B32, B64, Count};

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("vector integer");
    for op in table() {
        valu::add_all(cases, &op);
    }
    cases.family("vector integer clamp");
    for op in clamping() {
        add_clamped(cases, &op);
    }
}

const fn op(
    names: &'static str,
    on: Set,
    dst: Kind,
    src: &'static [Kind],
    compute: fn([u64; 3]) -> u64,
) -> Op {
    Op {
        names,
        on,
        dst,
        src,
        short: false,
        compute,
    }
}

const fn short(
    names: &'static str,
    on: Set,
    dst: Kind,
    src: &'static [Kind],
    compute: fn([u64; 3]) -> u64,
) -> Op {
    Op {
        short: true,
        ..op(names, on, dst, src, compute)
    }
}

/// The low dword as a signed number.
#[expect(clippy::cast_possible_truncation, reason = "takes the low dword")]
fn i(value: u64) -> i64 {
    i64::from((value as u32).cast_signed())
}

/// The low half as a signed number.
#[expect(clippy::cast_possible_truncation, reason = "takes the low half")]
fn h(value: u64) -> i64 {
    i64::from((value as u16).cast_signed())
}

/// Bits of a signed number.
fn u(value: i64) -> u64 {
    value.cast_unsigned()
}

/// The low 24 bits as a signed number.
fn i24(value: u64) -> i64 {
    (value << 40).cast_signed() >> 40
}

fn u24(value: u64) -> u64 {
    value & 0xff_ffff
}

/// Leading zeros of a dword, or all ones.
fn leading_zeros(value: u64) -> u64 {
    if value == 0 {
        u64::MAX
    } else {
        u64::from(value.leading_zeros()) - 32
    }
}

/// Bits before the first that differs from the sign, or all ones.
fn leading_signs(value: u64) -> u64 {
    leading_zeros(if i(value) < 0 {
        !value & 0xffff_ffff
    } else {
        value
    })
}

fn trailing_zeros(value: u64) -> u64 {
    if value == 0 {
        u64::MAX
    } else {
        value.trailing_zeros().into()
    }
}

fn bytes(value: u64) -> [u64; 4] {
    [0, 8, 16, 24].map(|shift| value >> shift & 0xff)
}

fn halves(value: u64) -> [u64; 2] {
    [value & 0xffff, value >> 16 & 0xffff]
}

/// Sum of absolute differences of bytes; masked: only where the reference (b) is not zero.
fn sad8(a: u64, b: u64, masked: bool) -> u64 {
    let pairs = bytes(a).into_iter().zip(bytes(b));
    pairs
        .filter(|(_, b)| !masked || *b != 0)
        .map(|(a, b)| a.abs_diff(b))
        .sum()
}

/// Selector bytes 0 to 3 are those of b, 4 to 7 those of a, 8 to 11 the signs of halves, 12 zero,
/// above that all ones (ISA manuals, V_PERM_B32).
fn permuted(a: u64, b: u64, selectors: u64) -> u64 {
    let data = a << 32 | b;
    let pick = |selector: u64| match selector {
        0..=7 => data >> (8 * selector) & 0xff,
        8..=11 => (data >> (16 * (selector - 8) + 15) & 1) * 0xff,
        12 => 0,
        _ => 0xff,
    };
    bytes(selectors)
        .into_iter()
        .map(pick)
        .rev()
        .fold(0, |all, byte| all << 8 | byte)
}

fn saturated_byte(half: u64) -> u64 {
    u(h(half).clamp(0, 255))
}

/// (a + b) / 2 per byte, rounded up where bit 0 of c's byte is set.
fn lerp(a: u64, b: u64, c: u64) -> u64 {
    let mean = |i: usize| (bytes(a)[i] + bytes(b)[i] + (bytes(c)[i] & 1)) >> 1;
    (0..4).rev().fold(0, |all, i| all << 8 | mean(i))
}

fn median<T: Ord + Copy>(mut values: [T; 3]) -> T {
    values.sort_unstable();
    values[1]
}

/// Four sums of absolute differences, of bytes of a shifted by one more each, plus those of c.
fn qsad(a: u64, b: u64, c: u64, masked: bool) -> u64 {
    let sum = |i: u32| (sad8(a >> (8 * i), b, masked) + (c >> (16 * i) & 0xffff)) & 0xffff;
    (0..4).rev().fold(0, |all, i| all << 16 | sum(i))
}

#[rustfmt::skip]
fn table() -> Vec<Op> {
    const THREE: &[Kind] = &[B32, B32, B32];
    const TWO: &[Kind] = &[B32, B32];
    const ONE: &[Kind] = &[B32];
    const HALVES: &[Kind] = &[B16, B16];
    const THREE_HALVES: &[Kind] = &[B16, B16, B16];
    vec![
        short("v_mov_b32", ALL, B32, ONE, |[a, ..]| a),
        short("v_not_b32", ALL, B32, ONE, |[a, ..]| !a),
        short("v_bfrev_b32", ALL, B32, ONE, |[a, ..]| a.reverse_bits() >> 32),
        short("v_ffbh_u32/v_ffbh_u32/v_clz_i32_u32", ALL, B32, ONE, |[a, ..]| leading_zeros(a)),
        short("v_ffbh_i32/v_ffbh_i32/v_cls_i32", ALL, B32, ONE, |[a, ..]| leading_signs(a)),
        short("v_ffbl_b32/v_ffbl_b32/v_ctz_i32_b32", ALL, B32, ONE, |[a, ..]| trailing_zeros(a)),
        short("v_and_b32", ALL, B32, TWO, |[a, b, _]| a & b),
        short("v_or_b32", ALL, B32, TWO, |[a, b, _]| a | b),
        short("v_xor_b32", ALL, B32, TWO, |[a, b, _]| a ^ b),
        short("v_xnor_b32", ALL, B32, TWO, |[a, b, _]| !(a ^ b)),
        short("v_min_i32", ALL, B32, TWO, |[a, b, _]| u(i(a).min(i(b)))),
        short("v_max_i32", ALL, B32, TWO, |[a, b, _]| u(i(a).max(i(b)))),
        short("v_min_u32", ALL, B32, TWO, |[a, b, _]| a.min(b)),
        short("v_max_u32", ALL, B32, TWO, |[a, b, _]| a.max(b)),
        short("v_lshlrev_b32", ALL, B32, &[Count, B32], |[a, b, _]| b << (a & 31)),
        short("v_lshrrev_b32", ALL, B32, &[Count, B32], |[a, b, _]| b >> (a & 31)),
        short("v_ashrrev_i32", ALL, B32, &[Count, B32], |[a, b, _]| u(i(b) >> (a & 31))),
        short("v_add_u32/v_add_nc_u32", ALL, B32, TWO, |[a, b, _]| a.wrapping_add(b)),
        short("v_sub_u32/v_sub_nc_u32", ALL, B32, TWO, |[a, b, _]| a.wrapping_sub(b)),
        short("v_subrev_u32/v_subrev_nc_u32", ALL, B32, TWO, |[a, b, _]| b.wrapping_sub(a)),
        short("v_mul_i32_i24", ALL, B32, TWO, |[a, b, _]| u(i24(a) * i24(b))),
        short("v_mul_hi_i32_i24", ALL, B32, TWO, |[a, b, _]| u((i24(a) * i24(b)) >> 32)),
        short("v_mul_u32_u24", ALL, B32, TWO, |[a, b, _]| u24(a) * u24(b)),
        short("v_mul_hi_u32_u24", ALL, B32, TWO, |[a, b, _]| (u24(a) * u24(b)) >> 32),
        short("v_add_u16/-", ALL, B16, HALVES, |[a, b, _]| a.wrapping_add(b)),
        short("v_sub_u16/-", ALL, B16, HALVES, |[a, b, _]| a.wrapping_sub(b)),
        short("v_subrev_u16/-", ALL, B16, HALVES, |[a, b, _]| b.wrapping_sub(a)),
        short("v_mul_lo_u16/-", ALL, B16, HALVES, |[a, b, _]| a * b),
        short("v_lshlrev_b16/-", ALL, B16, HALVES, |[a, b, _]| b << (a & 15)),
        short("v_lshrrev_b16/-", ALL, B16, HALVES, |[a, b, _]| b >> (a & 15)),
        short("v_ashrrev_i16/-", ALL, B16, HALVES, |[a, b, _]| u(h(b) >> (a & 15))),
        short("v_max_u16/-", ALL, B16, HALVES, |[a, b, _]| a.max(b)),
        short("v_max_i16/-", ALL, B16, HALVES, |[a, b, _]| u(h(a).max(h(b)))),
        short("v_min_u16/-", ALL, B16, HALVES, |[a, b, _]| a.min(b)),
        short("v_min_i16/-", ALL, B16, HALVES, |[a, b, _]| u(h(a).min(h(b)))),
        op("-/v_add_nc_u16", TO_GFX10, B16, HALVES, |[a, b, _]| a.wrapping_add(b)),
        op("-/v_sub_nc_u16", TO_GFX10, B16, HALVES, |[a, b, _]| a.wrapping_sub(b)),
        op("-/v_mul_lo_u16", TO_GFX10, B16, HALVES, |[a, b, _]| a * b),
        op("-/v_lshlrev_b16", TO_GFX10, B16, HALVES, |[a, b, _]| b << (a & 15)),
        op("-/v_lshrrev_b16", TO_GFX10, B16, HALVES, |[a, b, _]| b >> (a & 15)),
        op("-/v_ashrrev_i16", TO_GFX10, B16, HALVES, |[a, b, _]| u(h(b) >> (a & 15))),
        op("-/v_max_u16", TO_GFX10, B16, HALVES, |[a, b, _]| a.max(b)),
        op("-/v_max_i16", TO_GFX10, B16, HALVES, |[a, b, _]| u(h(a).max(h(b)))),
        op("-/v_min_u16", TO_GFX10, B16, HALVES, |[a, b, _]| a.min(b)),
        op("-/v_min_i16", TO_GFX10, B16, HALVES, |[a, b, _]| u(h(a).min(h(b)))),
        op("v_add_i16/v_add_nc_i16", TO_GFX10, B16, HALVES, |[a, b, _]| a.wrapping_add(b)),
        op("v_sub_i16/v_sub_nc_i16", TO_GFX10, B16, HALVES, |[a, b, _]| a.wrapping_sub(b)),
        op("v_add_i32/v_add_nc_i32", ALL, B32, TWO, |[a, b, _]| a.wrapping_add(b)),
        op("v_sub_i32/v_sub_nc_i32", ALL, B32, TWO, |[a, b, _]| a.wrapping_sub(b)),
        op("v_mul_lo_u32", ALL, B32, TWO, |[a, b, _]| a.wrapping_mul(b)),
        op("v_mul_hi_u32", ALL, B32, TWO, |[a, b, _]| (a * b) >> 32),
        op("v_mul_hi_i32", ALL, B32, TWO, |[a, b, _]| u((i(a) * i(b)) >> 32)),
        op("v_bfm_b32", ALL, B32, &[Count, Count], |[a, b, _]| ((1 << (a & 31)) - 1) << (b & 31)),
        op("v_bcnt_u32_b32", ALL, B32, TWO, |[a, b, _]| u64::from(a.count_ones()) + b),
        op("v_bfe_u32", ALL, B32, &[B32, Count, Count], |[a, b, c]| a >> (b & 31) & ((1 << (c & 31)) - 1)),
        op("v_bfe_i32", ALL, B32, &[B32, Count, Count], |[a, b, c]| {
            let (offset, width) = (b & 31, c & 31);
            if width == 0 {
                0
            } else {
                // A field that reaches beyond bit 31 has copies of it there.
                u((u(i(a) >> offset) << (64 - width)).cast_signed() >> (64 - width))
            }
        }),
        op("v_bfi_b32", ALL, B32, THREE, |[a, b, c]| a & b | !a & c),
        op("v_alignbit_b32", ALL, B32, &[B32, B32, Count], |[a, b, c]| (a << 32 | b) >> (c & 31)),
        op("v_alignbyte_b32", ALL, B32, &[B32, B32, Count], |[a, b, c]| (a << 32 | b) >> (8 * (c & 3))),
        op("v_min3_i32", ALL, B32, THREE, |[a, b, c]| u(i(a).min(i(b)).min(i(c)))),
        op("v_max3_i32", ALL, B32, THREE, |[a, b, c]| u(i(a).max(i(b)).max(i(c)))),
        op("v_med3_i32", ALL, B32, THREE, |[a, b, c]| u(median([i(a), i(b), i(c)]))),
        op("v_min3_u32", ALL, B32, THREE, |[a, b, c]| a.min(b).min(c)),
        op("v_max3_u32", ALL, B32, THREE, |[a, b, c]| a.max(b).max(c)),
        op("v_med3_u32", ALL, B32, THREE, median),
        op("v_min3_i16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| u(h(a).min(h(b)).min(h(c)))),
        op("v_max3_i16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| u(h(a).max(h(b)).max(h(c)))),
        op("v_med3_i16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| u(median([h(a), h(b), h(c)]))),
        op("v_min3_u16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| a.min(b).min(c)),
        op("v_max3_u16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| a.max(b).max(c)),
        op("v_med3_u16", TO_GFX10, B16, THREE_HALVES, median),
        op("v_sad_u8", ALL, B32, THREE, |[a, b, c]| sad8(a, b, false) + c),
        op("v_sad_hi_u8", ALL, B32, THREE, |[a, b, c]| (sad8(a, b, false) << 16) + c),
        op("v_msad_u8", ALL, B32, THREE, |[a, b, c]| sad8(a, b, true) + c),
        op("v_sad_u16", ALL, B32, THREE, |[a, b, c]| {
            let [x, y] = halves(a);
            let [z, w] = halves(b);
            x.abs_diff(z) + y.abs_diff(w) + c
        }),
        op("v_sad_u32", ALL, B32, THREE, |[a, b, c]| a.abs_diff(b) + c),
        op("v_lerp_u8", ALL, B32, THREE, |[a, b, c]| lerp(a, b, c)),
        op("v_perm_b32", ALL, B32, THREE, |[a, b, c]| permuted(a, b, c)),
        op("v_mad_i32_i24", ALL, B32, THREE, |[a, b, c]| u(i24(a) * i24(b)).wrapping_add(c)),
        op("v_mad_u32_u24", ALL, B32, THREE, |[a, b, c]| (u24(a) * u24(b)).wrapping_add(c)),
        op("v_mad_u32_u16", ALL, B32, &[B16, B16, B32], |[a, b, c]| a * b + c),
        op("v_mad_i32_i16", ALL, B32, &[B16, B16, B32], |[a, b, c]| u(h(a) * h(b)).wrapping_add(c)),
        op("v_mad_u16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| a * b + c),
        op("v_mad_i16", TO_GFX10, B16, THREE_HALVES, |[a, b, c]| a * b + c),
        op("v_xad_u32", ALL, B32, THREE, |[a, b, c]| (a ^ b) + c),
        op("v_add3_u32", ALL, B32, THREE, |[a, b, c]| a + b + c),
        op("v_lshl_add_u32", ALL, B32, &[B32, Count, B32], |[a, b, c]| (a << (b & 31)) + c),
        op("v_add_lshl_u32", ALL, B32, &[B32, B32, Count], |[a, b, c]| ((a + b) & 0xffff_ffff) << (c & 31)),
        op("v_lshl_or_b32", ALL, B32, &[B32, Count, B32], |[a, b, c]| a << (b & 31) | c),
        op("v_and_or_b32", ALL, B32, THREE, |[a, b, c]| a & b | c),
        op("v_or3_b32", ALL, B32, THREE, |[a, b, c]| a | b | c),
        op("v_xor3_b32", GFX10_ON, B32, THREE, |[a, b, c]| a ^ b ^ c),
        op("v_lshlrev_b64/v_lshlrev_b64/v_lshlrev_b64/-", ALL, B64, &[Count, B64], |[a, b, _]| b << (a & 63)),
        op("v_lshrrev_b64", ALL, B64, &[Count, B64], |[a, b, _]| b >> (a & 63)),
        op("v_ashrrev_i64", ALL, B64, &[Count, B64], |[a, b, _]| u(b.cast_signed() >> (a & 63))),
        op("v_qsad_pk_u16_u8", GFX9, B64, &[B64, B32, B64], |[a, b, c]| qsad(a, b, c, false)),
        op("v_mqsad_pk_u16_u8", GFX9, B64, &[B64, B32, B64], |[a, b, c]| qsad(a, b, c, true)),
        op("v_cvt_pk_u16_u32", ALL, B32, TWO, |[a, b, _]| a.min(0xffff) | b.min(0xffff) << 16),
        op("v_cvt_pk_i16_i32", ALL, B32, TWO, |[a, b, _]| {
            let half = |x| u(i(x).clamp(-0x8000, 0x7fff)) & 0xffff;
            half(a) | half(b) << 16
        }),
        op("v_pack_b32_f16", CDNA, B32, HALVES, |[a, b, _]| a | b << 16),
        short("v_sat_pk_u8_i16", TO_GFX10, B16, ONE, |[a, ..]| {
            let [low, high] = halves(a);
            saturated_byte(low) | saturated_byte(high) << 8
        }),
    ]
}

/// Instructions with saturation: the exact result and the bounds of its type.
struct Clamping {
    names: &'static str,
    on: Set,
    kind: Kind,
    src: &'static [Kind],
    exact: fn([u64; 3]) -> i64,
    bounds: (i64, i64),
}

const U32: (i64, i64) = (0, 0xffff_ffff);
const I32: (i64, i64) = (-0x8000_0000, 0x7fff_ffff);
const U16: (i64, i64) = (0, 0xffff);
const I16: (i64, i64) = (-0x8000, 0x7fff);

#[rustfmt::skip]
fn clamping() -> Vec<Clamping> {
    let wide = |names, src, exact, bounds| Clamping { names, on: ALL, kind: B32, src, exact, bounds };
    let half = |names, src, exact, bounds| Clamping { names, on: TO_GFX10, kind: B16, src, exact, bounds };
    const TWO: &[Kind] = &[B32, B32];
    const THREE: &[Kind] = &[B32, B32, B32];
    const HALVES: &[Kind] = &[B16, B16];
    const THREE_HALVES: &[Kind] = &[B16, B16, B16];
    fn s(value: u64) -> i64 { value.cast_signed() }
    vec![
        wide("v_add_u32_e64/v_add_nc_u32_e64", TWO, |[a, b, _]| s(a) + s(b), U32),
        wide("v_sub_u32_e64/v_sub_nc_u32_e64", TWO, |[a, b, _]| s(a) - s(b), U32),
        wide("v_subrev_u32_e64/v_subrev_nc_u32_e64", TWO, |[a, b, _]| s(b) - s(a), U32),
        wide("v_add_i32/v_add_nc_i32", TWO, |[a, b, _]| i(a) + i(b), I32),
        wide("v_sub_i32/v_sub_nc_i32", TWO, |[a, b, _]| i(a) - i(b), I32),
        wide("v_mad_u32_u24", THREE, |[a, b, c]| s(u24(a) * u24(b) + c), U32),
        wide("v_mad_i32_i24", THREE, |[a, b, c]| i24(a) * i24(b) + i(c), I32),
        wide("v_mad_u32_u16", &[B16, B16, B32], |[a, b, c]| s(a * b + c), U32),
        wide("v_mad_i32_i16", &[B16, B16, B32], |[a, b, c]| h(a) * h(b) + i(c), I32),
        half("v_add_u16_e64/v_add_nc_u16", HALVES, |[a, b, _]| s(a) + s(b), U16),
        half("v_sub_u16_e64/v_sub_nc_u16", HALVES, |[a, b, _]| s(a) - s(b), U16),
        half("v_add_i16/v_add_nc_i16", HALVES, |[a, b, _]| h(a) + h(b), I16),
        half("v_sub_i16/v_sub_nc_i16", HALVES, |[a, b, _]| h(a) - h(b), I16),
        half("v_mad_u16", THREE_HALVES, |[a, b, c]| s(a * b + c), U16),
        half("v_mad_i16", THREE_HALVES, |[a, b, c]| h(a) * h(b) + h(c), I16),
    ]
}

fn add_clamped(cases: &mut Cases, op: &Clamping) {
    let name = crate::arch::name(op.names, cases.target).filter(|_| op.on.has(cases.target));
    let Some(name) = name else { return };
    for batch in 0..2 {
        let form = Form {
            modifiers: "clamp",
            batch,
            ..Form::PLAIN
        };
        let compute = |sources| {
            let value = (op.exact)(sources).clamp(op.bounds.0, op.bounds.1);
            (value.cast_unsigned(), None)
        };
        valu::add_form(cases, name, (op.kind, op.src), &form, compute);
    }
}
