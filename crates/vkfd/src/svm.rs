//! Shared virtual memory: attributes of ranges of the client's own memory (the SVM ioctl).
//!
//! Nothing migrates here: memory stays where it is, and the attributes decide which GPU may access
//! it. Semantics follow amdkfd `kfd_svm.c` (Linux 6.7).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use amdgpu_exec::Range;
use parking_lot::RwLock;

/// Location "no preference" (`KFD_IOCTL_SVM_LOCATION_UNDEFINED`).
pub const LOCATION_UNDEFINED: u32 = u32::MAX;
/// Granularity of ranges that nobody set: 2^9 pages.
const DEFAULT_GRANULARITY: u8 = 9;

/// `KFD_IOCTL_SVM_FLAG_*`.
pub mod flag {
    /// CPU access is guaranteed.
    pub const HOST_ACCESS: u32 = 1;
    /// Coherent between devices.
    pub const COHERENT: u32 = 2;
    /// GPUs may not write.
    pub const GPU_RO: u32 = 8;
    /// GPUs may fetch instructions.
    pub const GPU_EXEC: u32 = 0x10;
    /// All flags of interface 1.18.
    pub const ALL: u32 = 0xff;
}

/// Access of one GPU to a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GpuAccess {
    /// May migrate there.
    Migrate,
    /// Accesses the memory where it is.
    InPlace,
    /// None.
    None,
}

/// One attribute to be set. GPUs are named by their index in the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Preferred location: 0 system, a gpu_id, or undefined.
    Preferred(u32),
    /// Prefetch now to a location.
    Prefetch(u32),
    /// Access of one GPU.
    Access(u32, GpuAccess),
    /// Flags to set.
    SetFlags(u32),
    /// Flags to clear.
    ClearFlags(u32),
    /// Migration granularity, log2 of pages.
    Granularity(u8),
}

/// Attributes of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// Preferred location.
    pub preferred: u32,
    /// Last prefetch location.
    pub prefetch: u32,
    /// Flags.
    pub flags: u32,
    /// log2 of pages.
    pub granularity: u8,
    /// GPUs (bit = index) with [`GpuAccess::Migrate`].
    pub access: u64,
    /// GPUs with [`GpuAccess::InPlace`].
    pub in_place: u64,
}

impl Attributes {
    /// What pages without a range count as; with XNACK all GPUs may access them.
    fn default_of(xnack: bool) -> Self {
        Self {
            preferred: LOCATION_UNDEFINED,
            prefetch: LOCATION_UNDEFINED,
            flags: flag::HOST_ACCESS | flag::COHERENT,
            granularity: DEFAULT_GRANULARITY,
            access: if xnack { u64::MAX } else { 0 },
            in_place: 0,
        }
    }

    /// Access of the GPU with this index.
    pub fn access_of(&self, gpu_index: u32) -> GpuAccess {
        let bit = 1u64 << gpu_index;
        match (self.access & bit != 0, self.in_place & bit != 0) {
            (true, _) => GpuAccess::Migrate,
            (false, true) => GpuAccess::InPlace,
            (false, false) => GpuAccess::None,
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Preferred(location) => self.preferred = location,
            Change::Prefetch(location) => self.prefetch = location,
            Change::Access(gpu_index, access) => self.set_access(1 << gpu_index, access),
            Change::SetFlags(flags) => self.flags |= flags,
            Change::ClearFlags(flags) => self.flags &= !flags,
            // The kernel keeps six bits (svm_range.granularity).
            Change::Granularity(log2) => self.granularity = log2.min(0x3f),
        }
    }

    fn set_access(&mut self, bit: u64, access: GpuAccess) {
        self.access &= !bit;
        self.in_place &= !bit;
        match access {
            GpuAccess::Migrate => self.access |= bit,
            GpuAccess::InPlace => self.in_place |= bit,
            GpuAccess::None => {}
        }
    }
}

/// The common answer of GET over several ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Common preferred location, or undefined.
    pub preferred: u32,
    /// Common prefetch location, or undefined.
    pub prefetch: u32,
    /// Flags set in all ranges.
    pub flags_set: u32,
    /// Flags clear in all ranges.
    pub flags_clear: u32,
    /// Smallest granularity.
    pub granularity: u8,
    /// GPUs that may access all ranges, migrating.
    pub access: u64,
    /// GPUs that may access all ranges, at least in place.
    pub in_place: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    end: u64,
    attributes: Attributes,
}

/// The SVM ranges of a process. Addresses are page-aligned by the caller.
#[derive(Default, Debug)]
pub struct SvmRanges {
    ranges: RwLock<BTreeMap<u64, Entry>>,
    xnack: AtomicBool,
    generation: AtomicU64,
}

