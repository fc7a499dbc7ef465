//! A GPU's address space: which GPU virtual addresses may be accessed, and where they live on the
//! host. The engine and the packet processors read it; the memory ioctls change it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_exec::{Access, AccessFault, FaultReason, Memory, Range};
use hsakmt_sys::Errno;
use parking_lot::RwLock;

use crate::svm::SvmRanges;

/// Lowest GPU virtual address: two pages of trap code and two of trap memory lie below
/// (amdkfd `kfd_flat_memory.c`, `SVM_USER_BASE`).
pub const GPUVM_BASE: u64 = 0x4000;
/// Highest GPU virtual address.
pub const GPUVM_LIMIT: u64 = 0x7fff_ffff_ffff;
/// Flat addresses whose bits 63:32 equal this base's go to LDS (gfx9 to gfx12).
pub const LDS_BASE: u64 = 1 << 48;
/// Flat addresses whose bits 63:32 equal this base's go to scratch (gfx9 to gfx12).
pub const SCRATCH_BASE: u64 = 2 << 48;
/// Bytes of each flat window.
pub const WINDOW_BYTES: u64 = 1 << 32;

/// What a mapping grants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rights {
    /// Stores and atomics.
    pub writable: bool,
    /// Instruction fetch.
    pub executable: bool,
}

/// What kind of memory is behind a mapping, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Device memory.
    Vram,
    /// System memory that the driver allocated.
    Gtt,
    /// System memory of the client.
    UserPtr,
    /// Doorbell page.
    Doorbell,
    /// Remapped registers (HDP flush).
    Mmio,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vram => "VRAM",
            Self::Gtt => "GTT",
            Self::UserPtr => "user memory",
            Self::Doorbell => "doorbell page",
            Self::Mmio => "register page",
        })
    }
}

/// One mapping, keyed by its base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Length in bytes.
    pub bytes: u64,
    /// Host address minus GPU virtual address (wrapping).
    pub delta: u64,
    /// What it grants.
    pub rights: Rights,
    /// The host memory is vkfd's own and outlives the mapping.
    pub stable: bool,
    /// What it is.
    pub kind: Kind,
}

/// Host view of a checked span of GPU memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostSpan {
    /// First byte.
    pub pointer: *mut u8,
    /// Length in bytes.
    pub bytes: u64,
    /// As [`Range::stable`]: if false, the client may unmap the memory at any moment.
    pub stable: bool,
}

/// The mappings of one GPU in one process.
pub struct AddressSpace {
    /// Position of the GPU in the process's list, the bit in SVM access masks.
    gpu_index: u32,
    mappings: RwLock<BTreeMap<u64, Mapping>>,
    svm: Arc<SvmRanges>,
    generation: AtomicU64,
}

impl fmt::Debug for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressSpace")
            .field("gpu_index", &self.gpu_index)
            .finish_non_exhaustive()
    }
}

impl AddressSpace {
    pub(crate) fn new(gpu_index: u32, svm: Arc<SvmRanges>) -> Self {
        Self {
            gpu_index,
            mappings: RwLock::default(),
            svm,
            generation: AtomicU64::new(1),
        }
    }

    /// Adds a mapping.
    ///
    /// # Errors
    /// `EINVAL` if it leaves the aperture or overlaps another one (the kernel's page-table manager
    /// answers the same).
    pub fn map(&self, base: u64, mapping: Mapping) -> Result<(), Errno> {
        let end = base.checked_add(mapping.bytes).ok_or(Errno(libc::EINVAL))?;
        if mapping.bytes == 0 || base < GPUVM_BASE || end - 1 > GPUVM_LIMIT {
            return Err(Errno(libc::EINVAL));
        }
        let mut mappings = self.mappings.write();
        if overlap(&mappings, base, end).is_some() {
            return Err(Errno(libc::EINVAL));
        }
        mappings.insert(base, mapping);
        Ok(())
    }

