//! CREATE_EVENT to WAIT_EVENTS.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use hsakmt_sys::{Errno, kfd};

use super::EINVAL;
use super::wire::EventData;
use crate::bo::Backing;
use crate::event::{
    EventType, Fired, HwException, MemoryException, PAGE_BYTES, Payload, SignalPage, WaitResult,
    Wanted,
};
use crate::kernel::VirtualKfd;
use crate::memory::{Extent, Segment};
use crate::uaccess;

/// mmap offset of the event page (`KFD_MMAP_TYPE_EVENTS`).
pub(super) const MMAP_EVENTS: u64 = 2 << 62;
/// Most events of one wait: all that can exist fit, and the copies stay small.
const MAX_WAIT: u32 = 8192;

struct ClientPage(Arc<Extent>);

impl SignalPage for ClientPage {
    fn slots(&self) -> &[AtomicU64] {
        self.0.cells(PAGE_BYTES)
    }
}

struct OwnPage(Arc<Segment>);

impl SignalPage for OwnPage {
    fn slots(&self) -> &[AtomicU64] {
        self.0.cells(0, PAGE_BYTES)
    }
}

pub(super) fn create(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_create_event_args,
) -> Result<(), Errno> {
    if args.event_page_offset != 0 {
        adopt_page(kfd, args.event_page_offset)?;
    }
    let event_type = EventType(args.event_type);
    if !kfd.events.has_page() && (event_type == EventType::SIGNAL || event_type == EventType::DEBUG)
    {
        make_page(kfd)?;
    }
    let created = kfd.events.create(event_type, args.auto_reset != 0)?;
    args.event_id = created.id;
    args.event_slot_index = created.slot;
    args.event_trigger_data = created.slot;
    if created.slot != 0 {
        args.event_page_offset = MMAP_EVENTS;
    }
    Ok(())
}

/// The client's own buffer becomes the event page; the handle says which.
fn adopt_page(kfd: &VirtualKfd, handle: u64) -> Result<(), Errno> {
    if kfd.events.has_page() {
        return Err(EINVAL);
    }
    let mut objects = kfd.objects.lock();
    let bo = objects.get_mut(handle).ok_or(EINVAL)?;
    let Backing::Extent(extent) = &bo.backing else {
        return Err(EINVAL);
    };
    kfd.events
        .set_page(Arc::new(ClientPage(Arc::clone(extent))))?;
    bo.pinned = true;
    Ok(())
}

fn make_page(kfd: &VirtualKfd) -> Result<(), Errno> {
    let mut own = kfd.own_event_page.lock();
    let segment = Arc::new(Segment::new(c"vkfd-events", PAGE_BYTES)?);
    // Another thread may have been faster; then its page is the one.
    if kfd
        .events
        .set_page(Arc::new(OwnPage(Arc::clone(&segment))))
        .is_ok()
    {
        *own = Some(segment);
    }
    Ok(())
}

pub(super) fn destroy(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_destroy_event_args,
) -> Result<(), Errno> {
    kfd.events.destroy(args.event_id)
}

pub(super) fn set(kfd: &VirtualKfd, args: &mut kfd::kfd_ioctl_set_event_args) -> Result<(), Errno> {
    kfd.events.set(args.event_id)
}

pub(super) fn reset(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_reset_event_args,
) -> Result<(), Errno> {
    kfd.events.reset(args.event_id)
}

pub(super) fn wait(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_wait_events_args,
) -> Result<(), Errno> {
    if args.num_events > MAX_WAIT {
        return Err(EINVAL);
    }
    let data: Vec<EventData> = uaccess::get_array(args.events_ptr, args.num_events as usize)?;
    let wanted: Vec<Wanted> = data.iter().map(wanted).collect();
    let result = kfd
        .events
        .wait(&wanted, args.wait_for_all != 0, timeout(args.timeout))?;
    match result {
        WaitResult::Complete(fired) => {
            args.wait_result = kfd::KFD_IOC_WAIT_RESULT_COMPLETE;
            report(args.events_ptr, data, &fired)
        }
        WaitResult::Timeout => {
            args.wait_result = kfd::KFD_IOC_WAIT_RESULT_TIMEOUT;
            Ok(())
        }
        WaitResult::Destroyed => {
            args.wait_result = kfd::KFD_IOC_WAIT_RESULT_FAIL;
            Err(Errno(libc::EIO))
        }
    }
}

fn wanted(data: &EventData) -> Wanted {
    Wanted {
        id: data.event_id,
        last_age: join(data.words[0], data.words[1]),
    }
}

/// 0 polls, 0xffffffff is for ever, and the kernel caps the rest at 31 bits of ms.
fn timeout(ms: u32) -> Option<Duration> {
    (ms != u32::MAX).then(|| Duration::from_millis(ms.min(i32::MAX.unsigned_abs()).into()))
}

/// Writes back what fired, as `copy_signaled_event_data`.
fn report(events_ptr: u64, data: Vec<EventData>, fired: &[Option<Fired>]) -> Result<(), Errno> {
    let mut address = events_ptr;
    for (mut element, fired) in data.into_iter().zip(fired) {
        if let Some(words) = fired
            .as_ref()
            .and_then(|fired| words_of(fired, element.words))
        {
            element.words = words;
            uaccess::put(address, &element)?;
        }
        address += size_of::<EventData>() as u64;
    }
    Ok(())
}

/// The union's content for a fired event; `None` if its type reports nothing.
fn words_of(fired: &Fired, before: [u32; 8]) -> Option<[u32; 8]> {
    match (fired.event_type, fired.payload) {
        (EventType::MEMORY, Payload::Memory(exception)) => Some(memory_words(&exception)),
        (EventType::HW_EXCEPTION, Payload::Hw(exception)) => Some(hw_words(&exception, before)),
        (EventType::SIGNAL, _) => {
            let [low, high] = split(fired.age);
            let mut words = before;
            words[..2].copy_from_slice(&[low, high]);
            Some(words)
        }
        _ => None,
    }
}

/// `kfd_hsa_memory_exception_data`.
fn memory_words(exception: &MemoryException) -> [u32; 8] {
    let MemoryException {
        gpu_id,
        va,
        not_present,
        read_only,
        no_execute,
        imprecise,
    } = *exception;
    let [low, high] = split(va);
    let failure = [not_present, read_only, no_execute, imprecise].map(u32::from);
    [
        failure[0],
        failure[1],
        failure[2],
        failure[3],
        low,
        high,
        gpu_id,
        kfd::KFD_MEM_ERR_NO_RAS,
    ]
}

/// `kfd_hsa_hw_exception_data`.
fn hw_words(exception: &HwException, before: [u32; 8]) -> [u32; 8] {
    let mut words = before;
    let HwException {
        gpu_id,
        reset_type,
        reset_cause,
        memory_lost,
    } = *exception;
    words[..4].copy_from_slice(&[reset_type, reset_cause, memory_lost.into(), gpu_id]);
    words
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a word into its halves"
)]
fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}
