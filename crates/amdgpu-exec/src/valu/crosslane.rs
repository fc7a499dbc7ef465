//! Instructions that move values between lanes, between vector and scalar registers, or between
//! registers chosen at run time.

use amdgpu_isa::{Inst, Op, Operand};

use super::lanes;
use super::operand;
use super::plan::{Kind, Ty};
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// Translates a cross-lane instruction.
pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    use Op::*;
    match inst.op {
        V_NOP | V_PIPEFLUSH | V_CLREXCP => Some(Step::new(nothing, inst, pc)),
        V_READFIRSTLANE_B32 => read_first_lane(inst, pc, env),
        V_READLANE_B32 => read_lane(inst, pc, env),
        V_WRITELANE_B32 => write_lane(inst, pc, env),
        V_PERMLANE16_B32 | V_PERMLANEX16_B32 => permute(inst, pc, env),
        V_SWAP_B32 => swap(inst, pc, env),
        V_MOVRELS_B32 | V_MOVRELD_B32 | V_MOVRELSD_B32 | V_MOVRELSD_2_B32 | V_SWAPREL_B32 => {
            relative(inst, pc, env)
        }
        V_MBCNT_LO_U32_B32 => count_below(inst, pc, env, false),
        V_MBCNT_HI_U32_B32 => count_below(inst, pc, env, true),
        _ => None,
    }
}

fn nothing(_: &mut Wave, _: &mut Context<'_>, _: &Step) -> Flow {
    Flow::Next
}

/// Value of source `i` if it is scalar or constant.
fn scalar(wave: &Wave, step: &Step, i: usize) -> u32 {
    if step.aux >> (2 * i) & 3 == Kind::Scalar as u64 {
        wave.scalar(step.src[i].to_le_bytes()[0])
    } else {
        super::float32::low32(step.constant[i])
    }
}

/// A lane of the register whose first chunk is `base`.
fn lane_of(wave: &Wave, base: usize, lane: usize) -> u32 {
    wave.chunk(base + lane / CHUNK_LANES).0[lane % CHUNK_LANES]
}

/// Resolves sources; the kinds go to `aux` as in a plan.
fn place(step: &mut Step, inst: &Inst, count: usize, env: &TranslateEnv) -> Option<[Kind; 3]> {
    let mut kinds = [Kind::Constant; 3];
    for (i, kind) in kinds.iter_mut().enumerate().take(count) {
        *kind = operand::place(step, i, inst.src[i], Ty::B32, env)?;
        step.aux |= (*kind as u64) << (2 * i);
    }
    Some(kinds)
}

fn read_first_lane(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run_read_first_lane, inst, pc);
    let [kind, ..] = place(&mut step, inst, 1, env)?;
    step.dst = operand::scalar_destination(inst.dst, env)?;
    if kind != Kind::Vector {
        step.run = run_move_scalar;
    }
    Some(step)
}

fn run_move_scalar(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let value = scalar(wave, step, 0);
    wave.set_scalar(step.dst.to_le_bytes()[0], value);
    Flow::Next
}

fn run_read_first_lane(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let exec = wave.exec();
    // Without active lanes hardware reads lane 0.
    let lane = if exec == 0 {
        0
    } else {
        exec.trailing_zeros() as usize
    };
    let value = lane_of(wave, usize::from(step.src[0]), lane);
    wave.set_scalar(step.dst.to_le_bytes()[0], value);
    Flow::Next
}

fn read_lane(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run_read_lane, inst, pc);
    let [kind, ..] = place(&mut step, inst, 2, env)?;
    step.dst = operand::scalar_destination(inst.dst, env)?;
    if kind != Kind::Vector {
        step.run = run_move_scalar;
    }
    Some(step)
}

fn run_read_lane(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let lane = scalar(wave, step, 1) as usize % wave.lanes();
    let value = lane_of(wave, usize::from(step.src[0]), lane);
    wave.set_scalar(step.dst.to_le_bytes()[0], value);
    Flow::Next
}

fn write_lane(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run_write_lane, inst, pc);
    place(&mut step, inst, 2, env)?;
    step.dst = operand::vector(inst.dst, env)?;
    Some(step)
}

fn run_write_lane(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let value = scalar(wave, step, 0);
    let lane = scalar(wave, step, 1) as usize % wave.lanes();
    let chunk = usize::from(step.dst) + lane / CHUNK_LANES;
    wave.chunk_mut(chunk).0[lane % CHUNK_LANES] = value;
    Flow::Next
}

fn permute(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run_permute, inst, pc);
    let [kind, ..] = place(&mut step, inst, 3, env)?;
    step.dst = operand::vector(inst.dst, env)?;
    (kind == Kind::Vector).then_some(step)
}

