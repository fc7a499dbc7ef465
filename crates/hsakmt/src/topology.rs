//! What the machine consists of: nodes, their memory, caches and links.

use crate::types::NodeId;

pub(crate) mod cpu;
pub(crate) mod names;
pub(crate) mod read;

/// A snapshot of the topology.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Topology {
    /// The kernel's generation number, which changes when devices come or go.
    pub generation: u32,
    /// `platform_oem`.
    pub platform_oem: u64,
    /// `platform_id`.
    pub platform_id: u64,
    /// `platform_rev`.
    pub platform_rev: u64,
    /// CPU nodes, then GPUs; the index is the [`NodeId`].
    pub nodes: Vec<Node>,
}

impl Topology {
    /// One node.
    pub fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(node.index())
    }

    /// Every node that has a GPU.
    pub fn gpus(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.is_gpu())
    }

    /// Every node that has CPU cores.
    pub fn cpus(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.is_cpu())
    }
}

/// One node: a CPU socket, a GPU, or both (APU).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// Its index.
    pub id: NodeId,
    /// Its number in sysfs.
    pub sysfs_id: u32,
    /// The kernel's name for the GPU, 0 for a CPU.
    pub gpu_id: u32,
    /// Chip name from the driver (`aldebaran`); empty for a CPU.
    pub name: String,
    /// Model name of the CPU or product name of the GPU, if known.
    pub marketing_name: Option<String>,
    /// The node's `properties` file.
    pub properties: NodeProperties,
    /// Memory banks that sysfs lists.
    pub memory_banks: Vec<MemoryBank>,
    /// Caches; those of a CPU node come from the CPU's own sysfs tree.
    pub caches: Vec<Cache>,
    /// Links to other visible nodes: `io_links`, then `p2p_links`.
    pub io_links: Vec<IoLink>,
}

impl Node {
    /// Has a GPU.
    pub const fn is_gpu(&self) -> bool {
        self.gpu_id != 0
    }

    /// Has CPU cores.
    pub const fn is_cpu(&self) -> bool {
        self.properties.cpu_cores_count != 0
    }

    /// Version of the GPU's instruction set; all zero for a CPU.
    pub const fn gfx(&self) -> GfxVersion {
        GfxVersion::from_target(self.properties.gfx_target_version)
    }

    /// Compute units of the GPU, all XCCs together.
    pub const fn compute_units(&self) -> u32 {
        match self
            .properties
            .simd_count
            .checked_div(self.properties.simd_per_cu)
        {
            Some(units) => units,
            None => 0,
        }
    }

    /// Bytes of local memory: the sum of the frame-buffer banks.
    pub fn vram_bytes(&self) -> u64 {
        let banks = self
            .memory_banks
            .iter()
            .filter(|bank| bank.heap_type.is_frame_buffer());
        banks.map(|bank| bank.size_in_bytes).sum()
    }
}

/// Version of an instruction set, as in `gfx90a` = 9.0.10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GfxVersion {
    /// 9, 10, 11, 12.
    pub major: u32,
    /// Minor.
    pub minor: u32,
    /// Stepping, printed in hexadecimal.
    pub stepping: u32,
}

impl GfxVersion {
    /// Splits `gfx_target_version`: major · 10000 + minor · 100 + stepping.
    pub const fn from_target(target: u32) -> Self {
        Self {
            major: target / 10000,
            minor: target / 100 % 100,
            stepping: target % 100,
        }
    }

    /// Whether this is at least `major.minor`.
    pub const fn at_least(self, major: u32, minor: u32) -> bool {
        self.major > major || self.major == major && self.minor >= minor
    }
}

impl std::fmt::Display for GfxVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "gfx{}{:x}{:x}", self.major, self.minor, self.stepping)
    }
}

