//! VOP1, VOP2 and VOPC, with their SDWA and DPP forms.

use super::operand::{Cursor, byte, field};
use super::{DecodeError, Result, blank, find};
use crate::inst::{Dpp, Encoding, Inst, Operand, Sdwa, scalar};
use crate::op::Op;
use crate::signature::{Class, Kind, OperandType};
use crate::tables::{Row, Tables};

/// Values of the source-0 field that announce a second control dword.
const SDWA: u32 = 249;
const DPP16: u32 = 250;
const DPP8: u32 = 233;
const DPP8_FETCH_INACTIVE: u32 = 234;

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let (index, opcode, encoding) = match field(bits, 30, 25) {
        0x3f => (tables.vop1, field(bits, 16, 9), Encoding::Vop1),
        0x3e => (tables.vopc, field(bits, 24, 17), Encoding::Vopc),
        op => (tables.vop2, op, Encoding::Vop2),
    };
    let row = find(cursor, index, opcode, bits)?;
    let mut inst = blank(row, encoding);
    match field(bits, 8, 0) {
        // v_nop and its like ignore the field.
        _ if !row.signature().dst.exists() => {}
        SDWA => sdwa(cursor, row, &mut inst)?,
        DPP16 => dpp16(cursor, row, &mut inst)?,
        code @ (DPP8 | DPP8_FETCH_INACTIVE) if cursor.gfx10() => {
            dpp8(cursor, row, &mut inst, code == DPP8_FETCH_INACTIVE)?;
        }
        code => plain(cursor, row, &mut inst, code)?,
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

fn plain(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst, code: u32) -> Result<()> {
    destinations(cursor, row, inst)?;
    if row.signature().src[0].exists() {
        inst.src[0] = cursor.source(row.op, code, row.signature().src[0])?;
    }
    let second = vgpr_code(cursor);
    other_sources(cursor, row, inst, second)
}

/// The second source's code in the 9-bit scheme; VOP2 and VOPC name a VGPR there.
fn vgpr_code(cursor: &Cursor<'_>) -> u32 {
    256 + field(u64::from(cursor.word), 16, 9)
}

/// Sources 1 and 2: one comes from the VSRC1 field, the rest are literals or VCC.
fn other_sources(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst, second: u32) -> Result<()> {
    if inst.encoding == Encoding::Vop1 {
        return Ok(());
    }
    for slot in 1..3 {
        let ty = row.signature().src[slot];
        inst.src[slot] = match (ty.kind, ty.class) {
            (Kind::None, _) => Operand::None,
            (Kind::Mask, _) => Cursor::vcc(),
            (_, Class::Literal) => Operand::Literal(cursor.literal()?),
            _ => cursor.source(row.op, second, ty.with_class(Class::Any))?,
        };
    }
    Ok(())
}

fn destinations(cursor: &Cursor<'_>, row: &Row, inst: &mut Inst) -> Result<()> {
    let signature = row.signature();
    if signature.sdst.exists() {
        inst.sdst = Cursor::vcc();
    }
    inst.dst = if inst.encoding == Encoding::Vopc {
        implied_mask(cursor, row.op)
    } else {
        let code = field(u64::from(cursor.word), 24, 17);
        vector_destination(cursor, row.op, code, signature.dst)?
    };
    Ok(())
}

/// VOPC's destination: gfx10's `v_cmpx` writes EXEC only, everything else VCC.
pub(super) fn implied_mask(cursor: &Cursor<'_>, op: Op) -> Operand {
    if cursor.gfx10() && is_cmpx(op) {
        Operand::Scalar(scalar::EXEC_LO)
    } else {
        Cursor::vcc()
    }
}

/// True for the compares that write EXEC: `Op` is in alphabetical order.
pub(crate) const fn is_cmpx(op: Op) -> bool {
    Op::V_CMPX_CLASS_F16 as u16 <= op as u16 && op as u16 <= Op::V_CMPX_U_F64 as u16
}

/// A VDST field: VGPR, AGPR or (`v_readlane`) scalar register.
pub(super) fn vector_destination(
    cursor: &Cursor<'_>,
    op: Op,
    code: u32,
    ty: OperandType,
) -> Result<Operand> {
    match (ty.kind, ty.class) {
        (Kind::None, _) => Ok(Operand::None),
        (Kind::Mask, _) | (_, Class::Scalar) => {
            if code > 127 {
                return Err(DecodeError::BadOperand { op, code });
            }
            cursor.scalar_register(op, code, cursor.dwords(ty))
        }
        (_, Class::Accumulator) => cursor.vgpr_or_agpr(op, code, ty, true),
        _ => cursor.vgpr(op, code, ty),
    }
}

/// Takes the control dword and checks it against the masks of the form.
fn control(cursor: &mut Cursor<'_>, row: &Row, masks: Option<(u32, u32)>) -> Result<(u64, u64)> {
    let (used, zero) = masks.ok_or_else(|| cursor.unknown())?;
    let word = cursor.next_word()?;
    if word & zero != 0 {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    Ok((u64::from(word), u64::from(used)))
}

fn sdwa(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst) -> Result<()> {
    let (word, used) = control(cursor, row, row.sdwa)?;
    let flag = |bit: u32| word & used & (1 << bit) != 0;
    let reserved = DecodeError::ReservedBits { op: row.op };
    let mut form = Sdwa {
        dst_sel: 6,
        dst_unused: 0,
        src_sel: [select(word, 16, reserved)?, 6],
        src_sext: [flag(19), flag(27)],
    };
    if inst.encoding == Encoding::Vopc {
        inst.dst = sdwa_mask(cursor, row.op, word, used)?;
    } else {
        destinations(cursor, row, inst)?;
        form.dst_sel = select(word, 8, reserved)?;
        form.dst_unused = byte(field(word, 12, 11));
        if form.dst_unused == 3 {
            return Err(reserved);
        }
        inst.mods.clamp = flag(13);
        inst.mods.omod = byte(field(word & used, 15, 14));
    }
    inst.src[0] = sdwa_source(cursor, row, 0, field(word, 7, 0), word >> 23 & 1 != 0)?;
    if inst.encoding != Encoding::Vop1 {
        form.src_sel[1] = select(word, 24, reserved)?;
        let code = field(u64::from(cursor.word), 16, 9);
        let scalar = word >> 31 & 1 != 0;
        inst.src[1] = sdwa_source(cursor, row, 1, code, scalar)?;
        if matches!(row.signature().src[2].kind, Kind::Mask) {
            inst.src[2] = Cursor::vcc();
        }
    }
    inst.mods.neg = u8::from(flag(20)) | u8::from(flag(28)) << 1;
    inst.mods.abs = u8::from(flag(21)) | u8::from(flag(29)) << 1;
    inst.sdwa = Some(form);
    Ok(())
}

fn select(word: u64, low: u32, reserved: DecodeError) -> Result<u8> {
    match field(word, low + 2, low) {
        7 => Err(reserved),
        value => Ok(byte(value)),
    }
}

/// SDWA VOPC: bit 15 says that bits 14:8 name the destination, else it is VCC.
fn sdwa_mask(cursor: &Cursor<'_>, op: Op, word: u64, used: u64) -> Result<Operand> {
    let explicit = word & used & (1 << 15) != 0;
    if !explicit || (cursor.gfx10() && is_cmpx(op)) {
        return Ok(implied_mask(cursor, op));
    }
    let dwords = if cursor.gfx10() { 1 } else { 2 };
    cursor.scalar_register(op, field(word, 14, 8), dwords)
}

fn sdwa_source(
    cursor: &mut Cursor<'_>,
    row: &Row,
    slot: usize,
    code: u32,
    scalar: bool,
) -> Result<Operand> {
    let ty = row.signature().src[slot].with_class(Class::Any);
    if !ty.exists() {
        return Ok(Operand::None);
    }
    if !scalar {
        return cursor.vgpr(row.op, code, ty);
    }
    if code == 255 {
        return Err(DecodeError::BadOperand { op: row.op, code });
    }
    cursor.scalar(row.op, code, ty.dwords())
}

fn dpp16(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst) -> Result<()> {
    let (word, used) = control(cursor, row, row.dpp)?;
    let flag = |bit: u32| word & used & (1 << bit) != 0;
    let ctrl = field(word, 16, 8);
    if !is_dpp_control(cursor.gfx10(), ctrl) || !double_allows(row, ctrl) {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    lane_sources(cursor, row, inst, word)?;
    inst.mods.neg = u8::from(flag(20)) | u8::from(flag(22)) << 1;
    inst.mods.abs = u8::from(flag(21)) | u8::from(flag(23)) << 1;
    let [low, high, ..] = ctrl.to_le_bytes();
    inst.dpp = Some(Dpp::Dpp16 {
        ctrl: u16::from_le_bytes([low, high]),
        row_mask: byte(field(word, 31, 28)),
        bank_mask: byte(field(word, 27, 24)),
        bound_ctrl: flag(19),
        fetch_inactive: flag(18),
    });
    Ok(())
}

/// DPP_CTRL values that mean something.
const fn is_dpp_control(gfx10: bool, ctrl: u32) -> bool {
    match ctrl {
        0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 => true,
        // Whole-wave shifts and row broadcasts went away with gfx10.
        0x130 | 0x134 | 0x138 | 0x13c | 0x142 | 0x143 => !gfx10,
        // Row broadcast on gfx90a, row share on gfx10.
        0x150..=0x15f => true,
        0x160..=0x16f => gfx10,
        _ => false,
    }
}

/// 64-bit operations (gfx90a) know only the row broadcast.
fn double_allows(row: &Row, ctrl: u32) -> bool {
    let signature = row.signature();
    let wide = signature.dst.dwords() > 1 || signature.src.iter().any(|ty| ty.dwords() > 1);
    !wide || (0x150..=0x15f).contains(&ctrl)
}

fn dpp8(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst, fetch_inactive: bool) -> Result<()> {
    if !row.dpp8 {
        return Err(cursor.unknown());
    }
    let word = u64::from(cursor.next_word()?);
    lane_sources(cursor, row, inst, word)?;
    inst.dpp = Some(Dpp::Dpp8 {
        selectors: field(word, 31, 8),
        fetch_inactive,
    });
    Ok(())
}

fn lane_sources(cursor: &mut Cursor<'_>, row: &Row, inst: &mut Inst, word: u64) -> Result<()> {
    destinations(cursor, row, inst)?;
    let ty = row.signature().src[0];
    if ty.exists() {
        inst.src[0] = cursor.vgpr_or_agpr(
            row.op,
            field(word, 7, 0),
            ty,
            ty.class == Class::Accumulator,
        )?;
    }
    let second = vgpr_code(cursor);
    other_sources(cursor, row, inst, second)
}

#[cfg(test)]
mod tests {
    use super::is_cmpx;
    use crate::op::Op;

    #[test]
    fn compares_that_write_exec_are_the_v_cmpx_names() {
        for &op in Op::ALL {
            assert_eq!(is_cmpx(op), op.name().starts_with("v_cmpx_"), "{op:?}");
        }
    }
}