impl SvmRanges {
    /// Applies `changes` to `start..end`; pages never seen get default attributes first.
    pub fn set(&self, start: u64, end: u64, changes: &[Change]) {
        let mut ranges = self.ranges.write();
        split_at(&mut ranges, start);
        split_at(&mut ranges, end);
        fill_gaps(
            &mut ranges,
            start,
            end,
            Attributes::default_of(self.xnack()),
        );
        for (_, entry) in ranges.range_mut(start..end) {
            for change in changes {
                entry.attributes.apply(*change);
            }
        }
        merge(&mut ranges, start, end);
        drop(ranges);
        self.invalidate();
    }

    /// What holds for all of `start..end`.
    pub fn get(&self, start: u64, end: u64) -> Summary {
        let ranges = self.ranges.read();
        let mut pieces: Vec<Attributes> = overlapping(&ranges, start, end)
            .map(|(_, e)| e.attributes)
            .collect();
        if !covers(&ranges, start, end) {
            pieces.push(Attributes::default_of(self.xnack()));
        }
        summarize(&pieces)
    }

    /// Forgets `start..end` (the client unmapped it).
    pub fn remove(&self, start: u64, end: u64) {
        let mut ranges = self.ranges.write();
        if overlapping(&ranges, start, end).next().is_none() {
            return;
        }
        split_at(&mut ranges, start);
        split_at(&mut ranges, end);
        let inside: Vec<u64> = ranges.range(start..end).map(|(base, _)| *base).collect();
        for base in inside {
            ranges.remove(&base);
        }
        drop(ranges);
        self.invalidate();
    }

    /// The first range that overlaps `start..end`.
    pub fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        overlapping(&self.ranges.read(), start, end)
            .next()
            .map(|(base, entry)| (*base, entry.end))
    }

    /// Number of ranges.
    pub fn count(&self) -> usize {
        self.ranges.read().len()
    }

    /// Retry faults: with them, a GPU may access any memory of the process.
    pub fn xnack(&self) -> bool {
        self.xnack.load(Ordering::Relaxed)
    }

    /// Switches retry faults.
    pub fn set_xnack(&self, enabled: bool) {
        self.xnack.store(enabled, Ordering::Relaxed);
        self.invalidate();
    }

    /// Changes whenever access may have shrunk.
    pub fn generation(&self) -> u64 {
        // ORDERING: pairs with the release in `invalidate`.
        self.generation.load(Ordering::Acquire)
    }

    /// What the GPU with this index may access around `gpu_va`.
    pub(crate) fn gpu_range(&self, gpu_index: u32, gpu_va: u64) -> Option<Range> {
        let ranges = self.ranges.read();
        let found = overlapping(&ranges, gpu_va, gpu_va.checked_add(1)?).next();
        let (base, limit, attributes) = match found {
            Some((base, entry)) => (*base, entry.end, entry.attributes),
            None => {
                let (base, limit) = gap(&ranges, gpu_va);
                (base, limit, Attributes::default_of(self.xnack()))
            }
        };
        if attributes.access_of(gpu_index) == GpuAccess::None {
            return None;
        }
        Some(Range {
            base,
            limit,
            delta: 0,
            writable: attributes.flags & flag::GPU_RO == 0,
            executable: attributes.flags & flag::GPU_EXEC != 0,
            stable: false,
        })
    }

    fn invalidate(&self) {
        // ORDERING: pairs with the acquire in `generation`.
        self.generation.fetch_add(1, Ordering::Release);
    }
}

fn overlapping(
    ranges: &BTreeMap<u64, Entry>,
    start: u64,
    end: u64,
) -> impl Iterator<Item = (&u64, &Entry)> {
    let first = ranges
        .range(..=start)
        .next_back()
        .filter(|(_, entry)| entry.end > start);
    let from = first.map_or(start, |(base, _)| *base);
    ranges.range(from..end.max(from))
}

fn gap(ranges: &BTreeMap<u64, Entry>, at: u64) -> (u64, u64) {
    let below = ranges
        .range(..=at)
        .next_back()
        .map_or(0, |(_, entry)| entry.end);
    let above = ranges
        .range(at..)
        .next()
        .map_or(crate::vm::GPUVM_LIMIT + 1, |(base, _)| *base);
    (below, above)
}

fn covers(ranges: &BTreeMap<u64, Entry>, start: u64, end: u64) -> bool {
    let mut at = start;
    for (base, entry) in overlapping(ranges, start, end) {
        if *base > at {
            return false;
        }
        at = entry.end;
    }
    at >= end
}

fn split_at(ranges: &mut BTreeMap<u64, Entry>, at: u64) {
    let Some((base, entry)) = ranges.range_mut(..at).next_back() else {
        return;
    };
    if *base < at && entry.end > at {
        let tail = Entry {
            end: entry.end,
            attributes: entry.attributes,
        };
        entry.end = at;
        ranges.insert(at, tail);
    }
}

fn fill_gaps(ranges: &mut BTreeMap<u64, Entry>, start: u64, end: u64, attributes: Attributes) {
    let mut at = start;
    let present: Vec<(u64, u64)> = ranges
        .range(start..end)
        .map(|(base, e)| (*base, e.end))
        .collect();
    for (base, next) in present.into_iter().chain([(end, end)]) {
        if at < base {
            ranges.insert(
                at,
                Entry {
                    end: base,
                    attributes,
                },
            );
        }
        at = next;
    }
}

