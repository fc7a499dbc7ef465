//! hsa.h: agents and their caches.

use crate::args::{Out, Value, ValuePtr, Written};
use crate::entry::{Result, guard, hsa_export, proceed};
use hsa_core::{Agent, Error as Core, Runtime, runtime};
use hsa_sys::*;
use std::ffi::c_void;

/// Of the user's iteration callbacks.
pub(crate) type Each<T> = Option<unsafe extern "C-unwind" fn(T, *mut c_void) -> hsa_status_t>;

hsa_export! { core:
    /// Calls back for every agent, CPUs first.
    callback fn hsa_iterate_agents(callback: Each<hsa_agent_t>, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            Ok((callback, runtime.agents().iter().map(Agent::handle).collect::<Vec<_>>()))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(hsa_agent_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Answers one property of an agent.
    fn hsa_agent_get_info(agent: hsa_agent_t, attribute: hsa_agent_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let agent = runtime.agent(agent.handle)?;
        info(runtime, agent, attribute, value).map(drop)
    }
}

fn info(
    runtime: &Runtime,
    agent: &Agent,
    attribute: hsa_agent_info_t,
    value: ValuePtr,
) -> Result<Written> {
    let identity = identity(runtime, agent, attribute, value);
    let limits = || limits(agent, attribute, value);
    let extended = || amd_info(agent, hsa_amd_agent_info_t(attribute.0), value);
    if let Some(written) = identity.or_else(limits).or_else(extended) {
        return Ok(written);
    }
    match attribute.0 {
        0x3000..=0x300c => Ok(image_limit(agent, attribute.0, value)),
        other => driver_info(runtime, agent, hsa_amd_agent_info_t(other), value),
    }
}

/// hsa.h: what the agent is.
fn identity(
    runtime: &Runtime,
    agent: &Agent,
    attribute: hsa_agent_info_t,
    value: ValuePtr,
) -> Option<Written> {
    Some(match attribute {
        HSA_AGENT_INFO_NAME => value.text::<64>(&agent.name),
        HSA_AGENT_INFO_VENDOR_NAME => value.text::<64>(agent.vendor_name),
        HSA_AGENT_INFO_FEATURE => value.put::<u32>(agent.feature),
        HSA_AGENT_INFO_MACHINE_MODEL => value.put(HSA_MACHINE_MODEL_LARGE),
        HSA_AGENT_INFO_PROFILE => value.put::<u32>(agent.profile),
        HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE
        | HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => {
            value.put(HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
        }
        HSA_AGENT_INFO_FAST_F16_OPERATION => value.put::<bool>(agent.fast_f16),
        HSA_AGENT_INFO_NODE => value.put::<u32>(agent.node),
        HSA_AGENT_INFO_DEVICE => value.put(hsa_device_type_t(agent.device_type as u32)),
        HSA_AGENT_INFO_CACHE_SIZE => value.put::<[u32; 4]>(agent.cache_sizes),
        HSA_AGENT_INFO_ISA => {
            let first = runtime.agent_isas(agent).first();
            value.put(hsa_isa_t {
                handle: first.map_or(0, hsa_core::Isa::handle),
            })
        }
        HSA_AGENT_INFO_EXTENSIONS => value.put::<[u8; 128]>(agent.extensions()),
        HSA_AGENT_INFO_VERSION_MAJOR => value.put::<u16>(hsa_core::system::VERSION.0),
        HSA_AGENT_INFO_VERSION_MINOR => value.put::<u16>(hsa_core::system::VERSION.1),
        _ => return None,
    })
}

/// hsa.h: sizes of dispatches and queues.
fn limits(agent: &Agent, attribute: hsa_agent_info_t, value: ValuePtr) -> Option<Written> {
    Some(match attribute {
        HSA_AGENT_INFO_WAVEFRONT_SIZE => value.put::<u32>(agent.wavefront_size),
        HSA_AGENT_INFO_WORKGROUP_MAX_DIM => value.put::<[u16; 3]>(agent.workgroup_max_dim),
        HSA_AGENT_INFO_WORKGROUP_MAX_SIZE => value.put::<u32>(agent.workgroup_max_size),
        HSA_AGENT_INFO_GRID_MAX_DIM => value.put::<[u32; 3]>(agent.grid_max_dim),
        HSA_AGENT_INFO_GRID_MAX_SIZE => value.put::<u32>(agent.grid_max_size),
        HSA_AGENT_INFO_FBARRIER_MAX_SIZE => value.put::<u32>(agent.fbarrier_max_size),
        HSA_AGENT_INFO_QUEUES_MAX => value.put::<u32>(agent.queues_max),
        HSA_AGENT_INFO_QUEUE_MIN_SIZE => value.put::<u32>(agent.queue_min_size),
        HSA_AGENT_INFO_QUEUE_MAX_SIZE => value.put::<u32>(agent.queue_max_size),
        HSA_AGENT_INFO_QUEUE_TYPE => value.put::<u32>(HSA_QUEUE_TYPE_MULTI.0),
        _ => return None,
    })
}

/// hsa_ext_amd.h: what the topology says.
fn amd_info(agent: &Agent, attribute: hsa_amd_agent_info_t, value: ValuePtr) -> Option<Written> {
    Some(match attribute {
        HSA_AMD_AGENT_INFO_CHIP_ID => value.put::<u32>(agent.chip_id),
        HSA_AMD_AGENT_INFO_CACHELINE_SIZE => value.put::<u32>(agent.cacheline_size),
        HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => value.put::<u32>(agent.compute_unit_count),
        HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY => value.put::<u32>(agent.max_clock_mhz),
        HSA_AMD_AGENT_INFO_DRIVER_NODE_ID => value.put::<u32>(agent.node),
        HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS => {
            value.put::<u32>(agent.max_address_watch_points)
        }
        HSA_AMD_AGENT_INFO_BDFID => value.put::<u32>(agent.bdfid),
        HSA_AMD_AGENT_INFO_MEMORY_WIDTH => value.put::<u32>(agent.memory_width),
        HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY => value.put::<u32>(agent.memory_max_clock_mhz),
        HSA_AMD_AGENT_INFO_PRODUCT_NAME => value.text::<64>(&agent.product_name),
        HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU => value.put::<u32>(agent.max_waves_per_cu),
        HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU => value.put::<u32>(agent.simds_per_cu),
        HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES => value.put::<u32>(agent.shader_engines),
        HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE => {
            value.put::<u32>(agent.shader_arrays_per_engine)
        }
        HSA_AMD_AGENT_INFO_DOMAIN => value.put::<u32>(agent.domain),
        HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES => value.put::<bool>(agent.cooperative_queues),
        HSA_AMD_AGENT_INFO_UUID => value.text::<21>(&agent.uuid),
        HSA_AMD_AGENT_INFO_ASIC_REVISION => value.put::<u32>(agent.asic_revision),
        HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS => {
            value.put::<bool>(agent.svm_direct_host_access)
        }
        HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT => {
            value.put::<u32>(agent.cooperative_compute_unit_count)
        }
        HSA_AMD_AGENT_INFO_NEAREST_CPU => value.put(hsa_agent_t {
            handle: agent.nearest_cpu_handle(),
        }),
        HSA_AMD_AGENT_INFO_IOMMU_SUPPORT => value.put::<u32>(agent.iommu_support),
        HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES => value.put::<[u8; 8]>(agent.memory_properties()),
        HSA_AMD_AGENT_INFO_AQL_EXTENSIONS => value.put::<[u8; 8]>([0; 8]),
        _ => return gpu_info(agent, attribute, value),
    })
}

/// hsa_ext_amd.h: properties that only GPUs have; for CPUs they are invalid arguments.
fn gpu_info(agent: &Agent, attribute: hsa_amd_agent_info_t, value: ValuePtr) -> Option<Written> {
    if !agent.is_gpu() {
        return None;
    }
    Some(match attribute {
        HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY => value.put::<u64>(agent.timestamp_frequency),
        HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID => value.put::<u32>(agent.asic_family_id),
        HSA_AMD_AGENT_INFO_UCODE_VERSION => value.put::<u32>(agent.ucode_version),
        HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION => value.put::<u32>(agent.sdma_ucode_version),
        HSA_AMD_AGENT_INFO_NUM_SDMA_ENG => value.put::<u32>(agent.sdma_engines),
        HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG => value.put::<u32>(agent.sdma_xgmi_engines),
        HSA_AMD_AGENT_INFO_NUM_XCC => value.put::<u32>(agent.xcc_count),
        HSA_AMD_AGENT_INFO_DRIVER_UID => value.put::<u32>(agent.gpu_id),
        HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX | HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT => {
            value.put::<u64>(agent.scratch_limit_max)
        }
        _ => return None,
    })
}

/// hsa_ext_amd.h: what has to be asked from the driver.
fn driver_info(
    runtime: &Runtime,
    agent: &Agent,
    attribute: hsa_amd_agent_info_t,
    value: ValuePtr,
) -> Result<Written> {
    Ok(match attribute {
        HSA_AMD_AGENT_INFO_MEMORY_AVAIL => value.put::<u64>(runtime.memory_available(agent)?),
        HSA_AMD_AGENT_INFO_HDP_FLUSH => value.put::<[u64; 2]>(runtime.hdp_flush(agent)?),
        HSA_AMD_AGENT_INFO_CLOCK_COUNTERS => value.put::<[u64; 4]>(runtime.clock_counters(agent)?),
        _ => return Err(Core::InvalidArgument.into()),
    })
}

/// hsa_ext_image.h: the most that an image may have. CPUs have no images; the values of GPUs are
/// those of AMD's 5.2.3 runtime for gfx90a and gfx1030, except the sampler count, for which that
/// runtime answers the PCI id: OpenCL's minimum stands there.
fn image_limit(agent: &Agent, attribute: u32, value: ValuePtr) -> Written {
    let of_gpu = |limit: u32| if agent.is_gpu() { limit } else { 0 };
    let edge = of_gpu(16384);
    match attribute {
        IMAGE_1D | IMAGE_1DA => value.put(edge),
        IMAGE_1DB => value.put(of_gpu(u32::MAX)),
        IMAGE_2D..=IMAGE_2DADEPTH => value.put([edge; 2]),
        IMAGE_3D => value.put([edge, edge, of_gpu(8192)]),
        IMAGE_LAYERS => value.put(of_gpu(8192)),
        IMAGE_READ_HANDLES => value.put(of_gpu(128)),
        IMAGE_READ_WRITE_HANDLES => value.put(of_gpu(64)),
        SAMPLER_HANDLES => value.put(of_gpu(16)),
        _ => value.put(of_gpu(256)),
    }
}

/// Attributes of [`image_limit`] (hsa_ext_image.h, `HSA_EXT_AGENT_INFO_*`); what follows the
/// sampler count is the alignment of a linear image's rows in bytes.
const IMAGE_1D: u32 = HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS.0;
const IMAGE_1DA: u32 = HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS.0;
const IMAGE_1DB: u32 = HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS.0;
const IMAGE_2D: u32 = HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS.0;
const IMAGE_2DADEPTH: u32 = HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS.0;
const IMAGE_3D: u32 = HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS.0;
const IMAGE_LAYERS: u32 = HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS.0;
const IMAGE_READ_HANDLES: u32 = HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES.0;
const IMAGE_READ_WRITE_HANDLES: u32 = HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES.0;
const SAMPLER_HANDLES: u32 = HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS.0;

hsa_export! { core:
    /// Exceptions that an agent can detect or trap: none, as AMD's GPUs do not report them so.
    fn hsa_agent_get_exception_policies(agent: hsa_agent_t, profile: hsa_profile_t, mask: Out<u16>) {
        let runtime = runtime::current()?;
        let out = mask.required()?;
        runtime.agent(agent.handle)?;
        known_profile(profile)?;
        out.write(0)
    }
}

/// Refuses numbers that are no profile.
pub(crate) fn known_profile(profile: hsa_profile_t) -> Result {
    match profile {
        HSA_PROFILE_BASE | HSA_PROFILE_FULL => Ok(()),
        _ => Err(Core::InvalidArgument.into()),
    }
}

hsa_export! { core:
    /// Calls back for every cache of an agent.
    callback fn hsa_agent_iterate_caches(agent: hsa_agent_t, callback: Each<hsa_cache_t>, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            let caches = runtime.agent_caches(runtime.agent(agent.handle)?);
            Ok((callback, caches.iter().map(hsa_core::agent::Cache::handle).collect::<Vec<_>>()))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(hsa_cache_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Answers one property of a cache.
    fn hsa_cache_get_info(cache: hsa_cache_t, attribute: hsa_cache_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let cache = runtime.cache(cache.handle)?;
        match attribute {
            // AMD's runtime counts without the final zero, and writes it.
            HSA_CACHE_INFO_NAME_LENGTH => value.put(u32::try_from(cache.name.len()).unwrap_or(0)),
            HSA_CACHE_INFO_NAME => value.bytes(format!("{}\0", cache.name).as_bytes()),
            HSA_CACHE_INFO_LEVEL => value.put::<u8>(cache.level),
            HSA_CACHE_INFO_SIZE => value.put::<u32>(cache.size),
            _ => return Err(Core::InvalidArgument.into()),
        };
        Ok(())
    }
}
