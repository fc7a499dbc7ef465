//! Reports for people: why a queue stopped, and the packet trace. Everything goes to stderr through
//! one writer, as the kernel's log lines would go to one log.

mod fault;
mod names;
mod well_known;

use std::io::Write;

pub use fault::{Subject, copy, halt, kernel_text};

use crate::scheduler::Host;

/// Writes whole lines, in one piece.
pub fn write(text: &str) {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        out.push_str("vkfd: ");
        out.push_str(line);
        out.push('\n');
    }
    // A closed stderr is the user's choice; there is no better place to complain.
    let _ = std::io::stderr().lock().write_all(out.as_bytes());
}

/// Traces one packet; `line` is called only when tracing is on.
pub fn trace(host: &dyn Host, line: impl FnOnce() -> String) {
    if host.trace() {
        host.report(&format!("{} {}", host.label(), line()));
    }
}
