//! Allocation, access, pinning, pointer queries and host copies.

mod access;
mod allocate;
mod callbacks;
pub(crate) mod fragment;
pub(crate) mod index;
mod pin;
mod pointer;
pub(crate) mod raw;
mod svm;
mod transfer;

use crate::pool::{Pool, PoolKind};
use access::AgentSet;
use fragment::Bitmap;
use hsakmt::{AllocFlags, Kfd, MemoryObject};
use index::{Index, Ranged};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// `hsa_amd_memory_pool_flag_t` bits.
pub mod alloc_flag {
    /// Allocate over PCIe.
    pub const PCIE: u32 = 1;
    /// Physically contiguous.
    pub const CONTIGUOUS: u32 = 2;
    /// Device code may be run from it.
    pub const EXECUTABLE: u32 = 4;
    /// Uncached on the device.
    pub const UNCACHED: u32 = 8;
}

/// `hsa_amd_pointer_type_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum PointerType {
    /// Not known to the runtime.
    Unknown = 0,
    /// Allocated from a pool.
    Hsa = 1,
    /// Pinned host memory.
    Locked = 2,
    /// Imported graphics memory.
    Graphics = 3,
    /// Attached from another process.
    Ipc = 4,
    /// Reserved address range.
    ReservedAddress = 5,
    /// Mapped by the virtual memory API.
    Vmem = 6,
}

/// `hsa_amd_pointer_info_t` and the list of agents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PointerInfo {
    /// Kind of memory.
    pub pointer_type: PointerType,
    /// Address for agents.
    pub agent_base: u64,
    /// Address for the host, 0 if it has none.
    pub host_base: u64,
    /// Bytes as requested.
    pub size: u64,
    /// What `hsa_amd_pointer_info_set_userdata` stored.
    pub user_data: u64,
    /// Handle of the owning agent, 0 if unknown.
    pub agent_owner: u64,
    /// `hsa_region_global_flag_t` bits of the pool.
    pub global_flags: u32,
    /// `registered`: pinned host memory.
    pub registered: bool,
    /// Handles of the agents that may access it.
    pub accessible: Vec<u64>,
}

/// Called when an allocation is freed: (address, user data), no lock held.
pub type DeallocationCallback =
    unsafe extern "C-unwind" fn(*mut std::ffi::c_void, *mut std::ffi::c_void);

/// One `hsa_amd_svm_attribute_pair_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SvmAttribute {
    /// `hsa_amd_svm_attribute_t`
    pub attribute: u64,
    /// Value, or an agent handle.
    pub value: u64,
}

/// All memory that the runtime knows.
#[derive(Debug)]
pub(crate) struct Memory {
    kfd: Arc<Kfd>,
    fragments: bool,
    index: Index<Allocation>,
    blocks: Mutex<HashMap<Class, Vec<Arc<Block>>>>,
    pins: pin::Pins,
}

/// Which requests may share a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Class {
    pool: usize,
    flags: AllocFlags,
}

/// One buffer object that small allocations are cut from.
#[derive(Debug)]
struct Block {
    object: MemoryObject,
    bitmap: Mutex<Bitmap>,
    /// Everyone who was ever allowed to access a fragment: rights are per buffer object.
    access: Mutex<AgentSet>,
}

/// One allocation of a pool.
#[derive(Debug)]
pub(crate) struct Allocation {
    base: u64,
    /// As requested.
    size: u64,
    pool: usize,
    kind: PoolKind,
    owner: usize,
    backing: Backing,
    access: Mutex<AgentSet>,
    user_data: AtomicU64,
    callbacks: callbacks::Callbacks,
}

#[derive(Debug)]
enum Backing {
    Whole(MemoryObject),
    Fragment {
        block: Arc<Block>,
        class: Class,
        offset: u64,
        bytes: u64,
    },
}

impl Ranged for Allocation {
    fn length(&self) -> u64 {
        self.size
    }
}

impl Memory {
    pub(crate) fn new(kfd: Arc<Kfd>, fragments: bool) -> Self {
        Self {
            kfd,
            fragments,
            index: Index::new(),
            blocks: Mutex::default(),
            pins: pin::Pins::new(),
        }
    }

    /// Frees everything: the runtime closes.
    pub(crate) fn free_all(&self) {
        self.pins.drain();
        for allocation in self.index.drain() {
            allocation.callbacks.run(allocation.base);
        }
        self.blocks.lock().clear();
    }
}

fn alloc_flags(pool: &Pool, flags: u32) -> AllocFlags {
    // Executable always, as AMD's 5.2.3 maps it: programs load code into plain allocations.
    let mut result = AllocFlags::EXECUTABLE;
    result.set(AllocFlags::HOST_ACCESS, pool.host_accessible);
    let fine = matches!(
        pool.kind,
        PoolKind::SystemFine | PoolKind::SystemKernarg | PoolKind::VramFine
    );
    result.set(AllocFlags::COHERENT, fine);
    result.set(AllocFlags::UNCACHED, flags & alloc_flag::UNCACHED != 0);
    result.set(
        AllocFlags::CONTIGUOUS,
        flags & alloc_flag::CONTIGUOUS != 0 && pool.kind.is_vram(),
    );
    result
}
