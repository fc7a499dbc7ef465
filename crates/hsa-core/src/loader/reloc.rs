//! Relocations that the loader applies (LLVM AMDGPUUsage, "Relocation Records").

use super::elf::{CodeObject, ElfSymbol, Relocation};
use crate::{Error, Result};

/// `R_AMDGPU_*` types of loadable relocations.
mod kind {
    pub(super) const NONE: u32 = 0;
    pub(super) const ABS32_LO: u32 = 1;
    pub(super) const ABS32_HI: u32 = 2;
    pub(super) const ABS64: u32 = 3;
    pub(super) const ABS32: u32 = 6;
    pub(super) const RELATIVE64: u32 = 13;
}

/// Applies all relocations of `object` to `image`, whose byte 0 will be at device address `base`.
/// `external` finds what another code object or the program defines.
///
/// # Errors
/// `InvalidCodeObject` for an unknown type or a place outside of the image, `VariableUndefined`
/// for a symbol that nobody defines.
pub(super) fn apply(
    object: &CodeObject<'_>,
    image: &mut [u8],
    base: u64,
    external: impl Fn(&str) -> Option<u64>,
) -> Result<()> {
    for relocation in &object.relocations {
        apply_one(object, image, base, &external, relocation)?;
    }
    Ok(())
}

fn apply_one(
    object: &CodeObject<'_>,
    image: &mut [u8],
    base: u64,
    external: &impl Fn(&str) -> Option<u64>,
    relocation: &Relocation,
) -> Result<()> {
    let value = match relocation.kind {
        kind::NONE => return Ok(()),
        kind::RELATIVE64 => base,
        _ => address(object, base, external, relocation)?,
    };
    let value = value.wrapping_add_signed(relocation.addend);
    match relocation.kind {
        kind::ABS32_LO => store(image, relocation.offset, &low(value)),
        kind::ABS32_HI => store(image, relocation.offset, &low(value >> 32)),
        kind::ABS64 | kind::RELATIVE64 => store(image, relocation.offset, &value.to_le_bytes()),
        // The whole address has to fit.
        kind::ABS32 if value >> 32 == 0 => store(image, relocation.offset, &low(value)),
        _ => Err(Error::InvalidCodeObject),
    }
}

/// The address that a relocation's symbol has on the device.
fn address(
    object: &CodeObject<'_>,
    base: u64,
    external: &impl Fn(&str) -> Option<u64>,
    relocation: &Relocation,
) -> Result<u64> {
    let symbol: &ElfSymbol = object
        .symbols
        .get(relocation.symbol)
        .ok_or(Error::InvalidCodeObject)?;
    if symbol.defined {
        return Ok(base.wrapping_add(symbol.value));
    }
    external(&symbol.name).ok_or_else(|| {
        tracing::debug!(symbol = symbol.name, "undefined external");
        Error::VariableUndefined
    })
}

fn low(value: u64) -> [u8; 4] {
    let bytes = value.to_le_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}

fn store(image: &mut [u8], offset: u64, bytes: &[u8]) -> Result<()> {
    let start = usize::try_from(offset).map_err(|_| Error::InvalidCodeObject)?;
    let end = start
        .checked_add(bytes.len())
        .ok_or(Error::InvalidCodeObject)?;
    image
        .get_mut(start..end)
        .ok_or(Error::InvalidCodeObject)?
        .copy_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::target;
    use super::*;

    const BASE: u64 = 0x7f00_1234_5000;

    fn object(relocation: Relocation) -> CodeObject<'static> {
        let symbol = |name: &str, defined, value| ElfSymbol {
            name: name.to_owned(),
            kind: 1,
            global: true,
            defined,
            value,
            size: 8,
            constant: false,
            alignment: 8,
        };
        CodeObject {
            target: target::from_flags(2, 0x36).unwrap(),
            segments: Vec::new(),
            image_size: 16,
            symbols: vec![
                symbol("", false, 0),
                symbol("here", true, 0x10),
                symbol("there", false, 0),
            ],
            relocations: vec![relocation],
        }
    }

    fn apply_to_zeros(kind: u32, symbol: usize, addend: i64) -> Result<[u8; 16]> {
        let mut image = [0; 16];
        let object = object(Relocation {
            offset: 4,
            kind,
            symbol,
            addend,
        });
        apply(&object, &mut image, BASE, |name| {
            (name == "there").then_some(0x8000_0000)
        })?;
        Ok(image)
    }

    #[test]
    fn each_type_stores_its_part_of_the_address() {
        let at = |image: [u8; 16], n: usize| image[4..4 + n].to_vec();
        let here = BASE + 0x10 + 8;
        assert_eq!(at(apply_to_zeros(3, 1, 8).unwrap(), 8), here.to_le_bytes());
        assert_eq!(
            at(apply_to_zeros(1, 1, 8).unwrap(), 4),
            here.to_le_bytes()[..4]
        );
        assert_eq!(
            at(apply_to_zeros(2, 1, 8).unwrap(), 4),
            here.to_le_bytes()[4..]
        );
        assert_eq!(
            at(apply_to_zeros(13, 0, 0x30).unwrap(), 8),
            (BASE + 0x30).to_le_bytes()
        );
        assert_eq!(
            at(apply_to_zeros(6, 2, -16).unwrap(), 4),
            0x7fff_fff0_u32.to_le_bytes()
        );
        assert_eq!(apply_to_zeros(0, 9, 0).unwrap(), [0; 16]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(apply_to_zeros(6, 1, 0), Err(Error::InvalidCodeObject));
        assert_eq!(apply_to_zeros(4, 1, 0), Err(Error::InvalidCodeObject));
        assert_eq!(apply_to_zeros(3, 7, 0), Err(Error::InvalidCodeObject));
        assert_eq!(apply_to_zeros(3, 0, 0), Err(Error::VariableUndefined));
    }

    #[test]
    fn a_place_outside_of_the_image_is_refused() {
        for offset in [9, 16, u64::MAX - 3, u64::MAX] {
            let object = object(Relocation {
                offset,
                kind: 13,
                symbol: 0,
                addend: 0,
            });
            assert_eq!(
                apply(&object, &mut [0; 16], BASE, |_| None),
                Err(Error::InvalidCodeObject)
            );
        }
    }
}
