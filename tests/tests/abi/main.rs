//! The C interface of `libhsa-runtime64.so.1` against AMD's: exports, versions, constants, layouts,
//! texts, and what calls answer without a runtime or with bad handles.
//!
//! AMD's library and headers are those of Debian 12 (5.2.3) where they are installed; without them
//! a test says so and passes. The export list is that of ROCm 7.2.4.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say what they skip"
)]

mod exports;
mod handles;
mod headers;
mod library;
mod startup;
mod status;
mod uninitialized;
