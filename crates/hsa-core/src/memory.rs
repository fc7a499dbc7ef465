//! Allocation, access, pinning, pointer queries and host copies.

use crate::agent::Agent;
use crate::error::Error;
use crate::pool::Pool;
use crate::runtime::Runtime;
use crate::signal::Signal;
use crate::Result;

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
pub type DeallocationCallback = unsafe extern "C-unwind" fn(*mut std::ffi::c_void, *mut std::ffi::c_void);

/// One `hsa_amd_svm_attribute_pair_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SvmAttribute {
    /// `hsa_amd_svm_attribute_t`
    pub attribute: u64,
    /// Value, or an agent handle.
    pub value: u64,
}

impl Runtime {
    /// Allocates from a pool (`hsa_amd_memory_pool_allocate`, `hsa_memory_allocate`). The owner
    /// agent can access it; the host too where the pool is host-accessible.
    ///
    /// # Errors
    /// `InvalidArgument` for size 0, `InvalidAllocation` for LDS or more than the pool's maximum,
    /// `OutOfResources` if memory ran out.
    pub fn allocate(&self, pool: &Pool, size: u64, flags: u32) -> Result<u64> {
        let _ = (pool, size, flags);
        Err(Error::NotSupported)
    }

    /// Frees an allocation by its base address; 0 is accepted.
    ///
    /// # Errors
    /// `InvalidAllocation` for an address that is not the base of a live allocation.
    pub fn free(&self, ptr: u64) -> Result<()> {
        let _ = ptr;
        Err(Error::NotSupported)
    }

    /// Replaces the agents that may access the allocation around `ptr`.
    ///
    /// # Errors
    /// `InvalidArgument` for no agents, `InvalidAllocation` for an unknown pointer.
    pub fn allow_access(&self, agents: &[&Agent], ptr: u64) -> Result<()> {
        let _ = (agents, ptr);
        Err(Error::NotSupported)
    }

    /// What is known about the memory around `ptr`; unknown is an answer, not an error.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn pointer_info(&self, ptr: u64) -> Result<PointerInfo> {
        let _ = ptr;
        Err(Error::NotSupported)
    }

    /// Stores user data with the allocation around `ptr`.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown pointer.
    pub fn set_pointer_userdata(&self, ptr: u64, data: u64) -> Result<()> {
        let _ = (ptr, data);
        Err(Error::NotSupported)
    }

    /// Pins host memory for `agents` (all GPUs if empty) and returns its address for agents.
    ///
    /// # Errors
    /// `InvalidArgument` for a null or empty range, `OutOfResources` if it cannot be pinned.
    ///
    /// # Safety
    /// The range stays mapped until [`Runtime::unlock`].
    pub unsafe fn lock(
        &self,
        host: u64,
        size: u64,
        agents: &[&Agent],
        pool: Option<&Pool>,
        flags: u32,
    ) -> Result<u64> {
        let _ = (host, size, agents, pool, flags);
        Err(Error::NotSupported)
    }

    /// Undoes one [`Runtime::lock`]; an unknown pointer is accepted, as AMD's runtime does.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn unlock(&self, host: u64) -> Result<()> {
        let _ = host;
        Err(Error::NotSupported)
    }

    /// Copies `size` bytes between any two addresses and waits (`hsa_memory_copy`).
    ///
    /// # Errors
    /// `InvalidArgument` for a null address with a size.
    ///
    /// # Safety
    /// Both ranges are valid for the copy.
    pub unsafe fn copy(&self, dst: u64, src: u64, size: u64) -> Result<()> {
        let _ = (dst, src, size);
        Err(Error::NotSupported)
    }

    /// Fills `count` dwords with `value` and waits (`hsa_amd_memory_fill`).
    ///
    /// # Errors
    /// `InvalidArgument` for a null or unaligned address or count 0.
    ///
    /// # Safety
    /// The range is valid for the store.
    pub unsafe fn fill(&self, dst: u64, value: u32, count: u64) -> Result<()> {
        let _ = (dst, value, count);
        Err(Error::NotSupported)
    }

    /// Calls `callback(ptr, user_data)` when the allocation around `ptr` is freed.
    ///
    /// # Errors
    /// `InvalidArgument` for a pointer that is not inside of an allocation.
    pub fn register_deallocation_callback(
        &self,
        ptr: u64,
        callback: DeallocationCallback,
        user_data: u64,
    ) -> Result<()> {
        let _ = (ptr, callback, user_data);
        Err(Error::NotSupported)
    }

    /// Undoes [`Runtime::register_deallocation_callback`].
    ///
    /// # Errors
    /// `InvalidArgument` if the pair was not registered.
    pub fn deregister_deallocation_callback(&self, ptr: u64, callback: DeallocationCallback) -> Result<()> {
        let _ = (ptr, callback);
        Err(Error::NotSupported)
    }

    /// Sets attributes of an SVM range.
    ///
    /// # Errors
    /// `Generic` if the driver has no SVM, `InvalidArgument` for unknown attributes.
    pub fn svm_attributes_set(&self, ptr: u64, size: u64, attributes: &[SvmAttribute]) -> Result<()> {
        let _ = (ptr, size, attributes);
        Err(Error::NotSupported)
    }

    /// Reads attributes of an SVM range into `attributes[..].value`.
    ///
    /// # Errors
    /// As [`Runtime::svm_attributes_set`].
    pub fn svm_attributes_get(&self, ptr: u64, size: u64, attributes: &mut [SvmAttribute]) -> Result<()> {
        let _ = (ptr, size, attributes);
        Err(Error::NotSupported)
    }

    /// Moves an SVM range to `agent` once `deps` are 0, then decrements `completion`.
    ///
    /// # Errors
    /// As [`Runtime::svm_attributes_set`].
    pub fn svm_prefetch(
        &self,
        ptr: u64,
        size: u64,
        agent: &Agent,
        deps: &[Signal],
        completion: Option<Signal>,
    ) -> Result<()> {
        let _ = (ptr, size, agent, deps, completion);
        Err(Error::NotSupported)
    }
}
