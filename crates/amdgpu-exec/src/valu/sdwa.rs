//! Sub-dword selection of sources and destination.

use amdgpu_isa::Sdwa;

use crate::wave::Chunk;

/// Bit position and width of a selector.
fn field(selector: u8) -> (u32, u32) {
    match selector {
        0..=3 => (u32::from(selector) * 8, 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => (0, 32),
    }
}

/// The selected part of every lane, zero- or sign-extended.
pub(super) fn select(row: &mut Chunk, selector: u8, sign_extend: bool) {
    let (shift, width) = field(selector);
    for value in &mut row.0 {
        let top = *value << (32 - shift - width);
        *value = if sign_extend {
            (top.cast_signed() >> (32 - width)).cast_unsigned()
        } else {
            top >> (32 - width)
        };
    }
}

/// Puts results into the selected part of the destination; the rest as `dst_unused` says.
pub(super) fn merge(sdwa: &Sdwa, result: &mut Chunk, old: &Chunk) {
    let (shift, width) = field(sdwa.dst_sel);
    let part = (u32::MAX >> (32 - width)) << shift;
    for (value, old) in result.0.iter_mut().zip(&old.0) {
        let placed = (*value << shift) & part;
        let up = 32 - shift - width;
        *value = match sdwa.dst_unused {
            0 => placed,
            1 => ((placed << up).cast_signed() >> up).cast_unsigned(),
            _ => placed | old & !part,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sdwa(dst_sel: u8, dst_unused: u8) -> Sdwa {
        Sdwa {
            dst_sel,
            dst_unused,
            src_sel: [6, 6],
            src_sext: [false, false],
        }
    }

    #[test]
    fn sources_select_bytes_and_words() {
        for (selector, sign, expected) in [
            (0, false, 0x84),
            (0, true, 0xffff_ff84),
            (2, true, 0x12),
            (3, true, 0xffff_ff91),
            (4, true, 0x0000_7384),
            (5, true, 0xffff_9112),
            (6, true, 0x9112_7384),
        ] {
            let mut row = Chunk::splat(0x9112_7384);
            select(&mut row, selector, sign);
            assert_eq!(row.0[5], expected, "selector {selector}");
        }
    }

    #[test]
    fn destination_pads_extends_or_preserves() {
        for (sel, unused, expected) in [
            (1, 0, 0x0000_8500),
            (1, 1, 0xffff_8500),
            (1, 2, 0x1122_8544),
            (5, 2, 0x0f85_3344),
            (4, 1, 0x0000_0f85),
            (6, 2, 0x0f85_0f85),
        ] {
            let mut row = Chunk::splat(0x0f85_0f85);
            merge(&sdwa(sel, unused), &mut row, &Chunk::splat(0x1122_3344));
            assert_eq!(row.0[31], expected, "dst_sel {sel} unused {unused}");
        }
    }
}
