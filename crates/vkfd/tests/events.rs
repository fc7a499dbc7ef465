//! Events: creation, set, reset, waits, ages, the event page, and many threads at once.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::*;
use hsakmt_sys::{Errno, ioctl, kfd};
use vkfd::event::MemoryException;

const SIGNAL: u32 = kfd::KFD_IOC_EVENT_SIGNAL;
const MEMORY: u32 = kfd::KFD_IOC_EVENT_MEMORY;
const COMPLETE: u32 = kfd::KFD_IOC_WAIT_RESULT_COMPLETE;
const TIMEOUT: u32 = kfd::KFD_IOC_WAIT_RESULT_TIMEOUT;
const FOREVER: u32 = u32::MAX;

fn wait_one(client: &Client<'_>, event_id: u32, timeout_ms: u32) -> u32 {
    client
        .wait(&mut [EventData::of(event_id)], false, timeout_ms)
        .unwrap()
}

#[test]
fn signal_events_own_slots_from_one_on() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let mut args = kfd::kfd_ioctl_create_event_args {
        event_type: SIGNAL,
        ..Default::default()
    };
    client.ioctl(ioctl::CREATE_EVENT, &mut args).unwrap();
    assert_eq!(
        (
            args.event_id,
            args.event_slot_index,
            args.event_trigger_data
        ),
        (1, 1, 1)
    );
    assert_eq!(args.event_page_offset, 2 << 62);
    let mut args = kfd::kfd_ioctl_create_event_args {
        event_type: MEMORY,
        ..Default::default()
    };
    client.ioctl(ioctl::CREATE_EVENT, &mut args).unwrap();
    assert_eq!((args.event_id, args.event_slot_index), (0x4000_0000, 0));
}

#[test]
fn page_of_the_client_is_filled_and_then_stays() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let page = client.shared(32768);
    let mut args = kfd::kfd_ioctl_create_event_args {
        event_page_offset: page.handle,
        ..Default::default()
    };
    client.ioctl(ioctl::CREATE_EVENT, &mut args).unwrap();
    for slot in [0, 1, 4095] {
        assert_eq!(
            cell(page.address + 8 * slot).load(Ordering::Relaxed),
            u64::MAX
        );
    }
    let other = client.shared(32768);
    args.event_page_offset = other.handle;
    assert_eq!(
        client.ioctl(ioctl::CREATE_EVENT, &mut args),
        Err(EINVAL),
        "there is a page already"
    );
    client.unmap(page.handle, &client.gpu_ids).unwrap();
    assert_eq!(client.free(page.handle), Err(Errno(libc::EPERM)));
}

#[test]
fn page_handle_must_be_memory_of_the_driver() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let user = client
        .user(0, 0x7000_0000_0000, anonymous(32768) as u64, 32768)
        .unwrap();
    for handle in [user, 1, u64::MAX] {
        let mut args = kfd::kfd_ioctl_create_event_args {
            event_page_offset: handle,
            ..Default::default()
        };
        assert_eq!(client.ioctl(ioctl::CREATE_EVENT, &mut args), Err(EINVAL));
    }
}

#[test]
fn slots_run_out_at_4096() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    for _ in 1..4096 {
        client.create_event(SIGNAL, true).unwrap();
    }
    assert_eq!(client.create_event(SIGNAL, true), Err(Errno(libc::ENOSPC)));
    client.destroy_event(100).unwrap();
    assert_eq!(client.create_event(SIGNAL, true), Ok(100));
}

#[test]
fn auto_reset_is_consumed_and_manual_reset_stays() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let auto = client.create_event(SIGNAL, true).unwrap();
    let manual = client.create_event(SIGNAL, false).unwrap();
    for event in [auto, manual] {
        assert_eq!(wait_one(&client, event, 0), TIMEOUT);
        client.set_event(event).unwrap();
        assert_eq!(wait_one(&client, event, FOREVER), COMPLETE);
    }
    assert_eq!(wait_one(&client, auto, 0), TIMEOUT);
    assert_eq!(wait_one(&client, manual, 0), COMPLETE);
    client.reset_event(manual).unwrap();
    assert_eq!(wait_one(&client, manual, 0), TIMEOUT);
}

