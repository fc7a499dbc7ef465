//! The one table of loader objects and its generational handles.

use super::executable::{Executable, LoadedObject};
use super::reader::Reader;
use super::symbol::Symbol;
use parking_lot::{Mutex, MutexGuard};
use slotmap::{Key, KeyData, SlotMap, new_key_type};
use std::sync::LazyLock;

new_key_type! {
    pub(super) struct ReaderKey;
    pub(super) struct ExecutableKey;
    pub(super) struct ObjectKey;
    pub(super) struct SymbolKey;
}

/// Keys as 64-bit handles. The kind is mixed into the epoch's top bits, so that a handle of another
/// kind meets an epoch that nothing has.
pub(super) trait Handle: Key {
    /// Distinct per kind, not 0.
    const KIND: u64;

    /// The handle; never 0.
    fn handle(self) -> u64 {
        self.data().as_ffi() ^ (Self::KIND << 60)
    }

    /// The key that a handle may stand for; the null key if it is no handle of this kind.
    fn decode(handle: u64) -> Self {
        let key = Self::from(KeyData::from_ffi(handle ^ (Self::KIND << 60)));
        if key.handle() == handle {
            key
        } else {
            Self::null()
        }
    }
}

impl Handle for ReaderKey {
    const KIND: u64 = 1;
}
impl Handle for ExecutableKey {
    const KIND: u64 = 2;
}
impl Handle for ObjectKey {
    const KIND: u64 = 3;
}
impl Handle for SymbolKey {
    const KIND: u64 = 4;
}

/// Everything that was created and not destroyed yet.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) readers: SlotMap<ReaderKey, Reader>,
    pub(super) executables: SlotMap<ExecutableKey, Executable>,
    pub(super) objects: SlotMap<ObjectKey, LoadedObject>,
    pub(super) symbols: SlotMap<SymbolKey, Symbol>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

/// Locks the table. Nothing that may call a user's function is called while it is locked.
pub(super) fn state() -> MutexGuard<'static, State> {
    STATE.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_or_foreign_handle_finds_nothing() {
        let mut map: SlotMap<ReaderKey, u32> = SlotMap::with_key();
        let first = map.insert(1);
        let handle = first.handle();
        assert_ne!(handle, 0);
        assert_eq!(map.get(ReaderKey::decode(handle)), Some(&1));
        map.remove(first);
        map.insert(2);
        assert_eq!(map.get(ReaderKey::decode(handle)), None);

        let mut others: SlotMap<SymbolKey, u32> = SlotMap::with_key();
        others.insert(3);
        for bad in [0, 1, handle, u64::MAX, handle ^ 1 << 32] {
            assert_eq!(others.get(SymbolKey::decode(bad)), None, "{bad:#x}");
        }
    }
}
