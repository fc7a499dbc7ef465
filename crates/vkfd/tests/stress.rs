//! Many threads at once, on everything at once.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use std::sync::atomic::Ordering;
use std::thread;

use amdgpu_exec::{Access, Memory};
use common::*;
use hsakmt_sys::{kfd, newer};

const THREADS: u64 = 16;
const ROUNDS: u64 = 150;

fn memory_round(client: &Client<'_>, va: u64, round: u64) {
    let size = 4096 * (1 + round % 40);
    let (handle, offset) = client
        .alloc(
            0,
            va,
            size,
            if round.is_multiple_of(2) { VRAM } else { GTT } | WRITABLE,
        )
        .unwrap();
    client.map(handle, &client.gpu_ids).unwrap();
    let words = client.mmap(client.render[0], offset, 4096).unwrap();
    let before = cell(words as u64).swap(va, Ordering::SeqCst);
    assert_eq!(before, 0, "memory of another owner");
    unmap(words, 4096);
    client.unmap(handle, &client.gpu_ids).unwrap();
    client.free(handle).unwrap();
}

fn queue_round(client: &Client<'_>, base: u64, round: u64) {
    let mut args = newer::kfd_ioctl_create_queue_args {
        ring_base_address: base,
        ring_size: 4096,
        read_pointer_address: base + 0x2080,
        write_pointer_address: base + 0x2038,
        gpu_id: client.gpu_ids[usize::from(!round.is_multiple_of(2))],
        queue_type: if round.is_multiple_of(3) {
            kfd::KFD_IOC_QUEUE_TYPE_SDMA
        } else {
            kfd::KFD_IOC_QUEUE_TYPE_COMPUTE_AQL
        },
        queue_percentage: 100,
        ..Default::default()
    };
    match client.create_queue(&mut args) {
        Ok(()) => client.destroy_queue(args.queue_id).unwrap(),
        Err(errno) => assert_eq!(errno, ENOMEM, "only SDMA engines can run out"),
    }
}

fn event_round(client: &Client<'_>) {
    let event = client
        .create_event(kfd::KFD_IOC_EVENT_SIGNAL, true)
        .unwrap();
    client.set_event(event).unwrap();
    assert_eq!(
        client.wait(&mut [EventData::of(event)], true, u32::MAX),
        Ok(0)
    );
    client.destroy_event(event).unwrap();
}

#[test]
fn threads_do_not_disturb_each_other_and_leave_nothing() {
    let device = device("gfx90a,gfx1030");
    let client = Client::new(&*device);
    client
        .create_event(kfd::KFD_IOC_EVENT_SIGNAL, true)
        .unwrap();
    let rings: Vec<u64> = (0..THREADS)
        .map(|_| client.shared(0x4000).address)
        .collect();
    let before = device.live_counts();
    thread::scope(|scope| {
        for (thread, ring) in (0..THREADS).zip(rings) {
            let (client, device) = (&client, &device);
            scope.spawn(move || {
                let va = 0x7000_0000_0000 + (thread << 32);
                for round in 0..ROUNDS {
                    memory_round(client, va, round);
                    event_round(client);
                    let space = device.address_space(0).unwrap();
                    assert!(
                        space.resolve(va, Access::Read).is_err(),
                        "an unmapped address resolves"
                    );
                    if round % 8 == thread % 8 {
                        queue_round(client, ring, round / 8 + thread);
                    }
                }
            });
        }
    });
    assert_eq!(device.live_counts(), before);
}
