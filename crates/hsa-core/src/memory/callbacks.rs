//! Deallocation notifiers (`hsa_amd_register_deallocation_callback`).

use super::{DeallocationCallback, Memory};
use crate::Result;
use crate::error::Error;
use crate::runtime::Runtime;
use parking_lot::Mutex;
use std::ptr;

/// The notifiers of one allocation.
#[derive(Debug, Default)]
pub(super) struct Callbacks(Mutex<Vec<Notifier>>);

#[derive(Debug)]
struct Notifier {
    address: u64,
    callback: DeallocationCallback,
    user_data: u64,
}

impl Callbacks {
    /// Calls and forgets all notifiers; no lock is held during a call.
    pub(super) fn run(&self, _base: u64) {
        let notifiers = std::mem::take(&mut *self.0.lock());
        for n in notifiers {
            let pointer =
                |v: u64| ptr::with_exposed_provenance_mut(usize::try_from(v).unwrap_or(0));
            // SAFETY: whoever registered the callback promised that it may be called with these two
            // values until it is deregistered.
            unsafe { (n.callback)(pointer(n.address), pointer(n.user_data)) };
        }
    }

    fn add(&self, notifier: Notifier) {
        self.0.lock().push(notifier);
    }

    fn remove(&self, callback: DeallocationCallback) -> bool {
        let mut list = self.0.lock();
        let found = list
            .iter()
            .position(|n| ptr::fn_addr_eq(n.callback, callback));
        found.map(|i| list.remove(i)).is_some()
    }
}

impl Memory {
    fn callbacks_of<R>(&self, ptr: u64, f: impl FnOnce(&Callbacks) -> R) -> Result<R> {
        let (_, allocation) = self.index.find(ptr).ok_or(Error::InvalidArgument)?;
        Ok(f(&allocation.callbacks))
    }
}

impl Runtime {
    /// Calls `callback(ptr, user_data)` when the allocation around `ptr` is freed.
    ///
    /// # Errors
    /// `InvalidArgument` for a pointer that is not inside of an allocation.
    ///
    /// # Safety
    /// The callback may be called with `ptr` and `user_data` until it is deregistered.
    pub unsafe fn register_deallocation_callback(
        &self,
        ptr: u64,
        callback: DeallocationCallback,
        user_data: u64,
    ) -> Result<()> {
        let notifier = Notifier {
            address: ptr,
            callback,
            user_data,
        };
        self.live()?
            .memory
            .callbacks_of(ptr, |list| list.add(notifier))
    }

    /// Undoes [`Runtime::register_deallocation_callback`].
    ///
    /// # Errors
    /// `InvalidArgument` if the pair was not registered.
    pub fn deregister_deallocation_callback(
        &self,
        ptr: u64,
        callback: DeallocationCallback,
    ) -> Result<()> {
        let removed = self
            .live()?
            .memory
            .callbacks_of(ptr, |list| list.remove(callback))?;
        if removed {
            Ok(())
        } else {
            Err(Error::InvalidArgument)
        }
    }
}
