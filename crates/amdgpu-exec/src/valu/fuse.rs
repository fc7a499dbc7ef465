//! Two instructions as one step: the halves of a 64-bit addition.
//!
//! Every address of a kernel is computed by `v_add_co_u32` and the instruction that adds the carry.
//! Between the two nothing can look at the carry, so it need not become a mask and lanes again.

use amdgpu_isa::{Inst, Mods, Op};

use super::kernel::{BLOCK, block, store_block, uniform32};
use super::plan::Kind;
use crate::context::Context;
use crate::rows;
use crate::step::{Body, Flow, HostLevel, Step, StepFn, TranslateEnv, select_v3};
use crate::wave::{CHUNK_LANES, Wave};

/// Bit of `aux` that the high destination starts at; the kinds of the sources come first.
const HIGH: u32 = 32;

/// One step that does what `low` and then `high` do, if they are such a pair.
pub(crate) fn pair(low: &Step, high: &Step, env: &TranslateEnv) -> Option<Step> {
    if env.level != HostLevel::V3 || !adds(low, high) || !carry_goes_on(low, high) {
        return None;
    }
    let mut step = low.clone();
    // A third instruction that adds this carry must not find an addition without one.
    step.inst = high.inst;
    step.src = [low.src[0], low.src[1], high.src[0], high.src[1]];
    step.constant[2] = high.constant[0];
    step.aux = (low.aux & 0xf) | (high.aux & 0xf) << 4 | u64::from(high.dst) << HIGH;
    step.run = body(is_vector(low, 0), is_vector(high, 0));
    Some(step)
}

fn adds(low: &Step, high: &Step) -> bool {
    let carries = matches!(high.inst.op, Op::V_ADDC_CO_U32 | Op::V_ADD_CO_CI_U32);
    low.inst.op == Op::V_ADD_CO_U32 && carries && is_plain(low) && is_plain(high)
}

/// Neither lane movement nor modifiers, and a vector as second source, as the short form has.
fn is_plain(step: &Step) -> bool {
    let Inst {
        mods, dpp, sdwa, ..
    } = &step.inst;
    *mods == Mods::default() && dpp.is_none() && sdwa.is_none() && is_vector(step, 1)
}

fn is_vector(step: &Step, source: u32) -> bool {
    step.aux >> (2 * source) & 3 == Kind::Vector as u64
}

/// The second takes the first's carry, replaces it by its own, and reads it in no other way.
fn carry_goes_on(low: &Step, high: &Step) -> bool {
    let mask = low.sdst;
    let reads_mask = !is_vector(high, 0) && high.src[0] & !1 == mask & !1;
    high.src[3] == mask && high.sdst == mask && !reads_mask
}

fn body(low_is_vector: bool, high_is_vector: bool) -> StepFn {
    match (low_is_vector, high_is_vector) {
        (false, false) => select_v3::<WideAdd<false, false>>(),
        (false, true) => select_v3::<WideAdd<false, true>>(),
        (true, false) => select_v3::<WideAdd<true, false>>(),
        (true, true) => select_v3::<WideAdd<true, true>>(),
    }
}

/// A 64-bit addition; LOW and HIGH say whether the first sources of its halves are vectors.
struct WideAdd<const LOW: bool, const HIGH: bool>;

impl<const LOW: bool, const HIGH_VECTOR: bool> Body for WideAdd<LOW, HIGH_VECTOR> {
    #[inline(always)]
    fn run<const V3: bool>(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
        let low = if LOW { 0 } else { uniform32(wave, step, 0) };
        let high = if HIGH_VECTOR {
            0
        } else {
            uniform32(wave, step, 2)
        };
        let high_dst = (step.aux >> HIGH & 0xffff) as usize;
        let mut masks = 0;
        for chunk in 0..wave.chunks_per_register() {
            let exec = wave.exec_chunk(chunk);
            let mut carries = 0;
            for first in (0..CHUNK_LANES).step_by(BLOCK) {
                let a = source::<LOW>(wave, step.src[0], low, chunk, first);
                let b = block(wave, step.src[1], chunk, first);
                let (sum, carry) = add(&a, &b);
                // The high half may read what the low half wrote.
                store_block(wave, usize::from(step.dst) + chunk, first, exec, &sum);
                let a = source::<HIGH_VECTOR>(wave, step.src[2], high, chunk, first);
                let b = block(wave, step.src[3], chunk, first);
                let (sum, carry) = add_carry(&a, &b, &carry);
                store_block(wave, high_dst + chunk, first, exec, &sum);
                carries |= rows::signs::<V3>(&carry) << first;
            }
            masks |= u64::from(carries & exec) << (chunk * CHUNK_LANES);
        }
        wave.set_mask(step.sdst.to_le_bytes()[0], masks);
        Flow::Next
    }
}

