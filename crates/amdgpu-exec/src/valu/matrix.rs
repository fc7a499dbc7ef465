//! Matrix multiply-accumulate of gfx90a (MFMA).
//!
//! All lanes take part whatever EXEC holds. Inputs are laid out as in AMD's matrix instruction
//! calculator: an element of A (row `i`, depth `k`, block `b`) sits in lane
//! `i + rows * (b + blocks * (k / packed))`, element `k % packed` of the lane's register tuple; B
//! alike with columns. Sums are accumulated in order of `k` with fused multiply-adds (hardware's
//! order is not documented). f16 and bf16 inputs and their results flush denormals on this target.

#![expect(
    clippy::cast_possible_truncation,
    clippy::needless_range_loop,
    reason = "elements are cut out of 32-bit registers; rows and columns also place registers"
)]

use amdgpu_isa::{Inst, Op};

use super::operand;
use super::plan::{Kind, Ty};
use crate::context::Context;
use crate::float::half::f16_to_f32;
use crate::step::{Body, Flow, Step, TranslateEnv, select};
use crate::wave::{CHUNK_LANES, Wave};

/// Element type of A and B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Element {
    F32,
    F16,
    Bf16,
    I8,
    F64,
}

/// A matrix shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// Rows and columns of a block.
    side: usize,
    depth: usize,
    blocks: usize,
    element: Element,
    /// Consecutive depth elements in a lane's registers.
    packed: usize,
}

fn shape(op: Op) -> Option<Shape> {
    use Element::*;
    use Op::*;
    let (side, depth, blocks, element, packed) = match op {
        V_MFMA_F32_32X32X1F32 => (32, 1, 2, F32, 1),
        V_MFMA_F32_16X16X1F32 => (16, 1, 4, F32, 1),
        V_MFMA_F32_4X4X1F32 => (4, 1, 16, F32, 1),
        V_MFMA_F32_32X32X2F32 => (32, 2, 1, F32, 1),
        V_MFMA_F32_16X16X4F32 => (16, 4, 1, F32, 1),
        V_MFMA_F32_32X32X4F16 => (32, 4, 2, F16, 4),
        V_MFMA_F32_16X16X4F16 => (16, 4, 4, F16, 4),
        V_MFMA_F32_4X4X4F16 => (4, 4, 16, F16, 4),
        V_MFMA_F32_32X32X8F16 => (32, 8, 1, F16, 4),
        V_MFMA_F32_16X16X16F16 => (16, 16, 1, F16, 4),
        V_MFMA_F32_32X32X2BF16 => (32, 2, 2, Bf16, 2),
        V_MFMA_F32_16X16X2BF16 => (16, 2, 4, Bf16, 2),
        V_MFMA_F32_4X4X2BF16 => (4, 2, 16, Bf16, 2),
        V_MFMA_F32_32X32X4BF16 => (32, 4, 1, Bf16, 2),
        V_MFMA_F32_16X16X8BF16 => (16, 8, 1, Bf16, 2),
        V_MFMA_F32_32X32X4BF16_1K => (32, 4, 2, Bf16, 4),
        V_MFMA_F32_16X16X4BF16_1K => (16, 4, 4, Bf16, 4),
        V_MFMA_F32_4X4X4BF16_1K => (4, 4, 16, Bf16, 4),
        V_MFMA_F32_32X32X8BF16_1K => (32, 8, 1, Bf16, 4),
        V_MFMA_F32_16X16X16BF16_1K => (16, 16, 1, Bf16, 4),
        V_MFMA_I32_32X32X4I8 => (32, 4, 2, I8, 4),
        V_MFMA_I32_16X16X4I8 => (16, 4, 4, I8, 4),
        V_MFMA_I32_4X4X4I8 => (4, 4, 16, I8, 4),
        V_MFMA_I32_32X32X8I8 => (32, 8, 1, I8, 4),
        V_MFMA_I32_16X16X16I8 => (16, 16, 1, I8, 4),
        V_MFMA_F64_16X16X4F64 => (16, 4, 1, F64, 1),
        V_MFMA_F64_4X4X4F64 => (4, 4, 4, F64, 1),
        _ => return None,
    };
    Some(Shape {
        side,
        depth,
        blocks,
        element,
        packed,
    })
}

impl Shape {
    /// Lane and element of a lane's tuple for an entry of A or B.
    fn input(self, index: usize, k: usize, block: usize) -> (usize, usize) {
        let lane = index + self.side * (block + self.blocks * (k / self.packed));
        (lane, k % self.packed)
    }

    /// Lane and register (of the result's element size) of a result.
    fn output(self, row: usize, column: usize, block: usize) -> (usize, usize) {
        match (self.element, self.side) {
            (Element::F64, 16) => (column + 16 * (row % 4), row / 4),
            (Element::F64, _) => (column + 4 * block + 16 * row, 0),
            (_, 32) => (
                column + 32 * (row / 4 % 2),
                16 * block + 4 * (row / 8) + row % 4,
            ),
            (_, 16) => (column + 16 * (row / 4), 4 * block + row % 4),
            _ => (column + 4 * block, row),
        }
    }
}

