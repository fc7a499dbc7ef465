//! Movement between lanes: DPP, DPP8, permutes, swizzles, single lanes, counts of lower lanes.

use super::valu::SOME_LANES;
use crate::arch::{self, CDNA, GFX9, GFX10_ON, Set};
use crate::case::Cases;
use crate::state::State;

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("DPP");
    let target = cases.target;
    for control in CONTROLS.iter().filter(|c| c.on.has(target)) {
        for amount in control.amounts {
            add_dpp(cases, control, *amount);
        }
    }
    if cases.target.is_rdna() {
        add_dpp8(cases);
    }
    cases.family("single lanes");
    add_single(cases);
    cases.family("permutes");
    add_permutes(cases);
    add_swizzles(cases);
}

/// A DPP control: the lane that a lane reads, or none.
struct Control {
    /// Text; `#` is the amount.
    text: &'static str,
    on: Set,
    amounts: &'static [usize],
    source: fn(usize, usize) -> Option<usize>,
}

const fn control(
    text: &'static str,
    on: Set,
    amounts: &'static [usize],
    source: fn(usize, usize) -> Option<usize>,
) -> Control {
    Control {
        text,
        on,
        amounts,
        source,
    }
}

/// A lane of the same row of 16.
fn in_row(lane: usize, place: usize) -> Option<usize> {
    (place < 16).then_some(lane / 16 * 16 + place)
}

/// ISA manuals, "DPP_CTRL enumeration".
const CONTROLS: [Control; 16] = [
    control("quad_perm:[3,2,1,0]", arch::ALL, &[0], |l, _| Some(l ^ 3)),
    control("quad_perm:[1,1,3,2]", arch::ALL, &[0], |l, _| {
        Some(l / 4 * 4 + [1, 1, 3, 2][l % 4])
    }),
    control("row_shl:#", arch::ALL, &[1, 7, 15], |l, n| {
        in_row(l, l % 16 + n)
    }),
    control("row_shr:#", arch::ALL, &[1, 7, 15], |l, n| {
        (l % 16).checked_sub(n).and_then(|place| in_row(l, place))
    }),
    control("row_ror:#", arch::ALL, &[1, 7, 15], |l, n| {
        in_row(l, (l + 16 - n) % 16)
    }),
    control("row_mirror", arch::ALL, &[0], |l, _| Some(l ^ 15)),
    control("row_half_mirror", arch::ALL, &[0], |l, _| Some(l ^ 7)),
    control("wave_shl:1", GFX9, &[0], |l, _| (l < 63).then_some(l + 1)),
    control("wave_rol:1", GFX9, &[0], |l, _| Some((l + 1) % 64)),
    control("wave_shr:1", GFX9, &[0], |l, _| l.checked_sub(1)),
    control("wave_ror:1", GFX9, &[0], |l, _| Some((l + 63) % 64)),
    control("row_bcast:15", GFX9, &[0], |l, _| {
        (l / 16 * 16).checked_sub(1)
    }),
    control("row_bcast:31", GFX9, &[0], |l, _| (l >= 32).then_some(31)),
    control("row_newbcast:#", CDNA, &[0, 9, 15], in_row),
    control("row_share:#", GFX10_ON, &[0, 9, 15], in_row),
    control("row_xmask:#", GFX10_ON, &[1, 6, 15], |l, n| Some(l ^ n)),
];

/// How the instruction treats masks, the edge and inactive lanes.
struct Policy {
    exec: u64,
    rows: u32,
    banks: u32,
    zero: bool,
    fetches_inactive: bool,
}

fn policies(rdna: bool) -> Vec<Policy> {
    let policy = |exec, rows, banks, zero| Policy {
        exec,
        rows,
        banks,
        zero,
        fetches_inactive: false,
    };
    let mut all = vec![
        policy(u64::MAX, 0xf, 0xf, false),
        policy(SOME_LANES, 0xf, 0xf, false),
        policy(SOME_LANES, 0xf, 0xf, true),
        policy(u64::MAX, 0xa, 0x5, false),
    ];
    if rdna {
        all.push(Policy {
            fetches_inactive: true,
            ..policy(SOME_LANES, 0xf, 0xf, false)
        });
    }
    all
}

