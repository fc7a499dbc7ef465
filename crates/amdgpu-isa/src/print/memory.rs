//! DS, FLAT family and buffers.

use super::Text;
use super::format;
use super::operand::operand;
use super::policy::{self, Access};
use crate::decode::with_status;
use crate::inst::{Encoding, Operand};
use crate::op::Op;
use crate::signature::{OperandType, Signature};

pub(super) fn print(text: &mut Text<'_>) {
    match text.inst.encoding {
        Encoding::Ds => ds(text),
        Encoding::Mubuf | Encoding::Mtbuf => buffer(text),
        _ => flat(text),
    }
}

fn typed(text: &mut Text<'_>, value: Operand, ty: OperandType) {
    if value != Operand::None {
        text.operand(&operand(text.target, value, ty));
    }
}

fn ds(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    typed(text, inst.dst, types.dst);
    for slot in 0..3 {
        typed(text, inst.src[slot], types.src[slot]);
    }
    if inst.op == Op::DS_SWIZZLE_B32 {
        if inst.imm != 0 {
            let shown = format::swizzle(text.target, inst.imm.cast_unsigned());
            text.modifier(&format!("offset:{shown}"));
        }
    } else if has_two_offsets(inst.op) {
        text.number("offset0", inst.imm & 0xff);
        text.number("offset1", inst.imm >> 8);
    } else {
        text.number("offset", inst.imm);
    }
    text.flag(inst.mods.gds, "gds");
}

fn has_two_offsets(op: Op) -> bool {
    let name = op.name();
    ["ds_read2", "ds_write2", "ds_wrxchg2"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn flat(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    typed(text, inst.dst, types.dst);
    if types.src[0].exists() {
        let based = inst.src[2] != Operand::None && inst.encoding == Encoding::Global;
        let ty = if based {
            OperandType::B32
        } else {
            types.src[0]
        };
        let shown = operand(text.target, inst.src[0], ty);
        text.operand(&shown);
    }
    typed(text, inst.src[1], types.src[1]);
    if types.src[2].exists() {
        let shown = operand(text.target, inst.src[2], types.src[2]);
        text.operand(&shown);
    }
    text.number("offset", inst.imm);
    if text.target.is_gfx12() {
        return policy::print(text, access(types));
    }
    cache_policy(text);
    text.flag(inst.mods.lds, "lds");
}

/// Atomics take data and may give some.
const fn access(types: &Signature) -> Access {
    match (types.src[1].exists(), types.dst.exists()) {
        (true, true) => Access::Atomic,
        (true, false) => Access::Store,
        _ => Access::Load,
    }
}

pub(super) fn cache_policy(text: &mut Text<'_>) {
    let mods = text.inst.mods;
    text.flag(mods.glc, "glc");
    text.flag(mods.slc, "slc");
    text.flag(mods.dlc, "dlc");
    text.flag(mods.scc, "scc");
}

fn buffer(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    if !types.src[3].exists() {
        return;
    }
    let (data, ty) = if inst.src[1] == Operand::None {
        (inst.dst, types.dst)
    } else {
        (inst.src[1], types.src[1])
    };
    if inst.op == Op::BUFFER_STORE_LDS_DWORD {
        return store_lds(text);
    }
    typed(text, data, with_status(ty, inst.mods.tfe));
    let address = if inst.mods.offen && inst.mods.idxen {
        OperandType {
            bits: 64,
            ..OperandType::B32
        }
    } else {
        OperandType::B32
    };
    for (value, ty) in [
        (inst.src[0], address),
        (inst.src[2], types.src[2]),
        (inst.src[3], types.src[3]),
    ] {
        let shown = operand(text.target, value, ty);
        text.operand(&shown);
    }
    if inst.encoding == Encoding::Mtbuf
        && let Some(shown) = format::buffer_format(text.target, inst.mods.format)
    {
        text.modifier(&format!("format:{shown}"));
    }
    text.flag(inst.mods.idxen, "idxen");
    text.flag(inst.mods.offen, "offen");
    text.number("offset", inst.imm);
    cache_policy(text);
    text.flag(inst.mods.tfe, "tfe");
    text.flag(inst.mods.lds, "lds");
}

/// No data, no address, and the modifiers in their own order.
fn store_lds(text: &mut Text<'_>) {
    let inst = text.inst;
    let types = text.types();
    typed(text, inst.src[2], types.src[2]);
    typed(text, inst.src[3], types.src[3]);
    text.number("offset", inst.imm);
    text.flag(true, "lds");
    cache_policy(text);
}
