//! Opcode tables of the targets: from encoding and opcode to operation and operand types.

#[rustfmt::skip]
mod gfx10;
#[rustfmt::skip]
mod gfx9;
#[rustfmt::skip]
mod signatures;

use crate::inst::Target;
use crate::op::Op;
use crate::signature::{OperandType, Signature};

/// Operand types of an operation. They are the same on every target.
#[must_use]
pub fn signature(op: Op) -> &'static Signature {
    let index = signatures::OF_OP[op as usize];
    &signatures::SIGNATURES[usize::from(index)]
}

/// Register counts of an operation's operands: destination, then sources.
///
/// A lane mask takes two SGPRs on wave64 targets; `target` decides by its usual wave size.
#[must_use]
pub fn operand_dwords(target: Target, op: Op) -> (u8, [u8; 4]) {
    let signature = signature(op);
    let mask = match target {
        Target::Gfx90a => 2,
        Target::Gfx1030 => 1,
    };
    let size = |ty: OperandType| match ty.kind {
        crate::signature::Kind::Mask => mask,
        _ => ty.dwords(),
    };
    (size(signature.dst), signature.src.map(size))
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

/// One opcode. The masks are explained in [`crate::tablegen`].
#[derive(Debug)]
pub(crate) struct Row {
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
}

impl Tables {
    pub(crate) fn of(target: Target) -> &'static Self {
        match target {
            Target::Gfx90a => &gfx9::TABLES,
            Target::Gfx1030 => &gfx10::TABLES,
        }
    }

    /// The row of an opcode in one of the index tables.
    pub(crate) fn row(&self, index: &[u16], opcode: u32) -> Option<&'static Row> {
        let position = *index.get(usize::try_from(opcode).ok()?)?;
        self.rows.get(usize::from(position).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::tablegen::{Input, generate};

    #[test]
    fn generated_files_match_the_tables() {
        for (path, text) in generate(Input::CHECKED_IN) {
            let file = format!("{}/src/{path}", env!("CARGO_MANIFEST_DIR"));
            let found = std::fs::read_to_string(&file).unwrap();
            assert!(found == text, "{path} is stale: run the generate example");
        }
    }
}
