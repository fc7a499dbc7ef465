//! KFD's topology tree of the configured GPUs: node 0 is the host's CPU, GPUs follow.

use crate::device::{Device, host_cpus, host_memory_bytes};
use crate::profile::Properties;

use super::{Content, Sysfs, TOPOLOGY};

/// Link types (`HSA_IOLINKTYPE_*`).
const LINK_PCIE: u64 = 2;
const LINK_XGMI: u64 = 11;

pub(super) fn fill(sysfs: &mut Sysfs, devices: &[Device]) {
    sysfs.add(&format!("{TOPOLOGY}/generation_id"), "2\n");
    let Some(first) = devices.first() else { return };
    sysfs.add(
        &format!("{TOPOLOGY}/system_properties"),
        first.gpu.profile.system.to_string(),
    );
    add_cpu(sysfs, devices);
    for index in 0..devices.len() {
        add_gpu(sysfs, devices, index);
    }
}

fn add_cpu(sysfs: &mut Sysfs, devices: &[Device]) {
    let node = format!("{TOPOLOGY}/nodes/0");
    let profile = &devices[0].gpu.profile;
    let properties = profile.cpu_node.clone().with(&[
        ("cpu_cores_count", host_cpus()),
        ("mem_banks_count", 1),
        ("caches_count", 0),
        ("io_links_count", devices.len() as u64),
        ("p2p_links_count", 0),
    ]);
    sysfs.add(&format!("{node}/gpu_id"), "0\n");
    sysfs.add(&format!("{node}/name"), "\n");
    sysfs.add(&format!("{node}/properties"), properties.to_string());
    let bank = profile
        .cpu_bank
        .clone()
        .with(&[("size_in_bytes", host_memory_bytes())]);
    sysfs.add(&format!("{node}/mem_banks/0/properties"), bank.to_string());
    for (index, device) in devices.iter().enumerate() {
        let link = device
            .gpu
            .profile
            .link_from_cpu
            .clone()
            .with(&ends(0, node_of(index)));
        sysfs.add(
            &format!("{node}/io_links/{index}/properties"),
            link.to_string(),
        );
    }
}

fn add_gpu(sysfs: &mut Sysfs, devices: &[Device], index: usize) {
    let (device, profile) = (&devices[index], &devices[index].gpu.profile);
    let node = format!("{TOPOLOGY}/nodes/{}", node_of(index));
    let io_links = io_links(devices, index);
    let p2p_links = p2p_links(devices, index);
    let gpu_id = match profile.extra.kfd.hidden {
        true => Content::Forbidden,
        false => Content::Text(format!("{}\n", device.gpu.gpu_id)),
    };
    sysfs.insert(&format!("{node}/gpu_id"), gpu_id);
    sysfs.add(&format!("{node}/name"), format!("{}\n", profile.chip));
    let properties = gpu_properties(device, io_links.len(), p2p_links.len());
    sysfs.add(&format!("{node}/properties"), properties.to_string());
    let vram_bytes = device.memory.limit(crate::memory::HeapKind::Vram);
    for (bank, properties) in profile.mem_banks.iter().enumerate() {
        let properties = match bank {
            0 => properties.clone().with(&[("size_in_bytes", vram_bytes)]),
            _ => properties.clone(),
        };
        sysfs.add(
            &format!("{node}/mem_banks/{bank}/properties"),
            properties.to_string(),
        );
        sysfs.insert(
            &format!("{node}/mem_banks/{bank}/used_memory"),
            Content::VramUsed(index),
        );
    }
    add_list(sysfs, &format!("{node}/caches"), &profile.caches);
    add_list(sysfs, &format!("{node}/io_links"), &io_links);
    add_list(sysfs, &format!("{node}/p2p_links"), &p2p_links);
}

fn gpu_properties(device: &Device, io_links: usize, p2p_links: usize) -> Properties {
    let profile = &device.gpu.profile;
    profile.node.clone().with(&[
        ("mem_banks_count", profile.mem_banks.len() as u64),
        ("caches_count", profile.caches.len() as u64),
        ("io_links_count", io_links as u64),
        ("p2p_links_count", p2p_links as u64),
        ("location_id", device.location.into()),
        ("domain", device.domain.into()),
        ("drm_render_minor", device.render_minor.into()),
        (
            "unique_id",
            profile
                .node
                .get("unique_id")
                .wrapping_add(device.gpu.index.into()),
        ),
    ])
}

fn add_list(sysfs: &mut Sysfs, directory: &str, items: &[Properties]) {
    for (index, properties) in items.iter().enumerate() {
        sysfs.add(
            &format!("{directory}/{index}/properties"),
            properties.to_string(),
        );
    }
}

/// The link to the CPU, then one to each GPU of the same XGMI hive.
fn io_links(devices: &[Device], from: usize) -> Vec<Properties> {
    let to_cpu = &devices[from].gpu.profile.link_to_cpu;
    let mut links = vec![to_cpu.clone().with(&ends(node_of(from), 0))];
    let peers = (0..devices.len()).filter(|to| *to != from && same_hive(devices, from, *to));
    links.extend(peers.map(|to| xgmi_link(to_cpu, from, to)));
    links
}

/// PCIe links between GPUs: possible where both have a large BAR.
fn p2p_links(devices: &[Device], from: usize) -> Vec<Properties> {
    let peers = (0..devices.len()).filter(|to| *to != from && !same_hive(devices, from, *to));
    let reachable =
        peers.filter(|to| devices[from].has_large_bar() && devices[*to].has_large_bar());
    reachable
        .map(|to| pcie_peer_link(devices, from, to))
        .collect()
}

fn same_hive(devices: &[Device], from: usize, to: usize) -> bool {
    let hive = |index: usize| devices[index].gpu.profile.node.get("hive_id");
    hive(from) != 0 && hive(from) == hive(to)
}

/// One XGMI hop: weight 15, 50 to 64 GB/s (dumps of MI300X machines).
fn xgmi_link(template: &Properties, from: usize, to: usize) -> Properties {
    template
        .clone()
        .with(&ends(node_of(from), node_of(to)))
        .with(&[
            ("type", LINK_XGMI),
            ("weight", 15),
            ("min_bandwidth", 50_000),
            ("max_bandwidth", 64_000),
            ("flags", 1),
        ])
}

/// Two PCIe hops: the weights of both ends' links to the CPU add up.
fn pcie_peer_link(devices: &[Device], from: usize, to: usize) -> Properties {
    let template = &devices[from].gpu.profile.link_to_cpu;
    let weight = |index: usize| devices[index].gpu.profile.link_to_cpu.get("weight");
    template
        .clone()
        .with(&ends(node_of(from), node_of(to)))
        .with(&[
            ("type", LINK_PCIE),
            ("weight", weight(from) + weight(to)),
            ("flags", 3),
        ])
}

fn ends(from: u64, to: u64) -> [(&'static str, u64); 2] {
    [("node_from", from), ("node_to", to)]
}

fn node_of(gpu: usize) -> u64 {
    gpu as u64 + 1
}
