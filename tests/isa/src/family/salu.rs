//! The scalar ALU: results and SCC on zero, equal, overflowing and extreme inputs.

use crate::arch::{self, ALL, Set};
use crate::case::Cases;
use crate::state::{State, low};

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("scalar arithmetic");
    for op in two_sources() {
        add_two(cases, &op);
    }
    cases.family("scalar unary");
    for op in one_source() {
        add_one(cases, &op);
    }
    cases.family("scalar compare");
    for (name, wide, holds) in compares() {
        add_compare(cases, name, wide, holds);
    }
    cases.family("scalar constants");
    add_constants(cases);
}

/// What SCC becomes.
type Scc = Option<bool>;

/// An instruction with two sources: the result from the sources and SCC before, and SCC after.
struct Two {
    names: &'static str,
    on: Set,
    /// 64-bit result, first source, second source.
    wide: [bool; 3],
    compute: fn(u64, u64, bool) -> (u64, Scc),
}

/// Input pairs: zero, equal, carries, signed overflow, shift counts at the width.
const PAIRS: [(u64, u64); 12] = [
    (0, 0),
    (1, u64::MAX),
    (0x7fff_ffff, 1),
    (0x8000_0000_8000_0000, 0xffff_ffff_ffff_ffff),
    (0x1234_5678_9abc_def0, 0x1234_5678_9abc_def0),
    (0xffff_ffff_0000_0000, 0x0000_0000_ffff_ffff),
    (0x8000_0000, 0x8000_0000),
    (0x0f0f_1234_8765_4321, 31),
    (0x8000_0001_4000_0001, 32),
    (0xdead_beef_dead_beef, 0x0007_0004),
    (5, 0x0020_0000),
    (0x8000_0000_0000_0000, 0x003f_0001),
];

#[expect(clippy::cast_possible_truncation, reason = "takes the low dword")]
fn i(value: u64) -> i64 {
    i64::from((value as u32).cast_signed())
}

fn u(value: i64) -> u64 {
    value.cast_unsigned()
}

/// A 32-bit result, with SCC set if it is not zero.
fn not_zero(value: u64) -> (u64, Scc) {
    (value, Some(value & 0xffff_ffff != 0))
}

/// A 64-bit result, with SCC set if it is not zero.
fn not_zero64(value: u64) -> (u64, Scc) {
    (value, Some(value != 0))
}

/// A signed sum or difference, with SCC set on overflow.
fn overflowing(exact: i64) -> (u64, Scc) {
    (u(exact), Some(i32::try_from(exact).is_err()))
}

/// An unsigned sum, with SCC set on carry.
fn carrying(exact: u64) -> (u64, Scc) {
    (exact, Some(exact > 0xffff_ffff))
}

/// Field of a value: offset in the low bits of b, width from bit 16 on.
fn field(value: u64, b: u64, bits: u32, signed: bool) -> u64 {
    let offset = low(b) & (bits - 1);
    let width = (low(b) >> 16 & 0x7f).min(bits);
    if width == 0 {
        return 0;
    }
    let extended = if bits == 32 && signed {
        u(i(value))
    } else {
        value
    };
    let shifted = if signed {
        u(extended.cast_signed() >> offset)
    } else {
        value >> offset
    };
    if width == 64 {
        shifted
    } else if signed {
        u((shifted << (64 - width)).cast_signed() >> (64 - width))
    } else {
        shifted & ((1 << width) - 1)
    }
}

