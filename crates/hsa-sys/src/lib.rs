//! Types and constants of the HSA headers, no functions.
//!
//! What it is: the ROCm 7.2.4 set of hsa.h, hsa_ext_amd.h, hsa_ext_image.h, hsa_ext_finalize.h,
//! hsa_ven_amd_{loader,aqlprofile,pc_sampling}.h, hsa_amd_tool.h and the API tables of
//! hsa_api_trace.h, under their C names, with size and offset assertions. Enumerations are
//! transparent newtypes, since a caller may pass any number. What it is not: a binding that can be
//! linked; the functions are `hsa-api`'s.
//!
//! ```
//! use hsa_sys::{HSA_STATUS_ERROR_NOT_INITIALIZED, hsa_status_t};
//!
//! assert_eq!(hsa_status_t(0x100b), HSA_STATUS_ERROR_NOT_INITIALIZED);
//! ```

#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the C headers, whose names stay verbatim; the headers document them"
)]
mod bindings;

pub use bindings::*;
