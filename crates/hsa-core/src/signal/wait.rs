//! Waiting: look, spin for a moment, then sleep on the driver's events.

use super::event_pool::{EventPool, PooledEvent};
use super::{Condition, Signal, WaitHint};
use crate::runtime::{self, Runtime};
use hsakmt::Event;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

/// How long an active wait spins. AMD's runtime spins for ever; but the device may be software that
/// needs the core, and an event wakes within microseconds.
const SPIN_ACTIVE: Duration = Duration::from_micros(60);
/// How long a blocked wait spins.
const SPIN_BLOCKED: Duration = Duration::from_micros(20);
/// Part of it without giving up the core.
const SPIN_HARD: Duration = Duration::from_micros(4);
/// First and longest nap while a signal without event is waited for.
const NAP: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));
/// Longest sleep if the driver cannot tell that an event fired between look and wait.
const SLEEP_WITHOUT_AGES: Duration = Duration::from_millis(5);

impl Signal {
    /// Waits until the condition holds or `timeout` ticks of the system clock passed; answers the
    /// value last seen. `order` is `Relaxed` or `Acquire`.
    ///
    /// A signal that is destroyed meanwhile ends the wait.
    pub fn wait(
        self,
        condition: Condition,
        compare: i64,
        timeout: u64,
        hint: WaitHint,
        order: Ordering,
    ) -> i64 {
        let mut value = self.load(order);
        if condition.holds(value, compare) || timeout == 0 {
            return value;
        }
        wait_until(&[self], timeout, hint, || {
            value = self.load(order);
            condition.holds(value, compare).then_some(())
        });
        value
    }
}

impl Runtime {
    /// Waits until one signal's condition holds; answers its index and value
    /// (`hsa_amd_signal_wait_any`), `None` on timeout. `timeout` is in ticks of the system clock,
    /// `u64::MAX` for ever. The shortest of the three lists counts.
    #[must_use]
    pub fn wait_any(
        &self,
        signals: &[Signal],
        conditions: &[Condition],
        compares: &[i64],
        timeout: u64,
        hint: WaitHint,
    ) -> Option<(usize, i64)> {
        wait_until(signals, timeout, hint, || {
            let each = signals.iter().zip(conditions).zip(compares).enumerate();
            each.map(|(i, ((s, c), &to))| (i, s.load(Ordering::Acquire), c, to))
                .find(|&(_, value, condition, to)| condition.holds(value, to))
                .map(|(i, value, ..)| (i, value))
        })
    }

    /// Waits until all conditions have held at one look (`hsa_amd_signal_wait_all`): the observed
    /// values, or `None` on timeout.
    #[must_use]
    pub fn wait_all(
        &self,
        signals: &[Signal],
        conditions: &[Condition],
        compares: &[i64],
        timeout: u64,
        hint: WaitHint,
    ) -> Option<Vec<i64>> {
        wait_until(signals, timeout, hint, || {
            let each = signals.iter().zip(conditions).zip(compares);
            each.map(|((s, c), &to)| {
                let value = s.load(Ordering::Acquire);
                c.holds(value, to).then_some(value)
            })
            .collect()
        })
    }
}

/// Looks with `check` until it answers, the time is over, or a signal is destroyed.
fn wait_until<R>(
    signals: &[Signal],
    timeout: u64,
    hint: WaitHint,
    mut check: impl FnMut() -> Option<R>,
) -> Option<R> {
    if let Some(result) = check() {
        return Some(result);
    }
    let start = Instant::now();
    let end = start
        .checked_add(Duration::from_nanos(timeout))
        .filter(|_| timeout != u64::MAX);
    let held = Held::new(signals)?;
    let limit = if hint == WaitHint::Active {
        SPIN_ACTIVE
    } else {
        SPIN_BLOCKED
    };
    if let Some(result) = spin(start, end, limit, &mut check) {
        return Some(result);
    }
    held.sleep(end, &mut check)
}

