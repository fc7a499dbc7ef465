//! Addresses for memory without an address.
//!
//! Such memory needs a name that no mapped memory can have. The thunk's convention is a range of
//! 2^47 bytes above all address space that the GPU uses; nothing is ever mapped there.

use crate::kfd::Apertures;
use crate::pages::PAGE;
use std::collections::BTreeMap;

/// First candidate, and the step to the next.
const STEP: u64 = 1 << 47;
/// Bytes of the aperture.
const LENGTH: u64 = 1 << 47;

/// Hands out ranges of the handle aperture, lowest first.
#[derive(Debug)]
pub(crate) struct HandleAperture {
    base: u64,
    limit: u64,
    /// Start → bytes of what is in use.
    used: BTreeMap<u64, u64>,
}

impl HandleAperture {
    /// Places the aperture where it meets none of `apertures`.
    pub(crate) fn beside(apertures: &[Apertures]) -> Self {
        let mut base = STEP;
        while apertures.iter().any(|a| meets(a, base)) {
            base += STEP;
        }
        Self {
            base,
            limit: base + LENGTH,
            used: BTreeMap::new(),
        }
    }

    /// Takes the lowest free range; `None` if there is none.
    pub(crate) fn take(&mut self, size_bytes: u64, alignment: u64) -> Option<u64> {
        let alignment = alignment.max(PAGE);
        let mut start = self.base.checked_next_multiple_of(alignment)?;
        for (&used, &length) in &self.used {
            if start.checked_add(size_bytes)? <= used {
                break;
            }
            start = start.max((used + length).checked_next_multiple_of(alignment)?);
        }
        let end = start.checked_add(size_bytes)?;
        if size_bytes == 0 || end > self.limit {
            return None;
        }
        self.used.insert(start, size_bytes);
        Some(start)
    }

    /// Gives a range back.
    pub(crate) fn give_back(&mut self, start: u64) {
        self.used.remove(&start);
    }
}

fn meets(apertures: &Apertures, base: u64) -> bool {
    let ranges = [
        (apertures.lds_base, apertures.lds_limit),
        (apertures.scratch_base, apertures.scratch_limit),
        (apertures.gpuvm_base, apertures.gpuvm_limit),
    ];
    ranges
        .iter()
        .any(|&(low, last)| low <= last && low < base + LENGTH && last >= base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Apertures of gfx9 and later (kfd-contract, section e.1).
    const GFX9: Apertures = Apertures {
        lds_base: 1 << 48,
        lds_limit: 0x0001_0000_ffff_ffff,
        scratch_base: 2 << 48,
        scratch_limit: 0x0002_0000_ffff_ffff,
        gpuvm_base: 0x4000,
        gpuvm_limit: 0x7fff_ffff_ffff,
    };

    #[test]
    fn aperture_meets_neither_memory_nor_the_flat_windows() {
        let handles = HandleAperture::beside(&[GFX9]);
        assert_eq!(handles.base, 1 << 47);
        let wide = Apertures {
            gpuvm_limit: 0xffff_ffff_ffff,
            ..GFX9
        };
        let handles = HandleAperture::beside(&[GFX9, wide]);
        // 1<<48 is the LDS window; 3<<47 is free; a 48-bit VM ends below 1<<48.
        assert_eq!(handles.base, 3 << 47);
    }

    #[test]
    fn a_range_given_back_is_taken_again() {
        let mut handles = HandleAperture::beside(&[GFX9]);
        let first = handles.take(0x1000, 0).unwrap();
        let second = handles.take(0x1000, 0).unwrap();
        handles.give_back(first);
        assert_eq!(handles.take(0x1000, 0), Some(first));
        assert_ne!(first, second);
    }

    #[test]
    fn more_than_the_aperture_is_refused() {
        let mut handles = HandleAperture::beside(&[]);
        assert_eq!(handles.take(LENGTH + PAGE, 0), None);
        assert_eq!(handles.take(u64::MAX, 0), None);
        assert!(handles.take(LENGTH, 0).is_some());
        assert_eq!(handles.take(PAGE, 0), None);
    }

    proptest! {
        #[test]
        fn ranges_are_aligned_and_never_overlap(
            steps in prop::collection::vec((1_u64..64, 0_u32..8, any::<bool>()), 1..64)
        ) {
            let mut handles = HandleAperture::beside(&[GFX9]);
            let mut live: Vec<(u64, u64)> = Vec::new();
            for (pages, shift, free_one) in steps {
                let (size, alignment) = (pages * PAGE, PAGE << shift);
                let start = handles.take(size, alignment).unwrap();
                prop_assert_eq!(start % alignment, 0);
                prop_assert!(live.iter().all(|&(s, n)| start + size <= s || s + n <= start));
                live.push((start, size));
                if free_one {
                    let (start, _) = live.swap_remove(0);
                    handles.give_back(start);
                }
            }
        }
    }
}
