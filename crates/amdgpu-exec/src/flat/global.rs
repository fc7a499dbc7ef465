//! FLAT and GLOBAL: lanes access the GPU's address space.
//!
//! A chunk of 32 lanes whose addresses are consecutive and inside the range used last is one block
//! copy; so is the load of one address by all lanes. Everything else goes lane by lane.

use amdgpu_isa::Inst;

use super::Addressing;
use super::address::{FLAT, SCALAR, VECTOR};
use super::atomic::atomic;
use super::load::Load;
use super::store::Store;
use crate::access::names::{self, with_atomic, with_load_kind, with_store_kind};
use crate::step::{HostLevel, StepFn, select as level_of};

/// The function of an instruction.
pub(super) fn select(
    name: &str,
    addressing: Addressing,
    inst: &Inst,
    level: HostLevel,
) -> Option<StepFn> {
    if let Some(kind) = names::load(name) {
        macro_rules! body {
            ($k:expr) => {
                match addressing {
                    Addressing::Flat => level_of::<Load<{ $k }, FLAT>>(level),
                    Addressing::Vector => level_of::<Load<{ $k }, VECTOR>>(level),
                    Addressing::Scalar => level_of::<Load<{ $k }, SCALAR>>(level),
                }
            };
        }
        return Some(with_load_kind!(kind, body));
    }
    if let Some(kind) = names::store(name) {
        macro_rules! body {
            ($k:expr) => {
                match addressing {
                    Addressing::Flat => level_of::<Store<{ $k }, FLAT>>(level),
                    Addressing::Vector => level_of::<Store<{ $k }, VECTOR>>(level),
                    Addressing::Scalar => level_of::<Store<{ $k }, SCALAR>>(level),
                }
            };
        }
        return Some(with_store_kind!(kind, body));
    }
    let (operation, wide) = names::atomic(name)?;
    // Refused here rather than in the body: an atomic without data is no instruction.
    super::chunk(inst.src[1], 64)?;
    macro_rules! body {
        ($op:expr, $wide:expr) => {
            match addressing {
                Addressing::Flat => atomic::<$op, $wide, FLAT> as StepFn,
                Addressing::Vector => atomic::<$op, $wide, VECTOR> as StepFn,
                Addressing::Scalar => atomic::<$op, $wide, SCALAR> as StepFn,
            }
        };
    }
    Some(with_atomic!(operation, wide, body))
}
