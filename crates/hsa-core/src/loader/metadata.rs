//! Notes of version 2 code objects. Later versions say their target in the ELF header, and their
//! metadata (argument lists, names for people) is read by compilers' tools, not by the runtime.

use super::target::{self, Target};
use crate::isa::Feature;
use crate::{Error, Result};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};

const ENDIAN: LittleEndian = LittleEndian;
/// `NT_AMD_HSA_ISA_VERSION` (LLVM AMDGPUUsage, "Code Object V2 Note Records").
const NT_ISA_VERSION: u32 = 3;
/// `EF_AMDGPU_FEATURE_XNACK_V2`
const XNACK_V2: u32 = 1;

/// The target of a version 2 code object: its ISA note.
///
/// # Errors
/// `InvalidCodeObject` without a note, `InvalidIsaName` for an unknown processor.
pub(super) fn version_2_target(
    header: &FileHeader64<LittleEndian>,
    data: &[u8],
    flags: u32,
) -> Result<Target> {
    let (major, minor, stepping) = isa_note(header, data).ok_or(Error::InvalidCodeObject)?;
    let name = format!("gfx{major}{minor:x}{stepping:x}");
    let processor = target::processor(&name).ok_or(Error::InvalidIsaName)?;
    let xnack = if flags & XNACK_V2 == 0 {
        Feature::Off
    } else {
        Feature::On
    };
    // Version 2 knows nothing of SRAM-ECC.
    Ok(Target {
        processor,
        sramecc: Feature::Any,
        xnack,
        generic_version: 0,
    })
}

fn isa_note(header: &FileHeader64<LittleEndian>, data: &[u8]) -> Option<(u32, u32, u32)> {
    let programs = header.program_headers(ENDIAN, data).ok()?;
    for program in programs {
        let Ok(Some(mut notes)) = program.notes(ENDIAN, data) else {
            continue;
        };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == b"AMD" && note.n_type(ENDIAN).0 == NT_ISA_VERSION {
                return isa_version(note.desc());
            }
        }
    }
    None
}

/// Two 16-bit lengths of names, then major, minor and stepping.
fn isa_version(desc: &[u8]) -> Option<(u32, u32, u32)> {
    let (words, _) = desc.get(4..)?.as_chunks();
    let word = |i: usize| words.get(i).map(|&word| u32::from_le_bytes(word));
    Some((word(0)?, word(1)?, word(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_note_is_refused() {
        assert_eq!(
            isa_version(&[4, 0, 7, 0, 9, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0]),
            Some((9, 0, 6))
        );
        assert_eq!(
            isa_version(&[4, 0, 7, 0, 9, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0]),
            None
        );
        assert_eq!(isa_version(&[4, 0]), None);
    }
}
