//! Queues: creation, barriers, errors, destruction.

use crate::{Open, open_files, read, threads, write};
use amdgpu_abi::aql::{Barrier, Header, Packet, packet_type};
use hsa_core::queue::{Priority, QueueType, lookup};
use hsa_core::signal::{Condition, WaitHint};
use hsa_core::{Agent, Error, Queue, Signal};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

fn queue(rt: &Open, agent: &Agent, packets: u32) -> Queue {
    rt.create_queue(agent, packets, QueueType::Multi, None, u32::MAX, u32::MAX)
        .unwrap()
}

fn doorbell(queue: Queue) -> Signal {
    let handle = u64::from_le_bytes(read(queue.handle() + 0x10, 8).try_into().unwrap());
    hsa_core::signal::lookup(handle).unwrap()
}

/// Writes a packet as applications do: body first, header last, then the doorbell.
fn publish(queue: Queue, packet: &Packet) {
    let index = queue.add_write_index(1, Ordering::AcqRel);
    let base = u64::from_le_bytes(read(queue.handle() + 8, 8).try_into().unwrap());
    let size = u64::from(u32::from_le_bytes(
        read(queue.handle() + 0x18, 4).try_into().unwrap(),
    ));
    while index - queue.load_read_index(Ordering::Acquire) >= size {
        thread::yield_now();
    }
    let slot = base + index % size * 64;
    write(slot + 2, &packet.0[2..]);
    let header = std::ptr::with_exposed_provenance::<AtomicU16>(usize::try_from(slot).unwrap());
    // SAFETY: the slot lies in the queue's ring.
    unsafe { &*header }.store(packet.header().0, Ordering::Release);
    doorbell(queue).store(index.cast_signed(), Ordering::Release);
}

fn barrier_and(deps: &[Signal], completion: Signal) -> Packet {
    let mut dep_signals = [0; 5];
    for (to, from) in dep_signals.iter_mut().zip(deps) {
        *to = from.handle();
    }
    let barrier = Barrier {
        dep_signals,
        completion_signal: completion.handle(),
    };
    barrier.encode(Header::new(packet_type::BARRIER_AND, true, 2, 2))
}

fn wait_zero(signal: Signal) {
    let value = signal.wait(
        Condition::Lt,
        1,
        u64::MAX,
        WaitHint::Blocked,
        Ordering::Acquire,
    );
    assert_eq!(value, 0);
}

/// Publishes a packet when its thread ends.
struct AtThreadEnd(Cell<Option<(Queue, Signal)>>);

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        if let Some((queue, done)) = self.0.take() {
            publish(queue, &barrier_and(&[], done));
        }
    }
}

thread_local! {
    static AT_THREAD_END: AtThreadEnd = const { AtThreadEnd(Cell::new(None)) };
}

/// Destructors of a thread run in the order opposite to first use, so the library's own state of
/// the thread is gone when this one's packet comes. Exit handlers of a program are in the same place.
#[test]
fn a_thread_that_ends_may_still_submit() {
    let rt = Open::new("gfx90a");
    let queue = queue(&rt, rt.gpu(0), 64);
    let [first, last] = [(); 2].map(|()| rt.create_signal(1, &[], 0).unwrap());
    let thread = thread::spawn(move || {
        AT_THREAD_END.with(|end| end.0.set(Some((queue, last))));
        publish(queue, &barrier_and(&[], first));
        wait_zero(first);
        // A queue that is awake finds packets without being rung.
        thread::sleep(Duration::from_millis(50));
    });
    thread.join().unwrap();
    let five_seconds = 5_000_000_000;
    let hint = WaitHint::Blocked;
    let value = last.wait(Condition::Lt, 1, five_seconds, hint, Ordering::Acquire);
    assert_eq!(value, 0, "the packet was not seen");
    queue.destroy().unwrap();
}

