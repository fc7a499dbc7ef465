//! VFLAT, VGLOBAL and VSCRATCH: gfx12's three dwords.

use super::memory::vector;
use super::operand::{Cursor, byte, field, signed};
use super::{DecodeError, Result, blank, find};
use crate::inst::{Encoding, Inst};
use crate::signature::OperandType;
use crate::tables::{Row, Tables};

/// SADDR's value for "no register": NULL.
const OFF: u32 = 0x7c;

pub(super) fn flat(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let third = cursor.next_word()?;
    let tables = Tables::of(cursor.target);
    let (index, encoding) = match field(bits, 25, 24) {
        0 => (tables.flat, Encoding::Flat),
        1 => (tables.scratch, Encoding::Scratch),
        2 => (tables.global, Encoding::Global),
        _ => return Err(cursor.unknown()),
    };
    let row = find(cursor, index, field(bits, 21, 14), bits)?;
    let signature = row.signature();
    let mut inst = blank(row, encoding);
    inst.mods.th = byte(field(bits, 54, 52));
    inst.mods.scope = byte(field(bits, 51, 50));
    let (stores, loads) = (signature.src[1].exists(), signature.dst.exists());
    inst.mods.glc = stores && loads && inst.mods.th & 1 != 0;
    address(cursor, row, &mut inst, bits, third)?;
    inst.src[1] = vector(cursor, row, signature.src[1], field(bits, 62, 55), false)?;
    if !stores || inst.mods.glc {
        inst.dst = vector(cursor, row, signature.dst, field(bits, 39, 32), false)?;
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

fn address(cursor: &Cursor<'_>, row: &Row, inst: &mut Inst, bits: u64, third: u32) -> Result<()> {
    let signature = row.signature();
    let saddr = field(bits, 6, 0);
    if !signature.src[2].exists() && saddr != OFF {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    if !signature.src[0].exists() && !signature.src[2].exists() {
        // Cache control.
        return Ok(());
    }
    inst.imm = signed(third >> 8, 24);
    if saddr != OFF {
        inst.src[2] = cursor.scalar_register(row.op, saddr, signature.src[2].dwords())?;
    }
    let own = match inst.encoding {
        Encoding::Scratch if field(bits, 49, 49) == 0 => OperandType::NONE,
        // With a base the VGPR is a 32-bit offset.
        Encoding::Global if saddr != OFF && signature.src[0].exists() => OperandType::B32,
        _ => signature.src[0],
    };
    inst.src[0] = vector(cursor, row, own, third & 0xff, false)?;
    Ok(())
}
