//! Queues at work: one named thread per running queue, which sleeps without any periodic wake-up
//! while there is nothing to do.
//!
//! A thread spins for a moment after activity so that back-to-back round trips find it awake, then
//! sleeps on a futex until [`RunningQueue::wake`]. A packet that waits for a memory value is looked
//! at again after every wake, after every completion of any queue ([`notify_waiting`]) and, since
//! hosts and kernels also store plainly, at growing intervals.

mod control;
mod doze;
mod engine;
mod gpu;
mod host;
mod waiters;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

use hsakmt_sys::device::Errno;
use parking_lot::Mutex;

pub use control::Control;
pub use host::Host;
pub use waiters::notify_waiting;

use crate::cp::AqlQueue;
use crate::queue::{QueueDesc, QueueKind, RunningQueue};
use crate::sdma::SdmaQueue;

/// How a packet processor's look at its ring ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A packet was retired, or part of a long one; there may be more.
    Progress,
    /// Nothing to do until the doorbell rings.
    Idle,
    /// The packet at the head waits for a memory value.
    Waiting,
    /// An error stopped the queue for good.
    Halted,
}

/// A packet processor: reads one ring.
pub trait Processor: Send {
    /// Looks at the ring once and runs at most one packet.
    fn step(&mut self, control: &Control) -> Step;

    /// The processor panicked in a step: tell the client, once, that the queue is lost.
    fn abandon(&mut self);
}

/// Starts a queue's thread.
///
/// # Errors
/// `EOPNOTSUPP` for PM4 queues, which have no processor yet; `EAGAIN` if the thread cannot be made.
pub fn start(desc: QueueDesc, host: Arc<dyn Host>) -> Result<Arc<dyn RunningQueue>, Errno> {
    let name = format!("vkfd-queue-{}", desc.queue_id);
    let doorbell = desc.doorbell.clone();
    let processor: Box<dyn Processor> = match desc.kind {
        QueueKind::Aql => Box::new(AqlQueue::new(desc, host)),
        QueueKind::Sdma => Box::new(SdmaQueue::new(desc, host)),
        QueueKind::Pm4 => return Err(Errno(libc::EOPNOTSUPP)),
    };
    let control = Arc::new(Control::new());
    let thread = worker::spawn(name, Arc::clone(&control), doorbell, processor)?;
    Ok(Arc::new(Queue {
        control,
        thread: Mutex::new(Some(thread)),
    }))
}

/// A queue with its thread.
struct Queue {
    control: Arc<Control>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl RunningQueue for Queue {
    fn wake(&self) {
        self.control.wake();
    }

    fn set_active(&self, active: bool) {
        self.control.set_active(active);
    }

    fn stop(&self) {
        self.control.stop();
        let Some(thread) = self.thread.lock().take() else {
            return;
        };
        if thread.join().is_err() {
            tracing::error!("a queue's thread panicked outside of a step");
        }
    }

    fn is_busy(&self) -> bool {
        self.control.is_busy()
    }

    fn wakeups(&self) -> u64 {
        self.control.wakeups()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.stop();
    }
}
