//! Instructions run through the interpreter from assembly, and the list of what is not supported.

#![expect(
    clippy::cast_possible_truncation,
    clippy::type_complexity,
    reason = "lane numbers and cut wide results; a table of closures"
)]

use amdgpu_isa::{Encoding, Inst, Mods, Op, Operand, Target};

use super::pipeline::{Out, Rows};
use super::plan::{Plan, Ty};
use crate::float::soft::{self, F16, F32, F64, Format, Rounding};
use crate::step::{HostLevel, Step, TranslateEnv};
use crate::testing::run_snippet;
use crate::wave::{Chunk, Wave};

/// Runs `asm` with lane `l` of v0, v1, v2 set to the given functions of `l`; all lanes active.
fn run(target: Target, asm: &str, setup: impl FnOnce(&mut Wave)) -> Option<Wave> {
    run_snippet(target, 64, asm, |wave| {
        wave.set_exec(u64::MAX);
        setup(wave);
    })
}

fn fill(wave: &mut Wave, register: u16, value: impl Fn(u32) -> u32) {
    for lane in 0..64 {
        wave.set_lane(register, lane, value(lane as u32));
    }
}

/// Register `register` of lane `lane` after `asm` with v0, v1, v2, v3 uniform.
fn uniform(target: Target, asm: &str, values: &[u32], register: u16) -> Option<u32> {
    let wave = run(target, asm, |wave| {
        for (i, value) in values.iter().enumerate() {
            fill(wave, i as u16, |_| *value);
        }
    })?;
    Some(wave.lane(register, 17))
}

#[test]
fn additions_carry_into_the_next_register() {
    let asm = "v_add_co_u32_e32 v4, vcc, v0, v2\nv_addc_co_u32_e32 v5, vcc, v1, v3, vcc";
    let Some(wave) = run(Target::Gfx90a, asm, |wave| {
        fill(wave, 0, |lane| u32::MAX - lane);
        fill(wave, 1, |_| 7);
        fill(wave, 2, |_| 5);
        fill(wave, 3, |_| 1);
    }) else {
        return;
    };
    for lane in 0..64u32 {
        let sum = (7u64 << 32 | u64::from(u32::MAX - lane)) + (1u64 << 32 | 5);
        assert_eq!(wave.lane(4, lane as usize), sum as u32);
        assert_eq!(wave.lane(5, lane as usize), (sum >> 32) as u32);
    }
    assert_eq!(wave.vcc(), 0);
}

#[test]
fn inactive_lanes_keep_values_and_clear_mask_bits() {
    let asm = "v_cmp_gt_u32_e32 vcc, 100, v0\nv_mov_b32_e32 v1, 5";
    let Some(wave) = run(Target::Gfx90a, asm, |wave| {
        wave.set_exec(0x0000_ffff_0000_00f0);
        wave.set_vcc(u64::MAX);
        fill(wave, 1, |lane| lane);
    }) else {
        return;
    };
    assert_eq!(wave.vcc(), 0x0000_ffff_0000_00f0);
    assert_eq!(
        (wave.lane(1, 3), wave.lane(1, 4), wave.lane(1, 63)),
        (3, 5, 63)
    );
}

#[test]
fn compares_without_active_lanes_still_clear_the_mask() {
    let Some(wave) = run(
        Target::Gfx90a,
        "v_cmp_eq_u32_e64 s[10:11], v0, v0",
        |wave| {
            wave.set_exec(0);
            wave.set_scalar64(10, 42);
        },
    ) else {
        return;
    };
    assert_eq!(wave.scalar64(10), 0);
}

#[test]
fn cmpx_writes_exec_and_on_gfx9_the_mask_too() {
    let setup = |wave: &mut Wave| fill(wave, 0, |lane| lane);
    if let Some(wave) = run(Target::Gfx90a, "v_cmpx_gt_u32_e32 vcc, 4, v0", setup) {
        assert_eq!((wave.exec(), wave.vcc()), (0xf, 0xf));
    }
    let setup = |wave: &mut Wave| fill(wave, 0, |lane| lane);
    if let Some(wave) = run(Target::Gfx1030, "v_cmpx_gt_u32_e32 4, v0", setup) {
        assert_eq!((wave.exec(), wave.vcc()), (0xf, 0));
    }
}

