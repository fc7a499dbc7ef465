//! Memory layouts that the host and an AMD GPU share.
//!
//! What it is: AQL packets, `amd_queue_t`, `amd_signal_t`, the kernel descriptor and SDMA packets,
//! as typed views with the offsets of AMD's headers. What it is not: anything that acts on them.

#![forbid(unsafe_code)]

pub mod aql;
pub mod descriptor;
pub mod queue;
pub mod sdma;
pub mod signal;
