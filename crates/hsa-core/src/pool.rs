//! Memory pools and regions, and which agent may reach which.

use crate::agent::Agent;
use crate::handle::{self, Kind};

/// `hsa_amd_segment_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Segment {
    /// Memory with addresses.
    Global = 0,
    /// LDS.
    Group = 3,
}

/// `hsa_amd_memory_pool_global_flag_t` bits.
pub mod global_flag {
    /// Kernel arguments.
    pub const KERNARG: u32 = 1;
    /// Updates are visible at once, to host and device.
    pub const FINE: u32 = 2;
    /// Updates are visible at fences.
    pub const COARSE: u32 = 4;
}

/// What a pool's memory is; decides flags, driver request and access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PoolKind {
    /// Host memory, coherent.
    SystemFine,
    /// Host memory, coherent, for kernel arguments.
    SystemKernarg,
    /// Host memory, coherent at fences.
    SystemCoarse,
    /// Device memory, coherent at fences.
    VramCoarse,
    /// Device memory, coherent.
    VramFine,
    /// LDS: its size is all that can be asked.
    Group,
}

impl PoolKind {
    /// True for host memory.
    #[must_use]
    pub fn is_system(self) -> bool {
        matches!(
            self,
            Self::SystemFine | Self::SystemKernarg | Self::SystemCoarse
        )
    }
    /// True for device memory.
    #[must_use]
    pub fn is_vram(self) -> bool {
        matches!(self, Self::VramCoarse | Self::VramFine)
    }
    fn flags(self) -> u32 {
        match self {
            Self::SystemFine | Self::VramFine => global_flag::FINE,
            Self::SystemKernarg => global_flag::FINE | global_flag::KERNARG,
            Self::SystemCoarse | Self::VramCoarse => global_flag::COARSE,
            Self::Group => 0,
        }
    }
}

/// `hsa_amd_memory_pool_access_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Access {
    /// The agent can never reach the pool.
    Never = 0,
    /// The agent reaches every allocation.
    AllowedByDefault = 1,
    /// The agent reaches an allocation after `hsa_amd_agents_allow_access`.
    DisallowedByDefault = 2,
}

/// `hsa_amd_link_info_type_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum LinkType {
    /// HyperTransport.
    HyperTransport = 0,
    /// QPI.
    Qpi = 1,
    /// PCI Express.
    Pcie = 2,
    /// InfiniBand.
    Infiniband = 3,
    /// XGMI.
    Xgmi = 4,
}

/// `hsa_amd_memory_pool_link_info_t`: one hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkInfo {
    /// Nanoseconds.
    pub min_latency: u32,
    /// Nanoseconds.
    pub max_latency: u32,
    /// MB/s.
    pub min_bandwidth: u32,
    /// MB/s.
    pub max_bandwidth: u32,
    /// 32-bit atomics cross the link.
    pub atomic_support_32bit: bool,
    /// 64-bit atomics cross the link.
    pub atomic_support_64bit: bool,
    /// The link is coherent.
    pub coherent_support: bool,
    /// Kind of link.
    pub link_type: LinkType,
    /// KFD's weight: 20 for PCIe, 15 for XGMI.
    pub numa_distance: u32,
}

/// The link between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) info: LinkInfo,
}

/// Bytes by which pool allocations are rounded.
pub const GRANULE: u64 = 4096;
/// Bytes of the blocks from which small device allocations are cut.
pub const VRAM_REC_GRANULE: u64 = 2 << 20;

/// One memory pool, which is also one region.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    pub(crate) index: usize,
    pub(crate) agent: usize,
    /// What the memory is.
    pub kind: PoolKind,
    /// Bytes.
    pub size: u64,
    /// Largest allocation, bytes.
    pub alloc_max_size: u64,
    /// Bits of the memory bus.
    pub bus_width: u32,
    /// MHz.
    pub max_clock_mhz: u32,
    /// The host can load and store (false behind a small BAR).
    pub host_accessible: bool,
}

impl Pool {
    /// The handle of this pool.
    #[must_use]
    pub fn handle(&self) -> u64 {
        handle::encode(Kind::Pool, self.index)
    }
    /// The handle of the agent that owns the pool.
    #[must_use]
    pub fn agent_handle(&self) -> u64 {
        handle::encode(Kind::Agent, self.agent)
    }
    /// Segment.
    #[must_use]
    pub fn segment(&self) -> Segment {
        if self.kind == PoolKind::Group {
            Segment::Group
        } else {
            Segment::Global
        }
    }
    /// [`global_flag`] bits; the same bits as `hsa_region_global_flag_t`.
    #[must_use]
    pub fn global_flags(&self) -> u32 {
        self.kind.flags()
    }
    /// Memory can be allocated here.
    #[must_use]
    pub fn alloc_allowed(&self) -> bool {
        self.kind != PoolKind::Group
    }
    /// `RUNTIME_ALLOC_GRANULE` and `RUNTIME_ALLOC_ALIGNMENT`: 4096, for LDS 0.
    #[must_use]
    pub fn alloc_granule(&self) -> u64 {
        if self.alloc_allowed() { GRANULE } else { 0 }
    }
    /// `RUNTIME_ALLOC_REC_GRANULE`: 2 MiB for device memory, 4096 for host memory, 0 for LDS.
    #[must_use]
    pub fn alloc_rec_granule(&self) -> u64 {
        if self.kind.is_vram() {
            VRAM_REC_GRANULE
        } else {
            self.alloc_granule()
        }
    }
    /// `ACCESSIBLE_BY_ALL`: host memory.
    #[must_use]
    pub fn accessible_by_all(&self) -> bool {
        self.kind.is_system()
    }
    /// `hsa_amd_memory_pool_location_t`: 0 CPU, 1 GPU.
    #[must_use]
    pub fn location(&self) -> u32 {
        u32::from(!self.kind.is_system())
    }

    /// `HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS` of `agent`; `link` is the way from the agent's
    /// node to the pool's, if there is one (contract sheet c.1).
    pub(crate) fn access(&self, agent: &Agent, link: Option<&Link>) -> Access {
        match (self.kind, agent.is_gpu()) {
            _ if self.agent == agent.index => Access::AllowedByDefault,
            (PoolKind::Group, _) => Access::Never,
            (kind, false) if kind.is_system() => Access::AllowedByDefault,
            (kind, true) if kind.is_system() => Access::DisallowedByDefault,
            (kind, is_gpu) => match link {
                None => Access::Never,
                Some(_) if !is_gpu && !self.host_accessible => Access::Never,
                Some(l) if kind == PoolKind::VramFine && l.info.link_type != LinkType::Xgmi => {
                    Access::Never
                }
                Some(_) => Access::DisallowedByDefault,
            },
        }
    }
}
