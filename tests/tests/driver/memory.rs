//! Memory objects.

use crate::harness::{GPU, OTHER_GPU, on_both, open, read, resources, shared, write};
use hsakmt::{AllocFlags, AllocRequest, Error, HostPtr, MemoryKind};
use hsakmt_sys::Kernel;
use std::os::fd::AsFd;
use std::sync::Arc;

on_both! { "gfx90a*2":
    the_host_sees_one_address
    new_memory_is_zero_and_objects_are_apart
    access_can_be_given_and_taken_per_gpu
    more_than_there_is_is_refused
    user_memory_gets_an_address_of_its_own
    memory_without_address_is_a_handle_only
    a_dma_buf_is_another_view_of_the_memory
    flush_registers_can_be_written;
    alone: a_thousand_allocations_leave_nothing_behind
}

const fn request(kind: MemoryKind, size_bytes: u64, flags: AllocFlags) -> AllocRequest {
    AllocRequest {
        node: GPU,
        size_bytes,
        alignment: 0,
        kind,
        flags,
    }
}

fn the_host_sees_one_address(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    for kind in [MemoryKind::Vram, MemoryKind::System] {
        let memory = shared(&kfd, GPU, kind, 8192);
        assert_eq!(
            memory.host_ptr().unwrap().addr() as u64,
            memory.gpu_va().get()
        );
        write(&memory, 2047, 0x1234_5678);
        assert_eq!(read(&memory, 2047), 0x1234_5678);
    }
}

fn new_memory_is_zero_and_objects_are_apart(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    for _ in 0..3 {
        let first = shared(&kfd, GPU, MemoryKind::Vram, 4096);
        let second = shared(&kfd, GPU, MemoryKind::Vram, 4096);
        assert_eq!((read(&first, 0), read(&second, 0)), (0, 0));
        write(&first, 0, 1);
        assert_eq!(read(&second, 0), 0);
    }
}

fn a_thousand_allocations_leave_nothing_behind(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let round = |bytes: u64| {
        for kind in [MemoryKind::Vram, MemoryKind::System] {
            let memory = shared(&kfd, GPU, kind, bytes);
            write(&memory, 0, 1);
        }
    };
    round(4096);
    let before = resources();
    (0..1000).for_each(|n| round(4096 << (n % 12)));
    let after = resources();
    assert_eq!(before.0, after.0, "descriptors");
    // The allocator of this process may add or split a mapping of its own.
    assert!(after.1 <= before.1 + 4, "{before:?} {after:?}");
}

fn access_can_be_given_and_taken_per_gpu(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let memory = kfd
        .allocate(&request(MemoryKind::Vram, 4096, AllocFlags::HOST_ACCESS))
        .unwrap();
    memory.map(&[OTHER_GPU]).unwrap();
    memory.map(&[GPU, OTHER_GPU]).unwrap();
    assert_eq!(memory.mapped_nodes(), [OTHER_GPU, GPU]);
    memory.unmap(&[OTHER_GPU]).unwrap();
    assert_eq!(memory.mapped_nodes(), [GPU]);
}

fn more_than_there_is_is_refused(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let error = kfd
        .allocate(&request(MemoryKind::Vram, 100 << 30, AllocFlags::empty()))
        .unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    assert!(
        kfd.allocate(&request(MemoryKind::Vram, 1 << 30, AllocFlags::empty()))
            .is_ok()
    );
}

fn user_memory_gets_an_address_of_its_own(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let words = vec![7_u32; 4096];
    let start = HostPtr::from_ptr(words.as_ptr());
    let memory = kfd.register_user_memory(start, 16384, true).unwrap();
    memory.map(&[GPU, OTHER_GPU]).unwrap();
    assert_ne!(memory.gpu_va().get(), start.addr() as u64);
    assert!(memory.size_bytes() >= 16384);
    let again = kfd.register_user_memory(start, 16384, true).unwrap();
    assert_ne!(again.gpu_va(), memory.gpu_va());
}

fn memory_without_address_is_a_handle_only(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let memory = kfd
        .allocate(&request(MemoryKind::Vram, 2 << 20, AllocFlags::NO_ADDRESS))
        .unwrap();
    assert!(memory.gpu_va().get() > kfd.apertures(GPU).unwrap().gpuvm_limit);
    assert_eq!(memory.host_ptr(), None);
    assert!(memory.map(&[GPU]).is_err());
    assert!(memory.export_dmabuf().is_ok());
}

fn a_dma_buf_is_another_view_of_the_memory(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let memory = shared(&kfd, GPU, MemoryKind::Vram, 8192);
    write(&memory, 3, 99);
    let dmabuf = memory.export_dmabuf().unwrap();
    let imported = kfd.import_dmabuf(GPU, dmabuf.as_fd(), 8192).unwrap();
    imported.map(&[GPU, OTHER_GPU]).unwrap();
    assert_ne!(imported.gpu_va(), memory.gpu_va());
    let target = shared(&kfd, GPU, MemoryKind::System, 4096);
    crate::queues::copy(&kfd, OTHER_GPU, imported.gpu_va(), target.gpu_va(), 16);
    assert_eq!(read(&target, 3), 99);
}

fn flush_registers_can_be_written(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let flush = kfd.hdp_flush(GPU).unwrap();
    // SAFETY: mapped as long as `kfd` lives.
    unsafe { flush.mem.write_volatile(1) };
    // SAFETY: as above.
    unsafe { flush.reg.write_volatile(1) };
}
