//! Tool libraries (`HSA_TOOLS_LIB`): profilers and tracers that replace entries of the API tables.
//!
//! `OnLoad(table, version, failed, names)` runs at the end of the `hsa_init` that opens the runtime,
//! `OnUnload()` when it closes, in reverse order. `HSA_TOOLS_REPORT_LOAD_FAILURE=1` tells on stderr
//! which library could not be used.

use crate::tables;
use hsa_core::runtime;
use hsa_sys::{HSA_API_TABLE_MAJOR_VERSION, HsaApiTable};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, PoisonError};

type OnLoad = unsafe extern "C-unwind" fn(*mut HsaApiTable, u64, u64, *const *const c_char) -> bool;
type OnUnload = unsafe extern "C-unwind" fn();

/// A library that `dlopen` gave.
struct Library(*mut c_void);

// SAFETY: a handle of the dynamic linker, valid in every thread.
unsafe impl Send for Library {}

static LOADED: Mutex<Vec<Library>> = Mutex::new(Vec::new());

/// Loads the libraries that the environment names.
pub(crate) fn load() {
    let Ok(list) = std::env::var("HSA_TOOLS_LIB") else {
        return;
    };
    let root = Box::leak(Box::new(tables::root()));
    let mut failed: Vec<CString> = Vec::new();
    for name in list.split([' ', ':']).filter(|name| !name.is_empty()) {
        let Ok(name) = CString::new(name) else {
            continue;
        };
        match start(&name, root, &failed) {
            Ok(library) => loaded().push(library),
            Err(reason) => {
                report(&name, &reason);
                failed.push(name);
            }
        }
    }
    let hook = runtime::current().and_then(|runtime| runtime.at_shut_down(Box::new(unload)));
    if let Err(error) = hook {
        tracing::error!(%error, "tools will not be unloaded");
    }
}

/// Unloads the libraries, last first.
fn unload() {
    let libraries = std::mem::take(&mut *loaded());
    for library in libraries.into_iter().rev() {
        if let Some(function) = library.symbol(c"OnUnload") {
            // SAFETY: a tool's OnUnload has this signature.
            let function: OnUnload = unsafe { std::mem::transmute(function) };
            // SAFETY: the tool is loaded, and told once.
            unsafe { function() };
        }
        library.close();
    }
}

fn loaded() -> std::sync::MutexGuard<'static, Vec<Library>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(name: &CStr, root: &mut HsaApiTable, failed: &[CString]) -> Result<Library, String> {
    let library = Library::open(name)?;
    let Some(function) = library.symbol(c"OnLoad") else {
        // AMD's runtime keeps libraries without OnLoad too: they may only want to be loaded.
        return Ok(library);
    };
    // SAFETY: a tool's OnLoad has this signature.
    let function: OnLoad = unsafe { std::mem::transmute(function) };
    let names: Vec<_> = failed.iter().map(|name| name.as_ptr()).collect();
    let version = u64::from(HSA_API_TABLE_MAJOR_VERSION);
    // SAFETY: table and names outlive the call; the tool may keep the table, which is leaked.
    let accepted = unsafe { function(root, version, names.len() as u64, names.as_ptr()) };
    if accepted {
        return Ok(library);
    }
    library.close();
    Err("OnLoad refused".to_owned())
}

impl Library {
    fn open(name: &CStr) -> Result<Self, String> {
        // SAFETY: a zero-terminated name; the library's initialisers are the user's choice.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) };
        if handle.is_null() {
            Err(last_error())
        } else {
            Ok(Self(handle))
        }
    }

    fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: an open library and a zero-terminated name.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    fn close(self) {
        // SAFETY: an open library, closed once.
        unsafe { libc::dlclose(self.0) };
    }
}

fn last_error() -> String {
    // SAFETY: dlerror only reads the thread's last error.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "cannot be loaded".to_owned();
    }
    // SAFETY: not null, so a zero-terminated text that lives until the next dl call.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

#[expect(clippy::print_stderr, reason = "the user asked for it with a variable")]
fn report(name: &CStr, reason: &str) {
    tracing::warn!(?name, reason, "tool library");
    if std::env::var("HSA_TOOLS_REPORT_LOAD_FAILURE").is_ok_and(|value| value == "1") {
        eprintln!("Tool lib {name:?} failed to load: {reason}");
    }
}
