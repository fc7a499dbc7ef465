//! Code objects: reading, loading, symbols, and the debugger's list of what is loaded.
//!
//! A reader names the bytes of an ELF file; an executable collects loaded code objects and the
//! external definitions that they need. Loading reserves one block of device memory per code
//! object and prepares its contents in a host shadow; freezing copies the shadows to the device.
//! Everything is kept in one table behind one lock (loading is rare; lookups are one hash), and
//! handles are generational, so a stale one is refused and never followed.

pub mod debug;
mod elf;
mod executable;
mod metadata;
mod reader;
mod reloc;
mod state;
mod symbol;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use executable::forget_all;
pub use executable::{ExecutableInfo, LoadedCodeObject, SegmentDescriptor, Storage};
pub use symbol::{Detail, Symbol};
