//! hsa.h: instruction sets and wavefronts.

use crate::agent::{Each, known_profile};
use crate::args::{Out, Text, Value, ValuePtr, Written};
use crate::entry::{Result, guard, hsa_export, proceed};
use hsa_core::{Error as Core, Isa, runtime};
use hsa_sys::*;
use std::ffi::c_void;

hsa_export! { core:
    /// Calls back for every ISA that an agent executes: none for a CPU.
    callback fn hsa_agent_iterate_isas(agent: hsa_agent_t, callback: Each<hsa_isa_t>, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            let agent = runtime.agent(agent.handle)?;
            let isas = runtime.agent_isas(agent);
            Ok((callback, isas.iter().map(Isa::handle).collect::<Vec<_>>()))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(hsa_isa_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { core:
    /// The ISA of a full target name, among those of the agents here.
    fn hsa_isa_from_name(name: Text, isa: Out<hsa_isa_t>) {
        let runtime = runtime::current()?;
        let (name, out) = (name.required()?, isa.required()?);
        out.write(hsa_isa_t { handle: runtime.isa_by_name(&name)?.handle() })
    }
}

hsa_export! { core:
    /// Answers one property of an ISA (deprecated form with a call convention index).
    fn hsa_isa_get_info(isa: hsa_isa_t, attribute: hsa_isa_info_t, index: u32, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let isa = runtime.isa(isa.handle)?;
        if index != 0 {
            return Err(Core::InvalidIndex.into());
        }
        info(isa, attribute, value).map(drop)
    }
}

hsa_export! { core:
    /// Answers one property of an ISA.
    fn hsa_isa_get_info_alt(isa: hsa_isa_t, attribute: hsa_isa_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        info(runtime.isa(isa.handle)?, attribute, value).map(drop)
    }
}

fn info(isa: &Isa, attribute: hsa_isa_info_t, value: ValuePtr) -> Result<Written> {
    Ok(match attribute {
        // With the final zero, as AMD's runtime counts.
        HSA_ISA_INFO_NAME_LENGTH => value.put(u32::try_from(isa.name().len() + 1).unwrap_or(0)),
        HSA_ISA_INFO_NAME => value.bytes(format!("{}\0", isa.name()).as_bytes()),
        HSA_ISA_INFO_CALL_CONVENTION_COUNT => value.put::<u32>(1),
        HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE => value.put::<u32>(isa.wavefront_size),
        // 10 waves on each of 4 SIMDs, which AMD's runtime reports for every GPU.
        HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT => value.put::<u32>(40),
        HSA_ISA_INFO_MACHINE_MODELS => value.put([false, true]),
        HSA_ISA_INFO_PROFILES => value.put([true, false]),
        HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES
        | HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => value.put([false, false, true]),
        HSA_ISA_INFO_FAST_F16_OPERATION => value.put(isa.fast_f16()),
        HSA_ISA_INFO_WORKGROUP_MAX_DIM => value.put([1024_u16; 3]),
        HSA_ISA_INFO_WORKGROUP_MAX_SIZE => value.put(1024_u32),
        HSA_ISA_INFO_GRID_MAX_DIM => value.put(hsa_dim3_t {
            x: u32::MAX,
            y: u32::MAX,
            z: u32::MAX,
        }),
        // 64 bits here, 32 bits in the agent's attribute of this name (hsa.h).
        HSA_ISA_INFO_GRID_MAX_SIZE => value.put(u64::MAX),
        HSA_ISA_INFO_FBARRIER_MAX_SIZE => value.put(32_u32),
        _ => return Err(Core::InvalidArgument.into()),
    })
}

hsa_export! { core:
    /// Exceptions that code of an ISA can detect or trap: none.
    fn hsa_isa_get_exception_policies(isa: hsa_isa_t, profile: hsa_profile_t, mask: Out<u16>) {
        let runtime = runtime::current()?;
        let out = mask.required()?;
        runtime.isa(isa.handle)?;
        known_profile(profile)?;
        out.write(0)
    }
}

hsa_export! { core:
    /// How arithmetic of an ISA rounds: once per operation.
    fn hsa_isa_get_round_method(isa: hsa_isa_t, fp_type: hsa_fp_type_t, flush_mode: hsa_flush_mode_t, round_method: Out<hsa_round_method_t>) {
        let runtime = runtime::current()?;
        let out = round_method.required()?;
        runtime.isa(isa.handle)?;
        let known = matches!(fp_type.0, 1 | 2 | 4) && matches!(flush_mode.0, 1 | 2);
        if !known {
            return Err(Core::InvalidArgument.into());
        }
        out.write(HSA_ROUND_METHOD_SINGLE)
    }
}

hsa_export! { core:
    /// Whether code of one ISA runs on another (deprecated).
    fn hsa_isa_compatible(code_object_isa: hsa_isa_t, agent_isa: hsa_isa_t, result: Out<bool>) {
        let runtime = runtime::current()?;
        let out = result.required()?;
        let (code, agent) = (runtime.isa(code_object_isa.handle)?, runtime.isa(agent_isa.handle)?);
        out.write(code.name() == agent.name())
    }
}

hsa_export! { core:
    /// Calls back for every wavefront of an ISA.
    callback fn hsa_isa_iterate_wavefronts(isa: hsa_isa_t, callback: Each<hsa_wavefront_t>, data: *mut c_void) {
        let (callback, handle) = guard(|| {
            let runtime = runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            Ok((callback, runtime.isa(isa.handle)?.wavefront_handle()))
        })?;
        // SAFETY: the user's function, called with the user's data.
        proceed(unsafe { callback(hsa_wavefront_t { handle }, data) })
    }
}

hsa_export! { core:
    /// Answers one property of a wavefront.
    fn hsa_wavefront_get_info(wavefront: hsa_wavefront_t, attribute: hsa_wavefront_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let isa = runtime.wavefront(wavefront.handle)?;
        if attribute != HSA_WAVEFRONT_INFO_SIZE {
            return Err(Core::InvalidArgument.into());
        }
        value.put::<u32>(isa.wavefront_size);
        Ok(())
    }
}
