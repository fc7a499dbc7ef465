//! Small allocations cut from larger blocks: which granules of a block are taken.

use crate::pool::GRANULE;

/// Bytes of a block.
pub(crate) const BLOCK_BYTES: u64 = 2 << 20;
/// Larger requests get a buffer object of their own.
pub(crate) const MAX_FRAGMENT: u64 = BLOCK_BYTES / 2;

const GRANULES: usize = (BLOCK_BYTES / GRANULE) as usize;
const WORDS: usize = GRANULES / 64;

/// The granules of one block: a set bit is taken.
#[derive(Debug, Default)]
pub(crate) struct Bitmap {
    words: [u64; WORDS],
    used: usize,
}

impl Bitmap {
    /// True if nothing is taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Takes the first run of `bytes` (a multiple of the granule); answers its offset.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<u64> {
        let count = granules(bytes);
        let start = self.find(count)?;
        self.set(start, count, true);
        Some(start as u64 * GRANULE)
    }

    /// Gives a run back.
    pub(crate) fn give(&mut self, offset: u64, bytes: u64) {
        self.set(granules(offset), granules(bytes), false);
    }

    fn find(&self, count: usize) -> Option<usize> {
        if count == 0 || count > GRANULES - self.used {
            return None;
        }
        let mut at = 0;
        while at + count <= GRANULES {
            match self.last_taken(at, count) {
                None => return Some(at),
                Some(taken) => at = self.next_free(taken + 1),
            }
        }
        None
    }

    fn last_taken(&self, start: usize, count: usize) -> Option<usize> {
        (start..start + count).rev().find(|&i| self.is_taken(i))
    }

    /// The first free granule at or after `at`; skips whole words.
    fn next_free(&self, at: usize) -> usize {
        let mut at = at;
        while at < GRANULES {
            let free = !self.words[at / 64] & (u64::MAX << (at % 64));
            if free != 0 {
                return at / 64 * 64 + free.trailing_zeros() as usize;
            }
            at = (at / 64 + 1) * 64;
        }
        at
    }

    fn is_taken(&self, index: usize) -> bool {
        self.words[index / 64] & 1 << (index % 64) != 0
    }

    fn set(&mut self, start: usize, count: usize, taken: bool) {
        for index in start..start + count {
            debug_assert_ne!(self.is_taken(index), taken, "double use of a granule");
            self.words[index / 64] ^= 1 << (index % 64);
        }
        self.used = if taken {
            self.used + count
        } else {
            self.used - count
        };
    }
}

fn granules(bytes: u64) -> usize {
    usize::try_from(bytes / GRANULE).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_do_not_overlap_and_come_back() {
        let mut map = Bitmap::default();
        let a = map.take(GRANULE).unwrap();
        let b = map.take(64 * GRANULE).unwrap();
        let c = map.take(GRANULE).unwrap();
        assert_eq!([a, b, c], [0, GRANULE, 65 * GRANULE]);
        map.give(b, 64 * GRANULE);
        assert_eq!(
            map.take(65 * GRANULE),
            Some(66 * GRANULE),
            "the hole is one granule short"
        );
        assert_eq!(map.take(64 * GRANULE), Some(GRANULE));
        assert!(!map.is_empty());
    }

    #[test]
    fn a_full_block_refuses_and_an_empty_one_takes_everything() {
        let mut map = Bitmap::default();
        assert_eq!(map.take(BLOCK_BYTES), Some(0));
        assert_eq!(map.take(GRANULE), None);
        map.give(0, BLOCK_BYTES);
        assert!(map.is_empty());
        for i in 0..GRANULES as u64 {
            assert_eq!(map.take(GRANULE), Some(i * GRANULE));
        }
        assert_eq!(map.take(GRANULE), None);
        assert_eq!(map.take(0), None);
    }
}
