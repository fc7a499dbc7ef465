//! What is known about an address (`hsa_amd_pointer_info`).

use super::{Allocation, PointerInfo, PointerType};
use crate::Result;
use crate::error::Error;
use crate::runtime::Runtime;
use std::sync::atomic::Ordering;

impl PointerInfo {
    fn unknown() -> Self {
        Self {
            pointer_type: PointerType::Unknown,
            agent_base: 0,
            host_base: 0,
            size: 0,
            user_data: 0,
            agent_owner: 0,
            global_flags: 0,
            registered: false,
            accessible: Vec::new(),
        }
    }
}

impl Runtime {
    fn describe(&self, a: &Allocation) -> PointerInfo {
        let access = a.accessible();
        let reaches = |agent: &&crate::Agent| {
            access.contains(agent.index) || (a.kind.is_system() && !agent.is_gpu())
        };
        PointerInfo {
            pointer_type: PointerType::Hsa,
            agent_base: a.base,
            host_base: if a.host_visible() { a.base } else { 0 },
            size: a.size,
            user_data: a.user_data.load(Ordering::Relaxed),
            agent_owner: self.tables.agents[a.owner].handle(),
            global_flags: self.tables.pools[a.pool].global_flags(),
            registered: false,
            accessible: self
                .agents()
                .iter()
                .filter(reaches)
                .map(crate::Agent::handle)
                .collect(),
        }
    }

    /// What is known about the memory around `ptr`; unknown is an answer, not an error. One shared
    /// lock and a tree walk: HIP asks several times for each copy.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn pointer_info(&self, ptr: u64) -> Result<PointerInfo> {
        let live = self.live()?;
        if let Some((_, allocation)) = live.memory.index.find(ptr) {
            return Ok(self.describe(&allocation));
        }
        let pin = live.memory.pins.find(ptr);
        Ok(pin.map_or_else(PointerInfo::unknown, |pin| pin.describe(self)))
    }

    /// Stores user data with the allocation around `ptr`.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown pointer.
    pub fn set_pointer_userdata(&self, ptr: u64, data: u64) -> Result<()> {
        let live = self.live()?;
        if let Some((_, allocation)) = live.memory.index.find(ptr) {
            allocation.user_data.store(data, Ordering::Relaxed);
            return Ok(());
        }
        let pin = live.memory.pins.find(ptr).ok_or(Error::InvalidArgument)?;
        pin.user_data.store(data, Ordering::Relaxed);
        Ok(())
    }
}
