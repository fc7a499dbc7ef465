//! The processors whose machine code can be decoded, and what tells them apart.

/// A processor, by LLVM's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Target {
    /// Vega 20 (MI50, MI60): GFX9 encodings, wave64, no AGPRs.
    Gfx906,
    /// CDNA 2 (MI210, MI250): GFX9 encodings, wave64, AGPRs.
    Gfx90a,
    /// CDNA 3 (MI300).
    Gfx942,
    /// CDNA 4 (MI350).
    Gfx950,
    /// RDNA 2 (RX 6800 and 6900): GFX10.3 encodings, wave32 and wave64.
    Gfx1030,
    /// RDNA 3 (RX 7900).
    Gfx1100,
    /// RDNA 4 (RX 9070).
    Gfx1201,
}

/// Generation of encodings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are LLVM's generations")]
pub enum Family {
    Gfx9,
    Gfx10,
    Gfx11,
    Gfx12,
}

impl Target {
    /// Every target.
    pub const ALL: &[Self] = &[
        Self::Gfx906,
        Self::Gfx90a,
        Self::Gfx942,
        Self::Gfx950,
        Self::Gfx1030,
        Self::Gfx1100,
        Self::Gfx1201,
    ];

    /// LLVM's name of the processor.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx906 => "gfx906",
            Self::Gfx90a => "gfx90a",
            Self::Gfx942 => "gfx942",
            Self::Gfx950 => "gfx950",
            Self::Gfx1030 => "gfx1030",
            Self::Gfx1100 => "gfx1100",
            Self::Gfx1201 => "gfx1201",
        }
    }

    /// The target with LLVM's name `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|t| t.name() == name)
    }

    /// Major, minor and stepping version, as in KFD's `gfx_target_version`.
    #[must_use]
    pub const fn version(self) -> (u8, u8, u8) {
        match self {
            Self::Gfx906 => (9, 0, 6),
            Self::Gfx90a => (9, 0, 10),
            Self::Gfx942 => (9, 4, 2),
            Self::Gfx950 => (9, 5, 0),
            Self::Gfx1030 => (10, 3, 0),
            Self::Gfx1100 => (11, 0, 0),
            Self::Gfx1201 => (12, 0, 1),
        }
    }

    /// Generation of its encodings.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::Gfx906 | Self::Gfx90a | Self::Gfx942 | Self::Gfx950 => Family::Gfx9,
            Self::Gfx1030 => Family::Gfx10,
            Self::Gfx1100 => Family::Gfx11,
            Self::Gfx1201 => Family::Gfx12,
        }
    }

    /// GFX9 encodings: wave64 only.
    #[must_use]
    pub const fn is_gfx9(self) -> bool {
        matches!(self.family(), Family::Gfx9)
    }

    /// gfx10 and later: wave32 and wave64, NULL, no SDWA after gfx10.
    #[must_use]
    pub const fn is_rdna(self) -> bool {
        !self.is_gfx9()
    }

    /// gfx11 and later.
    #[must_use]
    pub const fn is_gfx11_plus(self) -> bool {
        matches!(self.family(), Family::Gfx11 | Family::Gfx12)
    }

    /// gfx12 and later.
    #[must_use]
    pub const fn is_gfx12(self) -> bool {
        matches!(self.family(), Family::Gfx12)
    }

    /// gfx90a, gfx942 and gfx950: AGPRs in one file with the VGPRs, packed f32 math, work-item ids
    /// packed into one register.
    #[must_use]
    pub const fn has_unified_registers(self) -> bool {
        matches!(self, Self::Gfx90a | Self::Gfx942 | Self::Gfx950)
    }

    /// gfx942 and gfx950 (LLVM's GFX940 instructions).
    #[must_use]
    pub const fn is_gfx940(self) -> bool {
        matches!(self, Self::Gfx942 | Self::Gfx950)
    }

    /// SGPRs of a lane mask in the target's usual wave size: 2 in wave64, 1 in wave32.
    #[must_use]
    pub const fn mask_dwords(self) -> u8 {
        if self.is_gfx9() { 2 } else { 1 }
    }
}
