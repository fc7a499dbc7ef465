//! Agents, ISAs, pools and links against the contract sheet (sections b.2 and c.1).

use crate::Open;
use hsa_core::Error;
use hsa_core::pool::{Access, LinkType, PoolKind, Segment};

#[test]
fn a_gfx90a_has_the_values_of_the_contract_sheet() {
    let rt = Open::new("gfx90a");
    let gpu = rt.gpu(0);
    assert_eq!(gpu.name, "gfx90a");
    assert_eq!(gpu.vendor_name, "AMD");
    assert_eq!(
        (
            gpu.wavefront_size,
            gpu.workgroup_max_size,
            gpu.workgroup_max_dim
        ),
        (64, 1024, [1024; 3])
    );
    assert_eq!(gpu.cache_sizes, [16384, 8_388_608, 0, 0]);
    assert_eq!(
        (gpu.chip_id, gpu.cacheline_size, gpu.compute_unit_count),
        (0x740f, 128, 104)
    );
    assert_eq!(
        (
            gpu.max_clock_mhz,
            gpu.memory_width,
            gpu.memory_max_clock_mhz
        ),
        (1700, 4096, 1600)
    );
    assert_eq!((gpu.max_waves_per_cu, gpu.simds_per_cu), (32, 4));
    assert_eq!((gpu.queue_min_size, gpu.queue_max_size), (64, 131_072));
    assert_eq!(gpu.timestamp_frequency, 100_000_000);
    assert!(
        gpu.uuid.starts_with("GPU-") && gpu.uuid.len() <= 20,
        "{}",
        gpu.uuid
    );
    let isas = rt.agent_isas(gpu);
    assert_eq!(isas.len(), 1);
    assert_eq!(isas[0].name(), "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert!(rt.agent_isas(rt.cpu()).is_empty());
}

#[test]
fn a_gfx1030_has_waves_of_32_and_a_plain_target() {
    let rt = Open::new("gfx1030");
    let gpu = rt.gpu(0);
    assert_eq!(
        (gpu.wavefront_size, gpu.simds_per_cu, gpu.max_waves_per_cu),
        (32, 2, 32)
    );
    assert_eq!(rt.agent_isas(gpu)[0].name(), "amdgcn-amd-amdhsa--gfx1030");
    assert_eq!(gpu.cache_sizes, [16384, 4_194_304, 134_217_728, 0]);
}

#[test]
fn pools_have_the_order_and_flags_that_hip_expects() {
    let rt = Open::new("gfx90a,gfx1030");
    let flags = |agent| -> Vec<(u32, u32)> {
        rt.agent_pools(agent)
            .iter()
            .map(|p| (p.segment() as u32, p.global_flags()))
            .collect()
    };
    assert_eq!(flags(rt.cpu()), [(0, 2), (0, 3), (0, 4)]);
    assert_eq!(flags(rt.gpu(0)), [(0, 4), (0, 2), (3, 0)]);
    assert_eq!(flags(rt.gpu(1)), [(0, 4), (3, 0)]);
    let lds = rt.agent_pools(rt.gpu(0)).last().unwrap();
    assert_eq!(
        (lds.segment(), lds.size, lds.alloc_granule()),
        (Segment::Group, 65536, 0)
    );
    let vram = &rt.agent_pools(rt.gpu(0))[0];
    assert_eq!(
        (
            vram.alloc_granule(),
            vram.alloc_rec_granule(),
            vram.location()
        ),
        (4096, 2 << 20, 1)
    );
    assert_eq!(vram.size, 68_702_699_520);
}

#[test]
fn access_between_agents_and_pools_follows_the_links() {
    let rt = Open::new("gfx90a*2");
    let (cpu, a, b) = (rt.cpu(), rt.gpu(0), rt.gpu(1));
    let pool = |agent, kind| rt.pool(agent, kind);
    let vram = pool(a, PoolKind::VramCoarse);
    assert_eq!(rt.pool_access(a, vram), Access::AllowedByDefault);
    assert_eq!(rt.pool_access(cpu, vram), Access::DisallowedByDefault);
    assert_eq!(rt.pool_access(b, vram), Access::DisallowedByDefault);
    assert_eq!(
        rt.pool_access(cpu, pool(a, PoolKind::VramFine)),
        Access::Never
    );
    assert_eq!(
        rt.pool_access(a, pool(cpu, PoolKind::SystemFine)),
        Access::DisallowedByDefault
    );
    assert_eq!(
        rt.pool_access(cpu, pool(cpu, PoolKind::SystemFine)),
        Access::AllowedByDefault
    );
    assert_eq!(rt.pool_access(b, pool(a, PoolKind::Group)), Access::Never);
    assert!(rt.pool_links(a, vram).is_empty());
    let hops = rt.pool_links(a, pool(cpu, PoolKind::SystemFine));
    assert_eq!(hops.len(), 1);
    assert_eq!(
        (hops[0].link_type, hops[0].numa_distance),
        (LinkType::Pcie, 20)
    );
}

#[test]
fn handles_of_other_kinds_and_numbers_out_of_nowhere_are_refused() {
    let rt = Open::new("gfx1030");
    let agent = rt.gpu(0).handle();
    assert_eq!(rt.agent(agent).unwrap().handle(), agent);
    assert_eq!(rt.0.pool(agent).unwrap_err(), Error::InvalidMemoryPool);
    assert_eq!(rt.region(0).unwrap_err(), Error::InvalidRegion);
    for handle in [0, 1, u64::MAX, agent + 100, 0x7fff_ffff_f000] {
        assert_eq!(rt.agent(handle).unwrap_err(), Error::InvalidAgent);
        assert!(hsa_core::signal::lookup(handle).is_none());
        assert!(hsa_core::queue::lookup(handle).is_none());
    }
    assert_eq!(
        rt.isa_by_name("amdgcn-amd-amdhsa--gfx1030")
            .unwrap()
            .handle(),
        rt.agent_isas(rt.gpu(0))[0].handle()
    );
    assert_eq!(
        rt.isa_by_name("gfx1030").unwrap_err(),
        Error::InvalidIsaName
    );
}
