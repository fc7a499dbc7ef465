//! The open device.

use crate::error::Error;
use crate::event::{Event, EventKind, WaitResult};
use crate::memory::{AllocRequest, MemoryObject};
use crate::queue::{Queue, QueueRequest};
use crate::svm::SvmAttribute;
use crate::topology::Topology;
use crate::types::{GpuVa, HostPtr, NodeId};
use hsakmt_sys::Kernel;
use std::sync::Arc;

/// Interface version of the driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// 1.
    pub major: u32,
    /// Grows with features.
    pub minor: u32,
}

/// Special ranges of a GPU's address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Apertures {
    /// First address of the LDS window.
    pub lds_base: u64,
    /// Last address of it.
    pub lds_limit: u64,
    /// First address of the scratch window.
    pub scratch_base: u64,
    /// Last address of it.
    pub scratch_limit: u64,
    /// First address of the GPU's virtual memory.
    pub gpuvm_base: u64,
    /// Last address of it.
    pub gpuvm_limit: u64,
}

/// Clocks read at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClockCounters {
    /// GPU counter.
    pub gpu: u64,
    /// `CLOCK_MONOTONIC_RAW` in ns.
    pub cpu: u64,
    /// `CLOCK_BOOTTIME` in ns.
    pub system: u64,
    /// Hz of `system`.
    pub system_freq: u64,
}

/// Registers that flush host writes to VRAM through the BAR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HdpFlush {
    /// HDP_MEM_FLUSH_CNTL.
    pub mem: *mut u32,
    /// HDP_REG_FLUSH_CNTL.
    pub reg: *mut u32,
}

/// What the DRM driver knows about a GPU (`AMDGPU_INFO_DEV_INFO`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceInfo {
    /// DRM family: 141 gfx9, 143 gfx10, 145 gfx11, 152 gfx12.
    pub family: u32,
    /// Revision of the chip.
    pub chip_rev: u32,
    /// Revision of the chip, external form.
    pub external_rev: u32,
    /// PCI revision.
    pub pci_rev: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// Shader arrays of an engine.
    pub shader_arrays_per_engine: u32,
    /// kHz of the GPU counter.
    pub gpu_counter_khz: u32,
    /// kHz.
    pub max_engine_clock_khz: u64,
    /// kHz.
    pub max_memory_clock_khz: u64,
    /// Bits of the memory bus.
    pub vram_bit_width: u32,
    /// Active compute units.
    pub cu_active: u32,
    /// Is part of an APU.
    pub fusion: bool,
}

/// The open device of this process.
#[derive(Debug)]
pub struct Kfd {
    kernel: Arc<dyn Kernel>,
    topology: Topology,
}

impl Kfd {
    /// Opens `/dev/kfd`, reads the topology and takes hold of every visible GPU.
    ///
    /// # Errors
    /// No module, no device, no permission, another interface, or an unreadable topology.
    pub fn open(kernel: Arc<dyn Kernel>) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            kernel,
            topology: Topology::default(),
        }))
    }

    /// Interface version.
    pub fn version(&self) -> Version {
        Version { major: 1, minor: 0 }
    }

    /// The topology as it was at [`Kfd::open`].
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The driver.
    pub fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.kernel
    }

    /// Whether this process runs with retry faults.
    pub fn xnack_enabled(&self) -> bool {
        false
    }

    /// Apertures of a GPU; `None` for other nodes.
    pub fn apertures(&self, _node: NodeId) -> Option<Apertures> {
        None
    }

    /// Reads the clocks. For a CPU node the GPU counter is 0. No lock.
    ///
    /// # Errors
    /// No such node.
    pub fn clock_counters(&self, _node: NodeId) -> Result<ClockCounters, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Bytes of VRAM that can still be allocated.
    ///
    /// # Errors
    /// Not a GPU; the driver is older than 1.9.
    pub fn available_vram(&self, _node: NodeId) -> Result<u64, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// The flush registers of a GPU, mapped at the first call; `None` if the driver has none.
    pub fn hdp_flush(&self, _node: NodeId) -> Option<HdpFlush> {
        None
    }

    /// What the DRM driver says about a GPU.
    ///
    /// # Errors
    /// Not a GPU; the ioctl fails.
    pub fn device_info(&self, _node: NodeId) -> Result<DeviceInfo, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Announces the runtime to debuggers; `r_debug` is the address of its `r_debug`.
    /// False if the driver does not know the call or refuses it now, which harms nothing.
    ///
    /// # Errors
    /// Another failure of the ioctl.
    pub fn runtime_enable(&self, _r_debug: u64) -> Result<bool, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Tells the driver where a GPU's scratch memory is.
    ///
    /// # Errors
    /// Not a GPU; not aligned to 64 KiB.
    pub fn set_scratch_backing(&self, _node: NodeId, _va: GpuVa) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Installs the second-level trap handler of a GPU.
    ///
    /// # Errors
    /// Not a GPU; the ioctl fails.
    pub fn set_trap_handler(&self, _node: NodeId, _tba: GpuVa, _tma: GpuVa) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Allocates memory; no GPU has access yet.
    ///
    /// # Errors
    /// A bad request, out of memory or address space, a failing ioctl. Nothing is left behind.
    pub fn allocate(self: &Arc<Self>, _request: &AllocRequest) -> Result<MemoryObject, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Registers memory of this process under a GPU address of its own. The object covers whole
    /// pages: byte `ptr` is at `gpu_va() + ptr % page`.
    ///
    /// # Errors
    /// Size 0, or the driver refuses the range. Nothing is left behind.
    pub fn register_user_memory(
        self: &Arc<Self>,
        _ptr: HostPtr,
        _size_bytes: u64,
        _coherent: bool,
    ) -> Result<MemoryObject, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Creates a queue with its end-of-pipe buffer and context save area.
    ///
    /// # Errors
    /// A bad request or a failing allocation or ioctl. Nothing is left behind.
    pub fn create_queue(self: &Arc<Self>, _request: &QueueRequest) -> Result<Queue, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Creates an event.
    ///
    /// # Errors
    /// `ENOSPC` after 4095 signal events; a failing ioctl.
    pub fn create_event(
        self: &Arc<Self>,
        _kind: EventKind,
        _auto_reset: bool,
    ) -> Result<Event, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Sleeps until one event, or all, are signalled, or the time is over (0 polls, `u32::MAX`
    /// waits for ever).
    ///
    /// `ages` is empty, or holds for each event the age seen last (0 ignores it); it comes back
    /// with the ages now. A changed age ends the wait at once, so no wake-up between look and wait
    /// is lost.
    ///
    /// # Errors
    /// An event was destroyed meanwhile; `ages` has another length; a failing ioctl.
    pub fn wait_events(
        &self,
        _events: &[&Event],
        _ages: &mut [u64],
        _wait_all: bool,
        _timeout_ms: u32,
    ) -> Result<WaitResult, Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Sets attributes of a range of shared virtual memory.
    ///
    /// # Errors
    /// The range is not page-aligned or not mapped in this process; no SVM in this driver.
    pub fn svm_set(
        &self,
        _start: HostPtr,
        _size_bytes: u64,
        _attributes: &[SvmAttribute],
    ) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// Answers attributes of a range, in place.
    ///
    /// # Errors
    /// As [`Kfd::svm_set`].
    pub fn svm_get(
        &self,
        _start: HostPtr,
        _size_bytes: u64,
        _attributes: &mut [SvmAttribute],
    ) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }
}
