//! Loads and stores at integer coordinates, and the size of an image.

use amdgpu_isa::{Dim, ImageOp};

use super::address::Address;
use super::descriptor::{self, Image};
use super::texel::{self, Origin};
use super::{Refused, Result, data, each_lane, parts};
use crate::context::Context;
use crate::format::{Format, Number};
use crate::step::{Flow, Step};
use crate::wave::Wave;

/// `image_load`, `image_load_mip`: a texel outside the image reads as zeros.
pub(super) fn load(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let parts = parts(step);
    let image = match descriptor::read(wave, step) {
        Ok(image) => image,
        Err(refused) => return refused.stop(context, step, 0),
    };
    each_lane(wave, context, step, |wave, context, lane| {
        let Some(image) = image else {
            return zeros(wave, step, lane);
        };
        let channels = match place(wave, step, parts, &image, lane)? {
            Some(address) => {
                let origin = Origin { pc: step.pc, lane };
                texel::load(context, origin, image.format, address)?
            }
            None => [0; 4],
        };
        let value = image.select.load(image.format, channels);
        data::write(wave, step, lane, image.format, value);
        Ok(())
    })
}

/// What reading an image without texels gives: every component zero.
pub(super) fn zeros(wave: &mut Wave, step: &Step, lane: usize) -> Result<()> {
    data::write(wave, step, lane, Format::WORD, [0; 4]);
    Ok(())
}

/// Address of the texel that a lane names.
pub(super) fn place(
    wave: &Wave,
    step: &Step,
    parts: ImageOp,
    image: &Image,
    lane: usize,
) -> Result<Option<u64>> {
    let address = Address::new(wave, step, parts, image, lane)?;
    // There is one level.
    if address.level() != 0 {
        return Ok(None);
    }
    Ok(image.locate(address.texel()))
}

/// `image_store`, `image_store_mip`: a texel outside the image is dropped.
pub(super) fn store(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let parts = parts(step);
    let image = match descriptor::read(wave, step) {
        Ok(Some(image)) => image,
        Ok(None) => return Flow::Next,
        Err(refused) => return refused.stop(context, step, 0),
    };
    if image.format.number == Number::Srgb {
        let refused = Refused::Unsupported("store to an sRGB image".to_owned());
        return refused.stop(context, step, 0);
    }
    each_lane(wave, context, step, |wave, context, lane| {
        let value = data::read(wave, step, lane, image.format);
        let channels = image.select.store(value);
        if let Some(address) = place(wave, step, parts, &image, lane)? {
            let origin = Origin { pc: step.pc, lane };
            texel::store(context, origin, image.format, address, channels)?;
        }
        Ok(())
    })
}

/// `image_get_resinfo`: width, height, depth or slices, and levels. A level that does not exist has
/// no size.
pub(super) fn resinfo(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let parts = parts(step);
    let image = match descriptor::read(wave, step) {
        Ok(image) => image,
        Err(refused) => return refused.stop(context, step, 0),
    };
    each_lane(wave, context, step, |wave, _, lane| {
        let Some(image) = image else {
            return zeros(wave, step, lane);
        };
        let level = level_of_resinfo(wave, step, parts, &image, lane)?;
        let [width, height, depth] = if level == 0 { image.size } else { [0; 3] };
        data::write(wave, step, lane, Format::WORD, [width, height, depth, 1]);
        Ok(())
    })
}

fn level_of_resinfo(
    wave: &Wave,
    step: &Step,
    parts: ImageOp,
    image: &Image,
    lane: usize,
) -> Result<u32> {
    // The level is the only component, so the dimension does not matter.
    let image = Image {
        dim: Dim::D1,
        ..*image
    };
    Ok(Address::new(wave, step, parts, &image, lane)?.first_component())
}