#[rustfmt::skip]
fn two_sources() -> Vec<Two> {
    const N: [bool; 3] = [false; 3];
    const W: [bool; 3] = [true; 3];
    const SHIFT: [bool; 3] = [true, true, false];
    let op = |names, wide, compute| Two { names, on: ALL, wide, compute };
    vec![
        op("s_add_u32", N, |a, b, _| carrying(a + b)),
        op("s_sub_u32", N, |a, b, _| (a.wrapping_sub(b), Some(b > a))),
        op("s_add_i32", N, |a, b, _| overflowing(i(a) + i(b))),
        op("s_sub_i32", N, |a, b, _| overflowing(i(a) - i(b))),
        op("s_addc_u32", N, |a, b, scc| carrying(a + b + u64::from(scc))),
        op("s_subb_u32", N, |a, b, scc| (a.wrapping_sub(b + u64::from(scc)), Some(b + u64::from(scc) > a))),
        op("s_min_i32", N, |a, b, _| (u(i(a).min(i(b))), Some(i(a) < i(b)))),
        op("s_min_u32", N, |a, b, _| (a.min(b), Some(a < b))),
        op("s_max_i32", N, |a, b, _| (u(i(a).max(i(b))), Some(i(a) > i(b)))),
        op("s_max_u32", N, |a, b, _| (a.max(b), Some(a > b))),
        op("s_cselect_b32", N, |a, b, scc| (if scc { a } else { b }, None)),
        op("s_cselect_b64", W, |a, b, scc| (if scc { a } else { b }, None)),
        op("s_and_b32", N, |a, b, _| not_zero(a & b)),
        op("s_and_b64", W, |a, b, _| not_zero64(a & b)),
        op("s_or_b32", N, |a, b, _| not_zero(a | b)),
        op("s_or_b64", W, |a, b, _| not_zero64(a | b)),
        op("s_xor_b32", N, |a, b, _| not_zero(a ^ b)),
        op("s_xor_b64", W, |a, b, _| not_zero64(a ^ b)),
        op("s_andn2_b32/s_andn2_b32/s_and_not1_b32", N, |a, b, _| not_zero(a & !b)),
        op("s_andn2_b64/s_andn2_b64/s_and_not1_b64", W, |a, b, _| not_zero64(a & !b)),
        op("s_orn2_b32/s_orn2_b32/s_or_not1_b32", N, |a, b, _| not_zero(a | !b)),
        op("s_orn2_b64/s_orn2_b64/s_or_not1_b64", W, |a, b, _| not_zero64(a | !b)),
        op("s_nand_b32", N, |a, b, _| not_zero(!(a & b))),
        op("s_nand_b64", W, |a, b, _| not_zero64(!(a & b))),
        op("s_nor_b32", N, |a, b, _| not_zero(!(a | b))),
        op("s_nor_b64", W, |a, b, _| not_zero64(!(a | b))),
        op("s_xnor_b32", N, |a, b, _| not_zero(!(a ^ b))),
        op("s_xnor_b64", W, |a, b, _| not_zero64(!(a ^ b))),
        op("s_lshl_b32", N, |a, b, _| not_zero(a << (b & 31))),
        op("s_lshl_b64", SHIFT, |a, b, _| not_zero64(a << (b & 63))),
        op("s_lshr_b32", N, |a, b, _| not_zero(a >> (b & 31))),
        op("s_lshr_b64", SHIFT, |a, b, _| not_zero64(a >> (b & 63))),
        op("s_ashr_i32", N, |a, b, _| not_zero(u(i(a) >> (b & 31)))),
        op("s_ashr_i64", SHIFT, |a, b, _| not_zero64(u(a.cast_signed() >> (b & 63)))),
        op("s_bfm_b32", N, |a, b, _| (((1 << (a & 31)) - 1) << (b & 31), None)),
        op("s_bfm_b64", [true, false, false], |a, b, _| (((1 << (a & 63)) - 1) << (b & 63), None)),
        op("s_mul_i32", N, |a, b, _| (a.wrapping_mul(b), None)),
        op("s_mul_hi_u32", N, |a, b, _| ((a * b) >> 32, None)),
        op("s_mul_hi_i32", N, |a, b, _| (u((i(a) * i(b)) >> 32), None)),
        op("s_bfe_u32", N, |a, b, _| not_zero(field(a, b, 32, false))),
        op("s_bfe_i32", N, |a, b, _| not_zero(field(a, b, 32, true))),
        op("s_bfe_u64", SHIFT, |a, b, _| not_zero64(field(a, b, 64, false))),
        op("s_bfe_i64", SHIFT, |a, b, _| not_zero64(field(a, b, 64, true))),
        op("s_absdiff_i32", N, |a, b, _| not_zero((i(a) - i(b)).unsigned_abs())),
        op("s_lshl1_add_u32", N, |a, b, _| carrying((a << 1) + b)),
        op("s_lshl2_add_u32", N, |a, b, _| carrying((a << 2) + b)),
        op("s_lshl3_add_u32", N, |a, b, _| carrying((a << 3) + b)),
        op("s_lshl4_add_u32", N, |a, b, _| carrying((a << 4) + b)),
        op("s_pack_ll_b32_b16", N, |a, b, _| (a & 0xffff | b << 16, None)),
        op("s_pack_lh_b32_b16", N, |a, b, _| (a & 0xffff | b & 0xffff_0000, None)),
        op("s_pack_hh_b32_b16", N, |a, b, _| (a >> 16 | b & 0xffff_0000, None)),
    ]
}

