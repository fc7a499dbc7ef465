//! Executes AMDGCN wavefronts on x86-64.
//!
//! What it is: wave state, the reference interpreter, the workgroup scheduler and the access-rights
//! check. What it is not: a GPU; packets, queues and address spaces belong to `vkfd`, which drives
//! this crate through [`Engine`] and answers it through [`Memory`] and [`Device`].

pub mod api;
pub mod context;
mod registers;
pub mod step;
pub mod valu;
pub mod wave;

pub use api::{
    Access, AccessFault, Device, Dispatch, Engine, FaultReason, Memory, Outcome, Range, Stats,
    Stop, WaveLocation,
};
