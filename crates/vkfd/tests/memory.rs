//! Buffer objects: allocation, mapping, accounting and refusals.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use std::sync::atomic::Ordering;

use amdgpu_exec::{Access, Memory};
use common::*;
use hsakmt_sys::{Errno, Kernel, ioctl, kfd, newer};

const VA: u64 = 0x7000_0000_0000;
const MIB: u64 = 1 << 20;

fn available(client: &Client<'_>, gpu: usize) -> u64 {
    let gpu_id = client.gpu_ids[gpu];
    let mut args = kfd::kfd_ioctl_get_available_memory_args {
        gpu_id,
        ..Default::default()
    };
    client.ioctl(ioctl::AVAILABLE_MEMORY, &mut args).unwrap();
    args.available
}

#[test]
fn handle_is_gpu_id_and_a_number_from_one() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let (handle, _) = client.alloc(0, VA, 4096, VRAM | WRITABLE).unwrap();
    assert_eq!(handle, u64::from(client.gpu_ids[0]) << 32 | 1);
}

#[test]
fn vram_returns_to_the_pool_and_reads_zero_again() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    assert_eq!(available(&client, 0), 256 * MIB);
    for round in 0..3 {
        let (handle, offset) = client
            .alloc(0, VA, 256 * MIB, VRAM | WRITABLE | PUBLIC)
            .unwrap();
        assert_eq!(available(&client, 0), 0);
        assert_eq!(client.alloc(0, VA, 4096, VRAM | WRITABLE), Err(ENOMEM));
        let words = client.mmap(client.render[0], offset, 4096).unwrap();
        let before = cell(words as u64).swap(0xdead, Ordering::SeqCst);
        assert_eq!(before, 0, "round {round}");
        unmap(words, 4096);
        client.free(handle).unwrap();
    }
    assert_eq!(available(&client, 0), 256 * MIB);
}

#[test]
fn available_memory_is_rounded_down_to_2_mib() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    client.alloc(0, VA, 4096, VRAM | WRITABLE).unwrap();
    assert_eq!(available(&client, 0), 254 * MIB);
}

#[test]
fn bad_arguments_are_refused_and_leave_nothing() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let cases = [
        (4096, 0, EINVAL),
        (4096, WRITABLE, EINVAL),
        (0, VRAM, EINVAL),
        (4096, 1 << 22 | VRAM, EINVAL),
        (4096, kfd::KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL, EINVAL),
        (8192, kfd::KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP, EINVAL),
        (4096, USERPTR, EINVAL),
        (u64::MAX, VRAM, ENOMEM),
        (!4095, VRAM, ENOMEM),
        (512 * MIB, VRAM, ENOMEM),
    ];
    for (size, flags, errno) in cases {
        assert_eq!(
            client.alloc(0, VA, size, flags),
            Err(errno),
            "size {size:#x} flags {flags:#x}"
        );
    }
    let mut args = kfd::kfd_ioctl_alloc_memory_of_gpu_args {
        size: 4096,
        flags: VRAM,
        gpu_id: 1,
        ..Default::default()
    };
    assert_eq!(client.alloc_raw(&mut args), Err(EINVAL));
    assert_eq!(device.live_counts().0, 0);
    assert_eq!(available(&client, 0), 256 * MIB);
}

#[test]
fn memory_needs_an_acquired_vm() {
    let device = device("gfx90a");
    let mut client = Client::without_vm(&*device);
    assert_eq!(client.alloc(0, VA, 4096, VRAM), Err(Errno(libc::ENODEV)));
    client.acquire(0).unwrap();
    client.acquire(0).expect("the same file again is fine");
    assert!(client.alloc(0, VA, 4096, VRAM).is_ok());
    let other = open(&*device, "/dev/dri/renderD128").unwrap();
    client.render[0] = other;
    assert_eq!(client.acquire(0), Err(Errno(libc::EBUSY)));
    client.render[0] = client.kfd;
    assert_eq!(client.acquire(0), Err(EINVAL));
}

#[test]
fn mapping_grants_exactly_the_flags() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let (handle, _) = client.alloc(0, VA, 8192, VRAM).unwrap();
    let vm = |access, at| device.address_space(0).unwrap().resolve(at, access);
    assert!(vm(Access::Read, VA).is_err());
    assert_eq!(client.map(handle, &client.gpu_ids), Ok(1));
    assert!(vm(Access::Read, VA + 8191).is_ok());
    assert!(vm(Access::Read, VA + 8192).is_err());
    assert!(vm(Access::Write, VA).is_err());
    assert!(vm(Access::Execute, VA).is_err());
    assert_eq!(
        client.map(handle, &client.gpu_ids),
        Ok(1),
        "again is a no-op"
    );
    assert_eq!(client.free(handle), Err(Errno(libc::EBUSY)));
    assert_eq!(client.unmap(handle, &client.gpu_ids), Ok(1));
    assert_eq!(
        client.unmap(handle, &client.gpu_ids),
        Ok(1),
        "again is a no-op"
    );
    assert!(vm(Access::Read, VA).is_err());
    client.free(handle).unwrap();
    assert_eq!(client.free(handle), Err(EINVAL));
    assert_eq!(client.map(handle, &client.gpu_ids), Err(ENOMEM));
}

