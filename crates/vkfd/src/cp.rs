//! The command processor: reads AQL packets and acts on them.
//!
//! Packets of a queue run one after the other, each to its end, so the barrier bit and the fences
//! of the headers hold by construction; queues run side by side. What goes wrong is a [`Halt`]: the
//! queue stops, its error reaches the client as it does with hardware, and a report says why.

mod aql;
mod barrier;
mod dispatch;
mod halt;
mod pm4;
mod signal;
mod waves;

pub use aql::AqlQueue;
pub use halt::Halt;

/// How a packet ended.
type Outcome<T> = Result<T, Halt>;