/// Translates a matrix instruction.
pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let shape = shape(inst.op)?;
    if !env.target.has_unified_registers() {
        return None;
    }
    let run = match shape.element {
        Element::F64 => select::<Doubles>(env.level),
        Element::I8 => select::<Integers>(env.level),
        _ => select::<Singles>(env.level),
    };
    let mut step = Step::new(run, inst, pc);
    for i in 0..2 {
        step.src[i] = operand::vector(inst.src[i], env)?;
    }
    let ty = match shape.element {
        Element::F64 => Ty::F64,
        Element::I8 => Ty::B32,
        _ => Ty::F32,
    };
    step.aux = operand::place(&mut step, 2, inst.src[2], ty, env)? as u64;
    step.dst = operand::vector(inst.dst, env)?;
    Some(step)
}

/// One lane of the register `offset` after the one whose first chunk is `base`.
#[inline(always)]
fn dword(wave: &Wave, base: u16, offset: usize, lane: usize) -> u32 {
    let chunk = usize::from(base) + 2 * offset + lane / CHUNK_LANES;
    wave.chunk(chunk).0[lane % CHUNK_LANES]
}

#[inline(always)]
fn set_dword(wave: &mut Wave, base: u16, offset: usize, lane: usize, value: u32) {
    let chunk = usize::from(base) + 2 * offset + lane / CHUNK_LANES;
    wave.chunk_mut(chunk).0[lane % CHUNK_LANES] = value;
}

/// Block whose A is used for block `block`: CBSZ groups blocks, ABID names the one they share.
fn broadcast(inst: &Inst, block: usize) -> usize {
    let group = 1usize << inst.mods.cbsz;
    if group == 1 {
        return block;
    }
    block / group * group + usize::from(inst.mods.abid) % group
}

/// Lane that B is read from (CDNA 2 ISA manual, "BLGP").
fn permuted(inst: &Inst, lane: usize) -> usize {
    match inst.mods.blgp {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        n @ 4..=7 => lane % 16 + 16 * (usize::from(n) - 4),
        _ => lane,
    }
}

fn flush(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE {
        0.0f32.copysign(value)
    } else {
        value
    }
}

/// A or B element as f32.
fn single(wave: &Wave, shape: Shape, base: u16, lane: usize, element: usize) -> f32 {
    if shape.element == Element::F32 {
        return f32::from_bits(dword(wave, base, 0, lane));
    }
    let half = dword(wave, base, element / 2, lane) >> (16 * (element % 2)) & 0xffff;
    if shape.element == Element::Bf16 {
        return flush(f32::from_bits(half << 16));
    }
    let denormal = half & 0x7c00 == 0;
    f16_to_f32(if denormal { half & 0x8000 } else { half } as u16)
}

/// A result register read as source C.
fn addend(wave: &Wave, step: &Step, register: usize, lane: usize) -> u32 {
    match step.aux {
        kind if kind == Kind::Vector as u64 => dword(wave, step.src[2], register, lane),
        kind if kind == Kind::Scalar as u64 => wave.scalar(step.src[2].to_le_bytes()[0]),
        _ => step.constant[2] as u32,
    }
}

/// Largest row of results: 32 columns.
const COLUMNS: usize = 32;

struct Singles;

impl Body for Singles {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let Some(shape) = shape(step.inst.op) else {
            return Flow::Next;
        };
        let flushes = shape.element != Element::F32;
        let mut results = [[0f32; COLUMNS]; 64];
        for block in 0..shape.blocks {
            let b = columns(wave, step, shape, block);
            for row in 0..shape.side {
                let sums = &mut results[block * shape.side + row];
                for (column, sum) in sums.iter_mut().enumerate().take(shape.side) {
                    let (lane, register) = shape.output(row, column, block);
                    *sum = f32::from_bits(addend(wave, step, register, lane));
                }
                for (k, b) in b.iter().enumerate().take(shape.depth) {
                    let (lane, element) = shape.input(row, k, broadcast(&step.inst, block));
                    let a = single(wave, shape, step.src[0], lane, element);
                    for (sum, b) in sums.iter_mut().zip(b) {
                        *sum = a.mul_add(*b, *sum);
                    }
                }
            }
        }
        for block in 0..shape.blocks {
            for row in 0..shape.side {
                for column in 0..shape.side {
                    let sum = results[block * shape.side + row][column];
                    let sum = if flushes { flush(sum) } else { sum };
                    let bits = if sum.is_nan() {
                        0x7fc0_0000
                    } else {
                        sum.to_bits()
                    };
                    let (lane, register) = shape.output(row, column, block);
                    set_dword(wave, step.dst, register, lane, bits);
                }
            }
        }
        Flow::Next
    }
}

