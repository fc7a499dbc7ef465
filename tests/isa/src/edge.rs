//! Inputs: values at which instructions change their behaviour, crossed with each other and mixed
//! with random ones.

use crate::model::float::Format;
use crate::state::mix;

/// What a source holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// 16 bits; the upper half of the register is noise.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// A number of a format.
    Float(Format),
    /// A shift count or bit position.
    Count,
}

impl Kind {
    /// True if it takes two registers.
    pub(crate) fn is_wide(self) -> bool {
        matches!(self, Self::B64 | Self::Float(Format::F64))
    }

    /// Its values, the most interesting first.
    pub(crate) fn values(self) -> Vec<u64> {
        match self {
            Self::B16 => B16.to_vec(),
            Self::B32 => B32.to_vec(),
            Self::B64 => B64.to_vec(),
            Self::Count => COUNTS.to_vec(),
            Self::Float(format) => floats(format),
        }
    }

    /// A random value.
    fn random(self, seed: u32) -> u64 {
        let bits = u64::from(mix(seed)) << 32 | u64::from(mix(!seed));
        match self {
            Self::B16 | Self::Float(Format::F16) => bits & 0xffff,
            Self::B32 | Self::Float(Format::F32) => bits & 0xffff_ffff,
            Self::Count => bits & 0x7f,
            Self::B64 | Self::Float(Format::F64) => bits,
        }
    }
}

const B16: [u64; 12] = [
    0, 0x7fff, 0xffff, 1, 0x8000, 0x8001, 0x1234, 0xfffe, 2, 0x00ff, 0xff00, 0x5555,
];
const B32: [u64; 16] = [
    0,
    0x7fff_ffff,
    0xffff_ffff,
    1,
    0x8000_0000,
    0x8000_0001,
    0x1234_5678,
    0x00ff_ffff,
    2,
    0xffff_fffe,
    0x0080_0000,
    0xff80_0000,
    0x0000_ffff,
    0xffff_0000,
    0xaaaa_5555,
    0x0000_8000,
];
const B64: [u64; 14] = [
    0,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
    1,
    0x8000_0000_0000_0000,
    0x0000_0000_ffff_ffff,
    0x0123_4567_89ab_cdef,
    0xffff_ffff_0000_0000,
    0x8000_0000_0000_0001,
    2,
    0x0000_0001_0000_0000,
    u64::MAX - 1,
    0x0000_0000_8000_0000,
    0xaaaa_5555_5555_aaaa,
];
const COUNTS: [u64; 16] = [
    0,
    31,
    1,
    32,
    63,
    16,
    5,
    33,
    8,
    24,
    15,
    64,
    0xffff_ffff,
    0x8000_001f,
    0x0010_0008,
    0x101,
];

/// Zeros, ones, denormals, normals at the edges, infinities and NaNs of a format.
fn floats(format: Format) -> Vec<u64> {
    let (sign, infinity, one) = (format.sign(), format.infinity(), format.one());
    let least = 1 << format.fraction();
    let quiet = infinity | format.quiet_bit();
    vec![
        one,
        sign,
        1,
        quiet | 5,
        sign | infinity,
        infinity - 1,
        least | sign,
        one | 1,
        0,
        infinity | 3,
        sign | one,
        infinity,
        least - 1,
        sign | 1,
        least,
        one + least,
        sign | quiet | 9,
        one - 1,
        sign | (infinity - 1),
        format.nearest(3.0),
        format.nearest(-0.5),
        format.nearest(1.0 / 3.0),
        sign | infinity | 7,
        least + 1,
        format.nearest(1e4 / 7.0),
        least - least / 2,
    ]
}

/// Sources of 64 lanes: `[lane][source]`. Batch 0 crosses the most interesting values with each
/// other; later batches draw from all values and random ones.
pub(crate) fn inputs(kinds: &[Kind], batch: u32) -> Vec<[u64; 3]> {
    let crossed = match kinds.len() {
        1 => 64,
        2 => 8,
        _ => 4,
    };
    let lists: Vec<_> = kinds.iter().map(|kind| kind.values()).collect();
    let pick = |lane: usize, i: usize| {
        let list = &lists[i];
        let seed = mix(batch << 16 | u32::try_from(lane * 4 + i).unwrap_or(0));
        if batch == 0 {
            let index = lane / crossed_power(crossed, i) % crossed;
            return if index < list.len() {
                list[index]
            } else {
                kinds[i].random(seed)
            };
        }
        if seed.is_multiple_of(4) {
            kinds[i].random(seed)
        } else {
            list[(seed >> 8) as usize % list.len()]
        }
    };
    (0..64)
        .map(|lane| std::array::from_fn(|i| if i < kinds.len() { pick(lane, i) } else { 0 }))
        .collect()
}

fn crossed_power(crossed: usize, i: usize) -> usize {
    (0..i).map(|_| crossed).product()
}
