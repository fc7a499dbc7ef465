//! Choice of the engine that runs dispatches.

use amdgpu_exec::{Device, Dispatch, Engine, Memory, Outcome, Stop, WaveLocation};

use crate::gpu::Settings;

/// The engine for these settings.
pub(super) fn create(_settings: &Settings) -> Box<dyn Engine> {
    Box::new(Missing)
}

/// Stops every dispatch: used where no engine is built in.
struct Missing;

impl Engine for Missing {
    fn run(&self, dispatch: &Dispatch, _: &dyn Memory, _: &dyn Device) -> Outcome {
        let reason = format!("no engine executes {:?} code", dispatch.target);
        let at = WaveLocation::default();
        Outcome::Stopped {
            stop: Stop::InvalidDispatch { reason },
            at,
        }
    }
}
