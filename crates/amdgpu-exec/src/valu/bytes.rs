//! Byte permutation, averages and sums of absolute differences.

#![expect(
    clippy::cast_possible_truncation,
    reason = "bytes and 16-bit sums are cut out of wider lanes"
)]

use amdgpu_isa::{Inst, Op};

use super::kernel::Entry;
use super::lanes;
use super::macros::op32;
use super::operand;
use super::pipeline::{Kernel, Out, Rows};
use super::plan::{Kind, Ty};
use crate::context::Context;
use crate::step::{Flow, Step, TranslateEnv};
use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// One byte of the result of `v_perm_b32` (ISA manuals): 0..=7 select from `{a, b}`, 8..=11
/// replicate the sign of its bytes 1, 3, 5, 7, 12 is zero, the others 0xff.
#[inline(always)]
fn permuted_byte(pair: u64, selector: u32) -> u32 {
    let position = (selector & 7) * 8;
    let sign = (pair >> ((selector & 3) * 16 + 15)) as u32 & 1;
    if selector >= 13 {
        0xff
    } else if selector == 12 {
        0
    } else if selector >= 8 {
        sign * 0xff
    } else {
        (pair >> position) as u32 & 0xff
    }
}

#[inline(always)]
fn permute(a: u32, b: u32, selectors: u32) -> u32 {
    let pair = u64::from(a) << 32 | u64::from(b);
    let byte = |i: u32| permuted_byte(pair, selectors >> (8 * i) & 0xff) << (8 * i);
    byte(0) | byte(1) | byte(2) | byte(3)
}

#[inline(always)]
fn byte(value: u32, i: u32) -> u32 {
    value >> (8 * i) & 0xff
}

/// Sum of absolute differences of the bytes.
#[inline(always)]
fn sad8(a: u32, b: u32) -> u32 {
    (0..4).fold(0, |sum, i| sum + byte(a, i).abs_diff(byte(b, i)))
}

/// The same where the reference byte `b` is not zero.
#[inline(always)]
fn masked_sad8(a: u32, b: u32) -> u32 {
    (0..4).fold(0, |sum, i| {
        let difference = byte(a, i).abs_diff(byte(b, i));
        sum + if byte(b, i) == 0 { 0 } else { difference }
    })
}

/// Average of the bytes, rounded up where `c` has the byte's lowest bit set.
#[inline(always)]
fn lerp(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(0, |all, i| {
        all | (byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1 << (8 * i)
    })
}

/// Table entry of a byte operation.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    use Op::*;
    Some(match inst.op {
        V_PERM_B32 => op32!(env, lane32, [B32, B32, B32] => B32, |a, b, c| permute(a, b, c)),
        V_LERP_U8 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| lerp(a, b, c)),
        V_SAD_U8 => {
            op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| sad8(a, b).wrapping_add(c))
        }
        V_SAD_HI_U8 => {
            op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| (sad8(a, b) << 16).wrapping_add(c))
        }
        V_SAD_U16 => op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| {
            (a & 0xffff)
                .abs_diff(b & 0xffff)
                .wrapping_add((a >> 16).abs_diff(b >> 16))
                .wrapping_add(c)
        }),
        V_SAD_U32 => {
            op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| a.abs_diff(b).wrapping_add(c))
        }
        V_MSAD_U8 => {
            op32!(env, rare32, [B32, B32, B32] => B32, |a, b, c| masked_sad8(a, b).wrapping_add(c))
        }
        V_QSAD_PK_U16_U8 => {
            Entry::rare_kernel::<Quad<false>>(&[Ty::B64, Ty::B32, Ty::B64], Ty::B64).saturating()
        }
        V_MQSAD_PK_U16_U8 => {
            Entry::rare_kernel::<Quad<true>>(&[Ty::B64, Ty::B32, Ty::B64], Ty::B64).saturating()
        }
        _ => return None,
    })
}

/// Four sums over a window that moves by one byte, each added to 16 bits of source 2.
struct Quad<const MASKED: bool>;

#[inline(always)]
fn window(value: u64, i: u32) -> u32 {
    (value >> (8 * i)) as u32
}

