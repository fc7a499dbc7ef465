//! The operations of all targets (generated).

/// An operation; the variant is LLVM's mnemonic in capitals without encoding suffix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(non_camel_case_types, missing_docs, reason = "vendor mnemonics")]
#[repr(u16)]
pub enum Op {
    S_NOP,
}
