//! Symbols of executables: kernels, variables, and what the program itself defined.

use super::elf::ElfSymbol;
use amdgpu_abi::descriptor::{KernelDescriptor, property};

/// What a symbol is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// A kernel; its address is the kernel object of dispatch packets.
    Kernel {
        /// Bytes of arguments.
        kernarg_size: u32,
        /// Static LDS bytes.
        group_size: u32,
        /// Static scratch bytes per work-item.
        private_size: u32,
        /// The stack grows by what the kernel calls.
        dynamic_callstack: bool,
    },
    /// A variable.
    Variable {
        /// Cannot be written by kernels.
        constant: bool,
        /// Bytes; 0 if unknown.
        alignment: u32,
        /// Defined by the program, not by a code object.
        external: bool,
    },
}

/// One symbol of an executable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Name; of a kernel with `.kd`.
    pub name: String,
    /// Handle of the agent, `None` for a variable of the whole program.
    pub agent: Option<u64>,
    /// Address on the device.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// What it is.
    pub detail: Detail,
}

/// `STT_*` numbers that matter here (ELF; LLVM AMDGPUUsage for the last).
mod elf_type {
    pub(super) const OBJECT: u8 = 1;
    pub(super) const AMDGPU_HSA_KERNEL: u8 = 10;
}

/// Bytes of a kernel descriptor.
const DESCRIPTOR: u64 = 64;
/// Bytes of the `amd_kernel_code_t` before a version 2 kernel's code.
const KERNEL_CODE: usize = 256;
/// `AMD_CODE_PROPERTY_IS_DYNAMIC_CALLSTACK` (amd_hsa_kernel_code.h).
const CODE_PROPERTY_DYNAMIC_CALLSTACK: u32 = 1 << 20;

/// What a defined, global symbol is; `None` for functions and other things without a handle.
pub(super) fn classify(symbol: &ElfSymbol, image: &[u8]) -> Option<Detail> {
    match symbol.kind {
        elf_type::OBJECT if symbol.name.ends_with(".kd") && symbol.size == DESCRIPTOR => {
            kernel(bytes_at(image, symbol.value)?)
        }
        elf_type::OBJECT => Some(Detail::Variable {
            constant: symbol.constant,
            alignment: u32::try_from(symbol.alignment).unwrap_or(0),
            external: false,
        }),
        elf_type::AMDGPU_HSA_KERNEL => version_2_kernel(bytes_at(image, symbol.value)?),
        _ => None,
    }
}

fn bytes_at<const N: usize>(image: &[u8], address: u64) -> Option<&[u8; N]> {
    image.get(usize::try_from(address).ok()?..)?.first_chunk()
}

fn kernel(bytes: &[u8; 64]) -> Option<Detail> {
    let descriptor = KernelDescriptor::parse(bytes);
    Some(Detail::Kernel {
        kernarg_size: descriptor.kernarg_size,
        group_size: descriptor.group_segment_fixed_size,
        private_size: descriptor.private_segment_fixed_size,
        dynamic_callstack: descriptor.kernel_code_properties & property::USES_DYNAMIC_STACK != 0,
    })
}

/// `amd_kernel_code_t` (amd_hsa_kernel_code.h): the fields that dispatch needs lie where a
/// descriptor has them, the sizes lie behind.
fn version_2_kernel(bytes: &[u8; KERNEL_CODE]) -> Option<Detail> {
    let (words, _) = bytes.as_chunks();
    let word = |offset: usize| words.get(offset / 4).map(|&word| u32::from_le_bytes(word));
    Some(Detail::Kernel {
        kernarg_size: word(72)?,
        group_size: word(64)?,
        private_size: word(60)?,
        dynamic_callstack: word(56)? & CODE_PROPERTY_DYNAMIC_CALLSTACK != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, kind: u8, value: u64, size: u64) -> ElfSymbol {
        ElfSymbol {
            name: name.to_owned(),
            kind,
            global: true,
            defined: true,
            value,
            size,
            constant: true,
            alignment: 64,
        }
    }

    /// Offsets of LLVM AMDGPUUsage, "Kernel Descriptor": LDS 0, scratch 4, arguments 8,
    /// properties 56 with bit 11 for a dynamic stack.
    #[test]
    fn a_descriptor_gives_the_kernels_sizes() {
        let mut image = [0_u8; 128];
        image[64] = 16;
        image[68] = 32;
        image[72] = 28;
        image[64 + 57] = 8;
        let expected = Detail::Kernel {
            kernarg_size: 28,
            group_size: 16,
            private_size: 32,
            dynamic_callstack: true,
        };
        assert_eq!(classify(&symbol("k.kd", 1, 64, 64), &image), Some(expected));
        assert_eq!(
            classify(&symbol("k.kd", 1, 65, 64), &image),
            None,
            "cut off"
        );
    }

    #[test]
    fn objects_are_variables_and_functions_are_nothing() {
        let image = [0_u8; 64];
        assert!(matches!(
            classify(&symbol("v", 1, 0, 4), &image),
            Some(Detail::Variable {
                constant: true,
                alignment: 64,
                external: false
            })
        ));
        assert_eq!(classify(&symbol("f", 2, 0, 4), &image), None);
    }
}
