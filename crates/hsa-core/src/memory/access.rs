//! Which GPUs may access an allocation.

use super::{Allocation, Backing, Memory};
use crate::Result;
use crate::agent::Agent;
use crate::error::{Error, driver};
use crate::pool::Access;
use crate::runtime::Runtime;
use hsakmt::NodeId;

/// A set of agents by index; 128 are more than a machine holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AgentSet(u128);

impl AgentSet {
    /// The owner, if it is a GPU: the host needs no rights.
    pub(super) fn owner(agent: &Agent) -> Self {
        Self::of(&[agent])
    }

    /// The GPUs among `agents`.
    pub(super) fn of(agents: &[&Agent]) -> Self {
        let bit = |a: &&Agent| {
            1_u128
                .checked_shl(u32::try_from(a.index).unwrap_or(u32::MAX))
                .unwrap_or(0)
        };
        Self(
            agents
                .iter()
                .filter(|a| a.is_gpu())
                .map(bit)
                .fold(0, |all, bit| all | bit),
        )
    }

    pub(crate) fn contains(self, agent: usize) -> bool {
        agent < 128 && self.0 >> agent & 1 != 0
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn nodes(self, agents: &[Agent]) -> Vec<NodeId> {
        agents
            .iter()
            .filter(|a| self.contains(a.index))
            .map(Agent::node_id)
            .collect()
    }
}

impl Allocation {
    /// The GPUs that may access it.
    pub(super) fn accessible(&self) -> AgentSet {
        *self.access.lock()
    }

    /// Replaces the rights. Fragments of a block only add to the block's.
    fn set_access(&self, wanted: AgentSet, agents: &[Agent]) -> Result<()> {
        let mut access = self.access.lock();
        match &self.backing {
            Backing::Whole(object) => {
                let (new, old) = (wanted.minus(*access), access.minus(wanted));
                if new != AgentSet::default() {
                    object
                        .map(&new.nodes(agents))
                        .map_err(driver("MAP_MEMORY_TO_GPU"))?;
                }
                if old != AgentSet::default() {
                    object
                        .unmap(&old.nodes(agents))
                        .map_err(driver("UNMAP_MEMORY_FROM_GPU"))?;
                }
            }
            Backing::Fragment { block, .. } => {
                let mut shared = block.access.lock();
                let new = wanted.minus(*shared);
                if new != AgentSet::default() {
                    block
                        .object
                        .map(&new.nodes(agents))
                        .map_err(driver("MAP_MEMORY_TO_GPU"))?;
                    *shared = shared.union(new);
                }
            }
        }
        *access = wanted;
        Ok(())
    }
}

impl Memory {
    /// True if `agent` certainly reaches the whole range.
    pub(crate) fn reaches(&self, agent: &Agent, address: u64, size: u64) -> bool {
        if let Some((base, allocation)) = self.index.find(address) {
            let inside = size <= allocation.size - (address - base);
            return inside && allocation.accessible().contains(agent.index);
        }
        self.pins.reaches(agent, address, size)
    }

    /// True if the address lies in memory of a device that the host cannot reach.
    pub(crate) fn is_hidden(&self, address: u64) -> bool {
        self.index
            .find(address)
            .is_some_and(|(_, a)| !a.host_visible())
    }
}

impl Allocation {
    pub(super) fn host_visible(&self) -> bool {
        match &self.backing {
            Backing::Whole(object) => object.host_ptr().is_some(),
            Backing::Fragment { block, .. } => block.object.host_ptr().is_some(),
        }
    }
}

impl Runtime {
    /// Replaces the agents that may access the allocation around `ptr`; CPUs in the list are
    /// accepted and need nothing, and the owner GPU always keeps its access.
    ///
    /// # Errors
    /// `InvalidArgument` for no agents or a null pointer, `InvalidAgent` for one that can never
    /// reach the pool, `Generic` for a pointer that was not allocated here, as AMD's runtime
    /// answers.
    pub fn allow_access(&self, agents: &[&Agent], ptr: u64) -> Result<()> {
        if agents.is_empty() || ptr == 0 {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        let Some((_, allocation)) = live.memory.index.find(ptr) else {
            return self.allow_pinned(&live, agents, ptr);
        };
        let pool = &self.tables.pools[allocation.pool];
        if agents
            .iter()
            .any(|a| a.is_gpu() && self.tables.access(a, pool) == Access::Never)
        {
            return Err(Error::InvalidAgent);
        }
        let owner = AgentSet::owner(self.pool_agent(pool));
        allocation.set_access(AgentSet::of(agents).union(owner), self.agents())
    }
}
