//! What user space reads: topology, module files, and the render node's answers to libdrm.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering;

use common::*;
use hsakmt_sys::ioctl;
use hsakmt_sys::{Errno, Kernel, drm, kfd, newer};
use vkfd::sysfs::Entry;

#[test]
fn topology_is_dense_and_its_counts_are_true() {
    let device = device("gfx90a*2,gfx1030");
    let text = |file: &str| topology(&*device, file);
    assert_eq!(text("generation_id").unwrap().trim(), "2");
    assert!(text("system_properties").unwrap().contains("platform_id 0"));
    for node in 0..4 {
        for (count, directory) in [
            ("mem_banks_count", "mem_banks"),
            ("caches_count", "caches"),
            ("io_links_count", "io_links"),
            ("p2p_links_count", "p2p_links"),
        ] {
            let count = property(&*device, node, count);
            for index in 0..count {
                text(&format!("nodes/{node}/{directory}/{index}/properties")).unwrap();
            }
            let beyond = format!("nodes/{node}/{directory}/{count}/properties");
            assert_eq!(text(&beyond), Err(Errno(libc::ENOENT)), "{beyond}");
        }
    }
    assert_eq!(text("nodes/4/gpu_id"), Err(Errno(libc::ENOENT)));
    assert_eq!(text("nodes/0/gpu_id").unwrap().trim(), "0");
    let class = device
        .read_file(Path::new("/sys/class/kfd/kfd/topology/nodes/1/gpu_id"))
        .unwrap();
    assert_eq!(class, text("nodes/1/gpu_id").unwrap().into_bytes());
}

#[test]
fn gpus_differ_in_everything_that_identifies_them() {
    let device = device("gfx90a*64");
    for name in ["location_id", "drm_render_minor", "unique_id"] {
        let values: HashSet<u64> = (1..=64)
            .map(|node| property(&*device, node, name))
            .collect();
        assert_eq!(values.len(), 64, "{name}");
    }
    let ids: HashSet<u32> = (1..=64)
        .map(|node| gpu_id(&*device, node).unwrap())
        .collect();
    assert!(ids.len() == 64 && !ids.contains(&0) && ids.iter().all(|id| *id < 65536));
    assert_eq!(property(&*device, 64, "drm_render_minor"), 191);
}

/// Values of kfd-contract.md c.3.
#[test]
fn nodes_show_the_values_of_their_chips() {
    let device = device("gfx90a,gfx1030");
    let expected = [
        ("simd_count", 416, 160),
        ("wave_front_size", 64, 32),
        ("array_count", 8, 8),
        ("gfx_target_version", 90010, 100_300),
        ("device_id", 29711, 29631),
        ("max_waves_per_simd", 8, 16),
        ("num_sdma_engines", 2, 4),
        ("num_cp_queues", 24, 8),
        ("max_engine_clk_fcompute", 1700, 2575),
        ("capability", 746_037_888, 671_326_848),
    ];
    for (name, first, second) in expected {
        assert_eq!(property(&*device, 1, name), first, "{name}");
        assert_eq!(property(&*device, 2, name), second, "{name}");
    }
    assert_eq!(topology(&*device, "nodes/1/name").unwrap(), "aldebaran\n");
    assert_eq!(
        topology(&*device, "nodes/2/name").unwrap(),
        "sienna_cichlid\n"
    );
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    assert_eq!(property(&*device, 0, "cpu_cores_count"), cores);
    assert_eq!(property(&*device, 0, "io_links_count"), 2);
}

#[test]
fn used_memory_follows_allocations() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let used = || topology(&*device, "nodes/1/mem_banks/0/used_memory").unwrap();
    assert_eq!(used(), "0\n");
    client.alloc(0, 0x7000_0000_0000, 1 << 20, VRAM).unwrap();
    assert_eq!(used(), "1048576\n");
    let bank = topology(&*device, "nodes/1/mem_banks/0/properties").unwrap();
    assert!(
        bank.contains(&format!("size_in_bytes {}\n", 256 << 20)),
        "the configured size: {bank}"
    );
}

