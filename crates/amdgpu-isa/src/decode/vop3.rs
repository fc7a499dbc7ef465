//! VOP3 and VOP3P, with CDNA's matrix instructions.

use super::operand::{Cursor, byte, field};
use super::vector::{implied_mask, is_cmpx, vector_destination};
use super::{DecodeError, Result, blank, find};
use crate::inst::{Encoding, Inst, Operand};
use crate::op::Op;
use crate::signature::{Class, OperandType};
use crate::tables::{Layout, Row, Tables};

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let opcode = field(bits, 25, 16);
    // gfx9 keeps the packed operations in the top eighth of the opcode space.
    if !cursor.gfx10() && opcode >= 0x380 {
        return packed_word(cursor, bits);
    }
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.vop3, opcode, bits)?;
    let encoding = if row.layout == Layout::ScalarDestination {
        Encoding::Vop3Sd
    } else {
        Encoding::Vop3
    };
    let mut inst = blank(row, encoding);
    let code = field(bits, 7, 0);
    inst.dst = if cursor.gfx10() && is_cmpx(row.op) {
        implied_mask(cursor, row.op)
    } else {
        vector_destination(cursor, row.op, code, row.signature().dst)?
    };
    if encoding == Encoding::Vop3Sd {
        let ty = row.signature().sdst;
        inst.sdst = cursor.scalar_register(row.op, field(bits, 14, 8), cursor.dwords(ty))?;
    }
    sources(cursor, row, &mut inst, bits)?;
    vop3_modifiers(row, &mut inst, bits);
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

fn sources(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst, bits: u64) -> Result<()> {
    for (slot, low) in [(0, 32), (1, 41), (2, 50)] {
        let ty = row.signature().src[slot];
        if ty.exists() {
            inst.src[slot] = source(cursor, row.op, field(bits, low + 8, low), ty)?;
        }
    }
    Ok(())
}

fn source(cursor: &mut Cursor<'_>, op: Op, code: u32, ty: OperandType) -> Result<Operand> {
    if code == 255 && !cursor.gfx10() {
        return Err(DecodeError::BadOperand { op, code });
    }
    cursor.source(op, code, ty)
}

fn vop3_modifiers(row: &Row, inst: &mut Inst, bits: u64) {
    let bits = bits & row.used;
    inst.mods.abs = byte(field(bits, 10, 8));
    inst.mods.op_sel = byte(field(bits, 14, 11));
    inst.mods.clamp = field(bits, 15, 15) != 0;
    inst.mods.omod = byte(field(bits, 60, 59));
    inst.mods.neg = byte(field(bits, 63, 61));
}

pub(super) fn packed(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    if field(bits, 25, 23) != 0 {
        return Err(cursor.unknown());
    }
    packed_word(cursor, bits)
}

fn packed_word(cursor: &mut Cursor<'_>, bits: u64) -> Result<Inst> {
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.vop3p, field(bits, 22, 16), bits)?;
    if row.layout == Layout::Matrix {
        return matrix(cursor, row, bits);
    }
    let mut inst = blank(row, Encoding::Vop3p);
    inst.dst = vector_destination(cursor, row.op, field(bits, 7, 0), row.signature().dst)?;
    sources(cursor, row, &mut inst, bits)?;
    let bits = bits & row.used;
    let high = byte(field(bits, 10, 8));
    if is_mix(row.op) {
        inst.mods.abs = high;
    } else {
        inst.mods.neg_hi = high;
    }
    inst.mods.op_sel = byte(field(bits, 13, 11));
    inst.mods.op_sel_hi = byte(field(bits, 60, 59) | field(bits, 14, 14) << 2);
    inst.mods.clamp = field(bits, 15, 15) != 0;
    inst.mods.neg = byte(field(bits, 63, 61));
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

/// Mixed-precision operations: each source has its own sign modifiers, as in VOP3.
pub(crate) const fn is_mix(op: Op) -> bool {
    matches!(
        op,
        Op::V_FMA_MIX_F32 | Op::V_FMA_MIXLO_F16 | Op::V_FMA_MIXHI_F16
    )
}

/// MFMA and the AGPR moves. Bits 59 and 60 choose AGPRs for sources 0 and 1, bit 15 for the
/// accumulator and the result.
fn matrix(cursor: &mut Cursor<'_>, row: &Row, bits: u64) -> Result<Inst> {
    let mut inst = blank(row, Encoding::Vop3p);
    let signature = row.signature();
    let acc = |bit: u32| field(bits, bit, bit) != 0;
    if !signature.src[1].exists() {
        inst.dst = vector_destination(cursor, row.op, field(bits, 7, 0), signature.dst)?;
        sources(cursor, row, &mut inst, bits)?;
        inst.size_bytes = cursor.size_bytes();
        return Ok(inst);
    }
    inst.dst = cursor.vgpr_or_agpr(row.op, field(bits, 7, 0), signature.dst, acc(15))?;
    inst.src[0] = multiplicand(
        cursor,
        row.op,
        field(bits, 40, 32),
        signature.src[0],
        acc(59),
    )?;
    inst.src[1] = multiplicand(
        cursor,
        row.op,
        field(bits, 49, 41),
        signature.src[1],
        acc(60),
    )?;
    inst.src[2] = accumulator(
        cursor,
        row.op,
        field(bits, 58, 50),
        signature.src[2],
        acc(15),
    )?;
    inst.mods.cbsz = byte(field(bits, 10, 8));
    inst.mods.abid = byte(field(bits, 14, 11));
    inst.mods.blgp = byte(field(bits, 63, 61));
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

fn multiplicand(
    cursor: &Cursor<'_>,
    op: Op,
    code: u32,
    ty: OperandType,
    acc: bool,
) -> Result<Operand> {
    let number = code
        .checked_sub(256)
        .ok_or(DecodeError::BadOperand { op, code })?;
    cursor.vgpr_or_agpr(op, number, ty, acc)
}

fn accumulator(
    cursor: &mut Cursor<'_>,
    op: Op,
    code: u32,
    ty: OperandType,
    acc: bool,
) -> Result<Operand> {
    match code {
        256.. => cursor.vgpr_or_agpr(op, code - 256, ty, acc),
        128..=208 | 240..=248 => cursor.source(op, code, ty.with_class(Class::Any)),
        _ => Err(DecodeError::BadOperand { op, code }),
    }
}
