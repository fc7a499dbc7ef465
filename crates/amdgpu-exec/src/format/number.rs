//! The numbers that the generations give formats.
//!
//! Vega, RDNA, RDNA2 and RDNA3 ISA manuals, tables of buffer and image formats. AMD names a format
//! with its highest channel first: in 2_10_10_10 the channel X is in the lowest ten bits.

use amdgpu_isa::{Family, Target};

use super::{Format, Number};

type Widths = [u8; 4];

const B8: Widths = [8, 0, 0, 0];
const B16: Widths = [16, 0, 0, 0];
const B8_8: Widths = [8, 8, 0, 0];
const B32: Widths = [32, 0, 0, 0];
const B16_16: Widths = [16, 16, 0, 0];
const B10_11_11: Widths = [11, 11, 10, 0];
const B11_11_10: Widths = [10, 11, 11, 0];
const B10_10_10_2: Widths = [2, 10, 10, 10];
const B2_10_10_10: Widths = [10, 10, 10, 2];
const B8_8_8_8: Widths = [8, 8, 8, 8];
const B32_32: Widths = [32, 32, 0, 0];
const B16_16_16_16: Widths = [16, 16, 16, 16];
const B32_32_32: Widths = [32, 32, 32, 0];
const B32_32_32_32: Widths = [32, 32, 32, 32];
const B5_6_5: Widths = [5, 6, 5, 0];
const B1_5_5_5: Widths = [5, 5, 5, 1];
const B5_5_5_1: Widths = [1, 5, 5, 5];
const B4_4_4_4: Widths = [4, 4, 4, 4];

use Number::{Float, Sint, Snorm, Srgb, Sscaled, Uint, Unorm, Uscaled};

const INTEGER: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
const SMALL: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
const WORD: &[Number] = &[Uint, Sint, Float];
const UNSCALED: &[Number] = &[Unorm, Snorm, Uint, Sint];

/// Formats in the order of their numbers, from some first number on.
type Runs = &'static [(Widths, &'static [Number])];

/// gfx10, from 1 on.
const GFX10: Runs = &[
    (B8, INTEGER),
    (B16, SMALL),
    (B8_8, INTEGER),
    (B32, WORD),
    (B16_16, SMALL),
    (B10_11_11, SMALL),
    (B11_11_10, SMALL),
    (B10_10_10_2, INTEGER),
    (B2_10_10_10, INTEGER),
    (B8_8_8_8, INTEGER),
    (B32_32, WORD),
    (B16_16_16_16, SMALL),
    (B32_32_32, WORD),
    (B32_32_32_32, WORD),
];

/// gfx11 and gfx12, from 1 on.
const GFX11: Runs = &[
    (B8, INTEGER),
    (B16, SMALL),
    (B8_8, INTEGER),
    (B32, WORD),
    (B16_16, SMALL),
    (B10_11_11, &[Float]),
    (B11_11_10, &[Float]),
    (B10_10_10_2, UNSCALED),
    (B2_10_10_10, INTEGER),
    (B8_8_8_8, INTEGER),
    (B32_32, WORD),
    (B16_16_16_16, SMALL),
    (B32_32_32, WORD),
    (B32_32_32_32, WORD),
];

/// Image formats that follow a multiple of 64, in the same order in gfx10 and gfx11.
const SRGB: Runs = &[(B8, &[Srgb]), (B8_8, &[Srgb]), (B8_8_8_8, &[Srgb])];

/// Formats of 16 bits per element, five numbers behind the sRGB formats.
const PACKED16: Runs = &[
    (B5_6_5, &[Unorm]),
    (B1_5_5_5, &[Unorm]),
    (B5_5_5_1, &[Unorm]),
    (B4_4_4_4, &[Unorm]),
];

impl Format {
    /// Format of a buffer element.
    ///
    /// `code`: MTBUF's 7-bit field (gfx9: data format in bits 3:0, number format in bits 6:4), which
    /// is also how [`amdgpu_isa::Mods`] keeps it. `None`: invalid or reserved.
    pub(crate) fn of_buffer(target: Target, code: u32) -> Option<Self> {
        match target.family() {
            Family::Gfx9 => split(code & 15, code >> 4 & 7),
            Family::Gfx10 => unified(GFX10, code.checked_sub(1)?),
            Family::Gfx11 | Family::Gfx12 => unified(GFX11, code.checked_sub(1)?),
        }
    }

    /// Format of an image's elements.
    ///
    /// `code`: the descriptor's format field; on gfx9 the data format in bits 5:0 with the number
    /// format in bits 9:6. `None`: invalid, reserved, or not a format of HIP or OpenCL (compressed,
    /// shared exponent, 4 and 1 bits, 24-bit depth).
    pub(crate) fn of_image(target: Target, code: u32) -> Option<Self> {
        if target.is_gfx9() {
            return split(code & 63, code >> 6);
        }
        let special = if target.is_gfx11_plus() { 64 } else { 128 };
        if code < special {
            return Self::of_buffer(target, code);
        }
        let code = code - special;
        unified(SRGB, code).or_else(|| {
            // gfx10 has a float format of 6E4 between the two groups.
            let first = if target.is_gfx11_plus() { 4 } else { 5 };
            unified(PACKED16, code.checked_sub(first)?)
        })
    }
}

/// The format at a position of runs.
fn unified(runs: Runs, code: u32) -> Option<Format> {
    let mut left = usize::try_from(code).ok()?;
    for (widths, numbers) in runs {
        if let Some(&number) = numbers.get(left) {
            let widths = *widths;
            return Some(Format { widths, number });
        }
        left -= numbers.len();
    }
    None
}

/// gfx9: data and number format apart.
fn split(data: u32, number: u32) -> Option<Format> {
    let widths = match data {
        1 => B8,
        2 => B16,
        3 => B8_8,
        4 => B32,
        5 => B16_16,
        6 => B10_11_11,
        7 => B11_11_10,
        8 => B10_10_10_2,
        9 => B2_10_10_10,
        10 => B8_8_8_8,
        11 => B32_32,
        12 => B16_16_16_16,
        13 => B32_32_32,
        14 => B32_32_32_32,
        16 => B5_6_5,
        17 => B1_5_5_5,
        18 => B5_5_5_1,
        19 => B4_4_4_4,
        _ => return None,
    };
    let number = match number {
        0 => Unorm,
        1 => Snorm,
        2 => Uscaled,
        3 => Sscaled,
        4 => Uint,
        5 => Sint,
        7 => Float,
        9 => Srgb,
        _ => return None,
    };
    exists(widths, number).then_some(Format { widths, number })
}

/// Combinations that gfx9 has: what the unified lists have, the formats of 16 bits as UNORM only.
fn exists(widths: Widths, number: Number) -> bool {
    let listed = |runs: Runs| {
        runs.iter()
            .any(|(have, numbers)| *have == widths && numbers.contains(&number))
    };
    listed(GFX10) || listed(SRGB) || listed(PACKED16)
}
