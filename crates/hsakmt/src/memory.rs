//! Memory objects.

use crate::error::Error;
use crate::kfd::Kfd;
use crate::types::{GpuVa, HostPtr, NodeId};
use bitflags::bitflags;
use std::sync::Arc;

/// Where memory lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// Local memory of the node's GPU.
    Vram,
    /// Memory of the host, in pages that the driver owns; a forked child can read it.
    System,
}

bitflags! {
    /// How memory is to be used.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct AllocFlags: u32 {
        /// The host reads and writes it at the same address.
        const HOST_ACCESS = 1 << 0;
        /// GPUs may execute it.
        const EXECUTABLE = 1 << 1;
        /// Fine grained: coherent between devices while a kernel runs.
        const COHERENT = 1 << 2;
        /// Not cached by GPUs.
        const UNCACHED = 1 << 3;
        /// Physically contiguous VRAM (interface 1.16).
        const CONTIGUOUS = 1 << 4;
        /// GPUs only read it.
        const READ_ONLY = 1 << 5;
        /// Ring of an AQL queue: mapped twice in a row where the GPU wants that.
        const AQL_QUEUE = 1 << 6;
        /// A handle only: no GPU address, no host view, not mappable.
        const NO_ADDRESS = 1 << 7;
    }
}

/// What to allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocRequest {
    /// The GPU whose VRAM it is, or for system memory the node to be near to.
    pub node: NodeId,
    /// Bytes, rounded up to pages.
    pub size_bytes: u64,
    /// 0, or a power of two not below a page.
    pub alignment: u64,
    /// Where.
    pub kind: MemoryKind,
    /// How.
    pub flags: AllocFlags,
}

/// Memory that GPUs can be given access to. Dropping it unmaps and frees it.
#[derive(Debug)]
pub struct MemoryObject {
    kfd: Arc<Kfd>,
}

impl MemoryObject {
    /// Address in GPUs. For user memory, of the page that holds the first byte.
    pub fn gpu_va(&self) -> GpuVa {
        GpuVa(0)
    }

    /// Address in this process, if the host has access.
    pub fn host_ptr(&self) -> Option<HostPtr> {
        None
    }

    /// Bytes, a multiple of the page size.
    pub fn size_bytes(&self) -> u64 {
        0
    }

    /// The driver's handle.
    pub fn handle(&self) -> u64 {
        0
    }

    /// Gives the GPUs of `nodes` access; those that have it keep it.
    ///
    /// # Errors
    /// A node without GPU; the driver refuses.
    pub fn map(&self, nodes: &[NodeId]) -> Result<(), Error> {
        let _ = (&self.kfd, nodes);
        Err(Error::Invalid("skeleton"))
    }

    /// Takes access away.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn unmap(&self, _nodes: &[NodeId]) -> Result<(), Error> {
        Err(Error::Invalid("skeleton"))
    }

    /// The nodes that have access now.
    pub fn mapped_nodes(&self) -> Vec<NodeId> {
        Vec::new()
    }
}
