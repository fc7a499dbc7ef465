//! A virtual KFD: the Linux kernel driver's contract in front of a software GPU.
//!
//! What it is: [`VirtualKfd`], which answers open, ioctl, mmap and file reads as amdkfd and amdgpu
//! would, and the queues, packet processors and address spaces behind them. What it is not: a
//! runtime; it never sees an HSA object, only numbers and bytes from a caller it does not trust.
//!
//! Types to know: [`Config`] names the GPUs (from code or from `VKFD_*` variables), each of which is
//! a [`profile::Profile`]; [`VirtualKfd`] is the device; [`Gpu`] is one GPU as the packet processors
//! see it, with its [`vm::AddressSpace`]; [`queue::RunningQueue`] is a queue at work.
//!
//! ```
//! use hsakmt_sys::Kernel;
//! use vkfd::{Config, VirtualKfd};
//!
//! let device = VirtualKfd::new(Config::of_gpus("gfx90a,gfx1030")?)?;
//! let name = device.read_file("/sys/class/kfd/kfd/topology/nodes/1/name".as_ref())?;
//! assert_eq!(name, b"aldebaran\n");
//! let kfd = device.open(c"/dev/kfd", libc::O_RDWR)?;
//! device.close(kfd)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bo;
pub mod clock;
pub mod config;
pub mod cp;
mod device;
mod doorbell;
pub mod event;
mod extent;
mod files;
pub mod gpu;
mod guest;
mod kernel;
mod maps;
mod memory;
mod paths;
pub mod profile;
pub mod queue;
mod queues;
pub mod report;
pub mod scheduler;
pub mod sdma;
pub mod svm;
pub mod sysfs;
mod uaccess;
mod uapi;
pub mod vm;

pub use config::{Config, ConfigError};
pub use files::FileKind;
pub use gpu::Gpu;
pub use kernel::{Error, VirtualKfd};
