//! MIMG. The tables list no image operation yet, so every one is refused (see
//! docs/decode-exceptions.md).

use super::operand::{Cursor, field};
use super::{Result, find};
use crate::inst::Inst;
use crate::tables::Tables;

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Inst> {
    let bits = u64::from(cursor.word);
    let tables = Tables::of(cursor.target);
    let opcode = field(bits, 24, 18) | field(bits, 0, 0) << 7;
    find(cursor, tables.mimg, opcode, bits)?;
    Err(cursor.unknown())
}
