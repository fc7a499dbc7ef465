//! What the runtime keeps about a queue, and the calls that change it.

use super::hardware::Hardware;
use super::{Priority, Queue, QueueInfo};
use crate::Result;
use crate::error::Error;
use amdgpu_abi::queue::properties;
use hsakmt::MemoryObject;
use parking_lot::Mutex;
use std::sync::atomic::Ordering;

/// A queue's host side.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) agent: usize,
    pub(super) agent_handle: u64,
    pub(super) compute_units: u32,
    /// `None` after the end, and for soft queues.
    pub(super) hardware: Mutex<Option<Hardware>>,
    /// Memory of a soft queue.
    pub(super) soft: Mutex<Vec<MemoryObject>>,
    pub(super) is_hardware: bool,
    pub(super) cu_mask: Mutex<Vec<u32>>,
}

impl Inner {
    pub(super) fn is_hardware_of(&self, agent: usize) -> bool {
        self.is_hardware && self.agent == agent
    }

    /// Frees everything; the queue can no longer be found.
    pub(super) fn end(&self) {
        let hardware = self.hardware.lock().take();
        if let Some(hardware) = hardware {
            hardware.end();
        }
        self.soft.lock().clear();
    }

    fn with_hardware<R>(&self, f: impl FnOnce(&Hardware) -> Result<R>) -> Result<R> {
        f(self.hardware.lock().as_ref().ok_or(Error::InvalidQueue)?)
    }

    /// Stops packet processing for good; the indices stay readable.
    pub(super) fn suspend(&self) -> Result<()> {
        self.with_hardware(Hardware::suspend)
    }
}

impl Queue {
    /// Stops the queue for good (`hsa_queue_inactivate`).
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn inactivate(self) -> Result<()> {
        let inner = self.inner()?;
        if inner.is_hardware {
            inner.suspend()
        } else {
            Ok(())
        }
    }

    /// Restricts the queue to compute units; an empty mask allows all (`hsa_amd_queue_cu_set_mask`).
    ///
    /// # Errors
    /// `CuMaskReduced` if bits were dropped (the rest holds), `InvalidQueue`.
    pub fn set_cu_mask(self, mask: &[u32]) -> Result<()> {
        let inner = self.inner()?;
        if !inner.is_hardware {
            return Err(Error::InvalidQueue);
        }
        let all = full_mask(inner.compute_units);
        let wanted = if mask.is_empty() {
            all.clone()
        } else {
            mask.to_vec()
        };
        let mut applied = all.clone();
        for (unit, bits) in applied.iter_mut().enumerate() {
            *bits &= wanted.get(unit).copied().unwrap_or(0);
        }
        let reduced = wanted
            .iter()
            .enumerate()
            .any(|(i, &w)| w & !all.get(i).copied().unwrap_or(0) != 0);
        if applied.iter().all(|&word| word == 0) {
            return Err(Error::InvalidArgument);
        }
        inner.with_hardware(|hardware| hardware.set_cu_mask(&applied))?;
        *inner.cu_mask.lock() = applied;
        if reduced {
            Err(Error::CuMaskReduced)
        } else {
            Ok(())
        }
    }

    /// The compute-unit mask, one bit per unit.
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn cu_mask(self) -> Result<Vec<u32>> {
        Ok(self.inner()?.cu_mask.lock().clone())
    }

    /// Sets the priority.
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn set_priority(self, priority: Priority) -> Result<()> {
        // HSA_QUEUE_PRIORITY_MINIMUM, NORMAL and HIGH of the thunk as KFD numbers (ROCm 7.2.4).
        let level = match priority {
            Priority::Low => 0,
            Priority::Normal => 7,
            Priority::High => 11,
        };
        self.inner()?
            .with_hardware(|hardware| hardware.set_priority(level))
    }

    /// Turns dispatch timestamps on or off (`hsa_amd_profiling_set_profiler_enabled`).
    ///
    /// # Errors
    /// `InvalidQueue`
    pub fn set_profiling(self, enable: bool) -> Result<()> {
        self.inner()?;
        let bits = &self.block().queue_properties;
        if enable {
            bits.fetch_or(properties::ENABLE_PROFILING, Ordering::SeqCst);
        } else {
            bits.fetch_and(!properties::ENABLE_PROFILING, Ordering::SeqCst);
        }
        Ok(())
    }

    /// `hsa_amd_queue_get_info`
    ///
    /// # Errors
    /// `InvalidQueue` (soft queues have no hardware doorbell).
    pub fn info(self) -> Result<QueueInfo> {
        let inner = self.inner()?;
        let agent = inner.agent_handle;
        inner.with_hardware(|hardware| {
            Ok(QueueInfo {
                agent,
                doorbell_id: hardware.doorbell_id(),
            })
        })
    }
}

/// A bit for each of `units` compute units.
pub(super) fn full_mask(units: u32) -> Vec<u32> {
    let bits = |word: u32| match units.saturating_sub(word * 32) {
        left @ 0..32 => (1 << left) - 1,
        _ => u32::MAX,
    };
    (0..units.div_ceil(32)).map(bits).collect()
}

#[cfg(test)]
mod tests {
    use super::full_mask;

    #[test]
    fn a_full_mask_has_one_bit_for_each_unit() {
        assert_eq!(full_mask(104), [u32::MAX, u32::MAX, u32::MAX, 0xff]);
        assert_eq!(full_mask(64), [u32::MAX, u32::MAX]);
        assert_eq!(full_mask(0), Vec::<u32>::new());
    }
}
