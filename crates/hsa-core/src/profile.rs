//! Profiling times in ticks of the system clock.
//!
//! A device tick is translated on the line between the two clock samples around it, so times of one
//! device keep their order and never run ahead of the clock.

use crate::Result;
use crate::agent::Agent;
use crate::error::{Error, driver};
use crate::live::Live;
use crate::runtime::Runtime;
use crate::signal::Signal;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

/// Samples kept for each device; every second one goes when there are more.
const MAX_SAMPLES: usize = 64;

/// Start and end in ticks of the system clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

/// Both clocks at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sample {
    gpu: u64,
    system: u64,
}

/// Samples of one device, rising.
#[derive(Debug, Default)]
struct Line(Vec<Sample>);

impl Line {
    fn add(&mut self, sample: Sample) {
        if self
            .0
            .last()
            .is_none_or(|last| sample.gpu > last.gpu && sample.system > last.system)
        {
            self.0.push(sample);
        }
        if self.0.len() > MAX_SAMPLES {
            let mut index = 0;
            let last = self.0.len() - 1;
            self.0.retain(|_| {
                index += 1;
                index % 2 == 1 || index > last
            });
        }
    }

    fn covers(&self, tick: u64) -> bool {
        self.0.len() >= 2 && self.0.last().is_some_and(|last| tick <= last.gpu)
    }

    /// The system time of a tick: on the line through the samples around it. Before the first sample
    /// the device's nominal frequency counts.
    fn translate(&self, tick: u64, frequency: u64) -> u64 {
        let after = self.0.partition_point(|s| s.gpu <= tick);
        let nominal = |from: Sample| {
            let ticks = i128::from(tick) - i128::from(from.gpu);
            let ns = i128::from(from.system) + ticks * 1_000_000_000 / i128::from(frequency.max(1));
            u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
        };
        match (after.checked_sub(1).map(|i| self.0[i]), self.0.get(after)) {
            (Some(a), Some(b)) => {
                let ns = u128::from(tick - a.gpu) * u128::from(b.system - a.system)
                    / u128::from(b.gpu - a.gpu);
                a.system + u64::try_from(ns).unwrap_or(0)
            }
            (Some(a), None) => nominal(a),
            (None, Some(&b)) => nominal(b),
            (None, None) => 0,
        }
    }
}

/// Clock samples by agent.
#[derive(Debug, Default)]
pub(crate) struct Clocks(Mutex<HashMap<usize, Line>>);

impl Clocks {
    fn translate(&self, live: &Live, agent: &Agent, tick: u64) -> Result<u64> {
        let mut lines = self.0.lock();
        let line = lines.entry(agent.index).or_default();
        while !line.covers(tick) {
            let c = live
                .kfd
                .clock_counters(agent.node_id())
                .map_err(driver("GET_CLOCK_COUNTERS"))?;
            let before = line.0.len();
            line.add(Sample {
                gpu: c.gpu,
                system: c.system,
            });
            // A tick of the future is translated as far as the clock goes.
            if c.gpu < tick && before >= 2 {
                break;
            }
        }
        Ok(line.translate(tick, agent.timestamp_frequency))
    }
}

impl Runtime {
    /// Turns timestamps of copies on or off for all agents.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn set_copy_profiling(&self, enable: bool) -> Result<()> {
        self.live()?
            .copies
            .profiling
            .store(enable, Ordering::Relaxed);
        Ok(())
    }

    /// Times of the dispatch that completed with `signal` on `agent`.
    ///
    /// # Errors
    /// `InvalidAgent` for a CPU; `Generic` if no times were taken.
    pub fn dispatch_time(&self, agent: &Agent, signal: Signal) -> Result<Interval> {
        let (start, end) = signal.dispatch_ticks();
        self.interval(Some(agent.index), start, end)
    }

    /// Times of the copy that completed with `signal`.
    ///
    /// # Errors
    /// `Generic` if no times were taken.
    pub fn copy_time(&self, signal: Signal) -> Result<Interval> {
        let (start, end, agent) = signal.copy_times().ok_or(Error::Generic)?;
        self.interval(agent, start, end)
    }

    fn interval(&self, agent: Option<usize>, start: u64, end: u64) -> Result<Interval> {
        if start == 0 || end == 0 {
            return Err(Error::Generic);
        }
        let Some(agent) = agent else {
            return Ok(Interval { start, end });
        };
        let agent = &self.tables.agents[agent];
        Ok(Interval {
            start: self.convert_tick(agent, start)?,
            end: self.convert_tick(agent, end)?,
        })
    }

    /// `hsa_amd_profiling_convert_tick_to_system_domain`
    ///
    /// # Errors
    /// `InvalidAgent` for a CPU.
    pub fn convert_tick(&self, agent: &Agent, tick: u64) -> Result<u64> {
        if !agent.is_gpu() {
            return Err(Error::InvalidAgent);
        }
        let live = self.live()?;
        live.clocks.translate(&live, agent, tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_between_samples_lie_on_the_line_and_never_go_back() {
        let mut line = Line::default();
        for (gpu, system) in [(1000, 50_000), (2000, 60_000), (4000, 81_000)] {
            line.add(Sample { gpu, system });
        }
        assert_eq!(line.translate(1500, 100_000_000), 55_000);
        assert_eq!(line.translate(3000, 100_000_000), 70_500);
        assert_eq!(
            line.translate(900, 100_000_000),
            49_000,
            "nominal before the first sample"
        );
        let times: Vec<u64> = (900..4000)
            .map(|t| line.translate(t, 100_000_000))
            .collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn many_samples_stay_bounded_and_keep_the_latest() {
        let mut line = Line::default();
        for i in 1..1000 {
            line.add(Sample {
                gpu: i * 10,
                system: i * 100,
            });
        }
        assert!(line.0.len() <= MAX_SAMPLES);
        assert_eq!(line.0.last().unwrap().gpu, 9990);
        assert_eq!(line.translate(9985, 1), 99_850);
    }
}