#[inline(always)]
fn source<const VECTOR: bool>(
    wave: &Wave,
    register: u16,
    uniform: u32,
    chunk: usize,
    first: usize,
) -> [u32; BLOCK] {
    if VECTOR {
        block(wave, register, chunk, first)
    } else {
        [uniform; BLOCK]
    }
}

/// Sums, and all ones where they carry.
#[inline(always)]
fn add(a: &[u32; BLOCK], b: &[u32; BLOCK]) -> ([u32; BLOCK], [u32; BLOCK]) {
    let (mut sum, mut carry) = ([0; BLOCK], [0; BLOCK]);
    for i in 0..BLOCK {
        sum[i] = a[i].wrapping_add(b[i]);
        carry[i] = if sum[i] < a[i] { u32::MAX } else { 0 };
    }
    (sum, carry)
}

/// Sums with carry in, and all ones where they carry.
#[inline(always)]
fn add_carry(
    a: &[u32; BLOCK],
    b: &[u32; BLOCK],
    carry: &[u32; BLOCK],
) -> ([u32; BLOCK], [u32; BLOCK]) {
    let (partial, over) = add(a, b);
    let (mut sum, mut out) = ([0; BLOCK], [0; BLOCK]);
    for i in 0..BLOCK {
        // A carry is -1; only a partial sum of all ones runs over by it.
        sum[i] = partial[i].wrapping_sub(carry[i]);
        out[i] = over[i] | if sum[i] < partial[i] { u32::MAX } else { 0 };
    }
    (sum, out)
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "lane numbers and halves")]
mod tests {
    use super::*;
    use crate::testing::{assemble, run_snippet};
    use crate::translate;
    use amdgpu_isa::{Target, decode};

    /// Whether the two instructions of a text are joined.
    fn joins(target: Target, lanes: u8, asm: &str) -> Option<bool> {
        let code = assemble(target, lanes, asm)?;
        let env = TranslateEnv {
            target,
            lanes,
            level: HostLevel::V3,
            mode: 0,
        };
        let step = |at: usize| {
            let inst = decode(target, &code[at..]).unwrap();
            translate::one(&inst, at as u64, &env).unwrap()
        };
        let low = step(0);
        let high = step(usize::from(low.inst.size_bytes));
        Some(pair(&low, &high, &env).is_some())
    }

    #[test]
    fn only_a_carry_that_goes_on_is_joined() {
        let low = "v_add_co_u32 v4, vcc, v2, v2";
        let high = "v_addc_co_u32 v5, vcc, v1, v3, vcc";
        let cases = [
            ("v_add_co_u32 v4, vcc, s8, v2", high, true),
            (
                "v_add_co_u32 v4, vcc, 7, v2",
                "v_addc_co_u32 v5, vcc, 0, v3, vcc",
                true,
            ),
            ("v_add_co_u32 v4, s[6:7], v2, v2", high, false),
            (low, "v_addc_co_u32 v5, s[6:7], v1, v3, vcc", false),
            ("v_add_co_u32_dpp v4, vcc, v2, v2 row_shr:1", high, false),
            (low, "v_subb_co_u32 v5, vcc, v1, v3, vcc", false),
        ];
        for (low, high, expected) in cases {
            if let Some(joined) = joins(Target::Gfx90a, 64, &format!("{low}\n{high}")) {
                assert_eq!(joined, expected, "{low}; {high}");
            }
        }
    }

