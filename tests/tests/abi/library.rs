//! Our library as the loader sees it: built by cargo, opened by name, called through symbols.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A function of any signature in integer registers; unused arguments are harmless in the C ABI.
pub(crate) type Call = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> u64;

/// The library in the target folder that this test was built into. It is built now, unless
/// HANSA_PREBUILT says that it is there already (the gate builds it first).
pub(crate) fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let library = profile.join("libhsa_runtime64.so");
        if std::env::var_os("HANSA_PREBUILT").is_some() {
            assert!(
                library.exists(),
                "HANSA_PREBUILT is set, but {library:?} is not there"
            );
            return library;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "hsa-api", "--target-dir"]);
        cargo.arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(
            cargo
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status()
                .unwrap()
                .success()
        );
        library
    })
}

/// An open library.
#[derive(Clone, Copy)]
pub(crate) struct Library(usize);

impl Library {
    /// Opens a library by path or name.
    pub(crate) fn open(name: &str) -> Option<Self> {
        let name = CString::new(name).unwrap();
        // SAFETY: a zero-terminated name; the libraries' initialisers have no preconditions.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        (!handle.is_null()).then_some(Self(handle.expose_provenance()))
    }

    /// Our library.
    pub(crate) fn ours() -> Self {
        Self::open(path().to_str().unwrap()).expect("the library loads")
    }

    /// A function.
    pub(crate) fn function(self, name: &str) -> Option<Call> {
        let symbol = CString::new(name).unwrap();
        let handle = std::ptr::with_exposed_provenance_mut(self.0);
        // SAFETY: an open library and a zero-terminated name.
        let address = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
        // SAFETY: `Option` of a function pointer has the layout of a nullable pointer, and the caller
        // calls it with arguments of the function's real signature.
        unsafe { std::mem::transmute::<*mut libc::c_void, Option<Call>>(address) }
    }

    /// Calls a function and answers the lower half of its result, an `hsa_status_t` if it has one.
    pub(crate) fn call(self, name: &str, args: &[usize]) -> u32 {
        let function = self
            .function(name)
            .unwrap_or_else(|| panic!("{name} is not exported"));
        let arg = |i: usize| args.get(i).copied().unwrap_or(0);
        // SAFETY: the tests pass null or valid pointers.
        let result = unsafe {
            function(
                arg(0),
                arg(1),
                arg(2),
                arg(3),
                arg(4),
                arg(5),
                arg(6),
                arg(7),
                arg(8),
                arg(9),
            )
        };
        (result & 0xffff_ffff) as u32
    }
}

/// The names that are recorded for ROCm 7.2.4, without the version node.
pub(crate) fn recorded() -> Vec<&'static str> {
    let list = include_str!("../../../crates/hsa-api/exports.txt");
    list.lines().filter(|name| *name != "ROCR_1").collect()
}

/// Serialises tests that open and close the runtime of this process.
pub(crate) fn exclusive() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runtime, open on a virtual gfx90a until dropped.
pub(crate) struct Open(
    pub(crate) Library,
    #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>,
);

impl Open {
    pub(crate) fn gfx90a() -> Self {
        let guard = exclusive();
        // SAFETY: the lock keeps the other tests that read or write variables away.
        unsafe { std::env::set_var("VKFD_GPUS", "gfx90a") };
        let library = Library::ours();
        assert_eq!(library.call("hsa_init", &[]), 0);
        Self(library, guard)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.call("hsa_shut_down", &[]);
    }
}
