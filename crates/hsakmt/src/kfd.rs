//! The open device.

use crate::driver::{Driver, Gpu};
use crate::error::Error;
use crate::event::{self, Event, EventKind, PageSlot, WaitResult};
use crate::memory::{AllocRequest, MemoryObject, Spec, View};
use crate::pages::PAGE;
use crate::queue::{Queue, QueueRequest, Slices};
use crate::svm::{self, SvmAttribute};
use crate::topology::{self, Topology};
use crate::types::{GpuVa, HostPtr, NodeId};
use hsakmt_sys::kfd::{
    KFD_IOC_ALLOC_MEM_FLAGS_COHERENT as COHERENT, KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP as MMIO_REMAP,
    KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE as NO_SUBSTITUTE,
    KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE as WRITABLE, kfd_ioctl_get_available_memory_args,
    kfd_ioctl_get_clock_counters_args, kfd_ioctl_set_scratch_backing_va_args,
    kfd_ioctl_set_trap_handler_args,
};
use hsakmt_sys::newer::{KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK, kfd_ioctl_runtime_enable_args};
use hsakmt_sys::{Errno, Fd, Kernel, drm};
use parking_lot::Mutex;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, OnceLock};

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
    page: PageSlot,
    slices: Slices,
    hdp: Vec<OnceLock<Option<MemoryObject>>>,
    driver: Arc<Driver>,
}

/// The [`Kfd`] on a driver that keeps its state when descriptors are closed, with the process that
/// opened it: a forked child has to open its own.
static KEPT: Mutex<Option<(u32, Arc<Kfd>)>> = Mutex::new(None);

impl Kfd {
    /// Opens `/dev/kfd`, reads the topology and takes hold of every visible GPU.
    ///
    /// A driver that keeps a process's address spaces and event page beyond close
    /// ([`Kernel::outlives_close`], as Linux does) answers every open with the same object.
    ///
    /// # Errors
    /// No module, no device, no permission, another interface, or an unreadable topology.
    pub fn open(kernel: Arc<dyn Kernel>) -> Result<Arc<Self>, Error> {
        if !kernel.outlives_close() {
            return Self::open_new(kernel);
        }
        let process = std::process::id();
        let mut kept = KEPT.lock();
        match kept.take() {
            Some((owner, kfd)) if owner == process && kfd.runs_on(&*kernel) => {
                *kept = Some((owner, Arc::clone(&kfd)));
                return Ok(kfd);
            }
            // The parent's. Its descriptors are useless here and its memory is not ours to free.
            Some((owner, kfd)) if owner != process => std::mem::forget(kfd),
            _ => {}
        }
        let kfd = Self::open_new(kernel)?;
        *kept = Some((process, Arc::clone(&kfd)));
        Ok(kfd)
    }

    fn runs_on(&self, kernel: &dyn Kernel) -> bool {
        self.kernel().instance() == kernel.instance()
    }

    fn open_new(kernel: Arc<dyn Kernel>) -> Result<Arc<Self>, Error> {
        let driver = Arc::new(Driver::open(kernel)?);
        let nodes = driver.topology.nodes.len();
        Ok(Arc::new(Self {
            page: PageSlot::default(),
            slices: Slices::for_nodes(nodes),
            hdp: (0..nodes).map(|_| OnceLock::new()).collect(),
            driver,
        }))
    }

    /// Interface version.
    pub fn version(&self) -> Version {
        self.driver.version
    }

    /// The topology as it was at [`Kfd::open`].
    pub fn topology(&self) -> &Topology {
        &self.driver.topology
    }

    /// Whether devices have come or gone since [`Kfd::open`].
    ///
    /// # Errors
    /// The generation number cannot be read.
    pub fn topology_changed(&self) -> Result<bool, Error> {
        let now = topology::read::generation(&**self.kernel())?;
        Ok(now != self.driver.topology.generation)
    }

    /// The driver.
    pub fn kernel(&self) -> &Arc<dyn Kernel> {
        self.driver.device.kernel()
    }

    /// Whether this process runs with retry faults.
    pub fn xnack_enabled(&self) -> bool {
        self.driver.xnack
    }

    /// Apertures of a GPU; `None` for other nodes.
    pub fn apertures(&self, node: NodeId) -> Option<Apertures> {
        self.driver.gpu(node).ok().map(|gpu| gpu.apertures)
    }

