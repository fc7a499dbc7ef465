//! Index, header and doorbell order.

use amdgpu_abi::aql::{Header, packet_type};

use crate::gpu::{TestGpu, TestQueue, eventually, kernel, never};

fn packet(queue: &TestQueue, signal: u64) -> amdgpu_abi::aql::Packet {
    kernel(&queue.gpu, signal).encode(Header::new(packet_type::KERNEL_DISPATCH, true, 2, 2))
}

#[test]
fn ring_of_four_carries_a_thousand_packets() {
    let gpu = TestGpu::new();
    let queue = TestQueue::with_packets(&gpu, 4);
    let signal = gpu.signal(1000, 0);
    for _ in 0..1000 {
        queue.barrier(0, signal.va);
    }
    signal.wait(0);
    assert_eq!(queue.read_index(), 1000);
}

#[test]
fn reserved_slot_holds_back_later_packets_until_it_is_published() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (first, second) = (gpu.signal(1, 0), gpu.signal(1, 0));
    let (a, b) = (queue.reserve(), queue.reserve());
    queue.publish(b, &packet(&queue, second.va));
    queue.ring(b);
    never(|| second.get() == 0);
    queue.publish(a, &packet(&queue, first.va));
    queue.ring(a);
    first.wait(0);
    second.wait(0);
}

#[test]
fn smaller_doorbell_value_takes_no_work_back() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(3, 0);
    for _ in 0..3 {
        let index = queue.reserve();
        queue.publish(index, &packet(&queue, signal.va));
    }
    queue.ring(2);
    queue.ring(0);
    signal.wait(0);
}

#[test]
fn header_that_comes_after_its_doorbell_is_found() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    let index = queue.reserve();
    queue.ring(index);
    never(|| signal.get() == 0);
    queue.publish(index, &packet(&queue, signal.va));
    signal.wait(0);
}

#[test]
fn one_doorbell_covers_a_batch() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(40, 0);
    for _ in 0..40 {
        let index = queue.reserve();
        queue.publish(index, &packet(&queue, signal.va));
    }
    queue.ring(39);
    signal.wait(0);
}

#[test]
fn write_index_beyond_the_packets_is_no_packet() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    queue.reserve();
    queue.ring(u64::MAX);
    never(|| queue.read_index() != 0 || queue.inactive.get() != 0);
    let signal = gpu.signal(1, 0);
    queue.publish(0, &packet(&queue, signal.va));
    queue.ring(0);
    signal.wait(0);
    eventually(|| queue.read_index() == 1);
}

#[test]
fn many_producers_lose_no_packet() {
    let gpu = TestGpu::new();
    let queue = TestQueue::with_packets(&gpu, 16);
    let signal = gpu.signal(4 * 250, 0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..250 {
                    queue.barrier(0, signal.va);
                }
            });
        }
    });
    signal.wait(0);
    assert_eq!(queue.read_index(), 1000);
}
