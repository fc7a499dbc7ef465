//! Reasons for which a queue stops.

use amdgpu_abi::queue::inactive;
use amdgpu_exec::{Stop, WaveLocation};

use crate::guest::GuestError;

/// Why a queue stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The packet cannot be run: bits of [`inactive`] and why.
    Refused {
        /// What the client sees in `queue_inactive_signal`.
        bits: i64,
        /// For the report.
        why: String,
    },
    /// The packet processor itself could not access memory.
    Guest(GuestError),
    /// A wave of the dispatch stopped.
    Wave {
        /// Cause.
        stop: Stop,
        /// Where.
        at: WaveLocation,
    },
}

impl Halt {
    /// A packet that cannot be run.
    pub(super) fn refused(bits: i64, why: impl Into<String>) -> Self {
        Self::Refused {
            bits,
            why: why.into(),
        }
    }

    /// What the client sees in `queue_inactive_signal`; `None` if the error has another channel
    /// (page faults) or is none (the queue was destroyed).
    pub(super) fn inactive_bits(&self) -> Option<i64> {
        match self {
            Self::Refused { bits, .. } => Some(*bits),
            Self::Guest(GuestError::Fault(_)) => None,
            Self::Guest(GuestError::Misaligned { .. }) => Some(inactive::APERTURE_VIOLATION),
            Self::Wave { stop, .. } => wave_bits(stop),
        }
    }
}

fn wave_bits(stop: &Stop) -> Option<i64> {
    match stop {
        Stop::MemoryFault(_) | Stop::Killed => None,
        Stop::ApertureViolation { .. } => Some(inactive::APERTURE_VIOLATION),
        Stop::IllegalInstruction { .. } | Stop::Unsupported { .. } => {
            Some(inactive::ILLEGAL_INSTRUCTION)
        }
        Stop::Trap { .. } => Some(inactive::TRAP),
        Stop::InvalidDispatch { .. } => Some(inactive::INVALID_CODE),
    }
}

impl From<GuestError> for Halt {
    fn from(error: GuestError) -> Self {
        Self::Guest(error)
    }
}
