//! Queues, with packets of both kinds.

use crate::harness::{GPU, OTHER_GPU, on_both, open, read, resources, shared, write};
use amdgpu_abi::aql::{Barrier, Header, packet_type};
use amdgpu_abi::sdma::{FillSize, Generation, encode};
use amdgpu_abi::signal::{AmdSignal, kind};
use hsakmt::{
    Error, Event, EventKind, GpuVa, HostPtr, Kfd, MemoryKind, MemoryObject, NodeId, Queue,
    QueueKind, QueueRequest, WaitStatus,
};
use hsakmt_sys::{Errno, Kernel};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

on_both! { "gfx90a*2":
    sdma_fills_and_copies_between_gpus
    sdma_reaches_user_memory_by_its_gpu_address
    a_barrier_packet_completes_its_signal_and_wakes_the_event
    the_hundred_and_twenty_eighth_queue_is_refused
    a_bad_compute_unit_mask_is_refused
    a_fault_names_gpu_and_address;
    alone: two_hundred_queues_leave_nothing_behind
}

mod navi {
    use super::{
        a_barrier_packet_completes_its_signal_and_wakes_the_event,
        sdma_reaches_user_memory_by_its_gpu_address,
    };
    crate::harness::on_both! { "gfx1030":
        a_barrier_packet_completes_its_signal_and_wakes_the_event
        sdma_reaches_user_memory_by_its_gpu_address
    }
}

/// Long enough for any machine, short enough for a test that fails.
const PATIENCE_MS: u32 = 60_000;

/// A queue with its ring and pointers.
struct Rig {
    /// Dropped first: it reads the memory below.
    queue: Queue,
    ring: MemoryObject,
    pointers: MemoryObject,
    generation: Generation,
    written: u64,
}

/// Bytes of every ring here.
const RING_BYTES: u32 = 65536;
/// Offsets of write and read index in an `amd_queue_t`, and of the field that tells the latter.
const WRITE_INDEX: usize = 0x38;
const READ_INDEX: usize = 0x80;
const READ_INDEX_OFFSET_FIELD: usize = 0x88;

impl Rig {
    fn new(kfd: &Arc<Kfd>, node: NodeId, queue_kind: QueueKind) -> Self {
        let ring = shared(kfd, node, MemoryKind::System, RING_BYTES.into());
        let pointers = shared(kfd, node, MemoryKind::System, 4096);
        write(&pointers, READ_INDEX_OFFSET_FIELD / 4, 0x80);
        if queue_kind == QueueKind::Aql {
            let invalid = u32::from(packet_type::INVALID);
            (0..RING_BYTES as usize / 64).for_each(|slot| write(&ring, 16 * slot, invalid));
        }
        let queue = kfd
            .create_queue(&request(node, queue_kind, &ring, &pointers))
            .unwrap();
        let gfx = kfd.topology().node(node).unwrap().gfx();
        let [major, minor, stepping] =
            [gfx.major, gfx.minor, gfx.stepping].map(|part| u8::try_from(part).unwrap());
        let generation = Generation::of_gfx(major, minor, stepping);
        Self {
            queue,
            ring,
            pointers,
            generation,
            written: 0,
        }
    }

    /// Writes SDMA packets and rings.
    fn submit(&mut self, words: &[u32]) {
        for word in words {
            write(
                &self.ring,
                usize::try_from(self.written / 4).unwrap(),
                *word,
            );
            self.written += 4;
        }
        self.publish();
        self.queue.ring(self.written);
    }

    fn publish(&self) {
        let [low, high] =
            [self.written, self.written >> 32].map(|w| u32::try_from(w & 0xffff_ffff).unwrap());
        write(&self.pointers, WRITE_INDEX / 4, low);
        write(&self.pointers, WRITE_INDEX / 4 + 1, high);
    }

