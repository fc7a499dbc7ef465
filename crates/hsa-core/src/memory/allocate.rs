//! Allocation and freeing.

use super::{Allocation, Backing, Block, Class, Memory, alloc_flags};
use crate::Result;
use crate::agent::Agent;
use crate::error::{Error, driver};
use crate::memory::access::AgentSet;
use crate::memory::fragment::{BLOCK_BYTES, MAX_FRAGMENT};
use crate::pool::{GRANULE, Pool};
use crate::runtime::Runtime;
use hsakmt::{AllocRequest, HostPtr, MemoryKind, MemoryObject, NodeId};
use parking_lot::Mutex;
use std::sync::Arc;

/// Empty blocks of a class that are kept for the next request.
const SPARE_BLOCKS: usize = 1;

/// A request after its checks.
struct Request<'a> {
    pool: &'a Pool,
    node: NodeId,
    /// The node's GPU, if it is one.
    owner: AgentSet,
    /// Rounded up to the granule.
    bytes: u64,
    class: Class,
}

impl Memory {
    fn allocate(
        &self,
        pool: &Pool,
        owner: &Agent,
        size: u64,
        flags: u32,
    ) -> Result<Arc<Allocation>> {
        let request = Request {
            pool,
            node: owner.node_id(),
            owner: AgentSet::owner(owner),
            bytes: size.next_multiple_of(GRANULE),
            class: Class {
                pool: pool.index,
                flags: alloc_flags(pool, flags),
            },
        };
        let (base, backing) = if self.fragments && request.bytes <= MAX_FRAGMENT {
            self.fragment(&request)?
        } else {
            self.whole(&request)?
        };
        let allocation = Arc::new(Allocation {
            base,
            size,
            pool: pool.index,
            kind: pool.kind,
            owner: owner.index,
            backing,
            access: Mutex::new(request.owner),
            user_data: 0.into(),
            callbacks: super::callbacks::Callbacks::default(),
        });
        self.index.insert(base, Arc::clone(&allocation));
        Ok(allocation)
    }

    fn whole(&self, request: &Request<'_>) -> Result<(u64, Backing)> {
        let object = self.object(request, request.bytes, 0)?;
        Ok((address(&object), Backing::Whole(object)))
    }

    fn object(&self, request: &Request<'_>, bytes: u64, alignment: u64) -> Result<MemoryObject> {
        let vram = request.pool.kind.is_vram();
        let object = self
            .kfd
            .allocate(&AllocRequest {
                node: request.node,
                size_bytes: bytes,
                alignment,
                kind: if vram {
                    MemoryKind::Vram
                } else {
                    MemoryKind::System
                },
                flags: request.class.flags,
            })
            .map_err(out_of_memory)?;
        if vram {
            object
                .map(&[request.node])
                .map_err(driver("MAP_MEMORY_TO_GPU"))?;
        }
        Ok(object)
    }

    fn fragment(&self, request: &Request<'_>) -> Result<(u64, Backing)> {
        let mut all = self.blocks.lock();
        let blocks = all.entry(request.class).or_default();
        for block in blocks.iter().rev() {
            let taken = block.bitmap.lock().take(request.bytes);
            if let Some(offset) = taken {
                return Ok(cut(block, request, offset));
            }
        }
        let object = self.object(request, BLOCK_BYTES, BLOCK_BYTES)?;
        let block = Arc::new(Block {
            object,
            bitmap: Default::default(),
            access: Mutex::new(request.owner),
        });
        let offset = block
            .bitmap
            .lock()
            .take(request.bytes)
            .ok_or(Error::OutOfResources)?;
        blocks.push(Arc::clone(&block));
        Ok(cut(&block, request, offset))
    }

    /// Frees the allocation with exactly this base.
    fn free(&self, base: u64) -> Result<()> {
        let allocation = self.index.remove(base).ok_or(Error::InvalidAllocation)?;
        allocation.callbacks.run(base);
        if let Backing::Fragment {
            block,
            class,
            offset,
            bytes,
        } = &allocation.backing
        {
            self.give_back(block, *class, *offset, *bytes);
        }
        Ok(())
    }