#[test]
fn float_conditions_treat_nan_as_unordered() {
    for (name, lt, eq, gt, un) in [
        ("lt", true, false, false, false),
        ("nlt", false, true, true, true),
        ("neq", true, false, true, true),
        ("lg", true, false, true, false),
        ("o", true, true, true, false),
        ("u", false, false, false, true),
        ("nge", true, false, false, true),
    ] {
        for ty in ["f32", "f64"] {
            let (a, b) = if ty == "f32" {
                ("v0", "v2")
            } else {
                ("v[0:1]", "v[2:3]")
            };
            let asm = format!("v_cmp_{name}_{ty}_e32 vcc, {a}, {b}");
            let values = [1.0f64, 2.0, 3.0, f64::NAN];
            let Some(wave) = run(Target::Gfx90a, &asm, |wave| {
                for lane in 0..64 {
                    let pair = [values[lane % 4], 2.0];
                    for (i, value) in pair.into_iter().enumerate() {
                        let bits = if ty == "f32" {
                            u64::from((value as f32).to_bits())
                        } else {
                            value.to_bits()
                        };
                        wave.set_lane(2 * i as u16, lane, bits as u32);
                        wave.set_lane(2 * i as u16 + 1, lane, (bits >> 32) as u32);
                    }
                }
            }) else {
                return;
            };
            let expected = [lt, eq, gt, un].map(u64::from);
            let nibble = expected[0] | expected[1] << 1 | expected[2] << 2 | expected[3] << 3;
            assert_eq!(wave.vcc() & 0xf, nibble, "{name} {ty}");
        }
    }
}

#[test]
fn sixteen_bit_results_zero_the_high_half_on_gfx9_and_keep_it_on_gfx10() {
    let values = [0x3c00, 0x4000, 0xdead_0000];
    let gfx9 = uniform(Target::Gfx90a, "v_add_f16_e32 v2, v0, v1", &values, 2);
    assert!(gfx9.is_none_or(|v| v == 0x4200), "{gfx9:x?}");
    let gfx10 = uniform(Target::Gfx1030, "v_add_f16_e32 v2, v0, v1", &values, 2);
    assert!(gfx10.is_none_or(|v| v == 0xdead_4200), "{gfx10:x?}");
    let asm = "v_add_u16_e64 v2, v0, v1";
    assert!(uniform(Target::Gfx90a, asm, &values, 2).is_none_or(|v| v == 0x7c00));
    let asm = "v_add_nc_u16 v2, v0, v1 op_sel:[0,0,1]";
    assert!(uniform(Target::Gfx1030, asm, &values, 2).is_none_or(|v| v == 0x7c00_0000));
}

#[test]
fn sdwa_selects_sources_and_places_results() {
    let asm = "v_add_u32_sdwa v2, v0, sext(v1) dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1";
    let values = [0x0000_3000, 0xfffe_0000, 0x1122_3344];
    let result = uniform(Target::Gfx90a, asm, &values, 2);
    assert!(result.is_none_or(|v| v == 0x112e_3344), "{result:x?}");
    let asm = "v_cmp_eq_u32_sdwa s[20:21], v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_3";
    if let Some(wave) = run(Target::Gfx90a, asm, |wave| {
        fill(wave, 0, |lane| 0xff00 | lane);
        fill(wave, 1, |_| 0x0500_0000);
    }) {
        assert_eq!(wave.scalar64(20), 1 << 5);
    }
}

/// Lane values after a DPP move of the lane number; the old destination is 1000 + lane.
fn dpp(target: Target, control: &str, exec: u64) -> Option<Vec<u32>> {
    let asm = format!("s_nop 1\nv_mov_b32_dpp v1, v0 {control}");
    let wave = run(target, &asm, |wave| {
        wave.set_exec(exec);
        fill(wave, 0, |lane| lane);
        fill(wave, 1, |lane| 1000 + lane);
    })?;
    Some((0..64).map(|lane| wave.lane(1, lane)).collect())
}

