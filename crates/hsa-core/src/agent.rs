//! Agents: what the topology says about processors, in the units of hsa.h.

use crate::handle::{self, Kind};

pub mod cache;
pub(crate) mod cpu;
pub(crate) mod gpu;

pub use cache::Cache;

/// `hsa_device_type_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum DeviceType {
    /// 0
    Cpu = 0,
    /// 1
    Gpu = 1,
}

/// One agent; every field is a property as `hsa_agent_get_info` reports it.
#[derive(Clone, PartialEq, Debug)]
pub struct Agent {
    pub(crate) index: usize,
    /// Kind of device.
    pub device_type: DeviceType,
    /// Number of the node among those that the driver shows (`HSA_AGENT_INFO_NODE`, `HSA_AMD_AGENT_INFO_DRIVER_NODE_ID`).
    pub node: u32,
    /// KFD gpu_id, 0 for CPUs (`HSA_AMD_AGENT_INFO_DRIVER_UID`).
    pub gpu_id: u32,
    /// Processor name of a GPU, model name of a CPU.
    pub name: String,
    /// `AMD` or `CPU`.
    pub vendor_name: &'static str,
    /// Marketing name.
    pub product_name: String,
    /// `GPU-` and 16 hex digits, `GPU-XX` without a serial number, `CPU-XX`.
    pub uuid: String,
    /// `hsa_agent_feature_t` bits: 1 kernel dispatch.
    pub feature: u32,
    /// `hsa_profile_t`: 0 base, 1 full.
    pub profile: u32,
    /// Lanes of a wavefront, 0 for CPUs.
    pub wavefront_size: u32,
    /// Work-items of a workgroup in one dimension.
    pub workgroup_max_dim: [u16; 3],
    /// Work-items of a workgroup.
    pub workgroup_max_size: u32,
    /// Work-items of a grid in one dimension.
    pub grid_max_dim: [u32; 3],
    /// Work-items of a grid.
    pub grid_max_size: u32,
    /// Fine-grained barriers of a workgroup.
    pub fbarrier_max_size: u32,
    /// Queues that can exist.
    pub queues_max: u32,
    /// Packets of the smallest queue.
    pub queue_min_size: u32,
    /// Packets of the largest queue.
    pub queue_max_size: u32,
    /// L1, L2, L3, L4 bytes.
    pub cache_sizes: [u32; 4],
    /// Native f16 arithmetic.
    pub fast_f16: bool,
    /// PCI device id.
    pub chip_id: u32,
    /// Bytes of a cache line.
    pub cacheline_size: u32,
    /// Compute units, or cores.
    pub compute_unit_count: u32,
    /// Compute units of a cooperative queue.
    pub cooperative_compute_unit_count: u32,
    /// MHz.
    pub max_clock_mhz: u32,
    /// Address watch points.
    pub max_address_watch_points: u32,
    /// Bus << 8 | device << 3 | function.
    pub bdfid: u32,
    /// PCI domain.
    pub domain: u32,
    /// Bits of the memory bus.
    pub memory_width: u32,
    /// MHz.
    pub memory_max_clock_mhz: u32,
    /// Waves that a compute unit can hold.
    pub max_waves_per_cu: u32,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// Shader arrays of an engine.
    pub shader_arrays_per_engine: u32,
    /// Cooperative queues can be created.
    pub cooperative_queues: bool,
    /// Revision of the chip.
    pub asic_revision: u32,
    /// The host reaches device memory coherently.
    pub svm_direct_host_access: bool,
    /// Capability bit 27: the SVM ioctl works on this device.
    pub svm_supported: bool,
    /// Hz of the clock that dispatch timestamps count.
    pub timestamp_frequency: u64,
    /// DRM family id.
    pub asic_family_id: u32,
    /// Compute microcode version.
    pub ucode_version: u32,
    /// SDMA microcode version.
    pub sdma_ucode_version: u32,
    /// SDMA engines for the host and peers over PCIe.
    pub sdma_engines: u32,
    /// SDMA engines for XGMI peers.
    pub sdma_xgmi_engines: u32,
    /// `hsa_amd_iommu_version_t`: 0 none, 1 IOMMUv2.
    pub iommu_support: u32,
    /// Accelerator dies.
    pub xcc_count: u32,
    /// XGMI hive, 0 if none.
    pub hive_id: u64,
    /// Index of the nearest CPU agent.
    pub(crate) nearest_cpu: usize,
    /// Device and host share one memory.
    pub is_apu: bool,
    /// Bytes of all device memory, 0 for CPUs.
    pub vram_bytes: u64,
    /// Bytes of LDS.
    pub lds_bytes: u32,
    /// Largest scratch that a queue may hold, bytes.
    pub scratch_limit_max: u64,
    /// `gfx_target_version`, 0 for CPUs.
    pub gfx_target_version: u32,
    /// High dword of the LDS aperture.
    pub(crate) lds_aperture_hi: u32,
    /// High dword of the scratch aperture.
    pub(crate) scratch_aperture_hi: u32,
    /// Global wave synchronisation slots.
    pub(crate) gws: u32,
    pub(crate) isas: std::ops::Range<usize>,
    pub(crate) pools: std::ops::Range<usize>,
    pub(crate) caches: std::ops::Range<usize>,
}

