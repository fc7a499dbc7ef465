//! MIMG (gfx10). Not decoded yet: see docs/decode-exceptions.md.

use super::Result;
use super::operand::Cursor;
use crate::inst::Inst;

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Inst> {
    Err(cursor.unknown())
}