    /// Removes the mapping that starts at `base`; true if there was one.
    pub fn unmap(&self, base: u64) -> bool {
        let removed = self.mappings.write().remove(&base).is_some();
        if removed {
            self.invalidate();
        }
        removed
    }

    /// Removes `base..base + bytes` from whatever mappings cover it (AMDGPU_GEM_VA clear).
    pub fn unmap_range(&self, base: u64, bytes: u64) {
        let Some(end) = base.checked_add(bytes) else {
            return;
        };
        let mut mappings = self.mappings.write();
        while let Some((start, old)) = overlap(&mappings, base, end) {
            mappings.remove(&start);
            keep_outside(&mut mappings, start, old, base, end);
        }
        drop(mappings);
        self.invalidate();
    }

    /// Tells running waves to look up their ranges again.
    pub(crate) fn invalidate(&self) {
        // ORDERING: pairs with the engine's acquire load in `generation`.
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The mapping around `gpu_va`, if any.
    pub fn lookup(&self, gpu_va: u64) -> Option<(u64, Mapping)> {
        find(&self.mappings.read(), gpu_va)
    }

    /// Checks `bytes` bytes at `gpu_va` for `access` and gives their host address.
    ///
    /// # Errors
    /// The fault of the first byte that may not be accessed. A span across two mappings is refused
    /// at the border unless both have the same translation.
    pub fn host_ptr(
        &self,
        gpu_va: u64,
        bytes: u64,
        access: Access,
    ) -> Result<HostSpan, AccessFault> {
        let fault = |at, reason| AccessFault {
            gpu_va: at,
            access,
            reason,
        };
        let end = gpu_va
            .checked_add(bytes)
            .ok_or(fault(gpu_va, FaultReason::NotPresent))?;
        let first = self.resolve(gpu_va, access)?;
        let mut last = first;
        while last.limit < end {
            let at = last.limit;
            last = self.resolve(at, access)?;
            if last.delta != first.delta {
                return Err(fault(at, FaultReason::NotPresent));
            }
        }
        let host = usize::try_from(gpu_va.wrapping_add(first.delta))
            .map_err(|_| fault(gpu_va, FaultReason::NotPresent))?;
        let pointer = std::ptr::with_exposed_provenance_mut(host);
        Ok(HostSpan {
            pointer,
            bytes,
            stable: first.stable && last.stable,
        })
    }

    /// All mappings, for reports and tests.
    pub fn mappings(&self) -> Vec<(u64, Mapping)> {
        self.mappings
            .read()
            .iter()
            .map(|(base, mapping)| (*base, *mapping))
            .collect()
    }

    fn gap_around(&self, gpu_va: u64) -> (u64, u64) {
        let mappings = self.mappings.read();
        let below = mappings
            .range(..=gpu_va)
            .next_back()
            .map_or(GPUVM_BASE, |(b, m)| b + m.bytes);
        let above = mappings
            .range(gpu_va..)
            .next()
            .map_or(GPUVM_LIMIT + 1, |(b, _)| *b);
        (below, above)
    }

    fn resolve_svm(&self, gpu_va: u64) -> Option<Range> {
        let mut range = self.svm.gpu_range(self.gpu_index, gpu_va)?;
        let (below, above) = self.gap_around(gpu_va);
        range.base = range.base.max(below);
        range.limit = range.limit.min(above);
        Some(range)
    }
}

impl Memory for AddressSpace {
    fn resolve(&self, gpu_va: u64, access: Access) -> Result<Range, AccessFault> {
        let fault = |reason| AccessFault {
            gpu_va,
            access,
            reason,
        };
        let range = match self.lookup(gpu_va) {
            Some((base, mapping)) => range_of(base, &mapping),
            None => self
                .resolve_svm(gpu_va)
                .ok_or(fault(FaultReason::NotPresent))?,
        };
        match access {
            Access::Write if !range.writable => Err(fault(FaultReason::ReadOnly)),
            Access::Execute if !range.executable => Err(fault(FaultReason::NoExecute)),
            _ => Ok(range),
        }
    }