impl Agent {
    /// The handle of this agent.
    #[must_use]
    pub fn handle(&self) -> u64 {
        handle::encode(Kind::Agent, self.index)
    }

    /// An agent without any property, to be filled in.
    pub(crate) fn empty() -> Self {
        Self {
            index: 0,
            device_type: DeviceType::Cpu,
            node: 0,
            gpu_id: 0,
            name: String::new(),
            vendor_name: "",
            product_name: String::new(),
            uuid: String::new(),
            feature: 0,
            profile: 0,
            wavefront_size: 0,
            workgroup_max_dim: [0; 3],
            workgroup_max_size: 0,
            grid_max_dim: [0; 3],
            grid_max_size: 0,
            fbarrier_max_size: 0,
            queues_max: 0,
            queue_min_size: 0,
            queue_max_size: 0,
            cache_sizes: [0; 4],
            fast_f16: false,
            chip_id: 0,
            cacheline_size: 0,
            compute_unit_count: 0,
            cooperative_compute_unit_count: 0,
            max_clock_mhz: 0,
            max_address_watch_points: 0,
            bdfid: 0,
            domain: 0,
            memory_width: 0,
            memory_max_clock_mhz: 0,
            max_waves_per_cu: 0,
            simds_per_cu: 0,
            shader_engines: 0,
            shader_arrays_per_engine: 0,
            cooperative_queues: false,
            asic_revision: 0,
            svm_direct_host_access: false,
            svm_supported: false,
            timestamp_frequency: 0,
            asic_family_id: 0,
            ucode_version: 0,
            sdma_ucode_version: 0,
            sdma_engines: 0,
            sdma_xgmi_engines: 0,
            iommu_support: 0,
            xcc_count: 0,
            hive_id: 0,
            nearest_cpu: 0,
            is_apu: false,
            vram_bytes: 0,
            lds_bytes: 0,
            scratch_limit_max: 0,
            gfx_target_version: 0,
            lds_aperture_hi: 0,
            scratch_aperture_hi: 0,
            gws: 0,
            isas: 0..0,
            pools: 0..0,
            caches: 0..0,
        }
    }

    /// True for GPUs.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.device_type == DeviceType::Gpu
    }

    /// The driver's name for the node.
    pub(crate) fn node_id(&self) -> hsakmt::NodeId {
        hsakmt::NodeId(self.node)
    }

    /// The handle of the nearest CPU agent.
    #[must_use]
    pub fn nearest_cpu_handle(&self) -> u64 {
        handle::encode(Kind::Agent, self.nearest_cpu)
    }

    /// `HSA_AGENT_INFO_EXTENSIONS`: bit *n* of the map says that extension *n* is there. GPUs have
    /// images (1), as with AMD's runtime: HIP refuses pitched and 3D allocations without the bit.
    /// Which formats an image may have is a question of its own, and so far none.
    #[must_use]
    pub fn extensions(&self) -> [u8; 128] {
        let mut map = crate::system::extension_map();
        if self.is_gpu() {
            map[0] |= 1 << crate::system::EXTENSION_IMAGES;
        }
        map
    }

    /// `HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES`: bit 0 says APU.
    #[must_use]
    pub fn memory_properties(&self) -> [u8; 8] {
        [u8::from(self.is_apu), 0, 0, 0, 0, 0, 0, 0]
    }
}
