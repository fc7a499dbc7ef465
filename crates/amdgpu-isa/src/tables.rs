//! Opcode tables of the targets: from encoding and opcode to operation and operand types.

/// Includes tables that `build.rs` made.
macro_rules! generated {
    ($($name:ident)*) => {$(
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    )*};
}

generated!(gfx906 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201 signatures);

use crate::op::Op;
use crate::signature::{OperandType, Signature};
use crate::target::Target;

/// Operand types of an operation on a target; another target's if it does not have the operation.
#[must_use]
pub fn signature(target: Target, op: Op) -> &'static Signature {
    let index = Tables::of(target).signatures[op as usize];
    &signatures::SIGNATURES[usize::from(index)]
}

/// LLVM's mnemonic of an operation on a target, without encoding suffix.
#[must_use]
pub fn mnemonic(target: Target, op: Op) -> &'static str {
    let renamed = Tables::of(target).mnemonics;
    match renamed.binary_search_by_key(&op, |entry| entry.0) {
        Ok(index) => renamed[index].1,
        Err(_) => op.name(),
    }
}

/// Register counts of an operation's operands: destination, then sources.
///
/// A lane mask takes two SGPRs on wave64 targets; `target` decides by its usual wave size.
#[must_use]
pub fn operand_dwords(target: Target, op: Op) -> (u8, [u8; 4]) {
    let signature = signature(target, op);
    let mask = target.mask_dwords();
    let size = |ty: OperandType| match ty.kind {
        crate::signature::Kind::Mask => mask,
        _ => ty.dwords(),
    };
    (size(signature.dst), signature.src.map(size))
}

/// The opcodes of a target: name of the opcode space (`sop2`, `vop3`, …), opcode, operation.
pub fn opcodes(target: Target) -> impl Iterator<Item = (&'static str, u32, Op)> {
    let rows = Tables::of(target).rows.iter();
    rows.map(|row| (row.encoding, row.opcode, row.op))
}

/// True if LLVM marks the forms of a mnemonic with `_e32` and `_e64`.
pub(crate) fn suffix(target: Target, op: Op) -> bool {
    Tables::of(target).suffixes[op as usize]
}

/// Variants of an encoding that share its opcode space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    Plain,
    /// VOP3B: bits 14:8 name a scalar destination.
    ScalarDestination,
    /// VOP3P-MAI.
    Matrix,
}

/// One opcode. The masks are explained in `build/tablegen.rs`.
#[derive(Debug)]
pub(crate) struct Row {
    encoding: &'static str,
    opcode: u32,
    pub(crate) op: Op,
    signature: u16,
    pub(crate) layout: Layout,
    pub(crate) used: u64,
    pub(crate) zero: u64,
    pub(crate) sdwa: Option<(u32, u32)>,
    pub(crate) dpp: Option<(u32, u32)>,
    pub(crate) dpp8: bool,
}

impl Row {
    pub(crate) fn signature(&self) -> &'static Signature {
        &signatures::SIGNATURES[usize::from(self.signature)]
    }

    /// True if the modifier field at `bit` means something.
    pub(crate) const fn uses(&self, bit: u32) -> bool {
        self.used >> bit & 1 != 0
    }
}

/// Opcode to row number plus one (0: no such opcode), per encoding.
pub(crate) struct Tables {
    rows: &'static [Row],
    suffixes: &'static [bool],
    /// Index into the signatures, by operation.
    signatures: &'static [u16],
    /// Names that differ from the operation's, sorted by operation.
    mnemonics: &'static [(Op, &'static str)],
    pub(crate) sop2: &'static [u16],
    pub(crate) sop1: &'static [u16],
    pub(crate) sopc: &'static [u16],
    pub(crate) sopp: &'static [u16],
    pub(crate) sopk: &'static [u16],
    pub(crate) smem: &'static [u16],
    pub(crate) vop2: &'static [u16],
    pub(crate) vop1: &'static [u16],
    pub(crate) vopc: &'static [u16],
    pub(crate) vop3: &'static [u16],
    pub(crate) vop3p: &'static [u16],
    pub(crate) ds: &'static [u16],
    pub(crate) flat: &'static [u16],
    pub(crate) global: &'static [u16],
    pub(crate) scratch: &'static [u16],
    pub(crate) mubuf: &'static [u16],
    pub(crate) mtbuf: &'static [u16],
    pub(crate) mimg: &'static [u16],
    pub(crate) vimage: &'static [u16],
    pub(crate) vsample: &'static [u16],
}

impl Tables {
    pub(crate) fn of(target: Target) -> &'static Self {
        match target {
            Target::Gfx906 => &gfx906::TABLES,
            Target::Gfx90a => &gfx90a::TABLES,
            Target::Gfx942 => &gfx942::TABLES,
            Target::Gfx950 => &gfx950::TABLES,
            Target::Gfx1030 => &gfx1030::TABLES,
            Target::Gfx1100 => &gfx1100::TABLES,
            Target::Gfx1201 => &gfx1201::TABLES,
        }
    }

    /// The row of an opcode in one of the index tables.
    pub(crate) fn row(&self, index: &[u16], opcode: u32) -> Option<&'static Row> {
        let position = *index.get(usize::try_from(opcode).ok()?)?;
        self.rows.get(usize::from(position).checked_sub(1)?)
    }
}
