//! Asynchronous handlers.

use crate::Open;
use hsa_core::Signal;
use hsa_core::signal::{Condition, WaitHint, attribute};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// Waits (with a limit that only a lost handler reaches) until `done` holds.
fn eventually(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "a handler was lost"
        );
        thread::sleep(Duration::from_micros(100));
    }
}

fn handler_runs_once_per_condition(attributes: u64) {
    let rt = Open::new("gfx1030");
    let s = rt.create_signal(2, &[], attributes).unwrap();
    let seen = Arc::new(AtomicI64::new(i64::MAX));
    let note = Arc::clone(&seen);
    let handler = move |value| {
        note.store(value, Ordering::SeqCst);
        false
    };
    rt.async_handler(s, Condition::Lt, 2, Box::new(handler))
        .unwrap();
    thread::sleep(Duration::from_millis(5));
    assert_eq!(seen.load(Ordering::SeqCst), i64::MAX);
    s.subtract(1, Ordering::AcqRel);
    eventually(|| seen.load(Ordering::SeqCst) == 1);
    s.subtract(1, Ordering::AcqRel);
    thread::sleep(Duration::from_millis(5));
    assert_eq!(
        seen.load(Ordering::SeqCst),
        1,
        "a one-shot handler ran twice"
    );
}

#[test]
fn a_handler_runs_once_when_its_condition_comes_true() {
    handler_runs_once_per_condition(0);
}

#[test]
fn a_handler_of_a_polled_signal_runs_too() {
    handler_runs_once_per_condition(attribute::GPU_ONLY);
}

#[test]
fn handlers_run_without_interrupts() {
    // SAFETY: the test's process has no other thread yet.
    unsafe { std::env::set_var("HSA_ENABLE_INTERRUPT", "0") };
    handler_runs_once_per_condition(0);
}

#[test]
fn a_condition_that_holds_already_runs_its_handler() {
    let rt = Open::new("gfx1030");
    let s = rt.create_signal(0, &[], 0).unwrap();
    let done = rt.create_signal(1, &[], 0).unwrap();
    let handler = move |_| {
        done.store(0, Ordering::Release);
        false
    };
    rt.async_handler(s, Condition::Eq, 0, Box::new(handler))
        .unwrap();
    done.wait(
        Condition::Lt,
        1,
        u64::MAX,
        WaitHint::Blocked,
        Ordering::Acquire,
    );
}

#[test]
fn a_handler_that_stays_runs_for_each_change_and_may_register_itself_again() {
    let rt = Open::new("gfx1030");
    let runtime = rt.0;
    let s = rt.create_signal(1, &[], 0).unwrap();
    let (kept, renewed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&kept);
    let stay = move |_| {
        s.store(1, Ordering::Release);
        count.fetch_add(1, Ordering::SeqCst) < 9
    };
    rt.async_handler(s, Condition::Lt, 1, Box::new(stay))
        .unwrap();
    for round in 1..=10 {
        s.store(0, Ordering::Release);
        eventually(|| kept.load(Ordering::SeqCst) == round);
    }
    fn renew(runtime: &'static hsa_core::Runtime, s: Signal, left: u64, count: Arc<AtomicU64>) {
        let handler = move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            if left > 0 {
                renew(runtime, s, left - 1, Arc::clone(&count));
            }
            false
        };
        runtime
            .async_handler(s, Condition::Lt, 1, Box::new(handler))
            .unwrap();
    }
    s.store(0, Ordering::Release);
    renew(runtime, s, 20, Arc::clone(&renewed));
    eventually(|| renewed.load(Ordering::SeqCst) == 21);
}

#[test]
fn the_first_handlers_of_32_threads_all_run() {
    let rt = Open::new("gfx1030");
    let runtime = rt.0;
    let barrier = Arc::new(Barrier::new(32));
    let count = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..32)
        .map(|_| {
            let (barrier, count) = (Arc::clone(&barrier), Arc::clone(&count));
            thread::spawn(move || {
                let s = runtime.create_signal(1, &[], 0).unwrap();
                barrier.wait();
                let handler = move |_| {
                    count.fetch_add(1, Ordering::SeqCst);
                    false
                };
                runtime
                    .async_handler(s, Condition::Lt, 1, Box::new(handler))
                    .unwrap();
                s.store(0, Ordering::Release);
                s
            })
        })
        .collect();
    let signals: Vec<Signal> = workers.into_iter().map(|w| w.join().unwrap()).collect();
    eventually(|| count.load(Ordering::SeqCst) == 32);
    signals.iter().for_each(|s| s.destroy().unwrap());
}

#[test]
fn ten_thousand_pending_handlers_leave_the_others_alone_and_run_when_it_is_their_turn() {
    let rt = Open::new("gfx1030");
    let count = Arc::new(AtomicU64::new(0));
    let signals: Vec<Signal> = (0..10_000)
        .map(|_| {
            let s = rt.create_signal(1, &[], 0).unwrap();
            let count = Arc::clone(&count);
            let handler = move |_| {
                count.fetch_add(1, Ordering::SeqCst);
                false
            };
            rt.async_handler(s, Condition::Lt, 1, Box::new(handler))
                .unwrap();
            s
        })
        .collect();
    for (i, s) in signals.iter().enumerate().take(100) {
        s.store(0, Ordering::Release);
        eventually(|| count.load(Ordering::SeqCst) == i as u64 + 1);
    }
    signals.iter().for_each(|s| s.store(0, Ordering::Release));
    eventually(|| count.load(Ordering::SeqCst) == 10_000);
}

#[test]
fn a_signal_destroyed_with_a_handler_still_runs_it_and_is_freed() {
    let rt = Open::new("gfx1030");
    let count = Arc::new(AtomicU64::new(0));
    let before = rt.signals_in_use();
    for round in 1..=100 {
        let s = rt.create_signal(1, &[], 0).unwrap();
        let note = Arc::clone(&count);
        let handler = move |_| {
            note.fetch_add(1, Ordering::SeqCst);
            false
        };
        rt.async_handler(s, Condition::Lt, 1, Box::new(handler))
            .unwrap();
        s.store(0, Ordering::Release);
        s.destroy().unwrap();
        eventually(|| count.load(Ordering::SeqCst) == round);
    }
    eventually(|| rt.signals_in_use() == before);
}

#[test]
fn an_async_function_runs_once() {
    let rt = Open::new("gfx1030");
    let done = rt.create_signal(3, &[], 0).unwrap();
    for _ in 0..3 {
        rt.async_function(Box::new(move || done.subtract(1, Ordering::AcqRel)))
            .unwrap();
    }
    done.wait(
        Condition::Eq,
        0,
        u64::MAX,
        WaitHint::Blocked,
        Ordering::Acquire,
    );
}