#[test]
fn paths_are_known_for_stat_and_listings() {
    let device = device("gfx90a*2");
    let entry = |path: &str| device.sysfs().entry(Path::new(path));
    assert_eq!(
        entry("/dev/dri/renderD129"),
        Some(Ok(Entry::Device {
            major: 226,
            minor: 129
        }))
    );
    assert!(matches!(
        entry("/dev/kfd"),
        Some(Ok(Entry::Device { minor: 0, .. }))
    ));
    assert_eq!(entry("/dev/dri/card0"), Some(Err(Errno(libc::ENOENT))));
    assert_eq!(entry("/dev/dri/renderD130"), Some(Err(Errno(libc::ENOENT))));
    assert_eq!(
        entry("/sys/dev/char/226:128/device/drm"),
        Some(Ok(Entry::Directory))
    );
    assert_eq!(
        entry("/sys/module/amdgpu/initstate"),
        Some(Ok(Entry::File(5)))
    );
    assert_eq!(entry("/etc/passwd"), None);
    let list = |path: &str| device.sysfs().list(Path::new(path)).unwrap();
    assert_eq!(
        list("/sys/devices/virtual/kfd/kfd/topology/nodes"),
        ["0", "1", "2"]
    );
    assert_eq!(list("/sys/class/kfd/kfd/topology/nodes/"), ["0", "1", "2"]);
    assert_eq!(list("/dev/dri"), ["renderD128", "renderD129"]);
    assert_eq!(list("/sys/dev/char/226:128/device/drm"), ["renderD128"]);
    assert_eq!(list("/sys/module/amdgpu/holders"), Vec::<String>::new());
    assert!(
        device.owns_path(Path::new("/dev/kfd")) && device.owns_path(Path::new("/proc/modules"))
    );
    assert!(
        !device.owns_path(Path::new("/proc/self/maps"))
            && !device.owns_path(Path::new("/dev/null"))
    );
    let modules = device.read_file(Path::new("/proc/modules")).unwrap();
    assert!(modules.starts_with(b"amdgpu "));
}

#[test]
fn descriptors_are_tracked_through_duplicates() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    assert!(device.owns_fd(client.kfd.0) && !device.owns_fd(0));
    // SAFETY: duplicates a descriptor of the test.
    let copy = unsafe { libc::fcntl(client.kfd.0, libc::F_DUPFD_CLOEXEC, 0) };
    assert!(!device.owns_fd(copy));
    assert!(device.duplicated(client.kfd.0, copy));
    let mut version = [0u32; 2];
    ioctl_on(
        &*device,
        hsakmt_sys::Fd(copy),
        ioctl::GET_VERSION,
        &mut version,
    )
    .unwrap();
    assert_eq!(version, [1, 18]);
    device.close(hsakmt_sys::Fd(copy)).unwrap();
    assert!(!device.owns_fd(copy) && device.owns_fd(client.kfd.0));
}

/// What `amdgpu_device_initialize` asks, in its order.
#[test]
fn libdrm_gets_its_answers() {
    let device = device("gfx1030");
    let client = Client::new(&*device);
    let mut name = [0u8; 16];
    let mut version = [0u64; 8];
    let ask = |request, args: &mut [u64; 8]| ioctl_on(&*device, client.render[0], request, args);
    ask(ioctl::DRM_VERSION, &mut version).unwrap();
    assert_eq!(
        (version[0] & 0xffff_ffff, version[2]),
        (3, 6),
        "major version and length of the name"
    );
    version[3] = name.as_mut_ptr() as u64;
    ask(ioctl::DRM_VERSION, &mut version).unwrap();
    assert_eq!(&name[..7], b"amdgpu\0");
    let info = |query: u32, out: u64, size: u32, word: u64| {
        let mut args = [out, u64::from(query) << 32 | u64::from(size), word, 0];
        ioctl_on(&*device, client.render[0], ioctl::AMDGPU_INFO, &mut args)
    };
    let mut works = 0u32;
    info(
        drm::AMDGPU_INFO_ACCEL_WORKING,
        (&raw mut works) as u64,
        4,
        0,
    )
    .unwrap();
    assert_eq!(works, 1);
    let mut dev = drm::drm_amdgpu_info_device::default();
    for size in [368, 448, 8] {
        info(drm::AMDGPU_INFO_DEV_INFO, (&raw mut dev) as u64, size, 0).unwrap();
    }
    assert_eq!((dev.device_id, dev.family), (0x73bf, 143));
    assert_eq!(
        (
            dev.num_shader_engines,
            dev.num_shader_arrays_per_engine,
            dev.cu_active_number
        ),
        (4, 2, 80)
    );
    assert_eq!(dev.gpu_counter_freq, 100_000);
    let units: u32 = dev
        .cu_bitmap
        .iter()
        .flatten()
        .map(|bits| bits.count_ones())
        .sum();
    assert_eq!(units, 80);
    let mut register = 0u32;
    info(
        drm::AMDGPU_INFO_READ_MMR_REG,
        (&raw mut register) as u64,
        4,
        1 << 32 | 0x263e,
    )
    .unwrap();
    assert_ne!(register, 0);
    assert_eq!(info(drm::AMDGPU_INFO_DEV_INFO, 8, 368, 0), Err(EFAULT));
    assert_eq!(info(drm::AMDGPU_INFO_DEV_INFO, 0, 368, 0), Err(EINVAL));
    assert_eq!(info(0x7777, (&raw mut works) as u64, 4, 0), Err(EINVAL));
}