fn add_dpp(cases: &mut Cases, control: &Control, amount: usize) {
    let add = if cases.target.is_rdna() {
        "v_add_nc_u32_dpp"
    } else {
        "v_add_u32_dpp"
    };
    for policy in policies(cases.target.is_rdna()) {
        let text = control.text.replace('#', &amount.to_string());
        let mut asm = format!(
            "{add} v8, v0, v2 {text} row_mask:{:#x} bank_mask:{:#x}",
            policy.rows, policy.banks
        );
        asm += if policy.zero { " bound_ctrl:1" } else { "" };
        asm += if policy.fetches_inactive { " fi:1" } else { "" };
        let mut before = State::new();
        before.exec = policy.exec;
        let note = format!("exec {:#x}", policy.exec);
        cases.add(&note, asm, before.clone(), |state, _| {
            for lane in 0..64 {
                let enabled = policy.rows >> (lane / 16) & 1 != 0
                    && policy.banks >> (lane / 4 % 4) & 1 != 0
                    && before.active(lane);
                let source = (control.source)(lane, amount)
                    .filter(|source| policy.fetches_inactive || before.active(*source));
                let moved = match source {
                    Some(source) => before.v[0][source],
                    None if policy.zero => 0,
                    None => continue,
                };
                if enabled {
                    state.v[8][lane] = moved.wrapping_add(before.v[2][lane]);
                }
            }
        });
    }
}

fn add_dpp8(cases: &mut Cases) {
    for places in [
        [7, 6, 5, 4, 3, 2, 1, 0],
        [1, 2, 3, 4, 5, 6, 7, 0],
        [0, 0, 5, 5, 2, 7, 7, 1],
    ] {
        for (exec, fetches, suffix) in [
            (u64::MAX, false, ""),
            (SOME_LANES, false, ""),
            (SOME_LANES, true, " fi:1"),
        ] {
            let list = places.map(|place: usize| place.to_string()).join(",");
            let asm = format!("v_xor_b32_dpp v8, v0, v2 dpp8:[{list}]{suffix}");
            let mut before = State::new();
            before.exec = exec;
            let note = format!("exec {exec:#x}");
            cases.add(&note, asm, before.clone(), |state, _| {
                for lane in (0..64).filter(|lane| before.active(*lane)) {
                    let source = lane / 8 * 8 + places[lane % 8];
                    // An inactive source is zero, as DPP8 has no bound control.
                    let readable = fetches || before.active(source);
                    let moved = if readable { before.v[0][source] } else { 0 };
                    state.v[8][lane] = moved ^ before.v[2][lane];
                }
            });
        }
    }
}

fn add_single(cases: &mut Cases) {
    for (exec, first) in [
        (u64::MAX, 0),
        (SOME_LANES, 0),
        (1 << 41, 41),
        (0x30 << 32, 36),
        (0, 0),
    ] {
        let mut before = State::new();
        before.exec = exec;
        let note = format!("exec {exec:#x}");
        let value = before.v[0][first];
        cases.add(
            &note,
            "v_readfirstlane_b32 s16, v0",
            before.clone(),
            |state, _| {
                state.set_sgpr(16, value);
            },
        );
        for lane in [0usize, 17, 63, 64 + 9] {
            let mut before = before.clone();
            before.set_sgpr(17, u32::try_from(lane).unwrap_or(0));
            let lane = lane % 64;
            let note = format!("exec {exec:#x}, lane {lane}");
            let value = before.v[0][lane];
            cases.add(
                &note,
                "v_readlane_b32 s16, v0, s17",
                before.clone(),
                |state, _| {
                    state.set_sgpr(16, value);
                },
            );
            cases.add(&note, "v_writelane_b32 v8, 42, s17", before, |state, _| {
                state.v[8][lane] = 42;
            });
        }
        let asm = "v_mbcnt_lo_u32_b32 v8, s16, v0\nv_mbcnt_hi_u32_b32 v9, s17, v0";
        cases.add(&note, asm, before, |state, _| {
            for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
                let below = (1u64 << lane) - 1;
                let [low, high] = [16, 17].map(|register| u64::from(state.sgpr(register)));
                let base = state.v[0][lane];
                state.v[8][lane] = base.wrapping_add((low & below).count_ones());
                state.v[9][lane] = base.wrapping_add((high << 32 & below).count_ones());
            }
        });
    }
}