fn register(wide: bool, first: usize) -> String {
    if wide {
        format!("s[{first}:{}]", first + 1)
    } else {
        format!("s{first}")
    }
}

fn put(state: &mut State, register: usize, wide: bool, value: u64) {
    if wide {
        state.set_sgpr64(register, value);
    } else {
        state.set_sgpr(register, low(value));
    }
}

fn cut(wide: bool, value: u64) -> u64 {
    if wide { value } else { value & 0xffff_ffff }
}

fn add_two(cases: &mut Cases, op: &Two) {
    let name = arch::name(op.names, cases.target).filter(|_| op.on.has(cases.target));
    let Some(name) = name else { return };
    let [d, x, y] = op.wide;
    let asm = format!(
        "{name} {}, {}, {}",
        register(d, 20),
        register(x, 16),
        register(y, 18)
    );
    for (number, (a, b)) in PAIRS.into_iter().enumerate() {
        let (a, b) = (cut(x, a), cut(y, b));
        let mut before = State::new();
        before.scc = number % 2 == 1;
        put(&mut before, 16, x, a);
        put(&mut before, 18, y, b);
        let note = format!("{a:#x}, {b:#x}, scc {}", u8::from(before.scc));
        cases.add(&note, asm.clone(), before, |state, _| {
            let (value, scc) = (op.compute)(a, b, state.scc);
            put(state, 20, d, value);
            state.scc = scc.unwrap_or(state.scc);
        });
    }
}

/// An instruction with one source: result (from source, destination and SCC before) and SCC.
struct One {
    names: &'static str,
    /// 64-bit result, source.
    wide: [bool; 2],
    compute: fn(u64, u64, bool) -> (u64, Scc),
}

const SINGLES: [u64; 9] = [
    0,
    u64::MAX,
    1,
    0x8000_0000_8000_0000,
    0x7fff_ffff_ffff_ffff,
    0x0000_f000_0012_3480,
    0xffff_ffff_0000_0000,
    0xffff_8000_ffff_8000,
    0x0000_0021_0000_0021,
];

/// Position of the lowest set bit, or all ones.
fn lowest(value: u64) -> u64 {
    if value == 0 {
        u64::MAX
    } else {
        value.trailing_zeros().into()
    }
}

/// Zeros above the highest set bit of `bits`, or all ones.
fn leading(value: u64, bits: u32) -> u64 {
    if value == 0 {
        u64::MAX
    } else {
        u64::from(value.leading_zeros() + bits - 64)
    }
}

/// Bits that the sign repeats: like [`leading`] of the value without its sign.
fn signs(value: u64, bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let negative = value >> (bits - 1) & 1 != 0;
    leading(if negative { !value & mask } else { value }, bits)
}

/// Each group of four bits is all ones if any is set.
fn whole_quads(value: u64) -> u64 {
    (0..16).fold(0, |all, quad| {
        all | if value >> (4 * quad) & 0xf != 0 {
            0xf << (4 * quad)
        } else {
            0
        }
    })
}

/// A bit per group of four: any is set.
fn quads(value: u64) -> u64 {
    (0..16).fold(0, |all, quad| {
        all | u64::from(value >> (4 * quad) & 0xf != 0) << quad
    })
}