    /// Writes one AQL packet, header last, and rings.
    fn submit_barrier(&mut self, barrier: &Barrier) {
        let header = Header::new(packet_type::BARRIER_AND, true, 2, 2);
        let packet = barrier.encode(header);
        let slot = 16 * usize::try_from(self.written).unwrap();
        (1..16).for_each(|word| write(&self.ring, slot + word, packet.u32_at(4 * word)));
        let at = self.ring.host_ptr().unwrap().add(4 * slot).as_ptr::<u16>();
        // SAFETY: the packet's header, within the ring and aligned.
        unsafe { AtomicU16::from_ptr(at) }.store(header.0, Ordering::Release);
        self.written += 1;
        self.publish();
        self.queue.ring(self.written - 1);
    }
}

fn request(
    node: NodeId,
    kind: QueueKind,
    ring: &MemoryObject,
    pointers: &MemoryObject,
) -> QueueRequest {
    QueueRequest {
        node,
        kind,
        ring: ring.gpu_va(),
        ring_bytes: RING_BYTES,
        read_ptr: pointers.gpu_va().add(READ_INDEX as u64),
        write_ptr: pointers.gpu_va().add(WRITE_INDEX as u64),
        priority: 7,
        percentage: 100,
    }
}

/// Fence and interrupt at the end of SDMA work.
fn finish(event: &Event) -> Vec<u32> {
    let mailbox = event.mailbox().unwrap().get();
    [
        encode::fence(mailbox, event.id()).to_vec(),
        encode::trap(event.id()).to_vec(),
    ]
    .concat()
}

fn wait(kfd: &Kfd, event: &Event) {
    let result = kfd
        .wait_events(&[event], &mut [], true, PATIENCE_MS)
        .unwrap();
    assert_eq!(result.status, WaitStatus::Complete);
}

/// Copies by SDMA and waits for it.
pub(crate) fn copy(kfd: &Arc<Kfd>, node: NodeId, from: GpuVa, to: GpuVa, bytes: u64) {
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    let mut rig = Rig::new(kfd, node, QueueKind::Sdma);
    let copy = encode::copy_linear(rig.generation, from.get(), to.get(), bytes);
    rig.submit(&[copy.to_vec(), finish(&event)].concat());
    wait(kfd, &event);
}

fn sdma_fills_and_copies_between_gpus(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let source = shared(&kfd, GPU, MemoryKind::Vram, 1 << 20);
    let target = shared(&kfd, OTHER_GPU, MemoryKind::Vram, 1 << 20);
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    let mut rig = Rig::new(&kfd, GPU, QueueKind::Sdma);
    let (from, to) = (source.gpu_va().get(), target.gpu_va().get());
    let fill = encode::fill(rig.generation, from, 0xa5a5_0001, FillSize::Dword, 1 << 20);
    let copy = encode::copy_linear(rig.generation, from, to, 1 << 20);
    rig.submit(&[fill.to_vec(), copy.to_vec(), finish(&event)].concat());
    wait(&kfd, &event);
    for index in [0, 1, 12345, (1 << 18) - 1] {
        assert_eq!(read(&target, index), 0xa5a5_0001);
    }
}

fn sdma_reaches_user_memory_by_its_gpu_address(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let words: Vec<u32> = (0..4096).collect();
    let start = HostPtr::from_ptr(words.as_ptr());
    let registered = kfd.register_user_memory(start, 16384, true).unwrap();
    registered.map(&[GPU]).unwrap();
    let target = shared(&kfd, GPU, MemoryKind::Vram, 16384);
    let from = registered.gpu_va().add(start.addr() as u64 % 4096);
    copy(&kfd, GPU, from, target.gpu_va(), 16384);
    assert!((0..4096).all(|index| read(&target, index) as usize == index));
}

fn signal_in(memory: &MemoryObject) -> &AmdSignal {
    let at = memory.host_ptr().unwrap().as_ptr::<AmdSignal>();
    // SAFETY: the object is larger and aligned, zero is a value, and all fields are atomics.
    unsafe { &*at }
}

