//! The tables that are frozen when the runtime opens: agents, ISAs, pools, caches, links.

use crate::agent::{Agent, Cache, cpu, gpu};
use crate::env::{self, Env};
use crate::isa::{self, Isa, TargetFacts};
use crate::pool::{Access, Link, LinkInfo, LinkType, Pool};
use hsakmt::topology::{Node, Topology, capability};

/// What the driver says beside the topology.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceFacts {
    /// KFD gpu_id.
    pub(crate) gpu_id: u32,
    /// High dword of the LDS aperture.
    pub(crate) lds_aperture_hi: u32,
    /// High dword of the scratch aperture.
    pub(crate) scratch_aperture_hi: u32,
    /// Hz.
    pub(crate) timestamp_frequency: u64,
}

/// Everything that never changes while the runtime is open.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) agents: Vec<Agent>,
    pub(crate) isas: Vec<Isa>,
    pub(crate) pools: Vec<Pool>,
    pub(crate) caches: Vec<Cache>,
    pub(crate) links: Vec<Link>,
}

impl Tables {
    /// Builds the tables of a topology: CPUs first, then the visible GPUs that have a known target.
    pub(crate) fn build(
        topology: &Topology,
        facts: &[DeviceFacts],
        env: &Env,
        xnack: bool,
    ) -> Self {
        let mut tables = Self {
            links: links(topology),
            ..Self::default()
        };
        let system_bytes = topology
            .cpus()
            .flat_map(|n| &n.memory_banks)
            .map(|b| b.size_in_bytes)
            .sum();
        for node in topology.cpus() {
            tables.add_cpu(node, system_bytes);
        }
        for node in visible_gpus(topology, env) {
            let facts = facts
                .iter()
                .find(|f| f.gpu_id == node.gpu_id)
                .cloned()
                .unwrap_or_default();
            tables.add_gpu(node, &facts, env, xnack);
        }
        tables
    }

    fn add_cpu(&mut self, node: &Node, system_bytes: u64) {
        let index = self.agents.len();
        let first = self.pools.len();
        self.pools
            .extend(cpu::pools(index, first, node, system_bytes));
        let caches = self.add_caches(cpu::cache_sizes(node), "CPU");
        let mut agent = cpu::agent(index, node);
        agent.pools = first..self.pools.len();
        agent.caches = caches;
        self.agents.push(agent);
    }

    fn add_gpu(&mut self, node: &Node, facts: &DeviceFacts, env: &Env, xnack: bool) {
        let target = TargetFacts {
            gfx_target_version: env
                .override_gfx_version
                .unwrap_or(node.properties.gfx_target_version),
            sramecc: node.properties.capability & capability::SRAM_EDC != 0,
            xnack,
            wavefront_size: node.properties.wave_front_size,
        };
        let Some(isa) = isa::from_target(self.isas.len(), target) else {
            tracing::warn!(
                node = node.sysfs_id,
                target = target.gfx_target_version,
                "unknown GPU target; the GPU is left out"
            );
            return;
        };
        let index = self.agents.len();
        let first = self.pools.len();
        self.pools.extend(gpu::pools(index, first, node, &isa, env));
        let caches = self.add_caches(gpu::cache_sizes(node), &isa.processor);
        let mut agent = gpu::agent(index, node, facts, &isa, env);
        agent.nearest_cpu = self.nearest_cpu(node);
        agent.isas = isa.index..isa.index + 1;
        agent.pools = first..self.pools.len();
        agent.caches = caches;
        self.isas.push(isa);
        self.agents.push(agent);
    }

    fn add_caches(&mut self, levels: [u32; 4], name: &str) -> std::ops::Range<usize> {
        let first = self.caches.len();
        for (level, &size) in (1_u8..).zip(levels.iter()).filter(|(_, size)| **size != 0) {
            let index = self.caches.len();
            self.caches.push(Cache {
                index,
                name: format!("{name} L{level}"),
                level,
                size,
            });
        }
        first..self.caches.len()
    }

    /// The CPU agent with the shortest link, else the first.
    fn nearest_cpu(&self, gpu: &Node) -> usize {
        let distance = |agent: &&Agent| {
            let link = self.link(gpu.id.0, agent.node);
            link.map_or(u32::MAX, |l| l.info.numa_distance)
        };
        let cpus = self.agents.iter().filter(|a| !a.is_gpu());
        cpus.min_by_key(distance).map_or(0, |a| a.index)
    }

    /// The direct link between two nodes.
    pub(crate) fn link(&self, from: u32, to: u32) -> Option<&Link> {
        self.links.iter().find(|l| l.from == from && l.to == to)
    }

