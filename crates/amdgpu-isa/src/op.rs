//! The operations of all targets, in alphabetical order of LLVM's mnemonics; made by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/op.rs"));
