//! Texels in memory.

use super::Result;
use super::descriptor::Image;
use crate::access::{Global, Space, kind};
use crate::context::Context;
use crate::format::Format;

/// Who accesses: the instruction's address and the lane, for rights and reports.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) pc: u64,
    pub(super) lane: usize,
}

impl Image {
    /// Address of a texel; `None` outside the image.
    pub(super) fn locate(&self, texel: [u32; 3]) -> Option<u64> {
        let inside = texel.iter().zip(self.size).all(|(at, size)| *at < size);
        let [x, y, z] = texel.map(u64::from);
        let slice = z + u64::from(self.first_slice);
        let offset = slice * self.slice() + y * self.pitch + x * self.format.bytes() as u64;
        inside.then(|| self.base.wrapping_add(offset))
    }
}

/// Channels of the texel at an address.
pub(super) fn load(
    context: &mut Context<'_>,
    origin: Origin,
    format: Format,
    address: u64,
) -> Result<[u32; 4]> {
    let Origin { pc, lane } = origin;
    let raw = match format.bytes() {
        1 => Global::load::<{ kind::U8 }>(context, pc, address, lane),
        2 => Global::load::<{ kind::U16 }>(context, pc, address, lane),
        4 => Global::load::<{ kind::B32 }>(context, pc, address, lane),
        8 => Global::load::<{ kind::B64 }>(context, pc, address, lane),
        12 => Global::load::<{ kind::B96 }>(context, pc, address, lane),
        _ => Global::load::<{ kind::B128 }>(context, pc, address, lane),
    }?;
    Ok(format.unpack(raw))
}

/// Writes the channels of the texel at an address.
pub(super) fn store(
    context: &mut Context<'_>,
    origin: Origin,
    format: Format,
    address: u64,
    channels: [u32; 4],
) -> Result<()> {
    let Origin { pc, lane } = origin;
    let raw = format.pack(channels);
    match format.bytes() {
        1 => Global::store::<{ kind::U8 }>(context, pc, address, lane, raw),
        2 => Global::store::<{ kind::U16 }>(context, pc, address, lane, raw),
        4 => Global::store::<{ kind::B32 }>(context, pc, address, lane, raw),
        8 => Global::store::<{ kind::B64 }>(context, pc, address, lane, raw),
        12 => Global::store::<{ kind::B96 }>(context, pc, address, lane, raw),
        _ => Global::store::<{ kind::B128 }>(context, pc, address, lane, raw),
    }?;
    Ok(())
}
