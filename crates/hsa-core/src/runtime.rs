//! The open runtime: reference count, tables, and what lives between init and shut-down.

use crate::agent::{Agent, Cache};
use crate::error::Error;
use crate::isa::Isa;
use crate::pool::{Access, LinkInfo, Pool};
use crate::Result;
use hsakmt_sys::Kernel;
use std::sync::Arc;

/// Opens the runtime, or counts one more user of the open one (`hsa_init`).
///
/// `choose` gives the driver; it is called only by the call that opens.
///
/// # Errors
/// What `choose` answers, `OutOfResources` if the driver refuses, `RefcountOverflow` after
/// 2^31 - 1 calls.
pub fn acquire(choose: impl FnOnce() -> Result<Arc<dyn Kernel>>) -> Result<()> {
    let _ = choose;
    Err(Error::OutOfResources)
}

/// Drops one user and closes the runtime with the last (`hsa_shut_down`).
///
/// # Errors
/// `NotInitialized` without a matching [`acquire`].
pub fn release() -> Result<()> {
    Err(Error::NotInitialized)
}

/// The open runtime: one atomic load.
///
/// # Errors
/// `NotInitialized` outside of [`acquire`] and [`release`], and in a forked child.
pub fn current() -> Result<&'static Runtime> {
    Err(Error::NotInitialized)
}

/// The open runtime. Its tables never change; calls after shut-down answer `NotInitialized`.
#[derive(Debug)]
pub struct Runtime {
    agents: Vec<Agent>,
    isas: Vec<Isa>,
    pools: Vec<Pool>,
    caches: Vec<Cache>,
}

impl Runtime {
    /// All agents: CPUs first, then the visible GPUs.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The agent of a handle.
    ///
    /// # Errors
    /// `InvalidAgent`
    pub fn agent(&self, handle: u64) -> Result<&Agent> {
        crate::handle::lookup(crate::handle::Kind::Agent, &self.agents, handle).ok_or(Error::InvalidAgent)
    }

    /// The ISA of a handle.
    ///
    /// # Errors
    /// `InvalidIsa`
    pub fn isa(&self, handle: u64) -> Result<&Isa> {
        crate::handle::lookup(crate::handle::Kind::Isa, &self.isas, handle).ok_or(Error::InvalidIsa)
    }

    /// The ISA that owns a wavefront handle.
    ///
    /// # Errors
    /// `InvalidWavefront`
    pub fn wavefront(&self, handle: u64) -> Result<&Isa> {
        crate::handle::lookup(crate::handle::Kind::Wavefront, &self.isas, handle)
            .ok_or(Error::InvalidWavefront)
    }

    /// The pool of a handle.
    ///
    /// # Errors
    /// `InvalidMemoryPool`
    pub fn pool(&self, handle: u64) -> Result<&Pool> {
        crate::handle::lookup(crate::handle::Kind::Pool, &self.pools, handle).ok_or(Error::InvalidMemoryPool)
    }

    /// The region of a handle (regions and pools are one table).
    ///
    /// # Errors
    /// `InvalidRegion`
    pub fn region(&self, handle: u64) -> Result<&Pool> {
        self.pool(handle).map_err(|_| Error::InvalidRegion)
    }

    /// The cache of a handle.
    ///
    /// # Errors
    /// `InvalidCache`
    pub fn cache(&self, handle: u64) -> Result<&Cache> {
        crate::handle::lookup(crate::handle::Kind::Cache, &self.caches, handle).ok_or(Error::InvalidCache)
    }

    /// The ISAs of an agent; empty for CPUs.
    #[must_use]
    pub fn agent_isas(&self, agent: &Agent) -> &[Isa] {
        &self.isas[agent.isas.clone()]
    }

    /// The ISA with the full target name `name`.
    ///
    /// # Errors
    /// `InvalidIsaName`
    pub fn isa_by_name(&self, name: &str) -> Result<&Isa> {
        self.isas.iter().find(|isa| isa.name() == name).ok_or(Error::InvalidIsaName)
    }

    /// The pools (and regions) of an agent, in the order of the contract sheet c.1.
    #[must_use]
    pub fn agent_pools(&self, agent: &Agent) -> &[Pool] {
        &self.pools[agent.pools.clone()]
    }

    /// The caches of an agent.
    #[must_use]
    pub fn agent_caches(&self, agent: &Agent) -> &[Cache] {
        &self.caches[agent.caches.clone()]
    }

    /// The agent that owns a pool.
    #[must_use]
    pub fn pool_agent(&self, pool: &Pool) -> &Agent {
        &self.agents[pool.agent]
    }

    /// `HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS`
    #[must_use]
    pub fn pool_access(&self, agent: &Agent, pool: &Pool) -> Access {
        pool.access(agent, None)
    }

    /// The hops from an agent to a pool (`LINK_INFO`); its length is `NUM_LINK_HOPS`. Empty if the
    /// pool is the agent's own or never reachable.
    #[must_use]
    pub fn pool_links(&self, agent: &Agent, pool: &Pool) -> Vec<LinkInfo> {
        let _ = (agent, pool);
        Vec::new()
    }

    /// `HSA_AMD_AGENT_INFO_MEMORY_AVAIL`: bytes that can still be allocated on a GPU.
    ///
    /// # Errors
    /// `InvalidArgument` for a CPU.
    pub fn memory_available(&self, agent: &Agent) -> Result<u64> {
        let _ = agent;
        Err(Error::NotSupported)
    }

    /// `HSA_AMD_AGENT_INFO_HDP_FLUSH`: addresses of the HDP memory and register flush dwords, 0
    /// where the device has none.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn hdp_flush(&self, agent: &Agent) -> Result<[u64; 2]> {
        let _ = agent;
        Err(Error::NotSupported)
    }

    /// `HSA_AMD_AGENT_INFO_CLOCK_COUNTERS`: GPU counter, CPU clock ns, system clock ns, system
    /// clock frequency.
    ///
    /// # Errors
    /// `InvalidArgument` for a CPU.
    pub fn clock_counters(&self, agent: &Agent) -> Result<[u64; 4]> {
        let _ = agent;
        Err(Error::NotSupported)
    }

    /// `HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED`: every GPU has capability bit 27.
    #[must_use]
    pub fn svm_supported(&self) -> bool {
        false
    }

    /// `HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT` and `XNACK_ENABLED`: the process runs with
    /// XNACK, so GPUs reach any host address.
    #[must_use]
    pub fn xnack_enabled(&self) -> bool {
        false
    }

    /// Runs `hook` when the runtime closes, before any agent, signal or memory goes away (the
    /// loader frees its executables here). Hooks run once, last registered first.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn at_shut_down(&self, hook: Box<dyn FnOnce() + Send>) -> Result<()> {
        let _ = hook;
        Err(Error::NotInitialized)
    }
}
