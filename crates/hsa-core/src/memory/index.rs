//! Which allocation an address belongs to.

use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that covers a range of addresses.
pub(crate) trait Ranged {
    /// Bytes from its base.
    fn length(&self) -> u64;
}

/// Ranges by base address. A look-up is one shared lock and one tree walk, so that runtimes may ask
/// about every host pointer they are given.
#[derive(Debug)]
pub(crate) struct Index<T>(RwLock<BTreeMap<u64, Arc<T>>>);

impl<T: Ranged> Index<T> {
    pub(crate) fn new() -> Self {
        Self(RwLock::new(BTreeMap::new()))
    }

    pub(crate) fn insert(&self, base: u64, value: Arc<T>) {
        self.0.write().insert(base, value);
    }

    /// Removes the range with exactly this base.
    pub(crate) fn remove(&self, base: u64) -> Option<Arc<T>> {
        self.0.write().remove(&base)
    }

    /// The range that contains `address`, and its base.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, Arc<T>)> {
        let map = self.0.read();
        let (&base, value) = map.range(..=address).next_back()?;
        (address - base < value.length()).then(|| (base, Arc::clone(value)))
    }

    /// Takes everything out.
    pub(crate) fn drain(&self) -> Vec<Arc<T>> {
        std::mem::take(&mut *self.0.write()).into_values().collect()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.read().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Ranged for u64 {
        fn length(&self) -> u64 {
            *self
        }
    }

    #[test]
    fn interior_addresses_are_found_and_the_end_is_not() {
        let index = Index::new();
        index.insert(0x1000, Arc::new(0x100));
        index.insert(0x3000, Arc::new(0x10));
        let base = |address| index.find(address).map(|(base, _)| base);
        assert_eq!(base(0xfff), None);
        assert_eq!(base(0x1000), Some(0x1000));
        assert_eq!(base(0x10ff), Some(0x1000));
        assert_eq!(base(0x1100), None);
        assert_eq!(base(0x3005), Some(0x3000));
        assert!(index.remove(0x3005).is_none());
        assert!(index.remove(0x3000).is_some());
        assert_eq!(base(0x3000), None);
        assert_eq!(index.len(), 1);
    }
}
