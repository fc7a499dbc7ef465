//! The texels around a position, weighted.

use super::Result;
use super::coordinate::{Pair, STEPS};
use super::descriptor::Image;
use super::sampler::{Border, Sampler};
use super::texel::{self, Origin};
use crate::context::Context;

/// A position in the image: lower neighbours and fractions in x, y and z. The nearest filter has
/// fractions of zero.
pub(super) type Position = [Pair; 3];

/// Components of one texel, with wrapping and border.
pub(super) fn fetch(
    context: &mut Context<'_>,
    origin: Origin,
    image: &Image,
    sampler: &Sampler,
    at: [i64; 3],
) -> Result<[u32; 4]> {
    let mut texel = [0; 3];
    for (axis, place) in texel.iter_mut().enumerate() {
        match sampler.wrap[axis].apply(at[axis], image.size[axis]) {
            Some(index) => *place = index,
            None => return Ok(border(image, sampler.border)),
        }
    }
    let channels = match image.locate(texel) {
        Some(address) => texel::load(context, origin, image.format, address)?,
        None => [0; 4],
    };
    Ok(image.select.load(image.format, channels))
}

/// The border's colour is that of components; constant selectors keep theirs.
fn border(image: &Image, border: Border) -> [u32; 4] {
    let one = image.format.one();
    let colour = match border {
        Border::TransparentBlack => [0; 4],
        Border::OpaqueBlack => [0, 0, 0, one],
        Border::OpaqueWhite => [one; 4],
    };
    image.select.constants(image.format, colour)
}

/// The weighted mean of the neighbours, computed exactly and rounded once. `turn` converts a texel
/// to what is averaged.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounds the result; weights are small integers"
)]
pub(super) fn mean(
    context: &mut Context<'_>,
    origin: Origin,
    image: &Image,
    sampler: &Sampler,
    position: &Position,
    turn: impl Fn([u32; 4]) -> [u32; 4],
) -> Result<[u32; 4]> {
    let mut sum = [0f64; 4];
    for corner in 0..8u32 {
        let mut at = [0; 3];
        let mut weight = 1;
        for (axis, pair) in position.iter().enumerate() {
            let upper = corner >> axis & 1 != 0;
            at[axis] = pair.first + i64::from(upper);
            weight *= if upper {
                pair.fraction
            } else {
                STEPS - pair.fraction
            };
        }
        if weight == 0 {
            continue;
        }
        let texel = turn(fetch(context, origin, image, sampler, at)?);
        if weight == STEPS * STEPS * STEPS {
            return Ok(texel);
        }
        for (sum, value) in sum.iter_mut().zip(texel) {
            *sum += f64::from(f32::from_bits(value)) * weight as f64;
        }
    }
    let whole = (STEPS * STEPS * STEPS) as f64;
    Ok(sum.map(|sum| ((sum / whole) as f32).to_bits()))
}