    /// How `agent` may reach `pool`.
    pub(crate) fn access(&self, agent: &Agent, pool: &Pool) -> Access {
        pool.access(agent, self.link(agent.node, self.agents[pool.agent].node))
    }

    /// The hops from `agent` to `pool`.
    pub(crate) fn hops(&self, agent: &Agent, pool: &Pool) -> Vec<LinkInfo> {
        let owner = &self.agents[pool.agent];
        if owner.index == agent.index || self.access(agent, pool) == Access::Never {
            return Vec::new();
        }
        self.link(agent.node, owner.node)
            .map(|l| l.info)
            .into_iter()
            .collect()
    }
}

fn visible_gpus<'a>(topology: &'a Topology, env: &Env) -> Vec<&'a Node> {
    let gpus: Vec<&Node> = topology.gpus().collect();
    let Some(tokens) = &env.visible_devices else {
        return gpus;
    };
    let uuids: Vec<String> = gpus.iter().map(|n| gpu::uuid(n)).collect();
    env::visible(tokens, &uuids)
        .into_iter()
        .map(|i| gpus[i])
        .collect()
}

/// Flags of a KFD link (kfd-contract c.1): meaningful only if the first says so.
mod link_flag {
    pub(super) const OVERRIDE: u32 = 1;
    pub(super) const NON_COHERENT: u32 = 2;
    pub(super) const NO_ATOMICS_32: u32 = 4;
    pub(super) const NO_ATOMICS_64: u32 = 8;
}

fn links(topology: &Topology) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for link in topology.nodes.iter().flat_map(|n| &n.io_links) {
        let (from, to) = (link.from.0, link.to.0);
        if !links.iter().any(|l| l.from == from && l.to == to) {
            links.push(Link {
                from,
                to,
                info: link_info(&link.properties),
            });
        }
    }
    add_indirect(topology, &mut links);
    links
}

fn link_info(link: &hsakmt::topology::IoLinkProperties) -> LinkInfo {
    // KFD numbers of kinds: amdgpu's kfd_crat.h CRAT_IOLINK_TYPE_*.
    let link_type = match link.kind {
        1 => LinkType::HyperTransport,
        5 => LinkType::Qpi,
        8 => LinkType::Infiniband,
        11 => LinkType::Xgmi,
        _ => LinkType::Pcie,
    };
    let flags = if link.flags & link_flag::OVERRIDE != 0 {
        link.flags
    } else if link_type == LinkType::Pcie {
        link_flag::NON_COHERENT
    } else {
        0
    };
    LinkInfo {
        min_latency: link.min_latency,
        max_latency: link.max_latency,
        min_bandwidth: link.min_bandwidth,
        max_bandwidth: link.max_bandwidth,
        atomic_support_32bit: flags & link_flag::NO_ATOMICS_32 == 0,
        atomic_support_64bit: flags & link_flag::NO_ATOMICS_64 == 0,
        coherent_support: flags & link_flag::NON_COHERENT == 0,
        link_type,
        numa_distance: link.weight,
    }
}

/// GPUs that no link joins reach each other through the host if both have host-accessible memory,
/// as AMD's thunk composes it.
fn add_indirect(topology: &Topology, links: &mut Vec<Link>) {
    let gpus: Vec<&Node> = topology.gpus().collect();
    for from in &gpus {
        for to in gpus
            .iter()
            .filter(|to| to.id != from.id && gpu::host_accessible(to))
        {
            let known = links.iter().any(|l| l.from == from.id.0 && l.to == to.id.0);
            if known {
                continue;
            }
            if let Some(info) = through_host(topology, links, from, to) {
                links.push(Link {
                    from: from.id.0,
                    to: to.id.0,
                    info,
                });
            }
        }
    }
}

fn through_host(topology: &Topology, links: &[Link], from: &Node, to: &Node) -> Option<LinkInfo> {
    let direct = |a: u32, b: u32| {
        links
            .iter()
            .find(|l| l.from == a && l.to == b)
            .map(|l| l.info)
    };
    topology.cpus().find_map(|cpu| {
        let up = direct(from.id.0, cpu.id.0)?;
        let down = direct(cpu.id.0, to.id.0).or_else(|| direct(to.id.0, cpu.id.0))?;
        Some(LinkInfo {
            min_latency: up.min_latency + down.min_latency,
            max_latency: up.max_latency + down.max_latency,
            min_bandwidth: up.min_bandwidth.min(down.min_bandwidth),
            max_bandwidth: up.max_bandwidth.min(down.max_bandwidth),
            numa_distance: up.numa_distance + down.numa_distance,
            ..down
        })
    })
}
