//! hsa.h: signals and signal groups.
//!
//! The value functions are the hot path: a table load, a lookup without a lock, one atomic. They
//! have no status; a handle that is no live signal reads as 0 and takes no store (AMD's runtime
//! would follow it as a pointer).

use crate::args::{In, Out};
use crate::entry::{Result, hsa_alias, hsa_export};
use hsa_core::signal::{self, Condition, Signal, WaitHint};
use hsa_core::{Agent, Error as Core, Runtime, runtime};
use hsa_sys::*;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The live signal of a handle; 0 and stale handles are refused.
pub(crate) fn required(signal: hsa_signal_t) -> hsa_core::Result<Signal> {
    signal::lookup(signal.handle).ok_or(Core::InvalidSignal)
}

/// Handle 0 says that there is none.
pub(crate) fn optional(signal: hsa_signal_t) -> hsa_core::Result<Option<Signal>> {
    if signal.handle == 0 {
        Ok(None)
    } else {
        required(signal).map(Some)
    }
}

/// The signals of an array.
pub(crate) fn list(handles: &In<hsa_signal_t>, count: usize) -> hsa_core::Result<Vec<Signal>> {
    handles.array(count)?.into_iter().map(required).collect()
}

pub(crate) fn agents<'a>(
    runtime: &'a Runtime,
    handles: &In<hsa_agent_t>,
    count: u32,
) -> hsa_core::Result<Vec<&'a Agent>> {
    let handles = handles.array(usize::try_from(count).unwrap_or(usize::MAX))?;
    handles
        .into_iter()
        .map(|agent| runtime.agent(agent.handle))
        .collect()
}

/// `hsa_wait_state_t`; unknown numbers wait as blocked ones do.
pub(crate) fn hint(state: hsa_wait_state_t) -> WaitHint {
    if state == HSA_WAIT_STATE_ACTIVE {
        WaitHint::Active
    } else {
        WaitHint::Blocked
    }
}

hsa_export! { core:
    /// Creates a signal.
    fn hsa_signal_create(initial_value: i64, num_consumers: u32, consumers: In<hsa_agent_t>, signal: Out<hsa_signal_t>) {
        let runtime = runtime::current()?;
        let out = signal.required()?;
        let consumers = unique(agents(runtime, &consumers, num_consumers)?)?;
        out.write(hsa_signal_t { handle: runtime.create_signal(initial_value, &consumers, 0)?.handle() })
    }
}

hsa_export! { amd_ext:
    /// Creates a signal with attributes.
    fn hsa_amd_signal_create(initial_value: i64, num_consumers: u32, consumers: In<hsa_agent_t>, attributes: u64, signal: Out<hsa_signal_t>) {
        let runtime = runtime::current()?;
        let out = signal.required()?;
        let consumers = unique(agents(runtime, &consumers, num_consumers)?)?;
        let signal = runtime.create_signal(initial_value, &consumers, attributes)?;
        out.write(hsa_signal_t { handle: signal.handle() })
    }
}

/// hsa.h: a consumer may be listed once.
fn unique(agents: Vec<&Agent>) -> Result<Vec<&Agent>> {
    let twice =
        (1..agents.len()).any(|i| agents[..i].iter().any(|a| a.handle() == agents[i].handle()));
    if twice {
        Err(Core::InvalidArgument.into())
    } else {
        Ok(agents)
    }
}

hsa_export! { core:
    /// Destroys a signal. hsa.h: handle 0 is an invalid argument, another dead one an invalid signal.
    fn hsa_signal_destroy(signal: hsa_signal_t) {
        runtime::current()?;
        if signal.handle == 0 {
            return Err(Core::InvalidArgument.into());
        }
        Ok(required(signal)?.destroy()?)
    }
}

/// Loads.
macro_rules! load {
    ($($name:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Reads the value.
        value fn $name(signal: hsa_signal_t) -> i64 {
            signal::lookup(signal.handle).map_or(0, |signal| signal.load($order))
        }
    })* };
}

load! {
    hsa_signal_load_relaxed Relaxed;
    hsa_signal_load_scacquire Acquire;
}
hsa_alias! { core hsa_signal_load_acquire = hsa_signal_load_scacquire(signal: hsa_signal_t) -> i64 }

