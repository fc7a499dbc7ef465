//! The runtime's list of code objects under its well-known name, for runtimes that do not announce
//! it by RUNTIME_ENABLE (ROCr 5.2.3 on this interface version). Debuggers find it the same way.

/// Address of `_amdgpu_r_debug` in this process, 0 if no library has it.
pub(super) fn r_debug() -> u64 {
    // SAFETY: the name is a C string; looking a symbol up runs no foreign code but resolvers.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_amdgpu_r_debug".as_ptr()) };
    symbol.expose_provenance() as u64
}
