//! Atomics on LDS and global memory: what they return and what they leave.

use super::valu::SOME_LANES;
use crate::case::Cases;
use crate::edge::{Kind, inputs};
use crate::state::{MEMORY, State, low};

/// Adds the family; gfx11 has other names.
pub(crate) fn add(cases: &mut Cases) {
    if cases.target.is_gfx11_plus() {
        return;
    }
    for wide in [false, true] {
        cases.family("LDS atomics");
        for op in &TABLE {
            add_local(cases, op, wide);
        }
        cases.family("global atomics");
        for op in TABLE.iter().filter(|op| !op.global.is_empty()) {
            add_global(cases, op, wide);
        }
    }
    cases.family("LDS range");
    add_range(cases);
}

/// An atomic: names on LDS and in global memory, its type's letter, whether it takes two values, and
/// what it makes of the old value, the data and the number of bits.
struct Atomic {
    local: &'static str,
    global: &'static str,
    letter: char,
    double: bool,
    compute: fn(u64, u64, u64, u32) -> u64,
}

const fn atomic(
    local: &'static str,
    global: &'static str,
    letter: char,
    compute: fn(u64, u64, u64, u32) -> u64,
) -> Atomic {
    Atomic {
        local,
        global,
        letter,
        double: false,
        compute,
    }
}

/// The value as a signed number.
fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

const TABLE: [Atomic; 15] = [
    atomic("add", "add", 'u', |old, a, _, _| old.wrapping_add(a)),
    atomic("sub", "sub", 'u', |old, a, _, _| old.wrapping_sub(a)),
    atomic("rsub", "", 'u', |old, a, _, _| a.wrapping_sub(old)),
    atomic(
        "inc",
        "inc",
        'u',
        |old, a, _, _| if old >= a { 0 } else { old + 1 },
    ),
    atomic("dec", "dec", 'u', |old, a, _, _| {
        if old == 0 || old > a { a } else { old - 1 }
    }),
    atomic("min", "smin", 'i', |old, a, _, n| {
        if signed(a, n) < signed(old, n) {
            a
        } else {
            old
        }
    }),
    atomic("max", "smax", 'i', |old, a, _, n| {
        if signed(a, n) > signed(old, n) {
            a
        } else {
            old
        }
    }),
    atomic("min", "umin", 'u', |old, a, _, _| old.min(a)),
    atomic("max", "umax", 'u', |old, a, _, _| old.max(a)),
    atomic("and", "and", 'b', |old, a, _, _| old & a),
    atomic("or", "or", 'b', |old, a, _, _| old | a),
    atomic("xor", "xor", 'b', |old, a, _, _| old ^ a),
    atomic("wrxchg", "swap", 'b', |_, a, _, _| a),
    Atomic {
        double: true,
        ..atomic("mskor", "", 'b', |old, a, b, _| old & !a | b)
    },
    Atomic {
        double: true,
        ..atomic(
            "cmpst",
            "",
            'b',
            |old, a, b, _| if old == a { b } else { old },
        )
    },
];

/// v0: byte address of each lane; `v[2:3]`, `v[4:5]`: data; `v[6:7]`: value before.
fn prepare(wide: bool) -> (State, Vec<[u64; 3]>) {
    let mut state = State::new();
    let kind = if wide { Kind::B64 } else { Kind::B32 };
    let mut values = inputs(&[kind, kind, kind], 0);
    for (lane, value) in values.iter_mut().enumerate() {
        if lane % 5 == 0 {
            // Equal values, which a compare-and-swap swaps.
            value[2] = value[0];
        }
        for (i, data) in value.iter().enumerate() {
            if wide {
                state.set_wide(2 + 2 * i, lane, *data);
            } else {
                state.v[2 + 2 * i][lane] = low(*data);
            }
        }
        state.v[0][lane] = u32::try_from(lane * 8).unwrap_or(0);
    }
    (state, values)
}

fn registers(first: usize, wide: bool) -> String {
    if wide {
        format!("v[{first}:{}]", first + 1)
    } else {
        format!("v{first}")
    }
}

