//! Arbitrary bytes in rings: a queue may stop, but nothing panics and nothing outside the mapped
//! memory is touched (the test would crash).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use amdgpu_abi::aql::Packet;
use vkfd::queue::{Doorbell, DoorbellCell, QueueDesc, QueueKind};
use vkfd::scheduler::{self, Host};

use crate::gpu::{RANGE, TestDoorbell, TestGpu, TestQueue, bytes, cell, eventually};
use amdgpu_exec::Range;

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next() as usize % choices.len()]
    }
}

/// Addresses that a packet may find interesting.
fn addresses(gpu: &TestGpu) -> Vec<u64> {
    let good = gpu.alloc(8192);
    let client = gpu.alloc_as(8192, RANGE);
    let read_only = gpu.alloc_as(
        4096,
        Range {
            writable: false,
            stable: true,
            ..RANGE
        },
    );
    let edges = [
        0,
        1,
        0x40,
        good + 8190,
        client + 8100,
        u64::MAX,
        u64::MAX - 7,
        1 << 47,
    ];
    [
        &[good, good + 64, good + 4096, client, client + 8, read_only][..],
        &edges,
    ]
    .concat()
}

#[test]
fn arbitrary_aql_packets_stop_their_queue_at_worst() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let gpu = TestGpu::new();
    let addresses = addresses(&gpu);
    for _ in 0..400 {
        let mut packet = Packet::zeroed();
        for at in (0..64).step_by(8) {
            let word = random.next();
            packet.set_u64(at, random.one_of(&[word, word & 0xff, 0]));
        }
        for at in [8, 32, 40, 56] {
            packet.set_u64(at, random.one_of(&addresses));
        }
        packet.0[0] = random.one_of(&[0, 2, 3, 4, 5, 6, 255]);
        packet.0[2] = random.one_of(&[0, 1, 2, 3]);
        let queue = TestQueue::new(&gpu);
        queue.push(&packet);
        eventually(|| !queue.running.is_busy() || queue.read_index() == 1);
        queue.running.stop();
    }
    assert!(!gpu.report().contains("internal error"), "{}", gpu.report());
}

#[test]
fn arbitrary_sdma_dwords_stop_their_queue_at_worst() {
    let mut random = Random(0xfeed_5678_9abc_def1);
    let gpu = TestGpu::new();
    let addresses = addresses(&gpu);
    for round in 0..400 {
        let (ring, pointers) = (gpu.alloc(4096), gpu.alloc(4096));
        for at in (0..4096).step_by(8) {
            let (word, address) = (random.next(), random.one_of(&addresses));
            let word = random.one_of(&[word, word & 0xffff_0000_ffff, address]);
            cell(ring + at).store(word, Ordering::Relaxed);
        }
        bytes(ring, 2)[0] = random.one_of(&[0, 1, 2, 4, 5, 6, 8, 10, 11, 13, 17, 99]);
        bytes(ring, 2)[1] = random.one_of(&[0, 0, 2, 4, 8]);
        // Addresses at odd dwords, where most packets have them.
        for at in [4, 12, 20] {
            let address = random.one_of(&addresses);
            bytes(ring + at, 8).copy_from_slice(&address.to_le_bytes());
        }
        let desc = QueueDesc {
            queue_id: round,
            kind: QueueKind::Sdma,
            ring_va: ring,
            ring_bytes: 4096,
            rptr_va: pointers + 16,
            wptr_va: pointers + 8,
            doorbell: Doorbell(Arc::new(TestDoorbell::default()) as Arc<dyn DoorbellCell>),
        };
        let queue = scheduler::start(desc, Arc::clone(&gpu) as Arc<dyn Host>).unwrap();
        cell(pointers + 8).store(4096, Ordering::Release);
        queue.wake();
        eventually(|| !queue.is_busy());
        queue.stop();
    }
    assert!(!gpu.report().contains("internal error"), "{}", gpu.report());
}

#[test]
fn rings_at_the_end_of_the_address_space_fault() {
    for kind in [QueueKind::Aql, QueueKind::Sdma] {
        for (ring_va, ring_bytes) in [(u64::MAX - 63, 4096), (0, 0), (1 << 40, 1)] {
            let gpu = TestGpu::new();
            let pointers = gpu.alloc(4096);
            let desc = QueueDesc {
                queue_id: 0,
                kind,
                ring_va,
                ring_bytes,
                rptr_va: pointers,
                wptr_va: pointers + 8,
                doorbell: Doorbell(Arc::new(TestDoorbell::default()) as Arc<dyn DoorbellCell>),
            };
            cell(pointers + 8).store(64, Ordering::Release);
            let queue = scheduler::start(desc, Arc::clone(&gpu) as Arc<dyn Host>).unwrap();
            eventually(|| !queue.is_busy());
            assert!(!gpu.report().contains("internal error"), "{}", gpu.report());
        }
    }
}
