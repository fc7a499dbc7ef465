//! Events without a GPU's help.

use crate::harness::{on_both, open};
use hsakmt::{Event, EventKind, Kfd, WaitStatus};
use hsakmt_sys::{Errno, Kernel};
use std::sync::Arc;

on_both! { "gfx90a":
    a_set_event_ends_the_wait
    an_auto_reset_event_wakes_once
    all_means_all
    a_changed_age_ends_the_wait_at_once
    ids_are_limited_and_come_back
    only_signals_can_be_set
    no_wake_up_is_lost_among_sixteen_threads
}

const PATIENCE_MS: u32 = 60_000;

fn signal(kfd: &Arc<Kfd>, auto_reset: bool) -> Event {
    kfd.create_event(EventKind::Signal, auto_reset).unwrap()
}

fn status(kfd: &Kfd, events: &[&Event], all: bool, timeout_ms: u32) -> WaitStatus {
    kfd.wait_events(events, &mut [], all, timeout_ms)
        .unwrap()
        .status
}

fn a_set_event_ends_the_wait(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let event = signal(&kfd, false);
    assert_eq!(status(&kfd, &[&event], false, 0), WaitStatus::Timeout);
    event.set().unwrap();
    assert_eq!(
        status(&kfd, &[&event], false, PATIENCE_MS),
        WaitStatus::Complete
    );
    assert_eq!(status(&kfd, &[&event], false, 0), WaitStatus::Complete);
    event.reset().unwrap();
    assert_eq!(status(&kfd, &[&event], false, 1), WaitStatus::Timeout);
}

fn an_auto_reset_event_wakes_once(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let event = signal(&kfd, true);
    event.set().unwrap();
    assert_eq!(status(&kfd, &[&event], false, 0), WaitStatus::Complete);
    assert_eq!(status(&kfd, &[&event], false, 0), WaitStatus::Timeout);
}

fn all_means_all(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let events: Vec<_> = (0..20).map(|_| signal(&kfd, false)).collect();
    let all: Vec<_> = events.iter().collect();
    events[7].set().unwrap();
    assert_eq!(status(&kfd, &all, false, 0), WaitStatus::Complete);
    assert_eq!(status(&kfd, &all, true, 0), WaitStatus::Timeout);
    events.iter().for_each(|event| event.set().unwrap());
    assert_eq!(status(&kfd, &all, true, 0), WaitStatus::Complete);
}

fn a_changed_age_ends_the_wait_at_once(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let event = signal(&kfd, true);
    let mut ages = [1];
    let wait = |ages: &mut [u64; 1]| kfd.wait_events(&[&event], ages, true, 0).unwrap().status;
    assert_eq!(wait(&mut ages), WaitStatus::Timeout);
    event.set().unwrap();
    assert_eq!(wait(&mut ages), WaitStatus::Complete);
    let seen = ages[0];
    assert!(seen > 1);
    // Set and consumed by somebody else: only the age tells.
    event.set().unwrap();
    event.reset().unwrap();
    assert_eq!(wait(&mut ages), WaitStatus::Complete);
    assert!(ages[0] > seen);
}

fn ids_are_limited_and_come_back(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let mut events = Vec::new();
    let error = loop {
        match kfd.create_event(EventKind::Signal, true) {
            Ok(event) => events.push(event),
            Err(error) => break error,
        }
        assert!(events.len() < 4097);
    };
    assert_eq!(error.errno(), Some(Errno(libc::ENOSPC)));
    assert!((4000..=4096).contains(&events.len()), "{}", events.len());
    events.truncate(10);
    assert!(kfd.create_event(EventKind::Signal, true).is_ok());
}

fn only_signals_can_be_set(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let event = kfd.create_event(EventKind::Memory, true).unwrap();
    assert_eq!(event.set().unwrap_err().errno(), Some(Errno(libc::EINVAL)));
    assert_eq!(event.mailbox(), None);
}

/// ROCT-Thunk-Interface#56: a wait on several events sometimes blocked for ever.
fn no_wake_up_is_lost_among_sixteen_threads(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    const ROUNDS: u64 = 200;
    let events: Vec<_> = (0..16).map(|_| signal(&kfd, true)).collect();
    std::thread::scope(|scope| {
        for (index, own) in events.iter().enumerate() {
            let (kfd, next) = (&kfd, &events[(index + 1) % events.len()]);
            scope.spawn(move || {
                let mut ages = [1];
                for round in 1..=ROUNDS {
                    next.set().unwrap();
                    // The age counts every set, from 1; sets that come close together end one wait.
                    while ages[0] <= round {
                        let result = kfd.wait_events(&[own], &mut ages, false, PATIENCE_MS);
                        assert_eq!(result.unwrap().status, WaitStatus::Complete);
                    }
                }
                assert!(ages[0] > ROUNDS);
            });
        }
    });
}
