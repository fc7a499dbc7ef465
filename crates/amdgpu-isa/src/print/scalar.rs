//! SALU, program control and scalar memory.

use super::Text;
use super::format;
use super::hwreg::hwreg;
use super::message::message;
use super::operand::operand;
use super::policy;
use crate::decode::{is_prefetch, is_probe};
use crate::inst::{Encoding, Operand};
use crate::op::Op;
use crate::signature::{Kind, OperandType};

pub(super) fn print(text: &mut Text<'_>) {
    match text.inst.encoding {
        Encoding::Sopp => sopp(text),
        Encoding::Sopk => sopk(text),
        Encoding::Smem => smem(text),
        _ => alu(text),
    }
}

fn alu(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    typed(text, inst.dst, types.dst);
    typed(text, inst.src[0], types.src[0]);
    if inst.op == Op::S_SET_GPR_IDX_ON {
        text.operand(&format::gpr_index(inst.imm.cast_unsigned()));
    }
    typed(text, inst.src[1], types.src[1]);
    typed(text, inst.src[2], types.src[2]);
    if matches!(inst.op, Op::S_SENDMSG_RTN_B32 | Op::S_SENDMSG_RTN_B64) {
        text.operand(&message(text.target, inst.imm.cast_unsigned()));
    }
}

/// Literals of half-precision operands are shown whole.
fn typed(text: &mut Text<'_>, value: Operand, ty: OperandType) {
    let half = ty.bits == 16 && ty.kind == Kind::Float;
    let whole = half && matches!(value, Operand::Literal(_));
    let ty = if whole { OperandType::B32 } else { ty };
    if value != Operand::None {
        text.operand(&operand(text.target, value, ty));
    }
}

/// SIMM16 as an unsigned number.
const fn immediate(text: &Text<'_>) -> u32 {
    text.inst.imm.cast_unsigned() & 0xffff
}

fn sopp(text: &mut Text<'_>) {
    let value = immediate(text);
    let shown = match text.inst.op {
        Op::S_WAITCNT => format::wait_counts(text.target, value),
        Op::S_WAITCNT_DEPCTR => format::dependency_counts(value),
        Op::S_DELAY_ALU => format::delay(value),
        Op::S_SENDMSG | Op::S_SENDMSGHALT => message(text.target, value),
        Op::S_SET_GPR_IDX_MODE => format::gpr_index(value),
        Op::S_INST_PREFETCH | Op::S_CLAUSE | Op::S_ROUND_MODE | Op::S_TTRACEDATA_IMM => {
            format!("{value:#x}")
        }
        op if op == Op::S_WAIT_EVENT || is_counter_wait(op) => format!("{value:#x}"),
        Op::S_ENDPGM if value == 0 => return,
        Op::S_ENDPGM => value.to_string(),
        Op::S_NOP
        | Op::S_SETKILL
        | Op::S_SETHALT
        | Op::S_SLEEP
        | Op::S_SETPRIO
        | Op::S_TRAP
        | Op::S_INCPERFLEVEL
        | Op::S_DECPERFLEVEL
        | Op::S_BARRIER_WAIT
        | Op::S_DENORM_MODE => small_or_hex(value),
        op if is_branch(op) => value.to_string(),
        // The rest must have a zero field.
        _ => return,
    };
    text.operand(&shown);
}

/// Numbers that would be inline constants are decimal.
fn small_or_hex(value: u32) -> String {
    if value <= 64 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}

/// gfx12's waits for one or two counters, `s_wait_loadcnt` and its like.
fn is_counter_wait(op: Op) -> bool {
    op.name().starts_with("s_wait_") && op.name().ends_with("cnt")
}

fn is_branch(op: Op) -> bool {
    op == Op::S_BRANCH || op.name().starts_with("s_cbranch_")
}

