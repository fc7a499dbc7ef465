//! Signals: creation, values, waits, groups, handlers.

use crate::agent::Agent;
use crate::error::Error;
use crate::runtime::Runtime;
use crate::Result;
use std::sync::atomic::Ordering;

/// `hsa_signal_condition_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Condition {
    /// Equal.
    Eq = 0,
    /// Not equal.
    Ne = 1,
    /// Less than.
    Lt = 2,
    /// Greater than or equal.
    Gte = 3,
}

impl Condition {
    /// The condition of a C value.
    #[must_use]
    pub fn from_raw(raw: u32) -> Option<Self> {
        [Self::Eq, Self::Ne, Self::Lt, Self::Gte].get(usize::try_from(raw).ok()?).copied()
    }

    /// Whether `value` satisfies the condition against `compare`.
    #[must_use]
    pub fn holds(self, value: i64, compare: i64) -> bool {
        match self {
            Self::Eq => value == compare,
            Self::Ne => value != compare,
            Self::Lt => value < compare,
            Self::Gte => value >= compare,
        }
    }
}

/// `hsa_wait_state_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitHint {
    /// 0: the thread may sleep.
    Blocked,
    /// 1: the wait is short, spin.
    Active,
}

/// `hsa_amd_signal_attribute_t` bits.
pub mod attribute {
    /// Only GPUs consume the signal: no event behind it.
    pub const GPU_ONLY: u64 = 1;
    /// The signal can be shared with other processes.
    pub const IPC: u64 = 2;
}

/// A live signal. Copying it does not keep the signal alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    handle: u64,
}

/// Finds the live signal of a handle: no lock, and any number is safe to ask about.
#[must_use]
#[inline]
pub fn lookup(handle: u64) -> Option<Signal> {
    let _ = handle;
    None
}

impl Runtime {
    /// Creates a signal (`hsa_signal_create`, `hsa_amd_signal_create`). No consumers, or a CPU among
    /// them, gives an interrupt signal; GPUs only, or [`attribute::GPU_ONLY`], a polled one.
    ///
    /// # Errors
    /// `OutOfResources`; `InvalidArgument` for unknown attributes.
    pub fn create_signal(&self, initial: i64, consumers: &[&Agent], attributes: u64) -> Result<Signal> {
        let _ = (initial, consumers, attributes);
        Err(Error::NotSupported)
    }

    /// Runs `handler` with the observed value on the runtime's thread when the condition holds,
    /// again while it answers true (`hsa_amd_signal_async_handler`).
    ///
    /// # Errors
    /// `OutOfResources`
    pub fn async_handler(
        &self,
        signal: Signal,
        condition: Condition,
        compare: i64,
        handler: Box<dyn FnMut(i64) -> bool + Send>,
    ) -> Result<()> {
        let _ = (signal, condition, compare, handler);
        Err(Error::NotSupported)
    }

    /// Runs `function` once on the runtime's thread (`hsa_amd_async_function`).
    ///
    /// # Errors
    /// `OutOfResources`
    pub fn async_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        let _ = function;
        Err(Error::NotSupported)
    }

    /// Waits until one signal's condition holds; answers its index and value
    /// (`hsa_amd_signal_wait_any`), `None` on timeout. `timeout` is in ticks of the system clock,
    /// `u64::MAX` for ever.
    #[must_use]
    pub fn wait_any(
        &self,
        signals: &[Signal],
        conditions: &[Condition],
        compares: &[i64],
        timeout: u64,
        hint: WaitHint,
    ) -> Option<(usize, i64)> {
        let _ = (signals, conditions, compares, timeout, hint);
        None
    }

    /// Waits until all conditions have held (`hsa_amd_signal_wait_all`): the last observed values,
    /// or `None` on timeout.
    #[must_use]
    pub fn wait_all(
        &self,
        signals: &[Signal],
        conditions: &[Condition],
        compares: &[i64],
        timeout: u64,
        hint: WaitHint,
    ) -> Option<Vec<i64>> {
        let _ = (signals, conditions, compares, timeout, hint);
        None
    }

    /// Creates a signal group; the handle is never 0.
    ///
    /// # Errors
    /// `InvalidArgument` for no signals.
    pub fn create_signal_group(&self, signals: &[Signal]) -> Result<u64> {
        let _ = signals;
        Err(Error::NotSupported)
    }

    /// Destroys a signal group.
    ///
    /// # Errors
    /// `InvalidSignalGroup`
    pub fn destroy_signal_group(&self, group: u64) -> Result<()> {
        let _ = group;
        Err(Error::InvalidSignalGroup)
    }

    /// The signals of a group, to be waited for with [`Runtime::wait_any`].
    ///
    /// # Errors
    /// `InvalidSignalGroup`
    pub fn signal_group(&self, group: u64) -> Result<Vec<Signal>> {
        let _ = group;
        Err(Error::InvalidSignalGroup)
    }
}

impl Signal {
    /// The handle.
    #[must_use]
    pub fn handle(self) -> u64 {
        self.handle
    }
    /// Address of the value (`hsa_amd_signal_value_pointer`).
    ///
    /// # Errors
    /// `InvalidArgument` for a doorbell.
    pub fn value_address(self) -> Result<u64> {
        Err(Error::NotSupported)
    }
    /// Frees the signal; waiters return, handlers are dropped.
    ///
    /// # Errors
    /// `InvalidArgument` for a doorbell, which belongs to its queue.
    pub fn destroy(self) -> Result<()> {
        Err(Error::NotSupported)
    }
    /// Reads the value.
    #[must_use]
    #[inline]
    pub fn load(self, order: Ordering) -> i64 {
        let _ = order;
        0
    }
    /// Stores a value and wakes waiters; a doorbell rings its queue.
    #[inline]
    pub fn store(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Stores a value without waking host waiters.
    #[inline]
    pub fn silent_store(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Swaps the value and wakes waiters; answers the old value.
    #[inline]
    pub fn exchange(self, value: i64, order: Ordering) -> i64 {
        let _ = (value, order);
        0
    }
    /// Compare and swap; answers the old value.
    #[inline]
    pub fn cas(self, expected: i64, value: i64, order: Ordering) -> i64 {
        let _ = (expected, value, order);
        0
    }
    /// Adds and wakes waiters.
    #[inline]
    pub fn add(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Subtracts and wakes waiters.
    #[inline]
    pub fn subtract(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Bitwise and; wakes waiters.
    #[inline]
    pub fn and(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Bitwise or; wakes waiters.
    #[inline]
    pub fn or(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Bitwise exclusive or; wakes waiters.
    #[inline]
    pub fn xor(self, value: i64, order: Ordering) {
        let _ = (value, order);
    }
    /// Waits until the condition holds or `timeout` ticks of the system clock passed; answers the
    /// value last seen. `order` is `Relaxed` or `Acquire`.
    pub fn wait(
        self,
        condition: Condition,
        compare: i64,
        timeout: u64,
        hint: WaitHint,
        order: Ordering,
    ) -> i64 {
        let _ = (condition, compare, timeout, hint, order);
        0
    }
}