#[test]
fn a_queue_shows_what_applications_read() {
    let rt = Open::new("gfx90a");
    let queue = queue(&rt, rt.gpu(0), 4096);
    assert_eq!(lookup(queue.handle()), Some(queue));
    let at = |offset: u64, bytes| read(queue.handle() + offset, bytes);
    assert_eq!(at(0x18, 4), 4096_u32.to_le_bytes());
    assert_eq!(at(4, 4), 1_u32.to_le_bytes(), "kernel dispatch");
    // Apertures of gfx9: LDS at 1 << 48, scratch at 2 << 48.
    assert_eq!(at(0x40, 8), [0, 0, 1, 0, 0, 0, 2, 0]);
    assert_eq!(at(0x88, 4), 0x80_u32.to_le_bytes());
    assert!(doorbell(queue).is_doorbell());
    assert_eq!(
        doorbell(queue).destroy().unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(queue.info().unwrap().agent, rt.gpu(0).handle());
    assert_eq!(
        (
            queue.load_read_index(Ordering::Acquire),
            queue.load_write_index(Ordering::Acquire)
        ),
        (0, 0)
    );
    queue.destroy().unwrap();
    assert_eq!(lookup(queue.handle()), None);
    assert_eq!(queue.destroy().unwrap_err(), Error::InvalidQueue);
}

#[test]
fn bad_queue_requests_are_refused() {
    let rt = Open::new("gfx1030");
    let create =
        |agent: &Agent, size, kind| rt.create_queue(agent, size, kind, None, 0, 0).map(drop);
    let gpu = rt.gpu(0);
    assert_eq!(
        create(gpu, 0, QueueType::Multi).unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(
        create(gpu, 100, QueueType::Multi).unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(
        create(gpu, 32, QueueType::Multi).unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(
        create(gpu, 1 << 18, QueueType::Multi).unwrap_err(),
        Error::OutOfResources
    );
    assert_eq!(
        create(rt.cpu(), 1024, QueueType::Multi).unwrap_err(),
        Error::InvalidQueueCreation
    );
    if !gpu.cooperative_queues {
        assert_eq!(
            create(gpu, 1024, QueueType::Cooperative).unwrap_err(),
            Error::InvalidQueueCreation
        );
    }
}

#[test]
fn barriers_complete_in_order_and_wait_for_their_signals() {
    let rt = Open::new("gfx90a");
    let queue = queue(&rt, rt.gpu(0), 64);
    let gate = rt.create_signal(1, &[], 0).unwrap();
    let (first, second) = (
        rt.create_signal(1, &[], 0).unwrap(),
        rt.create_signal(1, &[], 0).unwrap(),
    );
    publish(queue, &barrier_and(&[gate], first));
    publish(queue, &barrier_and(&[], second));
    thread::sleep(Duration::from_millis(10));
    assert_eq!(
        (
            first.load(Ordering::Acquire),
            second.load(Ordering::Acquire)
        ),
        (1, 1)
    );
    gate.store(0, Ordering::Release);
    wait_zero(second);
    assert_eq!(first.load(Ordering::Acquire), 0);
    for _ in 0..500 {
        first.silent_store(1, Ordering::Relaxed);
        publish(queue, &barrier_and(&[], first));
        wait_zero(first);
    }
}

#[test]
fn polled_and_interrupt_signals_are_completed_by_the_device() {
    let rt = Open::new("gfx1030");
    let queue = queue(&rt, rt.gpu(0), 256);
    for consumers in [&[][..], &[rt.gpu(0)][..]] {
        for pause in [0, 300] {
            let gate = rt.create_signal(1, consumers, 0).unwrap();
            let done = rt.create_signal(1, consumers, 0).unwrap();
            publish(queue, &barrier_and(&[gate], done));
            let opener = thread::spawn(move || {
                thread::sleep(Duration::from_micros(pause));
                gate.subtract(1, Ordering::AcqRel);
            });
            wait_zero(done);
            opener.join().unwrap();
        }
    }
}

#[test]
fn queues_of_many_threads_do_not_block_each_other() {
    let rt = Open::new("gfx90a");
    let runtime = rt.0;
    let gpu = rt.gpu(0);
    let blocked = queue(&rt, gpu, 64);
    let (gate, end) = (
        rt.create_signal(1, &[], 0).unwrap(),
        rt.create_signal(1, &[], 0).unwrap(),
    );
    publish(blocked, &barrier_and(&[gate], end));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                let queue = runtime
                    .create_queue(gpu, 64, QueueType::Multi, None, 0, 0)
                    .unwrap();
                for _ in 0..200 {
                    let s = runtime.create_signal(1, &[], 0).unwrap();
                    publish(queue, &barrier_and(&[], s));
                    wait_zero(s);
                    s.destroy().unwrap();
                }
                queue.destroy().unwrap();
            })
        })
        .collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
    assert_eq!(end.load(Ordering::Acquire), 1);
    gate.store(0, Ordering::Release);
    wait_zero(end);
}

