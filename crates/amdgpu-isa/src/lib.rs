//! Decoder, disassembler and operand model of AMDGCN machine code.
//!
//! What it is: tables and pure logic that turn bytes into [`Inst`] and back into LLVM's assembly
//! text. What it is not: an executor; meaning lives in `amdgpu-exec`.

#![forbid(unsafe_code)]

pub mod decode;
pub mod image;
pub mod inst;
pub mod op;
pub mod print;
pub mod signature;
mod tables;
pub mod target;

pub use decode::{DecodeError, decode};
pub use image::{Dim, Gradients, ImageAction, ImageOp, Level, Node};
pub use inst::{Dpp, Encoding, Inst, Mods, Operand, Sdwa, Special, scalar};
pub use op::Op;
pub use print::Disassembly;
pub use signature::{Kind, OperandType, Signature};
pub use tables::{mnemonic, opcodes, operand_dwords, signature};
pub use target::{Family, Target};
