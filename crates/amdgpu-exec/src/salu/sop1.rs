//! SOP1: one source, one destination; EXEC-saving logic, jumps and register-relative moves.

use amdgpu_isa::{Inst, Op};

use super::{message, operand, unary};
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::Wave;

macro_rules! b32 {
    ($i:ident, $p:ident, $e:ident, |$w:ident, $s:ident, $a:ident| $body:expr) => {
        unary!($i, $p, $e, 32, read32, write32, |$w, $s, $a| $body)
    };
}

macro_rules! b64 {
    ($i:ident, $p:ident, $e:ident, |$w:ident, $s:ident, $a:ident| $body:expr) => {
        unary!($i, $p, $e, 64, read64, write64, |$w, $s, $a| $body)
    };
}

/// 64-bit source, 32-bit destination.
macro_rules! narrow {
    ($i:ident, $p:ident, $e:ident, |$w:ident, $s:ident, $a:ident| $body:expr) => {
        unary!($i, $p, $e, 64, read64, write32, |$w, $s, $a| $body)
    };
}

/// SCC becomes "the result is not zero".
macro_rules! test {
    ($w:ident, $value:expr) => {{
        let value = $value;
        $w.scc = value != 0;
        value
    }};
}

pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    moves(inst, pc, env)
        .or_else(|| bits(inst, pc, env))
        .or_else(|| counts(inst, pc, env))
        .or_else(|| save_exec(inst, pc, env))
        .or_else(|| jumps(inst, pc, env))
        .or_else(|| message::translate(inst, pc, env))
        .or_else(|| relative(inst, pc, env))
}

#[expect(clippy::cast_possible_truncation, reason = "register indexes fit u8")]
fn moves(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_MOV_B32 => b32!(inst, pc, env, |wave, step, a| a),
        Op::S_MOV_B64 => b64!(inst, pc, env, |wave, step, a| a),
        Op::S_CMOV_B32 => b32!(inst, pc, env, |wave, step, a| {
            if wave.scc {
                a
            } else {
                wave.scalar(step.dst as u8)
            }
        }),
        Op::S_CMOV_B64 => b64!(inst, pc, env, |wave, step, a| {
            if wave.scc {
                a
            } else {
                wave.scalar64(step.dst as u8)
            }
        }),
        Op::S_SEXT_I32_I8 => {
            b32!(inst, pc, env, |wave, step, a| i32::from(a as u8 as i8)
                .cast_unsigned())
        }
        Op::S_SEXT_I32_I16 => {
            b32!(inst, pc, env, |wave, step, a| i32::from(a as u16 as i16)
                .cast_unsigned())
        }
        Op::S_ABS_I32 => b32!(inst, pc, env, |wave, step, a| {
            test!(wave, a.cast_signed().wrapping_abs().cast_unsigned())
        }),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "register indexes fit u8")]
fn bits(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_NOT_B32 => b32!(inst, pc, env, |wave, step, a| test!(wave, !a)),
        Op::S_NOT_B64 => b64!(inst, pc, env, |wave, step, a| test!(wave, !a)),
        Op::S_WQM_B32 => b32!(inst, pc, env, |wave, step, a| {
            test!(wave, whole_quads(u64::from(a)) as u32)
        }),
        Op::S_WQM_B64 => b64!(inst, pc, env, |wave, step, a| test!(wave, whole_quads(a))),
        Op::S_QUADMASK_B32 => b32!(inst, pc, env, |wave, step, a| {
            test!(wave, quad_mask(u64::from(a)) as u32)
        }),
        Op::S_QUADMASK_B64 => b64!(inst, pc, env, |wave, step, a| test!(wave, quad_mask(a))),
        Op::S_BREV_B32 => b32!(inst, pc, env, |wave, step, a| a.reverse_bits()),
        Op::S_BREV_B64 => b64!(inst, pc, env, |wave, step, a| a.reverse_bits()),
        Op::S_BITSET0_B32 => b32!(inst, pc, env, |wave, step, a| {
            wave.scalar(step.dst as u8) & !(1 << (a & 31))
        }),
        Op::S_BITSET1_B32 => b32!(inst, pc, env, |wave, step, a| {
            wave.scalar(step.dst as u8) | 1 << (a & 31)
        }),
        Op::S_BITSET0_B64 => unary!(inst, pc, env, 32, read32, write64, |wave, step, a| {
            wave.scalar64(step.dst as u8) & !(1 << (a & 63))
        }),
        Op::S_BITSET1_B64 => unary!(inst, pc, env, 32, read32, write64, |wave, step, a| {
            wave.scalar64(step.dst as u8) | 1 << (a & 63)
        }),
        Op::S_BITREPLICATE_B64_B32 => {
            unary!(inst, pc, env, 32, read32, write64, |wave, step, a| {
                replicate(a)
            })
        }
        _ => None,
    }
}

