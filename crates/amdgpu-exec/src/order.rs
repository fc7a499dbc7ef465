//! Orders that a seed chooses.

/// A small generator of reproducible numbers (splitmix64 of Steele, Lea and Flood).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator of its own for item `number` of a run with `seed`.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed);
        Self(random.next() ^ number)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Fisher-Yates.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1);
            // PANIC: at most `last`.
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }
}

/// The order in which workgroups begin.
///
/// Hardware begins groups in ascending order, and a scan that looks back counts on it: a group
/// waits only for groups that began before or that fit into the device beside it. So a seed permutes
/// within windows that are resident together, and windows follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupOrder {
    seed: u64,
    groups: u64,
    window: u64,
}

impl GroupOrder {
    /// Natural order for seed 0. `resident` groups can wait beside each other.
    pub(crate) fn new(seed: u64, groups: u64, resident: u64) -> Self {
        const LARGEST_WINDOW: u64 = 1024;
        Self {
            seed,
            groups,
            window: resident.clamp(1, LARGEST_WINDOW),
        }
    }

    /// The group that begins as number `position`.
    pub(crate) fn group(&self, position: u64) -> u64 {
        if self.seed == 0 {
            return position;
        }
        let first = position / self.window * self.window;
        let size = self.window.min(self.groups - first);
        let mut random = Random::new(self.seed, first);
        let (factor, offset) = (coprime(&mut random, size), random.below(size));
        first + ((position - first) * factor + offset) % size
    }
}

/// A number below `size` (or 1) without a common divisor, so that multiplication permutes.
fn coprime(random: &mut Random, size: u64) -> u64 {
    let mut candidate = random.below(size).max(1);
    while greatest_common_divisor(candidate, size) != 1 {
        candidate += 1;
    }
    candidate
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64, groups: u64, resident: u64) -> Vec<u64> {
        let order = GroupOrder::new(seed, groups, resident);
        (0..groups).map(|position| order.group(position)).collect()
    }

    #[test]
    fn every_group_begins_once_within_its_window() {
        for (groups, resident) in [(1, 1), (7, 3), (100, 32), (5000, 3328), (2048, u64::MAX)] {
            for seed in [1, 2, u64::MAX] {
                let order = order(seed, groups, resident);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..groups), "{groups} of {resident}");
                let window = resident.min(1024);
                let kept = (0..)
                    .zip(&order)
                    .all(|(p, group)| p / window == group / window);
                assert!(kept, "{groups} of {resident}");
            }
        }
    }

    #[test]
    fn seeds_give_different_orders_and_zero_the_natural_one() {
        assert!(order(0, 50, 10).into_iter().eq(0..50));
        let orders: std::collections::HashSet<_> = (0..20).map(|s| order(s, 50, 50)).collect();
        assert!(orders.len() > 15);
    }
}
