//! Signal groups: lists of signals with a handle.

use super::{Signal, lookup};
use crate::Result;
use crate::error::Error;
use crate::runtime::Runtime;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Groups by handle. Handles are never used twice.
static GROUPS: Mutex<Groups> = Mutex::new(Groups {
    next: 1,
    by_handle: None,
});

struct Groups {
    next: u64,
    by_handle: Option<HashMap<u64, Vec<u64>>>,
}

impl Runtime {
    /// Creates a signal group; the handle is never 0.
    ///
    /// # Errors
    /// `InvalidArgument` for no signals.
    pub fn create_signal_group(&self, signals: &[Signal]) -> Result<u64> {
        if signals.is_empty() {
            return Err(Error::InvalidArgument);
        }
        let mut groups = GROUPS.lock();
        let handle = groups.next;
        groups.next += 1;
        let members = signals.iter().map(|s| s.handle()).collect();
        groups
            .by_handle
            .get_or_insert_default()
            .insert(handle, members);
        Ok(handle)
    }

    /// Destroys a signal group.
    ///
    /// # Errors
    /// `InvalidSignalGroup`
    pub fn destroy_signal_group(&self, group: u64) -> Result<()> {
        let removed = GROUPS
            .lock()
            .by_handle
            .as_mut()
            .and_then(|groups| groups.remove(&group));
        removed.map(drop).ok_or(Error::InvalidSignalGroup)
    }

    /// The signals of a group, to be waited for with [`Runtime::wait_any`].
    ///
    /// # Errors
    /// `InvalidSignalGroup`; `InvalidSignal` if a member was destroyed.
    pub fn signal_group(&self, group: u64) -> Result<Vec<Signal>> {
        let groups = GROUPS.lock();
        let members = groups
            .by_handle
            .as_ref()
            .and_then(|g| g.get(&group))
            .ok_or(Error::InvalidSignalGroup)?;
        members
            .iter()
            .map(|&handle| lookup(handle).ok_or(Error::InvalidSignal))
            .collect()
    }
}
