//! Barrier packets.

use amdgpu_abi::aql::{Barrier, Header, Packet, packet_type, vendor};

use crate::gpu::{Signal, TestGpu, TestQueue, never};

fn barrier_or(deps: [u64; 5], completion_signal: u64) -> Packet {
    Barrier {
        dep_signals: deps,
        completion_signal,
    }
    .encode(Header::new(packet_type::BARRIER_OR, true, 2, 2))
}

fn barrier_value(signal: u64, value: i64, mask: i64, cond: u32, completion: u64) -> Packet {
    let mut p = Packet::zeroed();
    p.set_u16(0, Header::new(packet_type::VENDOR_SPECIFIC, true, 2, 2).0);
    p.0[2] = vendor::BARRIER_VALUE;
    p.set_u64(8, signal);
    p.set_u64(16, value.cast_unsigned());
    p.set_u64(24, mask.cast_unsigned());
    p.set_u32(32, cond);
    p.set_u64(56, completion);
    p
}

#[test]
fn and_waits_for_all_of_its_signals() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let deps: Vec<Signal> = (0..5).map(|_| gpu.signal(1, 0)).collect();
    let done = gpu.signal(1, 0);
    let handles: Vec<u64> = deps.iter().map(|dep| dep.va).collect();
    let barrier = Barrier {
        dep_signals: handles.try_into().unwrap(),
        completion_signal: done.va,
    };
    queue.push(&barrier.encode(Header::new(packet_type::BARRIER_AND, true, 2, 2)));
    for dep in &deps {
        never(|| done.get() == 0);
        dep.set(0);
    }
    done.wait(0);
}

#[test]
fn and_waits_through_all_values_but_zero() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (dep, done) = (gpu.signal(2, 0), gpu.signal(1, 0));
    queue.barrier(dep.va, done.va);
    for value in [1, -1, i64::MIN] {
        dep.set(value);
        never(|| done.get() == 0);
    }
    dep.set(0);
    done.wait(0);
}

#[test]
fn or_of_five_passes_only_when_one_fires_late() {
    let gpu = TestGpu::new();
    for late in 0..5 {
        let queue = TestQueue::new(&gpu);
        let deps: Vec<Signal> = (0..5).map(|_| gpu.signal(1, 0)).collect();
        let done = gpu.signal(1, 0);
        let handles: Vec<u64> = deps.iter().map(|dep| dep.va).collect();
        queue.push(&barrier_or(handles.try_into().unwrap(), done.va));
        never(|| done.get() == 0);
        deps[late].set(0);
        done.wait(0);
    }
}

#[test]
fn or_with_absent_entries_still_waits_for_the_one_it_has() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (dep, done) = (gpu.signal(1, 0), gpu.signal(1, 0));
    queue.push(&barrier_or([0, 0, dep.va, 0, 0], done.va));
    never(|| done.get() == 0);
    dep.set(0);
    done.wait(0);
}

#[test]
fn barriers_without_dependencies_pass() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let done = gpu.signal(2, 0);
    queue.barrier(0, done.va);
    queue.push(&barrier_or([0; 5], done.va));
    done.wait(0);
}

#[test]
fn packets_behind_a_waiting_barrier_wait_too() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (dep, done) = (gpu.signal(1, 0), gpu.signal(1, 0));
    queue.barrier(dep.va, 0);
    queue.dispatch(done.va);
    never(|| done.get() == 0);
    dep.set(0);
    done.wait(0);
}

#[test]
fn barrier_value_follows_mask_and_condition() {
    let gpu = TestGpu::new();
    // (signal, mask, condition, value): conditions 0 EQ, 1 NE, 2 LT, 3 GTE.
    let met = [
        (5, -1, 0, 5),
        (0x15, 0x0f, 0, 5),
        (5, -1, 1, 4),
        (0x15, 0x0f, 1, 0x15),
        (-3, -1, 2, -2),
        (0x1f, 0x07, 2, 8),
        (5, -1, 3, 5),
        (6, -1, 3, 5),
        (-1, i64::MIN, 0, i64::MIN),
    ];
    let unmet = [
        (5, -1, 0, 4),
        (0x15, 0x0f, 0, 0x15),
        (5, -1, 1, 5),
        (5, -1, 2, 5),
        (4, -1, 3, 5),
        (-1, -1, 3, 0),
    ];
    for (signal, mask, cond, value) in met {
        let queue = TestQueue::new(&gpu);
        let (dep, done) = (gpu.signal(signal, 0), gpu.signal(1, 0));
        queue.push(&barrier_value(dep.va, value, mask, cond, done.va));
        done.wait(0);
    }
    for (signal, mask, cond, value) in unmet {
        let queue = TestQueue::new(&gpu);
        let (dep, done) = (gpu.signal(signal, 0), gpu.signal(1, 0));
        queue.push(&barrier_value(dep.va, value, mask, cond, done.va));
        never(|| done.get() == 0);
    }
}

#[test]
fn barrier_value_without_signal_passes_in_order() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (dep, done) = (gpu.signal(1, 0), gpu.signal(1, 0));
    queue.barrier(dep.va, 0);
    queue.push(&barrier_value(0, 0, 0, 0, done.va));
    never(|| done.get() == 0);
    dep.set(0);
    done.wait(0);
}

#[test]
fn completion_of_one_queue_releases_another() {
    let gpu = TestGpu::new();
    let (a, b) = (TestQueue::new(&gpu), TestQueue::new(&gpu));
    let gate = gpu.signal(1, 0);
    let mut last = gate;
    for step in 0..100 {
        let next = gpu.signal(1, 0);
        let queue = if step % 2 == 0 { &a } else { &b };
        queue.barrier(last.va, next.va);
        last = next;
    }
    never(|| last.get() == 0);
    gate.set(0);
    last.wait(0);
}