/// Each lane reads a lane of its row (or, X, of the other row of the pair) named by a 4-bit
/// selector. OP_SEL bit 0 is FETCH_INACTIVE, bit 1 BOUND_CTRL (RDNA 2 manual, "V_PERMLANE16_B32").
fn run_permute(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let selectors = u64::from(scalar(wave, step, 1)) | u64::from(scalar(wave, step, 2)) << 32;
    let flip = if step.inst.op == Op::V_PERMLANEX16_B32 {
        16
    } else {
        0
    };
    let fetch_inactive = step.inst.mods.op_sel & 1 != 0;
    let zero_invalid = step.inst.mods.op_sel & 2 != 0;
    let exec = wave.exec();
    let mut write = 0u64;
    let mut out = [Chunk::ZERO; 2];
    for lane in 0..wave.lanes() {
        let selector = (selectors >> (lane % 16 * 4) & 15) as usize;
        let source = (lane & !15 ^ flip) + selector;
        if fetch_inactive || exec >> source & 1 == 1 {
            out[lane / CHUNK_LANES].0[lane % CHUNK_LANES] =
                lane_of(wave, usize::from(step.src[0]), source);
            write |= 1 << lane;
        } else if zero_invalid {
            write |= 1 << lane;
        }
    }
    write_chunks(wave, usize::from(step.dst), exec & write, &out);
    Flow::Next
}

/// Writes the lanes of `mask` to the register whose first chunk is `base`.
fn write_chunks(wave: &mut Wave, base: usize, mask: u64, values: &[Chunk; 2]) {
    let per_register = wave.chunks_per_register();
    for (chunk, value) in values.iter().enumerate().take(per_register) {
        let mask = super::float32::low32(mask >> (chunk * CHUNK_LANES));
        lanes::store(wave, base + chunk, mask, value);
    }
}

/// Both chunks of a register.
fn read_chunks(wave: &Wave, base: usize) -> [Chunk; 2] {
    [*wave.chunk(base), *wave.chunk(base + 1)]
}

fn swap(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run_swap, inst, pc);
    step.dst = operand::vector(inst.dst, env)?;
    step.src[0] = operand::vector(inst.src[0], env)?;
    Some(step)
}

fn run_swap(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    exchange(wave, usize::from(step.dst), usize::from(step.src[0]));
    Flow::Next
}

fn exchange(wave: &mut Wave, a: usize, b: usize) {
    let exec = wave.exec();
    let (old_a, old_b) = (read_chunks(wave, a), read_chunks(wave, b));
    write_chunks(wave, a, exec, &old_b);
    write_chunks(wave, b, exec, &old_a);
}

fn relative(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run_relative, inst, pc);
    place(&mut step, inst, 1, env)?;
    step.dst = operand::vector(inst.dst, env)?;
    let plain = inst.dpp.is_none() && inst.sdwa.is_none();
    plain.then_some(step)
}

/// Register numbers moved by M0 (RDNA 2 manual, "V_MOVREL"); the `_2` form and the swap have
/// separate offsets for source (bits 9:0) and destination (bits 25:16).
fn run_relative(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let m0 = wave.m0() as usize;
    let (low, high) = (m0 & 0x3ff, m0 >> 16 & 0x3ff);
    let (source, target) = match step.inst.op {
        Op::V_MOVRELS_B32 => (m0, 0),
        Op::V_MOVRELD_B32 => (0, m0),
        Op::V_MOVRELSD_B32 => (m0, m0),
        _ => (low, high),
    };
    let per_register = wave.chunks_per_register();
    let to = usize::from(step.dst).wrapping_add(target.wrapping_mul(per_register));
    let from = usize::from(step.src[0]).wrapping_add(source.wrapping_mul(per_register));
    let vector = matches!(step.inst.src[0], Operand::Vgpr(_) | Operand::Agpr(_));
    if step.inst.op == Op::V_SWAPREL_B32 {
        exchange(wave, to, from);
        return Flow::Next;
    }
    let values = if vector {
        read_chunks(wave, from)
    } else {
        [Chunk::splat(scalar(wave, step, 0)); 2]
    };
    let exec = wave.exec();
    write_chunks(wave, to, exec, &values);
    Flow::Next
}

/// `v_mbcnt`: bits of source 0 that belong to lower lanes, plus source 1. The lane numbers are a
/// hidden constant row, so the operation is built as a kernel.
fn count_below(inst: &Inst, pc: u64, env: &TranslateEnv, high: bool) -> Option<Step> {
    use super::kernel::Entry;
    use super::pipeline::{Kernel, Out, Rows};
    struct Count<const HIGH: bool>;
    impl<const HIGH: bool> Kernel for Count<HIGH> {
        #[inline(always)]
        fn run(rows: &Rows<'_>, out: &mut Out) {
            for lane in 0..CHUNK_LANES {
                let below = if HIGH == (rows.first_lane != 0) {
                    (1u32 << lane) - 1
                } else if HIGH {
                    0
                } else {
                    u32::MAX
                };
                let count = (rows.lo[0].0[lane] & below).count_ones();
                out.lo.0[lane] = count.wrapping_add(rows.lo[1].0[lane]);
            }
        }
    }
    let types = [Ty::B32, Ty::B32];
    let entry = if high {
        Entry::kernel::<Count<true>>(env.level, &types, Ty::B32)
    } else {
        Entry::kernel::<Count<false>>(env.level, &types, Ty::B32)
    };
    super::build(entry, inst, pc, env)
}
