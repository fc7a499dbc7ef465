//! Sleep and wake of one thread on a futex: the wake path is one atomic addition unless the thread
//! is asleep.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Set while the owner sleeps or is about to.
const ASLEEP: u32 = 1;
/// One wake; the count above [`ASLEEP`] only has to change.
const WAKE: u32 = 2;

/// An event count with one sleeper and any number of wakers.
#[derive(Debug, Default)]
pub(super) struct Doze {
    word: AtomicU32,
}

/// The count at a moment: wakes after it end or prevent a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ticket(u32);

impl Doze {
    /// Taken before the owner looks for work.
    pub(super) fn ticket(&self) -> Ticket {
        // ORDERING: SeqCst here and in `wake`: the owner's look for work comes after the ticket,
        // the waker's store of work before the addition.
        Ticket(self.word.load(Ordering::SeqCst))
    }

    /// Ends the owner's sleep, or the next one with an older ticket.
    pub(super) fn wake(&self) {
        let before = self.word.fetch_add(WAKE, Ordering::SeqCst);
        if before & ASLEEP != 0 {
            futex_wake(&self.word);
        }
    }

    /// Sleeps until a wake that came after `ticket`, or until the timeout. Only the owner calls it.
    pub(super) fn sleep(&self, ticket: Ticket, timeout: Option<Duration>) {
        let asleep = ticket.0 | ASLEEP;
        let entered =
            self.word
                .compare_exchange(ticket.0, asleep, Ordering::SeqCst, Ordering::SeqCst);
        if entered.is_ok() {
            futex_wait(&self.word, asleep, timeout);
            self.word.fetch_and(!ASLEEP, Ordering::SeqCst);
        }
    }
}

fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let spec = timeout.map(|t| libc::timespec {
        tv_sec: libc::time_t::try_from(t.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: t.subsec_nanos().into(),
    });
    let spec = spec.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `word` and `spec` (null or a live local) are valid for the call; FUTEX_WAIT only
    // reads them. Every way it can return (wake, EAGAIN, EINTR, ETIMEDOUT) is handled by the
    // caller's loop, which looks for work again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            spec,
        )
    };
}

fn futex_wake(word: &AtomicU32) {
    // SAFETY: `word` is a live futex word; FUTEX_WAKE does not access memory beyond its address.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        )
    };
}

/// Prepares the calling thread to be one of a driver's own: the client's signal handlers do not run
/// on it (faults still do), and short timeouts are kept.
pub(super) fn prepare_thread() {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `set` is valid for writes; sigfillset initialises it.
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
    ] {
        // SAFETY: `set` was initialised above and the signal numbers are valid.
        unsafe { libc::sigdelset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: `set` is initialised; a null old set is allowed.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) };
    // The default slack of 50 us would swallow the first steps of the back-off.
    // SAFETY: PR_SET_TIMERSLACK takes one integer and affects the calling thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_wake_between_ticket_and_sleep_prevents_the_sleep() {
        let doze = Doze::default();
        let ticket = doze.ticket();
        doze.wake();
        doze.sleep(ticket, None);
        assert_ne!(doze.ticket(), ticket);
    }

    #[test]
    fn a_wake_ends_a_sleep_without_timeout() {
        let doze = Arc::new(Doze::default());
        let sleeper = Arc::clone(&doze);
        let ticket = doze.ticket();
        let thread = std::thread::spawn(move || sleeper.sleep(ticket, None));
        while doze.word.load(Ordering::SeqCst) & ASLEEP == 0 && !thread.is_finished() {
            std::thread::yield_now();
        }
        doze.wake();
        thread.join().unwrap();
    }
}