fn sopk(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    let value = immediate(text);
    match inst.op {
        Op::S_SETREG_B32 | Op::S_SETREG_IMM32_B32 => {
            text.operand(&register_field(text, value));
            return typed(text, inst.src[0], types.src[0]);
        }
        Op::S_VERSION => return text.operand(&version(value)),
        _ => {}
    }
    if inst.dst == Operand::None {
        typed(text, inst.src[0], types.src[0]);
    } else {
        typed(text, inst.dst, types.dst);
    }
    let shown = match inst.op {
        Op::S_GETREG_B32 => register_field(text, value),
        Op::S_CALL_B64
        | Op::S_CBRANCH_I_FORK
        | Op::S_SUBVECTOR_LOOP_BEGIN
        | Op::S_SUBVECTOR_LOOP_END => value.to_string(),
        _ => format!("{value:#x}"),
    };
    text.operand(&shown);
}

/// The code version of `s_version`: a generation in the low byte and three flags.
fn version(value: u32) -> String {
    const FLAGS: [(u32, &str); 3] = [
        (0x2000, "UC_VERSION_W64_BIT"),
        (0x4000, "UC_VERSION_W32_BIT"),
        (0x8000, "UC_VERSION_MDP_BIT"),
    ];
    if value & 0x1f00 != 0 {
        return format!("{value:#x}");
    }
    let generation = match value & 0xff {
        0 => "UC_VERSION_GFX7".to_owned(),
        4 => "UC_VERSION_GFX10".to_owned(),
        6 => "UC_VERSION_GFX11".to_owned(),
        9 => "UC_VERSION_GFX12".to_owned(),
        other => other.to_string(),
    };
    let set = FLAGS.iter().filter(|(bit, _)| value & bit != 0);
    set.fold(generation, |text, (_, flag)| {
        if text.contains('|') {
            format!("({text})|{flag}")
        } else {
            format!("{text}|{flag}")
        }
    })
}

/// `hwreg(…)`: id in bits 5:0, offset in 10:6, size minus one in 15:11.
fn register_field(text: &Text<'_>, value: u32) -> String {
    let (id, offset, size) = (value & 63, value >> 6 & 31, (value >> 11 & 31) + 1);
    let name = hwreg(text.target, id).map_or_else(|| id.to_string(), ToOwned::to_owned);
    if offset == 0 && size == 32 {
        format!("hwreg({name})")
    } else {
        format!("hwreg({name}, {offset}, {size})")
    }
}

fn smem(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    if is_prefetch(inst.op) {
        return prefetch(text);
    }
    if is_probe(inst.op) {
        text.operand(&small_or_hex(inst.mods.format.into()));
    } else if inst.src[2] == Operand::None {
        typed(text, inst.dst, types.dst);
    } else {
        typed(text, inst.src[2], types.src[2]);
    }
    typed(text, inst.src[0], types.src[0]);
    if types.src[1].exists() {
        offset(text);
    }
    text.flag(inst.mods.glc, "glc");
    text.flag(inst.mods.dlc, "dlc");
    policy::print(text, policy::Access::Load);
}

/// Base, offset, register, length.
fn prefetch(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    typed(text, inst.src[0], types.src[0]);
    text.operand(&hex(inst.imm));
    match inst.src[1] {
        Operand::None => text.operand("null"),
        register => typed(text, register, OperandType::B32),
    }
    text.operand(&inst.mods.format.to_string());
}

/// Register, immediate, or register plus immediate.
fn offset(text: &mut Text<'_>) {
    let inst = text.inst;
    if inst.src[1] == Operand::None {
        if text.gfx10() && !text.target.is_gfx12() && inst.imm == 0 {
            return text.operand("null");
        }
        let value = hex(inst.imm);
        return text.operand(&value);
    }
    typed(text, inst.src[1], OperandType::B32);
    if inst.imm != 0 || inst.mods.offen || text.target.is_gfx12() {
        text.modifier(&format!("offset:{}", hex(inst.imm)));
    }
}

fn hex(value: i32) -> String {
    if value < 0 {
        format!("-{:#x}", value.unsigned_abs())
    } else {
        format!("{value:#x}")
    }
}