/// Lanes that a permute through LDS hardware can reach: gfx9 the wave, later half of a wave64.
fn reach(cases: &Cases) -> usize {
    if cases.target.is_rdna() { 32 } else { 64 }
}

fn add_permutes(cases: &mut Cases) {
    let reach = reach(cases);
    for exec in [u64::MAX, SOME_LANES] {
        for offset in [0, 4, 128] {
            let mut before = State::new();
            before.exec = exec;
            // A permutation of the lanes within reach, with noise that the unit ignores.
            for lane in 0..64u32 {
                before.v[0][lane as usize] = (lane.wrapping_mul(13) & 63) << 2 | 3 | 0x1_0000;
            }
            let target = |state: &State, lane: usize| {
                let place = (state.v[0][lane] as usize + offset) / 4 % reach;
                lane / reach * reach + place
            };
            let note = format!("exec {exec:#x}");
            let asm = format!("ds_bpermute_b32 v8, v0, v2 offset:{offset}\n{WAIT}");
            cases.add(&note, asm, before.clone(), |state, _| {
                for lane in (0..64).filter(|lane| before.active(*lane)) {
                    let source = target(&before, lane);
                    let readable = before.active(source);
                    state.v[8][lane] = if readable { before.v[2][source] } else { 0 };
                }
            });
            let asm = format!("ds_permute_b32 v8, v0, v2 offset:{offset}\n{WAIT}");
            cases.add(&note, asm, before.clone(), |state, _| {
                for lane in (0..64).filter(|lane| before.active(*lane)) {
                    state.v[8][lane] = 0;
                }
                for lane in (0..64).filter(|lane| before.active(*lane)) {
                    let place = target(&before, lane);
                    if before.active(place) {
                        state.v[8][place] = before.v[2][lane];
                    }
                }
            });
        }
    }
}

const WAIT: &str = "s_waitcnt lgkmcnt(0)";

/// Offset bit 15: quads are permuted; else a lane is `(lane & and | or) ^ xor` within 32 (ISA
/// manuals, DS_SWIZZLE_B32). An inactive source is zero.
fn add_swizzles(cases: &mut Cases) {
    for offset in [
        0x80e4usize,
        0x801b,
        0x8055,
        0x041f,
        0x7c1f,
        0x001f,
        0x0000,
        0x03e0,
        0x3d75,
    ] {
        for exec in [u64::MAX, SOME_LANES] {
            let mut before = State::new();
            before.exec = exec;
            let asm = format!("ds_swizzle_b32 v8, v0 offset:{offset:#x}\n{WAIT}");
            let note = format!("exec {exec:#x}");
            cases.add(&note, asm, before.clone(), |state, _| {
                for lane in (0..64).filter(|lane| before.active(*lane)) {
                    let source = if offset & 0x8000 != 0 {
                        lane / 4 * 4 + (offset >> (2 * (lane % 4)) & 3)
                    } else {
                        let place = (lane & offset | offset >> 5) ^ offset >> 10;
                        lane / 32 * 32 + (place & 31)
                    };
                    let readable = before.active(source);
                    state.v[8][lane] = if readable { before.v[0][source] } else { 0 };
                }
            });
        }
    }
}