#[test]
fn overlapping_objects_fail_when_mapped_not_when_allocated() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let (low, _) = client.alloc(0, VA, 8192, VRAM).unwrap();
    let (high, _) = client.alloc(0, VA + 4096, 8192, VRAM).unwrap();
    client.map(low, &client.gpu_ids).unwrap();
    assert_eq!(client.map(high, &client.gpu_ids), Err(EINVAL));
    client.free(high).unwrap();
}

#[test]
fn map_checks_its_list() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    let (handle, _) = client.alloc(0, VA, 4096, VRAM).unwrap();
    assert_eq!(client.map(handle, &[]), Err(EINVAL));
    assert_eq!(client.map(handle, &[client.gpu_ids[0], 1]), Err(EINVAL));
    let mut args = kfd::kfd_ioctl_map_memory_to_gpu_args {
        handle,
        device_ids_array_ptr: 8,
        n_devices: 2,
        n_success: 0,
    };
    assert_eq!(
        client.ioctl(ioctl::MAP_MEMORY_TO_GPU, &mut args),
        Err(EFAULT)
    );
    args.n_success = 3;
    assert_eq!(
        client.ioctl(ioctl::MAP_MEMORY_TO_GPU, &mut args),
        Err(EINVAL)
    );
    args.device_ids_array_ptr = client.gpu_ids.as_ptr() as u64;
    args.n_success = 1;
    client.ioctl(ioctl::MAP_MEMORY_TO_GPU, &mut args).unwrap();
    assert_eq!(args.n_success, 2);
    assert!(
        device.address_space(0).unwrap().lookup(VA).is_none(),
        "the first was skipped"
    );
    assert!(device.address_space(1).unwrap().lookup(VA).is_some());
}

#[test]
fn cpu_mappings_and_gpu_alias_the_same_pages() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    for domain in [VRAM, GTT] {
        let shared = 3 * 4096;
        let va = VA + u64::from(domain) * MIB;
        let (handle, offset) = client
            .alloc(0, va, shared, domain | WRITABLE | PUBLIC)
            .unwrap();
        let first = client.mmap(client.render[0], offset, 3 * 4096).unwrap();
        let second = client.mmap(client.render[0], offset, 4096).unwrap();
        client.map(handle, &client.gpu_ids).unwrap();
        let span = device
            .address_space(0)
            .unwrap()
            .host_ptr(va + 8, 8, Access::Write)
            .unwrap();
        cell(first as u64 + 8).store(0x1234, Ordering::SeqCst);
        assert_eq!(cell(second as u64 + 8).load(Ordering::SeqCst), 0x1234);
        cell(span.pointer as u64).store(0x5678, Ordering::SeqCst);
        assert_eq!(cell(first as u64 + 8).load(Ordering::SeqCst), 0x5678);
        assert!(span.stable);
    }
}

#[test]
fn mmap_of_the_render_node_wants_an_object_of_that_size() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    let (handle, offset) = client.alloc(0, VA, 8192, VRAM | PUBLIC).unwrap();
    assert_ne!(offset, 0);
    assert_eq!(
        client.mmap(client.render[0], offset + 4096, 4096),
        Err(EINVAL)
    );
    assert_eq!(client.mmap(client.render[0], offset, 3 * 4096), Err(EINVAL));
    assert_eq!(client.mmap(client.render[0], 0, 4096), Err(EINVAL));
    assert_eq!(
        client.mmap(client.render[1], offset, 4096),
        Err(EINVAL),
        "another GPU's node"
    );
    client.free(handle).unwrap();
    assert_eq!(
        client.mmap(client.render[0], offset, 4096),
        Err(EINVAL),
        "stale offset"
    );
}

#[test]
fn user_memory_gets_its_own_gpu_address() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let cpu = anonymous(8192);
    let handle = client.user(0, VA, cpu as u64, 8192).unwrap();
    client.map(handle, &client.gpu_ids).unwrap();
    let range = device
        .address_space(0)
        .unwrap()
        .resolve(VA + 4100, Access::Write)
        .unwrap();
    assert_eq!((VA + 4100).wrapping_add(range.delta), cpu as u64 + 4100);
    assert!(!range.stable, "the client may unmap it");
    assert_eq!(
        client.user(0, VA + 65536, cpu as u64 + 1, 4096),
        Err(EINVAL)
    );
    assert_eq!(
        client.user(0, VA + 65536, 0x10000, 4096),
        Err(EFAULT),
        "nothing is mapped there"
    );
}

