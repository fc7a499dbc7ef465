//! Helper threads that are parked while there is nothing to help with.

use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};

/// Work that several threads can do at once.
pub(crate) trait Work: Sync {
    /// Does a share of the work; returns when nothing is left to do beside what others do.
    fn help(&self, worker: usize);
    /// True while another thread would find something to do.
    fn wants_help(&self) -> bool;
    /// A helper panicked: its share is lost.
    fn abandon(&self);
}

/// A borrowed job whose borrow is kept alive by [`Pool::retire`].
#[derive(Clone, Copy)]
struct JobRef(*const (dyn Work + 'static));

// SAFETY: the job is `Sync`, and the pointer is used only between `publish` and `retire`.
unsafe impl Send for JobRef {}

struct Job {
    work: JobRef,
    helpers: usize,
    id: u64,
    /// No more helpers may join.
    closed: bool,
}

#[derive(Default)]
struct State {
    jobs: Vec<Job>,
    next_id: u64,
    shutdown: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    done: Condvar,
}

/// The threads.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    size: usize,
}

/// A published job; dropping it waits until all helpers have left.
pub(crate) struct Published<'a> {
    pool: &'a Pool,
    id: u64,
}

impl Pool {
    /// A pool of `size` threads, started when they are first needed.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            shared: Arc::default(),
            threads: Mutex::default(),
            size,
        }
    }

    /// Number of helper threads.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Offers `work` to up to `helpers` threads until the result is dropped.
    ///
    /// # Safety
    /// The result must be dropped before `work` goes away; do not forget it.
    pub(crate) unsafe fn publish<'a>(
        &'a self,
        work: &(dyn Work + '_),
        helpers: usize,
    ) -> Published<'a> {
        self.start();
        let pointer = std::ptr::from_ref(work);
        // SAFETY: only the lifetime changes; the caller keeps the work alive.
        let pointer: *const (dyn Work + 'static) = unsafe { std::mem::transmute(pointer) };
        let mut state = self.shared.state.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.jobs.push(Job {
            work: JobRef(pointer),
            helpers: 0,
            id,
            closed: false,
        });
        drop(state);
        for _ in 0..helpers.min(self.size) {
            self.shared.wake.notify_one();
        }
        Published { pool: self, id }
    }

    fn start(&self) {
        let mut threads = self.threads.lock();
        for number in threads.len()..self.size {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new()
                .name(format!("gpu-worker-{number}"))
                .spawn(move || shared.serve(number + 1));
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    // The calling thread does all the work then.
                    tracing::warn!(%error, "cannot start a worker thread");
                    break;
                }
            }
        }
    }

    fn retire(&self, id: u64) {
        let mut state = self.shared.state.lock();
        loop {
            let Some(index) = state.jobs.iter().position(|job| job.id == id) else {
                return;
            };
            state.jobs[index].closed = true;
            if state.jobs[index].helpers == 0 {
                state.jobs.swap_remove(index);
                return;
            }
            self.shared.done.wait(&mut state);
        }
    }
}

impl Drop for Published<'_> {
    fn drop(&mut self) {
        self.pool.retire(self.id);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.state.lock().shutdown = true;
        self.shared.wake.notify_all();
        for thread in self.threads.get_mut().drain(..) {
            // A helper that panicked has already been reported.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn serve(&self, worker: usize) {
        let mut state = self.state.lock();
        while !state.shutdown {
            // SAFETY: jobs in the list are alive: `retire` removes them before they go.
            let wanted = |job: &Job| !job.closed && unsafe { &*job.work.0 }.wants_help();
            let Some(index) = state.jobs.iter().position(wanted) else {
                self.wake.wait(&mut state);
                continue;
            };
            let job = &mut state.jobs[index];
            job.helpers += 1;
            let (id, work) = (job.id, job.work);
            drop(state);
            // SAFETY: `retire` waits for this helper to leave.
            let work = unsafe { &*work.0 };
            let outcome =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.help(worker)));
            if outcome.is_err() {
                tracing::error!("a worker thread panicked");
                work.abandon();
            }
            state = self.state.lock();
            if let Some(job) = state.jobs.iter_mut().find(|job| job.id == id) {
                job.helpers -= 1;
                job.closed |= outcome.is_err();
            }
            self.done.notify_all();
        }
    }
}
