//! The open runtime: reference count, tables, and what lives between init and shut-down.

use crate::Result;
use crate::agent::{Agent, Cache};
use crate::error::Error;
use crate::handle::{self, Kind};
use crate::isa::Isa;
use crate::live::Live;
use crate::pool::{Access, LinkInfo, Pool};
use crate::tables::Tables;
use parking_lot::RwLock;
use std::sync::Arc;

mod lifetime;

pub use lifetime::{acquire, current, release};

/// The open runtime. Its tables never change; calls after shut-down answer `NotInitialized`.
#[derive(Debug)]
pub struct Runtime {
    pub(crate) tables: Tables,
    live: RwLock<Option<Arc<Live>>>,
}

impl Runtime {
    fn new(tables: Tables) -> Self {
        Self {
            tables,
            live: RwLock::new(None),
        }
    }

    /// What exists only while the runtime is open.
    pub(crate) fn live(&self) -> Result<Arc<Live>> {
        self.live.read().clone().ok_or(Error::NotInitialized)
    }

    /// All agents: CPUs first, then the visible GPUs.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.tables.agents
    }

    /// The agent of a handle.
    ///
    /// # Errors
    /// `InvalidAgent`
    pub fn agent(&self, handle: u64) -> Result<&Agent> {
        handle::lookup(Kind::Agent, &self.tables.agents, handle).ok_or(Error::InvalidAgent)
    }

    /// The ISA of a handle.
    ///
    /// # Errors
    /// `InvalidIsa`
    pub fn isa(&self, handle: u64) -> Result<&Isa> {
        handle::lookup(Kind::Isa, &self.tables.isas, handle).ok_or(Error::InvalidIsa)
    }

    /// The ISA that owns a wavefront handle.
    ///
    /// # Errors
    /// `InvalidWavefront`
    pub fn wavefront(&self, handle: u64) -> Result<&Isa> {
        handle::lookup(Kind::Wavefront, &self.tables.isas, handle).ok_or(Error::InvalidWavefront)
    }

    /// The pool of a handle.
    ///
    /// # Errors
    /// `InvalidMemoryPool`
    pub fn pool(&self, handle: u64) -> Result<&Pool> {
        handle::lookup(Kind::Pool, &self.tables.pools, handle).ok_or(Error::InvalidMemoryPool)
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
        handle::lookup(Kind::Cache, &self.tables.caches, handle).ok_or(Error::InvalidCache)
    }

    /// The ISAs of an agent; empty for CPUs.
    #[must_use]
    pub fn agent_isas(&self, agent: &Agent) -> &[Isa] {
        &self.tables.isas[agent.isas.clone()]
    }

    /// The ISA with the full target name `name`.
    ///
    /// # Errors
    /// `InvalidIsaName`
    pub fn isa_by_name(&self, name: &str) -> Result<&Isa> {
        self.tables
            .isas
            .iter()
            .find(|isa| isa.name() == name)
            .ok_or(Error::InvalidIsaName)
    }

    /// The pools (and regions) of an agent, in the order of the contract sheet c.1.
    #[must_use]
    pub fn agent_pools(&self, agent: &Agent) -> &[Pool] {
        &self.tables.pools[agent.pools.clone()]
    }

    /// The regions that `hsa_agent_iterate_regions` shows: a GPU's own, then those of the host, as
    /// programs from before memory pools expect.
    #[must_use]
    pub fn agent_regions(&self, agent: &Agent) -> Vec<&Pool> {
        let host = self
            .tables
            .pools
            .iter()
            .filter(|p| agent.is_gpu() && p.kind.is_system());
        self.agent_pools(agent).iter().chain(host).collect()
    }

    /// The caches of an agent.
    #[must_use]
    pub fn agent_caches(&self, agent: &Agent) -> &[Cache] {
        &self.tables.caches[agent.caches.clone()]
    }

    /// The agent that owns a pool.
    #[must_use]
    pub fn pool_agent(&self, pool: &Pool) -> &Agent {
        &self.tables.agents[pool.agent]
    }

    /// `HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS`
    #[must_use]
    pub fn pool_access(&self, agent: &Agent, pool: &Pool) -> Access {
        self.tables.access(agent, pool)
    }

    /// The hops from an agent to a pool (`LINK_INFO`); its length is `NUM_LINK_HOPS`. Empty if the
    /// pool is the agent's own or never reachable.
    #[must_use]
    pub fn pool_links(&self, agent: &Agent, pool: &Pool) -> Vec<LinkInfo> {
        self.tables.hops(agent, pool)
    }

    /// `HSA_AMD_AGENT_INFO_MEMORY_AVAIL`: bytes that can still be allocated on a GPU.
    ///
    /// # Errors
    /// `InvalidArgument` for a CPU.
    pub fn memory_available(&self, agent: &Agent) -> Result<u64> {
        if !agent.is_gpu() {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        let spare = live.memory.spare_bytes(agent.index);
        Ok(live
            .kfd
            .available_vram(agent.node_id())
            .map_err(crate::error::driver("AVAILABLE_MEMORY"))?
            + spare)
    }

    /// `HSA_AMD_AGENT_INFO_HDP_FLUSH`: addresses of the HDP memory and register flush dwords, 0
    /// where the device has none.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn hdp_flush(&self, agent: &Agent) -> Result<[u64; 2]> {
        let flush = self.live()?.kfd.hdp_flush(agent.node_id());
        Ok(flush.map_or([0; 2], |f| [f.mem.addr() as u64, f.reg.addr() as u64]))
    }

    /// `HSA_AMD_AGENT_INFO_CLOCK_COUNTERS`: GPU counter, CPU clock ns, system clock ns, system
    /// clock frequency.
    ///
    /// # Errors
    /// `InvalidArgument` for a CPU.
    pub fn clock_counters(&self, agent: &Agent) -> Result<[u64; 4]> {
        if !agent.is_gpu() {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        let c = live
            .kfd
            .clock_counters(agent.node_id())
            .map_err(crate::error::driver("GET_CLOCK_COUNTERS"))?;
        Ok([c.gpu, c.cpu, c.system, c.system_freq])
    }

    /// `HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED`: every GPU has capability bit 27.
    #[must_use]
    pub fn svm_supported(&self) -> bool {
        let mut gpus = self.tables.agents.iter().filter(|a| a.is_gpu()).peekable();
        gpus.peek().is_some() && gpus.all(|a| a.svm_supported)
    }

    /// `HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT` and `XNACK_ENABLED`: the process runs with
    /// XNACK, so GPUs reach any host address.
    #[must_use]
    pub fn xnack_enabled(&self) -> bool {
        self.live().is_ok_and(|live| live.kfd.xnack_enabled())
    }

    /// Runs `hook` when the runtime closes, before any agent, signal or memory goes away (the
    /// loader frees its executables here). Hooks run once, last registered first.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn at_shut_down(&self, hook: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.live()?.add_hook(hook);
        Ok(())
    }
}