#[test]
fn unknown_ids_and_types_are_refused() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let memory = client.create_event(MEMORY, false).unwrap();
    for event in [0, 77, 0x4000_0077, u32::MAX] {
        assert_eq!(client.set_event(event), Err(EINVAL));
        assert_eq!(client.reset_event(event), Err(EINVAL));
        assert_eq!(client.destroy_event(event), Err(EINVAL));
        assert_eq!(
            client.wait(&mut [EventData::of(event)], false, 0),
            Err(EINVAL)
        );
    }
    assert_eq!(
        client.set_event(memory),
        Err(EINVAL),
        "only signal events can be set"
    );
    assert_eq!(client.reset_event(memory), Err(EINVAL));
    let mut args = kfd::kfd_ioctl_wait_events_args {
        events_ptr: 8,
        num_events: 1,
        ..Default::default()
    };
    assert_eq!(client.ioctl(ioctl::WAIT_EVENTS, &mut args), Err(EFAULT));
    args.num_events = u32::MAX;
    assert!(client.ioctl(ioctl::WAIT_EVENTS, &mut args).is_err());
}

#[test]
fn waiting_for_all_needs_all() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let events = [0, 1, 2].map(|_| client.create_event(SIGNAL, true).unwrap());
    let mut data = events.map(EventData::of);
    client.set_event(events[0]).unwrap();
    client.set_event(events[2]).unwrap();
    assert_eq!(client.wait(&mut data, true, 1), Ok(TIMEOUT));
    client.set_event(events[1]).unwrap();
    assert_eq!(
        client.wait(&mut data, true, FOREVER),
        Ok(COMPLETE),
        "the first two were not lost"
    );
    assert_eq!(client.wait(&mut data, false, 0), Ok(TIMEOUT));
}

#[test]
fn waiting_for_nothing() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    assert_eq!(client.wait(&mut [], true, 0), Ok(COMPLETE));
    assert_eq!(client.wait(&mut [], false, 0), Ok(TIMEOUT));
}

#[test]
fn stale_age_returns_at_once_with_the_new_one() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let event = client.create_event(SIGNAL, true).unwrap();
    let mut data = [EventData {
        age: 1,
        ..EventData::of(event)
    }];
    assert_eq!(
        client.wait(&mut data, false, 0),
        Ok(TIMEOUT),
        "age 1 is the first one"
    );
    client.set_event(event).unwrap();
    assert_eq!(wait_one(&client, event, 0), COMPLETE);
    assert_eq!(
        client.wait(&mut data, false, 0),
        Ok(COMPLETE),
        "the client has missed age 2"
    );
    assert_eq!(data[0].age, 2);
    assert_eq!(client.wait(&mut data, false, 0), Ok(TIMEOUT));
}

#[test]
fn timeout_passes_and_is_not_forgotten() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let event = client.create_event(SIGNAL, true).unwrap();
    let start = Instant::now();
    assert_eq!(wait_one(&client, event, 30), TIMEOUT);
    assert!(start.elapsed() >= Duration::from_millis(30));
}

#[test]
fn long_timeouts_wake_as_infinite_ones() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let event = client.create_event(SIGNAL, true).unwrap();
    for timeout in [FOREVER, 0xffff_fffe, 100_000] {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                client.set_event(event).unwrap();
            });
            assert_eq!(wait_one(&client, event, timeout), COMPLETE);
        });
    }
}

#[test]
fn destroying_an_event_fails_its_waiters() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let event = client.create_event(SIGNAL, true).unwrap();
    let other = client.create_event(SIGNAL, true).unwrap();
    thread::scope(|scope| {
        let waiter =
            scope.spawn(|| client.wait(&mut [event, other].map(EventData::of), true, FOREVER));
        thread::sleep(Duration::from_millis(10));
        client.destroy_event(event).unwrap();
        assert_eq!(waiter.join().unwrap(), Err(Errno(libc::EIO)));
    });
}

