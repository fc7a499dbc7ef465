//! What the topology says: values of the public dumps that the profiles follow.

use crate::harness::{GPU, OTHER_GPU, on_both, open};
use hsakmt::{NodeId, Version};
use hsakmt_sys::Kernel;
use std::sync::Arc;

on_both! { "gfx90a*2":
    two_mi210_are_described
    apertures_are_those_of_gfx9_and_later
    clocks_run_forward
    available_memory_follows_allocations
}

mod navi {
    use super::an_rx_6900_xt_is_described;
    crate::harness::on_both! { "gfx1030": an_rx_6900_xt_is_described }
}

fn two_mi210_are_described(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    assert!(
        kfd.version()
            >= Version {
                major: 1,
                minor: 17
            }
    );
    let topology = kfd.topology();
    assert_eq!((topology.nodes.len(), topology.gpus().count()), (3, 2));
    for node in [GPU, OTHER_GPU] {
        let gpu = topology.node(node).unwrap();
        let p = &gpu.properties;
        assert_eq!(
            (p.simd_count, p.simd_per_cu, gpu.compute_units()),
            (416, 4, 104)
        );
        assert_eq!((p.array_count, p.simd_arrays_per_engine), (8, 1));
        assert_eq!(
            (p.wave_front_size, p.max_waves_per_simd, p.lds_size_in_kb),
            (64, 8, 64)
        );
        assert_eq!(
            (p.gfx_target_version, p.vendor_id, p.device_id),
            (90010, 4098, 29711)
        );
        assert_eq!(gpu.gfx().to_string(), "gfx90a");
        assert_eq!(gpu.vram_bytes(), 68_702_699_520);
        assert_eq!((p.num_sdma_engines, p.num_sdma_xgmi_engines), (2, 3));
        assert_eq!(gpu.name, "aldebaran");
        assert!(
            gpu.io_links
                .iter()
                .any(|link| link.from == node && link.to == NodeId(0))
        );
    }
    assert_ne!(topology.nodes[1].gpu_id, topology.nodes[2].gpu_id);
    assert_eq!(kfd.device_info(GPU).unwrap().family, 141);
}

fn an_rx_6900_xt_is_described(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let gpu = kfd.topology().node(GPU).unwrap();
    let p = &gpu.properties;
    assert_eq!(
        (p.simd_count, p.simd_per_cu, gpu.compute_units()),
        (160, 2, 80)
    );
    assert_eq!((p.wave_front_size, p.max_waves_per_simd), (32, 16));
    assert_eq!((p.gfx_target_version, p.device_id), (100_300, 29631));
    assert_eq!(gpu.gfx().to_string(), "gfx1030");
    assert_eq!(gpu.name, "sienna_cichlid");
    let info = kfd.device_info(GPU).unwrap();
    assert_eq!((info.family, info.gpu_counter_khz), (143, 100_000));
}

fn apertures_are_those_of_gfx9_and_later(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let apertures = kfd.apertures(GPU).unwrap();
    assert_eq!(
        (apertures.lds_base, apertures.lds_limit),
        (1 << 48, 0x0001_0000_ffff_ffff)
    );
    assert_eq!(
        (apertures.scratch_base, apertures.scratch_limit),
        (2 << 48, 0x0002_0000_ffff_ffff)
    );
    assert!(apertures.gpuvm_limit >= 0x7fff_ffff_ffff);
    assert_eq!(kfd.apertures(NodeId(0)), None);
}

fn clocks_run_forward(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let mut before = kfd.clock_counters(GPU).unwrap();
    assert_eq!(before.system_freq, 1_000_000_000);
    for _ in 0..100 {
        let now = kfd.clock_counters(GPU).unwrap();
        assert!(now.gpu >= before.gpu && now.cpu >= before.cpu && now.system >= before.system);
        before = now;
    }
}

fn available_memory_follows_allocations(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let free = kfd.available_vram(GPU).unwrap();
    assert!(free > 0 && free <= 68_702_699_520);
    let other = kfd.available_vram(OTHER_GPU).unwrap();
    let memory = crate::harness::shared(&kfd, GPU, hsakmt::MemoryKind::Vram, 64 << 20);
    assert_eq!(kfd.available_vram(GPU).unwrap(), free - (64 << 20));
    assert_eq!(kfd.available_vram(OTHER_GPU).unwrap(), other);
    drop(memory);
    assert_eq!(kfd.available_vram(GPU).unwrap(), free);
}