fn a_barrier_packet_completes_its_signal_and_wakes_the_event(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    let memory = shared(&kfd, GPU, MemoryKind::System, 4096);
    let signal = signal_in(&memory);
    signal.kind.store(kind::USER, Ordering::Relaxed);
    signal
        .event_mailbox_ptr
        .store(event.mailbox().unwrap().get(), Ordering::Relaxed);
    signal.event_id.store(event.id(), Ordering::Relaxed);
    let mut rig = Rig::new(&kfd, GPU, QueueKind::Aql);
    for round in 0..50 {
        signal.value.store(1, Ordering::Release);
        let completion_signal = memory.gpu_va().get();
        rig.submit_barrier(&Barrier {
            completion_signal,
            ..Barrier::default()
        });
        // A wake-up without a new value is allowed; a value without a wake-up is not.
        while signal.value.load(Ordering::Acquire) != 0 {
            wait(&kfd, &event);
        }
        assert_eq!(read(&rig.pointers, READ_INDEX / 4), round + 1);
    }
}

fn two_hundred_queues_leave_nothing_behind(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let round = || {
        drop(Rig::new(&kfd, GPU, QueueKind::Aql));
        drop(Rig::new(&kfd, GPU, QueueKind::Sdma));
    };
    round();
    let before = resources();
    let free = kfd.available_vram(GPU).unwrap();
    (0..100).for_each(|_| round());
    let after = resources();
    assert_eq!(before.0, after.0, "descriptors");
    assert!(after.1 <= before.1 + 8, "mappings: {before:?} {after:?}");
    assert_eq!(kfd.available_vram(GPU).unwrap(), free);
}

/// 127 queues of a process and device (kfd-contract, a.4, CREATE_QUEUE).
fn the_hundred_and_twenty_eighth_queue_is_refused(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let ring = shared(&kfd, GPU, MemoryKind::System, RING_BYTES.into());
    let pointers = shared(&kfd, GPU, MemoryKind::System, 4096);
    let wish = request(GPU, QueueKind::Aql, &ring, &pointers);
    let queues: Vec<_> = (0..127).map(|_| kfd.create_queue(&wish).unwrap()).collect();
    let error = kfd.create_queue(&wish).unwrap_err();
    assert_eq!(error.errno(), Some(Errno(libc::ENOSPC)), "{error}");
    drop(queues);
    assert!(kfd.create_queue(&wish).is_ok());
}

fn a_bad_compute_unit_mask_is_refused(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let rig = Rig::new(&kfd, GPU, QueueKind::Aql);
    assert!(rig.queue.set_cu_mask(&[]).is_err());
    rig.queue.set_cu_mask(&[0xffff_ffff; 4]).unwrap();
    assert!(
        rig.queue
            .update(rig.ring.gpu_va(), RING_BYTES, 101, 7)
            .is_err()
    );
    rig.queue
        .update(rig.ring.gpu_va(), RING_BYTES, 0, 7)
        .unwrap();
}

fn a_fault_names_gpu_and_address(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let fault = kfd.create_event(EventKind::Memory, false).unwrap();
    let target = shared(&kfd, GPU, MemoryKind::System, 4096);
    let secret = kfd
        .allocate(&hsakmt::AllocRequest {
            node: OTHER_GPU,
            size_bytes: 4096,
            alignment: 0,
            kind: MemoryKind::Vram,
            flags: hsakmt::AllocFlags::HOST_ACCESS,
        })
        .unwrap();
    secret.map(&[OTHER_GPU]).unwrap();
    let mut rig = Rig::new(&kfd, GPU, QueueKind::Sdma);
    let (from, to) = (secret.gpu_va().get(), target.gpu_va().get());
    rig.submit(&encode::copy_linear(rig.generation, from, to, 64));
    let result = kfd
        .wait_events(&[&fault], &mut [], true, PATIENCE_MS)
        .unwrap();
    assert_eq!(result.status, WaitStatus::Complete);
    let [(0, hsakmt::Exception::Memory(exception))] = result.exceptions.as_slice() else {
        panic!("{:?}", result.exceptions);
    };
    assert_eq!(exception.node, Some(GPU));
    assert_eq!(exception.va.get() & !4095, from);
    assert!(exception.not_present);
    assert!(!matches!(kfd.available_vram(GPU), Err(Error::Ioctl { .. })));
}
