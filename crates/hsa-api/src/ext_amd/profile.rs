//! hsa_ext_amd.h: times of dispatches and copies.

use crate::args::Out;
use crate::entry::hsa_export;
use crate::signal::required;
use hsa_core::runtime;
use hsa_sys::*;

hsa_export! { amd_ext:
    /// Turns timestamps of copies on or off.
    fn hsa_amd_profiling_async_copy_enable(enable: bool) {
        Ok(runtime::current()?.set_copy_profiling(enable)?)
    }
}

hsa_export! { amd_ext:
    /// Times of the dispatch that completed with a signal.
    fn hsa_amd_profiling_get_dispatch_time(agent: hsa_agent_t, signal: hsa_signal_t, time: Out<hsa_amd_profiling_dispatch_time_t>) {
        let runtime = runtime::current()?;
        let out = time.required()?;
        let agent = runtime.agent(agent.handle)?;
        let interval = runtime.dispatch_time(agent, required(signal)?)?;
        out.write(hsa_amd_profiling_dispatch_time_t { start: interval.start, end: interval.end })
    }
}

hsa_export! { amd_ext:
    /// Times of the copy that completed with a signal.
    fn hsa_amd_profiling_get_async_copy_time(signal: hsa_signal_t, time: Out<hsa_amd_profiling_async_copy_time_t>) {
        let runtime = runtime::current()?;
        let out = time.required()?;
        let interval = runtime.copy_time(required(signal)?)?;
        out.write(hsa_amd_profiling_async_copy_time_t { start: interval.start, end: interval.end })
    }
}

hsa_export! { amd_ext:
    /// Translates a GPU's tick to the system clock.
    fn hsa_amd_profiling_convert_tick_to_system_domain(agent: hsa_agent_t, agent_tick: u64, system_tick: Out<u64>) {
        let runtime = runtime::current()?;
        let out = system_tick.required()?;
        out.write(runtime.convert_tick(runtime.agent(agent.handle)?, agent_tick)?)
    }
}
