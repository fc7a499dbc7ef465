//! Work of the host that waits for signals: copies that no engine makes, and prefetches.
//!
//! A job waits for its dependencies with handlers, not in the thread; so a job whose dependency comes
//! late never holds up another.

use crate::Result;
use crate::error::Error;
use crate::live::Live;
use crate::signal::{Condition, Kept, Signal};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

type Work = Box<dyn FnOnce() + Send>;

/// One job: what to wait for, what to do, what to decrement.
struct Job {
    deps: Vec<Kept>,
    completion: Option<Kept>,
    profiled: bool,
    work: Work,
}

impl Job {
    /// A dependency that is not 0 yet.
    fn blocker(&mut self) -> Option<Signal> {
        while let Some(dep) = self.deps.last() {
            if dep.signal().load(Ordering::Acquire) != 0 {
                return Some(dep.signal());
            }
            self.deps.pop();
        }
        None
    }

    fn run(self) {
        let start = crate::clock::boottime_ns();
        (self.work)();
        let Some(completion) = self.completion else {
            return;
        };
        if self.profiled {
            completion
                .signal()
                .set_host_times(start, crate::clock::boottime_ns());
        }
        completion.signal().complete();
    }
}

/// The thread and its jobs.
pub(super) struct Host {
    state: Mutex<State>,
    changed: Condvar,
    me: Weak<Self>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Job>,
    thread: Option<JoinHandle<()>>,
    stopping: bool,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("ready", &self.state.lock().ready.len())
            .finish_non_exhaustive()
    }
}

impl Host {
    pub(super) fn new() -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            me: me.clone(),
        })
    }

    pub(super) fn submit(
        &self,
        live: &Arc<Live>,
        deps: &[Signal],
        completion: Option<Signal>,
        profiled: bool,
        work: Work,
    ) -> Result<()> {
        let keep = |signal: &Signal| signal.keep().ok_or(Error::InvalidSignal);
        let job = Job {
            deps: deps.iter().map(keep).collect::<Result<_>>()?,
            completion: completion.as_ref().map(keep).transpose()?,
            profiled,
            work,
        };
        self.when_ready(live, job)
    }

    /// Queues the job when its dependencies are 0: now, or from a handler of the one that is not.
    fn when_ready(&self, live: &Arc<Live>, mut job: Job) -> Result<()> {
        let Some(blocker) = job.blocker() else {
            return self.enqueue(job);
        };
        let (me, weak) = (self.me.clone(), Arc::downgrade(live));
        let mut job = Some(job);
        let handler = move |_| {
            if let (Some(me), Some(live), Some(job)) = (me.upgrade(), weak.upgrade(), job.take())
                && let Err(error) = me.when_ready(&live, job)
            {
                tracing::error!(%error, "a host copy was lost");
            }
            false
        };
        live.handlers
            .add(blocker, Condition::Eq, 0, Box::new(handler))
    }

    fn enqueue(&self, job: Job) -> Result<()> {
        let mut state = self.state.lock();
        if state.stopping {
            return Err(Error::NotInitialized);
        }
        if state.thread.is_none() {
            let me = self.me.upgrade().ok_or(Error::NotInitialized)?;
            let spawned = thread::Builder::new()
                .name("hansa-copies".into())
                .spawn(move || me.work());
            state.thread = Some(spawned.map_err(|_| Error::OutOfResources)?);
        }
        state.ready.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    fn work(&self) {
        let mut state = self.state.lock();
        while !state.stopping {
            match state.ready.pop_front() {
                Some(job) => {
                    drop(state);
                    job.run();
                    state = self.state.lock();
                }
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// Ends the thread after its current job.
    pub(super) fn stop(&self) {
        let (thread, jobs) = {
            let mut state = self.state.lock();
            state.stopping = true;
            (state.thread.take(), std::mem::take(&mut state.ready))
        };
        self.changed.notify_all();
        if let Some(thread) = thread {
            // A panic in a job was reported by the panic hook already.
            let _ = thread.join();
        }
        drop(jobs);
    }
}