fn set(state: &mut State, register: usize, lane: usize, wide: bool, value: u64) {
    if wide {
        state.set_wide(register, lane, value);
    } else {
        state.v[register][lane] = low(value);
    }
}

fn add_local(cases: &mut Cases, op: &Atomic, wide: bool) {
    let (mut before, values) = prepare(wide);
    before.exec = SOME_LANES;
    let bits = if wide { 64 } else { 32 };
    let [d2, d4, d6, d8, d10] = [2, 4, 6, 8, 10].map(|first| registers(first, wide));
    let second = if op.double {
        format!(", {d4}")
    } else {
        String::new()
    };
    for returns in [true, false] {
        if !returns && op.local == "wrxchg" {
            continue;
        }
        let name = format!(
            "ds_{}{}_{}{bits}",
            op.local,
            if returns { "_rtn" } else { "" },
            op.letter
        );
        let result = if returns {
            format!("{d8}, ")
        } else {
            String::new()
        };
        let asm = format!(
            "ds_write_b{bits} v0, {d6} offset:64\n{name} {result}v0, {d2}{second} offset:64\n\
             ds_read_b{bits} {d10}, v0 offset:64\ns_waitcnt lgkmcnt(0)"
        );
        cases.add("", asm, before.clone(), |state, _| {
            for (lane, [a, b, old]) in values.iter().enumerate() {
                if before.active(lane) {
                    if returns {
                        set(state, 8, lane, wide, *old);
                    }
                    set(state, 10, lane, wide, (op.compute)(*old, *a, *b, bits));
                }
            }
        });
    }
}

fn add_global(cases: &mut Cases, op: &Atomic, wide: bool) {
    let (mut before, values) = prepare(wide);
    before.exec = SOME_LANES;
    before.memory = vec![0x5555_aaaa; MEMORY];
    for (lane, [.., old]) in values.iter().enumerate() {
        store(&mut before.memory, lane, wide, *old);
    }
    let bits = if wide { 64 } else { 32 };
    let returning = if cases.target.is_gfx940() {
        "sc0"
    } else {
        "glc"
    };
    let name = format!(
        "global_atomic_{}{}",
        op.global,
        if wide { "_x2" } else { "" }
    );
    for returns in [true, false] {
        let (result, flag) = if returns {
            (format!("{}, ", registers(8, wide)), returning)
        } else {
            (String::new(), "")
        };
        let data = registers(2, wide);
        let asm = format!("{name} {result}v0, {data}, s[8:9] {flag}\ns_waitcnt vmcnt(0)");
        cases.add("", asm, before.clone(), |state, _| {
            for (lane, [a, b, old]) in values.iter().enumerate() {
                if before.active(lane) {
                    if returns {
                        set(state, 8, lane, wide, *old);
                    }
                    let new = (op.compute)(*old, *a, *b, bits);
                    store(&mut state.memory, lane, wide, new);
                }
            }
        });
    }
}

/// Writes the memory of a lane.
fn store(memory: &mut [u32], lane: usize, wide: bool, value: u64) {
    memory[2 * lane] = low(value);
    if wide {
        memory[2 * lane + 1] = low(value >> 32);
    }
}

/// Beyond the 4096 bytes of the group: reads give zero, writes vanish (ISA manuals, "LDS
/// out-of-range").
fn add_range(cases: &mut Cases) {
    for (address, inside) in [
        (4092u32, true),
        (4096, false),
        (0x8000_0000, false),
        (u32::MAX - 3, false),
    ] {
        let mut before = State::new();
        before.v[0] = [address; 64];
        before.exec = 1 << 7;
        let asm = "ds_write_b32 v0, v2\nds_read_b32 v8, v0\ns_waitcnt lgkmcnt(0)";
        cases.add(&format!("{address:#x}"), asm, before, |state, _| {
            state.v[8][7] = if inside { state.v[2][7] } else { 0 };
        });
    }
}
