//! GPU agents: what the topology says about a device, in the units of hsa.h.

use super::{Agent, DeviceType};
use crate::env::Env;
use crate::isa::Isa;
use crate::pool::{Pool, PoolKind};
use crate::tables::DeviceFacts;
use hsakmt::topology::{HeapType, Node, capability};

/// Packets of the smallest and the largest queue (ROCr `minAqlSize_`, `maxAqlSize_`).
const QUEUE_SIZES: (u32, u32) = (64, 131_072);
/// Largest workgroup, in work-items and in each dimension.
const WORKGROUP_MAX: u16 = 1024;
/// 4 GiB: what ROCr reserves for the scratch of one device.
const SCRATCH_LIMIT: u64 = 4 << 30;
/// Bit of a cache's type: data.
const CACHE_DATA: u32 = 1;
/// Bit of a cache's type: used by compute units.
const CACHE_HSACU: u32 = 8;

/// The agent of a GPU node; its table ranges and nearest CPU are filled in by the caller.
pub(crate) fn agent(index: usize, node: &Node, facts: &DeviceFacts, isa: &Isa, env: &Env) -> Agent {
    let p = &node.properties;
    let bank = node
        .memory_banks
        .iter()
        .find(|b| b.heap_type.is_frame_buffer());
    let units = node.compute_units();
    Agent {
        index,
        device_type: DeviceType::Gpu,
        node: node.id.0,
        gpu_id: node.gpu_id,
        name: isa.processor.clone(),
        vendor_name: "AMD",
        product_name: node
            .marketing_name
            .clone()
            .unwrap_or_else(|| node.name.clone()),
        uuid: uuid(node),
        feature: 1,
        profile: 0,
        wavefront_size: p.wave_front_size,
        workgroup_max_dim: [WORKGROUP_MAX; 3],
        workgroup_max_size: u32::from(WORKGROUP_MAX),
        grid_max_dim: [u32::MAX; 3],
        grid_max_size: u32::MAX,
        fbarrier_max_size: 32,
        queues_max: env.max_queues.min(crate::queue::MAX_QUEUES),
        queue_min_size: QUEUE_SIZES.0,
        queue_max_size: QUEUE_SIZES.1,
        cache_sizes: cache_sizes(node),
        fast_f16: isa.fast_f16(),
        chip_id: p.device_id,
        cacheline_size: cacheline(node),
        compute_unit_count: units,
        cooperative_compute_unit_count: cooperative_units(units, env),
        max_clock_mhz: p.max_engine_clk_fcompute,
        max_address_watch_points: 1 << (p.capability >> capability::WATCH_POINTS_SHIFT & 15),
        bdfid: p.location_id,
        domain: p.domain,
        memory_width: bank.map_or(0, |b| b.width),
        memory_max_clock_mhz: bank.map_or(0, |b| b.mem_clk_max),
        max_waves_per_cu: p.simd_per_cu * p.max_waves_per_simd,
        simds_per_cu: p.simd_per_cu,
        shader_engines: p
            .array_count
            .checked_div(p.simd_arrays_per_engine)
            .unwrap_or(0),
        shader_arrays_per_engine: p.simd_arrays_per_engine,
        cooperative_queues: p.num_gws != 0,
        asic_revision: p.capability >> capability::ASIC_REVISION_SHIFT & 15,
        svm_direct_host_access: p.capability & capability::COHERENT_HOST_ACCESS != 0,
        svm_supported: p.capability & capability::SVM_API != 0,
        timestamp_frequency: facts.timestamp_frequency,
        asic_family_id: p.family_id,
        ucode_version: p.fw_version & 0x3ff,
        sdma_ucode_version: p.sdma_fw_version & 0x3ff,
        sdma_engines: p.num_sdma_engines,
        sdma_xgmi_engines: p.num_sdma_xgmi_engines,
        xcc_count: p.num_xcc.max(1),
        hive_id: p.hive_id,
        is_apu: node.is_cpu(),
        vram_bytes: node.vram_bytes(),
        lds_bytes: p.lds_size_in_kb * 1024,
        scratch_limit_max: SCRATCH_LIMIT * u64::from(p.num_xcc.max(1)),
        gfx_target_version: p.gfx_target_version,
        lds_aperture_hi: facts.lds_aperture_hi,
        scratch_aperture_hi: facts.scratch_aperture_hi,
        gws: p.num_gws,
        ..Agent::empty()
    }
}

