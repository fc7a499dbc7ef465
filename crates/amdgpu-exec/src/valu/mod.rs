//! Vector ALU instructions.

use amdgpu_isa::Inst;

use crate::step::{Step, TranslateEnv};

/// Translates a VOP1, VOP2, VOP3, VOP3P, VOPC or VINTRP instruction at `pc`; `None` if it is no
/// vector ALU instruction or not supported.
pub fn translate(_inst: &Inst, _pc: u64, _env: &TranslateEnv) -> Option<Step> {
    None
}
