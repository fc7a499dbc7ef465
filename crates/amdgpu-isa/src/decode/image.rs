//! MIMG of gfx9 to gfx11.
//!
//! From gfx10 on the address registers may lie anywhere (NSA): further dwords name them.

use super::operand::{Cursor, byte, field};
use super::{DecodeError, Result, blank, find};
use crate::image::{Dim, ImageAction, ImageOp};
use crate::inst::{ADDRESS_REGISTERS, Encoding, Inst, Operand, image};
use crate::signature::OperandType;
use crate::tables::{Row, Tables};
use crate::target::{Family, Target};

/// Bit of a flag that an encoding does not have.
pub(super) const ABSENT: u32 = 64;

/// Positions of what the generations place differently.
pub(super) struct Places {
    dmask: u32,
    unorm: u32,
    glc: u32,
    slc: u32,
    dlc: u32,
    scc: u32,
    r128: u32,
    a16: u32,
    d16: u32,
    tfe: u32,
    lwe: u32,
    da: u32,
    /// AGPR data.
    acc: u32,
    dim: u32,
    sampler: u32,
    /// Bits that count the further address dwords.
    nsa: Option<(u32, u32)>,
}

const GFX9: Places = Places {
    dmask: 8,
    unorm: 12,
    glc: 13,
    slc: 25,
    dlc: ABSENT,
    scc: ABSENT,
    r128: ABSENT,
    a16: 15,
    d16: 63,
    tfe: 16,
    lwe: 17,
    da: 14,
    acc: ABSENT,
    dim: ABSENT,
    sampler: 53,
    nsa: None,
};

const GFX90A: Places = Places {
    scc: 7,
    tfe: ABSENT,
    acc: 16,
    ..GFX9
};

const GFX10: Places = Places {
    dlc: 7,
    r128: 15,
    a16: 62,
    da: ABSENT,
    dim: 3,
    nsa: Some((2, 1)),
    ..GFX9
};

const GFX11: Places = Places {
    unorm: 7,
    slc: 12,
    dlc: 13,
    glc: 14,
    r128: 15,
    a16: 16,
    d16: 17,
    tfe: 53,
    lwe: 54,
    dim: 2,
    sampler: 58,
    nsa: Some((0, 0)),
    ..GFX10
};

const VIMAGE: Places = Places {
    dmask: 22,
    unorm: ABSENT,
    glc: ABSENT,
    slc: ABSENT,
    dlc: ABSENT,
    r128: 4,
    d16: 5,
    a16: 6,
    tfe: 55,
    lwe: ABSENT,
    dim: 0,
    nsa: None,
    ..GFX10
};

const VSAMPLE: Places = Places {
    unorm: 13,
    tfe: 3,
    lwe: 40,
    ..VIMAGE
};

