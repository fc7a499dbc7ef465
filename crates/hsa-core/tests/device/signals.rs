//! Values, waits and wake-ups.

use crate::Open;
use hsa_core::signal::{Condition, WaitHint, attribute, lookup};
use hsa_core::{Error, Signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const FOR_EVER: u64 = u64::MAX;

/// One signal of each kind: with an event, and polled.
fn kinds(rt: &Open) -> [Signal; 2] {
    [
        rt.create_signal(0, &[], 0).unwrap(),
        rt.create_signal(0, &[rt.gpu(0)], 0).unwrap(),
    ]
}

#[test]
fn operations_do_what_their_names_say() {
    let rt = Open::new("gfx1030");
    for s in kinds(&rt) {
        for order in [Ordering::Relaxed, Ordering::SeqCst] {
            s.store(
                5,
                if order == Ordering::Relaxed {
                    order
                } else {
                    Ordering::Release
                },
            );
            assert_eq!(s.exchange(7, order), 5);
            assert_eq!(s.cas(1, 9, order), 7);
            assert_eq!(s.cas(7, 9, order), 7);
            s.add(3, order);
            s.subtract(2, order);
            s.and(0xe, order);
            s.or(0x10, order);
            s.xor(0xff, order);
            assert_eq!(s.load(Ordering::Acquire), ((10 & 0xe) | 0x10) ^ 0xff);
        }
        s.silent_store(-4, Ordering::Relaxed);
        assert_eq!(s.load(Ordering::Relaxed), -4);
        let value = s.value_address().unwrap();
        assert_eq!(value, s.handle() + 8);
        assert_eq!(crate::read(value, 8), (-4_i64).to_ne_bytes());
    }
}

#[test]
fn a_destroyed_signal_is_no_longer_found() {
    let rt = Open::new("gfx1030");
    let s = rt.create_signal(1, &[], 0).unwrap();
    assert_eq!(lookup(s.handle()), Some(s));
    assert_eq!(lookup(s.handle() + 8), None);
    s.destroy().unwrap();
    assert_eq!(lookup(s.handle()), None);
    assert_eq!(s.destroy().unwrap_err(), Error::InvalidSignal);
    assert_eq!(
        rt.create_signal(1, &[], 99).unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(
        rt.create_signal(1, &[], attribute::IPC).unwrap_err(),
        Error::NotSupported
    );
}

#[test]
fn a_hundred_thousand_signals_can_live_and_a_million_can_come_and_go() {
    let rt = Open::new("gfx1030");
    let before = rt.signals_in_use();
    let many: Vec<Signal> = (0..100_000)
        .map(|i| rt.create_signal(i, &[], 0).unwrap())
        .collect();
    assert!(
        many.iter()
            .zip(0..)
            .all(|(s, i)| s.load(Ordering::Relaxed) == i)
    );
    many.iter().for_each(|s| s.destroy().unwrap());
    for i in 0..1_000_000 {
        rt.create_signal(i, &[], 0).unwrap().destroy().unwrap();
    }
    assert_eq!(rt.signals_in_use(), before);
}

#[test]
fn a_wait_ends_by_condition_or_time() {
    let rt = Open::new("gfx1030");
    for s in kinds(&rt) {
        s.store(3, Ordering::Release);
        let cases = [
            (Condition::Eq, 3),
            (Condition::Ne, 4),
            (Condition::Lt, 4),
            (Condition::Gte, 3),
        ];
        for (condition, compare) in cases {
            assert_eq!(
                s.wait(
                    condition,
                    compare,
                    FOR_EVER,
                    WaitHint::Blocked,
                    Ordering::Acquire
                ),
                3
            );
        }
        for (hint, ns) in [
            (WaitHint::Blocked, 3_000_000),
            (WaitHint::Active, 200_000),
            (WaitHint::Active, 0),
        ] {
            let start = Instant::now();
            assert_eq!(s.wait(Condition::Lt, 1, ns, hint, Ordering::Relaxed), 3);
            assert!(start.elapsed() >= Duration::from_nanos(ns), "ended early");
        }
    }
}

/// A waiter and a writer take turns; a lost wake-up hangs the test.
fn ping_pong(rt: &Open, make: impl Fn() -> Signal, hint: WaitHint, rounds: i64) {
    let _ = rt;
    let (ping, pong) = (make(), make());
    let other = thread::spawn(move || {
        for i in 1..=rounds {
            ping.wait(Condition::Gte, i, FOR_EVER, hint, Ordering::Acquire);
            pong.add(1, Ordering::AcqRel);
        }
    });
    for i in 1..=rounds {
        ping.store(i, Ordering::Release);
        pong.wait(Condition::Gte, i, FOR_EVER, hint, Ordering::Acquire);
        if i % 8 == 0 {
            // Long enough that the other side sleeps on its event.
            thread::sleep(Duration::from_micros(150));
        }
    }
    other.join().unwrap();
}

#[test]
fn stores_of_other_threads_wake_waiters() {
    let rt = Open::new("gfx1030");
    for hint in [WaitHint::Blocked, WaitHint::Active] {
        ping_pong(&rt, || rt.create_signal(0, &[], 0).unwrap(), hint, 2_000);
        ping_pong(
            &rt,
            || rt.create_signal(0, &[], attribute::GPU_ONLY).unwrap(),
            hint,
            500,
        );
    }
}

#[test]
fn many_waiters_of_one_signal_all_wake() {
    let rt = Open::new("gfx1030");
    for round in 0..100 {
        let s = rt.create_signal(1, &[], 0).unwrap();
        let waiters: Vec<_> = (0..8)
            .map(|_| {
                thread::spawn(move || {
                    s.wait(
                        Condition::Lt,
                        1,
                        FOR_EVER,
                        WaitHint::Blocked,
                        Ordering::Acquire,
                    )
                })
            })
            .collect();
        thread::sleep(Duration::from_micros(round * 10));
        s.store(0, Ordering::Release);
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), 0);
        }
        s.destroy().unwrap();
    }
}

