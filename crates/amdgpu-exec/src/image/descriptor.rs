//! Image descriptors: eight dwords, placed differently by every generation.
//!
//! Fields: the ISA manuals' tables of image resource definitions; strides of linear images: AMD's
//! address library (rows of whole 256 bytes unless the descriptor has a pitch).

use amdgpu_isa::{Dim, Family, Operand, Target, scalar};

use super::{Refused, Result};
use crate::format::{Format, Select};
use crate::step::Step;
use crate::wave::Wave;

/// An image as its descriptor describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image {
    pub(super) base: u64,
    pub(super) format: Format,
    pub(super) select: Select,
    pub(super) dim: Dim,
    /// Texels in x, y and z; z counts slices of arrays. Dimensions that the type lacks are 1.
    pub(super) size: [u32; 3],
    /// Slices before the view's first one.
    pub(super) first_slice: u32,
    /// Bytes from row to row.
    pub(super) pitch: u64,
}

impl Image {
    /// Bytes from slice to slice.
    pub(super) const fn slice(&self) -> u64 {
        self.pitch * self.size[1] as u64
    }
}

/// Reads the descriptor of a step; `None` if it is all zeros, which is an image without texels.
pub(super) fn read(wave: &Wave, step: &Step) -> Result<Option<Image>> {
    let words = words::<8>(wave, step.inst.src[2]);
    if words == [0; 8] {
        return Ok(None);
    }
    Fields {
        words,
        target: wave.target,
    }
    .image()
    .map(Some)
}

/// SGPRs of an operand; NULL is a descriptor of zeros.
pub(super) fn words<const N: usize>(wave: &Wave, operand: Operand) -> [u32; N] {
    let mut words = [0; N];
    if let Operand::Scalar(first) = operand
        && first != scalar::NULL
    {
        for (index, word) in (first..).zip(&mut words) {
            *word = wave.scalar(index);
        }
    }
    words
}

struct Fields {
    words: [u32; 8],
    target: Target,
}

