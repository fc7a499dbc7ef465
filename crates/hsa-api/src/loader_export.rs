//! `_amdgpu_r_debug`: the one exported object, which debuggers look for by name.

use crate::entry::symver;
use hsa_core::loader::debug::{self, RDebug};

/// `struct r_debug` of `<link.h>`; see `hsa_core::loader::debug`.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(
    test,
    expect(non_upper_case_globals, reason = "AMD's name, not exported here")
)]
pub(crate) static _amdgpu_r_debug: RDebug = RDebug::new();
symver! { _amdgpu_r_debug }

/// Has the loader keep its list in the exported object.
pub(crate) fn publish() {
    debug::publish(&_amdgpu_r_debug);
}
