//! Texel formats: from memory to four channels and back.
//!
//! Buffers (MTBUF, MUBUF `format` operations) and images share them. Every generation numbers them
//! differently ([`number`]); here a format is the width of its channels and how their bits are
//! read. Conversions: RDNA ISA manuals, "Memory Buffer Instructions" and "Image", and the OpenCL C
//! specification, "Image Data Types", whose preferred roundings (nearest even, saturation) are the
//! ones chosen where the manuals are silent.

mod channel;
mod number;
mod select;
mod srgb;

pub(crate) use select::Select;

/// How the bits of a channel are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    /// 0.0 ..= 1.0.
    Unorm,
    /// -1.0 ..= 1.0.
    Snorm,
    /// An unsigned integer as float.
    Uscaled,
    /// A signed integer as float.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// A float of 10, 11, 16 or 32 bits.
    Float,
    /// sRGB encoded red, green, blue and linear alpha; images only.
    Srgb,
}

/// A format with at least one channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    /// Bits of X, Y, Z and W, X in the lowest bits; 0: no such channel.
    widths: [u8; 4],
    pub(crate) number: Number,
}

impl Format {
    /// One 32-bit integer.
    pub(crate) const WORD: Self = Self {
        widths: [32, 0, 0, 0],
        number: Number::Uint,
    };

    /// Size of an element in memory.
    pub(crate) fn bytes(self) -> usize {
        let bits: usize = self.widths.iter().copied().map(usize::from).sum();
        bits / 8
    }

    /// Channels in memory.
    #[cfg_attr(not(test), allow(dead_code, reason = "for typed buffer accesses"))]
    pub(crate) fn channels(self) -> usize {
        self.widths.iter().filter(|&&width| width != 0).count()
    }

    /// Bytes of a channel if each lies in bytes of its own, all of one size; else `None`.
    ///
    /// Range checks of buffers and alignment go by channel for these.
    #[cfg_attr(not(test), allow(dead_code, reason = "for typed buffer accesses"))]
    pub(crate) fn channel_bytes(self) -> Option<usize> {
        let first = self.widths[0];
        let whole = first.is_multiple_of(8);
        let same = self
            .widths
            .iter()
            .all(|&width| width == 0 || width == first);
        (whole && same).then_some(usize::from(first / 8))
    }

    /// True if channels are integers in registers, false if they are floats.
    pub(crate) const fn is_integer(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// Register value of a channel that reads as one.
    pub(crate) const fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// Four channels from the bytes of an element (little endian in dwords). Missing ones read as
    /// 0, 0, 0, 1.
    pub(crate) fn unpack(self, raw: [u32; 4]) -> [u32; 4] {
        let mut rest = wide(raw);
        let mut value = [0, 0, 0, self.one()];
        for (index, width) in self.widths.into_iter().enumerate() {
            if width != 0 {
                value[index] = channel::load(self.number_of(index), width, low(rest, width));
                rest = rest.checked_shr(u32::from(width)).unwrap_or(0);
            }
        }
        value
    }

    /// The bytes of an element from four channels.
    pub(crate) fn pack(self, value: [u32; 4]) -> [u32; 4] {
        let mut raw = 0;
        let mut at = 0;
        for (index, width) in self.widths.into_iter().enumerate() {
            if width != 0 {
                let bits = channel::store(self.number_of(index), width, value[index]);
                raw |= u128::from(bits) << at;
                at += u32::from(width);
            }
        }
        narrow(raw)
    }

    /// Alpha is linear in sRGB formats.
    const fn number_of(self, index: usize) -> Number {
        match self.number {
            Number::Srgb if index == 3 => Number::Unorm,
            number => number,
        }
    }

    /// A register value as the 16 bits of D16 operations: floats become f16, integers keep their
    /// low half.
    pub(crate) fn to_half(self, value: u32) -> u16 {
        if self.is_integer() {
            channel::low_half(value)
        } else {
            crate::float::half::f32_to_f16(f32::from_bits(value))
        }
    }

    /// The register value that 16 bits of a D16 store stand for.
    pub(crate) fn widen_half(self, half: u16) -> u32 {
        match self.number {
            Number::Uint => u32::from(half),
            Number::Sint => i32::from(half.cast_signed()).cast_unsigned(),
            _ => crate::float::half::f16_to_f32(half).to_bits(),
        }
    }
}

fn wide(raw: [u32; 4]) -> u128 {
    raw.iter()
        .rev()
        .fold(0, |value, dword| value << 32 | u128::from(*dword))
}

#[expect(clippy::cast_possible_truncation, reason = "splits into dwords")]
const fn narrow(value: u128) -> [u32; 4] {
    [
        value as u32,
        (value >> 32) as u32,
        (value >> 64) as u32,
        (value >> 96) as u32,
    ]
}

/// The low bits of a value.
#[expect(
    clippy::cast_possible_truncation,
    reason = "channels have 32 bits or less"
)]
const fn low(value: u128, width: u8) -> u32 {
    (value & ((1 << width) - 1)) as u32
}

#[cfg(test)]
mod tests;