    /// Reads the clocks. For a CPU node the GPU counter is 0. No lock.
    ///
    /// # Errors
    /// No such node.
    pub fn clock_counters(&self, node: NodeId) -> Result<ClockCounters, Error> {
        let gpu_id = self.driver.node(node)?.gpu_id;
        let mut argument = kfd_ioctl_get_clock_counters_args {
            gpu_id,
            ..Default::default()
        };
        self.driver.device.call(&mut argument)?;
        Ok(ClockCounters {
            gpu: argument.gpu_clock_counter,
            cpu: argument.cpu_clock_counter,
            system: argument.system_clock_counter,
            system_freq: argument.system_clock_freq,
        })
    }

    /// Bytes of VRAM that can still be allocated.
    ///
    /// # Errors
    /// Not a GPU; the driver is older than 1.9.
    pub fn available_vram(&self, node: NodeId) -> Result<u64, Error> {
        self.driver.need("available memory", 9)?;
        let gpu_id = self.driver.gpu(node)?.gpu_id;
        let mut argument = kfd_ioctl_get_available_memory_args {
            gpu_id,
            ..Default::default()
        };
        self.driver.device.call(&mut argument)?;
        Ok(argument.available)
    }

    /// The flush registers of a GPU, mapped at the first call; `None` if the driver has none.
    /// Valid while this object lives.
    pub fn hdp_flush(&self, node: NodeId) -> Option<HdpFlush> {
        let memory = self
            .hdp
            .get(node.index())?
            .get_or_init(|| self.map_hdp(node));
        let base = memory.as_ref()?.host_ptr()?;
        Some(HdpFlush {
            mem: base.as_ptr(),
            reg: base.add(size_of::<u32>()).as_ptr(),
        })
    }

    fn map_hdp(&self, node: NodeId) -> Option<MemoryObject> {
        let gpu = self.driver.gpu(node).ok()?;
        hdp_page(&self.driver, gpu)
            .inspect_err(|error| tracing::info!(%node, %error, "no HDP flush registers"))
            .ok()
    }

    /// What the DRM driver says about a GPU.
    ///
    /// # Errors
    /// Not a GPU; the ioctl fails.
    pub fn device_info(&self, node: NodeId) -> Result<DeviceInfo, Error> {
        let render = self.driver.gpu(node)?.render.fd;
        self.driver.device.device_info(render).map(DeviceInfo::from)
    }

    /// Announces the runtime to debuggers; `r_debug` is the address of its `r_debug`.
    /// False if the driver does not know the call or refuses it now, which harms nothing.
    ///
    /// # Errors
    /// Another failure of the ioctl.
    pub fn runtime_enable(&self, r_debug: u64) -> Result<bool, Error> {
        self.set_runtime(r_debug, KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK)
    }

    /// Takes [`Kfd::runtime_enable`] back.
    ///
    /// # Errors
    /// The ioctl fails in a way other than being unknown.
    pub fn runtime_disable(&self) -> Result<bool, Error> {
        self.set_runtime(0, 0)
    }

    fn set_runtime(&self, r_debug: u64, mode_mask: u32) -> Result<bool, Error> {
        if self.driver.version.minor < 13 {
            return Ok(false);
        }
        let mut argument = kfd_ioctl_runtime_enable_args {
            r_debug,
            mode_mask,
            ..Default::default()
        };
        match self.driver.device.call(&mut argument) {
            Ok(()) => Ok(true),
            Err(error) => match error.errno() {
                // Enabled already; queues exist already; built without debugger support.
                Some(Errno(libc::EBUSY | libc::EEXIST | libc::EINVAL | libc::ENOTTY)) => Ok(false),
                _ => Err(error),
            },
        }
    }

    /// Tells the driver where a GPU's scratch memory is.
    ///
    /// # Errors
    /// Not a GPU; not aligned to 64 KiB.
    pub fn set_scratch_backing(&self, node: NodeId, va: GpuVa) -> Result<(), Error> {
        if !va.get().is_multiple_of(1 << 16) {
            return Err(Error::Invalid("scratch memory is aligned to 64 KiB"));
        }
        let gpu_id = self.driver.gpu(node)?.gpu_id;
        let va_addr = va.get() >> 16;
        let mut argument = kfd_ioctl_set_scratch_backing_va_args {
            va_addr,
            gpu_id,
            ..Default::default()
        };
        self.driver.device.call(&mut argument)
    }

    /// Installs the second-level trap handler of a GPU.
    ///
    /// # Errors
    /// Not a GPU; the ioctl fails.
    pub fn set_trap_handler(&self, node: NodeId, tba: GpuVa, tma: GpuVa) -> Result<(), Error> {
        let gpu_id = self.driver.gpu(node)?.gpu_id;
        self.driver
            .device
            .call(&mut kfd_ioctl_set_trap_handler_args {
                tba_addr: tba.get(),
                tma_addr: tma.get(),
                gpu_id,
                ..Default::default()
            })
    }

