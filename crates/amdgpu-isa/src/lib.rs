//! Decoder, disassembler and operand model of AMDGCN machine code.
//!
//! What it is: tables and pure logic that turn bytes into [`Inst`] and back into LLVM's assembly
//! text. What it is not: an executor; meaning lives in `amdgpu-exec`.

#![forbid(unsafe_code)]

pub mod inst;
pub mod op;

pub use inst::{Dpp, Encoding, Inst, Mods, Operand, Sdwa, Special, Target, scalar};
pub use op::Op;
