//! One GPU as the processors see it: facts of its profile, its address space and where it reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_exec::{AccessFault, FaultReason};
use amdgpu_isa::Target;

use crate::event::{Events, MemoryException};
use crate::profile::Profile;
use crate::vm::AddressSpace;

/// Settings that reach the scheduler.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Worker threads for workgroups; `None` means all cores.
    pub threads: Option<usize>,
    /// Seed of the schedule.
    pub seed: u64,
    /// Print each packet.
    pub trace: bool,
}

/// Sizes that the packet processors and the engine need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Compute units.
    pub compute_units: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// SIMDs per compute unit.
    pub simds_per_cu: u32,
    /// LDS bytes per workgroup.
    pub lds_bytes: u32,
    /// Waves per SIMD.
    pub waves_per_simd: u32,
    /// Native wave size.
    pub wavefront: u32,
}

/// What one process has of one GPU.
#[derive(Debug)]
pub struct Gpu {
    /// Position in the process's list (bit in SVM masks).
    pub index: u32,
    /// KFD's id.
    pub gpu_id: u32,
    /// Processor whose code it executes.
    pub target: Target,
    /// Its data.
    pub profile: Arc<Profile>,
    /// Sizes.
    pub facts: Facts,
    /// Address space of the process on this GPU.
    pub vm: AddressSpace,
    /// Events of the process.
    pub events: Arc<Events>,
    /// What the client's debugger interface publishes.
    pub debug: Arc<RuntimeDebug>,
    /// Scheduler settings.
    pub settings: Settings,
}

/// `r_debug` of RUNTIME_ENABLE: the client's list of loaded code objects, 0 if none is published.
#[derive(Debug, Default)]
pub struct RuntimeDebug(AtomicU64);

impl RuntimeDebug {
    /// Address of the client's `r_debug`, or 0.
    pub fn address(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn publish(&self, address: u64) {
        self.0.store(address, Ordering::Relaxed);
    }
}

impl Facts {
    pub(crate) fn of(profile: &Profile) -> Self {
        let node = |name| profile.node.get_u32(name);
        Self {
            compute_units: profile.compute_units(),
            shader_engines: profile.shader_engines(),
            simds_per_cu: node("simd_per_cu"),
            lds_bytes: node("lds_size_in_kb").saturating_mul(1024),
            waves_per_simd: node("max_waves_per_simd"),
            wavefront: node("wave_front_size"),
        }
    }
}

impl Gpu {
    /// Raises the memory exception of a refused access, page-exact as hardware does; false if no
    /// client listens for it.
    pub fn report_memory_fault(&self, fault: &AccessFault) -> bool {
        self.events.memory_fault(MemoryException {
            gpu_id: self.gpu_id,
            // The fault registers hold a page number (amdgpu `gmc_v9_0_process_interrupt`).
            va: fault.gpu_va & !0xfff,
            not_present: fault.reason == FaultReason::NotPresent,
            read_only: fault.reason == FaultReason::ReadOnly,
            no_execute: fault.reason == FaultReason::NoExecute,
            imprecise: false,
        })
    }
}