/// The vmem sequence of kfd-contract.md d.2.
#[test]
fn gem_handles_map_and_alias() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    const VA: u64 = 0x7000_0000_0000;
    let (handle, offset) = client.alloc(0, 0, 0x4000, VRAM | WRITABLE).unwrap();
    let mut export = newer::kfd_ioctl_export_dmabuf_args {
        handle,
        flags: 0,
        dmabuf_fd: 0,
    };
    client.ioctl(ioctl::EXPORT_DMABUF, &mut export).unwrap();
    let on = |gpu: usize| client.render[gpu];
    let mut prime = drm::drm_prime_handle {
        fd: export.dmabuf_fd.cast_signed(),
        ..Default::default()
    };
    ioctl_on(&*device, on(1), ioctl::DRM_PRIME_FD_TO_HANDLE, &mut prime).unwrap();
    let mut again = prime;
    ioctl_on(&*device, on(1), ioctl::DRM_PRIME_FD_TO_HANDLE, &mut again).unwrap();
    assert_eq!(prime.handle, again.handle, "one handle per object");
    let mut mmap = u64::from(prime.handle);
    ioctl_on(&*device, on(1), ioctl::AMDGPU_GEM_MMAP, &mut mmap).unwrap();
    assert_eq!(mmap, offset);
    let va = |gpu: usize, operation, flags, offset_in_bo, map_size| {
        let mut args = drm::drm_amdgpu_gem_va {
            handle: prime.handle,
            operation,
            flags,
            va_address: VA,
            offset_in_bo,
            map_size,
            ..Default::default()
        };
        ioctl_on(&*device, on(gpu), ioctl::AMDGPU_GEM_VA, &mut args)
    };
    assert_eq!(
        va(1, drm::AMDGPU_VA_OP_MAP, 0xe, 0x1000, 0x4000),
        Err(EINVAL),
        "beyond the object"
    );
    assert_eq!(
        va(1, drm::AMDGPU_VA_OP_MAP, 0xe, 0x800, 0x1000),
        Err(EINVAL)
    );
    assert_eq!(
        va(0, drm::AMDGPU_VA_OP_MAP, 0xe, 0, 0x1000),
        Err(Errno(libc::ENOENT)),
        "another file's handle"
    );
    va(1, drm::AMDGPU_VA_OP_MAP, 0xe, 0x1000, 0x3000).unwrap();
    let words = client.mmap(client.render[0], offset, 0x4000).unwrap();
    let view = device
        .address_space(1)
        .unwrap()
        .host_ptr(VA, 8, amdgpu_exec::Access::Execute)
        .unwrap();
    cell(words as u64 + 0x1000).store(99, Ordering::SeqCst);
    assert_eq!(cell(view.pointer as u64).load(Ordering::SeqCst), 99);
    va(1, drm::AMDGPU_VA_OP_UNMAP, 0, 0, 0x3000).unwrap();
    assert_eq!(
        va(1, drm::AMDGPU_VA_OP_UNMAP, 0, 0, 0x3000),
        Err(Errno(libc::ENOENT))
    );
    let mut close = drm::drm_gem_close {
        handle: prime.handle,
        pad: 0,
    };
    ioctl_on(&*device, on(1), ioctl::DRM_GEM_CLOSE, &mut close).unwrap();
    assert_eq!(
        ioctl_on(&*device, on(1), ioctl::DRM_GEM_CLOSE, &mut close),
        Err(EINVAL)
    );
    let kfd_fd = u32::try_from(client.kfd.0).unwrap();
    let mut info = kfd::kfd_ioctl_get_dmabuf_info_args {
        dmabuf_fd: kfd_fd,
        ..Default::default()
    };
    assert_eq!(client.ioctl(ioctl::GET_DMABUF_INFO, &mut info), Err(EINVAL));
}

/// Peer fault 23: one GPU that may not be used must not take the others down.
#[test]
fn hidden_gpu_answers_eperm_and_leaves_the_others() {
    let hidden = variant("gfx1030", "hidden = true");
    let list = format!("gfx90a,{},gfx90a", hidden.path().display());
    let device = device(&list);
    assert_eq!(
        topology(&*device, "nodes/2/gpu_id"),
        Err(Errno(libc::EPERM))
    );
    assert_eq!(
        open(&*device, "/dev/dri/renderD129"),
        Err(Errno(libc::EPERM))
    );
    assert_eq!(topology(&*device, "nodes/1/gpu_id").unwrap(), "50149\n");
    assert_eq!(topology(&*device, "nodes/3/gpu_id").unwrap(), "50150\n");
    assert!(open(&*device, "/dev/dri/renderD130").is_ok());
}
