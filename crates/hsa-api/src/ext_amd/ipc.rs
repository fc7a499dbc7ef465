//! hsa_ext_amd.h: memory and signals shared between processes. Not there yet.

use crate::entry::hsa_export;
use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::c_void;

hsa_export! { amd_ext:
    /// Makes a handle of an allocation for other processes.
    unsupported fn hsa_amd_ipc_memory_create(ptr: *mut c_void, len: usize, handle: *mut hsa_amd_ipc_memory_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Maps an allocation of another process.
    unsupported fn hsa_amd_ipc_memory_attach(
        handle: *const hsa_amd_ipc_memory_t,
        len: usize,
        num_agents: u32,
        mapping_agents: *const hsa_agent_t,
        mapped_ptr: *mut *mut c_void,
    ) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Unmaps an allocation of another process.
    unsupported fn hsa_amd_ipc_memory_detach(mapped_ptr: *mut c_void) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Makes a handle of a signal for other processes.
    unsupported fn hsa_amd_ipc_signal_create(signal: hsa_signal_t, handle: *mut hsa_amd_ipc_signal_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Opens a signal of another process.
    unsupported fn hsa_amd_ipc_signal_attach(handle: *const hsa_amd_ipc_signal_t, signal: *mut hsa_signal_t) = Core::NotSupported;
}
