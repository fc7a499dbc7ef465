//! A way to the driver for the hot paths: signal stores and doorbells.
//!
//! Each thread keeps a weak reference to the open driver and renews it when the runtime was opened
//! again. So a store takes no lock, and a closed driver is really gone.

use hsakmt_sys::Kernel;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

type WeakKernel = Option<Weak<dyn Kernel>>;

static GENERATION: AtomicU64 = AtomicU64::new(0);
static CURRENT: Mutex<WeakKernel> = Mutex::new(None);

thread_local! {
    static CACHED: RefCell<(u64, WeakKernel)> = const { RefCell::new((0, None)) };
}

/// Makes `kernel` the driver that [`with_kernel`] finds, or none.
pub(crate) fn set_kernel(kernel: Option<&Arc<dyn Kernel>>) {
    *CURRENT.lock() = kernel.map(Arc::downgrade);
    // ORDERING: release pairs with the acquire in `with_kernel`.
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Calls `f` with the open driver; `None` without one.
#[inline]
pub(crate) fn with_kernel<R>(f: impl FnOnce(&dyn Kernel) -> R) -> Option<R> {
    // A thread that is ending has lost its cache, but may still have work: exit handlers run after
    // the main thread's destructors, and HIP waits for its last packets in one.
    let kernel = CACHED.try_with(cached).unwrap_or_else(|_| current())?;
    Some(f(&*kernel))
}

#[inline]
fn cached(cached: &RefCell<(u64, WeakKernel)>) -> Option<Arc<dyn Kernel>> {
    let mut cached = cached.borrow_mut();
    let generation = GENERATION.load(Ordering::Acquire);
    if cached.0 != generation {
        *cached = (generation, CURRENT.lock().clone());
    }
    cached.1.as_ref().and_then(Weak::upgrade)
}

fn current() -> Option<Arc<dyn Kernel>> {
    CURRENT.lock().as_ref().and_then(Weak::upgrade)
}

/// The host changed a signal that a queue may wait for.
#[inline]
pub(crate) fn host_wrote_signal() {
    with_kernel(|kernel| kernel.host_wrote_signal());
}