#[test]
fn dpp_moves_within_rows_and_disables_invalid_lanes() {
    let full = "row_mask:0xf bank_mask:0xf";
    let all = u64::MAX;
    let Some(out) = dpp(Target::Gfx90a, &format!("row_shr:1 {full}"), all) else {
        return;
    };
    assert_eq!(
        (out[0], out[1], out[15], out[16], out[17]),
        (1000, 0, 14, 1016, 16)
    );
    let cases: [(&str, fn(u32) -> u32); 12] = [
        ("quad_perm:[3,2,1,0]", |l| l / 4 * 4 + 3 - l % 4),
        ("row_shl:2 bound_ctrl:0", |l| {
            if l % 16 > 13 { 0 } else { l + 2 }
        }),
        ("row_ror:3", |l| l / 16 * 16 + (l + 13) % 16),
        ("row_mirror", |l| l / 16 * 16 + 15 - l % 16),
        ("row_half_mirror", |l| l / 8 * 8 + 7 - l % 8),
        ("wave_shl:1", |l| if l == 63 { 1063 } else { l + 1 }),
        ("wave_rol:1", |l| (l + 1) % 64),
        ("wave_shr:1", |l| if l == 0 { 1000 } else { l - 1 }),
        ("wave_ror:1", |l| (l + 63) % 64),
        ("row_bcast:15", |l| {
            if l < 16 { 1000 + l } else { l / 16 * 16 - 1 }
        }),
        ("row_bcast:31", |l| if l < 32 { 1000 + l } else { 31 }),
        ("row_newbcast:5", |l| l / 16 * 16 + 5),
    ];
    for (control, expected) in cases {
        // The assembler wants bound_ctrl last.
        let (movement, bound) = control.split_once(" bound").unwrap_or((control, ""));
        let bound = if bound.is_empty() { "" } else { "bound_ctrl:0" };
        let out = dpp(Target::Gfx90a, &format!("{movement} {full} {bound}"), all).unwrap();
        let expected: Vec<u32> = (0..64).map(expected).collect();
        assert_eq!(out, expected, "{control}");
    }
}

#[test]
fn dpp_masks_rows_banks_and_inactive_sources() {
    let Some(out) = dpp(
        Target::Gfx90a,
        "row_ror:1 row_mask:0x2 bank_mask:0x1",
        u64::MAX,
    ) else {
        return;
    };
    let written: Vec<usize> = (0..64).filter(|l| out[*l] < 1000).collect();
    assert_eq!(written, [16, 17, 18, 19]);
    // Lane 4 is inactive: lane 5 reads it, which is invalid.
    let exec = !(1 << 4);
    let control = "row_shr:1 row_mask:0xf bank_mask:0xf";
    let out = dpp(Target::Gfx90a, control, exec).unwrap();
    assert_eq!((out[4], out[5], out[6]), (1004, 1005, 5));
    let out = dpp(Target::Gfx90a, &format!("{control} bound_ctrl:0"), exec).unwrap();
    assert_eq!((out[4], out[5], out[6]), (1004, 0, 5));
    let out = dpp(Target::Gfx1030, &format!("{control} fi:1"), exec).unwrap();
    assert_eq!((out[4], out[5], out[6]), (1004, 4, 5));
    let out = dpp(
        Target::Gfx1030,
        "row_share:3 row_mask:0xf bank_mask:0xf",
        u64::MAX,
    )
    .unwrap();
    assert_eq!((out[0], out[40]), (3, 35));
    let out = dpp(
        Target::Gfx1030,
        "row_xmask:6 row_mask:0xf bank_mask:0xf",
        u64::MAX,
    )
    .unwrap();
    assert_eq!((out[1], out[40]), (7, 46));
    let out = dpp(Target::Gfx1030, "dpp8:[7,6,5,4,3,2,1,0]", u64::MAX).unwrap();
    assert_eq!((out[0], out[41]), (7, 46));
}