    #[test]
    fn a_carry_that_is_also_a_source_is_not_joined() {
        let low = "v_add_co_u32 v4, vcc_lo, v2, v2";
        for (source, expected) in [("v1", true), ("vcc_lo", false)] {
            let asm = format!("{low}\nv_add_co_ci_u32_e64 v5, vcc_lo, {source}, v3, vcc_lo");
            if let Some(joined) = joins(Target::Gfx1030, 32, &asm) {
                assert_eq!(joined, expected, "{source}");
            }
        }
    }

    /// Lane values with every kind of carry: none, from the low half, through a high half of ones,
    /// out of the top.
    fn values(lane: usize) -> (u64, u64) {
        let edges = [
            0,
            1,
            0xffff_ffff,
            0x1_0000_0000,
            u64::MAX,
            0xffff_ffff_0000_0000,
            1 << 63,
        ];
        (edges[lane % 7], edges[lane / 7 % 7])
    }

    #[test]
    fn a_pair_adds_64_bits_in_active_lanes() {
        let plain = "v_add_co_u32 v4, vcc, v0, v2\nv_addc_co_u32 v5, vcc, v1, v3, vcc";
        let exec = 0xffff_ffff_0fff_fff0;
        let wave = run_snippet(Target::Gfx90a, 64, plain, |wave| {
            wave.set_exec(exec);
            wave.set_vcc(u64::MAX);
            for lane in 0..64 {
                let (a, b) = values(lane);
                let split = |v: u64| (v as u32, (v >> 32) as u32);
                for (register, value) in [split(a).0, split(a).1, split(b).0, split(b).1]
                    .into_iter()
                    .enumerate()
                {
                    wave.set_lane(register as u16, lane, value);
                }
            }
        });
        let Some(wave) = wave else { return };
        for lane in 0..64 {
            let (a, b) = values(lane);
            let active = exec >> lane & 1 != 0;
            let (sum, carry) = a.overflowing_add(b);
            let found = u64::from(wave.lane(5, lane)) << 32 | u64::from(wave.lane(4, lane));
            assert_eq!(found, if active { sum } else { 0 }, "lane {lane}");
            assert_eq!(wave.vcc() >> lane & 1 != 0, active && carry, "lane {lane}");
        }
    }

    #[test]
    fn a_carry_goes_through_three_words() {
        let asm = "v_add_co_u32 v4, vcc, v0, v2\nv_addc_co_u32 v5, vcc, v1, v3, vcc\n\
                   v_addc_co_u32 v6, vcc, 0, v6, vcc";
        let wave = run_snippet(Target::Gfx90a, 64, asm, |wave| {
            for lane in 0..64 {
                let (a, b) = values(lane);
                for (register, value) in [(0, a), (1, a >> 32), (2, b), (3, b >> 32), (6, 5)] {
                    wave.set_lane(register, lane, value as u32);
                }
            }
        });
        let Some(wave) = wave else { return };
        for lane in 0..64 {
            let (a, b) = values(lane);
            let sum = (5 << 64) + u128::from(a) + u128::from(b);
            let found = [4, 5, 6].map(|register| wave.lane(register, lane));
            let expected = [0, 32, 64].map(|shift| (sum >> shift) as u32);
            assert_eq!(found, expected, "lane {lane}");
        }
    }

    #[test]
    fn the_high_half_reads_what_the_low_half_wrote() {
        let asm = "v_add_co_u32 v1, vcc, s8, v2\nv_addc_co_u32 v3, vcc, v0, v1, vcc";
        let wave = run_snippet(Target::Gfx90a, 64, asm, |wave| {
            wave.set_scalar(8, 0xffff_fffe);
            for lane in 0..64 {
                wave.set_lane(0, lane, 100);
                wave.set_lane(2, lane, lane as u32);
            }
        });
        let Some(wave) = wave else { return };
        for lane in 0..64u32 {
            let (low, carry) = 0xffff_fffe_u32.overflowing_add(lane);
            let high = low.wrapping_add(100).wrapping_add(u32::from(carry));
            assert_eq!(wave.lane(3, lane as usize), high, "lane {lane}");
        }
    }
}
