//! System events: memory faults and hardware exceptions.

use crate::error::Error;
use crate::runtime::Runtime;
use crate::Result;

/// `hsa_amd_event_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystemEvent {
    /// `HSA_AMD_GPU_MEMORY_FAULT_EVENT`
    MemoryFault {
        /// Handle of the agent.
        agent: u64,
        /// Address, page granular.
        address: u64,
        /// `hsa_amd_memory_fault_reason_t` bits.
        reason: u32,
    },
    /// `HSA_AMD_GPU_HW_EXCEPTION_EVENT`
    HwException {
        /// Handle of the agent.
        agent: u64,
        /// `hsa_amd_hw_exception_reset_type_t`
        reset_type: u32,
        /// `hsa_amd_hw_exception_reset_cause_t`
        reset_cause: u32,
    },
}

/// A system event handler: true if it dealt with the event (`HSA_STATUS_SUCCESS`).
pub type SystemEventHandler = Box<dyn Fn(&SystemEvent) -> bool + Send + Sync>;

impl Runtime {
    /// Registers a handler (`hsa_amd_register_system_event_handler`).
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn register_system_event_handler(&self, handler: SystemEventHandler) -> Result<()> {
        let _ = handler;
        Err(Error::NotInitialized)
    }
}
