//! The code around a snippet: it loads the state before and stores the state after.
//!
//! Kernel arguments: addresses of the state before, the state after, and the test memory. The
//! snippet must leave `s[6:7]` and v40 alone, and finds the test memory's address in `s[8:9]`.

use amdgpu_isa::Target;

use crate::state::{State, VGPRS, high, low};

/// Bytes of a lane's registers.
const LANE_BYTES: usize = VGPRS * 4;
/// Offset of the scalars behind those of 64 lanes.
const SCALARS: usize = 64 * LANE_BYTES;
/// Bytes of a stored state.
pub(crate) const STATE_BYTES: usize = SCALARS + 128;

/// Names that differ between generations.
struct Names {
    load: [&'static str; 4],
    vector_load: &'static str,
    vector_store: &'static str,
    wait: &'static str,
}

fn names(target: Target) -> Names {
    const OLD_WAIT: &str = "s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    const NEW_WAIT: &str = "s_wait_loadcnt 0x0\ns_wait_kmcnt 0x0\n";
    if target.is_gfx11_plus() {
        Names {
            load: ["s_load_b64", "s_load_b128", "s_load_b256", "s_load_b512"],
            vector_load: "global_load_b128",
            vector_store: "global_store_b128",
            wait: if target.is_gfx12() {
                NEW_WAIT
            } else {
                OLD_WAIT
            },
        }
    } else {
        Names {
            load: [
                "s_load_dwordx2",
                "s_load_dwordx4",
                "s_load_dwordx8",
                "s_load_dwordx16",
            ],
            vector_load: "global_load_dwordx4",
            vector_store: "global_store_dwordx4",
            wait: OLD_WAIT,
        }
    }
}

/// Code that loads the state before.
pub(crate) fn prologue(target: Target) -> String {
    let n = names(target);
    let [load2, load4, load8, load16] = n.load;
    let mut text = format!(
        "{load4} s[4:7], s[0:1], 0x0\n{load2} s[8:9], s[0:1], 0x10\n{wait}\
         {load16} s[16:31], s[4:5], 0x2000\n{load8} s[32:39], s[4:5], 0x2040\n\
         v_lshlrev_b32 v40, 7, v0\n{wait}",
        wait = n.wait,
    );
    for first in (0..VGPRS).step_by(4) {
        let (last, offset) = (first + 3, first * 4);
        text += &format!(
            "{} v[{first}:{last}], v40, s[4:5] offset:{offset}\n",
            n.vector_load
        );
    }
    text += n.wait;
    text += "s_mov_b64 vcc, s[32:33]\ns_mov_b32 m0, s37\n";
    text += if target.is_gfx12() {
        "s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), s38\n"
    } else {
        "s_setreg_b32 hwreg(HW_REG_MODE, 0, 10), s38\n\
         s_lshr_b32 s39, s38, 23\ns_setreg_b32 hwreg(HW_REG_MODE, 23, 1), s39\n"
    };
    text + "s_mov_b64 exec, s[34:35]\ns_cmp_lg_u32 s36, 0\n"
}

/// Code that stores the state after and ends the wave.
pub(crate) fn epilogue(target: Target) -> String {
    let n = names(target);
    let mode = if target.is_gfx12() {
        "hwreg(HW_REG_WAVE_MODE, 0, 8)"
    } else {
        "hwreg(HW_REG_MODE, 0, 24)"
    };
    let mut text = format!(
        "s_cselect_b32 s36, 1, 0\ns_mov_b64 s[34:35], exec\ns_mov_b64 s[32:33], vcc\n\
         s_mov_b32 s37, m0\ns_getreg_b32 s38, {mode}\ns_mov_b32 s39, 0\ns_mov_b64 exec, -1\n"
    );
    for first in (0..VGPRS).step_by(4) {
        let (last, offset) = (first + 3, first * 4);
        text += &format!(
            "{} v40, v[{first}:{last}], s[6:7] offset:{offset}\n",
            n.vector_store
        );
    }
    text += "s_mov_b64 exec, 1\nv_mov_b32 v41, 0x2000\n";
    for first in (16..40).step_by(4) {
        for i in 0..4 {
            text += &format!("v_mov_b32 v{}, s{}\n", 44 + i, first + i);
        }
        let offset = (first - 16) * 4;
        text += &format!("{} v41, v[44:47], s[6:7] offset:{offset}\n", n.vector_store);
    }
    text + "s_endpgm\n"
}

/// The bytes that the prologue loads.
pub(crate) fn encode(state: &State) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(STATE_BYTES);
    for lane in 0..64 {
        bytes.extend(
            state
                .v
                .iter()
                .flat_map(|register| register[lane].to_le_bytes()),
        );
    }
    let rest = [
        low(state.vcc),
        high(state.vcc),
        low(state.exec),
        high(state.exec),
        u32::from(state.scc),
        state.m0,
        state.mode,
        0,
    ];
    let scalars = state.s.iter().chain(&rest);
    bytes.extend(scalars.flat_map(|dword| dword.to_le_bytes()));
    bytes.resize(STATE_BYTES, 0);
    bytes
}

/// The state that the epilogue stored; the test memory is not part of it.
pub(crate) fn decode(dwords: &[u32]) -> State {
    let mut state = State::new();
    for (lane, registers) in dwords[..SCALARS / 4].chunks(VGPRS).enumerate() {
        for (register, value) in registers.iter().enumerate() {
            state.v[register][lane] = *value;
        }
    }
    let scalars = &dwords[SCALARS / 4..];
    state.s.copy_from_slice(&scalars[..16]);
    let pair = |i: usize| u64::from(scalars[i]) | u64::from(scalars[i + 1]) << 32;
    (state.vcc, state.exec) = (pair(16), pair(18));
    state.scc = scalars[20] != 0;
    (state.m0, state.mode) = (scalars[21], scalars[22]);
    state
}
