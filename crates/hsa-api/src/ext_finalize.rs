//! hsa_ext_finalize.h: the HSAIL finalizer. ROCm has none; the extension counts as not loaded, and
//! without a program what takes one can only be given a bad handle.

use crate::entry::hsa_export;
use crate::status::Error;
use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::{c_char, c_void};

const PROGRAM: Error = Error::Extension(hsa_status_t(HSA_EXT_STATUS_ERROR_INVALID_PROGRAM.0));

hsa_export! { finalizer:
    /// Creates an HSAIL program.
    unsupported fn hsa_ext_program_create(
        machine_model: hsa_machine_model_t,
        profile: hsa_profile_t,
        default_float_rounding_mode: hsa_default_float_rounding_mode_t,
        options: *const c_char,
        program: *mut hsa_ext_program_t,
    ) = Core::NotInitialized;
}

hsa_export! { finalizer:
    /// Destroys an HSAIL program.
    unsupported fn hsa_ext_program_destroy(program: hsa_ext_program_t) = PROGRAM;
}

hsa_export! { finalizer:
    /// Adds a module to an HSAIL program.
    unsupported fn hsa_ext_program_add_module(program: hsa_ext_program_t, module: hsa_ext_module_t) = PROGRAM;
}

/// The user's function that sees each module.
type EachModule = Option<
    unsafe extern "C-unwind" fn(hsa_ext_program_t, hsa_ext_module_t, *mut c_void) -> hsa_status_t,
>;

hsa_export! { finalizer:
    /// Calls back for the modules of an HSAIL program.
    unsupported fn hsa_ext_program_iterate_modules(program: hsa_ext_program_t, callback: EachModule, data: *mut c_void) = PROGRAM;
}

hsa_export! { finalizer:
    /// Answers one property of an HSAIL program.
    unsupported fn hsa_ext_program_get_info(program: hsa_ext_program_t, attribute: hsa_ext_program_info_t, value: *mut c_void) = PROGRAM;
}

hsa_export! { finalizer:
    /// Compiles an HSAIL program.
    unsupported fn hsa_ext_program_finalize(
        program: hsa_ext_program_t,
        isa: hsa_isa_t,
        call_convention: i32,
        control_directives: hsa_ext_control_directives_t,
        options: *const c_char,
        code_object_type: hsa_code_object_type_t,
        code_object: *mut hsa_code_object_t,
    ) = PROGRAM;
}
