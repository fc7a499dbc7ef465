//! A virtual KFD: the Linux kernel driver's contract in front of a software GPU.
//!
//! What it is: [`VirtualKfd`], which answers open, ioctl, mmap and file reads as amdkfd and amdgpu
//! would, and the queues, packet processors and address spaces behind them. What it is not: a
//! runtime; it never sees an HSA object, only numbers and bytes from a caller it does not trust.

pub mod clock;
pub mod cp;
pub mod event;
pub mod gpu;
mod guest;
pub mod profile;
pub mod queue;
pub mod report;
pub mod scheduler;
pub mod sdma;
pub mod svm;
mod uaccess;
pub mod vm;

pub use gpu::Gpu;
