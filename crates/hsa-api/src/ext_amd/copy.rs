//! hsa_ext_amd.h: asynchronous copies.

use crate::args::{In, Out};
use crate::entry::{Result, hsa_export};
use crate::memory::{address, bytes};
use crate::signal::{list, optional};
use hsa_core::copy::{CopyRequest, Direction, PitchedPtr, RectCopy};
use hsa_core::{Error as Core, Runtime, Signal, runtime};
use hsa_sys::*;
use std::ffi::c_void;

/// The arguments that both linear forms share, as they came.
struct Linear {
    dst: *mut c_void,
    dst_agent: hsa_agent_t,
    src: *const c_void,
    src_agent: hsa_agent_t,
    size: usize,
    deps: Dependencies,
    completion: hsa_signal_t,
}

struct Dependencies(u32, In<hsa_signal_t>);

impl Dependencies {
    /// hsa_ext_amd.h: a count without a list, or a list without a count, is a mistake.
    fn read(&self) -> hsa_core::Result<Vec<Signal>> {
        if self.1.is_null() != (self.0 == 0) {
            return Err(Core::InvalidArgument);
        }
        list(&self.1, usize::try_from(self.0).unwrap_or(usize::MAX))
    }
}

/// Checks the arguments in the order of the header and hands the request to `start`.
fn linear(
    runtime: &Runtime,
    args: &Linear,
    start: impl FnOnce(&CopyRequest<'_>) -> hsa_core::Result<()>,
) -> Result {
    if args.dst.is_null() || args.src.is_null() {
        return Err(Core::InvalidArgument.into());
    }
    let deps = args.deps.read()?;
    let dst_agent = runtime.agent(args.dst_agent.handle)?;
    let src_agent = runtime.agent(args.src_agent.handle)?;
    let completion = optional(args.completion)?;
    let request = CopyRequest {
        dst: address(args.dst),
        dst_agent,
        src: address(args.src),
        src_agent,
        size: bytes(args.size),
        deps: &deps,
        completion,
    };
    Ok(start(&request)?)
}

hsa_export! { amd_ext:
    /// Starts a copy on an engine of the runtime's choice.
    fn hsa_amd_memory_async_copy(
        dst: *mut c_void,
        dst_agent: hsa_agent_t,
        src: *const c_void,
        src_agent: hsa_agent_t,
        size: usize,
        num_dep_signals: u32,
        dep_signals: In<hsa_signal_t>,
        completion_signal: hsa_signal_t,
    ) {
        let runtime = runtime::current()?;
        let deps = Dependencies(num_dep_signals, dep_signals);
        let args = Linear { dst, dst_agent, src, src_agent, size, deps, completion: completion_signal };
        // SAFETY: the caller of the C function keeps both ranges valid until the copy is done.
        linear(runtime, &args, |request| unsafe { runtime.async_copy(request) })
    }
}

hsa_export! { amd_ext:
    /// Starts a copy on one engine (7.x).
    fn hsa_amd_memory_async_copy_on_engine(
        dst: *mut c_void,
        dst_agent: hsa_agent_t,
        src: *const c_void,
        src_agent: hsa_agent_t,
        size: usize,
        num_dep_signals: u32,
        dep_signals: In<hsa_signal_t>,
        completion_signal: hsa_signal_t,
        engine_id: hsa_amd_sdma_engine_id_t,
        force_copy_on_sdma: bool,
    ) {
        let runtime = runtime::current()?;
        let deps = Dependencies(num_dep_signals, dep_signals);
        let args = Linear { dst, dst_agent, src, src_agent, size, deps, completion: completion_signal };
        let (engine, force) = (engine_id.0, force_copy_on_sdma);
        // SAFETY: the caller of the C function keeps both ranges valid until the copy is done.
        linear(runtime, &args, |request| unsafe { runtime.async_copy_on_engine(request, engine, force) })
    }
}

hsa_export! { amd_ext:
    /// The engines that are idle now for a pair of agents (7.x).
    fn hsa_amd_memory_copy_engine_status(dst_agent: hsa_agent_t, src_agent: hsa_agent_t, engine_ids_mask: Out<u32>) {
        let runtime = runtime::current()?;
        let (dst, src) = (runtime.agent(dst_agent.handle)?, runtime.agent(src_agent.handle)?);
        let out = engine_ids_mask.required()?;
        out.write(runtime.copy_engine_status(dst, src)?)
    }
}

hsa_export! { amd_ext:
    /// The engines that suit a pair of agents best (7.x).
    fn hsa_amd_memory_get_preferred_copy_engine(dst_agent: hsa_agent_t, src_agent: hsa_agent_t, recommended_ids_mask: Out<u32>) {
        let runtime = runtime::current()?;
        let (dst, src) = (runtime.agent(dst_agent.handle)?, runtime.agent(src_agent.handle)?);
        let out = recommended_ids_mask.required()?;
        out.write(runtime.preferred_copy_engine(dst, src)?)
    }
}

hsa_export! { amd_ext:
    /// Starts a copy of a rectangle.
    fn hsa_amd_memory_async_copy_rect(
        dst: In<hsa_pitched_ptr_t>,
        dst_offset: In<hsa_dim3_t>,
        src: In<hsa_pitched_ptr_t>,
        src_offset: In<hsa_dim3_t>,
        range: In<hsa_dim3_t>,
        copy_agent: hsa_agent_t,
        dir: hsa_amd_copy_direction_t,
        num_dep_signals: u32,
        dep_signals: In<hsa_signal_t>,
        completion_signal: hsa_signal_t,
    ) {
        let runtime = runtime::current()?;
        let rect = RectCopy {
            dst: pitched(dst.read()?),
            dst_offset: dim(dst_offset.read()?),
            src: pitched(src.read()?),
            src_offset: dim(src_offset.read()?),
            range: dim(range.read()?),
        };
        let deps = Dependencies(num_dep_signals, dep_signals).read()?;
        let agent = runtime.agent(copy_agent.handle)?;
        let completion = optional(completion_signal)?;
        // SAFETY: the caller of the C function keeps both ranges valid until the copy is done.
        Ok(unsafe { runtime.async_copy_rect(&rect, agent, direction(dir)?, &deps, completion) }?)
    }
}

fn pitched(raw: hsa_pitched_ptr_t) -> PitchedPtr {
    PitchedPtr {
        base: address(raw.base),
        pitch: bytes(raw.pitch),
        slice: bytes(raw.slice),
    }
}

fn dim(raw: hsa_dim3_t) -> [u32; 3] {
    [raw.x, raw.y, raw.z]
}

/// hsa_ext_amd.h: only copies with a device on one side.
fn direction(raw: hsa_amd_copy_direction_t) -> Result<Direction> {
    match raw.0 {
        0 => Ok(Direction::HostToHost),
        1 => Ok(Direction::HostToDevice),
        2 => Ok(Direction::DeviceToHost),
        3 => Ok(Direction::DeviceToDevice),
        _ => Err(Core::InvalidArgument.into()),
    }
}
