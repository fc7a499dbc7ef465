//! Caches of agents (`hsa_agent_iterate_caches`).

use crate::handle::{self, Kind};

/// One cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cache {
    pub(crate) index: usize,
    /// For example `gfx90a L2`.
    pub name: String,
    /// 1 to 4.
    pub level: u8,
    /// Bytes.
    pub size: u32,
}

impl Cache {
    /// The handle of this cache.
    #[must_use]
    pub fn handle(&self) -> u64 {
        handle::encode(Kind::Cache, self.index)
    }
}