    /// Allocates memory; no GPU has access yet.
    ///
    /// # Errors
    /// A bad request, out of memory or address space, a failing ioctl. Nothing is left behind.
    pub fn allocate(self: &Arc<Self>, request: &AllocRequest) -> Result<MemoryObject, Error> {
        MemoryObject::allocate(&self.driver, request)
    }

    /// Registers memory of this process under a GPU address of its own. The object covers whole
    /// pages: byte `ptr` is at `gpu_va() + ptr % page`.
    ///
    /// # Errors
    /// Size 0, or the driver refuses the range. Nothing is left behind.
    pub fn register_user_memory(
        self: &Arc<Self>,
        ptr: HostPtr,
        size_bytes: u64,
        coherent: bool,
    ) -> Result<MemoryObject, Error> {
        MemoryObject::register(&self.driver, ptr, size_bytes, coherent)
    }

    /// Imports a dma-buf of `size_bytes` for the GPU of `node`; no GPU has access yet, and the host
    /// has no view.
    ///
    /// # Errors
    /// Not a GPU, or not a dma-buf of this driver. Nothing is left behind.
    pub fn import_dmabuf(
        self: &Arc<Self>,
        node: NodeId,
        dmabuf: BorrowedFd<'_>,
        size_bytes: u64,
    ) -> Result<MemoryObject, Error> {
        let gpu = self.driver.gpu(node)?;
        MemoryObject::import(&self.driver, gpu, Fd(dmabuf.as_raw_fd()), size_bytes)
    }

    /// Creates a queue with its end-of-pipe buffer and context save area.
    ///
    /// # Errors
    /// A bad request or a failing allocation or ioctl. Nothing is left behind but the mapped
    /// doorbells of the GPU, which later queues use.
    pub fn create_queue(self: &Arc<Self>, request: &QueueRequest) -> Result<Queue, Error> {
        Queue::create(&self.driver, &self.slices, request)
    }

    /// Creates an event.
    ///
    /// # Errors
    /// `ENOSPC` after 4095 signal events; a failing ioctl.
    pub fn create_event(
        self: &Arc<Self>,
        kind: EventKind,
        auto_reset: bool,
    ) -> Result<Event, Error> {
        Event::create(&self.driver, &self.page, kind, auto_reset)
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
        events: &[&Event],
        ages: &mut [u64],
        wait_all: bool,
        timeout_ms: u32,
    ) -> Result<WaitResult, Error> {
        event::wait(&self.driver, events, ages, wait_all, timeout_ms)
    }

    /// Sets attributes of a range of shared virtual memory.
    ///
    /// # Errors
    /// The range is not page-aligned or not mapped in this process; no SVM in this driver.
    pub fn svm_set(
        &self,
        start: HostPtr,
        size_bytes: u64,
        attributes: &[SvmAttribute],
    ) -> Result<(), Error> {
        svm::set(&self.driver, start, size_bytes, attributes)
    }

    /// Answers attributes of a range, in place.
    ///
    /// # Errors
    /// As [`Kfd::svm_set`].
    pub fn svm_get(
        &self,
        start: HostPtr,
        size_bytes: u64,
        attributes: &mut [SvmAttribute],
    ) -> Result<(), Error> {
        svm::get(&self.driver, start, size_bytes, attributes)
    }
}

fn hdp_page(driver: &Arc<Driver>, gpu: &Gpu) -> Result<MemoryObject, Error> {
    let spec = Spec {
        size_bytes: PAGE,
        alignment: PAGE,
        flags: MMIO_REMAP | WRITABLE | NO_SUBSTITUTE | COHERENT,
        user_address: 0,
        view: View::Kfd,
        inherit: false,
        what: "HDP flush registers",
    };
    let memory = MemoryObject::create(driver, gpu, &spec)?;
    memory.map(&[gpu.node])?;
    Ok(memory)
}

impl From<drm::drm_amdgpu_info_device> for DeviceInfo {
    fn from(info: drm::drm_amdgpu_info_device) -> Self {
        Self {
            family: info.family,
            chip_rev: info.chip_rev,
            external_rev: info.external_rev,
            pci_rev: info.pci_rev,
            shader_engines: info.num_shader_engines,
            shader_arrays_per_engine: info.num_shader_arrays_per_engine,
            gpu_counter_khz: info.gpu_counter_freq,
            max_engine_clock_khz: info.max_engine_clock,
            max_memory_clock_khz: info.max_memory_clock,
            vram_bit_width: info.vram_bit_width,
            cu_active: info.cu_active_number,
            fusion: info.ids_flags & u64::from(drm::AMDGPU_IDS_FLAGS_FUSION) != 0,
        }
    }
}

#[cfg(test)]
mod tests;
