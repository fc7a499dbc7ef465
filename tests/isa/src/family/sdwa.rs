//! SDWA (gfx9 and gfx10): bytes and halves as sources and destinations.

use super::valu::SOME_LANES;
use crate::case::Cases;
use crate::state::State;

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    if cases.target.is_gfx11_plus() {
        return;
    }
    cases.family("SDWA");
    let add = if cases.target.is_rdna() {
        "v_add_nc_u32_sdwa"
    } else {
        "v_add_u32_sdwa"
    };
    for first in SELECTORS {
        for second in SELECTORS {
            for extended in [false, true] {
                add_sources(cases, add, first, second, extended);
            }
        }
        for unused in ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"] {
            add_destination(cases, add, first, unused);
        }
    }
}

/// Name, first bit and width.
type Selector = (&'static str, u32, u32);

const SELECTORS: [Selector; 7] = [
    ("BYTE_0", 0, 8),
    ("BYTE_1", 8, 8),
    ("BYTE_2", 16, 8),
    ("BYTE_3", 24, 8),
    ("WORD_0", 0, 16),
    ("WORD_1", 16, 16),
    ("DWORD", 0, 32),
];

fn select(value: u32, (_, first, width): Selector, signed: bool) -> u32 {
    let up = value << (32 - width - first);
    if signed {
        (up.cast_signed() >> (32 - width)).cast_unsigned()
    } else {
        up >> (32 - width)
    }
}

fn each_lane(cases: &mut Cases, asm: &str, compute: impl Fn(u32, u32, u32) -> u32) {
    let mut before = State::new();
    before.exec = SOME_LANES;
    cases.add("", asm, before, |state, _| {
        for lane in (0..64).filter(|lane| SOME_LANES >> lane & 1 != 0) {
            let [a, b, old] = [0, 2, 8].map(|register| state.v[register][lane]);
            state.v[8][lane] = compute(a, b, old);
        }
    });
}

fn add_sources(cases: &mut Cases, add: &str, first: Selector, second: Selector, extended: bool) {
    let source = if extended { "sext(v0)" } else { "v0" };
    let asm = format!(
        "{add} v8, {source}, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{} src1_sel:{}",
        first.0, second.0
    );
    each_lane(cases, &asm, |a, b, _| {
        select(a, first, extended).wrapping_add(select(b, second, false))
    });
}

fn add_destination(cases: &mut Cases, add: &str, selector: Selector, unused: &str) {
    let asm = format!(
        "{add} v8, v0, v2 dst_sel:{} dst_unused:{unused} src0_sel:DWORD src1_sel:DWORD",
        selector.0
    );
    let (_, first, width) = selector;
    each_lane(cases, &asm, |a, b, old| {
        let field = (u32::MAX >> (32 - width)) << first;
        let placed = a.wrapping_add(b) << first & field;
        match unused {
            "UNUSED_PRESERVE" => placed | old & !field,
            // Copies of the sign above the field, zeros below it.
            "UNUSED_SEXT" => (select(placed, selector, true)) << first,
            _ => placed,
        }
    });
}
