//! System events: memory faults and hardware exceptions.
//!
//! One thread sleeps on the driver's events from the first queue on. A registered handler may take an
//! event; otherwise the process ends with AMD's message, as nothing the program computes can be
//! trusted any more.

use crate::Result;
use crate::error::{Error, driver};
use crate::live::Live;
use crate::runtime::{self, Runtime};
use hsakmt::{Event, EventKind, Exception, HwException, Kfd, MemoryException};
use parking_lot::{Mutex, RwLock};
use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// `hsa_amd_memory_fault_reason_t` bits (hsa_ext_amd.h).
pub mod fault_reason {
    /// Page not present or supervisor privilege.
    pub const PAGE_NOT_PRESENT: u32 = 1;
    /// Write to a read-only page.
    pub const READ_ONLY: u32 = 2;
    /// Fetch from a page that is not executable.
    pub const NX: u32 = 4;
    /// SRAM ECC failure.
    pub const SRAMECC: u32 = 64;
    /// The address is not exact.
    pub const IMPRECISE: u32 = 32;
    /// The GPU hangs.
    pub const HANG: u32 = 1 << 31;
}

/// `hsa_amd_event_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SystemEvent {
    /// `HSA_AMD_GPU_MEMORY_FAULT_EVENT`
    MemoryFault {
        /// Handle of the agent, 0 if it is not one of ours.
        agent: u64,
        /// Address, page granular.
        address: u64,
        /// [`fault_reason`] bits.
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

type SharedHandler = Arc<dyn Fn(&SystemEvent) -> bool + Send + Sync>;

#[derive(Default)]
struct Shared {
    handlers: RwLock<Vec<SharedHandler>>,
    stopping: AtomicBool,
}

/// The thread that waits for faults.
#[derive(Default)]
pub(crate) struct Faults {
    shared: Arc<Shared>,
    thread: Mutex<Option<(JoinHandle<()>, Arc<Event>)>>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

impl Faults {
    /// Starts the thread once: faults come from queues, so the first queue calls this.
    pub(crate) fn start(&self, live: &Live) -> Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_some() {
            return Ok(());
        }
        let event = |kind| {
            live.kfd
                .create_event(kind, true)
                .map_err(driver("CREATE_EVENT"))
        };
        let (memory, hardware) = (event(EventKind::Memory)?, event(EventKind::HwException)?);
        let control = Arc::new(event(EventKind::Signal)?);
        let watcher = Watcher {
            kfd: Arc::clone(&live.kfd),
            shared: Arc::clone(&self.shared),
            events: [memory, hardware],
            control: Arc::clone(&control),
            message: live.env.vm_fault_message,
        };
        let spawned = thread::Builder::new()
            .name("hansa-faults".into())
            .spawn(move || watcher.run());
        *thread = Some((spawned.map_err(|_| Error::OutOfResources)?, control));
        Ok(())
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        let Some((thread, control)) = self.thread.lock().take() else {
            return;
        };
        if let Err(error) = control.set() {
            tracing::error!(%error, "the fault thread cannot be ended");
            return;
        }
        if thread.thread().id() != thread::current().id() {
            // A panic was reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

struct Watcher {
    kfd: Arc<Kfd>,
    shared: Arc<Shared>,
    events: [Event; 2],
    control: Arc<Event>,
    message: bool,
}

impl Watcher {
    fn run(self) {
        let [memory, hardware] = &self.events;
        let events = [memory, hardware, &*self.control];
        let mut ages = [0; 3];
        while !self.shared.stopping.load(Ordering::Acquire) {
            match self.kfd.wait_events(&events, &mut ages, false, u32::MAX) {
                Ok(result) => result.exceptions.iter().for_each(|(_, e)| self.handle(e)),
                Err(error) => {
                    tracing::error!(%error, "the fault thread cannot wait");
                    return;
                }
            }
        }
    }

    fn handle(&self, exception: &Exception) {
        let event = match exception {
            // KFD leaves the GPU 0 in an event that was set without a fault.
            Exception::Memory(m) if m.gpu_id == 0 => return,
            Exception::Hardware(h) if h.gpu_id == 0 => return,
            Exception::Memory(m) => memory_fault(m),
            Exception::Hardware(h) => hardware_exception(h),
        };
        tracing::error!(?event, "system event");
        let handlers = self.shared.handlers.read().clone();
        if handlers.iter().any(|handler| handler(&event)) {
            return;
        }
        if self.message {
            // A closed stderr leaves nobody to tell; the abort tells.
            let _ = std::io::stderr().write_all(message(exception, &event).as_bytes());
        }
        std::process::abort();
    }
}

/// Index and handle of the agent of a node.
fn agent_of(node: Option<hsakmt::NodeId>) -> u64 {
    let agents = runtime::current().map_or(&[][..], Runtime::agents);
    agents
        .iter()
        .find(|a| a.is_gpu() && Some(a.node_id()) == node)
        .map_or(0, crate::Agent::handle)
}

fn memory_fault(m: &MemoryException) -> SystemEvent {
    let bits = [
        (m.not_present, fault_reason::PAGE_NOT_PRESENT),
        (m.read_only, fault_reason::READ_ONLY),
        (m.no_execute, fault_reason::NX),
        (m.imprecise, fault_reason::IMPRECISE),
        (m.error_type == 1, fault_reason::SRAMECC),
        (m.error_type == 3, fault_reason::HANG),
    ];
    let reason = bits
        .iter()
        .filter(|(set, _)| *set)
        .fold(0, |all, (_, bit)| all | bit);
    SystemEvent::MemoryFault {
        agent: agent_of(m.node),
        address: m.va.get(),
        reason,
    }
}

fn hardware_exception(h: &HwException) -> SystemEvent {
    SystemEvent::HwException {
        agent: agent_of(h.node),
        reset_type: 1 << h.reset_type.min(1),
        reset_cause: 1 << h.reset_cause.min(1),
    }
}

/// The line that AMD's runtime prints before it aborts.
fn message(exception: &Exception, event: &SystemEvent) -> String {
    match (exception, event) {
        (
            Exception::Memory(m),
            SystemEvent::MemoryFault {
                agent,
                address,
                reason,
            },
        ) => {
            let node = m.node.map_or(0, |n| n.0);
            let inexact = if m.imprecise {
                "(may not be exact address)"
            } else {
                ""
            };
            let reason = reason_text(*reason);
            format!(
                "Memory access fault by GPU node-{node} (Agent handle: {agent:#x}) on address {address:#x}{inexact}. Reason: {reason}.\n"
            )
        }
        (Exception::Hardware(h), SystemEvent::HwException { agent, .. }) => {
            let node = h.node.map_or(0, |n| n.0);
            format!("HW Exception by GPU node-{node} (Agent handle: {agent:#x}) reason :GPU Hang\n")
        }
        _ => String::new(),
    }
}

fn reason_text(reason: u32) -> &'static str {
    let texts = [
        (
            fault_reason::PAGE_NOT_PRESENT,
            "Page not present or supervisor privilege",
        ),
        (fault_reason::READ_ONLY, "Write access to a read-only page"),
        (fault_reason::NX, "Execute access to a page marked NX"),
        (fault_reason::SRAMECC, "ECC failure (if supported by HW)"),
        (
            fault_reason::IMPRECISE,
            "Can't determine the exact fault address",
        ),
    ];
    texts
        .iter()
        .find(|(bit, _)| reason & bit != 0)
        .map_or("Unknown", |(_, text)| text)
}

impl Runtime {
    /// Registers a handler (`hsa_amd_register_system_event_handler`). Handlers are asked in the order
    /// of their registration until one deals with the event.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn register_system_event_handler(&self, handler: SystemEventHandler) -> Result<()> {
        self.live()?
            .faults
            .shared
            .handlers
            .write()
            .push(handler.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hsakmt::{GpuVa, NodeId};

    #[test]
    fn the_fault_message_is_the_one_that_people_search_for() {
        let fault = MemoryException {
            node: Some(NodeId(1)),
            gpu_id: 7,
            va: GpuVa(0x7f00_0000_1000),
            not_present: true,
            read_only: false,
            no_execute: false,
            imprecise: false,
            error_type: 0,
        };
        let event = SystemEvent::MemoryFault {
            agent: 0x55,
            address: 0x7f00_0000_1000,
            reason: 1,
        };
        assert_eq!(
            message(&Exception::Memory(fault), &event),
            "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f0000001000. \
             Reason: Page not present or supervisor privilege.\n"
        );
        assert_eq!(
            memory_fault(&fault),
            SystemEvent::MemoryFault {
                agent: 0,
                address: 0x7f00_0000_1000,
                reason: 1
            }
        );
    }
}