#[rustfmt::skip]
fn one_source() -> Vec<One> {
    const N: [bool; 2] = [false; 2];
    const W: [bool; 2] = [true; 2];
    const COUNT: [bool; 2] = [false, true];
    let op = |names, wide, compute| One { names, wide, compute };
    vec![
        op("s_mov_b32", N, |a, _, _| (a, None)),
        op("s_mov_b64", W, |a, _, _| (a, None)),
        op("s_cmov_b32", N, |a, d, scc| (if scc { a } else { d }, None)),
        op("s_cmov_b64", W, |a, d, scc| (if scc { a } else { d }, None)),
        op("s_not_b32", N, |a, _, _| not_zero(!a)),
        op("s_not_b64", W, |a, _, _| not_zero64(!a)),
        op("s_wqm_b32", N, |a, _, _| not_zero(whole_quads(a))),
        op("s_wqm_b64", W, |a, _, _| not_zero64(whole_quads(a))),
        op("s_quadmask_b32", N, |a, _, _| not_zero(quads(a))),
        op("s_quadmask_b64", W, |a, _, _| not_zero64(quads(a))),
        op("s_brev_b32", N, |a, _, _| (a.reverse_bits() >> 32, None)),
        op("s_brev_b64", W, |a, _, _| (a.reverse_bits(), None)),
        op("s_bcnt0_i32_b32", N, |a, _, _| not_zero(32 - u64::from(a.count_ones()))),
        op("s_bcnt0_i32_b64", COUNT, |a, _, _| not_zero(a.count_zeros().into())),
        op("s_bcnt1_i32_b32", N, |a, _, _| not_zero(a.count_ones().into())),
        op("s_bcnt1_i32_b64", COUNT, |a, _, _| not_zero(a.count_ones().into())),
        op("s_ff0_i32_b32/s_ff0_i32_b32/-", N, |a, _, _| (lowest(!a & 0xffff_ffff), None)),
        op("s_ff0_i32_b64/s_ff0_i32_b64/-", COUNT, |a, _, _| (lowest(!a), None)),
        op("s_ff1_i32_b32/s_ff1_i32_b32/s_ctz_i32_b32", N, |a, _, _| (lowest(a), None)),
        op("s_ff1_i32_b64/s_ff1_i32_b64/s_ctz_i32_b64", COUNT, |a, _, _| (lowest(a), None)),
        op("s_flbit_i32_b32/s_flbit_i32_b32/s_clz_i32_u32", N, |a, _, _| (leading(a, 32), None)),
        op("s_flbit_i32_b64/s_flbit_i32_b64/s_clz_i32_u64", COUNT, |a, _, _| (leading(a, 64), None)),
        op("s_flbit_i32/s_flbit_i32/s_cls_i32", N, |a, _, _| (signs(a, 32), None)),
        op("s_flbit_i32_i64/s_flbit_i32_i64/s_cls_i32_i64", COUNT, |a, _, _| (signs(a, 64), None)),
        op("s_sext_i32_i8", N, |a, _, _| (u((a << 56).cast_signed() >> 56), None)),
        op("s_sext_i32_i16", N, |a, _, _| (u((a << 48).cast_signed() >> 48), None)),
        op("s_abs_i32", N, |a, _, _| not_zero(i(a).unsigned_abs())),
        op("s_bitset0_b32", N, |a, d, _| (d & !(1 << (a & 31)), None)),
        op("s_bitset1_b32", N, |a, d, _| (d | 1 << (a & 31), None)),
        op("s_bitset0_b64", [true, false], |a, d, _| (d & !(1 << (a & 63)), None)),
        op("s_bitset1_b64", [true, false], |a, d, _| (d | 1 << (a & 63), None)),
        op("s_bitreplicate_b64_b32", [true, false], |a, _, _| {
            ((0..32).fold(0, |all, bit| all | ((a >> bit & 1) * 3) << (2 * bit)), None)
        }),
    ]
}

fn add_one(cases: &mut Cases, op: &One) {
    let Some(name) = arch::name(op.names, cases.target) else {
        return;
    };
    let [d, x] = op.wide;
    let asm = format!("{name} {}, {}", register(d, 20), register(x, 16));
    for (number, a) in SINGLES.into_iter().enumerate() {
        let a = cut(x, a);
        let mut before = State::new();
        before.scc = number % 2 == 0;
        put(&mut before, 16, x, a);
        let note = format!("{a:#x}, scc {}", u8::from(before.scc));
        cases.add(&note, asm.clone(), before, |state, _| {
            let old = cut(d, state.sgpr64(20));
            let (value, scc) = (op.compute)(a, old, state.scc);
            put(state, 20, d, value);
            state.scc = scc.unwrap_or(state.scc);
        });
    }
}

