//! Sampler descriptors: four dwords, alike on all generations.

use super::descriptor::words;
use super::{Refused, Result};
use crate::step::Step;
use crate::wave::Wave;

/// What a coordinate outside the image means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wrap {
    /// Repeats the image.
    Repeat,
    /// Repeats it, every other copy mirrored.
    Mirror,
    /// The nearest texel.
    Edge,
    /// Mirrored around zero, then the nearest texel.
    MirrorOnceEdge,
    /// The border colour.
    Border,
    /// Mirrored around zero, then the border colour.
    MirrorOnceBorder,
}

/// Colour outside the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Border {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

/// A sampler as its descriptor describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampler {
    pub(super) wrap: [Wrap; 3],
    /// Coordinates count texels.
    pub(super) unnormalised: bool,
    /// Comparison of the reference with a texel, as the hardware numbers them.
    pub(super) compare: u32,
    /// Linear filter in x and y when the image is magnified and minified.
    pub(super) linear: [bool; 2],
    /// Linear filter in z.
    pub(super) linear_z: Option<bool>,
    /// A bias added to the level of detail, in 1/256.
    pub(super) bias: i32,
    pub(super) border: Border,
}

/// Reads the sampler of a step.
pub(super) fn read(wave: &Wave, step: &Step) -> Result<Sampler> {
    let [clamps, _, filters, colour] = words::<4>(wave, step.inst.src[3]);
    let filter = |low: u32| filters >> low & 3;
    // Anisotropic filters of one sample are the plain ones.
    if clamps >> 9 & 7 != 0 && (filter(20) | filter(22)) & 2 != 0 {
        return Refused::unsupported("anisotropic filter");
    }
    if clamps >> 29 & 3 != 0 {
        return Refused::unsupported("filter that takes least or greatest texels");
    }
    Ok(Sampler {
        wrap: [
            wrap(clamps & 7)?,
            wrap(clamps >> 3 & 7)?,
            wrap(clamps >> 6 & 7)?,
        ],
        unnormalised: clamps >> 15 & 1 != 0,
        compare: clamps >> 12 & 7,
        linear: [filter(20) & 1 != 0, filter(22) & 1 != 0],
        linear_z: match filter(24) {
            0 => None,
            code => Some(code == 2),
        },
        bias: bias(wave, filters),
        border: border(colour >> 30)?,
    })
}

/// gfx9 and gfx12 have a bias of 14 bits; what gfx10 and gfx11 have there is a border's address.
fn bias(wave: &Wave, word: u32) -> i32 {
    if wave.target.is_gfx9() || wave.target.is_gfx12() {
        (word << 18).cast_signed() >> 18
    } else {
        0
    }
}

fn wrap(code: u32) -> Result<Wrap> {
    Ok(match code {
        0 => Wrap::Repeat,
        1 => Wrap::Mirror,
        2 => Wrap::Edge,
        3 => Wrap::MirrorOnceEdge,
        6 => Wrap::Border,
        7 => Wrap::MirrorOnceBorder,
        _ => return Refused::unsupported("clamp to half of the border"),
    })
}

fn border(code: u32) -> Result<Border> {
    Ok(match code {
        0 => Border::TransparentBlack,
        1 => Border::OpaqueBlack,
        2 => Border::OpaqueWhite,
        _ => return Refused::unsupported("border colour from memory"),
    })
}
