//! Sizes of the area where a compute queue's waves are saved when the queue is pre-empted (CWSR).
//!
//! The formulas are the kernel's (kfd_queue.c, Linux 6.12); newer kernels publish the results as
//! `cwsr_size` and `ctl_stack_size` and refuse a queue whose area has another size.

use crate::pages::{PAGE, round_up};
use crate::topology::{GfxVersion, Node};

/// Bytes of `HsaUserContextSaveAreaHeader` at the start of each XCC's part.
const HEADER_BYTES: u64 = 40;
/// Bytes of debugger memory for a wave.
const DEBUG_BYTES_PER_WAVE: u64 = 32;
/// A gfx10 control stack must not be larger.
const GFX10_CONTROL_STACK_MAX: u64 = 0x7000;

/// The area of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SaveArea {
    /// Bytes of one XCC's part, with control stack, without debugger memory.
    pub(crate) context_bytes: u64,
    /// Bytes of one XCC's control stack.
    pub(crate) control_stack_bytes: u64,
    /// Bytes of one XCC's debugger memory.
    pub(crate) debug_bytes: u64,
    /// XCCs.
    pub(crate) xccs: u64,
}

impl SaveArea {
    /// The area for a queue on a GPU; `None` if the topology does not say enough.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        let p = &node.properties;
        let gfx = node.gfx();
        let xccs = u64::from(p.num_xcc.max(1));
        let units = u64::from(node.compute_units()) / xccs;
        if units == 0 {
            return None;
        }
        let arrays_per_engine = u64::from(p.array_count.checked_div(p.simd_arrays_per_engine)?);
        let waves = if gfx.at_least(10, 1) {
            units * 32
        } else {
            (units * 40).min(arrays_per_engine * 512)
        };
        let stack = control_stack(gfx, waves)?;
        let data = round_up(units * wave_state_bytes(gfx, p.lds_size_in_kb), PAGE)?;
        Some(Self {
            context_bytes: published(p.cwsr_size, stack + data),
            control_stack_bytes: published(p.ctl_stack_size, stack),
            debug_bytes: round_up(waves * DEBUG_BYTES_PER_WAVE, 64)?,
            xccs,
        })
    }

    /// Bytes to allocate.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        round_up(
            (self.context_bytes + self.debug_bytes).checked_mul(self.xccs)?,
            PAGE,
        )
    }

    /// Offset and words 4 and 5 of each XCC's header: where its debugger memory is, counted from
    /// the header, and how long. The save hardware fills words 0 to 3.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (u64, [u64; 2])> {
        let Self {
            context_bytes,
            debug_bytes,
            xccs,
            ..
        } = *self;
        (0..xccs).map(move |i| {
            (
                i * context_bytes,
                [(xccs - i) * context_bytes, debug_bytes * xccs],
            )
        })
    }
}

/// What the kernel publishes wins over the formula.
fn published(value: u32, formula: u64) -> u64 {
    if value == 0 {
        formula
    } else {
        u64::from(value)
    }
}

fn control_stack(gfx: GfxVersion, waves: u64) -> Option<u64> {
    let bytes_per_wave = if gfx.at_least(10, 1) { 12 } else { 8 };
    let size = round_up(waves * bytes_per_wave + 8 + HEADER_BYTES, PAGE)?;
    Some(if gfx.major == 10 {
        size.min(GFX10_CONTROL_STACK_MAX)
    } else {
        size
    })
}

/// Bytes of registers and LDS of one compute unit.
fn wave_state_bytes(gfx: GfxVersion, lds_kib: u32) -> u64 {
    let vgpr: u64 = match (gfx.major, gfx.minor, gfx.stepping) {
        (9, 0, 8 | 10) | (9, 4 | 5, _) => 0x8_0000,
        (11, 0, 0 | 1) | (12, 0, 0 | 1) => 0x6_0000,
        _ => 0x4_0000,
    };
    let lds = if gfx.major == 9 && gfx.minor == 5 {
        u64::from(lds_kib) << 10
    } else {
        0x1_0000
    };
    let (sgpr, hardware) = (0x4000, 0x1000);
    vgpr + sgpr + lds + hardware
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::NodeProperties;

    fn node(gfx: u32, simds: u32, per_cu: u32, arrays: u32, per_engine: u32, xccs: u32) -> Node {
        let properties = NodeProperties {
            gfx_target_version: gfx,
            simd_count: simds,
            simd_per_cu: per_cu,
            array_count: arrays,
            simd_arrays_per_engine: per_engine,
            num_xcc: xccs,
            lds_size_in_kb: 64,
            ..NodeProperties::default()
        };
        Node {
            properties,
            ..Node::default()
        }
    }

    /// What AMD's runtimes were seen to send, and the sysfs values of a real gfx1201.
    #[test]
    fn sizes_are_those_of_amd() {
        let cases = [
            (node(90010, 416, 4, 8, 1, 1), 0x3c9_1000, 0x9000),
            (node(90402, 1216, 4, 32, 1, 8), 0x162_1000, 0x3000),
            (node(100_300, 160, 2, 8, 2, 1), 0x1a9_7000, 0x7000),
            (node(110_000, 192, 2, 12, 2, 1), 0x2be_a000, 0xa000),
            (node(120_001, 128, 2, 8, 2, 1), 30_699_520, 28672),
        ];
        for (node, context, stack) in cases {
            let area = SaveArea::of(&node).unwrap();
            let found = (area.context_bytes, area.control_stack_bytes);
            assert_eq!(found, (context, stack), "{}", node.gfx());
        }
    }

    #[test]
    fn eight_xccs_have_one_part_each() {
        let area = SaveArea::of(&node(90402, 1216, 4, 32, 1, 8)).unwrap();
        assert_eq!(area.total_bytes(), Some(0xb16_7000));
        let headers: Vec<_> = area.headers().collect();
        assert_eq!(headers.len(), 8);
        assert_eq!(headers[0], (0, [8 * 0x162_1000, area.debug_bytes * 8]));
        assert_eq!(
            headers[7],
            (7 * 0x162_1000, [0x162_1000, area.debug_bytes * 8])
        );
    }

    #[test]
    fn published_sizes_win() {
        let mut node = node(120_001, 128, 2, 8, 2, 1);
        node.properties.cwsr_size = 0x200_0000;
        node.properties.ctl_stack_size = 0x8000;
        let area = SaveArea::of(&node).unwrap();
        assert_eq!(
            (area.context_bytes, area.control_stack_bytes),
            (0x200_0000, 0x8000)
        );
    }

    #[test]
    fn a_node_without_compute_units_has_no_area() {
        assert_eq!(SaveArea::of(&Node::default()), None);
    }
}
