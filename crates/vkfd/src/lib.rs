//! A virtual KFD: the Linux kernel driver's contract in front of a software GPU.
//!
//! What it is: [`VirtualKfd`], which answers open, ioctl, mmap and file reads as amdkfd and amdgpu
//! would, and the queues, packet processors and address spaces behind them. What it is not: a
//! runtime; it never sees an HSA object, only numbers and bytes from a caller it does not trust.

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