#[test]
fn lanes_are_read_written_and_permuted() {
    let asm = "v_readfirstlane_b32 s10, v0\nv_readlane_b32 s11, v0, 40\ns_movk_i32 s12, 77\nv_writelane_b32 v0, s12, 3\nv_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v1, -1, v1";
    let asm = asm.replace("v_mbcnt_lo_u32_b32", "v_mbcnt_lo_u32_b32_e64");
    let asm = asm.replace("v_mbcnt_hi_u32_b32", "v_mbcnt_hi_u32_b32_e64");
    let Some(wave) = run(Target::Gfx90a, &asm, |wave| {
        wave.set_exec(u64::MAX << 9);
        fill(wave, 0, |lane| lane * 10);
    }) else {
        return;
    };
    assert_eq!(
        (wave.scalar(10), wave.scalar(11), wave.lane(0, 3)),
        (90, 400, 77)
    );
    assert_eq!(
        (wave.lane(1, 9), wave.lane(1, 32), wave.lane(1, 63)),
        (9, 32, 63)
    );
    let asm = "v_permlanex16_b32 v1, v0, s10, s11";
    let wave = run(Target::Gfx1030, asm, |wave| {
        wave.set_scalar(10, 0x7654_3210);
        wave.set_scalar(11, 0xffff_ffff);
        fill(wave, 0, |lane| lane);
    })
    .unwrap();
    assert_eq!(
        (wave.lane(1, 2), wave.lane(1, 9), wave.lane(1, 18)),
        (18, 31, 2)
    );
}

#[test]
fn modifiers_apply_to_sources_and_results() {
    let one = 1.0f32.to_bits();
    let two = 2.0f32.to_bits();
    for (asm, expected) in [
        ("v_add_f32_e64 v2, -v0, |v1|", 1.0f32),
        ("v_add_f32_e64 v2, v0, v1 clamp", 1.0),
        ("v_fma_f32 v2, -v0, v1, 1.0", -1.0),
        ("v_cndmask_b32_e64 v2, v0, -v1, exec", -2.0),
        ("v_max_f32_e64 v2, -|v0|, -|v1|", -1.0),
    ] {
        let result = uniform(Target::Gfx90a, asm, &[one, two], 2);
        assert!(
            result.is_none_or(|v| v == expected.to_bits()),
            "{asm} {result:x?}"
        );
    }
    let asm = "v_add_u32_e64 v2, v0, v1 clamp";
    assert!(uniform(Target::Gfx90a, asm, &[u32::MAX, 5], 2).is_none_or(|v| v == u32::MAX));
}

#[test]
fn packed_operations_choose_halves() {
    let values = [0x4000_3c00, 0x4400_4200, 0];
    for (asm, expected) in [
        ("v_pk_add_f16 v2, v0, v1", 0x4600_4400),
        (
            "v_pk_add_f16 v2, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]",
            0x4500_4500,
        ),
        ("v_pk_mul_f16 v2, v0, v1 neg_lo:[1,0]", 0x4800_c200),
        (
            "v_pk_fma_f16 v2, v0, v1, 1.0 op_sel_hi:[1,1,0]",
            0x4880_4400,
        ),
        ("v_pk_add_u16 v2, v0, v1", 0x8400_7e00),
        (
            "v_fma_mix_f32 v2, v0, v1, 1.0 op_sel_hi:[1,1,0]",
            0x4080_0000,
        ),
        ("v_dot2_f32_f16 v2, v0, v1, 1.0", 0x4140_0000),
    ] {
        let result = uniform(Target::Gfx90a, asm, &values, 2);
        assert!(result.is_none_or(|v| v == expected), "{asm} {result:x?}");
    }
}

