//! hsa.h: code objects without a reader, deprecated since HSA 1.1.
//!
//! A code object handle is the address of its ELF file in AMD's runtime; the only way to make one
//! is `hsa_code_object_deserialize`. No compiler or library of ROCm uses these functions since 2017,
//! so here no code object can be made, and what takes one answers that it is none.

use crate::args::Text;
use crate::entry::hsa_export;
use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::{c_char, c_void};

/// The user's allocator.
type Alloc = Option<
    unsafe extern "C-unwind" fn(usize, hsa_callback_data_t, *mut *mut c_void) -> hsa_status_t,
>;
/// The user's function that sees each symbol.
type EachSymbol = Option<
    unsafe extern "C-unwind" fn(hsa_code_object_t, hsa_code_symbol_t, *mut c_void) -> hsa_status_t,
>;

hsa_export! { core:
    /// Writes a code object to memory.
    unsupported fn hsa_code_object_serialize(
        code_object: hsa_code_object_t,
        alloc_callback: Alloc,
        callback_data: hsa_callback_data_t,
        options: Text,
        serialized_code_object: *mut *mut c_void,
        serialized_code_object_size: *mut usize,
    ) = Core::InvalidCodeObject;
}

hsa_export! { core:
    /// Makes a code object of memory.
    unsupported fn hsa_code_object_deserialize(
        serialized_code_object: *mut c_void,
        serialized_code_object_size: usize,
        options: Text,
        code_object: *mut hsa_code_object_t,
    ) = Core::InvalidArgument;
}

hsa_export! { core:
    /// Destroys a code object.
    unsupported fn hsa_code_object_destroy(code_object: hsa_code_object_t) = Core::InvalidCodeObject;
}

hsa_export! { core:
    /// Answers one property of a code object.
    unsupported fn hsa_code_object_get_info(code_object: hsa_code_object_t, attribute: hsa_code_object_info_t, value: *mut c_void) = Core::InvalidCodeObject;
}

hsa_export! { core:
    /// Finds a symbol of a code object.
    unsupported fn hsa_code_object_get_symbol(code_object: hsa_code_object_t, symbol_name: *const c_char, symbol: *mut hsa_code_symbol_t) = Core::InvalidCodeObject;
}

hsa_export! { core:
    /// Finds a symbol of a code object.
    unsupported fn hsa_code_object_get_symbol_from_name(
        code_object: hsa_code_object_t,
        module_name: *const c_char,
        symbol_name: *const c_char,
        symbol: *mut hsa_code_symbol_t,
    ) = Core::InvalidCodeObject;
}

hsa_export! { core:
    /// Answers one property of a code object's symbol.
    unsupported fn hsa_code_symbol_get_info(code_symbol: hsa_code_symbol_t, attribute: hsa_code_symbol_info_t, value: *mut c_void) = Core::InvalidCodeSymbol;
}

hsa_export! { core:
    /// Calls back for the symbols of a code object.
    unsupported fn hsa_code_object_iterate_symbols(code_object: hsa_code_object_t, callback: EachSymbol, data: *mut c_void) = Core::InvalidCodeObject;
}

hsa_export! { core:
    /// Loads a code object without a reader.
    unsupported fn hsa_executable_load_code_object(executable: hsa_executable_t, agent: hsa_agent_t, code_object: hsa_code_object_t, options: Text) = Core::InvalidCodeObject;
}
