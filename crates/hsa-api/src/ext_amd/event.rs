//! hsa_ext_amd.h: system events.

use crate::entry::hsa_export;
use crate::ext_amd::signal::UserData;
use hsa_core::event::SystemEvent;
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::c_void;

hsa_export! { amd_ext:
    /// Registers a function that hears of faults and exceptions.
    fn hsa_amd_register_system_event_handler(callback: hsa_amd_system_event_callback_t, data: *mut c_void) {
        let runtime = runtime::current()?;
        let callback = callback.ok_or(Core::InvalidArgument)?;
        let data = UserData(data);
        let call = move |event: &SystemEvent| {
            let event = record(event);
            // SAFETY: the user's function, called with a live event and the user's data.
            let status = unsafe { callback(&raw const event, data.get()) };
            status == HSA_STATUS_SUCCESS
        };
        Ok(runtime.register_system_event_handler(Box::new(call))?)
    }
}

fn record(event: &SystemEvent) -> hsa_amd_event_t {
    match *event {
        SystemEvent::MemoryFault {
            agent,
            address,
            reason,
        } => hsa_amd_event_t {
            event_type: HSA_AMD_GPU_MEMORY_FAULT_EVENT,
            __bindgen_anon_1: hsa_amd_event_s__bindgen_ty_1 {
                memory_fault: hsa_amd_gpu_memory_fault_info_t {
                    agent: hsa_agent_t { handle: agent },
                    virtual_address: address,
                    fault_reason_mask: reason,
                },
            },
        },
        SystemEvent::HwException {
            agent,
            reset_type,
            reset_cause,
        } => hsa_amd_event_t {
            event_type: HSA_AMD_GPU_HW_EXCEPTION_EVENT,
            __bindgen_anon_1: hsa_amd_event_s__bindgen_ty_1 {
                hw_exception: hsa_amd_gpu_hw_exception_info_t {
                    agent: hsa_agent_t { handle: agent },
                    reset_type: hsa_amd_hw_exception_reset_type_t(reset_type),
                    reset_cause: hsa_amd_hw_exception_reset_cause_t(reset_cause),
                },
            },
        },
    }
}