    /// Returns a fragment; a block that is empty then is freed unless it is the spare one.
    fn give_back(&self, block: &Arc<Block>, class: Class, offset: u64, bytes: u64) {
        let mut all = self.blocks.lock();
        block.bitmap.lock().give(offset, bytes);
        let Some(blocks) = all.get_mut(&class) else {
            return;
        };
        let mut spare = SPARE_BLOCKS;
        let mut freed = Vec::new();
        blocks.retain(|b| {
            let empty = b.bitmap.lock().is_empty();
            let keep = !empty || spare > 0;
            spare -= usize::from(empty && spare > 0);
            if !keep {
                freed.push(Arc::clone(b));
            }
            keep
        });
        drop(all);
    }

    /// Bytes of a GPU's memory that empty spare blocks hold: available, though the driver says
    /// otherwise.
    pub(crate) fn spare_bytes(&self, agent: usize) -> u64 {
        let node = |b: &Arc<Block>| b.access.lock().contains(agent) && b.bitmap.lock().is_empty();
        let all = self.blocks.lock();
        all.values().flatten().filter(|b| node(b)).count() as u64 * BLOCK_BYTES
    }
}

fn cut(block: &Arc<Block>, request: &Request<'_>, offset: u64) -> (u64, Backing) {
    let backing = Backing::Fragment {
        block: Arc::clone(block),
        class: request.class,
        offset,
        bytes: request.bytes,
    };
    (address(&block.object) + offset, backing)
}

/// Host and device use the same address.
fn address(object: &MemoryObject) -> u64 {
    let host = object.host_ptr().map(HostPtr::addr);
    debug_assert!(host.is_none_or(|h| h as u64 == object.gpu_va().get()));
    object.gpu_va().get()
}

/// Whatever the driver says to an allocation that passed our checks: there is no memory for it.
fn out_of_memory(error: hsakmt::Error) -> Error {
    tracing::debug!(%error, "allocation failed");
    Error::OutOfResources
}

impl Runtime {
    /// Allocates from a pool (`hsa_amd_memory_pool_allocate`). A GPU can access its own memory at
    /// once; host memory needs [`Runtime::allow_access`].
    ///
    /// # Errors
    /// `InvalidArgument` for size 0, `InvalidAllocation` for LDS or more than the pool's maximum,
    /// `OutOfResources` if memory ran out.
    pub fn allocate(&self, pool: &Pool, size: u64, flags: u32) -> Result<u64> {
        if size == 0 {
            return Err(Error::InvalidArgument);
        }
        if !pool.alloc_allowed() || size > pool.alloc_max_size {
            return Err(Error::InvalidAllocation);
        }
        let owner = self.pool_agent(pool);
        Ok(self.live()?.memory.allocate(pool, owner, size, flags)?.base)
    }

    /// Allocates from a region (`hsa_memory_allocate`): host memory is accessible to all GPUs.
    ///
    /// # Errors
    /// As [`Runtime::allocate`].
    pub fn allocate_region(&self, region: &Pool, size: u64) -> Result<u64> {
        let base = self.allocate(region, size, 0)?;
        let gpus: Vec<&Agent> = self.agents().iter().filter(|a| a.is_gpu()).collect();
        if region.kind.is_system() && !gpus.is_empty() {
            self.allow_access(&gpus, base).inspect_err(|_| {
                let _ = self.free(base);
            })?;
        }
        Ok(base)
    }

    /// Frees an allocation by its base address; 0 is accepted.
    ///
    /// # Errors
    /// `InvalidAllocation` for an address that is not the base of a live allocation.
    pub fn free(&self, ptr: u64) -> Result<()> {
        let live = self.live()?;
        if ptr == 0 {
            Ok(())
        } else {
            live.memory.free(ptr)
        }
    }
}
