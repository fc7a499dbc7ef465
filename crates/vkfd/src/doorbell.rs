//! Doorbells: the pages that clients store to, and how a store wakes its queue.
//!
//! Our own library rings through [`ring`], which stores to vkfd's alias of the page and wakes the
//! queue directly. Other clients store plainly. While all queues of a page are idle its client
//! mapping is write-protected, so the first store traps: the handler opens the page and wakes the
//! queue and the monitor. While queues are at work the page is open and the monitor looks at it at growing
//! intervals; when they rest, it arms the page again. Nothing runs while everything is idle.

mod monitor;
mod pages;
mod trap;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hsakmt_sys::Errno;

use crate::memory::Segment;
use crate::queue::{Doorbell, DoorbellCell, RunningQueue};

pub(crate) use monitor::Monitor;
use pages::Page;
pub(crate) use pages::ring;

/// Bytes of a process's doorbells on one GPU: 1024 of 8 bytes (amdkfd `kfd_doorbell.c`).
pub(crate) const SLICE_BYTES: u64 = 8192;
/// Doorbells in a slice.
pub(crate) const COUNT: usize = 1024;
/// First doorbell that is not for compute queues (SDMA, interrupt handler, video); see
/// `AMDGPU_DOORBELL64`/`AMDGPU_NAVI10_DOORBELL` in amdgpu_doorbell.h. The band is mirrored at +512.
const RESERVED: std::ops::RangeInclusive<usize> = 0x100..=0x190;

/// The doorbells of a process on one GPU.
#[derive(Debug)]
pub(crate) struct Slice {
    segment: Arc<Segment>,
    page: &'static Page,
}

#[derive(Debug)]
struct Cell {
    segment: Arc<Segment>,
    index: usize,
}

impl DoorbellCell for Cell {
    fn cell(&self) -> &AtomicU64 {
        &self.segment.cells(0, SLICE_BYTES)[self.index]
    }
}

impl Slice {
    /// A slice with no queues.
    ///
    /// # Errors
    /// The errno of the memory calls.
    pub(crate) fn new() -> Result<Self, Errno> {
        let segment = Arc::new(Segment::new(c"vkfd-doorbells", SLICE_BYTES)?);
        let page = Page::new(Arc::clone(&segment));
        Ok(Self { segment, page })
    }

    /// Memory of the slice.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The doorbell with this index.
    pub(crate) fn doorbell(&self, index: usize) -> Doorbell {
        Doorbell(Arc::new(Cell {
            segment: Arc::clone(&self.segment),
            index,
        }))
    }

    /// Clears a doorbell before its queue starts, so that a value of its predecessor says nothing.
    pub(crate) fn clear(&self, index: usize) {
        self.segment.cells(0, SLICE_BYTES)[index].store(0, Ordering::Relaxed);
    }

    /// Connects a doorbell with its queue.
    pub(crate) fn attach(&self, index: usize, queue: Arc<dyn RunningQueue>) {
        self.page.attach(index, queue);
    }

    /// Disconnects a doorbell.
    pub(crate) fn detach(&self, index: usize) {
        self.page.detach(index);
    }

    /// Notes that the client mapped the slice at `address`, with `prot` as it wished. The mapping
    /// must have been made without write permission; it gets it with the first store.
    ///
    /// # Errors
    /// `ENOMEM` if there are too many mappings, or the trap handler cannot be installed.
    pub(crate) fn mapped(&self, address: usize, bytes: usize) -> Result<(), Errno> {
        trap::install()?;
        pages::register(address, bytes, self.page)
    }

    /// True if a compute queue may use this doorbell.
    pub(crate) fn is_for_compute(index: usize) -> bool {
        index < COUNT && !RESERVED.contains(&(index % 512))
    }
}

/// The client unmapped or replaced `address..address + bytes`.
pub(crate) fn unmapped(address: usize, bytes: usize) {
    pages::unregister(address, bytes);
}

/// The client freed the buffer object by which it had mapped doorbells at `address`; it will unmap
/// them next, and vkfd may not hear of that. Until then plain stores must not trap.
pub(crate) fn released(address: usize, bytes: usize) {
    pages::release(address, bytes);
}

impl Drop for Slice {
    fn drop(&mut self) {
        pages::forget(self.page);
    }
}
