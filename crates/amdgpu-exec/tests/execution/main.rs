//! Machine code on the engine: scalar results, launch state, memory, scheduling and whole kernels.
//!
//! Snippets are assembled by LLVM when the test runs; expected values are arithmetic or come from
//! the ISA manuals and LLVM's AMDGPU guide.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests stop at the first surprise and say when they are skipped"
)]

mod kernels;
mod launch;
mod local;
mod memory;
mod progress;
mod scalar;
mod schedule;
