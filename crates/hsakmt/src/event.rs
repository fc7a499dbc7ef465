//! Events, the page through which GPUs signal them, and waits.

use crate::driver::Driver;
use crate::error::Error;
use crate::memory::{AllocFlags, AllocRequest, MemoryKind, MemoryObject};
use crate::pages::DeviceMapping;
use crate::types::{GpuVa, NodeId};
use hsakmt_sys::kfd::{
    KFD_IOC_WAIT_RESULT_COMPLETE, KFD_IOC_WAIT_RESULT_TIMEOUT, kfd_ioctl_create_event_args,
    kfd_ioctl_destroy_event_args, kfd_ioctl_reset_event_args, kfd_ioctl_set_event_args,
    kfd_ioctl_wait_events_args,
};
use hsakmt_sys::newer::kfd_event_data;
use hsakmt_sys::{Errno, ioctl};
use parking_lot::Mutex;
use std::sync::Arc;

/// Signal slots of a process (`KFD_SIGNAL_EVENT_LIMIT`).
const SLOTS: u32 = 4096;
/// Bytes of the event page.
const PAGE_BYTES: u32 = SLOTS * 8;

/// Kind of an event (`KFD_IOC_EVENT_*`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum EventKind {
    /// Set by a GPU interrupt or the host.
    Signal = 0,
    /// A node came or went.
    NodeChange = 1,
    /// A device changed state.
    DeviceStateChange = 2,
    /// A GPU was reset.
    HwException = 3,
    /// System event.
    System = 4,
    /// Debugger event.
    Debug = 5,
    /// Profiler event.
    Profile = 6,
    /// Queue event.
    Queue = 7,
    /// Memory fault.
    Memory = 8,
}

/// The page with one word for each signal event, which a GPU writes to signal it.
#[derive(Debug)]
pub(crate) enum EventPage {
    /// Memory of ours that the driver took over, mapped to every GPU.
    Shared(MemoryObject),
    /// The driver's own, where there is no GPU to share with.
    Own(DeviceMapping),
}

impl EventPage {
    fn allocate(driver: &Arc<Driver>, node: NodeId) -> Result<MemoryObject, Error> {
        let flags = AllocFlags::HOST_ACCESS
            | AllocFlags::EXECUTABLE
            | AllocFlags::COHERENT
            | AllocFlags::UNCACHED;
        let request = AllocRequest {
            node,
            size_bytes: PAGE_BYTES.into(),
            alignment: 0,
            kind: MemoryKind::System,
            flags,
        };
        let memory = MemoryObject::allocate(driver, &request)?;
        let nodes: Vec<_> = driver.gpus().map(|gpu| gpu.node).collect();
        memory.map(&nodes)?;
        Ok(memory)
    }

    fn slot(&self, index: u32) -> GpuVa {
        let base = match self {
            Self::Shared(memory) => memory.gpu_va(),
            Self::Own(mapping) => GpuVa(mapping.host().addr() as u64),
        };
        base.add(u64::from(index) * 8)
    }
}

/// The event page, once the first event has made it.
pub(crate) type PageSlot = Mutex<Option<Arc<EventPage>>>;

/// An event. Dropping it destroys it and wakes its waiters.
#[derive(Debug)]
pub struct Event {
    driver: Arc<Driver>,
    page: Arc<EventPage>,
    id: u32,
    slot: u32,
    kind: EventKind,
}

impl Event {
    pub(crate) fn create(
        driver: &Arc<Driver>,
        page: &PageSlot,
        kind: EventKind,
        auto_reset: bool,
    ) -> Result<Self, Error> {
        let mut argument = kfd_ioctl_create_event_args {
            event_type: kind as u32,
            auto_reset: auto_reset.into(),
            ..Default::default()
        };
        let page = create_with_page(driver, page, &mut argument)?;
        let event = Self {
            driver: Arc::clone(driver),
            page,
            id: argument.event_id,
            slot: argument.event_slot_index,
            kind,
        };
        if event.slot >= SLOTS {
            let reason = "event slot beyond the page";
            return Err(Error::Protocol {
                request: "CREATE_EVENT",
                reason,
            });
        }
        Ok(event)
    }

    /// The driver's number; for signal events, what a GPU stores to the mailbox.
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Kind.
    pub const fn kind(&self) -> EventKind {
        self.kind
    }

