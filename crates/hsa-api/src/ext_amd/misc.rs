//! hsa_ext_amd.h: coherency, and what this runtime does not have yet.

use crate::args::Out;
use crate::entry::hsa_export;
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::{c_int, c_void};

hsa_export! { amd_ext:
    /// How an agent sees host memory: always coherent.
    fn hsa_amd_coherency_get_type(agent: hsa_agent_t, type_: Out<hsa_amd_coherency_type_t>) {
        let runtime = runtime::current()?;
        let out = type_.required()?;
        require_gpu(runtime, agent)?;
        out.write(HSA_AMD_COHERENCY_TYPE_COHERENT)
    }
}

hsa_export! { amd_ext:
    /// Accepts both types; only AMD's old APUs have a non-coherent mode (HIP sets the other one).
    fn hsa_amd_coherency_set_type(agent: hsa_agent_t, type_: hsa_amd_coherency_type_t) {
        let runtime = runtime::current()?;
        require_gpu(runtime, agent)?;
        match type_ {
            HSA_AMD_COHERENCY_TYPE_COHERENT | HSA_AMD_COHERENCY_TYPE_NONCOHERENT => Ok(()),
            _ => Err(Core::InvalidArgument.into()),
        }
    }
}

fn require_gpu(runtime: &hsa_core::Runtime, agent: hsa_agent_t) -> hsa_core::Result<()> {
    if runtime.agent(agent.handle)?.is_gpu() {
        Ok(())
    } else {
        Err(Core::InvalidAgent)
    }
}

hsa_export! { amd_ext:
    /// Maps a buffer of a graphics interface.
    unsupported fn hsa_amd_interop_map_buffer(
        num_agents: u32,
        agents: *mut hsa_agent_t,
        interop_handle: hsa_handle_t,
        flags: u32,
        size: *mut usize,
        ptr: *mut *mut c_void,
        metadata_size: *mut usize,
        metadata: *mut *const c_void,
    ) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Unmaps a buffer of a graphics interface.
    unsupported fn hsa_amd_interop_unmap_buffer(ptr: *mut c_void) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Streaming performance monitor.
    unsupported fn hsa_amd_spm_acquire(agent: hsa_agent_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Streaming performance monitor.
    unsupported fn hsa_amd_spm_release(agent: hsa_agent_t) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Streaming performance monitor.
    unsupported fn hsa_amd_spm_set_dest_buffer(
        agent: hsa_agent_t,
        size_in_bytes: usize,
        timeout: *mut u32,
        size_copied: *mut u32,
        dest: *mut c_void,
        is_data_loss: *mut bool,
    ) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Writes a file directly from device memory.
    unsupported fn hsa_amd_ais_file_write(
        handle: hsa_amd_ais_file_handle_t,
        device_ptr: *mut c_void,
        size: u64,
        file_offset: i64,
        size_copied: *mut u64,
        status: *mut i32,
    ) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Reads a file directly into device memory.
    unsupported fn hsa_amd_ais_file_read(
        handle: hsa_amd_ais_file_handle_t,
        device_ptr: *mut c_void,
        size: u64,
        file_offset: i64,
        size_copied: *mut u64,
        status: *mut i32,
    ) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Exports memory as a dma-buf.
    unsupported fn hsa_amd_portable_export_dmabuf(ptr: *const c_void, size: usize, dmabuf: *mut c_int, offset: *mut u64) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Exports memory as a dma-buf, with flags.
    unsupported fn hsa_amd_portable_export_dmabuf_v2(ptr: *const c_void, size: usize, dmabuf: *mut c_int, offset: *mut u64, flags: u64) = Core::NotSupported;
}

hsa_export! { amd_ext:
    /// Closes a dma-buf.
    unsupported fn hsa_amd_portable_close_dmabuf(dmabuf: c_int) = Core::NotSupported;
}
