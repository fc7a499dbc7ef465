//! The decoder's form of an instruction, by fixed encodings (assembled with LLVM 19), and its
//! behaviour on arbitrary bytes.

#![expect(clippy::unwrap_used, reason = "a test")]

use amdgpu_isa::{
    DecodeError, Dpp, Encoding, Inst, Op, Operand, Sdwa, Target, decode, mnemonic, operand_dwords,
    scalar, signature,
};
use proptest::prelude::*;

const VCC: Operand = Operand::Scalar(scalar::VCC_LO);

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn inst(target: Target, words: &[u32]) -> Inst {
    decode(target, &bytes(words)).unwrap()
}

fn text(target: Target, words: &[u32]) -> String {
    inst(target, words).display(target).to_string()
}

#[test]
fn scalar_operation_takes_a_literal() {
    // s_add_u32 s0, 0x1234, s0
    let inst = inst(Target::Gfx90a, &[0x8000_00ff, 0x1234]);
    assert_eq!(inst.op, Op::S_ADD_U32);
    assert_eq!(inst.encoding, Encoding::Sop2);
    assert_eq!(inst.size_bytes, 8);
    assert_eq!(inst.dst, Operand::Scalar(0));
    assert_eq!(inst.src[0], Operand::Literal(0x1234));
    assert_eq!(inst.src[1], Operand::Scalar(0));
}

#[test]
fn branch_offset_is_sign_extended() {
    // s_branch 65535
    assert_eq!(inst(Target::Gfx1030, &[0xbf82_ffff]).imm, -1);
}

#[test]
fn vop2_carry_forms_list_vcc() {
    // v_addc_co_u32_e32 v4, vcc, v6, v4, vcc
    let inst = inst(Target::Gfx90a, &[0x3808_0906]);
    assert_eq!(inst.op, Op::V_ADDC_CO_U32);
    assert_eq!(inst.dst, Operand::Vgpr(4));
    assert_eq!(inst.sdst, VCC);
    assert_eq!(inst.src[..3], [Operand::Vgpr(6), Operand::Vgpr(4), VCC]);
}

#[test]
fn fmamk_lists_three_sources_in_order() {
    // v_fmamk_f32 v4, v6, 0x1234, v4
    let inst = inst(Target::Gfx1030, &[0x5808_0906, 0x1234]);
    assert_eq!(inst.op, Op::V_FMAMK_F32);
    assert_eq!(
        inst.src[..3],
        [Operand::Vgpr(6), Operand::Literal(0x1234), Operand::Vgpr(4)]
    );
}

#[test]
fn compare_names_its_mask() {
    // v_cmp_eq_u32_e32 vcc, v6, v4 and, on gfx10, v_cmpx_eq_u32_e32 v6, v4
    assert_eq!(inst(Target::Gfx90a, &[0x7d94_0906]).dst, VCC);
    let exec = Operand::Scalar(scalar::EXEC_LO);
    assert_eq!(inst(Target::Gfx1030, &[0x7da4_0906]).dst, exec);
}

#[test]
fn vop3_carries_sign_and_output_modifiers() {
    // v_add_f32_e64 v4, -v6, |v8| clamp mul:2
    let inst = inst(Target::Gfx90a, &[0xd101_8204, 0x2802_1106]);
    assert_eq!(inst.encoding, Encoding::Vop3);
    assert_eq!(inst.mods.neg, 1);
    assert_eq!(inst.mods.abs, 2);
    assert_eq!(inst.mods.omod, 1);
    assert!(inst.mods.clamp);
    assert_eq!(inst.src[2], Operand::None);
}

#[test]
fn packed_defaults_select_the_high_halves() {
    // v_pk_add_f16 v4, v6, v8
    let inst = inst(Target::Gfx90a, &[0xd38f_4004, 0x1802_1106]);
    assert_eq!(inst.op, Op::V_PK_ADD_F16);
    assert_eq!(inst.mods.op_sel, 0);
    assert_eq!(inst.mods.op_sel_hi & 3, 3);
}

#[test]
fn sdwa_has_its_selectors() {
    // v_mov_b32_sdwa v2, v6 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1
    let inst = inst(Target::Gfx90a, &[0x7e04_02f9, 0x0005_1106]);
    let form = Sdwa {
        dst_sel: 1,
        dst_unused: 2,
        src_sel: [5, 6],
        src_sext: [false; 2],
    };
    assert_eq!(inst.sdwa, Some(form));
    assert_eq!(inst.size_bytes, 8);
}

#[test]
fn dpp_has_its_control() {
    // v_mov_b32_dpp v2, v6 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
    let inst = inst(Target::Gfx90a, &[0x7e04_02fa, 0xff09_0106]);
    let form = Dpp::Dpp16 {
        ctrl: 0x101,
        row_mask: 15,
        bank_mask: 15,
        bound_ctrl: true,
        fetch_inactive: false,
    };
    assert_eq!(inst.dpp, Some(form));
}

#[test]
fn agpr_bit_sends_data_to_the_accumulation_file() {
    // global_load_dword a4, v6, s[2:3] offset:-4
    let inst = inst(Target::Gfx90a, &[0xdc50_9ffc, 0x0482_0006]);
    assert_eq!(inst.dst, Operand::Agpr(4));
    assert_eq!(inst.src[0], Operand::Vgpr(6));
    assert_eq!(inst.src[2], Operand::Scalar(2));
    assert_eq!(inst.imm, -4);
}