#[test]
fn destroying_a_signal_ends_its_waits() {
    let rt = Open::new("gfx1030");
    for s in kinds(&rt) {
        let waiter = thread::spawn(move || {
            s.wait(
                Condition::Lt,
                0,
                FOR_EVER,
                WaitHint::Blocked,
                Ordering::Acquire,
            )
        });
        thread::sleep(Duration::from_millis(20));
        s.destroy().unwrap();
        assert_eq!(waiter.join().unwrap(), 0);
    }
}

#[test]
fn wait_any_and_wait_all_see_each_signal() {
    let rt = Open::new("gfx1030");
    let signals: Vec<Signal> = (0..5)
        .map(|_| rt.create_signal(1, &[], 0).unwrap())
        .collect();
    let (lt, one) = ([Condition::Lt; 5], [1; 5]);
    for i in 0..5 {
        let s = signals[i];
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2));
            s.store(-3, Ordering::Release);
        });
        assert_eq!(
            rt.wait_any(&signals, &lt, &one, FOR_EVER, WaitHint::Blocked),
            Some((i, -3))
        );
        writer.join().unwrap();
        s.store(1, Ordering::Release);
    }
    assert_eq!(
        rt.wait_any(&signals, &lt, &one, 1_000_000, WaitHint::Blocked),
        None
    );
    assert_eq!(
        rt.wait_all(&signals, &lt, &one, 1_000_000, WaitHint::Active),
        None
    );
    let all = signals.clone();
    let writer = thread::spawn(move || {
        for (i, s) in (0..).zip(all) {
            thread::sleep(Duration::from_millis(1));
            s.store(-i, Ordering::Release);
        }
    });
    let values = rt
        .wait_all(&signals, &lt, &one, FOR_EVER, WaitHint::Blocked)
        .unwrap();
    assert_eq!(values, [0, -1, -2, -3, -4]);
    writer.join().unwrap();
}

#[test]
fn groups_are_lists_that_live_until_they_are_destroyed() {
    let rt = Open::new("gfx1030");
    let signals = kinds(&rt);
    let group = rt.create_signal_group(&signals).unwrap();
    assert_eq!(rt.signal_group(group).unwrap(), signals);
    rt.destroy_signal_group(group).unwrap();
    assert_eq!(
        rt.signal_group(group).unwrap_err(),
        Error::InvalidSignalGroup
    );
    assert_eq!(
        rt.destroy_signal_group(group).unwrap_err(),
        Error::InvalidSignalGroup
    );
    assert_eq!(
        rt.create_signal_group(&[]).unwrap_err(),
        Error::InvalidArgument
    );
}

#[test]
fn without_interrupts_every_wait_still_ends() {
    // SAFETY: the test's process has no other thread yet.
    unsafe { std::env::set_var("HSA_ENABLE_INTERRUPT", "0") };
    let rt = Open::new("gfx1030");
    ping_pong(
        &rt,
        || rt.create_signal(0, &[], 0).unwrap(),
        WaitHint::Blocked,
        300,
    );
}

#[test]
fn a_waiting_process_uses_no_cpu() {
    let rt = Open::new("gfx1030");
    let s = rt.create_signal(1, &[], 0).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let waiter = thread::spawn({
        let done = Arc::clone(&done);
        move || {
            s.wait(
                Condition::Lt,
                1,
                FOR_EVER,
                WaitHint::Active,
                Ordering::Acquire,
            );
            done.store(true, Ordering::SeqCst);
        }
    });
    thread::sleep(Duration::from_millis(50));
    let before = switches();
    thread::sleep(Duration::from_secs(1));
    let woken = switches() - before;
    assert!(!done.load(Ordering::SeqCst));
    assert!(woken < 20, "{woken} wake-ups in an idle second");
    s.store(0, Ordering::Release);
    waiter.join().unwrap();
}

/// Voluntary context switches of all threads but this one.
fn switches() -> u64 {
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    let own = own.file_name().unwrap().to_owned();
    let tasks = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .map(|t| t.unwrap());
    tasks
        .filter(|t| t.file_name() != own)
        .filter_map(|t| std::fs::read_to_string(t.path().join("status")).ok())
        .filter_map(|s| {
            s.lines().find_map(|l| {
                l.strip_prefix("voluntary_ctxt_switches:")?
                    .trim()
                    .parse::<u64>()
                    .ok()
            })
        })
        .sum()
}
