//! The driver abstraction ("thunk") over the Linux KFD contract, in safe Rust.
//!
//! What it is: topology, apertures, memory objects, queues, events and waits of one process, on
//! any [`Kernel`](hsakmt_sys::Kernel). What it is not: a runtime; agents, pools, signals and
//! code objects are `hsa-core`'s. The types to know: [`Kfd`], [`Topology`], [`MemoryObject`],
//! [`Queue`], [`Event`].
//!
//! ```no_run
//! use hsakmt::{Kfd, LinuxKfd};
//! use std::sync::Arc;
//!
//! let kfd = Kfd::open(Arc::new(LinuxKfd))?;
//! for gpu in kfd.topology().gpus() {
//!     println!("{} {} MiB", gpu.gfx(), gpu.vram_bytes() >> 20);
//! }
//! # Ok::<(), hsakmt::Error>(())
//! ```

mod call;
mod cwsr;
mod doorbell;
mod driver;
mod error;
mod event;
mod handles;
mod kfd;
mod linux;
mod memory;
#[cfg(test)]
mod mock;
mod pages;
mod queue;
mod svm;
pub mod topology;
mod types;

pub use error::Error;
pub use event::{
    Event, EventKind, Exception, HwException, MemoryException, WaitResult, WaitStatus,
};
pub use kfd::{Apertures, ClockCounters, DeviceInfo, HdpFlush, Kfd, Version};
pub use linux::LinuxKfd;
pub use memory::{AllocFlags, AllocRequest, MemoryKind, MemoryObject};
pub use queue::{Queue, QueueKind, QueueRequest};
pub use svm::{SvmAccess, SvmAttribute, SvmFlags, SvmLocation};
pub use topology::{Node, NodeProperties, Topology};
pub use types::{GpuVa, HostPtr, NodeId};
