//! Carry chains, selection by a mask, wide multiply-add.

use super::valu::{self, Form, SOME_LANES};
use crate::arch;
use crate::case::Cases;
use crate::edge::Kind::{B32, B64};
use crate::state::low;

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("carry chains");
    for (names, reads, compute) in CHAINS {
        if let Some(name) = arch::name(names, cases.target) {
            for batch in 0..3 {
                add_chain(cases, name, reads, compute, batch);
            }
        }
    }
    for batch in 0..3 {
        add_wide(cases, batch);
        add_select(cases, batch);
    }
}

/// The exact result, of which bit 32 is the carry or borrow.
type Compute = fn(i64, i64, i64) -> i64;

const CHAINS: [(&str, bool, Compute); 6] = [
    ("v_add_co_u32", false, |a, b, _| a + b),
    ("v_sub_co_u32", false, |a, b, _| a - b),
    ("v_subrev_co_u32", false, |a, b, _| b - a),
    ("v_addc_co_u32/v_add_co_ci_u32", true, |a, b, c| a + b + c),
    ("v_subb_co_u32/v_sub_co_ci_u32", true, |a, b, c| a - b - c),
    ("v_subbrev_co_u32/v_subrev_co_ci_u32", true, |a, b, c| {
        b - a - c
    }),
];

fn form(batch: u32) -> Form<'static> {
    Form {
        batch,
        exec: if batch == 1 { SOME_LANES } else { u64::MAX },
        ..Form::PLAIN
    }
}

fn add_chain(cases: &mut Cases, name: &str, reads: bool, compute: Compute, batch: u32) {
    let (before, values) = valu::prepare(&[B32, B32], &form(batch));
    for (out, input, in_vcc) in [("vcc", "vcc", true), ("s[20:21]", "s[22:23]", false)] {
        let carry = if reads {
            format!(", {input}")
        } else {
            String::new()
        };
        let suffix = if in_vcc { "" } else { "_e64" };
        let asm = format!("{name}{suffix} v8, {out}, v0, v2{carry}");
        let mask = if in_vcc {
            before.vcc
        } else {
            before.sgpr64(22)
        };
        cases.add("", asm, before.clone(), |state, _| {
            let mut carries = 0;
            for (lane, [a, b, _]) in values.iter().enumerate() {
                let carry = i64::from(mask >> lane & 1 != 0);
                let exact = compute(a.cast_signed(), b.cast_signed(), carry).cast_unsigned();
                if before.active(lane) {
                    state.v[8][lane] = low(exact);
                    carries |= (exact >> 32 & 1) << lane;
                }
            }
            if in_vcc {
                state.vcc = carries;
            } else {
                state.set_sgpr64(20, carries);
            }
        });
    }
}

fn add_wide(cases: &mut Cases, batch: u32) {
    let (before, values) = valu::prepare(&[B32, B32, B64], &form(batch));
    let asm = "v_mad_u64_u32 v[8:9], s[20:21], v0, v2, v[4:5]";
    cases.add("", asm, before.clone(), |state, _| {
        let mut carries = 0;
        for (lane, [a, b, c]) in values.iter().enumerate() {
            let (sum, carry) = (a * b).overflowing_add(*c);
            if before.active(lane) {
                state.set_wide(8, lane, sum);
                carries |= u64::from(carry) << lane;
            }
        }
        state.set_sgpr64(20, carries);
    });
}

fn add_select(cases: &mut Cases, batch: u32) {
    let (before, values) = valu::prepare(&[B32, B32], &form(batch));
    for (asm, mask) in [
        ("v_cndmask_b32 v8, v0, v2, vcc", before.vcc),
        ("v_cndmask_b32 v8, v0, v2, s[22:23]", before.sgpr64(22)),
    ] {
        cases.add("", asm, before.clone(), |state, _| {
            for (lane, [a, b, _]) in values.iter().enumerate() {
                if before.active(lane) {
                    state.v[8][lane] = low(if mask >> lane & 1 != 0 { *b } else { *a });
                }
            }
        });
    }
}
