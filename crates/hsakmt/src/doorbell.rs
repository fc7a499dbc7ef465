//! Doorbells: a page of device registers for each process and GPU, one word of it for each queue.
//!
//! A leaf with unsafe code.

use crate::driver::{Driver, Gpu};
use crate::error::Error;
use crate::memory::{MemoryObject, Spec, View};
use crate::pages::PAGE;
use crate::types::HostPtr;
use hsakmt_sys::kfd::{
    KFD_IOC_ALLOC_MEM_FLAGS_COHERENT as COHERENT, KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL as DOORBELL,
    KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE as NO_SUBSTITUTE,
    KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE as WRITABLE,
};
use std::sync::Arc;

/// Bytes of a process's doorbells on a GPU with 64-bit doorbells (gfx9 and later).
const SLICE_BYTES: u64 = 8192;

/// The doorbells of this process on one GPU.
#[derive(Debug)]
pub(crate) struct DoorbellSlice {
    memory: MemoryObject,
    base: HostPtr,
}

impl DoorbellSlice {
    /// Maps the slice that holds the doorbell at mmap offset `offset`, for the host and the GPU.
    pub(crate) fn new(driver: &Arc<Driver>, gpu: &Gpu, offset: u64) -> Result<Self, Error> {
        let spec = Spec {
            size_bytes: SLICE_BYTES,
            alignment: PAGE,
            flags: DOORBELL | WRITABLE | NO_SUBSTITUTE | COHERENT,
            user_address: 0,
            view: View::KfdAt(offset & !(SLICE_BYTES - 1)),
            inherit: false,
            what: "doorbells",
        };
        let memory = MemoryObject::create(driver, gpu, &spec)?;
        memory.map(&[gpu.node])?;
        let base = memory
            .host_ptr()
            .ok_or(Error::Invalid("doorbells without a host view"))?;
        Ok(Self { memory, base })
    }

    /// The doorbell at this mmap offset.
    pub(crate) fn doorbell(self: &Arc<Self>, driver: &Arc<Driver>, offset: u64) -> Doorbell {
        // In range: what is left after masking is below the size of the slice.
        let within = usize::try_from(offset & (SLICE_BYTES - 1) & !7).unwrap_or(0);
        Doorbell {
            driver: Arc::clone(driver),
            at: self.base.add(within),
            _slice: Arc::clone(self),
        }
    }

    /// The slice's driver handle.
    pub(crate) const fn handle(&self) -> u64 {
        self.memory.handle()
    }
}

/// One queue's doorbell, mapped as long as this lives.
#[derive(Debug)]
pub(crate) struct Doorbell {
    driver: Arc<Driver>,
    at: HostPtr,
    _slice: Arc<DoorbellSlice>,
}

impl Doorbell {
    /// Where it is mapped.
    pub(crate) fn pointer(&self) -> *mut u64 {
        self.at.as_ptr()
    }

    /// Stores `value`, after everything that this thread stored before.
    pub(crate) fn ring(&self, value: u64) {
        // SAFETY: `_slice` keeps the mapping of which `at` is a multiple of 8 within.
        unsafe {
            self.driver
                .device
                .kernel()
                .ring_doorbell(self.pointer(), value)
        }
    }
}
