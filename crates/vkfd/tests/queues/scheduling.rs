//! Threads of queues: sleep, wake, pause, stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use amdgpu_exec::{Outcome, Stats, Stop, WaveLocation};
use vkfd::scheduler;

use crate::gpu::{TestGpu, TestQueue, eventually, never};

/// Waits until the queue's thread sleeps (its doorbell is armed and it looked once more).
fn asleep(queue: &TestQueue) {
    eventually(|| !queue.running.is_busy());
    std::thread::sleep(Duration::from_millis(5));
}

#[test]
fn idle_queue_never_wakes_up() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    queue.dispatch(signal.va);
    signal.wait(0);
    asleep(&queue);
    let before = queue.running.wakeups();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(queue.running.wakeups(), before);
    // Completions elsewhere are no reason to wake an idle queue either.
    scheduler::notify_waiting();
    let other = TestQueue::new(&gpu);
    other.dispatch(0);
    eventually(|| other.read_index() == 1);
    assert_eq!(queue.running.wakeups(), before);
}

#[test]
fn sleeping_queue_wakes_once_per_doorbell_and_arms_it_again() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    for round in 1..=5 {
        asleep(&queue);
        assert_eq!(queue.doorbell.armed.load(Ordering::SeqCst), round);
        assert_eq!(queue.running.wakeups(), round - 1);
        let signal = gpu.signal(1, 0);
        queue.dispatch(signal.va);
        signal.wait(0);
    }
}

#[test]
fn plain_doorbell_store_is_seen_while_the_queue_is_busy() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    // The store races with the thread's way to sleep; the announced look must find the packet.
    for _ in 0..1000 {
        signal.set(1);
        queue.barrier(0, signal.va);
        signal.wait(0);
    }
}

#[test]
fn waiting_queue_slows_down_instead_of_spinning() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (dep, done) = (gpu.signal(1, 0), gpu.signal(1, 0));
    queue.barrier(dep.va, done.va);
    std::thread::sleep(Duration::from_millis(100));
    let before = queue.running.wakeups();
    std::thread::sleep(Duration::from_millis(300));
    let naps = queue.running.wakeups() - before;
    assert!(
        naps <= 310,
        "naps of a millisecond allow at most 300 in 300 ms, got {naps}"
    );
    dep.set(0);
    done.wait(0);
}

#[test]
fn two_queues_that_wait_for_each_other_in_turn_make_progress() {
    let gpu = TestGpu::new();
    let (a, b) = (TestQueue::new(&gpu), TestQueue::new(&gpu));
    let start = gpu.signal(1, 0);
    let mut last = start;
    for _ in 0..50 {
        let (x, y) = (gpu.signal(1, 0), gpu.signal(1, 0));
        a.barrier(last.va, x.va);
        b.barrier(x.va, y.va);
        last = y;
    }
    start.set(0);
    scheduler::notify_waiting();
    last.wait(0);
}

#[test]
fn waiting_queue_does_not_hold_up_another() {
    let gpu = TestGpu::new();
    let (stuck, free) = (TestQueue::new(&gpu), TestQueue::new(&gpu));
    let (dep, done) = (gpu.signal(1, 0), gpu.signal(100, 0));
    stuck.barrier(dep.va, 0);
    for _ in 0..100 {
        free.dispatch(done.va);
    }
    done.wait(0);
    assert_eq!(stuck.read_index(), 0);
}

#[test]
fn stop_ends_a_waiting_queue_and_keeps_its_packets() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let dep = gpu.signal(1, 0);
    queue.barrier(dep.va, 0);
    asleep(&queue);
    queue.running.stop();
    queue.running.stop();
    dep.set(0);
    never(|| queue.read_index() != 0);
    assert!(gpu.report().is_empty());
}

#[test]
fn stop_cancels_running_waves_without_an_error() {
    let running = Arc::new(AtomicBool::new(false));
    let entered = Arc::clone(&running);
    let gpu = TestGpu::with_engine(move |_, _, device| {
        entered.store(true, Ordering::SeqCst);
        while !device.cancelled() {
            std::thread::yield_now();
        }
        Outcome::Stopped {
            stop: Stop::Killed,
            at: WaveLocation::default(),
        }
    });
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(1, 0);
    queue.dispatch(signal.va);
    eventually(|| running.load(Ordering::SeqCst));
    queue.running.stop();
    assert_eq!(
        (signal.get(), queue.inactive.get(), queue.read_index()),
        (1, 0, 0)
    );
    assert!(gpu.report().is_empty());
}

#[test]
fn paused_queue_takes_no_packet_until_it_is_active_again() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    queue.running.set_active(false);
    let signal = gpu.signal(1, 0);
    queue.dispatch(signal.va);
    never(|| signal.get() == 0);
    queue.running.set_active(true);
    signal.wait(0);
}

#[test]
fn pausing_waits_for_the_running_dispatch() {
    let (entered, finished) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (seen, done) = (Arc::clone(&entered), Arc::clone(&finished));
    let gpu = TestGpu::with_engine(move |_, _, _| {
        seen.store(true, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
        done.store(true, Ordering::SeqCst);
        Outcome::Complete(Stats::default())
    });
    let queue = TestQueue::new(&gpu);
    queue.dispatch(0);
    eventually(|| entered.load(Ordering::SeqCst));
    queue.running.set_active(false);
    assert!(finished.load(Ordering::SeqCst));
}

#[test]
fn waiting_queue_can_be_paused_and_continued() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (dep, done) = (gpu.signal(1, 0), gpu.signal(1, 0));
    queue.barrier(dep.va, done.va);
    asleep(&queue);
    queue.running.set_active(false);
    dep.set(0);
    never(|| done.get() == 0);
    queue.running.set_active(true);
    done.wait(0);
}

#[test]
fn stop_of_a_paused_queue_returns() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    queue.running.set_active(false);
    queue.running.stop();
    queue.running.set_active(true);
    queue.running.set_active(false);
}
