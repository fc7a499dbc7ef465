//! Atomic packets.

use amdgpu_abi::sdma::{Atomic, AtomicOp};

use super::{Fault, Flow, Result};
use crate::guest::Guest;
use crate::scheduler::notify_waiting;

/// Runs the packet; one that repeats until its comparison holds may stay blocked.
pub(super) fn run(guest: &Guest, atomic: &Atomic) -> Result<Flow> {
    let unknown = || Fault::Refused(format!("atomic operation {:#x}", atomic.op.0));
    let done = if atomic.op.is_wide() {
        let (src, cmp) = (atomic.src, atomic.cmp);
        let f = wide(atomic.op.base()).ok_or_else(unknown)?;
        let old = guest.update_u64(atomic.addr, |old| f(old, src, cmp))?;
        old == cmp
    } else {
        let (src, cmp) = (low(atomic.src), low(atomic.cmp));
        let f = narrow(atomic.op.base()).ok_or_else(unknown)?;
        let old = guest.update_u32(atomic.addr, |old| f(old, src, cmp))?;
        old == cmp
    };
    notify_waiting();
    let compares = atomic.op.base() == AtomicOp::CMPSWAP_32;
    Ok(if compares && atomic.repeat && !done {
        Flow::Blocked
    } else {
        Flow::Done
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "32-bit operations use the low half"
)]
fn low(value: u64) -> u32 {
    value as u32
}

macro_rules! operations {
    ($name:ident, $type:ty) => {
        /// The new value from the old one, operand and comparand.
        fn $name(base: AtomicOp) -> Option<fn($type, $type, $type) -> $type> {
            Some(match base {
                AtomicOp::SWAP_32 => |_, src, _| src,
                AtomicOp::CMPSWAP_32 => |old, src, cmp| if old == cmp { src } else { old },
                AtomicOp::ADD_32 => |old, src, _| old.wrapping_add(src),
                AtomicOp::SUB_32 => |old, src, _| old.wrapping_sub(src),
                AtomicOp::SMIN_32 => {
                    |old, src, _| old.cast_signed().min(src.cast_signed()).cast_unsigned()
                }
                AtomicOp::UMIN_32 => |old, src, _| old.min(src),
                AtomicOp::SMAX_32 => {
                    |old, src, _| old.cast_signed().max(src.cast_signed()).cast_unsigned()
                }
                AtomicOp::UMAX_32 => |old, src, _| old.max(src),
                AtomicOp::AND_32 => |old, src, _| old & src,
                AtomicOp::OR_32 => |old, src, _| old | src,
                AtomicOp::XOR_32 => |old, src, _| old ^ src,
                AtomicOp::INC_32 => |old, src, _| if old >= src { 0 } else { old + 1 },
                AtomicOp::DEC_32 => |old, src, _| if old == 0 || old > src { src } else { old - 1 },
                _ => return None,
            })
        }
    };
}

operations!(narrow, u32);
operations!(wide, u64);
