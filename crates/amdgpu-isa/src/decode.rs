//! From bytes to [`Inst`].
//!
//! The encoding is told by the top bits of the first dword; the opcode tables say which operands
//! and modifier fields an opcode has. What LLVM's disassembler refuses is refused here too.

mod image;
mod image12;
mod memory;
mod memory12;
mod operand;
mod places;
mod scalar;
mod vector;
mod vop3;

use crate::inst::{ADDRESS_REGISTERS, Encoding, Inst, Mods, Operand};
use crate::op::Op;
use crate::tables::{Row, Tables};
use crate::target::Target;
use operand::Cursor;

/// Why bytes are not an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside the instruction.
    #[error("instruction is cut short after {available} bytes")]
    Truncated {
        /// Bytes given.
        available: usize,
    },
    /// No instruction of the target has this encoding and opcode.
    #[error("no instruction has the encoding {word:#010x}")]
    UnknownOpcode {
        /// First dword.
        word: u32,
    },
    /// An operand field holds a value that the operation does not allow.
    #[error("operand code {code:#x} is not allowed in {}", op.name())]
    BadOperand {
        /// Operation.
        op: Op,
        /// Field value.
        code: u32,
    },
    /// A field that the operation does not have is not zero, or a modifier is reserved.
    #[error("reserved bits are set in {}", op.name())]
    ReservedBits {
        /// Operation.
        op: Op,
    },
}

pub(crate) use memory::with_status;
pub(crate) use scalar::{is_prefetch, is_probe};
pub(crate) use vector::is_cmpx;
pub(crate) use vop3::is_mix;

type Result<T> = core::result::Result<T, DecodeError>;

/// Decodes the instruction at the start of `bytes`.
///
/// Needs at most 20 bytes; more may follow.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode(target: Target, bytes: &[u8]) -> Result<Inst> {
    let mut cursor = Cursor::new(target, bytes)?;
    let word = cursor.word;
    if word >> 31 == 0 {
        return vector::decode(&mut cursor);
    }
    if word >> 30 == 0b10 {
        return scalar::decode(&mut cursor);
    }
    let gfx10 = target.is_rdna();
    match word >> 26 {
        0b11_0100 if target.is_gfx12() => image12::vimage(&mut cursor),
        0b11_1001 if target.is_gfx12() => image12::vsample(&mut cursor),
        0b11_0000 if !gfx10 => scalar::smem_gfx9(&mut cursor),
        0b11_1101 if target.is_gfx12() => scalar::smem_gfx12(&mut cursor),
        0b11_1101 if gfx10 => scalar::smem_gfx10(&mut cursor),
        0b11_0100 if !gfx10 => vop3::decode(&mut cursor),
        0b11_0101 if gfx10 => vop3::decode(&mut cursor),
        0b11_0011 if gfx10 => vop3::packed(&mut cursor),
        0b11_0110 => memory::ds(&mut cursor),
        0b11_1011 if target.is_gfx12() => memory12::flat(&mut cursor),
        0b11_0111 if !target.is_gfx12() => memory::flat(&mut cursor),
        0b11_1000 => memory::mubuf(&mut cursor),
        0b11_1010 => memory::mtbuf(&mut cursor),
        0b11_1100 => image::decode(&mut cursor),
        _ => Err(cursor.unknown()),
    }
}

/// An instruction without operands.
fn blank(row: &Row, encoding: Encoding) -> Inst {
    Inst {
        op: row.op,
        encoding,
        size_bytes: 0,
        dst: Operand::None,
        sdst: Operand::None,
        src: [Operand::None; 4],
        imm: 0,
        mods: Mods::default(),
        dpp: None,
        sdwa: None,
        address: [0; ADDRESS_REGISTERS],
    }
}

/// Finds an opcode's row and refuses reserved bits.
fn find(cursor: &Cursor<'_>, index: &[u16], opcode: u32, bits: u64) -> Result<&'static Row> {
    let row = Tables::of(cursor.target)
        .row(index, opcode)
        .ok_or_else(|| cursor.unknown())?;
    if row.zero & bits != 0 {
        return Err(DecodeError::ReservedBits { op: row.op });
    }
    Ok(row)
}
