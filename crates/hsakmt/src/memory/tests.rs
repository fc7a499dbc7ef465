use super::*;
use crate::Kfd;
use crate::mock::{FIRST_GPU, MockKernel};
use crate::pages::tests::{fail_reservation_after, reserved_bytes};
use proptest::prelude::*;

fn open(gpus: u32) -> (Arc<MockKernel>, Arc<Kfd>) {
    let kernel = Arc::new(MockKernel::with_gpus(gpus));
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    (kernel, kfd)
}

const fn request(kind: MemoryKind, flags: AllocFlags) -> AllocRequest {
    AllocRequest {
        node: NodeId(1),
        size_bytes: 0x1000,
        alignment: 0,
        kind,
        flags,
    }
}

fn flags_sent(kind: MemoryKind, flags: AllocFlags) -> u32 {
    let (kernel, kfd) = open(1);
    let _memory = kfd.allocate(&request(kind, flags)).unwrap();
    kernel.state().buffers.values().next().unwrap().flags
}

/// The words that AMD's runtimes were seen to send (kfd-contract, section e.3).
#[test]
fn flags_are_those_of_amd() {
    use AllocFlags as F;
    let host = F::HOST_ACCESS;
    let fine = host | F::EXECUTABLE | F::COHERENT;
    assert_eq!(flags_sent(MemoryKind::Vram, host), 0xb000_0001);
    assert_eq!(
        flags_sent(MemoryKind::Vram, host | F::EXECUTABLE),
        0xf000_0001
    );
    assert_eq!(flags_sent(MemoryKind::Vram, F::EXECUTABLE), 0xd000_0001);
    assert_eq!(
        flags_sent(MemoryKind::System, fine | F::UNCACHED),
        0xd600_0002
    );
    assert_eq!(
        flags_sent(MemoryKind::System, host | F::COHERENT),
        0x9400_0002
    );
    assert_eq!(flags_sent(MemoryKind::Vram, F::READ_ONLY), 0x1000_0001);
    assert_eq!(flags_sent(MemoryKind::Vram, F::CONTIGUOUS), 0x9080_0001);
}

#[test]
fn user_memory_has_an_address_of_its_own_and_covers_whole_pages() {
    let (kernel, kfd) = open(1);
    let pages = [0_u8; 3 * 4096];
    let start = HostPtr::from_ptr(&raw const pages).add(100);
    let memory = kfd.register_user_memory(start, 5000, true).unwrap();
    let buffer = kernel.state().buffers.values().next().unwrap().clone();
    assert_eq!(buffer.flags, 0xd400_0004);
    assert_eq!(buffer.user_address, start.addr() as u64 & !0xfff);
    assert_eq!(buffer.va, memory.gpu_va().get());
    assert_ne!(buffer.va, buffer.user_address);
    let end = (start.addr() as u64 + 5000).next_multiple_of(4096);
    assert_eq!(memory.size_bytes(), end - buffer.user_address);
}

#[test]
fn empty_or_wrapping_user_memory_is_refused() {
    let (kernel, kfd) = open(1);
    for (start, size) in [(0x1000, 0), (usize::MAX - 10, 100), (0x1000, u64::MAX)] {
        assert!(
            kfd.register_user_memory(HostPtr::from_addr(start), size, false)
                .is_err()
        );
    }
    assert!(kernel.state().buffers.is_empty());
}

#[test]
fn memory_is_usable_by_the_host_at_the_gpu_address() {
    let (_kernel, kfd) = open(1);
    let memory = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::HOST_ACCESS))
        .unwrap();
    let host = memory.host_ptr().unwrap();
    assert_eq!(host.addr() as u64, memory.gpu_va().get());
    let word = host.as_ptr::<u64>();
    // SAFETY: the object is mapped for reading and writing at this address.
    unsafe { word.write_volatile(42) };
    // SAFETY: as above.
    assert_eq!(unsafe { word.read_volatile() }, 42);
}

