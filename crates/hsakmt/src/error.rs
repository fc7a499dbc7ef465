//! What can go wrong, with what is needed to act on it.

use crate::types::{GpuVa, NodeId};
use hsakmt_sys::Errno;
use std::path::PathBuf;

/// Error of this crate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// `/dev/kfd` does not exist, and neither does the amdgpu module.
    #[error("no /dev/kfd: the amdgpu kernel module is not loaded (modprobe amdgpu)")]
    ModuleMissing,
    /// `/dev/kfd` does not exist or has no device behind it, though the module is loaded.
    #[error(
        "no /dev/kfd although amdgpu is loaded: no supported GPU, or the device is not passed into this container (--device=/dev/kfd --device=/dev/dri)"
    )]
    NoDevice,
    /// The device may not be opened by this user.
    #[error("no permission to open {path}: add the user to the groups render and video")]
    Permission {
        /// What was opened.
        path: PathBuf,
    },
    /// The device cannot be opened for another reason.
    #[error("cannot open {path}: {errno}")]
    Open {
        /// What was opened.
        path: PathBuf,
        /// Why not.
        errno: Errno,
    },
    /// The driver speaks another interface.
    #[error("unsupported KFD interface {major}.{minor}: this library speaks 1.x")]
    UnsupportedAbi {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
    },
    /// The driver is too old for one function.
    #[error("{what} needs KFD interface 1.{needed}, the driver has 1.{have}: update amdgpu")]
    TooOld {
        /// What was asked for.
        what: &'static str,
        /// Minor version that brings it.
        needed: u32,
        /// Minor version of the driver.
        have: u32,
    },
    /// A topology file cannot be read.
    #[error("cannot read {path}: {errno}")]
    Topology {
        /// The file.
        path: PathBuf,
        /// Why not.
        errno: Errno,
    },
    /// A topology file does not hold what it must.
    #[error("{path} is malformed: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// The topology kept changing while it was read.
    #[error("the device topology did not settle while it was read")]
    TopologyUnstable,
    /// An ioctl failed.
    #[error("{request} failed: {errno}")]
    Ioctl {
        /// Name of the ioctl.
        request: &'static str,
        /// Why.
        errno: Errno,
    },
    /// Address space or a device mapping could not be had.
    #[error("cannot map {size_bytes} bytes of {what}: {errno}")]
    Map {
        /// What was to be mapped.
        what: &'static str,
        /// How much.
        size_bytes: u64,
        /// Why not.
        errno: Errno,
    },
    /// The process got address space that a GPU cannot reach.
    #[error(
        "address {va:?} of the process lies beyond {limit:?}, the last that every GPU reaches: raise the module parameter amdgpu.vm_size"
    )]
    BeyondReach {
        /// First address that is too high.
        va: GpuVa,
        /// Last address of the smallest GPU address space.
        limit: GpuVa,
    },
    /// A device is out of memory.
    #[error("out of memory: {size_bytes} bytes on node {node}")]
    OutOfMemory {
        /// Where.
        node: NodeId,
        /// How much was asked for.
        size_bytes: u64,
    },
    /// The host cannot reach this GPU's memory.
    #[error(
        "the host cannot reach the memory of node {node}: enable resizable BAR in the firmware set-up"
    )]
    SmallBar {
        /// The GPU.
        node: NodeId,
    },
    /// There is no such node, or it is not of the kind that the call needs.
    #[error("node {node} is not {wanted}")]
    BadNode {
        /// Which.
        node: NodeId,
        /// "a GPU", "a node".
        wanted: &'static str,
    },
    /// An argument breaks a rule that the driver would not check or not name.
    #[error("invalid argument: {0}")]
    Invalid(&'static str),
    /// The driver answered something that it never should.
    #[error("the driver's answer to {request} makes no sense: {reason}")]
    Protocol {
        /// Name of the ioctl.
        request: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Memory without an address cannot be mapped or looked at.
    #[error("memory object at handle address {va:?} has no GPU address")]
    NoAddress {
        /// Its place in the handle aperture.
        va: GpuVa,
    },
    /// An event that was waited for has been destroyed.
    #[error("an event was destroyed while it was waited for")]
    EventDestroyed,
}

impl Error {
    /// The errno behind this error, if the kernel gave one.
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Open { errno, .. }
            | Self::Topology { errno, .. }
            | Self::Ioctl { errno, .. }
            | Self::Map { errno, .. } => Some(*errno),
            _ => None,
        }
    }
}
