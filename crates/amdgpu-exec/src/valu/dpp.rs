//! Lane movement of source 0 before the operation.

use amdgpu_isa::{Dpp, Target};

use crate::wave::{CHUNK_LANES, Chunk, Wave};

/// For every lane of the wave: the lane it reads and whether it may be written.
pub(super) struct Movement {
    /// Source lane; only meaningful where `valid` is set.
    source: [u8; 64],
    /// Lanes with a readable source lane.
    valid: u64,
    /// Lanes that may be written.
    pub(super) write: u64,
}

/// Works out the movement for the current EXEC.
pub(super) fn movement(dpp: Dpp, wave: &Wave) -> Movement {
    let lanes = wave.lanes();
    let exec = wave.exec();
    let mut result = Movement {
        source: [0; 64],
        valid: 0,
        write: 0,
    };
    let (fetch_inactive, zero_invalid) = match dpp {
        Dpp::Dpp16 {
            fetch_inactive,
            bound_ctrl,
            ..
        } => (fetch_inactive, bound_ctrl),
        // An inactive source lane reads as zero; no lane is disabled.
        Dpp::Dpp8 { fetch_inactive, .. } => (fetch_inactive, true),
    };
    for lane in 0..lanes {
        let Some(source) = source_lane(dpp, lane, lanes, wave.target) else {
            continue;
        };
        result.source[lane] = source.to_le_bytes()[0];
        if fetch_inactive || exec >> source & 1 == 1 {
            result.valid |= 1 << lane;
        }
    }
    result.write = if zero_invalid { u64::MAX } else { result.valid };
    if let Dpp::Dpp16 {
        row_mask,
        bank_mask,
        ..
    } = dpp
    {
        result.write &= row_and_bank(row_mask, bank_mask);
    }
    result
}

/// Lanes whose row (16 lanes) and bank (4 lanes of the row) are enabled.
fn row_and_bank(row_mask: u8, bank_mask: u8) -> u64 {
    (0..64)
        .filter(|lane| row_mask >> (lane / 16) & 1 == 1 && bank_mask >> (lane / 4 % 4) & 1 == 1)
        .fold(0, |mask, lane| mask | 1 << lane)
}

/// Lane that `lane` reads, `None` if it lies outside of the row or wave. DPP_CTRL codes as in the
/// ISA manuals ("DPP_CTRL enumeration").
fn source_lane(dpp: Dpp, lane: usize, lanes: usize, target: Target) -> Option<usize> {
    let ctrl = match dpp {
        Dpp::Dpp16 { ctrl, .. } => usize::from(ctrl),
        Dpp::Dpp8 { selectors, .. } => {
            let selector = selectors >> (lane % 8 * 3) & 7;
            return Some(lane / 8 * 8 + selector as usize);
        }
    };
    let row = lane & !15;
    let in_row = lane & 15;
    let gfx9 = target.is_gfx9();
    match ctrl {
        0..=0xff => Some((lane & !3) + (ctrl >> (lane % 4 * 2) & 3)),
        0x101..=0x10f => Some(in_row + (ctrl & 15))
            .filter(|l| *l < 16)
            .map(|l| row + l),
        0x111..=0x11f => in_row.checked_sub(ctrl & 15).map(|l| row + l),
        0x121..=0x12f => Some(row + (in_row + 16 - (ctrl & 15)) % 16),
        0x130 if gfx9 => Some(lane + 1).filter(|l| *l < lanes),
        0x134 if gfx9 => Some((lane + 1) % lanes),
        0x138 if gfx9 => lane.checked_sub(1),
        0x13c if gfx9 => Some((lane + lanes - 1) % lanes),
        0x140 => Some(row + 15 - in_row),
        0x141 => Some((lane & !7) + 7 - lane % 8),
        0x142 if gfx9 => row.checked_sub(1),
        0x143 if gfx9 => (lane & !31).checked_sub(1),
        // row_newbcast on gfx90a, row_share on gfx10.
        0x150..=0x15f => Some(row + (ctrl & 15)),
        0x160..=0x16f if !gfx9 => Some(row + (in_row ^ (ctrl & 15))),
        _ => None,
    }
}

impl Movement {
    /// The moved register whose first chunk is `base`, in the lanes of chunk `chunk`; lanes without
    /// a source read zero.
    pub(super) fn gather(&self, wave: &Wave, base: usize, chunk: usize) -> Chunk {
        let mut out = Chunk::ZERO;
        for lane in 0..CHUNK_LANES {
            let global = chunk * CHUNK_LANES + lane;
            if self.valid >> global & 1 == 1 {
                let source = usize::from(self.source[global]);
                out.0[lane] = wave.chunk(base + source / CHUNK_LANES).0[source % CHUNK_LANES];
            }
        }
        out
    }
}
