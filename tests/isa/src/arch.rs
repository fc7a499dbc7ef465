//! Which targets have an instruction, and what each generation calls it.

use amdgpu_isa::Target;

/// The targets that the suite runs on: those whose instructions are complete.
pub(crate) const TARGETS: &[Target] = &[
    Target::Gfx906,
    Target::Gfx90a,
    Target::Gfx942,
    Target::Gfx950,
    Target::Gfx1030,
];

/// A set of targets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Set(u16);

const fn bit(target: Target) -> u16 {
    1 << target as u16
}

/// Every target.
pub(crate) const ALL: Set = Set(u16::MAX);
/// gfx906, gfx90a, gfx942, gfx950.
pub(crate) const GFX9: Set = Set(bit(Target::Gfx906) | CDNA.0);
/// gfx90a, gfx942, gfx950.
pub(crate) const CDNA: Set = Set(bit(Target::Gfx90a) | GFX940.0);
/// gfx942, gfx950.
pub(crate) const GFX940: Set = Set(bit(Target::Gfx942) | bit(Target::Gfx950));
/// gfx1030 and later.
pub(crate) const GFX10_ON: Set = Set(!GFX9.0);
/// gfx1100 and later.
pub(crate) const GFX11_ON: Set = Set(GFX10_ON.0 & !bit(Target::Gfx1030));
/// Up to gfx1030.
pub(crate) const TO_GFX10: Set = Set(!GFX11_ON.0);

impl Set {
    /// True if a target is in the set.
    pub(crate) const fn has(self, target: Target) -> bool {
        self.0 & bit(target) != 0
    }
}

/// The name of an instruction on a target. `names` has those of gfx9, gfx10, gfx11 and gfx12 with
/// `/` between them; the last goes on, and `-` says that there is none.
pub(crate) fn name(names: &'static str, target: Target) -> Option<&'static str> {
    let generation = target.family() as usize;
    let mut last = "-";
    for (i, name) in names.split('/').enumerate() {
        if i <= generation {
            last = name;
        }
    }
    (last != "-").then_some(last)
}