fn failing_queue(rt: &Open) -> (Queue, Receiver<(Error, u64)>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let callback = move |error, queue| {
        let _ = tell.lock().unwrap().send((error, queue));
    };
    let queue = rt
        .create_queue(
            rt.gpu(0),
            64,
            QueueType::Multi,
            Some(Box::new(callback)),
            0,
            0,
        )
        .unwrap();
    (queue, told)
}

#[test]
fn an_invalid_packet_calls_the_error_callback_once() {
    let rt = Open::new("gfx90a");
    let (queue, told) = failing_queue(&rt);
    let mut packet = Packet::zeroed();
    packet.set_u16(0, Header::new(77, true, 0, 0).0);
    publish(queue, &packet);
    let (error, handle) = told.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(
        (error, handle),
        (Error::InvalidPacketFormat, queue.handle())
    );
    assert!(
        told.recv_timeout(Duration::from_millis(50)).is_err(),
        "called twice"
    );
    queue.destroy().unwrap();
    let (next, _told) = failing_queue(&rt);
    let s = rt.create_signal(1, &[], 0).unwrap();
    publish(next, &barrier_and(&[], s));
    wait_zero(s);
}

#[test]
fn bad_dispatches_map_to_their_statuses() {
    use amdgpu_abi::aql::KernelDispatch;
    let rt = Open::new("gfx90a");
    let good = KernelDispatch {
        setup: 1,
        workgroup_size: [64, 1, 1],
        grid_size: [64, 1, 1],
        ..KernelDispatch::default()
    };
    let cases = [
        (
            KernelDispatch {
                grid_size: [0, 1, 1],
                ..good
            },
            Error::IncompatibleArguments,
        ),
        (
            KernelDispatch {
                group_segment_size: 1 << 20,
                ..good
            },
            Error::InvalidAllocation,
        ),
        (
            KernelDispatch {
                kernel_object: 0,
                ..good
            },
            Error::InvalidCodeObject,
        ),
    ];
    for (dispatch, expected) in cases {
        let (queue, told) = failing_queue(&rt);
        let packet = dispatch.encode(Header::new(packet_type::KERNEL_DISPATCH, true, 2, 2));
        publish(queue, &packet);
        let (error, _) = told.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(error, expected, "{dispatch:?}");
        queue.destroy().unwrap();
    }
}

#[test]
fn queues_come_and_go_without_leaving_anything() {
    let rt = Open::new("gfx90a");
    let gpu = rt.gpu(0);
    let cycle = || {
        let queue = queue(&rt, gpu, 64);
        let s = rt.create_signal(1, &[], 0).unwrap();
        publish(queue, &barrier_and(&[], s));
        wait_zero(s);
        queue.destroy().unwrap();
        s.destroy().unwrap();
    };
    (0..20).for_each(|_| cycle());
    thread::sleep(Duration::from_millis(50));
    let before = (open_files(), threads(), rt.signals_in_use());
    (0..300).for_each(|_| cycle());
    thread::sleep(Duration::from_millis(50));
    let after = (open_files(), threads(), rt.signals_in_use());
    assert!(
        after.0 <= before.0 && after.1 <= before.1 && after.2 <= before.2,
        "{before:?} {after:?}"
    );
}

#[test]
fn a_queue_with_a_blocked_packet_can_be_destroyed() {
    let rt = Open::new("gfx1030");
    let queue = queue(&rt, rt.gpu(0), 64);
    let (gate, end) = (
        rt.create_signal(1, &[], 0).unwrap(),
        rt.create_signal(1, &[], 0).unwrap(),
    );
    publish(queue, &barrier_and(&[gate], end));
    thread::sleep(Duration::from_millis(5));
    queue.destroy().unwrap();
    gate.store(0, Ordering::Release);
    thread::sleep(Duration::from_millis(5));
    assert_eq!(end.load(Ordering::Acquire), 1);
}

