//! Scalar ALU, program control and scalar memory.

use super::operand::{Cursor, byte, field, signed};
use super::{Result, blank, find};
use crate::inst::{Encoding, Inst, Operand, scalar};
use crate::op::Op;
use crate::signature::{Class, OperandType};
use crate::tables::{Row, Tables};

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let word = cursor.word;
    match word >> 23 {
        0b1_0111_1101 => sop1(cursor),
        0b1_0111_1110 => sopc(cursor),
        0b1_0111_1111 => sopp(cursor),
        _ if word >> 28 == 0b1011 => sopk(cursor),
        _ => sop2(cursor),
    }
}

fn sop2(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.sop2, field(bits, 29, 23), bits)?;
    let mut inst = blank(row, Encoding::Sop2);
    inst.dst = destination(cursor, row, field(bits, 22, 16))?;
    inst.src[0] = source(cursor, row, 0, field(bits, 7, 0))?;
    // `s_fmamk_f32` has its literal before the register of the second field.
    for slot in 1..3 {
        inst.src[slot] = source(cursor, row, slot, field(bits, 15, 8))?;
    }
    Ok(finish(cursor, inst))
}

fn sop1(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.sop1, field(bits, 15, 8), bits)?;
    let mut inst = blank(row, Encoding::Sop1);
    inst.dst = destination(cursor, row, field(bits, 22, 16))?;
    if returns_message(row.op) {
        inst.imm = field(bits, 7, 0).cast_signed();
    } else {
        inst.src[0] = source(cursor, row, 0, field(bits, 7, 0))?;
    }
    Ok(finish(cursor, inst))
}

/// A message's number stands where other operations have a source.
const fn returns_message(op: Op) -> bool {
    matches!(op, Op::S_SENDMSG_RTN_B32 | Op::S_SENDMSG_RTN_B64)
}

fn sopc(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.sopc, field(bits, 22, 16), bits)?;
    let mut inst = blank(row, Encoding::Sopc);
    inst.src[0] = source(cursor, row, 0, field(bits, 7, 0))?;
    if row.op == Op::S_SET_GPR_IDX_ON {
        inst.imm = field(bits, 15, 8).cast_signed();
    } else {
        inst.src[1] = source(cursor, row, 1, field(bits, 15, 8))?;
    }
    Ok(finish(cursor, inst))
}

fn sopp(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.sopp, field(bits, 22, 16), bits)?;
    let mut inst = blank(row, Encoding::Sopp);
    inst.imm = signed(field(bits, 15, 0), 16);
    Ok(finish(cursor, inst))
}

fn sopk(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.sopk, field(bits, 27, 23), bits)?;
    let mut inst = blank(row, Encoding::Sopk);
    inst.dst = destination(cursor, row, field(bits, 22, 16))?;
    inst.imm = signed(field(bits, 15, 0), 16);
    let ty = row.signature().src[0];
    if row.op == Op::S_SETREG_IMM32_B32 {
        inst.src[0] = Operand::Literal(cursor.literal()?);
    } else if ty.exists() {
        inst.src[0] = cursor.scalar_register(row.op, field(bits, 22, 16), ty.dwords())?;
    }
    Ok(finish(cursor, inst))
}

fn destination(cursor: &Cursor<'_>, row: &Row, code: u32) -> Result<Operand> {
    let ty = row.signature().dst;
    if !ty.exists() {
        return Ok(Operand::None);
    }
    cursor.scalar_register(row.op, code, ty.dwords())
}

fn source(cursor: &mut Cursor<'_>, row: &Row, slot: usize, code: u32) -> Result<Operand> {
    let ty = row.signature().src[slot];
    match ty.class {
        _ if !ty.exists() => Ok(Operand::None),
        Class::Literal => cursor.literal().map(Operand::Literal),
        _ => cursor.scalar(row.op, code, ty.dwords()),
    }
}

fn finish(cursor: &Cursor<'_>, mut inst: Inst) -> Inst {
    inst.size_bytes = cursor.size_bytes();
    inst
}