/// Bits `high..=low` of a word.
const fn bits(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

impl Fields {
    fn image(&self) -> Result<Image> {
        self.check()?;
        let dim = self.dim()?;
        let format = self.format()?;
        let (width, height) = self.extent();
        let size = match dim {
            Dim::D1 => [width, 1, 1],
            Dim::D2 => [width, height, 1],
            Dim::D1Array => [width, 1, self.slices()],
            Dim::D3 => [width, height, self.depth() + 1],
            _ => [width, height, self.slices()],
        };
        let first_slice = match dim {
            Dim::D1Array | Dim::D2Array => self.first_slice(),
            _ => 0,
        };
        Ok(Image {
            base: u64::from(self.words[0]) << 8 | u64::from(self.words[1] & 0xff) << 40,
            format,
            select: Select::from_word(self.words[3]),
            dim,
            size,
            first_slice,
            pitch: self.pitch(dim, width, format),
        })
    }

    /// Refuses tilings, compression and levels.
    fn check(&self) -> Result<()> {
        let swizzle = bits(self.words[3], 24, 20);
        if swizzle != 0 {
            let name = swizzle_name(self.target, swizzle);
            return Refused::unsupported(format!("swizzle mode {name} (only linear images)"));
        }
        if bits(self.words[6], 21, 21) != 0 {
            return Refused::unsupported("compressed image");
        }
        let (first, last) = self.levels();
        if (first, last) != (0, 0) {
            return Refused::unsupported(format!("image with levels {first} to {last}"));
        }
        Ok(())
    }

    const fn levels(&self) -> (u32, u32) {
        if self.target.is_gfx12() {
            (bits(self.words[1], 29, 25), bits(self.words[3], 19, 15))
        } else {
            (bits(self.words[3], 15, 12), bits(self.words[3], 19, 16))
        }
    }

    fn dim(&self) -> Result<Dim> {
        Ok(match bits(self.words[3], 31, 28) {
            8 => Dim::D1,
            9 => Dim::D2,
            10 => Dim::D3,
            12 => Dim::D1Array,
            13 => Dim::D2Array,
            11 => return Refused::unsupported("cube image"),
            14 | 15 => return Refused::unsupported("multisampled image"),
            other => return Refused::unsupported(format!("image descriptor of type {other}")),
        })
    }

    fn format(&self) -> Result<Format> {
        let word = self.words[1];
        let code = match self.target.family() {
            Family::Gfx9 => bits(word, 29, 20),
            Family::Gfx10 => bits(word, 28, 20),
            Family::Gfx11 => bits(word, 27, 20),
            Family::Gfx12 => bits(word, 24, 17),
        };
        Format::of_image(self.target, code)
            .ok_or_else(|| Refused::Unsupported(format!("image format {code}")))
    }

    const fn extent(&self) -> (u32, u32) {
        let (low, word) = (bits(self.words[1], 31, 30), self.words[2]);
        match self.target.family() {
            Family::Gfx9 => (bits(word, 13, 0) + 1, bits(word, 27, 14) + 1),
            Family::Gfx10 | Family::Gfx11 => {
                ((low | bits(word, 11, 0) << 2) + 1, bits(word, 27, 14) + 1)
            }
            Family::Gfx12 => ((low | bits(word, 13, 0) << 2) + 1, bits(word, 29, 14) + 1),
        }
    }

    /// Depth less one, or the last slice of an array.
    const fn depth(&self) -> u32 {
        if self.target.is_gfx12() {
            bits(self.words[4], 13, 0)
        } else {
            bits(self.words[4], 12, 0)
        }
    }

    const fn first_slice(&self) -> u32 {
        match self.target.family() {
            Family::Gfx9 => bits(self.words[5], 12, 0),
            Family::Gfx10 | Family::Gfx11 => bits(self.words[4], 28, 16),
            Family::Gfx12 => bits(self.words[4], 29, 16),
        }
    }

    const fn slices(&self) -> u32 {
        (self.depth() + 1).saturating_sub(self.first_slice())
    }

    /// Row pitch in bytes. From gfx10 on only images of one slice have a field for it.
    fn pitch(&self, dim: Dim, width: u32, format: Format) -> u64 {
        let bytes = format.bytes() as u64;
        let packed = (u64::from(width) * bytes).next_multiple_of(256);
        let single = matches!(dim, Dim::D1 | Dim::D2);
        let field = match self.target.family() {
            Family::Gfx9 => return (u64::from(bits(self.words[4], 28, 13)) + 1) * bytes,
            Family::Gfx10 | Family::Gfx11 => bits(self.words[4], 13, 0),
            Family::Gfx12 => bits(self.words[4], 15, 0),
        };
        if single && field != 0 {
            (u64::from(field) + 1) * bytes
        } else {
            packed
        }
    }
}

fn swizzle_name(target: Target, mode: u32) -> String {
    const GFX12: [&str; 8] = [
        "LINEAR", "256B_2D", "4KB_2D", "64KB_2D", "256KB_2D", "4KB_3D", "64KB_3D", "256KB_3D",
    ];
    const KINDS: [char; 4] = ['Z', 'S', 'D', 'R'];
    let kind = KINDS[(mode & 3) as usize];
    match mode {
        _ if target.is_gfx12() => GFX12
            .get(mode as usize)
            .map_or_else(|| mode.to_string(), |name| (*name).to_owned()),
        0..4 => format!("256B_{kind}"),
        4..8 => format!("4KB_{kind}"),
        8..12 => format!("64KB_{kind}"),
        16..20 => format!("64KB_{kind}_T"),
        20..24 => format!("4KB_{kind}_X"),
        24..28 => format!("64KB_{kind}_X"),
        28..32 if target.is_rdna() => format!("256KB_{kind}_X"),
        _ => mode.to_string(),
    }
}
