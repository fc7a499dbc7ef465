//! hsa_ven_amd_pc_sampling.h: PC sampling. Not there yet.

use crate::entry::hsa_export;
use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::c_void;

hsa_export! { pcs:
    /// Calls back for what an agent can sample.
    unsupported fn hsa_ven_amd_pcs_iterate_configuration(agent: hsa_agent_t, configuration_callback: hsa_ven_amd_pcs_iterate_configuration_callback_t, callback_data: *mut c_void) = Core::NotSupported;
}

hsa_export! { pcs:
    /// Creates a session.
    unsupported fn hsa_ven_amd_pcs_create(
        agent: hsa_agent_t,
        method: hsa_ven_amd_pcs_method_kind_t,
        units: hsa_ven_amd_pcs_units_t,
        interval: usize,
        latency: usize,
        buffer_size: usize,
        data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t,
        client_callback_data: *mut c_void,
        pc_sampling: *mut hsa_ven_amd_pcs_t,
    ) = Core::NotSupported;
}

hsa_export! { pcs:
    /// Creates a session with the driver's id.
    unsupported fn hsa_ven_amd_pcs_create_from_id(
        pcs_id: u32,
        agent: hsa_agent_t,
        method: hsa_ven_amd_pcs_method_kind_t,
        units: hsa_ven_amd_pcs_units_t,
        interval: usize,
        latency: usize,
        buffer_size: usize,
        data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t,
        client_callback_data: *mut c_void,
        pc_sampling: *mut hsa_ven_amd_pcs_t,
    ) = Core::NotSupported;
}

hsa_export! { pcs:
    /// Destroys a session.
    unsupported fn hsa_ven_amd_pcs_destroy(pc_sampling: hsa_ven_amd_pcs_t) = Core::NotSupported;
}

hsa_export! { pcs:
    /// Starts a session.
    unsupported fn hsa_ven_amd_pcs_start(pc_sampling: hsa_ven_amd_pcs_t) = Core::NotSupported;
}

hsa_export! { pcs:
    /// Stops a session.
    unsupported fn hsa_ven_amd_pcs_stop(pc_sampling: hsa_ven_amd_pcs_t) = Core::NotSupported;
}

hsa_export! { pcs:
    /// Delivers what a session has sampled.
    unsupported fn hsa_ven_amd_pcs_flush(pc_sampling: hsa_ven_amd_pcs_t) = Core::NotSupported;
}
