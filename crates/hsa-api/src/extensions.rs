//! Which extensions there are, and the tables of their functions.

use crate::args::Value;
use crate::entry::Result;
use crate::ven_amd_loader;
use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::CStr;

/// The name of an extension that hsa.h or hsa_ext_amd.h numbers, whether it is there or not.
pub(crate) fn name(extension: u16) -> Option<&'static CStr> {
    Some(match hsa_extension_t(u32::from(extension)) {
        HSA_EXTENSION_FINALIZER => c"HSA_EXTENSION_FINALIZER",
        HSA_EXTENSION_IMAGES => c"HSA_EXTENSION_IMAGES",
        HSA_EXTENSION_PERFORMANCE_COUNTERS => c"HSA_EXTENSION_PERFORMANCE_COUNTERS",
        HSA_EXTENSION_PROFILING_EVENTS => c"HSA_EXTENSION_PROFILING_EVENTS",
        HSA_EXTENSION_AMD_PROFILER => c"HSA_EXTENSION_AMD_PROFILER",
        HSA_EXTENSION_AMD_LOADER => c"HSA_EXTENSION_AMD_LOADER",
        HSA_EXTENSION_AMD_AQLPROFILE => c"HSA_EXTENSION_AMD_AQLPROFILE",
        HSA_EXTENSION_AMD_PC_SAMPLING => c"HSA_EXTENSION_AMD_PC_SAMPLING",
        _ => return None,
    })
}

/// The newest minor version of an extension's major version; `None` if that is not there.
pub(crate) fn newest_minor(extension: u16, major: u16) -> Option<u16> {
    match (extension, major) {
        (hsa_core::system::EXTENSION_AMD_LOADER, 1) => Some(3),
        (hsa_core::system::EXTENSION_AMD_PROFILER | hsa_core::system::EXTENSION_IMAGES, 1) => {
            Some(0)
        }
        _ => None,
    }
}

/// Bytes of an extension's table in one minor version of major version 1.
pub(crate) fn table_size(extension: u16, minor: u16) -> Option<usize> {
    if extension != hsa_core::system::EXTENSION_AMD_LOADER {
        return None;
    }
    Some(match minor {
        0 => size_of::<hsa_ven_amd_loader_1_00_pfn_t>(),
        1 => size_of::<hsa_ven_amd_loader_1_01_pfn_t>(),
        2 => size_of::<hsa_ven_amd_loader_1_02_pfn_t>(),
        3 => size_of::<hsa_ven_amd_loader_1_03_pfn_t>(),
        _ => return None,
    })
}

/// Copies what fits of an extension's table. Images, the finalizer, aqlprofile and PC sampling
/// answer `HSA_STATUS_ERROR`, as AMD's runtime does when their libraries are not installed.
pub(crate) fn copy_table(extension: u16, major: u16, length: usize, table: Value) -> Result {
    let table = table.required()?;
    name(extension).ok_or(Core::InvalidArgument)?;
    if length == 0 {
        return Err(Core::InvalidArgument.into());
    }
    if extension != hsa_core::system::EXTENSION_AMD_LOADER || major != 1 {
        return Err(Core::Generic.into());
    }
    table.prefix_of(&ven_amd_loader::TABLE, length);
    Ok(())
}