type Compare = (&'static str, [bool; 2], fn(u64, u64) -> bool);

#[rustfmt::skip]
fn compares() -> Vec<Compare> {
    const N: [bool; 2] = [false; 2];
    const W: [bool; 2] = [true; 2];
    vec![
        ("s_cmp_eq_i32", N, |a, b| a == b),
        ("s_cmp_lg_i32", N, |a, b| a != b),
        ("s_cmp_gt_i32", N, |a, b| i(a) > i(b)),
        ("s_cmp_ge_i32", N, |a, b| i(a) >= i(b)),
        ("s_cmp_lt_i32", N, |a, b| i(a) < i(b)),
        ("s_cmp_le_i32", N, |a, b| i(a) <= i(b)),
        ("s_cmp_eq_u32", N, |a, b| a == b),
        ("s_cmp_lg_u32", N, |a, b| a != b),
        ("s_cmp_gt_u32", N, |a, b| a > b),
        ("s_cmp_ge_u32", N, |a, b| a >= b),
        ("s_cmp_lt_u32", N, |a, b| a < b),
        ("s_cmp_le_u32", N, |a, b| a <= b),
        ("s_cmp_eq_u64", W, |a, b| a == b),
        ("s_cmp_lg_u64", W, |a, b| a != b),
        ("s_bitcmp0_b32", N, |a, b| a >> (b & 31) & 1 == 0),
        ("s_bitcmp1_b32", N, |a, b| a >> (b & 31) & 1 == 1),
        ("s_bitcmp0_b64", [true, false], |a, b| a >> (b & 63) & 1 == 0),
        ("s_bitcmp1_b64", [true, false], |a, b| a >> (b & 63) & 1 == 1),
    ]
}

fn add_compare(cases: &mut Cases, name: &str, [x, y]: [bool; 2], holds: fn(u64, u64) -> bool) {
    let asm = format!("{name} {}, {}", register(x, 16), register(y, 18));
    for (a, b) in PAIRS.into_iter().take(9) {
        let (a, b) = (cut(x, a), cut(y, b));
        let mut before = State::new();
        before.scc = !holds(a, b);
        put(&mut before, 16, x, a);
        put(&mut before, 18, y, b);
        let note = format!("{a:#x}, {b:#x}");
        cases.add(&note, asm.clone(), before, |state, _| {
            state.scc = holds(a, b)
        });
    }
}

/// Sources that are constants, and the 16-bit immediates of SOPK, which are signed unless the
/// compare is unsigned.
fn add_constants(cases: &mut Cases) {
    let mut add = |asm: &str, s16: u32, scc: bool, wanted: u32, scc_after: bool| {
        let mut before = State::new();
        before.set_sgpr(16, s16);
        before.scc = scc;
        cases.add("", asm, before, |state, _| {
            state.set_sgpr(16, wanted);
            state.scc = scc_after;
        });
    };
    add("s_movk_i32 s16, 0x8000", 5, true, 0xffff_8000, true);
    add("s_cmovk_i32 s16, 0x7fff", 5, true, 0x7fff, true);
    add("s_cmovk_i32 s16, 0x7fff", 5, false, 5, false);
    add(
        "s_addk_i32 s16, 0x7fff",
        0x7fff_ffff,
        false,
        0x8000_7ffe,
        true,
    );
    add(
        "s_addk_i32 s16, 0x8000",
        0x8000_0000,
        false,
        0x7fff_8000,
        true,
    );
    add("s_addk_i32 s16, 0xffff", 1, true, 0, false);
    add(
        "s_mulk_i32 s16, 0xfffe",
        0x4000_0001,
        true,
        0x7fff_fffe,
        true,
    );
    add("s_mov_b32 s16, -16", 0, false, 0xffff_fff0, false);
    add("s_mov_b32 s16, 64", 0, false, 64, false);
    add("s_mov_b32 s16, 0.5", 0, false, 0x3f00_0000, false);
    add("s_mov_b32 s16, -4.0", 0, false, 0xc080_0000, false);
    add("s_mov_b32 s16, 0.15915494", 0, false, 0x3e22_f983, false);
    add("s_mov_b32 s16, 0xdeadbeef", 0, false, 0xdead_beef, false);
}
