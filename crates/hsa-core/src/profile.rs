//! Profiling times in ticks of the system clock.

use crate::agent::Agent;
use crate::error::Error;
use crate::runtime::Runtime;
use crate::signal::Signal;
use crate::Result;

/// Start and end in ticks of the system clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

impl Runtime {
    /// Turns timestamps of copies on or off for all agents.
    pub fn set_copy_profiling(&self, enable: bool) {
        let _ = enable;
    }

    /// Times of the dispatch that completed with `signal` on `agent`.
    ///
    /// # Errors
    /// `Generic` if no times were taken.
    pub fn dispatch_time(&self, agent: &Agent, signal: Signal) -> Result<Interval> {
        let _ = (agent, signal);
        Err(Error::Generic)
    }

    /// Times of the copy that completed with `signal`.
    ///
    /// # Errors
    /// `Generic` if no times were taken.
    pub fn copy_time(&self, signal: Signal) -> Result<Interval> {
        let _ = signal;
        Err(Error::Generic)
    }

    /// `hsa_amd_profiling_convert_tick_to_system_domain`
    ///
    /// # Errors
    /// `InvalidAgent` for a CPU.
    pub fn convert_tick(&self, agent: &Agent, tick: u64) -> Result<u64> {
        let _ = (agent, tick);
        Err(Error::InvalidAgent)
    }
}
