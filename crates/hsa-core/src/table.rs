//! A fixed table from block addresses to small numbers that is read without a lock.
//!
//! Signal slabs and queue blocks are found through it, so that any number a caller passes as a
//! handle is answered without touching memory that may not be there.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const EMPTY: u64 = 0;
const REMOVED: u64 = 1;

/// Open addressing with linear probing; `N` is a power of two. At most half of the entries are
/// used, so a probe ends soon.
#[derive(Debug)]
pub(crate) struct AddressTable<const N: usize> {
    keys: [AtomicU64; N],
    values: [AtomicU32; N],
    writer: Mutex<usize>,
}

impl<const N: usize> AddressTable<N> {
    pub(crate) const fn new() -> Self {
        Self {
            keys: [const { AtomicU64::new(EMPTY) }; N],
            values: [const { AtomicU32::new(0) }; N],
            writer: Mutex::new(0),
        }
    }

    /// The value of `key`, which is a multiple of 64 in every use.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<u32> {
        if key <= REMOVED {
            return None;
        }
        let mut at = Self::start(key);
        for _ in 0..N {
            // ORDERING: acquire pairs with the release in `insert`, so the value is there.
            match self.keys[at].load(Ordering::Acquire) {
                found if found == key => return Some(self.values[at].load(Ordering::Relaxed)),
                EMPTY => return None,
                _ => at = (at + 1) & (N - 1),
            }
        }
        None
    }

    /// Adds `key`; false if the table is full.
    pub(crate) fn insert(&self, key: u64, value: u32) -> bool {
        let mut used = self.writer.lock();
        if *used >= N / 2 || key <= REMOVED {
            return false;
        }
        let mut at = Self::start(key);
        while self.keys[at].load(Ordering::Relaxed) > REMOVED {
            at = (at + 1) & (N - 1);
        }
        *used += 1;
        self.values[at].store(value, Ordering::Relaxed);
        self.keys[at].store(key, Ordering::Release);
        true
    }

    /// Removes `key`. The entry before an empty one becomes empty again, so that probes stay short
    /// however often blocks come and go.
    pub(crate) fn remove(&self, key: u64) {
        let mut used = self.writer.lock();
        let mut at = Self::start(key);
        while self.keys[at].load(Ordering::Relaxed) != key {
            if self.keys[at].load(Ordering::Relaxed) == EMPTY {
                return;
            }
            at = (at + 1) & (N - 1);
        }
        *used -= 1;
        self.keys[at].store(REMOVED, Ordering::Release);
        self.trim(at);
    }

    fn trim(&self, mut at: usize) {
        if self.keys[(at + 1) & (N - 1)].load(Ordering::Relaxed) != EMPTY {
            return;
        }
        while self.keys[at].load(Ordering::Relaxed) == REMOVED {
            self.keys[at].store(EMPTY, Ordering::Release);
            at = at.wrapping_sub(1) & (N - 1);
        }
    }

    #[inline]
    fn start(key: u64) -> usize {
        // Fibonacci hashing; the blocks' low bits are equal.
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        usize::try_from(hash).unwrap_or(0) & (N - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_found_until_it_is_removed() {
        let table = AddressTable::<64>::new();
        for i in 1..=32 {
            assert!(table.insert(i * 4096, u32::try_from(i).unwrap()));
        }
        assert!(!table.insert(99 * 4096, 0), "half full is full");
        for i in 1..=32 {
            assert_eq!(table.get(i * 4096), Some(u32::try_from(i).unwrap()));
        }
        table.remove(5 * 4096);
        assert_eq!(table.get(5 * 4096), None);
        assert_eq!(table.get(6 * 4096), Some(6));
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(1), None);
    }

    #[test]
    fn a_million_insertions_and_removals_leave_an_empty_table() {
        let table = AddressTable::<64>::new();
        for i in 1..=1_000_000_u64 {
            assert!(table.insert(i * 64, 7));
            table.remove(i * 64);
        }
        assert!(
            table
                .keys
                .iter()
                .all(|k| k.load(Ordering::Relaxed) == EMPTY)
        );
    }
}
