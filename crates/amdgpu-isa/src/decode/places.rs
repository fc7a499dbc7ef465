//! Where a generation's memory instructions hold their modifiers.

use super::operand::field;
use crate::inst::Mods;
use crate::target::{Family, Target};

/// Cache bits of a first dword, by bit number.
struct CacheBits {
    glc: u32,
    slc: u32,
    dlc: Option<u32>,
    scc: Option<u32>,
}

impl CacheBits {
    fn read(&self, bits: u64, mods: &mut Mods) {
        let set = |bit: u32| field(bits, bit, bit) != 0;
        mods.glc = set(self.glc);
        mods.slc = set(self.slc);
        mods.dlc = self.dlc.is_some_and(set);
        mods.scc = self.scc.is_some_and(set);
    }
}

/// FLAT, GLOBAL and SCRATCH.
pub(super) struct FlatPlaces {
    /// Low bit of the two that tell the three apart.
    pub(super) segment: u32,
    /// Width of the offset, which starts at bit 0.
    pub(super) offset_bits: u32,
    /// SADDR's value for "no register".
    pub(super) off: u32,
    /// The bit that sends a load to LDS.
    lds: Option<u32>,
    cache: CacheBits,
}

impl FlatPlaces {
    pub(super) const fn of(target: Target) -> Self {
        match target.family() {
            Family::Gfx9 => Self {
                segment: 14,
                offset_bits: 13,
                off: 0x7f,
                lds: Some(13),
                cache: CacheBits {
                    glc: 16,
                    slc: 17,
                    dlc: None,
                    scc: Some(25),
                },
            },
            Family::Gfx10 => Self {
                segment: 14,
                offset_bits: 12,
                off: 0x7d,
                lds: Some(13),
                cache: CacheBits {
                    glc: 16,
                    slc: 17,
                    dlc: Some(12),
                    scc: None,
                },
            },
            Family::Gfx11 | Family::Gfx12 => Self {
                segment: 16,
                offset_bits: 13,
                off: 0x7c,
                lds: None,
                cache: CacheBits {
                    glc: 14,
                    slc: 15,
                    dlc: Some(13),
                    scc: None,
                },
            },
        }
    }

    pub(super) fn modifiers(&self, bits: u64, mods: &mut Mods) {
        self.cache.read(bits, mods);
        mods.lds = self.lds.is_some_and(|bit| field(bits, bit, bit) != 0);
    }
}

/// Bits that MUBUF and MTBUF have in common.
pub(super) struct BufferPlaces {
    glc: u32,
    offen: u32,
    idxen: u32,
}

impl BufferPlaces {
    pub(super) const fn of(target: Target) -> Self {
        match target.family() {
            Family::Gfx9 | Family::Gfx10 => Self {
                glc: 14,
                offen: 12,
                idxen: 13,
            },
            Family::Gfx11 | Family::Gfx12 => Self {
                glc: 14,
                offen: 54,
                idxen: 55,
            },
        }
    }

    pub(super) fn modifiers(&self, bits: u64, mods: &mut Mods) {
        let set = |bit: u32| field(bits, bit, bit) != 0;
        mods.glc = set(self.glc);
        mods.offen = set(self.offen);
        mods.idxen = set(self.idxen);
    }
}