/// Joins neighbours with equal attributes so that repeated calls do not fragment the list.
fn merge(ranges: &mut BTreeMap<u64, Entry>, start: u64, end: u64) {
    let from = ranges
        .range(..start)
        .next_back()
        .map_or(start, |(base, _)| *base);
    let bases: Vec<u64> = ranges.range(from..=end).map(|(base, _)| *base).collect();
    for pair in bases.windows(2).rev() {
        let (low, high) = (ranges[&pair[0]], ranges[&pair[1]]);
        if low.end == pair[1] && low.attributes == high.attributes {
            ranges.remove(&pair[1]);
            ranges.insert(
                pair[0],
                Entry {
                    end: high.end,
                    ..low
                },
            );
        }
    }
}

fn summarize(pieces: &[Attributes]) -> Summary {
    let common = |of: fn(&Attributes) -> u32| {
        let first = pieces.first().map_or(LOCATION_UNDEFINED, of);
        if pieces.iter().all(|piece| of(piece) == first) {
            first
        } else {
            LOCATION_UNDEFINED
        }
    };
    Summary {
        preferred: common(|piece| piece.preferred),
        prefetch: common(|piece| piece.prefetch),
        flags_set: pieces
            .iter()
            .fold(flag::ALL, |all, piece| all & piece.flags),
        flags_clear: pieces
            .iter()
            .fold(flag::ALL, |all, piece| all & !piece.flags),
        granularity: pieces
            .iter()
            .map(|piece| piece.granularity)
            .min()
            .unwrap_or(DEFAULT_GRANULARITY),
        access: pieces
            .iter()
            .fold(u64::MAX, |all, piece| all & piece.access),
        in_place: pieces
            .iter()
            .fold(u64::MAX, |all, piece| all & (piece.access | piece.in_place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_memory_has_default_attributes() {
        let svm = SvmRanges::default();
        let summary = svm.get(0x1000, 0x3000);
        assert_eq!(summary.preferred, LOCATION_UNDEFINED);
        assert_eq!(summary.flags_set, flag::HOST_ACCESS | flag::COHERENT);
        assert_eq!(summary.granularity, 9);
        assert!(svm.gpu_range(0, 0x1000).is_none());
    }

    #[test]
    fn flags_over_several_ranges_are_the_common_ones() {
        let svm = SvmRanges::default();
        svm.set(
            0x1000,
            0x2000,
            &[Change::SetFlags(flag::GPU_EXEC), Change::Preferred(7)],
        );
        svm.set(
            0x2000,
            0x3000,
            &[Change::ClearFlags(flag::COHERENT), Change::Preferred(8)],
        );
        let summary = svm.get(0x1000, 0x3000);
        assert_eq!(summary.flags_set, flag::HOST_ACCESS);
        assert_eq!(
            summary.flags_clear,
            flag::ALL & !(flag::HOST_ACCESS | flag::COHERENT | flag::GPU_EXEC)
        );
        assert_eq!(summary.preferred, LOCATION_UNDEFINED);
        assert_eq!(svm.get(0x1000, 0x2000).preferred, 7);
    }

    #[test]
    fn access_is_per_gpu_and_ends_with_the_range() {
        let svm = SvmRanges::default();
        svm.set(0x1000, 0x4000, &[Change::Access(1, GpuAccess::InPlace)]);
        assert!(svm.gpu_range(0, 0x2000).is_none());
        let range = svm.gpu_range(1, 0x2000).unwrap();
        assert_eq!((range.base, range.limit, range.delta), (0x1000, 0x4000, 0));
        assert!(!range.stable && range.writable && !range.executable);
        svm.remove(0x2000, 0x3000);
        assert!(svm.gpu_range(1, 0x2000).is_none());
        assert_eq!(svm.gpu_range(1, 0x3fff).unwrap().base, 0x3000);
    }

    #[test]
    fn equal_neighbours_merge() {
        let svm = SvmRanges::default();
        for page in 0..64u64 {
            svm.set(
                page << 12,
                (page + 1) << 12,
                &[Change::SetFlags(flag::GPU_EXEC)],
            );
        }
        assert_eq!(svm.count(), 1);
        assert_eq!(svm.first_overlap(0x5000, 0x6000), Some((0, 64 << 12)));
    }

    #[test]
    fn xnack_opens_all_host_memory_except_what_was_denied() {
        let svm = SvmRanges::default();
        svm.set_xnack(true);
        svm.set(0x4000, 0x5000, &[Change::Access(0, GpuAccess::None)]);
        assert!(svm.gpu_range(0, 0x4000).is_none());
        let range = svm.gpu_range(0, 0x3fff).unwrap();
        assert_eq!((range.base, range.limit), (0, 0x4000));
        assert_eq!(svm.gpu_range(0, 0x5000).unwrap().base, 0x5000);
    }
}
