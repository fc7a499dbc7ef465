//! hsa_ext_amd.h: masks, priorities, profiling of queues, and the interception that tools use.

use crate::args::{In, Out, Value};
use crate::entry::hsa_export;
use crate::queue::{QueueCallback, required};
use hsa_core::queue::Priority;
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::{c_int, c_void};

/// hsa_ext_amd.h counts bits; they come in words of 32.
fn mask_words(bits: u32) -> hsa_core::Result<usize> {
    if bits.is_multiple_of(32) {
        Ok(bits as usize / 32)
    } else {
        Err(Core::InvalidArgument)
    }
}

hsa_export! { amd_ext:
    /// Restricts a queue to compute units; no bits allow all again.
    fn hsa_amd_queue_cu_set_mask(queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: In<u32>) {
        runtime::current()?;
        let queue = required(queue)?;
        let mask = cu_mask.array(mask_words(num_cu_mask_count)?)?;
        Ok(queue.set_cu_mask(&mask)?)
    }
}

hsa_export! { amd_ext:
    /// Reads a queue's compute-unit mask; what the caller asks for beyond the units is 0.
    fn hsa_amd_queue_cu_get_mask(queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: Out<u32>) {
        runtime::current()?;
        let out = cu_mask.required()?;
        let queue = required(queue)?;
        let words = mask_words(num_cu_mask_count)?;
        if words == 0 {
            return Err(Core::InvalidArgument.into());
        }
        let mut mask = queue.cu_mask()?;
        mask.resize(words, 0);
        out.write_all(mask)
    }
}

hsa_export! { amd_ext:
    /// Sets a queue's priority.
    fn hsa_amd_queue_set_priority(queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t) {
        runtime::current()?;
        let queue = required(queue)?;
        let priority = match priority {
            HSA_AMD_QUEUE_PRIORITY_LOW => Priority::Low,
            HSA_AMD_QUEUE_PRIORITY_NORMAL => Priority::Normal,
            HSA_AMD_QUEUE_PRIORITY_HIGH => Priority::High,
            _ => return Err(Core::InvalidArgument.into()),
        };
        Ok(queue.set_priority(priority)?)
    }
}

hsa_export! { amd_ext:
    /// Answers one property of a queue.
    fn hsa_amd_queue_get_info(queue: *mut hsa_queue_t, attribute: hsa_queue_info_attribute_t, value: Value) {
        runtime::current()?;
        let info = required(queue)?.info()?;
        let value = value.required()?;
        match attribute {
            HSA_AMD_QUEUE_INFO_AGENT => value.put(hsa_agent_t { handle: info.agent }),
            HSA_AMD_QUEUE_INFO_DOORBELL_ID => value.put::<u64>(info.doorbell_id),
            _ => return Err(Core::InvalidArgument.into()),
        };
        Ok(())
    }
}

hsa_export! { amd_ext:
    /// Turns timestamps of a queue's dispatches on or off.
    fn hsa_amd_profiling_set_profiler_enabled(queue: *mut hsa_queue_t, enable: c_int) {
        runtime::current()?;
        Ok(required(queue)?.set_profiling(enable != 0)?)
    }
}

hsa_export! { amd_ext:
    /// Limits the scratch that a GPU keeps for later dispatches (7.x).
    unsupported fn hsa_amd_agent_set_async_scratch_limit(agent: hsa_agent_t, threshold: usize) = Core::NotSupported;
}

hsa_export! { none:
    /// Creates a queue whose packets a tool can rewrite; only in the table.
    unsupported fn hsa_amd_queue_intercept_create(
        agent: hsa_agent_t,
        size: u32,
        type_: u32,
        callback: QueueCallback,
        data: *mut c_void,
        private_segment_size: u32,
        group_segment_size: u32,
        queue: *mut *mut hsa_queue_t,
    ) = Core::NotSupported;
}

hsa_export! { none:
    /// Registers a packet rewriter; only in the table.
    unsupported fn hsa_amd_queue_intercept_register(queue: *mut hsa_queue_t, callback: hsa_amd_queue_intercept_handler, user_data: *mut c_void) = Core::NotSupported;
}

hsa_export! { none:
    /// Tells a tool about queues that the runtime makes for itself; only in the table.
    unsupported fn hsa_amd_runtime_queue_create_register(callback: hsa_amd_runtime_queue_notifier, user_data: *mut c_void) = Core::NotSupported;
}
