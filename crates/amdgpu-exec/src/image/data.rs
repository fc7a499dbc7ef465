//! Data registers: the components that DMASK names, packed; D16 puts two into a register.

use amdgpu_isa::inst::image;

use crate::format::Format;
use crate::step::Step;
use crate::wave::Wave;

/// Positions of the components that an instruction moves.
fn components(step: &Step) -> impl Iterator<Item = usize> {
    let mask = step.inst.mods.format;
    (0..4).filter(move |index| mask >> index & 1 != 0)
}

fn is_d16(step: &Step) -> bool {
    step.inst.mods.image & image::D16 != 0
}

/// Writes the components of a lane that DMASK names, and the status dword of TFE.
pub(super) fn write(wave: &mut Wave, step: &Step, lane: usize, format: Format, value: [u32; 4]) {
    let mut chosen = [0; 4];
    let mut count = 0;
    for index in components(step) {
        chosen[count] = value[index];
        count += 1;
    }
    write_all(wave, step, lane, format, &chosen[..count]);
}

/// Writes values to consecutive registers, whatever DMASK says.
pub(super) fn write_all(wave: &mut Wave, step: &Step, lane: usize, format: Format, values: &[u32]) {
    let mut register = step.dst;
    if is_d16(step) {
        for pair in values.chunks(2) {
            let high = pair.get(1).map_or(0, |high| format.to_half(*high));
            let word = u32::from(format.to_half(pair[0])) | u32::from(high) << 16;
            wave.set_lane(register, lane, word);
            register += 1;
        }
    } else {
        for value in values {
            wave.set_lane(register, lane, *value);
            register += 1;
        }
    }
    if step.inst.mods.tfe {
        // No access fails without ending the dispatch.
        wave.set_lane(register, lane, 0);
    }
}

/// The components that a store gives; the others are zero.
pub(super) fn read(wave: &Wave, step: &Step, lane: usize, format: Format) -> [u32; 4] {
    let mut value = [0; 4];
    for (position, index) in (0u16..).zip(components(step)) {
        value[index] = if is_d16(step) {
            let word = wave.lane(step.dst + position / 2, lane).to_le_bytes();
            let [low, high] = [[word[0], word[1]], [word[2], word[3]]].map(u16::from_le_bytes);
            format.widen_half(if position % 2 == 0 { low } else { high })
        } else {
            wave.lane(step.dst + position, lane)
        };
    }
    value
}
