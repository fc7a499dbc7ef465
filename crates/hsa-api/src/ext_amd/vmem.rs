//! hsa_ext_amd.h: virtual memory (7.x). Not there yet; `VIRTUAL_MEM_API_SUPPORTED` says so.

use crate::entry::hsa_export;
use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::{c_int, c_void};

hsa_export! { amd_ext:
    /// Reserves addresses.
    unsupported fn hsa_amd_vmem_address_reserve(va: *mut *mut c_void, size: usize, address: u64, flags: u64) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Reserves aligned addresses.
    unsupported fn hsa_amd_vmem_address_reserve_align(va: *mut *mut c_void, size: usize, address: u64, alignment: u64, flags: u64) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Gives addresses back.
    unsupported fn hsa_amd_vmem_address_free(va: *mut c_void, size: usize) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Allocates memory without an address.
    unsupported fn hsa_amd_vmem_handle_create(pool: hsa_amd_memory_pool_t, size: usize, type_: hsa_amd_memory_type_t, flags: u64, memory_handle: *mut hsa_amd_vmem_alloc_handle_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Frees memory without an address.
    unsupported fn hsa_amd_vmem_handle_release(memory_handle: hsa_amd_vmem_alloc_handle_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Gives memory an address.
    unsupported fn hsa_amd_vmem_map(va: *mut c_void, size: usize, in_offset: usize, memory_handle: hsa_amd_vmem_alloc_handle_t, flags: u64) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Takes the address away.
    unsupported fn hsa_amd_vmem_unmap(va: *mut c_void, size: usize) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Sets the rights of agents.
    unsupported fn hsa_amd_vmem_set_access(va: *mut c_void, size: usize, desc: *const hsa_amd_memory_access_desc_t, desc_cnt: usize) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Reads the rights of an agent.
    unsupported fn hsa_amd_vmem_get_access(va: *mut c_void, perms: *mut hsa_access_permission_t, agent_handle: hsa_agent_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Exports memory as a file descriptor.
    unsupported fn hsa_amd_vmem_export_shareable_handle(dmabuf_fd: *mut c_int, handle: hsa_amd_vmem_alloc_handle_t, flags: u64) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Imports memory from a file descriptor.
    unsupported fn hsa_amd_vmem_import_shareable_handle(dmabuf_fd: c_int, handle: *mut hsa_amd_vmem_alloc_handle_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Finds the memory at an address.
    unsupported fn hsa_amd_vmem_retain_alloc_handle(memory_handle: *mut hsa_amd_vmem_alloc_handle_t, addr: *mut c_void) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Describes memory without an address.
    unsupported fn hsa_amd_vmem_get_alloc_properties_from_handle(memory_handle: hsa_amd_vmem_alloc_handle_t, pool: *mut hsa_amd_memory_pool_t, type_: *mut hsa_amd_memory_type_t) = Core::NotSupported;
}