#[test]
fn an_inactivated_queue_processes_nothing_more() {
    let rt = Open::new("gfx1030");
    let queue = queue(&rt, rt.gpu(0), 64);
    let s = rt.create_signal(1, &[], 0).unwrap();
    queue.inactivate().unwrap();
    publish_without_waiting(queue, &barrier_and(&[], s));
    thread::sleep(Duration::from_millis(20));
    assert_eq!(s.load(Ordering::Acquire), 1);
    queue.inactivate().unwrap();
    queue.destroy().unwrap();
}

fn publish_without_waiting(queue: Queue, packet: &Packet) {
    publish(queue, packet);
}

#[test]
fn masks_priorities_and_profiling_can_be_set() {
    let rt = Open::new("gfx90a");
    let queue = queue(&rt, rt.gpu(0), 64);
    assert_eq!(
        queue.cu_mask().unwrap(),
        [u32::MAX, u32::MAX, u32::MAX, 0xff]
    );
    queue.set_cu_mask(&[0xff, 0]).unwrap();
    assert_eq!(queue.cu_mask().unwrap(), [0xff, 0, 0, 0]);
    assert_eq!(
        queue.set_cu_mask(&[1, 0, 0, 0xffff]).unwrap_err(),
        Error::CuMaskReduced
    );
    assert_eq!(queue.cu_mask().unwrap(), [1, 0, 0, 0xff]);
    queue.set_cu_mask(&[]).unwrap();
    for priority in [Priority::Low, Priority::High, Priority::Normal] {
        queue.set_priority(priority).unwrap();
    }
    let properties = || u32::from_le_bytes(read(queue.handle() + 0xb4, 4).try_into().unwrap());
    queue.set_profiling(true).unwrap();
    assert_eq!(properties() & 8, 8);
    let s = rt.create_signal(1, &[], 0).unwrap();
    publish(queue, &barrier_and(&[], s));
    wait_zero(s);
    queue.set_profiling(false).unwrap();
    assert_eq!(properties() & 8, 0);
}

#[test]
fn a_soft_queue_is_served_by_the_application() {
    let rt = Open::new("gfx1030");
    let region = rt.pool(rt.cpu(), hsa_core::pool::PoolKind::SystemFine);
    let bell = rt.create_signal(-1, &[], 0).unwrap();
    let queue = rt
        .create_soft_queue(region, 16, QueueType::Multi, 2, bell)
        .unwrap();
    assert_eq!(lookup(queue.handle()), Some(queue));
    assert_eq!(queue.add_write_index(3, Ordering::Relaxed), 0);
    assert_eq!(queue.cas_write_index(3, 5, Ordering::AcqRel), 3);
    queue.store_read_index(5, Ordering::Release);
    assert_eq!(
        (
            queue.load_write_index(Ordering::Acquire),
            queue.load_read_index(Ordering::Acquire)
        ),
        (5, 5)
    );
    assert_eq!(queue.set_cu_mask(&[1]).unwrap_err(), Error::InvalidQueue);
    queue.destroy().unwrap();
    let bad = rt.create_soft_queue(region, 15, QueueType::Multi, 2, bell);
    assert_eq!(bad.unwrap_err(), Error::InvalidArgument);
}

#[test]
fn cooperative_queues_are_one_shared_queue() {
    let rt = Open::new("gfx90a");
    let gpu = rt.gpu(0);
    assert!(gpu.cooperative_queues);
    let make = || {
        rt.create_queue(gpu, 1024, QueueType::Cooperative, None, 0, 0)
            .unwrap()
    };
    let (a, b) = (make(), make());
    assert_eq!(a, b);
    a.destroy().unwrap();
    let s = rt.create_signal(1, &[], 0).unwrap();
    publish(b, &barrier_and(&[], s));
    wait_zero(s);
    b.destroy().unwrap();
    assert_eq!(lookup(b.handle()), None);
    make().destroy().unwrap();
}
