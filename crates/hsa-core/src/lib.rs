//! HSA runtime objects: agents, pools, queues, signals, loader, copies.
//!
//! What it is: everything that `libhsa-runtime64.so.1` does, as safe Rust over [`hsakmt`]. What it
//! is not: a C interface (`hsa-api`), or anything that knows which driver is below.
//!
//! [`runtime::acquire`] opens the runtime, [`runtime::current`] finds it, and the objects hang off
//! [`Runtime`]. Handles are `u64`: table handles (agents, pools, ISAs, caches) are an index with a
//! kind tag; a signal's or a queue's handle is the address of the block that the device reads.

pub mod agent;
mod clock;
pub mod copy;
pub mod env;
pub mod error;
pub mod event;
pub mod handle;
pub mod isa;
mod live;
pub mod loader;
pub mod memory;
mod notify;
pub mod pool;
pub mod profile;
pub mod queue;
pub mod runtime;
pub mod signal;
pub mod system;
mod table;
mod tables;

pub use agent::Agent;
pub use error::Error;
pub use isa::Isa;
pub use pool::Pool;
pub use queue::Queue;
pub use runtime::Runtime;
pub use signal::Signal;

/// Result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
