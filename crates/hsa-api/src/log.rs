//! Where the log goes, if anywhere: `HANSA_LOG` and `hsa_amd_enable_logging`.
//!
//! `HANSA_LOG` is a filter in the syntax of tracing's `EnvFilter` (`debug`, `hsa_core=trace,warn`);
//! `HANSA_LOG_FILE` names a file instead of stderr. Without the variable no subscriber is
//! installed, and the program's own one (if it is in Rust) stays in place.

use std::ffi::c_void;
use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A C `FILE` that takes the log, or null for stderr.
static C_FILE: AtomicPtr<libc::FILE> = AtomicPtr::new(std::ptr::null_mut());
static MUTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: Once = Once::new();

/// Installs the subscriber that the environment asks for.
pub(crate) fn install() {
    if let Ok(filter) = std::env::var("HANSA_LOG") {
        INSTALLED.call_once(|| subscribe(&filter));
    }
}

/// `hsa_amd_enable_logging`: everything at debug level into `file`, or nothing any more.
pub(crate) fn redirect(wanted: bool, file: *mut c_void) {
    C_FILE.store(file.cast(), Ordering::Release);
    MUTED.store(!wanted, Ordering::Release);
    if wanted {
        INSTALLED.call_once(|| subscribe("debug"));
    }
}

fn subscribe(filter: &str) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(false);
    let named = std::env::var_os("HANSA_LOG_FILE").map(|path| {
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
    });
    // A second subscriber is refused if the program has one; then its own gets our events.
    let _ = match named {
        Some(Ok(file)) => builder.with_writer(file).try_init(),
        _ => builder.with_writer(Target).try_init(),
    };
}

struct Target;

impl MakeWriter<'_> for Target {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if MUTED.load(Ordering::Acquire) {
            return Ok(bytes.len());
        }
        let file = C_FILE.load(Ordering::Acquire);
        if file.is_null() {
            return io::stderr().write(bytes);
        }
        // SAFETY: the caller of hsa_amd_enable_logging keeps the file open until the next call.
        Ok(unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), file) })
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