impl Places {
    /// Those of gfx12.
    pub(super) const fn gfx12(sampler: bool) -> &'static Self {
        if sampler { &VSAMPLE } else { &VIMAGE }
    }

    const fn of(target: Target) -> &'static Self {
        match target.family() {
            Family::Gfx9 if target.has_unified_registers() => &GFX90A,
            Family::Gfx9 => &GFX9,
            Family::Gfx10 => &GFX10,
            _ => &GFX11,
        }
    }
}

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.mimg, opcode(cursor.target, bits), bits)?;
    let parts = ImageOp::of(row.op).ok_or_else(|| cursor.unknown())?;
    let places = Places::of(cursor.target);
    let mut inst = blank(row, Encoding::Mimg);
    modifiers(places, row, bits, &mut inst);
    if parts.action == ImageAction::IntersectRay {
        ray_modifiers(&mut inst, image::UNORM | image::R128)?;
    }
    let acc = flag(places.acc, bits);
    data(cursor, parts, &mut inst, field(bits, 47, 40), acc)?;
    address(cursor, places, parts, bits, &mut inst)?;
    let descriptor = row.signature().src[2].dwords();
    inst.src[2] = cursor.scalar_register(row.op, field(bits, 52, 48) << 2, descriptor)?;
    if parts.has_sampler() {
        let code = field(bits, places.sampler + 4, places.sampler) << 2;
        inst.src[3] = cursor.scalar_register(row.op, code, 4)?;
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

const fn opcode(target: Target, bits: u64) -> u32 {
    match target.family() {
        Family::Gfx11 | Family::Gfx12 => field(bits, 25, 18),
        _ => field(bits, 24, 18) | field(bits, 0, 0) << 7,
    }
}

const fn flag(bit: u32, bits: u64) -> bool {
    bit != ABSENT && bits >> bit & 1 != 0
}

pub(super) fn modifiers(places: &Places, row: &Row, bits: u64, inst: &mut Inst) {
    inst.mods.format = byte(field(bits, places.dmask + 3, places.dmask));
    inst.mods.glc = flag(places.glc, bits);
    inst.mods.slc = flag(places.slc, bits);
    inst.mods.dlc = flag(places.dlc, bits);
    inst.mods.scc = flag(places.scc, bits);
    inst.mods.tfe = flag(places.tfe, bits);
    let flags = [
        (places.unorm, image::UNORM),
        (places.da, image::DA),
        (places.r128, image::R128),
        (places.lwe, image::LWE),
        (places.a16, image::A16),
    ];
    for (bit, meaning) in flags {
        if flag(bit, bits) {
            inst.mods.image |= meaning;
        }
    }
    if row.uses(places.d16) && flag(places.d16, bits) {
        inst.mods.image |= image::D16;
    }
    if places.dim != ABSENT {
        let dim = u16::from(byte(field(bits, places.dim + 2, places.dim)));
        inst.mods.image |= dim << image::DIM_SHIFT;
    }
}

/// Ray tracing has these modifiers always and does not print them.
pub(super) fn ray_modifiers(inst: &mut Inst, fixed: u16) -> Result<()> {
    if inst.mods.format != 15 || inst.mods.image & fixed != fixed {
        return Err(DecodeError::ReservedBits { op: inst.op });
    }
    inst.mods.format = 0;
    inst.mods.image &= !fixed;
    Ok(())
}

/// Data registers: stores read them, loads write them, atomics do both.
pub(super) fn data(
    cursor: &Cursor<'_>,
    parts: ImageOp,
    inst: &mut Inst,
    number: u32,
    acc: bool,
) -> Result<()> {
    let dwords = parts.data_dwords(cursor.target, inst);
    if !parts.takes_data(dwords) {
        return Err(DecodeError::ReservedBits { op: inst.op });
    }
    let operand = cursor.vgpr_or_agpr(inst.op, number, registers(dwords), acc)?;
    if cursor.target.has_unified_registers() && dwords > 1 && !number.is_multiple_of(2) {
        let code = number;
        return Err(DecodeError::BadOperand { op: inst.op, code });
    }
    let row = crate::tables::signature(cursor.target, inst.op);
    if row.src[1].exists() {
        inst.src[1] = operand;
    }
    // An atomic returns the old value if it is asked for.
    if row.dst.exists() && (!row.src[1].exists() || inst.mods.glc) {
        inst.dst = operand;
    }
    Ok(())
}

const fn registers(dwords: u8) -> OperandType {
    OperandType {
        count: dwords,
        ..OperandType::B32
    }
}

fn address(
    cursor: &mut Cursor<'_>,
    places: &Places,
    parts: ImageOp,
    bits: u64,
    inst: &mut Inst,
) -> Result<()> {
    let first = field(bits, 39, 32);
    let Some((high, low)) = places.nsa else {
        // The descriptor says how many follow, so nothing can be checked here.
        inst.src[0] = Operand::Vgpr(byte(first));
        return Ok(());
    };
    let dim = Dim::from_code(inst.mods.image >> image::DIM_SHIFT);
    let a16 = inst.mods.image & image::A16 != 0;
    let dwords = parts.address_dwords(cursor.target, dim, a16);
    inst.src[0] = Operand::Vgpr(byte(first));
    let words = field(bits, high, low);
    if words == 0 {
        return contiguous(cursor, parts, inst, first, dwords);
    }
    if !listable(cursor.target, parts, words, dwords) {
        return Err(DecodeError::ReservedBits { op: inst.op });
    }
    inst.mods.image |= image::NSA;
    listed(cursor, parts, inst, words, dwords)
}

/// LLVM knows address tuples of the operation's lengths only.
fn contiguous(
    cursor: &Cursor<'_>,
    parts: ImageOp,
    inst: &mut Inst,
    first: u32,
    dwords: u8,
) -> Result<()> {
    let (least, greatest) = parts.address_range();
    // It has tuples of four and eight for addresses that are at most as long.
    let rounded = matches!((greatest, dwords), (3, 4) | (5..=7, 8));
    if !(least..=greatest).contains(&dwords) && !rounded {
        return Err(DecodeError::ReservedBits { op: inst.op });
    }
    cursor.vgpr(inst.op, first, registers(dwords))?;
    for (register, number) in inst
        .address
        .iter_mut()
        .take(usize::from(dwords))
        .zip(first..)
    {
        *register = byte(number);
    }
    Ok(())
}

/// True if LLVM has an operation with registers in `words` further dwords.
fn listable(target: Target, parts: ImageOp, words: u32, dwords: u8) -> bool {
    if parts.action == ImageAction::IntersectRay {
        return target.is_gfx11_plus() || u32::from(dwords - 1).div_ceil(4) == words;
    }
    let (least, greatest) = parts.address_range();
    let (low, high) = match words {
        // gfx11 puts what has no number of its own behind the last.
        1 if target.is_gfx11_plus() => (2, 13),
        1 => (2, 5),
        2 => (6, 9),
        _ => (10, 13),
    };
    let exists = least.max(low) <= greatest.min(high);
    exists && (least.max(2)..=greatest.min(high)).contains(&dwords)
}

/// Registers that further dwords name.
fn listed(
    cursor: &mut Cursor<'_>,
    parts: ImageOp,
    inst: &mut Inst,
    words: u32,
    dwords: u8,
) -> Result<()> {
    let mut numbers = [0; ADDRESS_REGISTERS + 1];
    if let Operand::Vgpr(first) = inst.src[0] {
        numbers[0] = first;
    }
    for word in 0..usize::try_from(words).unwrap_or(0) {
        let more = cursor.next_word()?.to_le_bytes();
        numbers[1 + 4 * word..5 + 4 * word].copy_from_slice(&more);
    }
    grouped(cursor, parts, inst, &numbers, dwords)
}

/// Notes the registers of the groups that start at `numbers`.
pub(super) fn grouped(
    cursor: &Cursor<'_>,
    parts: ImageOp,
    inst: &mut Inst,
    numbers: &[u8],
    dwords: u8,
) -> Result<()> {
    let groups = parts.groups(cursor.target, inst, dwords);
    let mut place = inst.address.iter_mut();
    for (&first, &size) in numbers.iter().zip(groups.sizes()) {
        let first = u32::from(first);
        cursor.vgpr(inst.op, first, registers(size))?;
        for (register, number) in place.by_ref().take(usize::from(size)).zip(first..) {
            *register = byte(number);
        }
    }
    Ok(())
}
