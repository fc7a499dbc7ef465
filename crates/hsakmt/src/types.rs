//! Addresses and ids as types of their own.

use std::fmt;
use std::ptr;

/// Index of a node in [`crate::Topology::nodes`]; CPU nodes come first.
///
/// Not always the kernel's number: nodes that this process may not see are left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into the node list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A virtual address as GPUs see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GpuVa(pub u64);

impl GpuVa {
    /// The address `bytes` further on.
    ///
    /// Wraps at 2^64, like the address arithmetic of the hardware.
    pub const fn add(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// The bare number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for GpuVa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuVa({:#x})", self.0)
    }
}

/// An address of this process. Holding one promises nothing about what lies there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPtr(usize);

impl HostPtr {
    /// The address of `pointer`, whose memory may be reached through the result.
    pub fn from_ptr<T>(pointer: *const T) -> Self {
        Self(pointer.expose_provenance())
    }

    /// The address with this number.
    pub const fn from_addr(addr: usize) -> Self {
        Self(addr)
    }

    /// As a pointer to any type.
    pub fn as_ptr<T>(self) -> *mut T {
        ptr::with_exposed_provenance_mut(self.0)
    }

    /// The bare number.
    pub const fn addr(self) -> usize {
        self.0
    }

    /// The address `bytes` further on.
    pub const fn add(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl fmt::Debug for HostPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostPtr({:#x})", self.0)
    }
}
