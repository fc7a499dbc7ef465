//! Scalar instructions: results and SCC.

use amdgpu_exec::step::HostLevel;
use amdgpu_exec::testing::{TestGpu, assemble_each, run_snippet};
use amdgpu_isa::Target::{self, Gfx90a, Gfx1030, Gfx1100, Gfx1201};

/// Instruction, s[2:3], s[4:5], SCC before; s[0:1] and SCC after.
type Case = (&'static str, u64, u64, bool, u64, bool);

const OLD: u64 = 0x1111_1111_2222_2222;

fn check(target: Target, cases: &[Case]) {
    let lines: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let Some(codes) = assemble_each(target, 64, &lines) else {
        return;
    };
    let gpu = TestGpu::new(target);
    for (code, &(text, a, b, scc, result, scc_after)) in codes.iter().zip(cases) {
        let setup = |wave: &mut amdgpu_exec::wave::Wave| {
            wave.set_scalar64(0, OLD);
            wave.set_scalar64(2, a);
            wave.set_scalar64(4, b);
            wave.scc = scc;
        };
        let run = gpu.run_wave(code, 64, HostLevel::Base, |wave, _| setup(wave));
        let (wave, _) = run.unwrap_or_else(|stop| panic!("{text}: {:?}", stop.0));
        assert_eq!(wave.scalar64(0), result, "{text} of {a:#x}, {b:#x}");
        assert_eq!(wave.scc, scc_after, "SCC of {text} of {a:#x}, {b:#x}");
    }
}

/// Every generation of encodings; gfx11 has no `s_ff0`, gfx12 no compares with an immediate.
fn check_all(cases: &[Case]) {
    let without = |names: &[&str]| -> Vec<Case> {
        let is_left = |case: &&Case| !names.iter().any(|name| case.0.starts_with(name));
        cases.iter().filter(is_left).copied().collect()
    };
    check(Gfx90a, cases);
    check(Gfx1030, cases);
    check(Gfx1100, &without(&["s_ff0"]));
    check(Gfx1201, &without(&["s_ff0", "s_cmpk"]));
}

/// The low half of the destination, the high half unchanged.
const fn low(value: u32) -> u64 {
    OLD & 0xffff_ffff_0000_0000 | value as u64
}

const MAX: u64 = 0xffff_ffff;
const MIN: u64 = 0x8000_0000;

#[test]
fn additions_carry_into_scc() {
    let cases: &[Case] = &[
        ("s_add_u32 s0, s2, s4", MAX, 1, false, low(0), true),
        ("s_add_u32 s0, s2, s4", 7, 8, true, low(15), false),
        ("s_sub_u32 s0, s2, s4", 3, 4, false, low(u32::MAX), true),
        ("s_sub_u32 s0, s2, s4", 4, 3, true, low(1), false),
        ("s_addc_u32 s0, s2, s4", MAX, 0, true, low(0), true),
        ("s_addc_u32 s0, s2, s4", 1, 2, true, low(4), false),
        ("s_subb_u32 s0, s2, s4", 0, 0, true, low(u32::MAX), true),
        ("s_subb_u32 s0, s2, s4", 0, MAX, true, low(0), true),
        ("s_subb_u32 s0, s2, s4", 9, 4, true, low(4), false),
        (
            "s_add_i32 s0, s2, s4",
            0x7fff_ffff,
            1,
            false,
            low(0x8000_0000),
            true,
        ),
        ("s_add_i32 s0, s2, s4", MAX, 1, true, low(0), false),
        (
            "s_sub_i32 s0, s2, s4",
            MIN,
            1,
            false,
            low(0x7fff_ffff),
            true,
        ),
        ("s_sub_i32 s0, s2, s4", 1, 2, true, low(u32::MAX), false),
        (
            "s_lshl2_add_u32 s0, s2, s4",
            0x4000_0000,
            5,
            false,
            low(5),
            true,
        ),
        ("s_lshl4_add_u32 s0, s2, s4", 3, 5, true, low(53), false),
        ("s_absdiff_i32 s0, s2, s4", 3, 10, false, low(7), true),
        ("s_absdiff_i32 s0, s2, s4", 3, 3, true, low(0), false),
        (
            "s_mul_i32 s0, s2, s4",
            0x1_0001,
            0x1_0001,
            true,
            low(0x2_0001),
            true,
        ),
        (
            "s_mul_hi_u32 s0, s2, s4",
            MAX,
            MAX,
            false,
            low(0xffff_fffe),
            false,
        ),
        ("s_mul_hi_i32 s0, s2, s4", MAX, 2, true, low(u32::MAX), true),
        (
            "s_addk_i32 s0, 0x7fff",
            0,
            0,
            false,
            low(0x2222_2222 + 0x7fff),
            false,
        ),
        ("s_mulk_i32 s0, -2", 0, 0, true, low(0xbbbb_bbbc), true),
        ("s_movk_i32 s0, 0x8000", 0, 0, true, low(0xffff_8000), true),
        ("s_min_i32 s0, s2, s4", MAX, 1, false, low(u32::MAX), true),
        ("s_min_u32 s0, s2, s4", MAX, 1, true, low(1), false),
        ("s_max_i32 s0, s2, s4", MAX, 1, true, low(1), false),
        ("s_max_u32 s0, s2, s4", MAX, 1, false, low(u32::MAX), true),
        ("s_abs_i32 s0, s2", MIN, 0, false, low(0x8000_0000), true),
        ("s_abs_i32 s0, s2", MAX, 0, false, low(1), true),
    ];
    check_all(cases);
}

#[test]
fn logic_tests_the_result() {
    let cases: &[Case] = &[
        ("s_and_b32 s0, s2, s4", 0xc, 0xa, false, low(8), true),
        ("s_and_b32 s0, s2, s4", 1, 2, true, low(0), false),
        (
            "s_or_b64 s[0:1], s[2:3], s[4:5]",
            1 << 40,
            2,
            false,
            1 << 40 | 2,
            true,
        ),
        ("s_xor_b64 s[0:1], s[2:3], s[4:5]", OLD, OLD, true, 0, false),
        (
            "s_andn2_b64 s[0:1], s[2:3], s[4:5]",
            0xff,
            0x0f,
            false,
            0xf0,
            true,
        ),
        ("s_orn2_b32 s0, s2, s4", 0, MAX, true, low(0), false),
        (
            "s_nand_b64 s[0:1], s[2:3], s[4:5]",
            u64::MAX,
            u64::MAX,
            true,
            0,
            false,
        ),
        ("s_nor_b32 s0, s2, s4", 0, 0, false, low(u32::MAX), true),
        (
            "s_xnor_b64 s[0:1], s[2:3], s[4:5]",
            5,
            5,
            false,
            u64::MAX,
            true,
        ),
        ("s_not_b64 s[0:1], s[2:3]", u64::MAX, 0, true, 0, false),
        ("s_cselect_b32 s0, s2, s4", 1, 2, true, low(1), true),
        (
            "s_cselect_b64 s[0:1], s[2:3], -1",
            1,
            2,
            false,
            u64::MAX,
            false,
        ),
        ("s_cmov_b32 s0, s2", 1, 0, false, OLD, false),
        ("s_cmov_b64 s[0:1], s[2:3]", 1, 0, true, 1, true),
        (
            "s_mov_b64 s[0:1], 0.5",
            0,
            0,
            true,
            0x3fe0_0000_0000_0000,
            true,
        ),
        (
            "s_mov_b64 s[0:1], 0x80000001",
            0,
            0,
            true,
            0x8000_0001,
            true,
        ),
        ("s_mov_b32 s0, -16", 0, 0, true, low(0xffff_fff0), true),
        (
            "s_pack_ll_b32_b16 s0, s2, s4",
            0xaaaa_1111,
            0xbbbb_2222,
            true,
            low(0x2222_1111),
            true,
        ),
        (
            "s_pack_lh_b32_b16 s0, s2, s4",
            0xaaaa_1111,
            0xbbbb_2222,
            true,
            low(0xbbbb_1111),
            true,
        ),
        (
            "s_pack_hh_b32_b16 s0, s2, s4",
            0xaaaa_1111,
            0xbbbb_2222,
            true,
            low(0xbbbb_aaaa),
            true,
        ),
    ];
    check_all(cases);
}

#[test]
fn shifts_and_fields_use_the_low_bits_of_their_counts() {
    let cases: &[Case] = &[
        ("s_lshl_b32 s0, s2, s4", 1, 33, false, low(2), true),
        ("s_lshr_b32 s0, s2, s4", 1, 1, true, low(0), false),
        ("s_ashr_i32 s0, s2, s4", MIN, 31, false, low(u32::MAX), true),
        (
            "s_lshl_b64 s[0:1], s[2:3], s4",
            1,
            64 + 40,
            false,
            1 << 40,
            true,
        ),
        ("s_lshr_b64 s[0:1], s[2:3], s4", 1 << 63, 63, false, 1, true),
        (
            "s_ashr_i64 s[0:1], s[2:3], s4",
            1 << 63,
            63,
            false,
            u64::MAX,
            true,
        ),
        (
            "s_bfe_u32 s0, s2, s4",
            0xabcd_1234,
            8 << 16 | 4,
            false,
            low(0x23),
            true,
        ),
        ("s_bfe_u32 s0, s2, s4", 0xabcd_1234, 4, true, low(0), false),
        (
            "s_bfe_u32 s0, s2, s4",
            0xabcd_1234,
            40 << 16 | 28,
            false,
            low(0xa),
            true,
        ),
        (
            "s_bfe_i32 s0, s2, s4",
            0x0000_0f00,
            4 << 16 | 8,
            false,
            low(u32::MAX),
            true,
        ),
        (
            "s_bfe_u64 s[0:1], s[2:3], s4",
            0xff << 40,
            4 << 16 | 40,
            false,
            0xf,
            true,
        ),
        (
            "s_bfe_i64 s[0:1], s[2:3], s4",
            0xff << 40,
            4 << 16 | 40,
            false,
            u64::MAX,
            true,
        ),
        ("s_bfm_b32 s0, s2, s4", 4, 8, true, low(0xf00), true),
        ("s_bfm_b64 s[0:1], s2, s4", 8, 40, false, 0xff << 40, false),
        ("s_brev_b32 s0, s2", 1, 0, true, low(0x8000_0000), true),
        ("s_brev_b64 s[0:1], s[2:3]", 1, 0, false, 1 << 63, false),
        (
            "s_bcnt1_i32_b64 s0, s[2:3]",
            u64::MAX,
            0,
            false,
            low(64),
            true,
        ),
        ("s_bcnt0_i32_b32 s0, s2", MAX, 0, true, low(0), false),
        ("s_ff1_i32_b32 s0, s2", 0, 0, true, low(u32::MAX), true),
        ("s_ff1_i32_b64 s0, s[2:3]", 1 << 50, 0, true, low(50), true),
        ("s_ff0_i32_b32 s0, s2", 0x7, 0, true, low(3), true),
        ("s_flbit_i32_b32 s0, s2", 1, 0, true, low(31), true),
        ("s_flbit_i32_b64 s0, s[2:3]", 1, 0, true, low(63), true),
        ("s_flbit_i32 s0, s2", 0xffff_fff0, 0, true, low(28), true),
        ("s_flbit_i32 s0, s2", MAX, 0, true, low(u32::MAX), true),
        (
            "s_flbit_i32_i64 s0, s[2:3]",
            u64::MAX << 8,
            0,
            true,
            low(56),
            true,
        ),
        (
            "s_sext_i32_i8 s0, s2",
            0x80,
            0,
            true,
            low(0xffff_ff80),
            true,
        ),
        (
            "s_sext_i32_i16 s0, s2",
            0x1_7fff,
            0,
            true,
            low(0x7fff),
            true,
        ),
        ("s_bitset1_b32 s0, s2", 0, 0, true, low(0x2222_2223), true),
        ("s_bitset0_b64 s[0:1], s2", 33, 0, true, OLD, true),
        (
            "s_bitset0_b64 s[0:1], s2",
            32,
            0,
            true,
            OLD & !(1 << 32),
            true,
        ),
        (
            "s_wqm_b64 s[0:1], s[2:3]",
            1 << 63 | 2,
            0,
            false,
            0xf << 60 | 0xf,
            true,
        ),
        (
            "s_quadmask_b64 s[0:1], s[2:3]",
            1 << 63 | 2,
            0,
            false,
            1 << 15 | 1,
            true,
        ),
        (
            "s_bitreplicate_b64_b32 s[0:1], s2",
            0x8000_0001,
            0,
            true,
            0xc000_0000_0000_0003,
            true,
        ),
    ];
    check_all(cases);
}

#[test]
fn compares_set_only_scc() {
    let cases: &[Case] = &[
        ("s_cmp_eq_u32 s2, s4", 5, 5, false, OLD, true),
        ("s_cmp_lg_i32 s2, s4", 5, 5, true, OLD, false),
        ("s_cmp_lt_i32 s2, s4", MAX, 0, false, OLD, true),
        ("s_cmp_lt_u32 s2, s4", MAX, 0, true, OLD, false),
        ("s_cmp_ge_i32 s2, s4", MIN, MAX, true, OLD, false),
        ("s_cmp_ge_u32 s2, s4", MAX, MIN, false, OLD, true),
        ("s_cmp_eq_u64 s[2:3], s[4:5]", 1 << 32, 0, true, OLD, false),
        ("s_cmp_lg_u64 s[2:3], s[4:5]", 1 << 32, 0, false, OLD, true),
        ("s_bitcmp1_b32 s2, s4", 8, 3, false, OLD, true),
        ("s_bitcmp0_b32 s2, s4", 8, 3 + 32, true, OLD, false),
        ("s_bitcmp1_b64 s[2:3], s4", 1 << 40, 40, false, OLD, true),
        ("s_cmpk_eq_i32 s2, -1", MAX, 0, false, OLD, true),
        ("s_cmpk_eq_u32 s2, 0xffff", MAX, 0, true, OLD, false),
        ("s_cmpk_eq_u32 s2, 0xffff", 0xffff, 0, false, OLD, true),
        ("s_cmpk_gt_i32 s2, 0x8000", 0, 0, false, OLD, true),
    ];
    check_all(cases);
}

#[test]
fn saveexec_returns_the_old_mask_and_tests_the_new() {
    let asm = "s_mov_b64 exec, 0xf0\n\
               s_and_saveexec_b64 s[0:1], s[2:3]\n\
               s_cselect_b32 s8, 1, 0\n\
               s_mov_b64 s[10:11], exec\n\
               s_andn2_saveexec_b64 s[4:5], s[2:3]\n\
               s_cselect_b32 s9, 1, 0\n\
               s_mov_b64 s[12:13], exec\n";
    let Some(wave) = run_snippet(Gfx90a, 64, asm, |wave| wave.set_scalar64(2, 0x30)) else {
        return;
    };
    assert_eq!(
        (wave.scalar64(0), wave.scalar64(10), wave.scalar(8)),
        (0xf0, 0x30, 1)
    );
    assert_eq!(
        (wave.scalar64(4), wave.scalar64(12), wave.scalar(9)),
        (0x30, 0, 0)
    );
}

#[test]
fn wave32_keeps_exec_high_as_storage() {
    let asm = "s_mov_b32 exec_hi, 0x1234\n\
               s_and_saveexec_b32 s0, s2\n\
               s_mov_b32 s1, exec_hi\n\
               s_mov_b32 null, s2\n\
               s_add_u32 s3, null, 5\n";
    for target in [Gfx1030, Gfx1100, Gfx1201] {
        let Some(wave) = run_snippet(target, 32, asm, |wave| wave.set_scalar(2, 0)) else {
            return;
        };
        assert_eq!(
            (wave.scalar(0), wave.scalar(1), wave.scalar(3)),
            (u32::MAX, 0x1234, 5)
        );
        assert_eq!(wave.exec(), 0);
        assert!(!wave.scc);
    }
}

#[test]
fn branches_and_calls_reach_their_targets() {
    let asm = "s_mov_b32 s0, 0\n\
               s_getpc_b64 s[4:5]\n\
               anchor:\n\
               s_add_u32 s4, s4, function-anchor\n\
               s_addc_u32 s5, s5, 0\n\
               loop:\n\
               s_swappc_b64 s[6:7], s[4:5]\n\
               s_cmp_lt_u32 s0, 10\n\
               s_cbranch_scc1 loop\n\
               s_branch done\n\
               function:\n\
               s_add_u32 s0, s0, 3\n\
               s_setpc_b64 s[6:7]\n\
               done:\n";
    for target in [Gfx90a, Gfx1030, Gfx1100, Gfx1201] {
        let Some(wave) = run_snippet(target, 64, asm, |_| {}) else {
            return;
        };
        assert_eq!(wave.scalar(0), 12);
    }
}

#[test]
fn mode_fields_read_back_as_written() {
    let asm = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5\n\
               s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 8)\n\
               s_getreg_b32 s1, hwreg(HW_REG_SH_MEM_BASES, 16, 16)\n\
               s_mov_b32 s2, 3\n\
               s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s2\n\
               s_getreg_b32 s3, hwreg(HW_REG_MODE, 0, 8)\n";
    let Some(wave) = run_snippet(Gfx90a, 64, asm, |wave| wave.mode = 0) else {
        return;
    };
    assert_eq!([0, 1, 3].map(|i| wave.scalar(i)), [5, 1, 0x35]);
    let asm = "s_round_mode 0x3\ns_denorm_mode 0xc\ns_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 8)\n";
    let Some(wave) = run_snippet(Gfx1030, 32, asm, |wave| wave.mode = 0) else {
        return;
    };
    assert_eq!(wave.scalar(0), 0xc3);
}

