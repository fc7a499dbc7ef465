//! CPU agents: what AMD's runtime says about a NUMA node.

use super::{Agent, DeviceType};
use crate::pool::{Pool, PoolKind};
use hsakmt::topology::{Node, capability};

/// The agent of a CPU node; its table ranges are filled in by the caller.
pub(crate) fn agent(index: usize, node: &Node) -> Agent {
    let p = &node.properties;
    let name = node
        .marketing_name
        .clone()
        .unwrap_or_else(|| "CPU".to_owned());
    let bank = node.memory_banks.first();
    Agent {
        index,
        device_type: DeviceType::Cpu,
        node: node.id.0,
        vendor_name: "CPU",
        product_name: name.clone(),
        name,
        uuid: "CPU-XX".to_owned(),
        profile: 1,
        cache_sizes: cache_sizes(node),
        cacheline_size: 64,
        compute_unit_count: p.cpu_cores_count,
        max_clock_mhz: p.max_engine_clk_ccompute,
        max_address_watch_points: 1 << (p.capability >> capability::WATCH_POINTS_SHIFT & 15),
        memory_width: bank.map_or(0, |b| b.width),
        memory_max_clock_mhz: bank.map_or(0, |b| b.mem_clk_max),
        nearest_cpu: index,
        ..Agent::empty()
    }
}

/// Fine, kernel arguments, coarse: the order of the contract sheet c.1.
pub(crate) fn pools(agent: usize, first: usize, node: &Node, system_bytes: u64) -> Vec<Pool> {
    let size = node.memory_banks.iter().map(|b| b.size_in_bytes).sum();
    let bank = node.memory_banks.first();
    let kinds = [
        PoolKind::SystemFine,
        PoolKind::SystemKernarg,
        PoolKind::SystemCoarse,
    ];
    let pool = |(index, kind)| Pool {
        index,
        agent,
        kind,
        size,
        alloc_max_size: system_bytes,
        bus_width: bank.map_or(0, |b| b.width),
        max_clock_mhz: bank.map_or(0, |b| b.mem_clk_max),
        host_accessible: true,
    };
    (first..).zip(kinds).map(pool).collect()
}

/// Bytes by level: the first data cache of each level that the CPU's topology lists.
pub(crate) fn cache_sizes(node: &Node) -> [u32; 4] {
    let mut sizes = [0; 4];
    for cache in node.caches.iter().filter(|c| c.properties.kind & 1 != 0) {
        let level = cache.properties.level.checked_sub(1);
        if let Some(size) = level
            .and_then(|l| sizes.get_mut(usize::try_from(l).ok()?))
            .filter(|s| **s == 0)
        {
            *size = cache.properties.size.saturating_mul(1024);
        }
    }
    sizes
}
