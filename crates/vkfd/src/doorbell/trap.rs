//! The operating-system side of doorbells: protection, the SIGSEGV handler, and futex calls.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use hsakmt_sys::Errno;

use super::{monitor, pages};

/// `si_code` of a fault on a page that exists (asm-generic/siginfo.h); libc does not name it.
const SEGV_ACCERR: c_int = 2;

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// What handled SIGSEGV before us; set before our handler can run.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static INSTALLED: OnceLock<Result<(), Errno>> = OnceLock::new();

/// Installs the handler once.
pub(super) fn install() -> Result<(), Errno> {
    *INSTALLED.get_or_init(|| {
        let previous = current_action()?;
        PREVIOUS.get_or_init(|| previous);
        set_action(&own_action())
    })
}

fn own_action() -> libc::sigaction {
    // SAFETY: all-zero is a valid `sigaction`: default handler, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: Handler = on_segv;
    action.sa_sigaction = handler as *const () as usize;
    // SA_NODEFER: a fault inside a chained handler must reach it as without us.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
    action
}

fn current_action() -> Result<libc::sigaction, Errno> {
    // SAFETY: as in `own_action`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: only asks; `action` is a valid place for the answer.
    let failed = unsafe { libc::sigaction(libc::SIGSEGV, std::ptr::null(), &raw mut action) };
    if failed == 0 {
        Ok(action)
    } else {
        Err(Errno::last())
    }
}

fn set_action(action: &libc::sigaction) -> Result<(), Errno> {
    // SAFETY: the handler forwards what is not its own after looking at atomics only.
    let failed = unsafe {
        libc::sigaction(
            libc::SIGSEGV,
            std::ptr::from_ref(action),
            std::ptr::null_mut(),
        )
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(Errno::last())
    }
}

/// Async-signal-safe: atomics and system calls only (a queue's wake is one of each).
extern "C" fn on_segv(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo to an SA_SIGINFO handler.
    let fault = unsafe { &*info };
    // SAFETY: for SIGSEGV the address field is the valid one.
    let address = unsafe { fault.si_addr() }.addr();
    if fault.si_code == SEGV_ACCERR && open_doorbell(address) {
        return;
    }
    forward(signal, info, context);
}

/// The value of SEGV_ACCERR is checked, so the page exists and only lacks a right.
fn open_doorbell(address: usize) -> bool {
    let Some((page, index)) = pages::find(address) else {
        return false;
    };
    let Some((base, bytes)) = pages::mapping_of(address) else {
        return false;
    };
    let saved = errno();
    let opened = open(base, bytes);
    if opened {
        page.note_trap(index);
        page.wake_from_handler(index);
        monitor::alarm();
    }
    set_errno(saved);
    opened
}

fn forward(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(previous) = PREVIOUS.get() else {
        return;
    };
    match previous.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // Back to the default: the instruction faults again and the process ends as it should.
            let _ = set_action(previous);
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: SA_SIGINFO says that this is a three-argument handler.
            let handler: Handler = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without SA_SIGINFO it is a one-argument handler.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// Makes a client mapping read-only.
pub(super) fn protect(base: usize, bytes: usize) {
    if !set_protection(base, bytes, libc::PROT_READ) {
        tracing::warn!(base, "cannot arm a doorbell page; it was unmapped");
    }
}

/// Makes a client mapping writable; true if it was there.
pub(super) fn open(base: usize, bytes: usize) -> bool {
    set_protection(base, bytes, libc::PROT_READ | libc::PROT_WRITE)
}

fn set_protection(base: usize, bytes: usize, prot: c_int) -> bool {
    let address = std::ptr::with_exposed_provenance_mut(base);
    // SAFETY: a registered client mapping of a doorbell segment; its content does not change.
    unsafe { libc::mprotect(address, bytes, prot) == 0 }
}

fn errno() -> c_int {
    // SAFETY: plain call.
    let location = unsafe { libc::__errno_location() };
    // SAFETY: the location is valid for the thread's life.
    unsafe { location.read() }
}

fn set_errno(value: c_int) {
    // SAFETY: plain call.
    let location = unsafe { libc::__errno_location() };
    // SAFETY: as in `errno`.
    unsafe { location.write(value) }
}

/// Sleeps while `word` is `seen`, at most `timeout`.
pub(super) fn futex_wait(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(timeout.subsec_nanos()),
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // Any return is a reason to look again. SAFETY: `word` and `timeout` outlive the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, seen, timeout) };
}

/// Wakes all sleepers of `word`.
pub(super) fn futex_wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: `word` outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, c_int::MAX) };
}

/// The default timer slack of 50 µs is longer than the monitor's first interval.
pub(super) fn fine_timers() {
    // SAFETY: affects only the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000) };
}