#[test]
fn packed_singles_use_register_pairs() {
    let [a, b, c, d] = [1.0f32, 2.0, 3.0, 4.0].map(f32::to_bits);
    for (asm, low, high) in [
        ("v_pk_add_f32 v[4:5], v[0:1], v[2:3]", 4.0f32, 6.0f32),
        (
            "v_pk_mul_f32 v[4:5], v[0:1], v[2:3] op_sel_hi:[0,1]",
            3.0,
            4.0,
        ),
        (
            "v_pk_fma_f32 v[4:5], v[0:1], v[2:3], v[2:3] neg_lo:[0,0,1]",
            0.0,
            12.0,
        ),
        ("v_pk_mov_b32 v[4:5], v[0:1], v[2:3] op_sel:[1,0]", 2.0, 3.0),
    ] {
        for (register, expected) in [(4, low), (5, high)] {
            let result = uniform(Target::Gfx90a, asm, &[a, b, c, d], register);
            assert!(
                result.is_none_or(|v| v == expected.to_bits()),
                "{asm} {result:x?}"
            );
        }
    }
}

#[test]
fn wide_multiply_adds_carry_out() {
    let asm = "v_mad_u64_u32 v[4:5], s[10:11], v0, v1, v[2:3]";
    if let Some(wave) = run(Target::Gfx90a, asm, |wave| {
        fill(wave, 0, |lane| lane << 26);
        fill(wave, 1, |_| u32::MAX);
        fill(wave, 2, |_| u32::MAX);
        fill(wave, 3, |_| u32::MAX);
    }) {
        for lane in [0u32, 1, 63] {
            let wide = u128::from(lane << 26) * u128::from(u32::MAX) + u128::from(u64::MAX);
            assert_eq!(wave.lane(4, lane as usize), wide as u32);
            assert_eq!(wave.lane(5, lane as usize), (wide >> 32) as u32);
            assert_eq!(wave.scalar64(10) >> lane & 1, (wide >> 64) as u64);
        }
    }
}

#[test]
fn modes_round_and_flush() {
    let tiny = f32::MIN_POSITIVE.to_bits() >> 1;
    let with_mode = |mode: u32, asm: &str, a: u32, b: u32| {
        let set = format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {mode}\n{asm}");
        uniform(Target::Gfx90a, &set, &[a, b], 2)
    };
    let add = "v_add_f32_e32 v2, v0, v1";
    let one = 1.0f32.to_bits();
    for (mode, expected) in [(0xf0, one), (0xf1, one + 1), (0xf2, one), (0xf3, one)] {
        let result = with_mode(mode, add, one, 1);
        assert!(result.is_none_or(|v| v == expected), "{mode:x} {result:x?}");
    }
    assert!(with_mode(0xf0, add, tiny, 0).is_none_or(|v| v == tiny));
    assert!(with_mode(0xc0, add, tiny, 0).is_none_or(|v| v == 0));
    // Denormal results only are flushed.
    let mul = "v_mul_f32_e32 v2, v0, v1";
    let half = 0.5f32.to_bits();
    let smallest = f32::MIN_POSITIVE.to_bits();
    assert!(with_mode(0xd0, mul, smallest, half).is_none_or(|v| v == 0));
    assert!(with_mode(0xf0, mul, smallest, half).is_none_or(|v| v == tiny));
}

#[test]
fn matrix_products_follow_the_documented_layout() {
    // 32x32x2: lane l holds A[l % 32][l / 32] in v0 and B[l / 32][l % 32] in v1.
    let a = |row: u32, k: u32| (row * 2 + k) as f32;
    let b = |k: u32, column: u32| (column as f32) - 7.0 * k as f32;
    let asm = "s_nop 7\nv_mfma_f32_32x32x2f32 v[16:31], v0, v1, 1.0\ns_nop 15\ns_nop 15";
    let Some(wave) = run(Target::Gfx90a, asm, |wave| {
        wave.set_exec(1);
        fill(wave, 0, |lane| a(lane % 32, lane / 32).to_bits());
        fill(wave, 1, |lane| b(lane / 32, lane % 32).to_bits());
    }) else {
        return;
    };
    for row in 0..32 {
        for column in 0..32 {
            let expected = 1.0 + a(row, 0) * b(0, column) + a(row, 1) * b(1, column);
            let register = 16 + 4 * (row / 8) + row % 4;
            let lane = column + 32 * (row / 4 % 2);
            let result = f32::from_bits(wave.lane(register as u16, lane as usize));
            assert_eq!(result, expected, "{row} {column}");
        }
    }
}