/// SMEM of gfx9: the offset is an immediate, a register, or both.
pub(super) fn smem_gfx9(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.smem, field(bits, 25, 18), bits)?;
    let mut inst = smem_common(cursor, row, bits)?;
    if !row.signature().src[1].exists() {
        return Ok(inst);
    }
    let immediate = field(bits, 17, 17) != 0;
    let register = field(bits, 14, 14) != 0;
    if immediate {
        inst.imm = signed(field(bits, 52, 32), 21);
    }
    if register {
        inst.mods.offen = immediate;
        inst.src[1] = cursor.scalar_register(row.op, field(bits, 63, 57), 1)?;
    } else if !immediate {
        inst.src[1] = cursor.scalar_register(row.op, field(bits, 38, 32), 1)?;
    }
    Ok(inst)
}

/// SMEM of gfx10 and gfx11: immediate plus a register that may be NULL.
pub(super) fn smem_gfx10(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.smem, field(bits, 25, 18), bits)?;
    let mut inst = smem_common(cursor, row, bits)?;
    let (dlc, glc) = if cursor.target.is_gfx11_plus() {
        (13, 14)
    } else {
        (14, 16)
    };
    inst.mods.dlc = row.uses(dlc) && field(bits, dlc, dlc) != 0;
    inst.mods.glc = row.uses(glc) && field(bits, glc, glc) != 0;
    smem_offset(cursor, row, &mut inst, bits, 21)?;
    Ok(inst)
}

/// SMEM of gfx12: a cache policy and a longer immediate.
pub(super) fn smem_gfx12(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = cursor.wide()?;
    let tables = Tables::of(cursor.target);
    let row = find(cursor, tables.smem, field(bits, 18, 13), bits)?;
    let mut inst = smem_common(cursor, row, bits)?;
    if row.uses(21) {
        inst.mods.scope = byte(field(bits, 22, 21));
        inst.mods.th = byte(field(bits, 24, 23));
    }
    smem_offset(cursor, row, &mut inst, bits, 24)?;
    Ok(inst)
}

/// Immediate of `width` bits, and a register unless that is NULL.
fn smem_offset(
    cursor: &Cursor<'_>,
    row: &Row,
    inst: &mut Inst,
    bits: u64,
    width: u32,
) -> Result<()> {
    if !row.signature().src[1].exists() {
        return Ok(());
    }
    inst.imm = signed(field(bits, 31 + width, 32), width);
    let offset = field(bits, 63, 57);
    if cursor.common_code(offset) != u32::from(scalar::NULL) {
        inst.src[1] = cursor.scalar_register(row.op, offset, 1)?;
    }
    Ok(())
}

fn smem_common(cursor: &Cursor<'_>, row: &Row, bits: u64) -> Result<Inst> {
    let signature = row.signature();
    let mut inst = blank(row, Encoding::Smem);
    let data = field(bits, 12, 6);
    inst.mods.glc = cursor.target.is_gfx9() && row.uses(16) && field(bits, 16, 16) != 0;
    let register = |ty: OperandType, code: u32| {
        if ty.exists() {
            cursor.scalar_register(row.op, code, ty.dwords())
        } else {
            Ok(Operand::None)
        }
    };
    inst.src[0] = register(signature.src[0], field(bits, 5, 0) << 1)?;
    inst.src[2] = register(signature.src[2], data)?;
    // An atomic returns the old value only with GLC.
    if !signature.src[2].exists() || inst.mods.glc {
        inst.dst = register(signature.dst, data)?;
    }
    if is_probe(row.op) {
        inst.imm = 0;
        inst.mods.format = byte(data);
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

/// Address probes carry a plain number in the data field, and so do prefetches: their length.
pub(crate) const fn is_probe(op: Op) -> bool {
    matches!(op, Op::S_ATC_PROBE | Op::S_ATC_PROBE_BUFFER) || is_prefetch(op)
}

/// gfx12's prefetches.
pub(crate) const fn is_prefetch(op: Op) -> bool {
    matches!(
        op,
        Op::S_PREFETCH_INST
            | Op::S_PREFETCH_INST_PC_REL
            | Op::S_PREFETCH_DATA
            | Op::S_PREFETCH_DATA_PC_REL
            | Op::S_BUFFER_PREFETCH_DATA
    )
}
