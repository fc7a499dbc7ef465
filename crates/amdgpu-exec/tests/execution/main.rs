//! Machine code on the engine: scalar results, launch state, memory, scheduling and whole kernels.
//!
//! Snippets are assembled by LLVM when the test runs; expected values are arithmetic or come from
//! the ISA manuals and LLVM's AMDGPU guide.

mod kernels;
mod launch;
mod local;
mod memory;
mod scalar;
mod schedule;
