//! hsa.h: regions and memory. A region and a pool are two names of one thing.

use crate::agent::Each;
use crate::args::{Out, Value, ValuePtr, Written};
use crate::entry::{Result, guard, hsa_export, proceed};
use hsa_core::{Error as Core, Pool, runtime};
use hsa_sys::*;
use std::ffi::c_void;

/// The address that a C pointer holds.
pub(crate) fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

/// The C pointer to an address.
pub(crate) fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

/// `size_t` as the crates below count bytes.
pub(crate) fn bytes(size: usize) -> u64 {
    size as u64
}

/// A byte count as `size_t`.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

hsa_export! { core:
    /// Calls back for every region of an agent.
    callback fn hsa_agent_iterate_regions(agent: hsa_agent_t, callback: Each<hsa_region_t>, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            let pools = runtime.agent_pools(runtime.agent(agent.handle)?);
            Ok((callback, pools.iter().map(Pool::handle).collect::<Vec<_>>()))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(hsa_region_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Answers one property of a region.
    fn hsa_region_get_info(region: hsa_region_t, attribute: hsa_region_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        info(runtime.region(region.handle)?, attribute, value).map(drop)
    }
}

fn info(region: &Pool, attribute: hsa_region_info_t, value: ValuePtr) -> Result<Written> {
    Ok(match attribute {
        HSA_REGION_INFO_SEGMENT => value.put(hsa_region_segment_t(region.segment() as u32)),
        HSA_REGION_INFO_GLOBAL_FLAGS => value.put::<u32>(region.global_flags()),
        HSA_REGION_INFO_SIZE => value.put::<usize>(size(region.size)),
        HSA_REGION_INFO_ALLOC_MAX_SIZE => value.put::<usize>(size(region.alloc_max_size)),
        HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE => value.put::<u32>(0),
        HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED => value.put::<bool>(region.alloc_allowed()),
        HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE | HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT => {
            value.put::<usize>(size(region.alloc_granule()))
        }
        other => return amd_info(region, hsa_amd_region_info_t(other.0), value),
    })
}

fn amd_info(region: &Pool, attribute: hsa_amd_region_info_t, value: ValuePtr) -> Result<Written> {
    Ok(match attribute {
        HSA_AMD_REGION_INFO_HOST_ACCESSIBLE => value.put::<bool>(region.host_accessible),
        // Regions have no address of their own.
        HSA_AMD_REGION_INFO_BASE => value.put(std::ptr::null_mut::<c_void>()),
        HSA_AMD_REGION_INFO_BUS_WIDTH => value.put::<u32>(region.bus_width),
        HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY => value.put::<u32>(region.max_clock_mhz),
        _ => return Err(Core::InvalidArgument.into()),
    })
}

hsa_export! { core:
    /// Allocates from a region.
    fn hsa_memory_allocate(region: hsa_region_t, size: usize, ptr: Out<*mut c_void>) {
        let runtime = runtime::current()?;
        if size == 0 {
            return Err(Core::InvalidArgument.into());
        }
        let out = ptr.required()?;
        let region = runtime.region(region.handle)?;
        out.write(pointer(runtime.allocate(region, bytes(size), 0)?))
    }
}

hsa_export! { core:
    /// Frees memory; null is accepted.
    fn hsa_memory_free(ptr: *mut c_void) {
        Ok(runtime::current()?.free(address(ptr))?)
    }
}

hsa_export! { core:
    /// Copies between any two addresses and waits.
    fn hsa_memory_copy(dst: *mut c_void, src: *const c_void, size: usize) {
        let runtime = runtime::current()?;
        if dst.is_null() || src.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        if size == 0 {
            return Ok(());
        }
        // SAFETY: the caller of the C function vouches for both ranges.
        Ok(unsafe { runtime.copy(address(dst), address(src), bytes(size)) }?)
    }
}

hsa_export! { core:
    /// Announces host memory to agents of the full profile; on others it changes nothing.
    fn hsa_memory_register(ptr: *mut c_void, size: usize) {
        runtime::current()?;
        if size == 0 && !ptr.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Undoes `hsa_memory_register`; nothing to do.
    fn hsa_memory_deregister(ptr: *mut c_void, size: usize) {
        let _ = (ptr, size);
        runtime::current()?;
        Ok(())
    }
}

hsa_export! { core:
    /// Moves the ownership of coarse memory to an agent. Every agent with access sees one copy
    /// here, so there is nothing to move.
    fn hsa_memory_assign_agent(ptr: *mut c_void, agent: hsa_agent_t, access: hsa_access_permission_t) {
        let runtime = runtime::current()?;
        let known = matches!(access, HSA_ACCESS_PERMISSION_RO | HSA_ACCESS_PERMISSION_WO | HSA_ACCESS_PERMISSION_RW);
        if ptr.is_null() || !known {
            return Err(Core::InvalidArgument.into());
        }
        runtime.agent(agent.handle)?;
        Ok(())
    }
}
