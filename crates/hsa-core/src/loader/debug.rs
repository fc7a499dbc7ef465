//! The debugger's list of loaded code objects: `r_debug` and `link_map` of glibc's `<link.h>`.
//!
//! ROCgdb (and the virtual device, for its fault reports) finds the exported object
//! `_amdgpu_r_debug`, walks its list, and sets a breakpoint at `r_brk`, which is called after each
//! change. The object itself is `hsa-api`'s, as only an exported one has a name.

use parking_lot::Mutex;
use std::ffi::CString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Names the trap handler ABI that debuggers expect; 11 in ROCm 7.x.
const R_VERSION: u32 = 11;

/// `enum r_state` of `<link.h>`.
#[derive(Clone, Copy)]
enum RState {
    Consistent = 0,
    Add = 1,
    Delete = 2,
}

/// `struct r_debug`.
#[repr(C)]
#[derive(Debug)]
pub struct RDebug {
    r_version: AtomicU32,
    r_map: AtomicU64,
    r_brk: AtomicU64,
    r_state: AtomicU32,
    r_ldbase: AtomicU64,
}

const _: () = {
    assert!(size_of::<RDebug>() == 40);
    assert!(std::mem::offset_of!(RDebug, r_map) == 8);
    assert!(std::mem::offset_of!(RDebug, r_state) == 24);
};

impl RDebug {
    /// An object without entries.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "only statics are made of it")]
    pub const fn new() -> Self {
        Self {
            r_version: AtomicU32::new(R_VERSION),
            r_map: AtomicU64::new(0),
            r_brk: AtomicU64::new(0),
            r_state: AtomicU32::new(0),
            r_ldbase: AtomicU64::new(0),
        }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }
}

/// `struct link_map`.
#[repr(C)]
#[derive(Debug)]
struct LinkMap {
    l_addr: u64,
    l_name: AtomicU64,
    l_ld: u64,
    l_next: AtomicU64,
    l_prev: AtomicU64,
}

/// An entry of the list; the boxes keep the addresses that the list holds alive.
#[derive(Debug)]
struct Entry {
    id: u64,
    map: Box<LinkMap>,
    _name: CString,
}

static OBJECT: OnceLock<&'static RDebug> = OnceLock::new();
static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Uses an exported object; the first one stays.
pub fn publish(object: &'static RDebug) {
    let object = OBJECT.get_or_init(|| object);
    let stop: extern "C" fn() = loader_debug_state;
    object.r_brk.store(stop as usize as u64, Ordering::Release);
}

/// The object of this process.
pub fn object() -> &'static RDebug {
    static OWN: RDebug = RDebug::new();
    OBJECT.get_or_init(|| &OWN)
}

/// Where debuggers stop. It must exist as a function of its own and must not be removed.
#[inline(never)]
extern "C" fn loader_debug_state() {
    std::hint::black_box(());
}

/// Adds an object; `id` is for [`remove`].
pub(super) fn add(id: u64, delta: u64, uri: &str) {
    let mut entries = ENTRIES.lock();
    begin(RState::Add);
    // A URI never holds a zero byte; an empty name is better than none.
    let name = CString::new(uri).unwrap_or_default();
    let map = Box::new(LinkMap {
        l_addr: delta,
        l_name: AtomicU64::new(name.as_ptr().expose_provenance() as u64),
        l_ld: 0,
        l_next: AtomicU64::new(0),
        l_prev: AtomicU64::new(0),
    });
    entries.push(Entry {
        id,
        map,
        _name: name,
    });
    link(&entries);
    end();
}

/// Removes an object; one that was never added is ignored.
pub(super) fn remove(id: u64) {
    let mut entries = ENTRIES.lock();
    let Some(at) = entries.iter().position(|entry| entry.id == id) else {
        return;
    };
    begin(RState::Delete);
    let removed = entries.remove(at);
    link(&entries);
    end();
    drop(removed);
}

fn begin(state: RState) {
    object().r_state.store(state as u32, Ordering::Release);
    loader_debug_state();
}

fn end() {
    object()
        .r_state
        .store(RState::Consistent as u32, Ordering::Release);
    loader_debug_state();
}

/// Sets every link again; the list is short and changes rarely.
fn link(entries: &[Entry]) {
    let address = |entry: Option<&Entry>| {
        entry.map_or(0, |e| {
            std::ptr::from_ref::<LinkMap>(&e.map).expose_provenance() as u64
        })
    };
    for (at, entry) in entries.iter().enumerate() {
        let previous = at.checked_sub(1).and_then(|before| entries.get(before));
        entry.map.l_prev.store(address(previous), Ordering::Release);
        entry
            .map
            .l_next
            .store(address(entries.get(at + 1)), Ordering::Release);
    }
    // ORDERING: a reader that sees the new head sees the links behind it.
    object()
        .r_map
        .store(address(entries.first()), Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_in_a_list() {
        add(u64::MAX, 0x1000, "memory://1#offset=0x1&size=0x2");
        add(u64::MAX - 1, 0x2000, "memory://1#offset=0x3&size=0x4");
        let deltas = || {
            ENTRIES
                .lock()
                .iter()
                .map(|e| e.map.l_addr)
                .collect::<Vec<_>>()
        };
        assert!(deltas().ends_with(&[0x1000, 0x2000]));
        assert_ne!(object().r_map.load(Ordering::Acquire), 0);
        remove(u64::MAX);
        remove(u64::MAX);
        assert!(!deltas().contains(&0x1000) && deltas().contains(&0x2000));
        remove(u64::MAX - 1);
        assert_eq!(
            object().r_state.load(Ordering::Acquire),
            RState::Consistent as u32
        );
    }
}