/// B of a block, by depth.
#[inline(always)]
fn columns(wave: &Wave, step: &Step, shape: Shape, block: usize) -> [[f32; COLUMNS]; 16] {
    let mut b = [[0f32; COLUMNS]; 16];
    for (k, row) in b.iter_mut().enumerate().take(shape.depth) {
        for (column, value) in row.iter_mut().enumerate().take(shape.side) {
            let (lane, element) = shape.input(column, k, block);
            let lane = permuted(&step.inst, lane);
            *value = single(wave, shape, step.src[1], lane, element);
        }
    }
    b
}

struct Integers;

impl Body for Integers {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let Some(shape) = shape(step.inst.op) else {
            return Flow::Next;
        };
        let byte = |value: u32, k: usize| i32::from((value >> (8 * (k % 4))) as i8);
        let mut results = [[0i32; COLUMNS]; 64];
        for block in 0..shape.blocks {
            for row in 0..shape.side {
                for column in 0..shape.side {
                    let (lane, register) = shape.output(row, column, block);
                    let mut sum = addend(wave, step, register, lane).cast_signed();
                    for k in 0..shape.depth {
                        let (lane, element) = shape.input(row, k, broadcast(&step.inst, block));
                        let a = byte(dword(wave, step.src[0], 0, lane), element);
                        let (lane, element) = shape.input(column, k, block);
                        let lane = permuted(&step.inst, lane);
                        let b = byte(dword(wave, step.src[1], 0, lane), element);
                        sum = sum.wrapping_add(a * b);
                    }
                    results[block * shape.side + row][column] = sum;
                }
            }
        }
        for block in 0..shape.blocks {
            for row in 0..shape.side {
                for column in 0..shape.side {
                    let (lane, register) = shape.output(row, column, block);
                    let bits = results[block * shape.side + row][column].cast_unsigned();
                    set_dword(wave, step.dst, register, lane, bits);
                }
            }
        }
        Flow::Next
    }
}

/// A pair of registers as f64.
fn double(wave: &Wave, base: u16, register: usize, lane: usize) -> f64 {
    let low = dword(wave, base, 2 * register, lane);
    let high = dword(wave, base, 2 * register + 1, lane);
    f64::from_bits(u64::from(low) | u64::from(high) << 32)
}

struct Doubles;

impl Body for Doubles {
    /// BLGP's bits negate A, B and C of f64 matrices.
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let Some(shape) = shape(step.inst.op) else {
            return Flow::Next;
        };
        let negated = |value: f64, bit: u8| {
            if step.inst.mods.blgp >> bit & 1 != 0 {
                -value
            } else {
                value
            }
        };
        let mut results = [[0f64; COLUMNS]; 16];
        for block in 0..shape.blocks {
            for row in 0..shape.side {
                for column in 0..shape.side {
                    let (lane, register) = shape.output(row, column, block);
                    let c = if step.aux == Kind::Vector as u64 {
                        double(wave, step.src[2], register, lane)
                    } else {
                        f64::from_bits(step.constant[2])
                    };
                    let mut sum = negated(c, 2);
                    for k in 0..shape.depth {
                        let (lane, _) = shape.input(row, k, broadcast(&step.inst, block));
                        let a = negated(double(wave, step.src[0], 0, lane), 0);
                        let (lane, _) = shape.input(column, k, block);
                        let b = negated(double(wave, step.src[1], 0, lane), 1);
                        sum = a.mul_add(b, sum);
                    }
                    results[block * shape.side % 16 + row][column] = sum;
                }
            }
        }
        for block in 0..shape.blocks {
            for row in 0..shape.side {
                for column in 0..shape.side {
                    let (lane, register) = shape.output(row, column, block);
                    let sum = results[block * shape.side % 16 + row][column];
                    let bits = if sum.is_nan() {
                        0x7ff8_0000_0000_0000
                    } else {
                        sum.to_bits()
                    };
                    set_dword(wave, step.dst, 2 * register, lane, bits as u32);
                    set_dword(wave, step.dst, 2 * register + 1, lane, (bits >> 32) as u32);
                }
            }
        }
        Flow::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_results_fill_all_lanes_once() {
        let shapes = Op::ALL.iter().filter_map(|op| shape(*op));
        for shape in shapes {
            let mut inputs = std::collections::HashSet::new();
            let mut outputs = std::collections::HashSet::new();
            for block in 0..shape.blocks {
                for i in 0..shape.side {
                    for k in 0..shape.depth {
                        let (lane, element) = shape.input(i, k, block);
                        assert!(lane < 64 && element < shape.packed);
                        assert!(inputs.insert((lane, element)));
                    }
                    for j in 0..shape.side {
                        let (lane, register) = shape.output(i, j, block);
                        assert!(lane < 64);
                        assert!(outputs.insert((lane, register)));
                    }
                }
            }
            assert_eq!(inputs.len(), 64 * shape.packed, "{shape:?}");
            let registers = shape.side * shape.side * shape.blocks / 64;
            assert_eq!(outputs.len(), 64 * registers);
            assert!(outputs.iter().all(|(_, register)| *register < registers));
        }
    }
}
