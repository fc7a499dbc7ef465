//! VIMAGE and VSAMPLE: gfx12's image operations, three dwords with up to five address registers.

use super::image::{Places, data, grouped, modifiers, ray_modifiers};
use super::operand::{Cursor, byte, field};
use super::{DecodeError, Result, blank, find};
use crate::image::{Dim, ImageAction, ImageOp};
use crate::inst::{Encoding, Inst, Operand, image};
use crate::tables::Tables;

pub(super) fn vimage(cursor: &mut Cursor<'_>) -> Result<Inst> {
    decode(cursor, Encoding::Vimage)
}

pub(super) fn vsample(cursor: &mut Cursor<'_>) -> Result<Inst> {
    decode(cursor, Encoding::Vsample)
}

fn decode(cursor: &mut Cursor<'_>, encoding: Encoding) -> Result<Inst> {
    let bits = cursor.wide()?;
    let [a, b, c, d] = cursor.next_word()?.to_le_bytes();
    let sampler = encoding == Encoding::Vsample;
    let tables = Tables::of(cursor.target);
    let index = if sampler {
        tables.vsample
    } else {
        tables.vimage
    };
    let row = find(cursor, index, field(bits, 21, 14), bits)?;
    let parts = ImageOp::of(row.op).ok_or_else(|| cursor.unknown())?;
    let mut inst = blank(row, encoding);
    modifiers(Places::gfx12(sampler), row, bits, &mut inst);
    if parts.action == ImageAction::IntersectRay {
        ray_modifiers(&mut inst, image::R128)?;
    }
    policy(parts, bits, &mut inst);
    data(cursor, parts, &mut inst, field(bits, 39, 32), false)?;
    let last = if sampler {
        0
    } else {
        byte(field(bits, 63, 56))
    };
    address(cursor, parts, &mut inst, [a, b, c, d, last])?;
    let descriptor = row.signature().src[2].dwords();
    inst.src[2] = scalars(cursor, &inst, field(bits, 49, 41), descriptor)?;
    if parts.has_sampler() {
        inst.src[3] = scalars(cursor, &inst, field(bits, 63, 55), 4)?;
    }
    inst.size_bytes = cursor.size_bytes();
    Ok(inst)
}

/// Temporal hint and scope; the lowest hint of an atomic asks for the old value.
fn policy(parts: ImageOp, bits: u64, inst: &mut Inst) {
    inst.mods.th = byte(field(bits, 54, 52));
    inst.mods.scope = byte(field(bits, 51, 50));
    inst.mods.glc = parts.action == ImageAction::Atomic && inst.mods.th & 1 != 0;
}

/// The field has nine bits, of which scalar registers take seven. LLVM reads NULL too, but its
/// assembler refuses it.
fn scalars(cursor: &Cursor<'_>, inst: &Inst, code: u32, dwords: u8) -> Result<Operand> {
    const LAST_TEMPORARY: u32 = 123;
    if code > LAST_TEMPORARY {
        return Err(DecodeError::BadOperand { op: inst.op, code });
    }
    cursor.scalar_register(inst.op, code, dwords)
}

fn address(cursor: &Cursor<'_>, parts: ImageOp, inst: &mut Inst, numbers: [u8; 5]) -> Result<()> {
    let dim = Dim::from_code(inst.mods.image >> image::DIM_SHIFT);
    let a16 = inst.mods.image & image::A16 != 0;
    let dwords = parts.address_dwords(cursor.target, dim, a16);
    let (least, greatest) = parts.address_range();
    // The longest address that LLVM knows of decides which numbers are fields.
    let fields = match parts.action {
        ImageAction::IntersectRay => parts.groups(cursor.target, inst, dwords).sizes().len(),
        _ => usize::from(greatest.min(4)),
    };
    let exists = (least..=greatest).contains(&dwords);
    if !exists || numbers[fields..].iter().any(|&number| number != 0) {
        return Err(DecodeError::ReservedBits { op: inst.op });
    }
    inst.src[0] = Operand::Vgpr(numbers[0]);
    if dwords > 1 {
        inst.mods.image |= image::NSA;
    }
    grouped(cursor, parts, inst, &numbers, dwords)
}
