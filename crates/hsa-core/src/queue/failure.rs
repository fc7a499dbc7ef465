//! What happens when the packet processor stops a queue: bits on the inactive signal become a status
//! for the error callback.

use super::ErrorCallback;
use super::hardware::ENDED;
use super::state::Inner;
use crate::Result;
use crate::error::Error;
use crate::live::Live;
use crate::signal::{Condition, Signal};
use amdgpu_abi::queue::inactive;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Bits of the inactive signal and what they mean (contract sheet d.8), most telling first.
const REASONS: &[(i64, Error)] = &[
    (inactive::INSUFFICIENT_SCRATCH_WAVE64, Error::OutOfResources),
    (inactive::INSUFFICIENT_SCRATCH_WAVE32, Error::OutOfResources),
    (inactive::INVALID_DIM, Error::IncompatibleArguments),
    (inactive::INVALID_GROUP_MEMORY, Error::InvalidAllocation),
    (inactive::INVALID_CODE, Error::InvalidCodeObject),
    (inactive::INVALID_PACKET, Error::InvalidPacketFormat),
    (inactive::INVALID_VENDOR_PACKET, Error::InvalidPacketFormat),
    (inactive::INVALID_WORKGROUP_SIZE, Error::InvalidArgument),
    (inactive::INVALID_VGPRS, Error::OutOfRegisters),
    (inactive::APERTURE_VIOLATION, Error::MemoryApertureViolation),
    (inactive::ILLEGAL_INSTRUCTION, Error::IllegalInstruction),
    (inactive::TRAP, Error::Exception),
];

/// The status of an error code; `Generic` for a code that names nothing.
fn status(code: i64) -> Error {
    REASONS
        .iter()
        .find(|(bit, _)| code & bit != 0)
        .map_or(Error::Generic, |&(_, status)| status)
}

/// Runs `callback` once if the queue fails. The handler goes with the queue.
pub(super) fn watch(
    live: &Live,
    inner: &Arc<Inner>,
    signal: Signal,
    handle: u64,
    callback: Option<ErrorCallback>,
) -> Result<()> {
    let inner = Arc::downgrade(inner);
    let handler = move |code| {
        if code != ENDED {
            fail(&inner, signal, handle, code, callback.as_ref());
        }
        // After an error only the end is awaited: this handler goes, the next keeps the signal.
        false
    };
    live.handlers
        .add(signal, Condition::Ne, 0, Box::new(handler))
}

fn fail(
    inner: &Weak<Inner>,
    signal: Signal,
    handle: u64,
    code: i64,
    callback: Option<&ErrorCallback>,
) {
    let error = status(code);
    tracing::error!(queue = handle, code, %error, "a queue was stopped");
    if let Some(inner) = inner.upgrade()
        && let Err(error) = inner.suspend()
    {
        tracing::debug!(%error, "a failed queue could not be suspended");
    }
    // What the device stored stays visible to debuggers until the queue ends.
    let _ = signal.load(Ordering::Relaxed);
    match callback {
        Some(callback) => callback(error, handle),
        None => say(handle, error),
    }
}

/// Without a callback the failure would be silent; AMD's runtime names it on stderr, so do we.
fn say(handle: u64, error: Error) {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(
        std::io::stderr(),
        "Queue at {handle:#x} inactivated due to async error:\n\t{error}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_map_to_the_statuses_that_hip_knows() {
        let table = [
            (0x1, Error::OutOfResources),
            (0x400, Error::OutOfResources),
            (0x2, Error::IncompatibleArguments),
            (0x4, Error::InvalidAllocation),
            (0x8, Error::InvalidCodeObject),
            (0x20, Error::InvalidPacketFormat),
            (0x100, Error::InvalidPacketFormat),
            (0x40, Error::InvalidArgument),
            (0x80, Error::OutOfRegisters),
            (0x2000_0000, Error::MemoryApertureViolation),
            (0x4000_0000, Error::IllegalInstruction),
            (0x8000_0000, Error::Exception),
            (0x1000_0000, Error::Generic),
        ];
        for (code, error) in table {
            assert_eq!(status(code), error, "{code:#x}");
        }
    }
}
