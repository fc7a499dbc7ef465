//! The queues whose head packet waits for a memory value.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::control::Control;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static WAITERS: LazyLock<Mutex<Vec<Arc<Control>>>> = LazyLock::new(|| Mutex::new(Vec::new()));

/// Memory that a waiting packet polls may have changed: a completion, a fence, a store of the host.
/// One load when nobody waits.
pub fn notify_waiting() {
    // ORDERING: the fence pairs with the one in `Waiting::enter`: either this load sees the waiter,
    // or the waiter's next look sees the caller's store.
    std::sync::atomic::fence(Ordering::SeqCst);
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    for control in WAITERS.lock().iter() {
        control.wake();
    }
}

/// Membership in the list; dropping it leaves the list.
#[derive(Debug)]
pub(super) struct Waiting(Arc<Control>);

impl Waiting {
    /// From now on the queue hears of [`notify_waiting`]; it must look at memory once more.
    pub(super) fn enter(control: &Arc<Control>) -> Self {
        WAITERS.lock().push(Arc::clone(control));
        COUNT.fetch_add(1, Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::SeqCst);
        Self(Arc::clone(control))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        let mut waiters = WAITERS.lock();
        if let Some(at) = waiters.iter().position(|w| Arc::ptr_eq(w, &self.0)) {
            waiters.swap_remove(at);
        }
    }
}
