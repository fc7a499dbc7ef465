//! Dispatch packets that run.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use amdgpu_abi::aql::{Header, packet_type};
use amdgpu_exec::{Dispatch, Outcome, Stats};

use crate::gpu::{TestGpu, TestQueue, cell, eventually, kernel};

/// A GPU that records its dispatches.
fn recording() -> (Arc<TestGpu>, Arc<Mutex<Vec<Dispatch>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&log);
    let gpu = TestGpu::with_engine(move |dispatch, _, _| {
        seen.lock().unwrap().push(dispatch.clone());
        Outcome::Complete(Stats::default())
    });
    (gpu, log)
}

#[test]
fn completion_decrements_once_stores_times_and_raises_the_event() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(5, 7);
    queue.dispatch(signal.va);
    signal.wait(4);
    eventually(|| gpu.interrupts.lock().unwrap().contains(&7));
    assert_eq!(signal.mailbox(), 7);
    let (start, end) = (&signal.block().start_ts, &signal.block().end_ts);
    assert!(start.load(Ordering::Relaxed) >= 1000);
    assert!(end.load(Ordering::Relaxed) > start.load(Ordering::Relaxed));
    assert_eq!((signal.get(), gpu.interrupts.lock().unwrap().len()), (4, 1));
}

#[test]
fn polled_signal_raises_no_interrupt() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    queue.dispatch(signal.va);
    signal.wait(0);
    assert!(gpu.interrupts.lock().unwrap().is_empty());
}

#[test]
fn retired_slot_is_invalid_and_the_read_index_has_moved_when_the_signal_falls() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    let index = queue.dispatch(signal.va);
    signal.wait(0);
    assert_eq!(queue.read_index(), index + 1);
    assert_eq!(queue.header_at(index), packet_type::INVALID);
}

#[test]
fn engine_gets_what_the_packet_says() {
    let (gpu, log) = recording();
    let queue = TestQueue::new(&gpu);
    queue.dispatch(0);
    let signal = gpu.signal(1, 0);
    let mut packet = kernel(&gpu, signal.va);
    packet.setup = 3;
    packet.grid_size = [100, 7, 3];
    packet.workgroup_size = [64, 2, 1];
    packet.group_segment_size = 2048;
    packet.private_segment_size = 48;
    packet.kernarg_address = 0x1234_5678_9abc_def0;
    cell(packet.kernel_object).store(0x0102_0304_0506_0708, Ordering::Relaxed);
    cell(queue.block_va() + 0x90).store(0x2222_2222_1111_1111, Ordering::Relaxed);
    cell(queue.block_va() + 0x98).store(0x4444_4444_3333_3333, Ordering::Relaxed);
    cell(queue.block_va() + 0xa0).store(0x7_0000_0000, Ordering::Relaxed);
    queue.push(&packet.encode(Header::new(2, false, 0, 0)));
    signal.wait(0);
    let log = log.lock().unwrap();
    let got = &log[1];
    assert_eq!((got.grid, got.workgroup), ([100, 7, 3], [64, 2, 1]));
    assert_eq!(
        (got.group_segment_bytes, got.private_segment_bytes),
        (2048, 48)
    );
    assert_eq!(
        (got.kernarg_va, got.kernel_object),
        (0x1234_5678_9abc_def0, packet.kernel_object)
    );
    assert_eq!(got.descriptor[..8], [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!((got.dispatch_id, got.packet_va), (1, queue.slot(1)));
    assert_eq!(got.queue_va, queue.block_va());
    assert_eq!(
        got.scratch.resource_descriptor,
        [0x1111_1111, 0x2222_2222, 0x3333_3333, 0x4444_4444]
    );
    assert_eq!(got.scratch.backing_location, 0x7_0000_0000);
    assert!(!got.cooperative);
}

#[test]
fn sizes_of_unused_dimensions_do_not_count() {
    let (gpu, log) = recording();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    let mut packet = kernel(&gpu, signal.va);
    packet.grid_size = [256, 0, 99];
    packet.workgroup_size = [64, 0, 99];
    queue.push(&packet.encode(Header::new(2, true, 2, 2)));
    signal.wait(0);
    let log = log.lock().unwrap();
    assert_eq!((log[0].grid, log[0].workgroup), ([256, 1, 1], [64, 1, 1]));
}

#[test]
fn queue_of_type_2_is_cooperative() {
    let (gpu, log) = recording();
    let queue = TestQueue::new(&gpu);
    queue
        .block()
        .hsa_queue
        .queue_type
        .store(2, Ordering::Relaxed);
    let signal = gpu.signal(1, 0);
    queue.dispatch(signal.va);
    signal.wait(0);
    assert!(log.lock().unwrap()[0].cooperative);
}

#[test]
fn dispatches_of_one_queue_run_in_order_one_at_a_time() {
    let (gpu, log) = recording();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(200, 0);
    for _ in 0..200 {
        queue.dispatch(signal.va);
    }
    signal.wait(0);
    let ids: Vec<u64> = log.lock().unwrap().iter().map(|d| d.dispatch_id).collect();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
}
