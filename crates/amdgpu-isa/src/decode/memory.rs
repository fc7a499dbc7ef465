//! DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use super::operand::{Cursor, byte, field, signed};
use super::places::{BufferPlaces, FlatPlaces};
use super::{DecodeError, Result, blank, find};
use crate::inst::{Encoding, Inst, Operand};
use crate::op::Op;
use crate::signature::OperandType;
use crate::tables::{Row, Tables};
use crate::target::Family;

pub(super) fn ds(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let gds = if cursor.gfx10() { 17 } else { 16 };
    let row = find(cursor, tables.ds, field(bits, gds + 8, gds + 1), bits)?;
    let mut inst = blank(row, Encoding::Ds);
    let acc = row.uses(25) && !cursor.gfx10() && field(bits, 25, 25) != 0;
    let signature = row.signature();
    let data = |ty: OperandType, low: u32| vector(cursor, row, ty, field(bits, low + 7, low), acc);
    inst.dst = data(signature.dst, 56)?;
    inst.src[0] = vector(
        cursor,
        row,
        signature.src[0],
        field(bits, 39, 32),
        acc && is_gws(row.op),
    )?;
    inst.src[1] = data(signature.src[1], 40)?;
    inst.src[2] = data(signature.src[2], 48)?;
    inst.imm = field(bits, 15, 0).cast_signed();
    inst.mods.gds = row.uses(gds) && field(bits, gds, gds) != 0;
    if needs_gds(row.op) && !inst.mods.gds {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

/// Global-wave-sync operations: their one register is data.
const fn is_gws(op: Op) -> bool {
    Op::DS_GWS_BARRIER as u16 <= op as u16 && op as u16 <= Op::DS_GWS_SEMA_V as u16
}

/// Operations that exist on GDS only.
const fn needs_gds(op: Op) -> bool {
    is_gws(op)
        || matches!(
            op,
            Op::DS_ORDERED_COUNT | Op::DS_ADD_GS_REG_RTN | Op::DS_SUB_GS_REG_RTN
        )
}

pub(super) fn vector(
    cursor: &Cursor<'_>,
    row: &Row,
    ty: OperandType,
    number: u32,
    acc: bool,
) -> Result<Operand> {
    if !ty.exists() {
        return Ok(Operand::None);
    }
    cursor.vgpr_or_agpr(row.op, number, ty, acc)
}

pub(super) fn flat(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let places = FlatPlaces::of(cursor.target);
    let (index, encoding) = match field(bits, places.segment + 1, places.segment) {
        0 => (tables.flat, Encoding::Flat),
        1 => (tables.scratch, Encoding::Scratch),
        2 => (tables.global, Encoding::Global),
        _ => return Err(cursor.unknown()),
    };
    let row = find(cursor, index, field(bits, 24, 18), bits)?;
    let mut inst = blank(row, encoding);
    inst.imm = flat_offset(&places, encoding, bits);
    places.modifiers(bits, &mut inst.mods);
    if inst.mods.lds && !cursor.gfx10() && field(bits, 55, 55) != 0 {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    flat_address(cursor, row, &mut inst, &places, bits)?;
    flat_data(cursor, row, &mut inst, bits)?;
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

/// FLAT ignores the sign: 12 bits on gfx9 and gfx11, 11 on gfx10.
fn flat_offset(places: &FlatPlaces, encoding: Encoding, bits: u64) -> i32 {
    let raw = field(bits, places.offset_bits - 1, 0);
    if encoding == Encoding::Flat {
        raw.cast_signed()
    } else {
        signed(raw, places.offset_bits)
    }
}

fn flat_address(
    cursor: &Cursor<'_>,
    row: &Row,
    inst: &mut Inst,
    places: &FlatPlaces,
    bits: u64,
) -> Result<()> {
    let signature = row.signature();
    let saddr = field(bits, 54, 48);
    let vaddr = field(bits, 39, 32);
    match inst.encoding {
        Encoding::Flat => {
            if cursor.gfx10() && saddr != places.off {
                return Err(DecodeError::ReservedBits { op: row.op });
            }
            inst.src[0] = vector(cursor, row, signature.src[0], vaddr, false)?;
        }
        Encoding::Scratch => {
            let (base, own) = scratch_registers(cursor, places, bits);
            if own {
                inst.src[0] = vector(cursor, row, signature.src[0], vaddr, false)?;
            }
            if base {
                inst.src[2] = cursor.scalar_register(row.op, saddr, 1)?;
            }
        }
        _ if saddr == places.off => {
            inst.src[0] = vector(cursor, row, signature.src[0], vaddr, false)?;
        }
        _ => {
            inst.src[2] = cursor.scalar_register(row.op, saddr, signature.src[2].dwords())?;
            // With a base the VGPR is a 32-bit offset.
            let ty = if signature.src[0].exists() {
                OperandType::B32
            } else {
                OperandType::NONE
            };
            inst.src[0] = vector(cursor, row, ty, vaddr, false)?;
        }
    }
    Ok(())
}

/// Whether a scratch address has a scalar and a vector register. Before gfx11 it is one of them, or
/// on gfx10.3 none (SADDR 0x7f); gfx11 has a bit for the vector register.
fn scratch_registers(cursor: &Cursor<'_>, places: &FlatPlaces, bits: u64) -> (bool, bool) {
    const NEITHER: u32 = 0x7f;
    let saddr = field(bits, 54, 48);
    let base = saddr != places.off;
    if cursor.target.is_gfx11_plus() {
        return (base, field(bits, 55, 55) != 0);
    }
    (base && saddr != NEITHER, !base)
}

fn flat_data(cursor: &Cursor<'_>, row: &Row, inst: &mut Inst, bits: u64) -> Result<()> {
    let signature = row.signature();
    let acc = !cursor.gfx10() && field(bits, 55, 55) != 0;
    inst.src[1] = vector(cursor, row, signature.src[1], field(bits, 47, 40), acc)?;
    let returns = !signature.src[1].exists() || inst.mods.glc;
    if returns && !inst.mods.lds {
        inst.dst = vector(cursor, row, signature.dst, field(bits, 63, 56), acc)?;
    }
    Ok(())
}

pub(super) fn mubuf(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    // gfx9 has seven bits.
    let opcode = field(bits, if cursor.gfx10() { 25 } else { 24 }, 18);
    let row = find(cursor, tables.mubuf, opcode, bits)?;
    let mut inst = blank(row, Encoding::Mubuf);
    if row.signature().src[3].exists() {
        mubuf_modifiers(cursor, row, &mut inst, bits);
        if row.op == Op::BUFFER_STORE_LDS_DWORD && !inst.mods.lds {
            return Err(cursor.unknown());
        }
        buffer(cursor, row, &mut inst, bits)?;
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

fn mubuf_modifiers(cursor: &Cursor<'_>, row: &Row, inst: &mut Inst, bits: u64) {
    let flag = |bit: u32| row.uses(bit) && field(bits, bit, bit) != 0;
    inst.mods.lds = flag(16);
    if cursor.target.is_gfx11_plus() {
        gfx11_cache(row, inst, bits);
    } else if cursor.gfx10() {
        inst.mods.dlc = flag(15);
        inst.mods.slc = flag(54);
        inst.mods.tfe = flag(55);
    } else {
        inst.mods.scc = flag(15);
        inst.mods.slc = flag(17);
    }
}

/// gfx11's bits of MUBUF and MTBUF that other generations have elsewhere.
fn gfx11_cache(row: &Row, inst: &mut Inst, bits: u64) {
    let flag = |bit: u32| row.uses(bit) && field(bits, bit, bit) != 0;
    inst.mods.slc = flag(12);
    inst.mods.dlc = flag(13);
    inst.mods.tfe = flag(53);
}

pub(super) fn mtbuf(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let opcode = match cursor.target.family() {
        Family::Gfx10 => field(bits, 18, 16) | field(bits, 53, 53) << 3,
        _ => field(bits, 18, 15),
    };
    let row = find(cursor, tables.mtbuf, opcode, bits)?;
    let mut inst = blank(row, Encoding::Mtbuf);
    let flag = |bit: u32| row.uses(bit) && field(bits, bit, bit) != 0;
    inst.mods.slc = flag(54);
    if cursor.target.is_gfx11_plus() {
        gfx11_cache(row, &mut inst, bits);
    } else if cursor.gfx10() {
        inst.mods.dlc = flag(15);
        inst.mods.tfe = flag(55);
    } else {
        inst.mods.scc = flag(53);
    }
    inst.mods.format = byte(field(bits, 25, 19));
    buffer(cursor, row, &mut inst, bits)?;
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

fn buffer(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst, bits: u64) -> Result<()> {
    let signature = row.signature();
    inst.imm = field(bits, 11, 0).cast_signed();
    BufferPlaces::of(cursor.target).modifiers(bits, &mut inst.mods);
    let address = match (inst.mods.offen, inst.mods.idxen) {
        (false, false) => OperandType::NONE,
        (true, true) => OperandType {
            bits: 64,
            ..OperandType::B32
        },
        _ => OperandType::B32,
    };
    inst.src[0] = vector(cursor, row, address, field(bits, 39, 32), false)?;
    let acc = !cursor.gfx10() && field(bits, 55, 55) != 0;
    // Data that goes to LDS has neither a register nor a status dword.
    if inst.mods.lds && (acc || inst.mods.tfe) {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    let code = field(bits, 47, 40);
    if !inst.mods.lds {
        inst.src[1] = vector(cursor, row, signature.src[1], code, acc)?;
        if !signature.src[1].exists() || inst.mods.glc {
            let ty = with_status(signature.dst, inst.mods.tfe);
            inst.dst = vector(cursor, row, ty, code, acc)?;
        }
    }
    inst.src[2] = cursor.scalar_register(row.op, field(bits, 52, 48) << 2, 4)?;
    let offset = field(bits, 63, 56);
    if offset == 255 {
        return Err(DecodeError::BadOperand {
            op: row.op,
            code: offset,
        });
    }
    inst.src[3] = cursor.scalar(row.op, offset, 1)?;
    Ok(())
}

/// TFE appends a status dword to the destination.
pub(crate) const fn with_status(ty: OperandType, tfe: bool) -> OperandType {
    if tfe && ty.exists() {
        OperandType {
            bits: 32,
            count: ty.dwords() + 1,
            ..ty
        }
    } else {
        ty
    }
}

#[cfg(test)]
mod tests {
    use super::is_gws;
    use crate::op::Op;

    #[test]
    fn wave_sync_operations_are_the_ds_gws_names() {
        for &op in Op::ALL {
            assert_eq!(is_gws(op), op.name().starts_with("ds_gws_"), "{op:?}");
        }
    }
}