fn counts(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.op {
        Op::S_BCNT0_I32_B32 => {
            b32!(inst, pc, env, |wave, step, a| test!(wave, a.count_zeros()))
        }
        Op::S_BCNT0_I32_B64 => {
            narrow!(inst, pc, env, |wave, step, a| test!(wave, a.count_zeros()))
        }
        Op::S_BCNT1_I32_B32 => b32!(inst, pc, env, |wave, step, a| test!(wave, a.count_ones())),
        Op::S_BCNT1_I32_B64 => {
            narrow!(inst, pc, env, |wave, step, a| test!(wave, a.count_ones()))
        }
        Op::S_FF0_I32_B32 => b32!(inst, pc, env, |wave, step, a| first(u64::from(!a))),
        Op::S_FF0_I32_B64 => narrow!(inst, pc, env, |wave, step, a| first(!a)),
        Op::S_FF1_I32_B32 => b32!(inst, pc, env, |wave, step, a| first(u64::from(a))),
        Op::S_FF1_I32_B64 => narrow!(inst, pc, env, |wave, step, a| first(a)),
        Op::S_FLBIT_I32_B32 => b32!(inst, pc, env, |wave, step, a| leading(u64::from(a), 32)),
        Op::S_FLBIT_I32_B64 => narrow!(inst, pc, env, |wave, step, a| leading(a, 64)),
        Op::S_FLBIT_I32 => b32!(inst, pc, env, |wave, step, a| {
            let sign = (a.cast_signed() >> 31).cast_unsigned();
            leading(u64::from(a ^ sign), 32)
        }),
        Op::S_FLBIT_I32_I64 => narrow!(inst, pc, env, |wave, step, a| {
            leading(a ^ (a.cast_signed() >> 63).cast_unsigned(), 64)
        }),
        _ => None,
    }
}

/// EXEC is saved, combined with the source, and SCC tells whether any lane is left. The `_WREXEC`
/// forms write the new mask to the destination instead of the old one.
macro_rules! exec_op {
    ($i:ident, $p:ident, $e:ident, 32, $new:expr) => {
        b32!($i, $p, $e, |wave, step, a| {
            let exec = wave.scalar(amdgpu_isa::scalar::EXEC_LO);
            let combine: fn(u32, u32) -> (u32, bool) = $new;
            let (new, keep_old) = combine(a, exec);
            wave.set_scalar(amdgpu_isa::scalar::EXEC_LO, new);
            wave.scc = new != 0;
            if keep_old { exec } else { new }
        })
    };
    ($i:ident, $p:ident, $e:ident, 64, $new:expr) => {
        b64!($i, $p, $e, |wave, step, a| {
            let exec = wave.scalar64(amdgpu_isa::scalar::EXEC_LO);
            let combine: fn(u64, u64) -> (u64, bool) = $new;
            let (new, keep_old) = combine(a, exec);
            wave.set_scalar64(amdgpu_isa::scalar::EXEC_LO, new);
            wave.scc = new != 0;
            if keep_old { exec } else { new }
        })
    };
}

fn save_exec(i: &Inst, p: u64, e: &TranslateEnv) -> Option<Step> {
    match i.op {
        Op::S_AND_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (a & x, true)),
        Op::S_AND_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (a & x, true)),
        Op::S_OR_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (a | x, true)),
        Op::S_OR_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (a | x, true)),
        Op::S_XOR_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (a ^ x, true)),
        Op::S_XOR_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (a ^ x, true)),
        Op::S_NAND_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (!(a & x), true)),
        Op::S_NAND_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (!(a & x), true)),
        Op::S_NOR_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (!(a | x), true)),
        Op::S_NOR_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (!(a | x), true)),
        Op::S_XNOR_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (!(a ^ x), true)),
        Op::S_XNOR_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (!(a ^ x), true)),
        Op::S_ANDN1_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (!a & x, true)),
        Op::S_ANDN1_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (!a & x, true)),
        Op::S_ANDN2_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (a & !x, true)),
        Op::S_ANDN2_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (a & !x, true)),
        Op::S_ORN1_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (!a | x, true)),
        Op::S_ORN1_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (!a | x, true)),
        Op::S_ORN2_SAVEEXEC_B32 => exec_op!(i, p, e, 32, |a, x| (a | !x, true)),
        Op::S_ORN2_SAVEEXEC_B64 => exec_op!(i, p, e, 64, |a, x| (a | !x, true)),
        Op::S_ANDN1_WREXEC_B32 => exec_op!(i, p, e, 32, |a, x| (!a & x, false)),
        Op::S_ANDN1_WREXEC_B64 => exec_op!(i, p, e, 64, |a, x| (!a & x, false)),
        Op::S_ANDN2_WREXEC_B32 => exec_op!(i, p, e, 32, |a, x| (a & !x, false)),
        Op::S_ANDN2_WREXEC_B64 => exec_op!(i, p, e, 64, |a, x| (a & !x, false)),
        _ => None,
    }
}

