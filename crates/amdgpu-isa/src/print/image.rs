//! Image operations.

use super::Text;
use super::operand::operand;
use super::policy::Access;
use crate::image::{Dim, ImageAction, ImageOp};
use crate::inst::{Inst, Operand, image};
use crate::signature::OperandType;

pub(super) fn print(text: &mut Text<'_>) {
    let inst = text.inst;
    let Some(parts) = ImageOp::of(inst.op) else {
        return;
    };
    let data = match inst.src[1] {
        Operand::None => inst.dst,
        data => data,
    };
    let types = text.types();
    let dwords = parts.data_dwords(text.target, inst);
    registers(text, data, dwords);
    address(text, parts);
    let descriptor = operand(text.target, inst.src[2], types.src[2]);
    text.operand(&descriptor);
    if parts.has_sampler() {
        let sampler = operand(text.target, inst.src[3], types.src[3]);
        text.operand(&sampler);
    }
    modifiers(text, parts);
}

fn registers(text: &mut Text<'_>, first: Operand, dwords: u8) {
    let ty = OperandType {
        count: dwords,
        ..OperandType::B32
    };
    let shown = operand(text.target, first, ty);
    text.operand(&shown);
}

fn address(text: &mut Text<'_>, parts: ImageOp) {
    let inst = text.inst;
    if text.target.is_gfx9() {
        // LLVM does not know the dimension and prints the shortest address.
        return registers(text, inst.src[0], parts.address_range().0);
    }
    let a16 = inst.mods.image & image::A16 != 0;
    let dwords = parts.address_dwords(text.target, dim(inst), a16);
    if inst.mods.image & image::NSA == 0 {
        return registers(text, inst.src[0], dwords);
    }
    let mut registers = inst.address.iter();
    let mut list = Vec::new();
    for &size in parts.groups(text.target, inst, dwords).sizes() {
        let mut group = registers.by_ref().take(usize::from(size));
        let first = group.next().copied().unwrap_or(0);
        group.for_each(drop);
        let ty = OperandType {
            count: size,
            ..OperandType::B32
        };
        list.push(operand(text.target, Operand::Vgpr(first), ty));
    }
    text.operand(&format!("[{}]", list.join(", ")));
}

const fn access(parts: ImageOp) -> Access {
    match parts.action {
        ImageAction::Store => Access::Store,
        ImageAction::Atomic => Access::Atomic,
        _ => Access::Load,
    }
}

const fn dim(inst: &Inst) -> Dim {
    Dim::from_code(inst.mods.image >> image::DIM_SHIFT)
}

fn modifiers(text: &mut Text<'_>, parts: ImageOp) {
    let mods = text.inst.mods;
    let has = |flag| mods.image & flag != 0;
    text.flag(mods.format != 0, &format!("dmask:{:#x}", mods.format));
    let is_ray = matches!(parts.action, ImageAction::IntersectRay);
    if !text.target.is_gfx9() && !is_ray {
        let dim = dim(text.inst).name();
        text.modifier(&format!("dim:SQ_RSRC_IMG_{dim}"));
    }
    text.flag(has(image::UNORM), "unorm");
    if text.target.is_gfx12() {
        super::policy::print(text, access(parts));
    } else {
        super::memory::cache_policy(text);
    }
    text.flag(has(image::R128), "r128");
    text.flag(has(image::A16), "a16");
    text.flag(mods.tfe, "tfe");
    text.flag(has(image::LWE), "lwe");
    text.flag(has(image::DA), "da");
    text.flag(has(image::D16), "d16");
}
