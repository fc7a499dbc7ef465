//! What a code object was built for, and which agents may run it.
//!
//! Numbers: LLVM AMDGPUUsage, "ELF Header" (`EF_AMDGPU_MACH_*`, `EF_AMDGPU_FEATURE_*`), the same in
//! ROCm's amd_hsa_elf.h.

use crate::isa::{Feature, Isa};
use crate::{Error, Result};

/// The target id of a code object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Target {
    pub(super) processor: &'static str,
    pub(super) sramecc: Feature,
    pub(super) xnack: Feature,
    /// 0 unless the processor is generic.
    pub(super) generic_version: u32,
}

/// `EF_AMDGPU_MACH`, and the name of the processor.
const MACHINES: &[(u32, &str)] = &[
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x3a, "gfx602"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x3b, "gfx705"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x3c, "gfx805"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x3f, "gfx90a"),
    (0x32, "gfx90c"),
    (0x40, "gfx940"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4f, "gfx950"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x42, "gfx1013"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3e, "gfx1034"),
    (0x3d, "gfx1035"),
    (0x45, "gfx1036"),
    (0x41, "gfx1100"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x44, "gfx1103"),
    (0x43, "gfx1150"),
    (0x4a, "gfx1151"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x48, "gfx1200"),
    (0x4e, "gfx1201"),
    (0x51, "gfx9-generic"),
    (0x5f, "gfx9-4-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x59, "gfx12-generic"),
];

/// Generic processors, and the processors that run their code (LLVM AMDGPUUsage, "Generic
/// Processors"). All members known so far joined with generic version 1.
const GENERIC: &[(&str, &[&str])] = &[
    (
        "gfx9-generic",
        &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"],
    ),
    ("gfx9-4-generic", &["gfx940", "gfx941", "gfx942", "gfx950"]),
    (
        "gfx10-1-generic",
        &["gfx1010", "gfx1011", "gfx1012", "gfx1013"],
    ),
    (
        "gfx10-3-generic",
        &[
            "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
        ],
    ),
    (
        "gfx11-generic",
        &[
            "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
        ],
    ),
    ("gfx12-generic", &["gfx1200", "gfx1201"]),
];

/// The name in [`MACHINES`] that equals `name`.
pub(super) fn processor(name: &str) -> Option<&'static str> {
    MACHINES
        .iter()
        .map(|(_, known)| *known)
        .find(|known| *known == name)
}

/// The target of a version 3 (or later) code object.
///
/// # Errors
/// `InvalidIsaName` for a machine that no name is known for.
pub(super) fn from_flags(abi_version: u8, flags: u32) -> Result<Target> {
    let machine = flags & 0xff;
    let known = MACHINES.iter().find(|(number, _)| *number == machine);
    let (_, processor) = *known.ok_or(Error::InvalidIsaName)?;
    let (xnack, sramecc) = match abi_version {
        1 => (on_off(flags & 0x100), on_off(flags & 0x200)),
        _ => (setting(flags >> 8), setting(flags >> 10)),
    };
    Ok(Target {
        processor,
        sramecc,
        xnack,
        generic_version: flags >> 24,
    })
}

/// Version 3: one bit, which cannot tell "off" from "the processor does not have it". Both run
/// where the feature is off.
fn on_off(bit: u32) -> Feature {
    if bit == 0 { Feature::Off } else { Feature::On }
}

/// Version 4 and later: two bits.
fn setting(bits: u32) -> Feature {
    match bits & 3 {
        0 => Feature::Unsupported,
        1 => Feature::Any,
        2 => Feature::Off,
        _ => Feature::On,
    }
}

impl Target {
    /// Whether a device with `isa` runs this code.
    pub(super) fn runs_on(&self, isa: &Isa) -> bool {
        self.names(&isa.processor)
            && compatible(self.xnack, isa.xnack)
            && compatible(self.sramecc, isa.sramecc)
    }

    fn names(&self, processor: &str) -> bool {
        match GENERIC.iter().find(|(name, _)| *name == self.processor) {
            Some((_, members)) => self.generic_version >= 1 && members.contains(&processor),
            None => self.processor == processor,
        }
    }
}

/// A version 3 "off" meets a device without the feature.
fn compatible(code: Feature, device: Feature) -> bool {
    code.runs_on(device) || (code == Feature::Off && device == Feature::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isa(processor: &str, sramecc: Feature, xnack: Feature) -> Isa {
        Isa {
            index: 0,
            processor: processor.to_owned(),
            version: (9, 0, 10),
            sramecc,
            xnack,
            wavefront_size: 64,
        }
    }

    /// e_flags of LLVM: gfx90a 0x3f; xnack off 0x200, on 0x300, any 0x100; sramecc on 0xc00.
    #[test]
    fn features_match_when_equal_or_any() {
        let device = isa("gfx90a", Feature::On, Feature::Off);
        for (flags, runs) in [
            (0x53f, true),
            (0xe3f, true),
            (0xd3f, true),
            (0xf3f, false),
            (0xa3f, false),
        ] {
            assert_eq!(
                from_flags(2, flags).unwrap().runs_on(&device),
                runs,
                "{flags:#x}"
            );
        }
    }

    #[test]
    fn another_processor_is_refused() {
        let device = isa("gfx1030", Feature::Unsupported, Feature::Unsupported);
        assert!(from_flags(2, 0x36).unwrap().runs_on(&device));
        assert!(!from_flags(2, 0x37).unwrap().runs_on(&device));
        assert_eq!(from_flags(2, 0xfe), Err(Error::InvalidIsaName));
    }

    #[test]
    fn a_generic_target_accepts_its_members_from_version_1() {
        let device = isa("gfx1030", Feature::Unsupported, Feature::Unsupported);
        assert!(from_flags(4, 0x0100_0053).unwrap().runs_on(&device));
        assert!(!from_flags(4, 0x53).unwrap().runs_on(&device));
        assert!(!from_flags(4, 0x0100_0054).unwrap().runs_on(&device));
    }

    /// ABI version 1 (code object V3) has one bit per feature.
    #[test]
    fn version_3_code_without_features_runs_where_they_are_off() {
        assert!(from_flags(1, 0x36).unwrap().runs_on(&isa(
            "gfx1030",
            Feature::Unsupported,
            Feature::Unsupported
        )));
        assert!(
            from_flags(1, 0x23f)
                .unwrap()
                .runs_on(&isa("gfx90a", Feature::On, Feature::Off))
        );
        assert!(
            !from_flags(1, 0x33f)
                .unwrap()
                .runs_on(&isa("gfx90a", Feature::On, Feature::Off))
        );
    }
}