fn jumps(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let run = match inst.op {
        Op::S_GETPC_B64 => get_pc,
        Op::S_SETPC_B64 | Op::S_RFE_B64 => set_pc,
        Op::S_SWAPPC_B64 => swap_pc,
        _ => return None,
    };
    let mut step = Step::new(run, inst, pc);
    step.dst = u16::from(operand::destination(inst.dst, env.target)?);
    if inst.op != Op::S_GETPC_B64 {
        // A jump through a constant has no use; the assembler accepts it, hardware would fault.
        operand::place(&mut step, 0, operand::source(inst, 0, 64, env)?).then_some(())?;
    }
    Some(step)
}

fn get_pc(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    operand::write64(wave, step, step.next_pc());
    Flow::Next
}

fn set_pc(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    wave.pc = operand::read64::<true>(wave, step, 0) & !3;
    Flow::Branch
}

fn swap_pc(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    wave.pc = operand::read64::<true>(wave, step, 0) & !3;
    operand::write64(wave, step, step.next_pc());
    Flow::Branch
}

fn relative(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let run = match inst.op {
        Op::S_MOVRELS_B32 => move_relative::<false, true, false>,
        Op::S_MOVRELS_B64 => move_relative::<true, true, false>,
        Op::S_MOVRELD_B32 => move_relative::<false, false, true>,
        Op::S_MOVRELD_B64 => move_relative::<true, false, true>,
        Op::S_MOVRELSD_2_B32 => move_relative_both,
        _ => return None,
    };
    let mut step = Step::new(run, inst, pc);
    step.dst = u16::from(operand::destination(inst.dst, env.target)?);
    let register = operand::place(&mut step, 0, operand::source(inst, 0, 64, env)?);
    // Marks a constant source, which only the destination-relative forms can have.
    step.aux = u64::from(register);
    Some(step)
}

/// Register index moved by `by`, kept inside the general registers.
fn moved(index: u16, by: u32) -> u8 {
    (u32::from(index).wrapping_add(by) & 0x7f) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "32-bit form of a value")]
fn move_relative<const WIDE: bool, const SOURCE: bool, const DESTINATION: bool>(
    wave: &mut Wave,
    _: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let by = wave.m0();
    let from = moved(step.src[0], if SOURCE { by } else { 0 });
    let to = moved(step.dst, if DESTINATION { by } else { 0 });
    let constant = (step.aux == 0).then_some(step.constant[0]);
    if WIDE {
        let value = constant.unwrap_or_else(|| wave.scalar64(from));
        wave.set_scalar64(to, value);
    } else {
        let value = constant.map_or_else(|| wave.scalar(from), |value| value as u32);
        wave.set_scalar(to, value);
    }
    Flow::Next
}

fn move_relative_both(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let by = wave.m0();
    let value = wave.scalar(moved(step.src[0], by & 0xff));
    wave.set_scalar(moved(step.dst, by >> 16 & 0xff), value);
    Flow::Next
}

/// Sets all four bits of each quad with a set bit.
fn whole_quads(mask: u64) -> u64 {
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111_1111_1111;
    any * 0xf
}

/// One bit per quad with a set bit.
fn quad_mask(mask: u64) -> u64 {
    (0..16).fold(0, |bits, quad| {
        bits | u64::from(mask >> (4 * quad) & 0xf != 0) << quad
    })
}

fn replicate(value: u32) -> u64 {
    (0..32).fold(0, |bits, i| {
        bits | (u64::from(value >> i & 1) * 3) << (2 * i)
    })
}

/// Position of the lowest set bit, -1 without one.
fn first(value: u64) -> u32 {
    if value == 0 {
        u32::MAX
    } else {
        value.trailing_zeros()
    }
}

/// Zeros above the highest set bit of a `bits`-bit value, -1 without one.
fn leading(value: u64, bits: u32) -> u32 {
    if value == 0 {
        u32::MAX
    } else {
        value.leading_zeros() - (64 - bits)
    }
}
