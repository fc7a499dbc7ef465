//! hsa_ven_amd_loader.h: what is loaded where. These functions have no exported names; they are
//! reached through the extension's table.

use crate::args::{Out, Value, ValuePtr, Written};
use crate::entry::{guard, hsa_export, proceed};
use crate::memory::{address, pointer};
use hsa_core::loader::{LoadedCodeObject, SegmentDescriptor, Storage};
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::c_void;

/// The newest version of the table; older ones are its first bytes.
pub(crate) static TABLE: hsa_ven_amd_loader_1_03_pfn_t = hsa_ven_amd_loader_1_03_pfn_t {
    hsa_ven_amd_loader_query_host_address: Some(hsa_ven_amd_loader_query_host_address),
    hsa_ven_amd_loader_query_segment_descriptors: Some(
        hsa_ven_amd_loader_query_segment_descriptors,
    ),
    hsa_ven_amd_loader_query_executable: Some(hsa_ven_amd_loader_query_executable),
    hsa_ven_amd_loader_executable_iterate_loaded_code_objects: Some(
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects,
    ),
    hsa_ven_amd_loader_loaded_code_object_get_info: Some(
        hsa_ven_amd_loader_loaded_code_object_get_info,
    ),
    hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size: Some(
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size,
    ),
    hsa_ven_amd_loader_iterate_executables: Some(hsa_ven_amd_loader_iterate_executables),
};

hsa_export! { none:
    /// The host copy of a device address in loaded code.
    fn hsa_ven_amd_loader_query_host_address(device_address: *const c_void, host_address: Out<*const c_void>) {
        let runtime = runtime::current()?;
        if device_address.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        let out = host_address.required()?;
        let host = runtime.host_address(address(device_address)).ok_or(Core::InvalidArgument)?;
        out.write(pointer(host))
    }
}

hsa_export! { none:
    /// Describes all loaded segments. Without a list, the count is answered.
    fn hsa_ven_amd_loader_query_segment_descriptors(segment_descriptors: Out<hsa_ven_amd_loader_segment_descriptor_t>, num_segment_descriptors: Out<usize>) {
        let runtime = runtime::current()?;
        let count = num_segment_descriptors.required()?;
        let wanted: usize = count.as_input().read()?;
        let segments = runtime.segments();
        match segment_descriptors.optional() {
            // A list without room, or a count without a list, is a mistake.
            None if wanted == 0 => count.write(segments.len()),
            Some(list) if wanted == segments.len() && wanted != 0 => {
                list.write_all(segments.iter().map(descriptor))
            }
            Some(_) if wanted != 0 => Err(Core::IncompatibleArguments.into()),
            _ => Err(Core::InvalidArgument.into()),
        }
    }
}

fn descriptor(segment: &SegmentDescriptor) -> hsa_ven_amd_loader_segment_descriptor_t {
    let (kind, base, size) = storage(&segment.storage);
    hsa_ven_amd_loader_segment_descriptor_t {
        agent: hsa_agent_t {
            handle: segment.agent,
        },
        executable: hsa_executable_t {
            handle: segment.executable,
        },
        code_object_storage_type: kind,
        code_object_storage_base: pointer(base),
        code_object_storage_size: as_size(size),
        code_object_storage_offset: as_size(segment.storage_offset),
        segment_base: pointer(segment.base),
        segment_size: as_size(segment.size),
    }
}

/// Type, base and size; of a file, the base is unknown.
fn storage(storage: &Storage) -> (hsa_ven_amd_loader_code_object_storage_type_t, u64, u64) {
    match storage {
        Storage::Memory { base, size } => (
            HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
            *base,
            *size,
        ),
        Storage::File { size, .. } => (HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE, 0, *size),
    }
}

fn as_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

hsa_export! { none:
    /// The executable around a device address.
    fn hsa_ven_amd_loader_query_executable(device_address: *const c_void, executable: Out<hsa_executable_t>) {
        let runtime = runtime::current()?;
        if device_address.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        let out = executable.required()?;
        let handle = runtime.executable_at(address(device_address)).ok_or(Core::InvalidArgument)?;
        out.write(hsa_executable_t { handle })
    }
}

/// The user's function that sees each loaded code object.
type EachObject = Option<
    unsafe extern "C-unwind" fn(
        hsa_executable_t,
        hsa_loaded_code_object_t,
        *mut c_void,
    ) -> hsa_status_t,
>;
/// The user's function that sees each executable.
type EachExecutable =
    Option<unsafe extern "C-unwind" fn(hsa_executable_t, *mut c_void) -> hsa_status_t>;

hsa_export! { none:
    /// Calls back for the code objects that an executable has loaded.
    callback fn hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable: hsa_executable_t, callback: EachObject, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            Ok((callback, runtime.loaded_code_objects(executable.handle)?))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(executable, hsa_loaded_code_object_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { none:
    /// Calls back for all executables.
    callback fn hsa_ven_amd_loader_iterate_executables(callback: EachExecutable, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            Ok((callback.ok_or(Core::InvalidArgument)?, runtime.executables()))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(hsa_executable_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { none:
    /// Answers one property of a loaded code object.
    fn hsa_ven_amd_loader_loaded_code_object_get_info(loaded_code_object: hsa_loaded_code_object_t, attribute: hsa_ven_amd_loader_loaded_code_object_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let object = runtime.loaded_code_object(loaded_code_object.handle)?;
        let written = place_info(&object, attribute, value);
        let written = written.or_else(|| storage_info(&object.storage, attribute, value));
        written.map(drop).ok_or(Core::InvalidArgument.into())
    }
}

fn place_info(
    object: &LoadedCodeObject,
    attribute: hsa_ven_amd_loader_loaded_code_object_info_t,
    value: ValuePtr,
) -> Option<Written> {
    Some(match attribute {
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE => value.put(hsa_executable_t {
            handle: object.executable,
        }),
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND => {
            value.put(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT)
        }
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT => value.put(hsa_agent_t {
            handle: object.agent,
        }),
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA => {
            value.put::<i64>(object.load_delta.cast_signed())
        }
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE => value.put::<u64>(object.load_base),
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE => value.put::<u64>(object.load_size),
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH => {
            value.put(u32::try_from(object.uri.len()).unwrap_or(0))
        }
        HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI => value.bytes(object.uri.as_bytes()),
        _ => return None,
    })
}

fn storage_info(
    storage: &Storage,
    attribute: hsa_ven_amd_loader_loaded_code_object_info_t,
    value: ValuePtr,
) -> Option<Written> {
    let (kind, base, size) = self::storage(storage);
    Some(match (attribute, storage) {
        (HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE, _) => value.put(kind),
        (
            HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE,
            Storage::Memory { .. },
        ) => value.put::<u64>(base),
        (
            HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE,
            Storage::Memory { .. },
        ) => value.put::<u64>(size),
        (
            HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE,
            Storage::File { fd, .. },
        ) => value.put::<i32>(*fd),
        _ => return None,
    })
}

hsa_export! { none:
    /// Makes a reader of a part of an open file.
    fn hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
        file: i32,
        offset: usize,
        size: usize,
        code_object_reader: Out<hsa_code_object_reader_t>,
    ) {
        let runtime = runtime::current()?;
        let out = code_object_reader.required()?;
        if size == 0 {
            return Err(Core::InvalidArgument.into());
        }
        let handle = runtime.reader_from_file(file, offset as u64, Some(size as u64))?;
        out.write(hsa_code_object_reader_t { handle })
    }
}
