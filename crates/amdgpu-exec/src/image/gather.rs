//! `image_gather4`: one component of the four texels that a linear filter would use.

use amdgpu_isa::ImageOp;

use super::address::Address;
use super::data;
use super::descriptor::Image;
use super::filter::fetch;
use super::sample::{compare, position, reference, resources};
use super::sampler::Sampler;
use super::texel::Origin;
use super::{Refused, Result, each_lane, parts};
use crate::context::Context;
use crate::format::Format;
use crate::step::{Flow, Step};
use crate::wave::Wave;

/// Steps from the lower neighbours, in the order of the results.
const CORNERS: [[i64; 2]; 4] = [[0, 1], [1, 1], [1, 0], [0, 0]];

pub(super) fn gather4(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let parts = parts(step);
    let (image, sampler) = match resources(wave, step) {
        Ok(resources) => resources,
        Err(refused) => return refused.stop(context, step, 0),
    };
    each_lane(wave, context, step, |wave, context, lane| {
        let Some(image) = image else {
            data::write_all(wave, step, lane, Format::WORD, &[0; 4]);
            return Ok(());
        };
        let values = texels(wave, context, step, parts, (&image, &sampler), lane)?;
        data::write_all(wave, step, lane, image.format, &values);
        Ok(())
    })
}

fn texels(
    wave: &Wave,
    context: &mut Context<'_>,
    step: &Step,
    parts: ImageOp,
    (image, sampler): (&Image, &Sampler),
    lane: usize,
) -> Result<[u32; 4]> {
    let component = match step.inst.mods.format {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        mask => return Refused::unsupported(format!("dmask {mask:#x}")),
    };
    let address = Address::new(wave, step, parts, image, lane)?;
    let place = position(&address, image, sampler, [true, true, false]);
    let origin = Origin { pc: step.pc, lane };
    let mut values = [0; 4];
    for (value, [right, down]) in values.iter_mut().zip(CORNERS) {
        let at = [
            place[0].first + right,
            place[1].first + down,
            place[2].first,
        ];
        let texel = fetch(context, origin, image, sampler, at)?;
        let texel = if parts.compare {
            compare(sampler.compare, reference(&address, image.format), texel)
        } else {
            texel
        };
        *value = texel[component];
    }
    Ok(values)
}
