//! Handles of objects that live in tables frozen at open: a kind tag and an index.
//!
//! A handle is checked with two compares and no lock. Signals and queues are not here; their
//! handle is the address of the block that the device reads.

/// What a table handle names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Kind {
    /// An agent.
    Agent = 0x4101,
    /// A memory pool or region (one table: AMD's handles are interchangeable too).
    Pool = 0x4102,
    /// An instruction set.
    Isa = 0x4103,
    /// A cache.
    Cache = 0x4104,
    /// A wavefront of an ISA.
    Wavefront = 0x4105,
}

/// Composes the handle of entry `index`; never 0 and never a user-space address.
#[must_use]
pub const fn encode(kind: Kind, index: usize) -> u64 {
    (kind as u64) << 48 | index as u64
}

/// The index in `handle` if its tag says `kind`; the caller checks the bounds.
#[must_use]
pub fn decode(kind: Kind, handle: u64) -> Option<usize> {
    if handle >> 48 != kind as u64 {
        return None;
    }
    usize::try_from(handle & 0xffff_ffff_ffff).ok()
}

/// Looks `handle` up in `table`.
pub(crate) fn lookup<T>(kind: Kind, table: &[T], handle: u64) -> Option<&T> {
    table.get(decode(kind, handle)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_another_kind_is_refused() {
        let handle = encode(Kind::Agent, 3);
        assert_eq!(decode(Kind::Agent, handle), Some(3));
        assert_eq!(decode(Kind::Pool, handle), None);
        assert_eq!(decode(Kind::Agent, 0), None);
        assert_eq!(decode(Kind::Agent, u64::MAX), None);
    }

    #[test]
    fn an_index_past_the_table_is_refused() {
        let table = [1, 2];
        assert_eq!(lookup(Kind::Isa, &table, encode(Kind::Isa, 1)), Some(&2));
        assert_eq!(lookup(Kind::Isa, &table, encode(Kind::Isa, 2)), None);
    }
}