macro_rules! properties {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $sysfs:literal) => { $sysfs };
    ($(#[$doc:meta])* $name:ident {
        $( $(#[$field_doc:meta])* $field:ident $(as $sysfs:literal)?: $ty:ty, )*
    }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub struct $name { $( $(#[$field_doc])* pub $field: $ty, )* }

        impl $name {
            /// Stores one `name value` line; names that this version does not know are skipped.
            ///
            /// A value too large for its field is cut to the field's width, as `%u` of AMD's
            /// thunk does.
            pub(crate) fn set(&mut self, name: &str, value: u64) {
                match name {
                    $( properties!(@name $field $($sysfs)?) => self.$field = Truncated::truncated(value), )*
                    _ => {}
                }
            }
        }
    };
}

/// Cuts a value to the width of a property.
trait Truncated {
    fn truncated(value: u64) -> Self;
}

impl Truncated for u64 {
    fn truncated(value: u64) -> Self {
        value
    }
}

impl Truncated for u32 {
    #[expect(clippy::cast_possible_truncation, reason = "that is its purpose")]
    fn truncated(value: u64) -> Self {
        value as Self
    }
}

properties! {
    /// `nodes/N/properties`, under the names of sysfs. What a kernel does not list is 0.
    NodeProperties {
        /// Logical CPUs, 0 on a discrete GPU.
        cpu_cores_count: u32,
        /// SIMDs of all XCCs.
        simd_count: u32,
        /// Sub-directories of `mem_banks`.
        mem_banks_count: u32,
        /// Sub-directories of `caches`.
        caches_count: u32,
        /// Sub-directories of `io_links`.
        io_links_count: u32,
        /// Sub-directories of `p2p_links`.
        p2p_links_count: u32,
        /// First APIC id.
        cpu_core_id_base: u32,
        /// First SIMD processor id, to which caches refer.
        simd_id_base: u32,
        /// Waves that a SIMD holds.
        max_waves_per_simd: u32,
        /// KiB of LDS of a compute unit.
        lds_size_in_kb: u32,
        /// KiB of GDS.
        gds_size_in_kb: u32,
        /// Global wave sync resources.
        num_gws: u32,
        /// Lanes of a wavefront.
        wave_front_size: u32,
        /// Shader arrays of all XCCs.
        array_count: u32,
        /// Shader arrays of an engine.
        simd_arrays_per_engine: u32,
        /// Compute units of an array at most.
        cu_per_simd_array: u32,
        /// SIMDs of a compute unit.
        simd_per_cu: u32,
        /// Waves with scratch that a compute unit can hold.
        max_slots_scratch_cu: u32,
        /// major · 10000 + minor · 100 + stepping.
        gfx_target_version: u32,
        /// PCI vendor, 0x1002.
        vendor_id: u32,
        /// PCI device.
        device_id: u32,
        /// Bus << 8 | device << 3 | function.
        location_id: u32,
        /// PCI domain.
        domain: u32,
        /// N of `/dev/dri/renderDN`.
        drm_render_minor: u32,
        /// XGMI hive, 0 if none.
        hive_id: u64,
        /// SDMA engines for PCIe.
        num_sdma_engines: u32,
        /// SDMA engines for XGMI.
        num_sdma_xgmi_engines: u32,
        /// Queues of an SDMA engine.
        num_sdma_queues_per_engine: u32,
        /// Compute queues in hardware.
        num_cp_queues: u32,
        /// Bytes of a context save area without debug memory (newest kernels only).
        cwsr_size: u32,
        /// Bytes of its control stack (newest kernels only).
        ctl_stack_size: u32,
        /// Bytes of the end-of-pipe buffer that the driver wants (newest kernels only).
        eop_buffer_size: u32,
        /// MHz of the GPU.
        max_engine_clk_fcompute: u32,
        /// MHz of the CPU.
        max_engine_clk_ccompute: u32,
        /// Always 0; see the memory banks.
        local_mem_size: u64,
        /// Compute microcode version in bits 0–9, and more above.
        fw_version: u32,
        /// `HSA_CAPABILITY` bits.
        capability: u32,
        /// More of them.
        capability2: u32,
        /// `HSA_DEBUG_PROPERTIES` bits.
        debug_prop: u64,
        /// SDMA microcode version.
        sdma_fw_version: u32,
        /// Serial number.
        unique_id: u64,
        /// Accelerator dies.
        num_xcc: u32,
        /// DRM family, only in models.
        family_id: u32,
    }
}

/// Bits of [`NodeProperties::capability`] that the stack reads (kfd_sysfs.h).
pub mod capability {
    /// log2 of the number of watch points is in four bits from here.
    pub const WATCH_POINTS_SHIFT: u32 = 8;
    /// Doorbell type is in two bits from here; 2 is what the runtime needs.
    pub const DOORBELL_TYPE_SHIFT: u32 = 12;
    /// The ring of an AQL queue is mapped twice in a row (gfx7, gfx8).
    pub const AQL_QUEUE_DOUBLE_MAP: u32 = 1 << 14;
    /// ASIC revision is in four bits from here.
    pub const ASIC_REVISION_SHIFT: u32 = 22;
    /// SRAM error correction: target id `sramecc+`.
    pub const SRAM_EDC: u32 = 1 << 26;
    /// The SVM ioctl works.
    pub const SVM_API: u32 = 1 << 27;
    /// The host reaches device memory coherently.
    pub const COHERENT_HOST_ACCESS: u32 = 1 << 28;
}

/// Kind of a memory bank (`HSA_HEAPTYPE` of sysfs).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct HeapType(pub u32);

impl HeapType {
    /// System memory.
    pub const SYSTEM: Self = Self(0);
    /// VRAM that the host can reach.
    pub const FRAME_BUFFER_PUBLIC: Self = Self(1);
    /// VRAM that the host cannot reach: no resizable BAR.
    pub const FRAME_BUFFER_PRIVATE: Self = Self(2);

    /// Either kind of VRAM.
    pub const fn is_frame_buffer(self) -> bool {
        matches!(self, Self::FRAME_BUFFER_PUBLIC | Self::FRAME_BUFFER_PRIVATE)
    }
}

impl Truncated for HeapType {
    fn truncated(value: u64) -> Self {
        Self(Truncated::truncated(value))
    }
}

properties! {
    /// `mem_banks/M/properties`.
    MemoryBank {
        /// Kind.
        heap_type: HeapType,
        /// Bytes.
        size_in_bytes: u64,
        /// Bit 0 hot-pluggable, bit 1 non-volatile.
        flags: u32,
        /// Bits of the bus.
        width: u32,
        /// MHz.
        mem_clk_max: u32,
    }
}

properties! {
    /// `caches/C/properties` without the sibling map.
    CacheProperties {
        /// First processor that uses the cache.
        processor_id_low: u32,
        /// 1, 2, 3.
        level: u32,
        /// KiB.
        size: u32,
        /// Bytes.
        cache_line_size: u32,
        /// Lines per tag.
        cache_lines_per_tag: u32,
        /// Ways.
        association: u32,
        /// Latency.
        latency: u32,
        /// Bits: 1 data, 2 instruction, 4 CPU, 8 HSACU.
        kind as "type": u32,
    }
}

/// One cache.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cache {
    /// Its properties.
    pub properties: CacheProperties,
    /// Processors that share it, counted from `processor_id_low`.
    pub sibling_map: Vec<bool>,
}

properties! {
    /// A link from one node to another, with node numbers of sysfs.
    IoLinkProperties {
        /// 2 PCIe, 11 XGMI, 1 HyperTransport, 5 QPI.
        kind as "type": u32,
        /// Version.
        version_major: u32,
        /// Version.
        version_minor: u32,
        /// Sysfs node.
        node_from: u32,
        /// Sysfs node.
        node_to: u32,
        /// Distance: PCIe 20, XGMI 15 for each hop.
        weight: u32,
        /// ns.
        min_latency: u32,
        /// ns.
        max_latency: u32,
        /// MB/s.
        min_bandwidth: u32,
        /// MB/s.
        max_bandwidth: u32,
        /// Bytes.
        recommended_transfer_size: u32,
        /// SDMA engines to prefer for this link.
        recommended_sdma_engine_id_mask: u32,
        /// Bit 0 override, 1 non-coherent, 2 no 32-bit atomics, 3 no 64-bit atomics, 4 no peer DMA.
        flags: u32,
    }
}

/// A link between two visible nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IoLink {
    /// From here.
    pub from: NodeId,
    /// To there.
    pub to: NodeId,
    /// From `p2p_links`: exists only because the BAR is large.
    pub peer_to_peer: bool,
    /// What sysfs says.
    pub properties: IoLinkProperties,
}
