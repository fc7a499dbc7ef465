//! Copies and fills that the caller waits for.

use super::raw;
use crate::Result;
use crate::error::Error;
use crate::runtime::Runtime;

impl Runtime {
    /// Copies `size` bytes between any two addresses and waits (`hsa_memory_copy`). The host copies;
    /// memory that it cannot reach goes over a copy engine of its owner.
    ///
    /// # Errors
    /// `InvalidArgument` for a null address with a size.
    ///
    /// # Safety
    /// Both ranges are valid for the copy.
    pub unsafe fn copy(&self, dst: u64, src: u64, size: u64) -> Result<()> {
        if size == 0 || dst == src {
            return Ok(());
        }
        if dst == 0 || src == 0 {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        let memory = &live.memory;
        if memory.is_hidden(dst) || memory.is_hidden(src) {
            return self.copy_hidden(&live, dst, src, size);
        }
        // SAFETY: the caller vouches for the ranges, and aliases of pinned memory are translated.
        unsafe { raw::copy(memory.host_address(dst), memory.host_address(src), size) };
        Ok(())
    }

    /// Fills `count` dwords with `value` and waits (`hsa_amd_memory_fill`).
    ///
    /// # Errors
    /// `InvalidArgument` for a null or unaligned address.
    ///
    /// # Safety
    /// The range is valid for the store.
    pub unsafe fn fill(&self, dst: u64, value: u32, count: u64) -> Result<()> {
        if dst == 0 || !dst.is_multiple_of(4) || count > u64::MAX / 4 {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        if live.memory.is_hidden(dst) {
            return self.fill_hidden(&live, dst, value, count);
        }
        // SAFETY: as in `copy`; the address is aligned.
        unsafe { raw::fill(live.memory.host_address(dst), value, count) };
        Ok(())
    }
}
