//! The reference count behind `hsa_init` and `hsa_shut_down`, and fork.
//!
//! The runtime object is leaked on purpose: calls find it by one atomic load, and a process may exit
//! at any time with threads inside. What costs anything hangs in [`Live`], which shut-down closes.

use super::Runtime;
use crate::Result;
use crate::error::Error;
use crate::live::{self, Live};
use crate::notify;
use hsakmt_sys::Kernel;
use parking_lot::Mutex;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Once};

static CURRENT: AtomicPtr<Runtime> = AtomicPtr::new(ptr::null_mut());
static STATE: Mutex<State> = Mutex::new(State {
    users: 0,
    last: None,
});

struct State {
    users: u32,
    /// The object of the last open runtime, used again if the topology is the same.
    last: Option<&'static Runtime>,
}

/// `INT32_MAX` users, as AMD's runtime counts.
const MAX_USERS: u32 = i32::MAX.cast_unsigned();

/// Opens the runtime, or counts one more user of the open one (`hsa_init`).
///
/// `choose` gives the driver; it is called only by the call that opens.
///
/// # Errors
/// What `choose` answers, `OutOfResources` if the driver refuses, `RefcountOverflow` after
/// 2^31 - 1 calls.
pub fn acquire(choose: impl FnOnce() -> Result<Arc<dyn Kernel>>) -> Result<()> {
    watch_forks();
    let mut state = STATE.lock();
    if state.users == MAX_USERS {
        return Err(Error::RefcountOverflow);
    }
    if state.users == 0 {
        open(&mut state, choose()?)?;
    }
    state.users += 1;
    Ok(())
}

/// Drops one user and closes the runtime with the last (`hsa_shut_down`).
///
/// # Errors
/// `NotInitialized` without a matching [`acquire`].
pub fn release() -> Result<()> {
    let mut state = STATE.lock();
    state.users = state.users.checked_sub(1).ok_or(Error::NotInitialized)?;
    if state.users == 0 {
        close(&state);
    }
    Ok(())
}

/// The open runtime: one atomic load.
///
/// # Errors
/// `NotInitialized` outside of [`acquire`] and [`release`], and in a forked child.
#[inline]
pub fn current() -> Result<&'static Runtime> {
    let runtime = CURRENT.load(Ordering::Acquire);
    // SAFETY: the pointer is null or comes from a leaked box, which is never freed or written.
    unsafe { runtime.as_ref() }.ok_or(Error::NotInitialized)
}

fn open(state: &mut State, kernel: Arc<dyn Kernel>) -> Result<()> {
    // Signals and code of a parent process, if this is a forked child.
    crate::signal::slab::forget_all();
    crate::loader::forget_all();
    let (tables, live) = Live::open(Arc::clone(&kernel))?;
    let runtime = match state.last {
        Some(last) if last.tables == tables => last,
        _ => Box::leak(Box::new(Runtime::new(tables))),
    };
    *runtime.live.write() = Some(Arc::new(live));
    state.last = Some(runtime);
    notify::set_kernel(Some(&kernel));
    CURRENT.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
    Ok(())
}

fn close(state: &State) {
    let Some(runtime) = state.last else { return };
    let Ok(live) = runtime.live() else { return };
    live.run_hooks();
    CURRENT.store(ptr::null_mut(), Ordering::Release);
    *runtime.live.write() = None;
    live::close(live);
    notify::set_kernel(None);
}

/// A forked child has none of the threads and must not use the parent's device: it starts closed.
fn watch_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the three handlers only touch statics of this file.
        unsafe {
            libc::pthread_atfork(
                Some(before_fork),
                Some(after_fork_parent),
                Some(after_fork_child),
            )
        };
    });
}

extern "C" fn before_fork() {
    std::mem::forget(STATE.lock());
}

extern "C" fn after_fork_parent() {
    // SAFETY: `before_fork` of this thread holds the lock and leaked the guard.
    unsafe { STATE.force_unlock() };
}

extern "C" fn after_fork_child() {
    // SAFETY: as in the parent; the child's only thread is the one that forked.
    unsafe { STATE.force_unlock() };
    CURRENT.store(ptr::null_mut(), Ordering::Release);
    let mut state = STATE.lock();
    state.users = 0;
    // The object with the parent's threads and descriptors is forgotten, not closed.
    state.last = None;
    notify::set_kernel(None);
}
