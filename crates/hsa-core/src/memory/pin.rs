//! Pinned host memory (`hsa_amd_memory_lock`): user pages under a second address for agents.

use super::access::AgentSet;
use super::index::{Index, Ranged};
use super::{Memory, PointerInfo, PointerType};
use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::live::Live;
use crate::pool::{GRANULE, Pool, PoolKind, global_flag};
use crate::runtime::Runtime;
use hsakmt::{HostPtr, MemoryObject, NodeId};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One registration of host memory.
#[derive(Debug)]
pub(super) struct Pin {
    host: u64,
    size: u64,
    /// Address of `host` for agents: same offset in its page.
    alias: u64,
    coarse: bool,
    object: MemoryObject,
    access: Mutex<AgentSet>,
    pub(super) user_data: AtomicU64,
}

impl Ranged for Pin {
    fn length(&self) -> u64 {
        self.size
    }
}

/// All registrations, by both addresses.
#[derive(Debug)]
pub(super) struct Pins {
    by_alias: Index<Pin>,
    by_host: RwLock<ByHost>,
}

#[derive(Debug, Default)]
struct ByHost {
    /// Registrations that begin at a host address, with their lock counts.
    pins: BTreeMap<u64, Vec<(Arc<Pin>, u32)>>,
    /// No registration is longer, so a search may stop that far below its address.
    longest: u64,
}

impl ByHost {
    fn find(&self, address: u64) -> Option<&Arc<Pin>> {
        let lowest = address.saturating_sub(self.longest);
        let candidates = self
            .pins
            .range(lowest..=address)
            .rev()
            .flat_map(|(_, pins)| pins.iter());
        candidates
            .map(|(pin, _)| pin)
            .find(|pin| address - pin.host < pin.size)
    }
}

impl Pins {
    pub(super) fn new() -> Self {
        Self {
            by_alias: Index::new(),
            by_host: RwLock::default(),
        }
    }

    /// The registration that covers an alias or host address.
    pub(super) fn find(&self, address: u64) -> Option<Arc<Pin>> {
        if let Some((_, pin)) = self.by_alias.find(address) {
            return Some(pin);
        }
        self.by_host.read().find(address).cloned()
    }

    /// The host address behind an alias.
    pub(super) fn host_of(&self, address: u64) -> Option<u64> {
        let (base, pin) = self.by_alias.find(address)?;
        Some(pin.host + (address - base))
    }

    pub(super) fn reaches(&self, agent: &Agent, address: u64, size: u64) -> bool {
        self.by_alias.find(address).is_some_and(|(base, pin)| {
            size <= pin.size - (address - base) && pin.access.lock().contains(agent.index)
        })
    }

    pub(super) fn drain(&self) {
        drop(self.by_alias.drain());
        *self.by_host.write() = ByHost::default();
    }

    fn insert(&self, pin: &Arc<Pin>) {
        let mut by_host = self.by_host.write();
        by_host.longest = by_host.longest.max(pin.size);
        by_host
            .pins
            .entry(pin.host)
            .or_default()
            .push((Arc::clone(pin), 1));
        self.by_alias.insert(pin.alias, Arc::clone(pin));
    }

    /// Counts one more lock of exactly the same range with the same properties.
    fn again(&self, host: u64, size: u64, coarse: bool) -> Option<Arc<Pin>> {
        let mut by_host = self.by_host.write();
        let pins = by_host.pins.get_mut(&host)?;
        let (pin, locks) = pins
            .iter_mut()
            .find(|(p, _)| p.size == size && p.coarse == coarse)?;
        *locks += 1;
        Some(Arc::clone(pin))
    }

    /// Takes one lock of `host` away, the latest registration's first.
    fn remove(&self, host: u64) {
        let mut by_host = self.by_host.write();
        let Some(pins) = by_host.pins.get_mut(&host) else {
            return;
        };
        let Some((_, locks)) = pins.last_mut() else {
            return;
        };
        *locks -= 1;
        if *locks != 0 {
            return;
        }
        let removed = pins.pop();
        if pins.is_empty() {
            by_host.pins.remove(&host);
        }
        if by_host.pins.is_empty() {
            by_host.longest = 0;
        }
        drop(by_host);
        if let Some((pin, _)) = removed {
            self.by_alias.remove(pin.alias);
        }
    }
}