    /// Where a GPU stores the id to signal the event (`amd_signal_t.event_mailbox_ptr`); the host
    /// sees it at the same address. `None` for kinds that only the driver signals.
    pub fn mailbox(&self) -> Option<GpuVa> {
        matches!(self.kind, EventKind::Signal | EventKind::Debug).then(|| self.page.slot(self.slot))
    }

    /// Signals the event.
    ///
    /// # Errors
    /// It is not a signal event.
    pub fn set(&self) -> Result<(), Error> {
        self.driver.device.call(&mut kfd_ioctl_set_event_args {
            event_id: self.id,
            pad: 0,
        })
    }

    /// Clears the event.
    ///
    /// # Errors
    /// It is not a signal event.
    pub fn reset(&self) -> Result<(), Error> {
        self.driver.device.call(&mut kfd_ioctl_reset_event_args {
            event_id: self.id,
            pad: 0,
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let mut argument = kfd_ioctl_destroy_event_args {
            event_id: self.id,
            pad: 0,
        };
        if let Err(error) = self.driver.device.call(&mut argument) {
            tracing::error!(%error, event = self.id, "cannot destroy an event");
        }
    }
}

/// Issues CREATE_EVENT; the first one of the process also brings the event page.
fn create_with_page(
    driver: &Arc<Driver>,
    slot: &PageSlot,
    argument: &mut kfd_ioctl_create_event_args,
) -> Result<Arc<EventPage>, Error> {
    let mut slot = slot.lock();
    if let Some(page) = &*slot {
        driver.device.call(argument)?;
        return Ok(Arc::clone(page));
    }
    let page = match driver.gpus().next() {
        Some(gpu) => first_shared(driver, gpu.node, argument)?,
        None => first_own(driver, argument)?,
    };
    let page = Arc::new(page);
    *slot = Some(Arc::clone(&page));
    Ok(page)
}

fn first_shared(
    driver: &Arc<Driver>,
    node: NodeId,
    argument: &mut kfd_ioctl_create_event_args,
) -> Result<EventPage, Error> {
    let mut memory = EventPage::allocate(driver, node)?;
    argument.event_page_offset = memory.handle();
    driver.device.call(argument)?;
    memory.given_to_driver();
    Ok(EventPage::Shared(memory))
}

fn first_own(
    driver: &Arc<Driver>,
    argument: &mut kfd_ioctl_create_event_args,
) -> Result<EventPage, Error> {
    driver.device.call(argument)?;
    let (kernel, fd) = (&**driver.device.kernel(), driver.device.kfd());
    let offset = argument.event_page_offset;
    DeviceMapping::new(kernel, fd, PAGE_BYTES as usize, offset, "event page")
        .map(EventPage::Own)
        .inspect_err(|_| {
            let mut event = kfd_ioctl_destroy_event_args {
                event_id: argument.event_id,
                pad: 0,
            };
            if let Err(error) = driver.device.call(&mut event) {
                tracing::warn!(%error, "cannot take an event back");
            }
        })
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitStatus {
    /// One event, or all, as asked.
    Complete,
    /// The time ran out.
    Timeout,
}

/// What woke a waiter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitResult {
    /// How it ended.
    pub status: WaitStatus,
    /// Exceptions of memory and hardware events, with the index of the event in the call.
    pub exceptions: Vec<(usize, Exception)>,
}

/// What a memory or hardware event tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// A memory fault.
    Memory(MemoryException),
    /// A GPU reset.
    Hardware(HwException),
}

/// A GPU touched memory that it must not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryException {
    /// The GPU; `None` if the driver names one that is not in the topology.
    pub node: Option<NodeId>,
    /// Its gpu_id.
    pub gpu_id: u32,
    /// Address, or of its page if imprecise.
    pub va: GpuVa,
    /// The page is not mapped to the GPU.
    pub not_present: bool,
    /// A write to a page that may only be read.
    pub read_only: bool,
    /// A fetch from a page that may not be executed.
    pub no_execute: bool,
    /// The address is not exact.
    pub imprecise: bool,
    /// 0 none, 1 ECC SRAM, 2 poison, 3 GPU hang.
    pub error_type: u32,
}

/// A GPU was reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HwException {
    /// The GPU.
    pub node: Option<NodeId>,
    /// Its gpu_id.
    pub gpu_id: u32,
    /// 0 reset of the whole GPU, 1 of one engine.
    pub reset_type: u32,
    /// 0 GPU hang, 1 ECC.
    pub reset_cause: u32,
    /// Device memory has lost its content.
    pub memory_lost: bool,
}