fn spin<R>(
    start: Instant,
    end: Option<Instant>,
    limit: Duration,
    check: &mut impl FnMut() -> Option<R>,
) -> Option<R> {
    loop {
        for _ in 0..32 {
            if let Some(result) = check() {
                return Some(result);
            }
            std::hint::spin_loop();
        }
        let now = Instant::now();
        if now - start >= limit || end.is_some_and(|end| now >= end) {
            return None;
        }
        if now - start >= SPIN_HARD {
            std::thread::yield_now();
        }
    }
}

/// Signals kept from being freed while they are waited for.
struct Held<'a>(&'a [Signal]);

impl<'a> Held<'a> {
    /// `None` if one of them is gone already.
    fn new(signals: &'a [Signal]) -> Option<Self> {
        for (i, signal) in signals.iter().enumerate() {
            if !signal.entry.retain() {
                drop(Held(&signals[..i]));
                return None;
            }
        }
        Some(Self(signals))
    }

    fn sleep<R>(&self, end: Option<Instant>, check: &mut impl FnMut() -> Option<R>) -> Option<R> {
        let pool = runtime::current()
            .and_then(Runtime::live)
            .map(|live| Arc::clone(&live.events))
            .ok()?;
        let sleepers = Sleepers::new(self.0);
        let mut sleep = Sleep::new(&sleepers, &pool);
        loop {
            // ORDERING: pairs with the fence in `Signal::changed`.
            fence(Ordering::SeqCst);
            if let Some(result) = check() {
                return Some(result);
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) || !self.0.iter().all(|s| s.entry.is_live())
            {
                return None;
            }
            sleep.once(left);
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for signal in self.0 {
            signal.entry.release();
        }
    }
}

/// Signals marked as slept on, so that stores wake us.
struct Sleepers<'a> {
    signals: &'a [Signal],
    events: Vec<Arc<PooledEvent>>,
    /// A signal has no event: naps instead of sleep.
    polled: bool,
}

impl<'a> Sleepers<'a> {
    fn new(signals: &'a [Signal]) -> Self {
        let mut events: Vec<Arc<PooledEvent>> = Vec::with_capacity(signals.len());
        let mut polled = false;
        for signal in signals {
            signal.entry.slot.sleepers.fetch_add(1, Ordering::SeqCst);
            match signal.entry.slot.event.lock().clone() {
                Some(event) if events.iter().any(|e| Arc::ptr_eq(e, &event)) => {}
                Some(event) => events.push(event),
                None => polled = true,
            }
        }
        Self {
            signals,
            events,
            polled,
        }
    }
}

impl Drop for Sleepers<'_> {
    fn drop(&mut self) {
        for signal in self.signals {
            signal.entry.slot.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// The sleeping part of one wait.
struct Sleep<'a> {
    events: Vec<&'a Event>,
    ages: Vec<u64>,
    pool: &'a EventPool,
    polled: bool,
    nap: Duration,
}

impl<'a> Sleep<'a> {
    fn new(sleepers: &'a Sleepers<'_>, pool: &'a EventPool) -> Self {
        let events: Vec<&Event> = sleepers.events.iter().map(|e| e.event()).collect();
        Self {
            ages: vec![pool.first_age(); events.len()],
            events,
            pool,
            polled: sleepers.polled,
            nap: NAP.0,
        }
    }

    /// Sleeps until something may have changed.
    fn once(&mut self, left: Option<Duration>) {
        let mut longest = left.unwrap_or(Duration::MAX);
        if !self.pool.has_ages() {
            longest = longest.min(SLEEP_WITHOUT_AGES);
        }
        // The driver counts milliseconds: what is shorter is napped.
        match u32::try_from(longest.as_millis()) {
            _ if self.polled => self.nap(longest),
            Ok(0) => self.nap(longest),
            Ok(ms) => self.wait_events(ms),
            Err(_) => self.wait_events(u32::MAX),
        }
    }

    fn nap(&mut self, longest: Duration) {
        std::thread::sleep(self.nap.min(longest));
        self.nap = (self.nap * 2).min(NAP.1);
    }

    fn wait_events(&mut self, timeout_ms: u32) {
        if let Err(error) =
            self.pool
                .kfd()
                .wait_events(&self.events, &mut self.ages, false, timeout_ms)
        {
            tracing::debug!(%error, "waiting for events failed; napping");
            self.nap(NAP.1);
        }
    }
}
