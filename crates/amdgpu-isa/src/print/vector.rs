//! Vector ALU.

use super::Text;
use super::format;
use super::operand::operand;
use crate::decode::{is_cmpx, is_mix};
use crate::inst::{Dpp, Encoding, Operand, Sdwa};
use crate::op::Op;
use crate::signature::{Kind, OperandType, Signature};
use crate::tables::suffix;

pub(super) fn print(text: &mut Text<'_>) {
    let inst = text.inst;
    text.out.push_str(mnemonic_suffix(text));
    let types = text.types();
    destinations(text, types);
    for slot in 0..3 {
        if inst.src[slot] != Operand::None {
            let shown = source(text, slot, types.src[slot]);
            text.operand(&shown);
        }
    }
    match inst.encoding {
        Encoding::Vop3p => packed_modifiers(text),
        _ => modifiers(text),
    }
    if let Some(form) = inst.sdwa {
        sdwa(text, form);
    }
    if let Some(form) = inst.dpp {
        dpp(text, form);
    }
}

fn mnemonic_suffix(text: &Text<'_>) -> &'static str {
    let inst = text.inst;
    if inst.op == Op::V_NOP {
        return "";
    }
    if inst.sdwa.is_some() {
        return "_sdwa";
    }
    if inst.dpp.is_some() {
        return "_dpp";
    }
    match inst.encoding {
        _ if !suffix(text.target, inst.op) => "",
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => "_e32",
        Encoding::Vop3 | Encoding::Vop3Sd => "_e64",
        _ => "",
    }
}

fn destinations(text: &mut Text<'_>, types: &Signature) {
    let inst = text.inst;
    // gfx10's v_cmpx writes EXEC without saying so.
    let implied = text.gfx10() && is_cmpx(inst.op);
    if inst.dst != Operand::None && !implied {
        text.operand(&operand(text.target, inst.dst, types.dst));
    }
    if inst.sdst != Operand::None {
        text.operand(&operand(text.target, inst.sdst, types.sdst));
    }
}

/// A source with its sign modifiers.
fn source(text: &Text<'_>, slot: usize, ty: OperandType) -> String {
    let inst = text.inst;
    let value = inst.src[slot];
    // The exponent of v_ldexp_f16 is a half-precision operand in LLVM's text.
    let shown = match (inst.op, slot) {
        (Op::V_LDEXP_F16, 1) => operand(text.target, value, text.types().dst),
        _ => operand(text.target, value, ty),
    };
    if inst.encoding == Encoding::Vop3p && !is_mix(inst.op) {
        return shown;
    }
    if inst
        .sdwa
        .is_some_and(|form| form.src_sext.get(slot) == Some(&true))
    {
        return format!("sext({shown})");
    }
    // The sign bit of an integer source reads as sign extension in LLVM's text.
    let integer = !matches!(ty.kind, Kind::Float | Kind::Bits)
        || matches!(inst.op, Op::V_CVT_PK_U8_F32) && slot == 2;
    if integer && inst.mods.neg >> slot & 1 != 0 {
        return format!("sext({shown})");
    }
    let constant = matches!(
        value,
        Operand::Int(_) | Operand::Float(_) | Operand::Literal(_)
    );
    match (inst.mods.neg >> slot & 1, inst.mods.abs >> slot & 1) {
        (0, 0) => shown,
        (0, _) => format!("|{shown}|"),
        // -1 is not the negation of 1.
        (_, 0) if constant => format!("neg({shown})"),
        (_, 0) => format!("-{shown}"),
        _ => format!("-|{shown}|"),
    }
}

/// Sources of the operation.
fn source_count(text: &Text<'_>) -> u32 {
    let count = |value: &&Operand| **value != Operand::None;
    text.inst.src.iter().filter(count).map(|_| 1).sum()
}

/// `name:[a,b,…]`, source 0 first.
fn bits(name: &str, value: u8, count: u32) -> String {
    let shown: Vec<String> = (0..count)
        .map(|bit| (value >> bit & 1).to_string())
        .collect();
    format!("{name}:[{}]", shown.join(","))
}

fn modifiers(text: &mut Text<'_>) {
    let inst = text.inst;
    if inst.mods.op_sel != 0 {
        let shown = half_select(text);
        text.modifier(&shown);
    }
    text.flag(inst.mods.clamp, "clamp");
    let omod = ["", "mul:2", "mul:4", "div:2"][usize::from(inst.mods.omod & 3)];
    text.flag(!omod.is_empty(), omod);
}

/// op_sel lists the sources, then the destination.
fn half_select(text: &Text<'_>) -> String {
    let value = text.inst.mods.op_sel;
    if matches!(text.inst.op, Op::V_PERMLANE16_B32 | Op::V_PERMLANEX16_B32) {
        return bits("op_sel", value, 2);
    }
    let count = source_count(text);
    let sources = value & ((1 << count) - 1);
    bits("op_sel", sources | (value >> 3 & 1) << count, count + 1)
}

fn packed_modifiers(text: &mut Text<'_>) {
    let inst = text.inst;
    let count = source_count(text);
    let all = (1 << count) - 1;
    let matrix = inst.op.name().starts_with("v_mfma") || inst.op.name().starts_with("v_accvgpr");
    let default_high = if matrix { 0 } else { all };
    if is_mix(inst.op) {
        return mix_modifiers(text);
    }
    if inst.mods.op_sel != 0 {
        text.modifier(&bits("op_sel", inst.mods.op_sel, count));
    }
    if inst.mods.op_sel_hi & all != default_high {
        text.modifier(&bits("op_sel_hi", inst.mods.op_sel_hi, count));
    }
    if inst.mods.neg != 0 {
        text.modifier(&bits("neg_lo", inst.mods.neg, count));
    }
    if inst.mods.neg_hi != 0 {
        text.modifier(&bits("neg_hi", inst.mods.neg_hi, count));
    }
    text.flag(inst.mods.clamp, "clamp");
    text.number("cbsz", inst.mods.cbsz.into());
    text.number("abid", inst.mods.abid.into());
    text.number("blgp", inst.mods.blgp.into());
}

/// The mixed-precision operations use op_sel_hi as a type, zero by default.
fn mix_modifiers(text: &mut Text<'_>) {
    let inst = text.inst;
    if inst.mods.op_sel != 0 {
        text.modifier(&bits("op_sel", inst.mods.op_sel, 3));
    }
    if inst.mods.op_sel_hi != 0 {
        text.modifier(&bits("op_sel_hi", inst.mods.op_sel_hi, 3));
    }
    text.flag(inst.mods.clamp, "clamp");
}

fn sdwa(text: &mut Text<'_>, form: Sdwa) {
    const SELECT: [&str; 8] = [
        "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "",
    ];
    const UNUSED: [&str; 4] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", ""];
    let select = |value: u8| SELECT[usize::from(value & 7)];
    let inst = text.inst;
    if inst.op == Op::V_NOP {
        return;
    }
    if inst.encoding != Encoding::Vopc {
        text.modifier(&format!("dst_sel:{}", select(form.dst_sel)));
        let unused = UNUSED[usize::from(form.dst_unused & 3)];
        text.modifier(&format!("dst_unused:{unused}"));
    }
    text.modifier(&format!("src0_sel:{}", select(form.src_sel[0])));
    if inst.src[1] != Operand::None {
        text.modifier(&format!("src1_sel:{}", select(form.src_sel[1])));
    }
}

fn dpp(text: &mut Text<'_>, form: Dpp) {
    match form {
        Dpp::Dpp16 {
            ctrl,
            row_mask,
            bank_mask,
            bound_ctrl,
            fetch_inactive,
        } => {
            text.modifier(&format::dpp_control(text.target, ctrl));
            text.modifier(&format!("row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}"));
            text.flag(bound_ctrl, "bound_ctrl:1");
            text.flag(fetch_inactive, "fi:1");
        }
        Dpp::Dpp8 {
            selectors,
            fetch_inactive,
        } => {
            let lanes: Vec<String> = (0..8)
                .map(|lane| (selectors >> (3 * lane) & 7).to_string())
                .collect();
            text.modifier(&format!("dpp8:[{}]", lanes.join(",")));
            text.flag(fetch_inactive, "fi:1");
        }
    }
}
