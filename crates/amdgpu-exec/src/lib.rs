//! Executes AMDGCN wavefronts on x86-64.
//!
//! What it is: wave state, the reference interpreter, the workgroup scheduler and the access-rights
//! check. What it is not: a GPU; packets, queues and address spaces belong to `vkfd`, which drives
//! this crate through [`Engine`] and answers it through [`Memory`] and [`Device`].

mod access;
pub mod api;
mod block;
mod buffer;
pub mod context;
mod ds;
mod engine;
mod flat;
mod float;
mod format;
mod group;
mod host;
mod image;
mod indexed;
mod interp;
mod job;
mod launch;
pub mod memory;
mod order;
mod poll;
mod pool;
mod registers;
mod residents;
mod rows;
mod salu;
mod smem;
pub mod step;
mod sync;
pub mod testing;
mod translate;
pub mod valu;
pub mod wave;

pub use api::{
    Access, AccessFault, Device, Dispatch, Engine, FaultReason, Memory, Outcome, Range, Stats,
    Stop, WaveLocation,
};
pub use engine::{Config, Interpreter};
