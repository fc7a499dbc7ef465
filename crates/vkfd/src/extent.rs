//! Allocator of offsets in one heap of device memory: best fit over free extents.

use std::collections::{BTreeMap, BTreeSet};

/// Smallest unit.
pub(crate) const PAGE: u64 = 4096;
/// Alignment of large allocations: the page-table fragment that clients ask for as well.
pub(crate) const LARGE: u64 = 2 << 20;

/// Free space of `start..end`.
#[derive(Debug)]
pub(crate) struct Extents {
    free: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
}

impl Extents {
    /// All of `start..end` free.
    pub(crate) fn new(start: u64, end: u64) -> Self {
        let mut extents = Self {
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
        };
        extents.insert(start, end - start);
        extents
    }

    /// Takes `bytes` (a multiple of [`PAGE`], not 0); large ones are aligned to [`LARGE`].
    pub(crate) fn take(&mut self, bytes: u64) -> Option<u64> {
        let align = if bytes >= LARGE { LARGE } else { PAGE };
        let fits =
            |(free, base): &&(u64, u64)| base.next_multiple_of(align) - base + bytes <= *free;
        let (free, base) = *self.by_size.range((bytes, 0)..).find(fits)?;
        self.remove(base, free);
        let start = base.next_multiple_of(align);
        self.insert(base, start - base);
        self.insert(start + bytes, base + free - start - bytes);
        Some(start)
    }

    /// Gives back what [`Extents::take`] gave.
    pub(crate) fn give(&mut self, start: u64, bytes: u64) {
        let (mut base, mut length) = (start, bytes);
        if let Some((&below, &free)) = self.free.range(..start).next_back()
            && below + free == start
        {
            self.remove(below, free);
            (base, length) = (below, length + free);
        }
        if let Some(&free) = self.free.get(&(start + bytes)) {
            self.remove(start + bytes, free);
            length += free;
        }
        self.insert(base, length);
    }

    fn insert(&mut self, base: u64, bytes: u64) {
        if bytes != 0 {
            self.free.insert(base, bytes);
            self.by_size.insert((bytes, base));
        }
    }

    fn remove(&mut self, base: u64, bytes: u64) {
        self.free.remove(&base);
        self.by_size.remove(&(bytes, base));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_never_overlap_and_all_space_comes_back() {
        let mut extents = Extents::new(0, 64 << 20);
        let mut live: Vec<(u64, u64)> = Vec::new();
        let mut state = 12345u64;
        for _ in 0..2000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let pick = state >> 33;
            if pick.is_multiple_of(3) && !live.is_empty() {
                let (start, bytes) = live.swap_remove(usize::try_from(pick).unwrap() % live.len());
                extents.give(start, bytes);
                continue;
            }
            let bytes = (1 + pick % 700) * PAGE;
            if let Some(start) = extents.take(bytes) {
                assert!(
                    live.iter()
                        .all(|(s, b)| start + bytes <= *s || s + b <= start)
                );
                assert!(start + bytes <= 64 << 20);
                live.push((start, bytes));
            }
        }
        for (start, bytes) in live {
            extents.give(start, bytes);
        }
        assert_eq!(extents.take(64 << 20), Some(0));
    }

    #[test]
    fn large_extents_are_aligned() {
        let mut extents = Extents::new(0, 16 << 20);
        assert_eq!(extents.take(PAGE), Some(0));
        assert_eq!(extents.take(LARGE), Some(LARGE));
        assert_eq!(extents.take(16 << 20), None);
    }
}