/// `GPU-` and the serial number.
pub(crate) fn uuid(node: &Node) -> String {
    match node.properties.unique_id {
        0 => "GPU-XX".to_owned(),
        id => format!("GPU-{id:016x}"),
    }
}

/// With `HSA_COOP_CU_COUNT=1` ROCr keeps eight units back and rounds to a multiple of eight.
fn cooperative_units(units: u32, env: &Env) -> u32 {
    if env.coop_cu_count {
        (units / 8 * 8).saturating_sub(8)
    } else {
        units
    }
}

/// The host can reach all device memory.
pub(crate) fn host_accessible(node: &Node) -> bool {
    !node
        .memory_banks
        .iter()
        .any(|b| b.heap_type == HeapType::FRAME_BUFFER_PRIVATE)
}

/// Fine-grained device memory is offered where the device keeps it coherent: gfx90a and gfx94x,
/// XGMI hives, or on request.
fn has_fine_pool(node: &Node, isa: &Isa, env: &Env) -> bool {
    let coherent = matches!(isa.version, (9, 0, 10) | (9, 4.., _));
    coherent || node.properties.hive_id != 0 || env.fine_grain_pcie
}

/// Coarse, fine, LDS: the order of the contract sheet c.1.
pub(crate) fn pools(agent: usize, first: usize, node: &Node, isa: &Isa, env: &Env) -> Vec<Pool> {
    let vram = node.vram_bytes();
    let lds = u64::from(node.properties.lds_size_in_kb) * 1024;
    let bank = node
        .memory_banks
        .iter()
        .find(|b| b.heap_type.is_frame_buffer());
    let mut kinds = Vec::new();
    if vram != 0 {
        kinds.push(PoolKind::VramCoarse);
        if has_fine_pool(node, isa, env) {
            kinds.push(PoolKind::VramFine);
        }
    }
    kinds.push(PoolKind::Group);
    let pool = |(index, kind): (usize, PoolKind)| Pool {
        index,
        agent,
        kind,
        size: if kind == PoolKind::Group { lds } else { vram },
        alloc_max_size: if kind == PoolKind::Group { 0 } else { vram },
        bus_width: bank.map_or(0, |b| b.width),
        max_clock_mhz: bank.map_or(0, |b| b.mem_clk_max),
        host_accessible: kind != PoolKind::Group && host_accessible(node),
    };
    (first..).zip(kinds).map(pool).collect()
}

/// Bytes by level: one compute unit's L1, all of L2 and above.
pub(crate) fn cache_sizes(node: &Node) -> [u32; 4] {
    let wanted = CACHE_DATA | CACHE_HSACU;
    let mut sizes = [0_u32; 4];
    for cache in node
        .caches
        .iter()
        .filter(|c| c.properties.kind & wanted == wanted)
    {
        let bytes = cache.properties.size.saturating_mul(1024);
        match cache.properties.level {
            1 if sizes[0] == 0 => sizes[0] = bytes,
            level @ 2..=4 => {
                sizes[level as usize - 1] = sizes[level as usize - 1].saturating_add(bytes)
            }
            _ => {}
        }
    }
    sizes
}

/// The line of the L2, 64 if the driver does not say.
fn cacheline(node: &Node) -> u32 {
    let mut lines = node
        .caches
        .iter()
        .filter(|c| c.properties.level == 2)
        .map(|c| c.properties.cache_line_size);
    lines.find(|&line| line != 0).unwrap_or(64)
}
