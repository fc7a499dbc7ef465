use super::*;
use crate::Kfd;
use crate::mock::{FIRST_GPU, MockKernel};
use crate::pages::tests::{fail_reservation_after, reserved_bytes};

fn open() -> (Arc<MockKernel>, Arc<Kfd>) {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    (kernel, kfd)
}

const fn request(kind: QueueKind) -> QueueRequest {
    QueueRequest {
        node: NodeId(1),
        kind,
        ring: GpuVa(0x10_0000),
        ring_bytes: 0x4_0000,
        read_ptr: GpuVa(0x20_0080),
        write_ptr: GpuVa(0x20_0038),
        priority: 7,
        percentage: 100,
    }
}

#[test]
fn an_aql_queue_brings_its_buffers() {
    let (kernel, kfd) = open();
    let queue = kfd.create_queue(&request(QueueKind::Aql)).unwrap();
    let sent = kernel.state().queues[&queue.id()];
    assert_eq!(
        (sent.queue_type, sent.gpu_id, sent.ring_size),
        (2, FIRST_GPU, 0x4_0000)
    );
    assert_eq!(
        (sent.ctx_save_restore_size, sent.ctl_stack_size),
        (0x3c9_1000, 0x9000)
    );
    assert_eq!(sent.eop_buffer_size, 4096);
    let flags: Vec<_> = kernel.state().buffers.values().map(|b| b.flags).collect();
    assert_eq!(flags, [0xd000_0001, 0xd400_0002, 0x9400_0008]);
}

#[test]
fn an_sdma_queue_has_no_buffers() {
    let (kernel, kfd) = open();
    let queue = kfd.create_queue(&request(QueueKind::Sdma)).unwrap();
    let sent = kernel.state().queues[&queue.id()];
    assert_eq!((sent.queue_type, sent.sdma_engine_id), (1, u32::MAX));
    assert_eq!(
        (sent.eop_buffer_address, sent.ctx_save_restore_address),
        (0, 0)
    );
    let third = kfd
        .create_queue(&request(QueueKind::SdmaEngine(1)))
        .unwrap();
    let sent = kernel.state().queues[&third.id()];
    assert_eq!((sent.queue_type, sent.sdma_engine_id), (4, 1));
}

#[test]
fn gfx942_aql_queues_have_no_end_of_pipe_buffer() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.set_gpu_properties(0, "gfx_target_version 90402\n");
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    let queue = kfd.create_queue(&request(QueueKind::Aql)).unwrap();
    let sent = kernel.state().queues[&queue.id()];
    assert_eq!((sent.eop_buffer_address, sent.eop_buffer_size), (0, 0));
}

#[test]
fn a_doorbell_is_rung_where_the_driver_put_it() {
    let (kernel, kfd) = open();
    let first = kfd.create_queue(&request(QueueKind::Aql)).unwrap();
    let second = kfd.create_queue(&request(QueueKind::Sdma)).unwrap();
    first.ring(41);
    second.ring(64);
    // SAFETY: the doorbells are mapped while the queues live.
    assert_eq!(unsafe { first.doorbell().read_volatile() }, 41);
    // SAFETY: as above.
    assert_eq!(unsafe { second.doorbell().read_volatile() }, 64);
    assert_eq!(kernel.state().rung, [41, 64]);
    let slices = kernel
        .state()
        .buffers
        .values()
        .filter(|b| b.flags == 0x9400_0008)
        .count();
    assert_eq!(slices, 1);
}

#[test]
fn bad_requests_are_refused_before_the_driver_sees_them() {
    let (kernel, kfd) = open();
    let good = request(QueueKind::Aql);
    let bad = [
        QueueRequest {
            ring_bytes: 0,
            ..good
        },
        QueueRequest {
            ring_bytes: 0x3000,
            ..good
        },
        QueueRequest {
            percentage: 101,
            ..good
        },
        QueueRequest {
            priority: 16,
            ..good
        },
        QueueRequest {
            node: NodeId(0),
            ..good
        },
    ];
    kernel.state().log.clear();
    for wish in bad {
        assert!(kfd.create_queue(&wish).is_err(), "{wish:?}");
    }
    assert!(kernel.state().log.is_empty());
}

/// rocm-systems: a failing queue allocation destroyed a queue that never existed.
#[test]
fn a_failure_at_any_call_leaks_nothing_and_a_retry_works() {
    for kind in [QueueKind::Aql, QueueKind::Sdma] {
        for index in 0.. {
            let (kernel, kfd) = open();
            kernel.state().log.clear();
            kernel.fail_after(index, libc::ENOMEM);
            let result = kfd.create_queue(&request(kind));
            let done = kernel.failure_pending();
            assert_eq!(result.is_ok(), done, "call {index}");
            if done {
                assert!(index >= 4, "only {index} calls");
                break;
            }
            assert!(kernel.state().queues.is_empty(), "call {index}");
            assert!(kernel.state().buffers.is_empty(), "call {index}");
            assert_eq!(reserved_bytes(), 0, "call {index}");
            let created = kernel
                .state()
                .log
                .iter()
                .filter(|n| **n == "CREATE_QUEUE")
                .count();
            let destroyed = kernel
                .state()
                .log
                .iter()
                .filter(|n| **n == "DESTROY_QUEUE")
                .count();
            assert_eq!(created, destroyed, "call {index}");
            kfd.create_queue(&request(kind)).unwrap();
        }
    }
}

#[test]
fn a_failing_reservation_at_any_point_leaks_nothing() {
    for index in 0.. {
        let (kernel, kfd) = open();
        fail_reservation_after(index);
        let result = kfd.create_queue(&request(QueueKind::Aql));
        fail_reservation_after(-1);
        if result.is_ok() {
            assert_eq!(index, 3, "end of pipe, save area, doorbells");
            break;
        }
        assert!(kernel.state().queues.is_empty() && kernel.state().buffers.is_empty());
        assert_eq!(reserved_bytes(), 0);
    }
}

#[test]
fn drop_destroys_the_queue_before_its_buffers() {
    let (kernel, kfd) = open();
    let queue = kfd.create_queue(&request(QueueKind::Aql)).unwrap();
    kernel.state().log.clear();
    drop(queue);
    let log = kernel.state().log.clone();
    assert_eq!(log[0], "DESTROY_QUEUE");
    assert_eq!(
        log.iter().filter(|n| **n == "FREE_MEMORY_OF_GPU").count(),
        2
    );
    drop(kfd);
    assert!(kernel.state().buffers.is_empty());
    assert_eq!(reserved_bytes(), 0);
}

#[test]
fn a_queue_outlives_the_device_handle() {
    let (kernel, kfd) = open();
    let queue = kfd.create_queue(&request(QueueKind::Aql)).unwrap();
    drop(kfd);
    queue.ring(1);
    queue.update(GpuVa(0x10_0000), 0x4_0000, 0, 7).unwrap();
    drop(queue);
    assert!(kernel.state().open.is_empty() && kernel.state().buffers.is_empty());
}
