//! Sampling: coordinates, level of detail, filter, comparison.

use amdgpu_isa::inst::image as bits;
use amdgpu_isa::{Dim, Gradients, ImageOp, Level};

use super::address::Address;
use super::coordinate::{self, Pair};
use super::descriptor::{self, Image};
use super::filter::{Position, mean};
use super::load::zeros;
use super::sampler::{self, Sampler};
use super::texel::Origin;
use super::{Refused, Result, data, each_lane, parts};
use crate::context::Context;
use crate::format::{Format, Number};
use crate::step::{Flow, Step};
use crate::wave::Wave;

/// `image_sample` and its variants.
pub(super) fn sample(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let parts = parts(step);
    let (image, sampler) = match resources(wave, step) {
        Ok(resources) => resources,
        Err(refused) => return refused.stop(context, step, 0),
    };
    each_lane(wave, context, step, |wave, context, lane| {
        let Some(image) = image else {
            return zeros(wave, step, lane);
        };
        let value = one(wave, context, step, parts, (&image, &sampler), lane)?;
        data::write(wave, step, lane, image.format, value);
        Ok(())
    })
}

/// Image and sampler of a step.
pub(super) fn resources(wave: &Wave, step: &Step) -> Result<(Option<Image>, Sampler)> {
    let mut sampler = sampler::read(wave, step)?;
    sampler.unnormalised |= step.inst.mods.image & bits::UNORM != 0;
    Ok((descriptor::read(wave, step)?, sampler))
}

fn one(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    parts: ImageOp,
    (image, sampler): (&Image, &Sampler),
    lane: usize,
) -> Result<[u32; 4]> {
    let address = Address::new(wave, step, parts, image, lane)?;
    let linear = is_linear(parts, &address, image, sampler)?;
    let linear_z = sampler.linear_z.unwrap_or(linear);
    if (linear || linear_z) && image.format.is_integer() {
        return Refused::unsupported("linear filter of an integer image");
    }
    let position = position(&address, image, sampler, [linear, linear, linear_z]);
    let origin = Origin { pc: step.pc, lane };
    if !parts.compare {
        return mean(context, origin, image, sampler, &position, |texel| texel);
    }
    let reference = reference(&address, image.format);
    mean(context, origin, image, sampler, &position, |texel| {
        compare(sampler.compare, reference, texel)
    })
}

/// The reference has the range of the texels it is compared with.
pub(super) fn reference(address: &Address<'_>, format: Format) -> f32 {
    let reference = address.reference();
    if format.number == Number::Unorm {
        reference.clamp(0.0, 1.0)
    } else {
        reference
    }
}

/// One in the components whose texel passes: the reference stands on the left.
pub(super) fn compare(function: u32, reference: f32, texel: [u32; 4]) -> [u32; 4] {
    texel.map(|texel| {
        let texel = f32::from_bits(texel);
        let passes = match function {
            0 => false,
            1 => reference < texel,
            2 => reference == texel,
            3 => reference <= texel,
            4 => reference > texel,
            5 => reference != texel,
            6 => reference >= texel,
            _ => true,
        };
        f32::from(u8::from(passes)).to_bits()
    })
}

/// Which of the two filters applies: with one level, that is all the level of detail decides.
fn is_linear(
    parts: ImageOp,
    address: &Address<'_>,
    image: &Image,
    sampler: &Sampler,
) -> Result<bool> {
    let [magnify, minify] = sampler.linear;
    if magnify == minify {
        return Ok(magnify);
    }
    let level = level(parts, address, image, sampler)?;
    Ok(if level > 0.0 { minify } else { magnify })
}

/// Level of detail.
#[expect(clippy::cast_precision_loss, reason = "a bias of 14 bits")]
fn level(parts: ImageOp, address: &Address<'_>, image: &Image, sampler: &Sampler) -> Result<f32> {
    let level = match (parts.level, parts.gradients) {
        (Level::Zero, _) => return Ok(0.0),
        (Level::Given, _) => address.level_float(),
        (Level::Computed, Gradients::No) => {
            return Refused::unsupported("filters that differ, by derivatives between lanes");
        }
        (Level::Computed, _) => footprint(address, image, sampler).log2(),
    };
    let biased = level + address.bias() + sampler.bias as f32 / 256.0;
    Ok(if parts.clamp {
        biased.max(address.level_float())
    } else {
        biased
    })
}

/// Length in texels of the longer derivative.
fn footprint(address: &Address<'_>, image: &Image, sampler: &Sampler) -> f32 {
    let lengths = address.gradients().map(|gradient| {
        let mut square = 0.0;
        for (axis, value) in gradient.into_iter().enumerate() {
            let texels = value * scale(image, sampler, axis);
            square += texels * texels;
        }
        square
    });
    lengths[0].max(lengths[1]).sqrt()
}

/// Texels per unit of a coordinate.
#[expect(clippy::cast_precision_loss, reason = "sizes have 16 bits")]
fn scale(image: &Image, sampler: &Sampler, axis: usize) -> f32 {
    if sampler.unnormalised {
        1.0
    } else {
        image.size[axis] as f32
    }
}

/// Where the coordinates lie between texels.
pub(super) fn position(
    address: &Address<'_>,
    image: &Image,
    sampler: &Sampler,
    linear: [bool; 3],
) -> Position {
    let values = address.position();
    let offsets = address.offsets();
    let mut position = [Pair {
        first: 0,
        fraction: 0,
    }; 3];
    for (axis, pair) in position.iter_mut().enumerate() {
        if !is_spatial(address.dim(), axis) {
            continue;
        }
        let texels = f64::from(values[axis]) * f64::from(scale(image, sampler, axis));
        *pair = if linear[axis] {
            coordinate::neighbours(texels)
        } else {
            Pair {
                first: coordinate::nearest(texels),
                fraction: 0,
            }
        };
        pair.first = pair.first.saturating_add(offsets[axis]);
    }
    if matches!(address.dim(), Dim::D1Array | Dim::D2Array) {
        position[2].first = i64::from(coordinate::slice(values[2], image.size[2]));
    }
    position
}

const fn is_spatial(dim: Dim, axis: usize) -> bool {
    axis < dim.spatial() as usize
}
