//! From [`Inst`] to LLVM's assembly text.
//!
//! The text equals what `llvm-mc --disassemble` of LLVM 19 prints, without its comments. gfx1030
//! is printed as wave32 code, where a lane mask is one SGPR.

mod format;
mod hwreg;
mod image;
mod memory;
mod message;
mod operand;
mod policy;
mod scalar;
mod vector;

use core::fmt;

use crate::inst::{Encoding, Inst};
use crate::signature::Signature;
use crate::tables::{mnemonic, signature};
use crate::target::Target;

/// An instruction with the target that gives its text; made by [`Inst::display`].
#[derive(Clone, Copy, Debug)]
pub struct Disassembly<'a> {
    inst: &'a Inst,
    target: Target,
}

impl Inst {
    /// The instruction in LLVM's assembly syntax.
    #[must_use]
    pub const fn display(&self, target: Target) -> Disassembly<'_> {
        Disassembly { inst: self, target }
    }
}

impl fmt::Display for Disassembly<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::new(self.inst, self.target);
        match self.inst.encoding {
            Encoding::Sop1
            | Encoding::Sop2
            | Encoding::Sopk
            | Encoding::Sopc
            | Encoding::Sopp
            | Encoding::Smem => scalar::print(&mut text),
            Encoding::Vop1
            | Encoding::Vop2
            | Encoding::Vopc
            | Encoding::Vop3
            | Encoding::Vop3Sd
            | Encoding::Vop3p
            | Encoding::Vintrp => vector::print(&mut text),
            Encoding::Mimg | Encoding::Vimage | Encoding::Vsample => image::print(&mut text),
            _ => memory::print(&mut text),
        }
        f.write_str(&text.out)
    }
}

/// The text under construction.
struct Text<'a> {
    inst: &'a Inst,
    target: Target,
    out: String,
    operands: usize,
}

impl<'a> Text<'a> {
    fn new(inst: &'a Inst, target: Target) -> Self {
        Self {
            inst,
            target,
            out: mnemonic(target, inst.op).to_owned(),
            operands: 0,
        }
    }

    fn types(&self) -> &'static Signature {
        signature(self.target, self.inst.op)
    }

    const fn gfx10(&self) -> bool {
        self.target.is_rdna()
    }

    /// Appends an operand with the separator before it.
    fn operand(&mut self, text: &str) {
        self.out
            .push_str(if self.operands == 0 { " " } else { ", " });
        self.out.push_str(text);
        self.operands += 1;
    }

    /// Appends a modifier.
    fn modifier(&mut self, text: &str) {
        self.out.push(' ');
        self.out.push_str(text);
    }

    /// Appends `name` if the flag is set.
    fn flag(&mut self, set: bool, name: &str) {
        if set {
            self.modifier(name);
        }
    }

    /// Appends `name:value` unless the value is zero.
    fn number(&mut self, name: &str, value: i32) {
        if value != 0 {
            self.modifier(&format!("{name}:{value}"));
        }
    }
}