/// Events in one wait for which no memory is allocated.
const INLINE: usize = 8;

pub(crate) fn wait(
    driver: &Driver,
    events: &[&Event],
    ages: &mut [u64],
    wait_all: bool,
    timeout_ms: u32,
) -> Result<WaitResult, Error> {
    if !ages.is_empty() && ages.len() != events.len() {
        return Err(Error::Invalid("as many ages as events, or none"));
    }
    let mut inline = [kfd_event_data::default(); INLINE];
    let mut heap;
    let data: &mut [kfd_event_data] = if events.len() <= INLINE {
        &mut inline[..events.len()]
    } else {
        heap = vec![kfd_event_data::default(); events.len()];
        &mut heap
    };
    for (index, (entry, event)) in data.iter_mut().zip(events).enumerate() {
        entry.event_id = event.id;
        entry.payload[0] = ages.get(index).copied().unwrap_or(0);
    }
    let status = issue(driver, data, wait_all, timeout_ms)?;
    for (age, (entry, event)) in ages.iter_mut().zip(data.iter().zip(events)) {
        if is_signal(event) {
            *age = entry.payload[0];
        }
    }
    let exceptions = match status {
        WaitStatus::Complete => exceptions(driver, events, data),
        WaitStatus::Timeout => Vec::new(),
    };
    Ok(WaitResult { status, exceptions })
}

const fn is_signal(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Memory | EventKind::HwException)
}

fn issue(
    driver: &Driver,
    data: &mut [kfd_event_data],
    wait_all: bool,
    timeout_ms: u32,
) -> Result<WaitStatus, Error> {
    let mut argument = kfd_ioctl_wait_events_args {
        wait_for_all: wait_all.into(),
        timeout: timeout_ms,
        ..Default::default()
    };
    let request = ioctl::name(ioctl::WAIT_EVENTS).unwrap_or_default();
    match driver.device.wait_events(&mut argument, data) {
        // A waiter whose event goes away gets this.
        Err(Errno(libc::EIO)) => return Err(Error::EventDestroyed),
        Err(errno) => return Err(Error::Ioctl { request, errno }),
        Ok(()) => {}
    }
    match argument.wait_result {
        KFD_IOC_WAIT_RESULT_COMPLETE => Ok(WaitStatus::Complete),
        KFD_IOC_WAIT_RESULT_TIMEOUT => Ok(WaitStatus::Timeout),
        _ => Err(Error::EventDestroyed),
    }
}

fn exceptions(
    driver: &Driver,
    events: &[&Event],
    data: &[kfd_event_data],
) -> Vec<(usize, Exception)> {
    let decode = |(index, (event, entry)): (usize, (&&Event, &kfd_event_data))| {
        let exception = match event.kind {
            EventKind::Memory => memory_exception(driver, entry).map(Exception::Memory),
            EventKind::HwException => hw_exception(driver, entry).map(Exception::Hardware),
            _ => None,
        };
        exception.map(|exception| (index, exception))
    };
    events
        .iter()
        .zip(data)
        .enumerate()
        .filter_map(decode)
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a word into its halves"
)]
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// `kfd_hsa_memory_exception_data`; a gpu_id of 0 means that there is none.
fn memory_exception(driver: &Driver, entry: &kfd_event_data) -> Option<MemoryException> {
    let [not_present, read_only] = halves(entry.payload[0]);
    let [no_execute, imprecise] = halves(entry.payload[1]);
    let [gpu_id, error_type] = halves(entry.payload[3]);
    (gpu_id != 0).then(|| MemoryException {
        node: driver.node_of(gpu_id),
        gpu_id,
        va: GpuVa(entry.payload[2]),
        not_present: not_present != 0,
        read_only: read_only != 0,
        no_execute: no_execute != 0,
        imprecise: imprecise != 0,
        error_type,
    })
}

/// `kfd_hsa_hw_exception_data`; a gpu_id of 0 means that there is none.
fn hw_exception(driver: &Driver, entry: &kfd_event_data) -> Option<HwException> {
    let [reset_type, reset_cause] = halves(entry.payload[0]);
    let [memory_lost, gpu_id] = halves(entry.payload[1]);
    (gpu_id != 0).then(|| HwException {
        node: driver.node_of(gpu_id),
        gpu_id,
        reset_type,
        reset_cause,
        memory_lost: memory_lost != 0,
    })
}

#[cfg(test)]
mod tests;
