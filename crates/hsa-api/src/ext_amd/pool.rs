//! hsa_ext_amd.h: memory pools, access, pinning.

use crate::agent::Each;
use crate::args::{In, InMut, Out, Value, ValuePtr, Written};
use crate::entry::{Result, guard, hsa_export, proceed};
use crate::memory::{address, bytes, pointer};
use crate::signal::agents;
use hsa_core::pool::LinkInfo;
use hsa_core::{Error as Core, Pool, runtime};
use hsa_sys::*;
use std::ffi::{c_int, c_void};

hsa_export! { amd_ext:
    /// Calls back for every pool of an agent.
    callback fn hsa_amd_agent_iterate_memory_pools(agent: hsa_agent_t, callback: Each<hsa_amd_memory_pool_t>, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            let pools = runtime.agent_pools(runtime.agent(agent.handle)?);
            Ok((callback, pools.iter().map(Pool::handle).collect::<Vec<_>>()))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(hsa_amd_memory_pool_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { amd_ext:
    /// Answers one property of a pool.
    fn hsa_amd_memory_pool_get_info(memory_pool: hsa_amd_memory_pool_t, attribute: hsa_amd_memory_pool_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        info(runtime.pool(memory_pool.handle)?, attribute, value).map(drop)
    }
}

fn info(pool: &Pool, attribute: hsa_amd_memory_pool_info_t, value: ValuePtr) -> Result<Written> {
    let size = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
    Ok(match attribute {
        HSA_AMD_MEMORY_POOL_INFO_SEGMENT => value.put(hsa_amd_segment_t(pool.segment() as u32)),
        HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS => value.put::<u32>(pool.global_flags()),
        HSA_AMD_MEMORY_POOL_INFO_SIZE => value.put::<usize>(size(pool.size)),
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED => value.put::<bool>(pool.alloc_allowed()),
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE
        | HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT => {
            value.put::<usize>(size(pool.alloc_granule()))
        }
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE => {
            value.put::<usize>(size(pool.alloc_rec_granule()))
        }
        HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL => value.put::<bool>(pool.accessible_by_all()),
        HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE => value.put::<usize>(size(pool.alloc_max_size)),
        HSA_AMD_MEMORY_POOL_INFO_LOCATION => value.put::<u32>(pool.location()),
        _ => return Err(Core::InvalidArgument.into()),
    })
}

hsa_export! { amd_ext:
    /// Allocates from a pool.
    fn hsa_amd_memory_pool_allocate(memory_pool: hsa_amd_memory_pool_t, size: usize, flags: u32, ptr: Out<*mut c_void>) {
        let runtime = runtime::current()?;
        if size == 0 {
            return Err(Core::InvalidArgument.into());
        }
        let out = ptr.required()?;
        let pool = runtime.pool(memory_pool.handle)?;
        out.write(pointer(runtime.allocate(pool, bytes(size), flags)?))
    }
}

hsa_export! { amd_ext:
    /// Frees memory; null is accepted.
    fn hsa_amd_memory_pool_free(ptr: *mut c_void) {
        Ok(runtime::current()?.free(address(ptr))?)
    }
}

hsa_export! { amd_ext:
    /// Answers how an agent reaches a pool.
    fn hsa_amd_agent_memory_pool_get_info(agent: hsa_agent_t, memory_pool: hsa_amd_memory_pool_t, attribute: hsa_amd_agent_memory_pool_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let agent = runtime.agent(agent.handle)?;
        let pool = runtime.pool(memory_pool.handle)?;
        match attribute {
            HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS => {
                value.put(hsa_amd_memory_pool_access_t(runtime.pool_access(agent, pool) as u32))
            }
            HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS => {
                value.put(u32::try_from(runtime.pool_links(agent, pool).len()).unwrap_or(0))
            }
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO => {
                let links = runtime.pool_links(agent, pool);
                value.records(&links.iter().map(link_record).collect::<Vec<_>>())
            }
            _ => return Err(Core::InvalidArgument.into()),
        };
        Ok(())
    }
}

fn link_record(link: &LinkInfo) -> hsa_amd_memory_pool_link_info_t {
    hsa_amd_memory_pool_link_info_t {
        min_latency: link.min_latency,
        max_latency: link.max_latency,
        min_bandwidth: link.min_bandwidth,
        max_bandwidth: link.max_bandwidth,
        atomic_support_32bit: link.atomic_support_32bit,
        atomic_support_64bit: link.atomic_support_64bit,
        coherent_support: link.coherent_support,
        link_type: hsa_amd_link_info_type_t(link.link_type as u32),
        numa_distance: link.numa_distance,
    }
}

hsa_export! { amd_ext:
    /// Replaces the agents that may access an allocation.
    fn hsa_amd_agents_allow_access(num_agents: u32, agents: In<hsa_agent_t>, flags: In<u32>, ptr: *const c_void) {
        let runtime = runtime::current()?;
        // hsa_ext_amd.h: flags are for later versions and must be null.
        if num_agents == 0 || agents.is_null() || !flags.is_null() || ptr.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        Ok(runtime.allow_access(&self::agents(runtime, &agents, num_agents)?, address(ptr))?)
    }
}

hsa_export! { amd_ext:
    /// Whether memory can move from one pool to another: never, as in AMD's runtime.
    fn hsa_amd_memory_pool_can_migrate(src_memory_pool: hsa_amd_memory_pool_t, dst_memory_pool: hsa_amd_memory_pool_t, result: Out<bool>) {
        let runtime = runtime::current()?;
        let _ = result.required()?;
        runtime.pool(src_memory_pool.handle)?;
        runtime.pool(dst_memory_pool.handle)?;
        Err(Core::OutOfResources.into())
    }
}

hsa_export! { amd_ext:
    /// Moves memory to another pool: no pool can, as in AMD's runtime.
    fn hsa_amd_memory_migrate(ptr: *const c_void, memory_pool: hsa_amd_memory_pool_t, flags: u32) {
        let runtime = runtime::current()?;
        if ptr.is_null() || flags != 0 {
            return Err(Core::InvalidArgument.into());
        }
        runtime.pool(memory_pool.handle)?;
        Err(Core::OutOfResources.into())
    }
}

/// Pins for all GPUs if the list is empty.
fn lock(
    host: *mut c_void,
    size: usize,
    agents: &In<hsa_agent_t>,
    count: c_int,
    pool: Option<hsa_amd_memory_pool_t>,
    flags: u32,
) -> Result<u64> {
    let runtime = runtime::current()?;
    let count = u32::try_from(count).map_err(|_| Core::InvalidArgument)?;
    // hsa_ext_amd.h: a count without a list, or a list without a count, is a mistake.
    if host.is_null() || size == 0 || agents.is_null() != (count == 0) {
        return Err(Core::InvalidArgument.into());
    }
    let pool = pool.map(|pool| runtime.pool(pool.handle)).transpose()?;
    if pool.is_some_and(|pool| !pool.kind.is_system()) {
        return Err(Core::InvalidMemoryPool.into());
    }
    let agents = self::agents(runtime, agents, count)?;
    // SAFETY: the caller of the C function keeps the range mapped until it unlocks it.
    Ok(unsafe { runtime.lock(address(host), bytes(size), &agents, pool, flags) }?)
}

hsa_export! { amd_ext:
    /// Pins host memory and answers its address for agents.
    fn hsa_amd_memory_lock(host_ptr: *mut c_void, size: usize, agents: InMut<hsa_agent_t>, num_agent: c_int, agent_ptr: Out<*mut c_void>) {
        runtime::current()?;
        let out = agent_ptr.required()?;
        out.write(pointer(lock(host_ptr, size, &agents.0, num_agent, None, 0)?))
    }
}

hsa_export! { amd_ext:
    /// Pins host memory with the properties of a pool and answers its address for agents.
    fn hsa_amd_memory_lock_to_pool(
        host_ptr: *mut c_void,
        size: usize,
        agents: InMut<hsa_agent_t>,
        num_agent: c_int,
        pool: hsa_amd_memory_pool_t,
        flags: u32,
        agent_ptr: Out<*mut c_void>,
    ) {
        runtime::current()?;
        let out = agent_ptr.required()?;
        out.write(pointer(lock(host_ptr, size, &agents.0, num_agent, Some(pool), flags)?))
    }
}

hsa_export! { amd_ext:
    /// Unpins host memory.
    fn hsa_amd_memory_unlock(host_ptr: *mut c_void) {
        let runtime = runtime::current()?;
        if host_ptr.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        Ok(runtime.unlock(address(host_ptr))?)
    }
}

hsa_export! { amd_ext:
    /// Fills dwords and waits.
    fn hsa_amd_memory_fill(ptr: *mut c_void, value: u32, count: usize) {
        let runtime = runtime::current()?;
        if ptr.is_null() || !address(ptr).is_multiple_of(4) {
            return Err(Core::InvalidArgument.into());
        }
        if count == 0 {
            return Ok(());
        }
        // SAFETY: the caller of the C function vouches for the range.
        Ok(unsafe { runtime.fill(address(ptr), value, bytes(count)) }?)
    }
}