impl<const MASKED: bool> Kernel for Quad<MASKED> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let clamp = rows.step.inst.mods.clamp;
        for lane in 0..CHUNK_LANES {
            let (a, b, c) = (rows.wide(0, lane), rows.lo[1].0[lane], rows.wide(2, lane));
            let mut value = 0;
            for i in 0..4 {
                let sad = if MASKED {
                    masked_sad8(window(a, i), b)
                } else {
                    sad8(window(a, i), b)
                };
                let sum = u64::from(sad) + (c >> (16 * i) & 0xffff);
                let sum = if clamp { sum.min(0xffff) } else { sum & 0xffff };
                value |= sum << (16 * i);
            }
            out.set_wide(lane, value);
        }
    }
}

/// `v_mqsad_u32_u8`: the only vector operation with 128-bit operands (source 2 and result).
pub(super) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    if inst.op != Op::V_MQSAD_U32_U8 {
        return None;
    }
    let mut step = Step::new(run_quad32, inst, pc);
    for (i, ty) in [Ty::B64, Ty::B32, Ty::B64].into_iter().enumerate() {
        let kind = operand::place(&mut step, i, inst.src[i], ty, env)?;
        step.aux |= (kind as u64) << (2 * i);
    }
    step.dst = operand::vector(inst.dst, env)?;
    (step.aux >> 4 & 3 == Kind::Vector as u64).then_some(step)
}

/// One lane of a source register that may be scalar or constant; `part` counts dwords.
fn part(wave: &Wave, step: &Step, i: usize, part: usize, chunk: usize, lane: usize) -> u32 {
    match step.aux >> (2 * i) & 3 {
        0 => {
            let register = usize::from(step.src[i]) + part * wave.chunks_per_register();
            wave.chunk(register + chunk).0[lane]
        }
        1 => wave.scalar(step.src[i].to_le_bytes()[0].wrapping_add(part as u8)),
        _ => (step.constant[i] >> (32 * part)) as u32,
    }
}

fn run_quad32(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    let per_register = wave.chunks_per_register();
    for chunk in 0..per_register {
        let mut out = [Chunk::ZERO; 4];
        for lane in 0..CHUNK_LANES {
            let low = part(wave, step, 0, 0, chunk, lane);
            let high = part(wave, step, 0, 1, chunk, lane);
            let a = u64::from(low) | u64::from(high) << 32;
            let b = part(wave, step, 1, 0, chunk, lane);
            for (i, out) in out.iter_mut().enumerate() {
                let c = part(wave, step, 2, i, chunk, lane);
                let sum = u64::from(masked_sad8(window(a, i as u32), b)) + u64::from(c);
                let clamped = sum.min(u64::from(u32::MAX));
                out.0[lane] = if step.inst.mods.clamp {
                    clamped as u32
                } else {
                    sum as u32
                };
            }
        }
        let exec = wave.exec_chunk(chunk);
        for (i, out) in out.iter().enumerate() {
            let index = usize::from(step.dst) + i * per_register + chunk;
            lanes::store(wave, index, exec, out);
        }
    }
    Flow::Next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permute_selects_bytes_signs_and_constants() {
        let (a, b) = (0x8877_6655, 0x4433_9211);
        assert_eq!(permute(a, b, 0x0706_0504), a);
        assert_eq!(permute(a, b, 0x0302_0100), b);
        assert_eq!(permute(a, b, 0x0c0d_0808), 0x00ff_ffff);
        // Bytes 1, 3, 5, 7 are 0x92, 0x44, 0x66, 0x88.
        assert_eq!(permute(a, b, 0x0b0a_0908), 0xff00_00ff);
    }

    #[test]
    fn sums_of_absolute_differences() {
        assert_eq!(sad8(0x0510_ff00, 0x0a0f_00ff), 5 + 1 + 255 + 255);
        assert_eq!(masked_sad8(0x0510_ff00, 0x0a0f_00ff), 5 + 1 + 255);
        assert_eq!(lerp(0x01ff_0300, 0x02ff_0401, 0x0101_0001), 0x02ff_0301);
    }
}
