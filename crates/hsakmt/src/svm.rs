//! Attributes of shared virtual memory.

use crate::types::NodeId;
use bitflags::bitflags;

bitflags! {
    /// `KFD_IOCTL_SVM_FLAG_*`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct SvmFlags: u32 {
        /// The host may access.
        const HOST_ACCESS = 0x01;
        /// Fine grained.
        const COHERENT = 0x02;
        /// Coherent within a hive only.
        const HIVE_LOCAL = 0x04;
        /// GPUs only read.
        const GPU_RO = 0x08;
        /// GPUs may execute.
        const GPU_EXEC = 0x10;
        /// Mostly read by GPUs.
        const GPU_READ_MOSTLY = 0x20;
        /// Stays mapped to GPUs.
        const GPU_ALWAYS_MAPPED = 0x40;
        /// Coherent with atomics of other devices.
        const EXT_COHERENT = 0x80;
    }
}

/// Where pages are or should be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SvmLocation {
    /// Host memory.
    System,
    /// A GPU's memory.
    Node(NodeId),
    /// Not set, or not the same for all pages.
    Undefined,
}

/// Access of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SvmAccess {
    /// None.
    None,
    /// Pages may migrate.
    Migrate,
    /// Pages stay where they are.
    InPlace,
}

/// One attribute of a range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SvmAttribute {
    /// Preferred location.
    PreferredLocation(SvmLocation),
    /// Location of the last prefetch; setting it migrates.
    PrefetchLocation(SvmLocation),
    /// Access of a GPU. In a query the access given does not matter.
    Access(NodeId, SvmAccess),
    /// Flags to set; in a query, flags set on all pages.
    SetFlags(SvmFlags),
    /// Flags to clear; in a query, flags clear on all pages.
    ClearFlags(SvmFlags),
    /// log2 of the pages that migrate together.
    Granularity(u32),
}
