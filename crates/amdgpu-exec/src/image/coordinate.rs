//! From coordinates to texels.

use super::sampler::Wrap;

/// Steps between two texels that the linear filter tells apart: the hardware keeps eight bits of a
/// coordinate's fraction.
pub(super) const STEPS: i64 = 256;

/// Two neighbours and where the coordinate lies between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    /// The lower neighbour.
    pub(super) first: i64,
    /// Distance from its centre, in 1/[`STEPS`].
    pub(super) fraction: i64,
}

/// The texel that holds a coordinate counted in texels.
#[expect(clippy::cast_possible_truncation, reason = "saturates; a NaN is zero")]
pub(super) fn nearest(coordinate: f64) -> i64 {
    coordinate.floor() as i64
}

/// The texels whose centres are next to a coordinate counted in texels.
#[expect(clippy::cast_possible_truncation, reason = "saturates; a NaN is zero")]
pub(super) fn neighbours(coordinate: f64) -> Pair {
    let steps = ((coordinate - 0.5) * 256.0).round_ties_even() as i64;
    Pair {
        first: steps.div_euclid(STEPS),
        fraction: steps.rem_euclid(STEPS),
    }
}

/// The slice of an array: the nearest that exists.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; a NaN is zero"
)]
pub(super) fn slice(coordinate: f32, slices: u32) -> u32 {
    (coordinate.round_ties_even() as u32).min(slices.saturating_sub(1))
}

impl Wrap {
    /// The texel of `size` that position `at` means; `None`: the border.
    pub(super) fn apply(self, at: i64, size: u32) -> Option<u32> {
        let size = i64::from(size);
        let last = size - 1;
        let mirrored = if at < 0 { -1 - at } else { at };
        let index = match self {
            Self::Repeat => at.rem_euclid(size),
            Self::Mirror => {
                let at = at.rem_euclid(2 * size);
                at.min(2 * size - 1 - at)
            }
            Self::Edge => at.clamp(0, last),
            Self::MirrorOnceEdge => mirrored.min(last),
            Self::Border => at,
            Self::MirrorOnceBorder => mirrored,
        };
        u32::try_from(index).ok().filter(|_| index <= last)
    }
}
