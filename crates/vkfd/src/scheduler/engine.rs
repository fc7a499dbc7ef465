//! Choice of the engine that runs dispatches.

use amdgpu_exec::{Config, Engine, Interpreter};

use crate::gpu::Settings;

/// The engine for these settings.
pub(super) fn create(settings: &Settings) -> Box<dyn Engine> {
    let default = Config::default();
    let threads = settings.threads.unwrap_or(default.threads).max(1);
    Box::new(Interpreter::new(Config {
        threads,
        seed: settings.seed,
    }))
}