#[test]
fn global_base_off_depends_on_the_target() {
    let gfx9 = inst(Target::Gfx90a, &[0xdc50_8000, 0x047f_0006]);
    let gfx10 = inst(Target::Gfx1030, &[0xdc30_8fff, 0x047d_0006]);
    assert_eq!(gfx9.src[2], Operand::None);
    assert_eq!(gfx10.src[2], Operand::None);
    assert_eq!(gfx10.imm, -1);
}

#[test]
fn scalar_load_splits_register_and_immediate() {
    // s_load_dwordx2 s[0:1], s[4:5], s7 offset:0x10
    let inst = inst(Target::Gfx1030, &[0xf404_0002, 0x0e00_0010]);
    assert_eq!(inst.dst, Operand::Scalar(0));
    assert_eq!(inst.src[0], Operand::Scalar(4));
    assert_eq!(inst.src[1], Operand::Scalar(7));
    assert_eq!(inst.imm, 0x10);
}

#[test]
fn matrix_operation_reads_agprs() {
    // v_mfma_f32_32x32x1f32 a[0:31], v1, v2, a[0:31] cbsz:1
    let inst = inst(Target::Gfx90a, &[0xd3c0_8100, 0x0402_0501]);
    assert_eq!(inst.dst, Operand::Agpr(0));
    assert_eq!(inst.src[2], Operand::Agpr(0));
    assert_eq!(inst.mods.cbsz, 1);
    assert_eq!(operand_dwords(Target::Gfx90a, inst.op), (32, [1, 1, 32, 0]));
}

#[test]
fn signatures_tell_operand_types() {
    let types = signature(Target::Gfx90a, Op::V_LSHLREV_B64);
    assert_eq!(
        (types.dst.bits, types.src[0].bits, types.src[1].bits),
        (64, 32, 64)
    );
    assert_eq!(signature(Target::Gfx90a, Op::V_PK_FMA_F16).src[0].count, 2);
    assert_eq!(
        signature(Target::Gfx90a, Op::GLOBAL_LOAD_DWORDX3)
            .dst
            .dwords(),
        3
    );
    assert_eq!(signature(Target::Gfx90a, Op::S_BFE_U64).src[1].bits, 32);
}

#[test]
fn text_is_in_llvm_syntax() {
    let cases = [
        (Target::Gfx90a, &[0xbf8c_0f70][..], "s_waitcnt vmcnt(0)"),
        (Target::Gfx1030, &[0xbf8c_3f70], "s_waitcnt vmcnt(0)"),
        (
            Target::Gfx90a,
            &[0xb884_f801],
            "s_getreg_b32 s4, hwreg(HW_REG_MODE)",
        ),
        (
            Target::Gfx1030,
            &[0x7e04_02ff, 0x3f80_0000],
            "v_mov_b32_e32 v2, 1.0",
        ),
        (
            Target::Gfx90a,
            &[0xe070_1030, 0x2000_1806],
            "buffer_store_dword v24, v6, s[0:3], s32 offen offset:48",
        ),
    ];
    for (target, words, expected) in cases {
        assert_eq!(text(target, words), expected);
    }
}

#[test]
fn refusals_say_why() {
    let truncated = decode(Target::Gfx90a, &[0xff, 0, 0, 0x80]);
    assert_eq!(truncated, Err(DecodeError::Truncated { available: 4 }));
    let unknown = decode(Target::Gfx90a, &bytes(&[0xffff_ffff]));
    assert_eq!(
        unknown,
        Err(DecodeError::UnknownOpcode { word: 0xffff_ffff })
    );
    // s_barrier with a non-zero field
    let reserved = decode(Target::Gfx90a, &bytes(&[0xbf8a_0001]));
    assert_eq!(
        reserved,
        Err(DecodeError::ReservedBits { op: Op::S_BARRIER })
    );
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![Just(Target::Gfx90a), Just(Target::Gfx1030)]
}

#[test]
fn renamed_operation_keeps_its_identity_and_prints_its_new_name() {
    let words = [0xd8d8_0100, 0x0200_0001];
    assert_eq!(inst(Target::Gfx1100, &words).op, Op::DS_READ_B32);
    assert_eq!(
        text(Target::Gfx1030, &words),
        "ds_read_b32 v2, v1 offset:256"
    );
    assert_eq!(
        text(Target::Gfx1100, &words),
        "ds_load_b32 v2, v1 offset:256"
    );
    assert_eq!(Op::from_name("ds_load_b32"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_bytes_decode_to_whole_dwords_or_an_error(
        target in target(),
        bytes in prop::collection::vec(any::<u8>(), 0..24),
    ) {
        if let Ok(inst) = decode(target, &bytes) {
            prop_assert_eq!(inst.size_bytes % 4, 0);
            prop_assert!((4..=20).contains(&inst.size_bytes));
            prop_assert!(usize::from(inst.size_bytes) <= bytes.len());
            let text = inst.display(target).to_string();
            prop_assert!(text.starts_with(mnemonic(target, inst.op)));
        }
    }

    #[test]
    fn bytes_after_the_instruction_do_not_matter(
        target in target(),
        bytes in prop::collection::vec(any::<u8>(), 20),
    ) {
        if let Ok(inst) = decode(target, &bytes) {
            let size = usize::from(inst.size_bytes);
            prop_assert_eq!(decode(target, &bytes[..size]), Ok(inst));
        }
    }
}