/// A plausible instruction of `op`, for asking whether it translates at all.
fn sample(op: Op) -> Inst {
    Inst {
        op,
        encoding: Encoding::Vop3,
        size_bytes: 8,
        dst: Operand::Vgpr(0),
        sdst: Operand::None,
        src: [
            Operand::Vgpr(2),
            Operand::Vgpr(4),
            Operand::Vgpr(6),
            Operand::None,
        ],
        imm: 0,
        mods: Mods::default(),
        dpp: None,
        sdwa: None,
        address: [0; amdgpu_isa::inst::ADDRESS_REGISTERS],
    }
}

fn translates(op: Op, target: Target) -> bool {
    let scalar_result = matches!(op, Op::V_READLANE_B32 | Op::V_READFIRSTLANE_B32)
        || super::compare::is_compare(op);
    let mut inst = sample(op);
    if scalar_result {
        inst.dst = Operand::Scalar(10);
    }
    let env = TranslateEnv {
        target,
        lanes: 64,
        level: HostLevel::Base,
        mode: 0x3f0,
    };
    super::translate(&inst, 0, &env).is_some()
}

/// Graphics interpolation and cube maps, and what no compiler emits for compute.
const UNSUPPORTED: &[&str] = &[
    "v_interp_mov_f32",
    "v_interp_p1_f32",
    "v_interp_p1ll_f16",
    "v_interp_p1lv_f16",
    "v_interp_p2_f16",
    "v_interp_p2_f32",
    "v_screen_partition_4se_b32",
];

#[test]
fn every_vector_operation_but_the_listed_ones_is_supported() {
    let missing: Vec<&str> = Op::ALL
        .iter()
        .filter(|op| op.name().to_ascii_uppercase().starts_with("V_"))
        .filter(|op| !translates(**op, Target::Gfx90a) && !translates(**op, Target::Gfx1030))
        .map(|op| op.name())
        .collect();
    assert_eq!(missing, UNSUPPORTED);
}

/// Bits that meet many edges: special exponents, few set bits, neighbours of powers of two.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
    fn dword(&mut self) -> u32 {
        const EDGES: [u32; 12] = [
            0,
            1,
            0x8000_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0001,
            0x7f80_0001,
            0x3f80_0000,
            0x0080_0000,
            0x7f7f_ffff,
            0x7ff0_0000,
            0xffff_ffff,
        ];
        let random = self.next() as u32;
        match self.next() % 4 {
            0 => EDGES[(random % 12) as usize],
            1 => random & 0x807f_ffff | (120 + random % 16) << 23,
            _ => random,
        }
    }
    fn chunk(&mut self) -> Chunk {
        let mut chunk = Chunk::ZERO;
        chunk.0.iter_mut().for_each(|lane| *lane = self.dword());
        chunk
    }
}

/// Runs the kernel of `step` on rows.
fn kernel(step: &Step, mode: u32, lo: &[Chunk; 3], hi: &[Chunk; 3], mask: u32) -> Option<Out> {
    let rows = Rows {
        lo: [&lo[0], &lo[1], &lo[2]],
        hi: [&hi[0], &hi[1], &hi[2]],
        mask,
        first_lane: 0,
        mode,
        step,
    };
    let mut out = Out {
        lo: Chunk::ZERO,
        hi: Chunk::ZERO,
        mask: 0,
    };
    let kernel = step.kernel?;
    // SAFETY: the step was translated for a level that this host has.
    unsafe { kernel(&rows, &mut out) };
    Some(out)
}

fn environment(level: HostLevel, mode: u32) -> TranslateEnv {
    TranslateEnv {
        target: Target::Gfx90a,
        lanes: 64,
        level,
        mode,
    }
}