#[test]
fn mailbox_store_and_interrupt_signal_the_slot() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let event = client.create_event(SIGNAL, true).unwrap();
    let unmarked = client.create_event(SIGNAL, true).unwrap();
    let page = client.mmap(client.kfd, 2 << 62, 32768).unwrap();
    let slot = cell(page as u64 + 8 * u64::from(event));
    slot.store(event.into(), Ordering::SeqCst);
    device.events().interrupt(event);
    assert_eq!(slot.load(Ordering::SeqCst), u64::MAX, "acknowledged");
    assert_eq!(wait_one(&client, event, 0), COMPLETE);
    device.events().interrupt(unmarked);
    assert_eq!(
        wait_one(&client, unmarked, 0),
        TIMEOUT,
        "an interrupt without a store is nothing"
    );
    slot.store(event.into(), Ordering::SeqCst);
    device.events().interrupt(unmarked);
    assert_eq!(
        wait_one(&client, event, 0),
        COMPLETE,
        "a wrong id makes it look at all slots"
    );
    device.events().interrupt(u32::MAX);
}

#[test]
fn memory_fault_reaches_every_memory_event() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let events = [0, 1].map(|_| client.create_event(MEMORY, false).unwrap());
    let fault = MemoryException {
        gpu_id: 50149,
        va: 0x1234_5678_9000,
        read_only: true,
        ..Default::default()
    };
    assert!(device.events().memory_fault(fault));
    let mut data = events.map(EventData::of);
    assert_eq!(client.wait(&mut data, true, 0), Ok(COMPLETE));
    for element in data {
        // NotPresent, ReadOnly; then NoExecute, imprecise, va, gpu_id, ErrorType.
        assert_eq!(element.age, 1 << 32);
        assert_eq!(element.words, [0, 0, 0x5678_9000, 0x1234, 50149, 0]);
    }
}

/// Peer fault 26: a wait on several events that sometimes never ends.
#[test]
fn no_wake_is_lost_between_many_threads() {
    const THREADS: usize = 8;
    const ROUNDS: u64 = 2000;
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let ping: Vec<u32> = (0..THREADS)
        .map(|_| client.create_event(SIGNAL, true).unwrap())
        .collect();
    let pong: Vec<u32> = (0..THREADS)
        .map(|_| client.create_event(SIGNAL, true).unwrap())
        .collect();
    let noise = client.create_event(SIGNAL, false).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let players: Vec<_> = (0..THREADS)
            .flat_map(|pair| {
                let (mine, theirs) = (ping[pair], pong[pair]);
                let client = &client;
                let asker = scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        client.set_event(mine).unwrap();
                        assert_eq!(wait_one(client, theirs, 20_000), COMPLETE, "lost wake");
                    }
                });
                let answerer = scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        let mut data = [EventData::of(mine)];
                        assert_eq!(
                            client.wait(&mut data, pair % 2 == 0, 20_000),
                            Ok(COMPLETE),
                            "lost wake"
                        );
                        client.set_event(theirs).unwrap();
                    }
                });
                [asker, answerer]
            })
            .collect();
        let stirrer = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                client.set_event(noise).unwrap();
                client.reset_event(noise).unwrap();
                assert_eq!(
                    client.wait(&mut [EventData::of(noise)], true, 0).map(drop),
                    Ok(())
                );
            }
        });
        for player in players {
            player.join().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        stirrer.join().unwrap();
    });
}

/// Ages never go back, and a waiter that follows them misses nothing.
#[test]
fn followed_ages_are_monotonic_and_complete() {
    const SETS: u64 = 5000;
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let event = client.create_event(SIGNAL, true).unwrap();
    let start = Barrier::new(5);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut data = [EventData {
                    age: 1,
                    ..EventData::of(event)
                }];
                start.wait();
                while data[0].age < SETS + 1 {
                    let before = data[0].age;
                    assert_eq!(
                        client.wait(&mut data, false, 20_000),
                        Ok(COMPLETE),
                        "lost wake"
                    );
                    assert!(data[0].age >= before, "age went back");
                }
            });
        }
        start.wait();
        for _ in 0..SETS {
            client.set_event(event).unwrap();
        }
    });
}