impl Pin {
    fn grant(&self, wanted: AgentSet, nodes: &[NodeId]) -> Result<()> {
        let mut access = self.access.lock();
        self.object.map(nodes).map_err(|e| {
            tracing::debug!(error = %e, "pinned memory cannot be mapped");
            Error::OutOfResources
        })?;
        *access = access.union(wanted);
        Ok(())
    }

    pub(super) fn describe(&self, runtime: &Runtime) -> PointerInfo {
        let access = *self.access.lock();
        let reaches = |agent: &&Agent| access.contains(agent.index) || !agent.is_gpu();
        let owner = runtime.agents().iter().find(|a| !a.is_gpu());
        PointerInfo {
            pointer_type: PointerType::Locked,
            agent_base: self.alias,
            host_base: self.host,
            size: self.size,
            user_data: self.user_data.load(Ordering::Relaxed),
            agent_owner: owner.map_or(0, Agent::handle),
            global_flags: if self.coarse {
                global_flag::COARSE
            } else {
                global_flag::FINE
            },
            registered: true,
            accessible: runtime
                .agents()
                .iter()
                .filter(reaches)
                .map(Agent::handle)
                .collect(),
        }
    }
}

impl Memory {
    fn pin(&self, host: u64, size: u64, coarse: bool) -> Result<Arc<Pin>> {
        if let Some(pin) = self.pins.again(host, size, coarse) {
            return Ok(pin);
        }
        let address = usize::try_from(host).map_err(|_| Error::InvalidArgument)?;
        let object = self
            .kfd
            .register_user_memory(HostPtr::from_addr(address), size, !coarse)
            .map_err(|error| {
                tracing::debug!(%error, host, size, "host memory cannot be pinned");
                Error::OutOfResources
            })?;
        let pin = Arc::new(Pin {
            host,
            size,
            alias: object.gpu_va().get() + host % GRANULE,
            coarse,
            object,
            access: Mutex::default(),
            user_data: AtomicU64::new(0),
        });
        self.pins.insert(&pin);
        Ok(pin)
    }

    /// Where the host reads what agents see at `address`.
    pub(crate) fn host_address(&self, address: u64) -> u64 {
        self.pins.host_of(address).unwrap_or(address)
    }
}

impl Runtime {
    /// Pins host memory for `agents` (all GPUs if empty) and returns its address for agents, which
    /// differs from the host's and keeps the offset in the page.
    ///
    /// Memory of a host pool is already pinned: it gets the access and keeps its address.
    ///
    /// # Errors
    /// `InvalidArgument` for a null or empty range or a pool that is not the host's,
    /// `OutOfResources` if it cannot be pinned.
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
        let _ = flags;
        if host == 0 || size == 0 || host.checked_add(size).is_none() {
            return Err(Error::InvalidArgument);
        }
        if pool.is_some_and(|p| !p.kind.is_system()) {
            return Err(Error::InvalidArgument);
        }
        let live = self.live()?;
        let all: Vec<&Agent> = self.agents().iter().collect();
        let agents = if agents.is_empty() { &all } else { agents };
        if live.memory.index.find(host).is_some() {
            return self.allow_access(agents, host).map(|()| host);
        }
        let coarse = pool.is_some_and(|p| p.kind == PoolKind::SystemCoarse);
        let pin = live.memory.pin(host, size, coarse)?;
        grant(&pin, agents).inspect_err(|_| live.memory.pins.remove(host))?;
        Ok(pin.alias)
    }

    /// Undoes one [`Runtime::lock`]; an unknown pointer is accepted, as AMD's runtime does.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn unlock(&self, host: u64) -> Result<()> {
        self.live()?.memory.pins.remove(host);
        Ok(())
    }

    /// [`Runtime::allow_access`] of pinned memory adds to its rights.
    pub(super) fn allow_pinned(&self, live: &Live, agents: &[&Agent], ptr: u64) -> Result<()> {
        let pin = live.memory.pins.find(ptr).ok_or(Error::Generic)?;
        grant(&pin, agents)
    }
}

fn grant(pin: &Pin, agents: &[&Agent]) -> Result<()> {
    let nodes: Vec<NodeId> = agents
        .iter()
        .filter(|a| a.is_gpu())
        .map(|a| a.node_id())
        .collect();
    if nodes.is_empty() {
        Ok(())
    } else {
        pin.grant(AgentSet::of(agents), &nodes)
    }
}
