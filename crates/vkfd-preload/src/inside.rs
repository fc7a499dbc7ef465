//! Which code is running: the program's, or the device's.
//!
//! The device itself opens files, maps memory and starts threads, through the same C library names
//! that are intercepted. While it runs on a thread, and for good on threads that it started, all
//! calls go to the real functions.

use crate::real::{self, ThreadMain};
use hsakmt_sys::Errno;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// No destructor, no lazy start: reading it is safe in every call at any time.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the device is running on this thread.
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

/// Restores the mark on every way out.
struct Mark(bool);

impl Drop for Mark {
    fn drop(&mut self) {
        INSIDE.set(self.0);
    }
}

/// Runs a piece of the device. A panic there must not unwind into C: it becomes `EIO`.
pub(crate) fn run<T>(body: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    let _mark = Mark(INSIDE.replace(true));
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Errno(libc::EIO)))
}

/// What a thread of the device starts with.
struct Start {
    main: ThreadMain,
    argument: *mut c_void,
}

extern "C" fn start_inside(start: *mut c_void) -> *mut c_void {
    INSIDE.set(true);
    // SAFETY: `pthread_create` below boxed it for this one call.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    let Start { main, argument } = *start;
    main(argument)
}

/// `pthread_create(3)`: threads that the device starts belong to it.
///
/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    main: ThreadMain,
    argument: *mut c_void,
) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's promise.
        return unsafe { real::pthread_create(thread, attributes, main, argument) };
    }
    let start = Box::into_raw(Box::new(Start { main, argument }));
    // SAFETY: the caller's promise; `start_inside` takes what it is given.
    let result = unsafe { real::pthread_create(thread, attributes, start_inside, start.cast()) };
    if result != 0 {
        // SAFETY: no thread has started, so the box is still ours.
        drop(unsafe { Box::from_raw(start) });
    }
    result
}