#[test]
fn relative_moves_follow_m0() {
    let asm = "s_mov_b32 m0, 2\n\
               s_movrels_b32 s0, s4\n\
               s_movreld_b32 s1, s4\n\
               s_movrels_b64 s[8:9], s[4:5]\n";
    let setup = |wave: &mut amdgpu_exec::wave::Wave| {
        for i in 4..8 {
            wave.set_scalar(i, 100 + u32::from(i));
        }
    };
    let Some(wave) = run_snippet(Gfx90a, 64, asm, setup) else {
        return;
    };
    assert_eq!([0, 3, 8, 9].map(|i| wave.scalar(i)), [106, 104, 106, 107]);
}

#[test]
fn hardware_values_are_operands() {
    let asm = "s_mov_b64 vcc, 0\n\
               s_cmp_eq_u32 s0, s0\n\
               s_add_u32 s1, src_scc, 4\n\
               s_add_u32 s2, src_vccz, 4\n\
               s_mov_b64 s[4:5], src_shared_base\n\
               s_mov_b64 s[6:7], src_private_base\n";
    let Some(wave) = run_snippet(Gfx90a, 64, asm, |_| {}) else {
        return;
    };
    assert_eq!((wave.scalar(1), wave.scalar(2)), (5, 5));
    assert_eq!((wave.scalar64(4), wave.scalar64(6)), (1 << 48, 2 << 48));
}

#[test]
fn gfx11_packs_asks_for_the_time_and_reads_flat_scratch() {
    let asm = "s_pack_hl_b32_b16 s0, s2, s4\n\
               s_sendmsg_rtn_b64 s[6:7], sendmsg(MSG_RTN_GET_REALTIME)\n\
               s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_REALTIME)\n\
               .long 0xbe8a01e6 // s_mov_b64 s[10:11], src_flat_scratch_base_lo\n\
               s_delay_alu instid0(SALU_CYCLE_1)\n\
               s_waitcnt_vscnt null, 0x0\n\
               s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n";
    let setup = |wave: &mut amdgpu_exec::wave::Wave| {
        wave.set_scalar(2, 0x1234_5678);
        wave.set_scalar(4, 0x9abc_def0);
        wave.place.flat_scratch = 0x7_1234_0000;
    };
    let Some(wave) = run_snippet(Gfx1100, 32, asm, setup) else {
        return;
    };
    assert_eq!(wave.scalar(0), 0xdef0_1234);
    // The test device counts questions.
    assert_eq!((wave.scalar64(6), wave.scalar(8)), (0, 1));
    assert_eq!(wave.scalar64(10), 0x7_1234_0000);
}
