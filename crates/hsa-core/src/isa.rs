//! Instruction sets: the target ids that agents execute and code objects are built for.

use crate::handle::{self, Kind};
use std::fmt;

/// A tri-state feature of a target id (LLVM AMDGPUUsage, "Target ID").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Feature {
    /// The target does not have the feature; it is never written.
    Unsupported,
    /// Either setting; written as nothing.
    Any,
    /// `-`
    Off,
    /// `+`
    On,
}

impl Feature {
    fn suffix(self) -> Option<char> {
        match self {
            Self::Unsupported | Self::Any => None,
            Self::Off => Some('-'),
            Self::On => Some('+'),
        }
    }

    /// True if code built with `self` may run where the device has `device`.
    #[must_use]
    pub fn runs_on(self, device: Self) -> bool {
        matches!(self, Self::Any | Self::Unsupported) || self == device
    }
}

/// One instruction set of an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Isa {
    pub(crate) index: usize,
    /// Processor, for example `gfx90a`.
    pub processor: String,
    /// Major, minor, stepping as in KFD's `gfx_target_version`.
    pub version: (u32, u32, u32),
    /// SRAM-ECC setting.
    pub sramecc: Feature,
    /// XNACK setting.
    pub xnack: Feature,
    /// Lanes of a wavefront.
    pub wavefront_size: u32,
}

impl Isa {
    /// The handle of this entry.
    #[must_use]
    pub fn handle(&self) -> u64 {
        handle::encode(Kind::Isa, self.index)
    }

    /// The handle of this ISA's only wavefront.
    #[must_use]
    pub fn wavefront_handle(&self) -> u64 {
        handle::encode(Kind::Wavefront, self.index)
    }

    /// `amdgcn-amd-amdhsa--` and the target id.
    #[must_use]
    pub fn name(&self) -> String {
        format!("amdgcn-amd-amdhsa--{self}")
    }

    /// True for processors with native f16 arithmetic (gfx8 and later).
    #[must_use]
    pub fn fast_f16(&self) -> bool {
        self.version.0 >= 8
    }
}

impl fmt::Display for Isa {
    /// The target id: processor, then features in the order that HIP 5.2.3 expects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        if let Some(c) = self.sramecc.suffix() {
            write!(f, ":sramecc{c}")?;
        }
        if let Some(c) = self.xnack.suffix() {
            write!(f, ":xnack{c}")?;
        }
        Ok(())
    }
}

/// Processors by `gfx_target_version` (major * 10000 + minor * 100 + stepping): name,
/// SRAM-ECC selectable, XNACK selectable (LLVM AMDGPUUsage, "Processors" table).
const PROCESSORS: &[(u32, &str, bool, bool)] = &[
    (70000, "gfx700", false, false),
    (70001, "gfx701", false, false),
    (80001, "gfx801", false, true),
    (80002, "gfx802", false, false),
    (80003, "gfx803", false, false),
    (80100, "gfx810", false, true),
    (90000, "gfx900", false, true),
    (90002, "gfx902", false, true),
    (90004, "gfx904", false, true),
    (90006, "gfx906", true, true),
    (90008, "gfx908", true, true),
    (90009, "gfx909", false, true),
    (90010, "gfx90a", true, true),
    (90012, "gfx90c", false, true),
    (90402, "gfx942", true, true),
    (90500, "gfx950", true, true),
    (100100, "gfx1010", false, true),
    (100101, "gfx1011", false, true),
    (100102, "gfx1012", false, true),
    (100103, "gfx1013", false, true),
    (100300, "gfx1030", false, false),
    (100301, "gfx1031", false, false),
    (100302, "gfx1032", false, false),
    (100303, "gfx1033", false, false),
    (100304, "gfx1034", false, false),
    (100305, "gfx1035", false, false),
    (100306, "gfx1036", false, false),
    (110000, "gfx1100", false, false),
    (110001, "gfx1101", false, false),
    (110002, "gfx1102", false, false),
    (110003, "gfx1103", false, false),
    (110500, "gfx1150", false, false),
    (110501, "gfx1151", false, false),
    (110502, "gfx1152", false, false),
    (110503, "gfx1153", false, false),
    (120000, "gfx1200", false, false),
    (120001, "gfx1201", false, false),
];

/// What the driver says about a device's target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetFacts {
    /// KFD `gfx_target_version`.
    pub(crate) gfx_target_version: u32,
    /// Capability bit 26.
    pub(crate) sramecc: bool,
    /// The process's XNACK mode.
    pub(crate) xnack: bool,
    /// KFD `wave_front_size`.
    pub(crate) wavefront_size: u32,
}

/// The ISA entry of a device, or `None` for a target that no name is known for.
pub(crate) fn from_target(index: usize, facts: TargetFacts) -> Option<Isa> {
    let &(version, name, has_sramecc, has_xnack) = PROCESSORS
        .iter()
        .find(|p| p.0 == facts.gfx_target_version)?;
    let setting = |supported, on| match (supported, on) {
        (false, _) => Feature::Unsupported,
        (true, false) => Feature::Off,
        (true, true) => Feature::On,
    };
    Some(Isa {
        index,
        processor: name.to_owned(),
        version: (version / 10000, version / 100 % 100, version % 100),
        sramecc: setting(has_sramecc, facts.sramecc),
        xnack: setting(has_xnack, facts.xnack),
        wavefront_size: facts.wavefront_size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(gfx_target_version: u32, sramecc: bool, xnack: bool) -> String {
        let facts = TargetFacts {
            gfx_target_version,
            sramecc,
            xnack,
            wavefront_size: 64,
        };
        from_target(0, facts).unwrap().name()
    }

    #[test]
    fn names_are_the_target_ids_of_the_contract_sheet() {
        assert_eq!(
            name(90010, true, false),
            "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
        );
        assert_eq!(name(100300, true, true), "amdgcn-amd-amdhsa--gfx1030");
        assert_eq!(name(90000, true, true), "amdgcn-amd-amdhsa--gfx900:xnack+");
    }

    #[test]
    fn a_setting_left_open_runs_on_either_device() {
        assert!(Feature::Any.runs_on(Feature::On));
        assert!(Feature::On.runs_on(Feature::On));
        assert!(!Feature::On.runs_on(Feature::Off));
    }
}