#[test]
fn memory_without_address_cannot_be_mapped() {
    let (kernel, kfd) = open(1);
    let wish = request(MemoryKind::Vram, AllocFlags::NO_ADDRESS);
    let first = kfd.allocate(&wish).unwrap();
    let second = kfd.allocate(&wish).unwrap();
    assert_ne!(first.gpu_va(), second.gpu_va());
    assert!(first.gpu_va().get() >= 1 << 47);
    assert!(matches!(
        first.map(&[NodeId(1)]),
        Err(Error::NoAddress { .. })
    ));
    assert!(kernel.state().buffers.values().all(|b| b.va == 0));
    let freed = first.gpu_va();
    drop(first);
    assert_eq!(kfd.allocate(&wish).unwrap().gpu_va(), freed);
}

#[test]
fn bad_requests_are_refused_before_the_driver_sees_them() {
    let (kernel, kfd) = open(1);
    let good = request(MemoryKind::Vram, AllocFlags::empty());
    let bad = [
        AllocRequest {
            size_bytes: 0,
            ..good
        },
        AllocRequest {
            size_bytes: u64::MAX,
            ..good
        },
        AllocRequest {
            size_bytes: 600 << 30,
            ..good
        },
        AllocRequest {
            alignment: 0x3000,
            ..good
        },
        AllocRequest {
            alignment: 64,
            ..good
        },
        AllocRequest {
            node: NodeId(0),
            ..good
        },
        AllocRequest {
            node: NodeId(9),
            ..good
        },
        AllocRequest {
            flags: AllocFlags::NO_ADDRESS | AllocFlags::HOST_ACCESS,
            ..good
        },
    ];
    kernel.state().log.clear();
    for wish in bad {
        assert!(kfd.allocate(&wish).is_err(), "{wish:?}");
    }
    assert!(kernel.state().log.is_empty());
}

#[test]
fn host_access_to_private_vram_names_the_cure() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.set_file(
        "nodes/1/mem_banks/0/properties",
        "heap_type 2\nsize_in_bytes 4096\n",
    );
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    let error = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::HOST_ACCESS))
        .unwrap_err()
        .to_string();
    assert!(error.contains("resizable BAR"), "{error}");
    assert!(
        kfd.allocate(&request(MemoryKind::Vram, AllocFlags::empty()))
            .is_ok()
    );
}

#[test]
fn an_aql_ring_is_doubled_only_where_the_gpu_wants_it() {
    let ring = request(
        MemoryKind::System,
        AllocFlags::AQL_QUEUE | AllocFlags::HOST_ACCESS,
    );
    let (_kernel, kfd) = open(1);
    assert_eq!(kfd.allocate(&ring).unwrap().size_bytes(), 0x1000);
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.set_gpu_properties(0, "capability 16384\n");
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    let memory = kfd.allocate(&ring).unwrap();
    assert_eq!(memory.size_bytes(), 0x2000);
    assert_eq!(
        kernel.state().buffers.values().next().unwrap().flags,
        0x9a00_0002
    );
}

#[test]
fn mapping_twice_asks_the_driver_once() {
    let (kernel, kfd) = open(2);
    let memory = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::empty()))
        .unwrap();
    memory.map(&[NodeId(1), NodeId(1)]).unwrap();
    memory.map(&[NodeId(1)]).unwrap();
    memory.map(&[NodeId(2), NodeId(1)]).unwrap();
    assert_eq!(memory.mapped_nodes(), [NodeId(1), NodeId(2)]);
    let maps = kernel
        .state()
        .log
        .iter()
        .filter(|name| **name == "MAP_MEMORY_TO_GPU")
        .count();
    assert_eq!(maps, 2);
    memory.unmap(&[NodeId(1)]).unwrap();
    assert_eq!(memory.mapped_nodes(), [NodeId(2)]);
    assert!(memory.map(&[NodeId(0)]).is_err());
}

#[test]
fn a_partial_mapping_is_undone() {
    let (kernel, kfd) = open(3);
    let memory = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::empty()))
        .unwrap();
    memory.map(&[NodeId(1)]).unwrap();
    kernel.state().map_limit = Some(1);
    assert!(memory.map(&[NodeId(2), NodeId(3)]).is_err());
    assert_eq!(memory.mapped_nodes(), [NodeId(1)]);
    let buffer = kernel.state().buffers.values().next().unwrap().clone();
    assert_eq!(buffer.mapped.into_iter().collect::<Vec<_>>(), [FIRST_GPU]);
}