#[test]
fn aql_queue_memory_appears_twice() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let flags = GTT | WRITABLE | kfd::KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM;
    let (handle, _) = client.alloc(0, VA, 2 * 65536, flags).unwrap();
    client.map(handle, &client.gpu_ids).unwrap();
    let host = |at| {
        device
            .address_space(0)
            .unwrap()
            .host_ptr(at, 8, Access::Write)
            .unwrap()
            .pointer
    };
    assert_eq!(host(VA + 128), host(VA + 65536 + 128));
    client.unmap(handle, &client.gpu_ids).unwrap();
    assert!(device.address_space(0).unwrap().mappings().is_empty());
}

#[test]
fn two_gpus_have_separate_address_spaces_and_memory() {
    let device = device("gfx90a,gfx1030");
    let client = Client::new(&*device);
    assert_eq!(client.gpu_ids, [50149, 21001]);
    let (first, _) = client.alloc(0, VA, 4096, VRAM).unwrap();
    let (second, _) = client.alloc(1, VA, 4096, VRAM).unwrap();
    client.map(first, &client.gpu_ids[..1]).unwrap();
    client.map(second, &client.gpu_ids[1..]).unwrap();
    assert_eq!(
        client.map(first, &client.gpu_ids[1..]),
        Err(EINVAL),
        "the address is taken there"
    );
    assert_eq!(
        (available(&client, 0), available(&client, 1)),
        (254 * MIB, 254 * MIB)
    );
}

#[test]
fn exported_memory_can_be_imported_and_aliases() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    let (handle, offset) = client.alloc(0, 0, 8192, VRAM | WRITABLE).unwrap();
    let mut export = newer::kfd_ioctl_export_dmabuf_args {
        handle,
        flags: libc::O_CLOEXEC.cast_unsigned(),
        dmabuf_fd: 0,
    };
    client.ioctl(ioctl::EXPORT_DMABUF, &mut export).unwrap();
    let mut info = kfd::kfd_ioctl_get_dmabuf_info_args {
        dmabuf_fd: export.dmabuf_fd,
        ..Default::default()
    };
    client.ioctl(ioctl::GET_DMABUF_INFO, &mut info).unwrap();
    assert_eq!(
        (info.size, info.gpu_id, info.flags),
        (8192, client.gpu_ids[0], VRAM)
    );
    let mut import = kfd::kfd_ioctl_import_dmabuf_args {
        va_addr: VA,
        handle: 0,
        gpu_id: client.gpu_ids[1],
        dmabuf_fd: export.dmabuf_fd,
    };
    client.ioctl(ioctl::IMPORT_DMABUF, &mut import).unwrap();
    client.map(import.handle, &client.gpu_ids[1..]).unwrap();
    let words = client.mmap(client.render[0], offset, 8192).unwrap();
    cell(words as u64).store(42, Ordering::SeqCst);
    let view = device
        .address_space(1)
        .unwrap()
        .host_ptr(VA, 8, Access::Read)
        .unwrap();
    assert_eq!(cell(view.pointer as u64).load(Ordering::SeqCst), 42);
    // The memory lives as long as anything refers to it.
    client.free(handle).unwrap();
    device
        .close(hsakmt_sys::Fd(export.dmabuf_fd.cast_signed()))
        .unwrap();
    assert_eq!(available(&client, 0), 254 * MIB);
    client.unmap(import.handle, &client.gpu_ids[1..]).unwrap();
    client.free(import.handle).unwrap();
    assert_eq!(available(&client, 0), 256 * MIB);
    info.dmabuf_fd = client.kfd.0.cast_unsigned();
    assert_eq!(client.ioctl(ioctl::GET_DMABUF_INFO, &mut info), Err(EINVAL));
}

#[test]
fn ten_thousand_allocations_leak_nothing() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    for round in 0..10_000u64 {
        let size = 4096 * (1 + round % 64);
        let (handle, _) = client
            .alloc(0, VA, size, if round % 2 == 0 { VRAM } else { GTT })
            .unwrap();
        client.map(handle, &client.gpu_ids).unwrap();
        client.unmap(handle, &client.gpu_ids).unwrap();
        client.free(handle).unwrap();
    }
    assert_eq!(device.live_counts().0, 0);
    assert_eq!(available(&client, 0), 256 * MIB);
    assert!(device.address_space(0).unwrap().mappings().is_empty());
}

/// Peer fault 47: a driver that refuses user memory.
#[test]
fn profile_may_refuse_user_memory() {
    let refusing = variant("gfx90a", "userptr = false");
    let device = device(refusing.path().to_str().unwrap());
    let client = Client::new(&*device);
    assert_eq!(
        client.user(0, VA, anonymous(4096) as u64, 4096),
        Err(EINVAL)
    );
    assert!(client.alloc(0, VA, 4096, GTT | WRITABLE).is_ok());
}