#[test]
fn host_levels_agree_on_every_operation() {
    let mut generator = Generator(5);
    for op in Op::ALL {
        let mut inst = sample(*op);
        if super::compare::is_compare(*op) {
            inst.dst = Operand::Scalar(10);
        }
        let step = |level| super::translate(&inst, 0, &environment(level, 0x3f0));
        let (Some(base), Some(best)) = (step(HostLevel::Base), step(HostLevel::detect())) else {
            continue;
        };
        for _ in 0..20 {
            let lo = [generator.chunk(), generator.chunk(), generator.chunk()];
            // A register that is no pair has no high dwords.
            let types = Plan::of(&base).types;
            let hi = types.map(|ty| {
                if ty.is_wide() {
                    generator.chunk()
                } else {
                    Chunk::ZERO
                }
            });
            let mask = generator.next() as u32;
            let one = kernel(&base, 0x3f0, &lo, &hi, mask);
            let two = kernel(&best, 0x3f0, &lo, &hi, mask);
            if let (Some(one), Some(two)) = (one, two) {
                assert_eq!(one.lo, two.lo, "{}", op.name());
                assert_eq!(one.hi, two.hi, "{}", op.name());
                assert_eq!(one.mask, two.mask, "{}", op.name());
            }
        }
    }
}

/// The software float function that an operation must agree with.
type Reference = fn(Rounding, u64, u64, u64) -> u64;

#[test]
fn arithmetic_matches_software_floats_in_every_rounding_mode() {
    let cases: [(Op, Format, Reference); 9] = [
        (Op::V_ADD_F32, F32, |r, a, b, _| soft::add(F32, r, a, b)),
        (Op::V_MUL_F32, F32, |r, a, b, _| soft::mul(F32, r, a, b)),
        (Op::V_FMA_F32, F32, |r, a, b, c| soft::fma(F32, r, a, b, c)),
        (Op::V_ADD_F64, F64, |r, a, b, _| soft::add(F64, r, a, b)),
        (Op::V_MUL_F64, F64, |r, a, b, _| soft::mul(F64, r, a, b)),
        (Op::V_FMA_F64, F64, |r, a, b, c| soft::fma(F64, r, a, b, c)),
        (Op::V_ADD_F16, F16, |r, a, b, _| soft::add(F16, r, a, b)),
        (Op::V_MUL_F16, F16, |r, a, b, _| soft::mul(F16, r, a, b)),
        (Op::V_FMA_F16, F16, |r, a, b, c| soft::fma(F16, r, a, b, c)),
    ];
    let mut generator = Generator(11);
    for round in 0..4u32 {
        let mode = 0x3f0 | round | round << 2;
        for (op, format, reference) in cases {
            let env = environment(HostLevel::detect(), mode);
            let step = super::translate(&sample(op), 0, &env).unwrap();
            let sources = Plan::of(&step).types;
            for _ in 0..200 {
                let lo = sources.map(|ty| match ty {
                    Ty::None => Chunk::ZERO,
                    _ => generator.chunk(),
                });
                let wide = format == F64;
                let hi = sources.map(|ty| {
                    if ty.is_wide() {
                        generator.chunk()
                    } else {
                        Chunk::ZERO
                    }
                });
                let out = kernel(&step, mode, &lo, &hi, 0).unwrap();
                let keep = if format == F16 { 0xffff } else { u64::MAX };
                for lane in 0..32 {
                    let [a, b, c] = [0, 1, 2].map(|i| {
                        (u64::from(lo[i].0[lane]) | u64::from(hi[i].0[lane]) << 32) & keep
                    });
                    let expected = reference(Rounding::from_field(round), a, b, c);
                    let high = if wide {
                        u64::from(out.hi.0[lane]) << 32
                    } else {
                        0
                    };
                    let ours = u64::from(out.lo.0[lane]) | high;
                    assert_eq!(ours, expected, "{} {a:x} {b:x} {c:x} {round}", op.name());
                }
            }
        }
    }
}