/// Operations that answer nothing.
macro_rules! change {
    ($($name:ident $method:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Changes the value and wakes waiters.
        value fn $name(signal: hsa_signal_t, value: i64) -> () {
            if let Some(signal) = signal::lookup(signal.handle) {
                signal.$method(value, $order);
            }
        }
    })* };
}

/// Operations that answer the old value.
macro_rules! swap {
    ($($name:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Swaps the value and wakes waiters.
        value fn $name(signal: hsa_signal_t, value: i64) -> i64 {
            signal::lookup(signal.handle).map_or(0, |signal| signal.exchange(value, $order))
        }
    })* };
}

/// Compare and swap.
macro_rules! cas {
    ($($name:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Swaps the value if it is as expected.
        value fn $name(signal: hsa_signal_t, expected: i64, value: i64) -> i64 {
            signal::lookup(signal.handle).map_or(0, |signal| signal.cas(expected, value, $order))
        }
    })* };
}

/// The deprecated names.
macro_rules! old_names {
    ($($old:ident = $new:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(hsa_alias! { core $old = $new($($arg: $ty),*) -> $ret })*
    };
}

change! {
    hsa_signal_store_relaxed store Relaxed;
    hsa_signal_store_screlease store Release;
    hsa_signal_silent_store_relaxed silent_store Relaxed;
    hsa_signal_silent_store_screlease silent_store Release;
    hsa_signal_add_relaxed add Relaxed;
    hsa_signal_add_scacquire add Acquire;
    hsa_signal_add_screlease add Release;
    hsa_signal_add_scacq_screl add AcqRel;
    hsa_signal_subtract_relaxed subtract Relaxed;
    hsa_signal_subtract_scacquire subtract Acquire;
    hsa_signal_subtract_screlease subtract Release;
    hsa_signal_subtract_scacq_screl subtract AcqRel;
    hsa_signal_and_relaxed and Relaxed;
    hsa_signal_and_scacquire and Acquire;
    hsa_signal_and_screlease and Release;
    hsa_signal_and_scacq_screl and AcqRel;
    hsa_signal_or_relaxed or Relaxed;
    hsa_signal_or_scacquire or Acquire;
    hsa_signal_or_screlease or Release;
    hsa_signal_or_scacq_screl or AcqRel;
    hsa_signal_xor_relaxed xor Relaxed;
    hsa_signal_xor_scacquire xor Acquire;
    hsa_signal_xor_screlease xor Release;
    hsa_signal_xor_scacq_screl xor AcqRel;
}

swap! {
    hsa_signal_exchange_relaxed Relaxed;
    hsa_signal_exchange_scacquire Acquire;
    hsa_signal_exchange_screlease Release;
    hsa_signal_exchange_scacq_screl AcqRel;
}

cas! {
    hsa_signal_cas_relaxed Relaxed;
    hsa_signal_cas_scacquire Acquire;
    hsa_signal_cas_screlease Release;
    hsa_signal_cas_scacq_screl AcqRel;
}

old_names! {
    hsa_signal_store_release = hsa_signal_store_screlease(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_add_acquire = hsa_signal_add_scacquire(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_add_release = hsa_signal_add_screlease(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_add_acq_rel = hsa_signal_add_scacq_screl(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_subtract_acquire = hsa_signal_subtract_scacquire(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_subtract_release = hsa_signal_subtract_screlease(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_subtract_acq_rel = hsa_signal_subtract_scacq_screl(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_and_acquire = hsa_signal_and_scacquire(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_and_release = hsa_signal_and_screlease(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_and_acq_rel = hsa_signal_and_scacq_screl(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_or_acquire = hsa_signal_or_scacquire(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_or_release = hsa_signal_or_screlease(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_or_acq_rel = hsa_signal_or_scacq_screl(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_xor_acquire = hsa_signal_xor_scacquire(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_xor_release = hsa_signal_xor_screlease(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_xor_acq_rel = hsa_signal_xor_scacq_screl(signal: hsa_signal_t, value: i64) -> ();
    hsa_signal_exchange_acquire = hsa_signal_exchange_scacquire(signal: hsa_signal_t, value: i64) -> i64;
    hsa_signal_exchange_release = hsa_signal_exchange_screlease(signal: hsa_signal_t, value: i64) -> i64;
    hsa_signal_exchange_acq_rel = hsa_signal_exchange_scacq_screl(signal: hsa_signal_t, value: i64) -> i64;
    hsa_signal_cas_acquire = hsa_signal_cas_scacquire(signal: hsa_signal_t, expected: i64, value: i64) -> i64;
    hsa_signal_cas_release = hsa_signal_cas_screlease(signal: hsa_signal_t, expected: i64, value: i64) -> i64;
    hsa_signal_cas_acq_rel = hsa_signal_cas_scacq_screl(signal: hsa_signal_t, expected: i64, value: i64) -> i64;
    hsa_signal_wait_acquire = hsa_signal_wait_scacquire(signal: hsa_signal_t, condition: hsa_signal_condition_t, compare: i64, timeout: u64, state: hsa_wait_state_t) -> i64;
}

/// Waits; the answer is the value last seen, so a caller can tell a timeout.
macro_rules! wait {
    ($($name:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Waits until the condition holds or the time is over.
        value fn $name(signal: hsa_signal_t, condition: hsa_signal_condition_t, compare: i64, timeout: u64, state: hsa_wait_state_t) -> i64 {
            let Some(signal) = signal::lookup(signal.handle) else { return 0 };
            match Condition::from_raw(condition.0) {
                Some(condition) => signal.wait(condition, compare, timeout, hint(state), $order),
                None => signal.load($order),
            }
        }
    })* };
}

wait! {
    hsa_signal_wait_relaxed Relaxed;
    hsa_signal_wait_scacquire Acquire;
}

hsa_export! { core:
    /// Makes a group of signals that can be waited for together.
    fn hsa_signal_group_create(num_signals: u32, signals: In<hsa_signal_t>, num_consumers: u32, consumers: In<hsa_agent_t>, signal_group: Out<hsa_signal_group_t>) {
        let runtime = runtime::current()?;
        let out = signal_group.required()?;
        if num_signals == 0 {
            return Err(Core::InvalidArgument.into());
        }
        let signals = list(&signals, usize::try_from(num_signals).unwrap_or(usize::MAX))?;
        unique(agents(runtime, &consumers, num_consumers)?)?;
        out.write(hsa_signal_group_t { handle: runtime.create_signal_group(&signals)? })
    }
}

hsa_export! { core:
    /// Destroys a group; the signals live on.
    fn hsa_signal_group_destroy(signal_group: hsa_signal_group_t) {
        Ok(runtime::current()?.destroy_signal_group(signal_group.handle)?)
    }
}

macro_rules! group_wait {
    ($($name:ident;)*) => { $(hsa_export! { core:
        /// Waits, without a time limit, until one signal of a group satisfies its condition.
        fn $name(signal_group: hsa_signal_group_t, conditions: In<hsa_signal_condition_t>, compares: In<i64>, state: hsa_wait_state_t, signal: Out<hsa_signal_t>, value: Out<i64>) {
            let runtime = runtime::current()?;
            let (signal, value) = (signal.required()?, value.required()?);
            let signals = runtime.signal_group(signal_group.handle)?;
            let conditions = self::conditions(&conditions, signals.len())?;
            let compares = compares.array(signals.len())?;
            let found = runtime.wait_any(&signals, &conditions, &compares, u64::MAX, hint(state));
            let (index, seen) = found.ok_or(Core::Generic)?;
            signal.write(hsa_signal_t { handle: signals[index].handle() })?;
            value.write(seen)
        }
    })* };
}

group_wait! {
    hsa_signal_group_wait_any_scacquire;
    hsa_signal_group_wait_any_relaxed;
}

/// The conditions of an array.
pub(crate) fn conditions(
    raw: &In<hsa_signal_condition_t>,
    count: usize,
) -> hsa_core::Result<Vec<Condition>> {
    let raw = raw.array(count)?;
    raw.into_iter()
        .map(|c| Condition::from_raw(c.0).ok_or(Core::InvalidArgument))
        .collect()
}
