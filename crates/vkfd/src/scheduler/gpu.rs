//! A process's GPU as the packet processors see it.

use std::sync::OnceLock;

use amdgpu_exec::{AccessFault, Engine, Memory};
use amdgpu_isa::Target;

use super::Host;
use crate::event::HwException;
use crate::gpu::{Gpu, Settings};
use crate::{clock, report};

/// The engine of all GPUs of the process; its workers are shared.
fn engine(settings: &Settings) -> &'static dyn Engine {
    static ENGINE: OnceLock<Box<dyn Engine>> = OnceLock::new();
    &**ENGINE.get_or_init(|| super::engine::create(settings))
}

impl Host for Gpu {
    fn memory(&self) -> &dyn Memory {
        &self.vm
    }

    fn engine(&self) -> &dyn Engine {
        engine(&self.settings)
    }

    fn target(&self) -> Target {
        self.target
    }

    fn shader_engines(&self) -> u32 {
        self.facts.shader_engines
    }

    fn compute_units(&self) -> u32 {
        self.facts.compute_units
    }

    fn lds_bytes(&self) -> u32 {
        self.facts.lds_bytes
    }

    fn ticks(&self) -> u64 {
        clock::gpu_ticks()
    }

    fn clock(&self) -> u64 {
        // No core clock to count: the raw clock in ns stands for one of 1 GHz.
        clock::monotonic_raw_ns()
    }

    fn interrupt(&self, event_id: u32) {
        self.events.interrupt(event_id);
    }

    fn memory_fault(&self, fault: &AccessFault) {
        if !self.report_memory_fault(fault) {
            tracing::warn!(
                gpu_id = self.gpu_id,
                "no client listens for memory exceptions"
            );
        }
    }

    fn hw_exception(&self) {
        self.events.hw_exception(HwException {
            gpu_id: self.gpu_id,
            ..HwException::default()
        });
    }

    fn label(&self) -> String {
        format!("{:?} #{}", self.target, self.index).to_lowercase()
    }

    fn debug_map(&self) -> u64 {
        self.debug.address()
    }

    fn trace(&self) -> bool {
        self.settings.trace
    }

    fn report(&self, text: &str) {
        report::write(text);
    }
}
