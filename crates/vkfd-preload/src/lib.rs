//! An `LD_PRELOAD` library that puts a virtual KFD in front of a process: `/dev/kfd`, the render
//! nodes, and the files of sysfs and procfs in which programs look for GPUs.
//!
//! What it is: the C library's file calls under their own names; each looks whether its path or
//! descriptor belongs to the virtual device and otherwise calls the real one. What it is not: a
//! simulator of files at large; only calls that AMD's runtimes, libdrm, kmod and `rocminfo` make are
//! here. It does nothing unless `VKFD_GPUS` is set when the process starts, and makes the device
//! only when a program first touches one of its paths.
//!
//! Modules to know: [`real`] (the calls beneath), [`inside`] (calls of the device itself must not
//! come back to it), [`device`] (the device and its descriptors), `hooks` (the exported names).

mod device;
mod directory;
mod hooks;
mod inside;
mod paths;
mod real;

use std::sync::atomic::{AtomicBool, Ordering};

/// `VKFD_GPUS` was set when the process started.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Whether anything is to be intercepted at all.
fn is_active() -> bool {
    // ORDERING: written once, before main; nothing else hangs on it.
    ACTIVE.load(Ordering::Relaxed)
}

/// Runs when the library is loaded, before the program's own constructors.
extern "C" fn on_load() {
    real::resolve_all();
    // SAFETY: a terminated name; nobody changes the environment before main.
    let gpus = unsafe { libc::getenv(c"VKFD_GPUS".as_ptr()) };
    ACTIVE.store(!gpus.is_null(), Ordering::Relaxed);
}

#[used]
// SAFETY: the section holds pointers to functions of this type; glibc calls each once.
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;
