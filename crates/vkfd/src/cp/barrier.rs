//! The conditions of barrier packets.

use amdgpu_abi::aql::{Barrier, BarrierValue};
use amdgpu_abi::queue::inactive;

use super::{Halt, Outcome, signal};
use crate::guest::Guest;

/// All dependencies have the value 0; absent ones count as met.
pub(super) fn all_met(guest: &Guest, barrier: &Barrier) -> Outcome<bool> {
    for handle in dependencies(barrier) {
        if signal::value(guest, handle)? != 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One dependency has the value 0; a packet without any is met.
pub(super) fn any_met(guest: &Guest, barrier: &Barrier) -> Outcome<bool> {
    let mut none = true;
    for handle in dependencies(barrier) {
        none = false;
        if signal::value(guest, handle)? == 0 {
            return Ok(true);
        }
    }
    Ok(none)
}

fn dependencies(barrier: &Barrier) -> impl Iterator<Item = u64> {
    barrier
        .dep_signals
        .into_iter()
        .filter(|&handle| handle != 0)
}

/// `(signal & mask) cond value`; without a signal the packet is met, which is how HIP asks for a
/// completion without a condition.
pub(super) fn value_met(guest: &Guest, barrier: &BarrierValue) -> Outcome<bool> {
    if barrier.signal == 0 {
        return Ok(true);
    }
    let masked = signal::value(guest, barrier.signal)? & barrier.mask;
    compare(masked, barrier.cond, barrier.value)
}

/// `hsa_signal_condition32_t`.
fn compare(left: i64, cond: u32, right: i64) -> Outcome<bool> {
    match cond {
        0 => Ok(left == right),
        1 => Ok(left != right),
        2 => Ok(left < right),
        3 => Ok(left >= right),
        _ => Err(Halt::refused(
            inactive::INVALID_PACKET,
            format!("barrier-value packet with unknown condition {cond}"),
        )),
    }
}
