//! The driver contract, from the client's side: every test runs hsakmt on the virtual KFD twice,
//! embedded through the seam, and through real system calls (`LinuxKfd`) that the interposer
//! answers in a child process.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed step is a failed test, and a skipped one says so"
)]

mod events;
mod harness;
mod hostile;
mod memory;
mod process;
mod queues;
mod rocminfo;
mod svm;
mod topology;