#[test]
fn out_of_memory_says_how_much_and_where() {
    let (kernel, kfd) = open(1);
    kernel.fail_after(0, libc::ENOMEM);
    let error = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::empty()))
        .unwrap_err();
    assert_eq!(
        error,
        Error::OutOfMemory {
            node: NodeId(1),
            size_bytes: 0x1000
        }
    );
}

/// Every way to allocate, with a failure at every call that it makes.
#[test]
fn a_failure_at_any_call_leaks_nothing_and_a_retry_works() {
    let pages = [0_u8; 8192];
    let start = HostPtr::from_ptr(&raw const pages);
    let (kernel, kfd) = open(1);
    let vram = request(MemoryKind::Vram, AllocFlags::HOST_ACCESS);
    let system = request(MemoryKind::System, AllocFlags::HOST_ACCESS);
    let handle = request(MemoryKind::Vram, AllocFlags::NO_ADDRESS);
    let ways: [&dyn Fn() -> Result<MemoryObject, Error>; 4] = [
        &|| kfd.allocate(&vram),
        &|| kfd.allocate(&system),
        &|| kfd.allocate(&handle),
        &|| kfd.register_user_memory(start, 4096, false),
    ];
    for way in ways {
        for index in 0.. {
            kernel.fail_after(index, libc::EIO);
            let result = way();
            let done = kernel.failure_pending();
            kernel.no_failure();
            assert_eq!(result.is_ok(), done);
            drop(result);
            assert!(kernel.state().buffers.is_empty());
            assert_eq!(reserved_bytes(), 0);
            way().unwrap();
            if done {
                break;
            }
        }
    }
}

#[test]
fn a_failing_reservation_is_reported_before_the_driver_is_asked() {
    let (kernel, kfd) = open(1);
    kernel.state().log.clear();
    fail_reservation_after(0);
    let error = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::HOST_ACCESS))
        .unwrap_err();
    assert_eq!(error.errno(), Some(Errno(libc::ENOMEM)));
    assert!(kernel.state().log.is_empty());
}

#[test]
fn addresses_beyond_a_gpus_reach_are_refused() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.state().gpuvm_limit = 0xffff_ffff;
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    let error = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::empty()))
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::BeyondReach {
                limit: GpuVa(0xffff_ffff),
                ..
            }
        ),
        "{error}"
    );
    assert!(kernel.state().buffers.is_empty());
    assert_eq!(reserved_bytes(), 0);
}

#[test]
fn an_object_outlives_the_device_handle() {
    let (kernel, kfd) = open(1);
    let memory = kfd
        .allocate(&request(MemoryKind::Vram, AllocFlags::HOST_ACCESS))
        .unwrap();
    drop(kfd);
    memory.map(&[NodeId(1)]).unwrap();
    drop(memory);
    assert!(kernel.state().buffers.is_empty());
    assert!(kernel.state().open.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn live_objects_never_overlap_and_drop_returns_everything(
        steps in prop::collection::vec((1_u64..4_000_000, 0_u32..10, any::<bool>(), 0_usize..8), 1..24)
    ) {
        let (kernel, kfd) = open(2);
        let before = reserved_bytes();
        let mut live: Vec<MemoryObject> = Vec::new();
        for (size_bytes, shift, system, victim) in steps {
            let wish = AllocRequest {
                size_bytes,
                alignment: 4096 << shift,
                kind: if system { MemoryKind::System } else { MemoryKind::Vram },
                ..request(MemoryKind::Vram, AllocFlags::HOST_ACCESS)
            };
            let new = kfd.allocate(&wish).unwrap();
            prop_assert_eq!(new.gpu_va().get() % wish.alignment, 0);
            prop_assert!(new.size_bytes() >= size_bytes);
            for old in &live {
                let (a, b) = (new.gpu_va().get(), old.gpu_va().get());
                prop_assert!(a + new.size_bytes() <= b || b + old.size_bytes() <= a);
            }
            live.push(new);
            if victim < live.len() {
                live.swap_remove(victim);
            }
            prop_assert_eq!(kernel.state().buffers.len(), live.len());
        }
        drop(live);
        prop_assert!(kernel.state().buffers.is_empty());
        prop_assert_eq!(reserved_bytes(), before);
    }
}
