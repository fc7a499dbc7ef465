//! Queues from the client's side: packets in a ring, what happens to memory, signals and events.
//! The engine is a stand-in that the test programs; address space and GPU are the test's own.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
#![expect(clippy::cast_possible_truncation, reason = "test data and small sizes")]

mod barriers;
mod dispatch;
mod errors;
mod gpu;
mod hostile;
mod kernels;
mod ring;
mod scheduling;
mod sdma;