    fn generation(&self) -> u64 {
        // ORDERING: pairs with the release in `invalidate`: who sees the new number sees the map.
        self.generation
            .load(Ordering::Acquire)
            .wrapping_add(self.svm.generation())
    }

    fn describe_near(&self, gpu_va: u64) -> String {
        let mappings = self.mappings.read();
        let below = mappings.range(..=gpu_va).next_back();
        let above = mappings
            .range((Bound::Excluded(gpu_va), Bound::Unbounded))
            .next();
        let distance = |entry: &(&u64, &Mapping)| distance(gpu_va, *entry.0, entry.1.bytes);
        match below.into_iter().chain(above).min_by_key(distance) {
            Some((base, mapping)) => describe(gpu_va, *base, mapping),
            None => "no allocation is mapped to this GPU".to_owned(),
        }
    }
}

fn range_of(base: u64, mapping: &Mapping) -> Range {
    Range {
        base,
        limit: base + mapping.bytes,
        delta: mapping.delta,
        writable: mapping.rights.writable,
        executable: mapping.rights.executable,
        stable: mapping.stable,
    }
}

fn find(mappings: &BTreeMap<u64, Mapping>, gpu_va: u64) -> Option<(u64, Mapping)> {
    let (base, mapping) = mappings.range(..=gpu_va).next_back()?;
    (gpu_va - base < mapping.bytes).then_some((*base, *mapping))
}

fn overlap(mappings: &BTreeMap<u64, Mapping>, base: u64, end: u64) -> Option<(u64, Mapping)> {
    let (start, mapping) = mappings.range(..end).next_back()?;
    (start + mapping.bytes > base).then_some((*start, *mapping))
}

/// Puts back the parts of `old` that lie outside `base..end`.
fn keep_outside(
    mappings: &mut BTreeMap<u64, Mapping>,
    start: u64,
    old: Mapping,
    base: u64,
    end: u64,
) {
    if start < base {
        mappings.insert(
            start,
            Mapping {
                bytes: base - start,
                ..old
            },
        );
    }
    let old_end = start + old.bytes;
    if old_end > end {
        mappings.insert(
            end,
            Mapping {
                bytes: old_end - end,
                ..old
            },
        );
    }
}

fn distance(gpu_va: u64, base: u64, bytes: u64) -> u64 {
    if gpu_va < base {
        base - gpu_va
    } else {
        (gpu_va - base).saturating_sub(bytes - 1)
    }
}

fn describe(gpu_va: u64, base: u64, mapping: &Mapping) -> String {
    let Mapping { bytes, kind, .. } = mapping;
    let offset = match (gpu_va.checked_sub(base), gpu_va.checked_sub(base + bytes)) {
        (None, _) => format!("{} bytes before", base - gpu_va),
        (Some(offset), None) => format!("{offset} bytes into"),
        (Some(_), Some(past)) => format!("{past} bytes past the end of"),
    };
    format!("{offset} {base:#x} + {bytes} bytes ({kind})")
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ_WRITE: Rights = Rights {
        writable: true,
        executable: false,
    };

    fn space() -> AddressSpace {
        AddressSpace::new(0, Arc::new(SvmRanges::default()))
    }

    fn mapping(bytes: u64, delta: u64, rights: Rights) -> Mapping {
        Mapping {
            bytes,
            delta,
            rights,
            stable: true,
            kind: Kind::Vram,
        }
    }

    #[test]
    fn rights_decide_per_access() {
        let space = space();
        space
            .map(
                0x10000,
                mapping(
                    0x1000,
                    0,
                    Rights {
                        writable: false,
                        executable: false,
                    },
                ),
            )
            .unwrap();
        assert!(space.resolve(0x10fff, Access::Read).is_ok());
        let write = space.resolve(0x10000, Access::Write).unwrap_err();
        assert_eq!(write.reason, FaultReason::ReadOnly);
        let fetch = space.resolve(0x10000, Access::Execute).unwrap_err();
        assert_eq!(fetch.reason, FaultReason::NoExecute);
        let past = space.resolve(0x11000, Access::Read).unwrap_err();
        assert_eq!(
            (past.gpu_va, past.reason),
            (0x11000, FaultReason::NotPresent)
        );
    }

    #[test]
    fn overlapping_and_out_of_aperture_mappings_are_refused() {
        let space = space();
        space.map(0x10000, mapping(0x2000, 0, READ_WRITE)).unwrap();
        for base in [0xf000, 0x10000, 0x11000] {
            assert_eq!(
                space.map(base, mapping(0x2000, 0, READ_WRITE)),
                Err(Errno(libc::EINVAL))
            );
        }
        assert_eq!(
            space.map(0, mapping(0x1000, 0, READ_WRITE)),
            Err(Errno(libc::EINVAL))
        );
        let top = GPUVM_LIMIT + 1 - 0x1000;
        assert_eq!(
            space.map(top, mapping(0x2000, 0, READ_WRITE)),
            Err(Errno(libc::EINVAL))
        );
        space.map(top, mapping(0x1000, 0, READ_WRITE)).unwrap();
        assert_eq!(
            space.map(u64::MAX, mapping(0x2000, 0, READ_WRITE)),
            Err(Errno(libc::EINVAL))
        );
    }

    #[test]
    fn removing_a_mapping_changes_the_generation() {
        let space = space();
        space.map(0x10000, mapping(0x1000, 0, READ_WRITE)).unwrap();
        let before = space.generation();
        assert!(space.unmap(0x10000));
        assert_ne!(space.generation(), before);
        assert!(!space.unmap(0x10000));
    }

    #[test]
    fn span_over_two_mappings_needs_one_translation() {
        let space = space();
        space
            .map(0x10000, mapping(0x1000, 0x5000, READ_WRITE))
            .unwrap();
        space
            .map(0x11000, mapping(0x1000, 0x5000, READ_WRITE))
            .unwrap();
        space
            .map(0x12000, mapping(0x1000, 0x9000, READ_WRITE))
            .unwrap();
        let span = space.host_ptr(0x10ff8, 16, Access::Read).unwrap();
        assert_eq!(span.pointer as u64, 0x15ff8);
        let fault = space.host_ptr(0x11ff8, 16, Access::Read).unwrap_err();
        assert_eq!(fault.gpu_va, 0x12000);
    }

    #[test]
    fn range_unmap_splits_mappings() {
        let space = space();
        space.map(0x10000, mapping(0x4000, 0, READ_WRITE)).unwrap();
        space.unmap_range(0x11000, 0x1000);
        let left: Vec<_> = space
            .mappings()
            .iter()
            .map(|(base, m)| (*base, m.bytes))
            .collect();
        assert_eq!(left, [(0x10000, 0x1000), (0x12000, 0x2000)]);
    }

    #[test]
    fn nearest_allocation_is_named_with_its_distance() {
        let space = space();
        assert_eq!(
            space.describe_near(1),
            "no allocation is mapped to this GPU"
        );
        space.map(0x10000, mapping(0x1000, 0, READ_WRITE)).unwrap();
        space.map(0x20000, mapping(0x1000, 0, READ_WRITE)).unwrap();
        assert_eq!(
            space.describe_near(0x11010),
            "16 bytes past the end of 0x10000 + 4096 bytes (VRAM)"
        );
        assert_eq!(
            space.describe_near(0x1fff0),
            "16 bytes before 0x20000 + 4096 bytes (VRAM)"
        );
        assert_eq!(
            space.describe_near(0x10010),
            "16 bytes into 0x10000 + 4096 bytes (VRAM)"
        );
    }
}
