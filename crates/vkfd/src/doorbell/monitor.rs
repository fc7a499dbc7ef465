//! The thread that looks at open doorbell pages. It sleeps without any timer while none is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hsakmt_sys::Errno;

use super::Slice;
use super::pages::Page;

/// Changes with each trapped store and each request to stop; the monitors' futex.
static BELL: AtomicU32 = AtomicU32::new(0);

/// First interval between two looks at an open page.
const SHORTEST: Duration = Duration::from_micros(20);
/// Longest interval, reached while queues work and nobody rings.
const LONGEST: Duration = Duration::from_micros(500);
/// How long a page stays open after its last sign of life.
const QUIET: Duration = Duration::from_millis(1);

/// The doorbell monitor of one virtual KFD; dropping it ends its thread.
#[derive(Debug)]
pub(crate) struct Monitor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Where the thread runs.
    process: u32,
}

impl Monitor {
    /// Starts the thread for these slices.
    ///
    /// # Errors
    /// `EAGAIN` if it cannot be made.
    pub(crate) fn start(slices: &[&Slice]) -> Result<Self, Errno> {
        let pages: Vec<&'static Page> = slices.iter().map(|slice| slice.page).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("vkfd-doorbells".to_owned())
            .spawn(move || watch(&pages, &stopped))
            .map_err(|_| Errno(libc::EAGAIN))?;
        Ok(Self {
            stop,
            thread: Some(thread),
            process: std::process::id(),
        })
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // A child of `fork` has no such thread to wait for.
            std::mem::forget(self.thread.take());
            return;
        }
        self.stop.store(true, Ordering::SeqCst);
        alarm();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Wakes all monitors; only a system call, so it may be made in a signal handler.
pub(super) fn alarm() {
    BELL.fetch_add(1, Ordering::SeqCst);
    super::trap::futex_wake(&BELL);
}

fn watch(pages: &[&'static Page], stop: &AtomicBool) {
    super::trap::fine_timers();
    let mut interval = SHORTEST;
    loop {
        let seen = BELL.load(Ordering::SeqCst);
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let mut open = pages.iter().filter(|page| page.is_open()).peekable();
        if open.peek().is_none() {
            interval = SHORTEST;
            super::trap::futex_wait(&BELL, seen, None);
            continue;
        }
        // Not `any`: every page must be looked at.
        let rang = open.fold(false, |rang, page| attend(page) | rang);
        interval = if rang {
            SHORTEST
        } else {
            (interval * 2).min(LONGEST)
        };
        super::trap::futex_wait(&BELL, seen, Some(interval));
    }
}

/// One look at an open page; true if a doorbell rang. Arms the page when it has come to rest.
fn attend(page: &Page) -> bool {
    let rang = page.look();
    if !rang && !page.is_busy() && Instant::now() - page.quiet_since() > QUIET {
        page.arm();
    }
    rang
}
