//! What the packet processors need from the GPU they belong to.

use amdgpu_abi::sdma::Generation;
use amdgpu_exec::{AccessFault, Engine, Memory};
use amdgpu_isa::Target;

/// The GPU around a packet processor.
pub trait Host: Send + Sync {
    /// The GPU's address space.
    fn memory(&self) -> &dyn Memory;
    /// What runs dispatches.
    fn engine(&self) -> &dyn Engine;
    /// Processor of the GPU's code.
    fn target(&self) -> Target;
    /// Packet format of its copy engines.
    fn sdma_generation(&self) -> Generation {
        let (major, minor, stepping) = self.target().version();
        Generation::of_gfx(major, minor, stepping)
    }
    /// Shader engines.
    fn shader_engines(&self) -> u32;
    /// Compute units of the whole device.
    fn compute_units(&self) -> u32;
    /// LDS bytes of a compute unit: the most a workgroup may have.
    fn lds_bytes(&self) -> u32 {
        64 << 10
    }
    /// The counter of AQL timestamps and of the clock-counter ioctl.
    fn ticks(&self) -> u64;
    /// A core-clock counter.
    fn clock(&self) -> u64;
    /// An interrupt with an event id, as from CP, SDMA or a shader.
    fn interrupt(&self, event_id: u32);
    /// A page fault of the GPU: the process's memory events hear of it.
    fn memory_fault(&self, fault: &AccessFault);
    /// An engine hung or met bytes it cannot run: the process's hardware-exception events hear
    /// of it.
    fn hw_exception(&self);
    /// Short name for reports, e.g. `gfx90a #0`.
    fn label(&self) -> String;
    /// Address of the client's `r_debug` as RUNTIME_ENABLE gave it, 0 if none.
    fn debug_map(&self) -> u64 {
        0
    }
    /// Print each packet.
    fn trace(&self) -> bool {
        false
    }
    /// Writes a report, one or more lines.
    fn report(&self, text: &str) {
        crate::report::write(text);
    }
}
