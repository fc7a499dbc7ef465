//! Creation of signals.

use super::slab::{self, Entry, SLAB_BYTES};
use super::{Signal, attribute, cell};
use crate::Result;
use crate::agent::Agent;
use crate::error::{Error, driver};
use crate::live::Live;
use crate::runtime::Runtime;
use amdgpu_abi::signal::kind;
use hsakmt::{AllocFlags, AllocRequest, MemoryKind, NodeId};
use std::sync::atomic::Ordering;

impl Runtime {
    /// Creates a signal (`hsa_signal_create`, `hsa_amd_signal_create`). No consumers, or a CPU among
    /// them, gives an interrupt signal; GPUs only, or [`attribute::GPU_ONLY`], a polled one.
    ///
    /// # Errors
    /// `OutOfResources`; `InvalidArgument` for unknown attributes; `NotSupported` for signals shared
    /// with other processes.
    pub fn create_signal(
        &self,
        initial: i64,
        consumers: &[&Agent],
        attributes: u64,
    ) -> Result<Signal> {
        if attributes & !(attribute::GPU_ONLY | attribute::IPC) != 0 {
            return Err(Error::InvalidArgument);
        }
        if attributes & attribute::IPC != 0 {
            return Err(Error::NotSupported);
        }
        let for_host = consumers.is_empty() || consumers.iter().any(|a| !a.is_gpu());
        let interrupt = for_host && attributes & attribute::GPU_ONLY == 0;
        create(&*self.live()?, initial, interrupt)
    }
}

impl Runtime {
    /// Signals that exist, the runtime's own included: what leak tests count.
    #[must_use]
    pub fn signals_in_use(&self) -> usize {
        slab::in_use()
    }
}

/// Creates a signal for the runtime's own use or on an application's behalf.
pub(crate) fn create(live: &Live, initial: i64, interrupt: bool) -> Result<Signal> {
    let entry = take(live)?;
    let event = if interrupt { live.events.get() } else { None };
    let mailbox = event.as_ref().and_then(|e| e.event().mailbox());
    let id = event.as_ref().map_or(0, |e| e.event().id());
    let address = mailbox.map_or(0, |m| m.get());
    cell::initialise(
        entry.block(),
        initial,
        address,
        if address == 0 { 0 } else { id },
    );
    *entry.slot.event.lock() = event;
    Ok(Signal { entry })
}

/// Creates the doorbell signal of a queue: `doorbell` is the address of the hardware doorbell.
pub(crate) fn create_doorbell(live: &Live, doorbell: u64, queue: u64) -> Result<Signal> {
    let signal = create(live, doorbell.cast_signed(), false)?;
    let shared = &signal.entry.block().signal;
    shared.queue_ptr.store(queue, Ordering::Relaxed);
    shared.kind.store(kind::DOORBELL, Ordering::Release);
    Ok(signal)
}

impl Signal {
    /// Frees the doorbell signal of a queue.
    pub(crate) fn destroy_doorbell(self) {
        self.entry.retire();
    }
}

fn take(live: &Live) -> Result<Entry> {
    if let Some(entry) = slab::take() {
        return Ok(entry);
    }
    let mut slabs = live.slabs.lock();
    // Another thread may have added one meanwhile.
    if let Some(entry) = slab::take() {
        return Ok(entry);
    }
    let object = live
        .kfd
        .allocate(&AllocRequest {
            node: NodeId(0),
            size_bytes: SLAB_BYTES,
            alignment: SLAB_BYTES,
            kind: MemoryKind::System,
            flags: AllocFlags::HOST_ACCESS
                | AllocFlags::COHERENT
                | AllocFlags::UNCACHED
                | AllocFlags::EXECUTABLE,
        })
        .map_err(driver("signal memory"))?;
    let gpus: Vec<NodeId> = live.kfd.topology().gpus().map(|n| n.id).collect();
    if !gpus.is_empty() {
        object.map(&gpus).map_err(driver("signal memory"))?;
    }
    if !slab::add_slab(object.gpu_va().get()) {
        return Err(Error::OutOfResources);
    }
    slabs.push(object);
    slab::take().ok_or(Error::OutOfResources)
}
