//! The form of every exported function: dispatch through the current API table, a guard against
//! panics, and the status.
//!
//! [`hsa_export!`] writes two functions. The one that the default table points to holds the body;
//! the exported one calls whatever the table holds now, so tools that replace entries see every
//! call (hsa_api_trace.h). Both are `extern "C-unwind"`: a C++ exception out of a user's callback or
//! a tool's wrapper passes through, as it does in AMD's library.

use crate::status::Error;
use hsa_core::Error as Core;
use hsa_sys::{HSA_STATUS_ERROR, HSA_STATUS_SUCCESS, hsa_status_t};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// What bodies return.
pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// Runs a body that calls no foreign code: a panic inside becomes `HSA_STATUS_ERROR`.
pub(crate) fn enter(call: &'static str, body: impl FnOnce() -> Result) -> hsa_status_t {
    finish(call, guard(body))
}

/// Runs the part of a body that calls no foreign code.
pub(crate) fn guard<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Error::Core(Core::Generic)))
}

/// The status of a body's result, logged if it is a refusal.
pub(crate) fn finish(call: &'static str, result: Result) -> hsa_status_t {
    match result {
        Ok(()) => HSA_STATUS_SUCCESS,
        Err(error) => {
            tracing::debug!(call, %error, status = error.status().0);
            error.status()
        }
    }
}

/// Runs a function that has no way to report an error: a panic ends the process.
pub(crate) fn infallible<T>(body: impl FnOnce() -> T) -> T {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let bomb = Bomb;
    let value = body();
    std::mem::forget(bomb);
    value
}

/// Logs the first call of a function that this runtime does not have, and refuses it.
pub(crate) fn unsupported(call: &'static str, error: impl Into<Error>) -> Result {
    let error = error.into();
    static SEEN: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut seen = SEEN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if !seen.contains(&call) {
        seen.push(call);
        tracing::warn!(call, %error, "not supported by this runtime");
    }
    Err(error)
}

/// What a null table entry answers.
pub(crate) trait Missing {
    /// The answer.
    fn missing() -> Self;
}

impl Missing for hsa_status_t {
    fn missing() -> Self {
        HSA_STATUS_ERROR
    }
}

macro_rules! missing_is_zero {
    ($($ty:ty),*) => { $(impl Missing for $ty { fn missing() -> Self { Self::default() } })* };
}
missing_is_zero!((), i64, u64, u32);

/// A user's status: anything but success ends an iteration and is handed on.
pub(crate) fn proceed(status: hsa_status_t) -> Result {
    if status == HSA_STATUS_SUCCESS {
        Ok(())
    } else {
        Err(Error::Callback(status))
    }
}

/// Exports one function; see the module. The forms differ in what the body may do:
/// `fn` calls no foreign code, `callback fn` does outside of [`guard`], `value fn` has no status,
/// `unsupported fn` has no body.
macro_rules! hsa_export {
    ($table:ident: $(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        pub(crate) unsafe extern "C-unwind" fn $name(
            $($arg: <$ty as $crate::args::FromC>::C),*
        ) -> hsa_sys::hsa_status_t {
            $(
                // SAFETY: the header's contract: pointers are null or valid for this call.
                let $arg: $ty = unsafe { $crate::args::FromC::from_c($arg) };
            )*
            $crate::entry::enter(stringify!($name), move || $body)
        }
        $crate::entry::hsa_export! { @export $table $name($($arg: $ty),*) -> hsa_sys::hsa_status_t }
    };
    ($table:ident: $(#[$doc:meta])* callback fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        pub(crate) unsafe extern "C-unwind" fn $name(
            $($arg: <$ty as $crate::args::FromC>::C),*
        ) -> hsa_sys::hsa_status_t {
            $(
                // SAFETY: the header's contract: pointers are null or valid for this call.
                let $arg: $ty = unsafe { $crate::args::FromC::from_c($arg) };
            )*
            let body = move || -> $crate::entry::Result { $body };
            $crate::entry::finish(stringify!($name), body())
        }
        $crate::entry::hsa_export! { @export $table $name($($arg: $ty),*) -> hsa_sys::hsa_status_t }
    };
    ($table:ident: $(#[$doc:meta])* value fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block) => {
        $(#[$doc])*
        pub(crate) unsafe extern "C-unwind" fn $name(
            $($arg: <$ty as $crate::args::FromC>::C),*
        ) -> $ret {
            $(
                // SAFETY: the header's contract: pointers are null or valid for this call.
                let $arg: $ty = unsafe { $crate::args::FromC::from_c($arg) };
            )*
            $crate::entry::infallible(move || $body)
        }
        $crate::entry::hsa_export! { @export $table $name($($arg: $ty),*) -> $ret }
    };
    ($table:ident: $(#[$doc:meta])* unsupported fn $name:ident($($arg:ident: $ty:ty),* $(,)?) = $error:expr;) => {
        $crate::entry::hsa_export! {
            $table: $(#[$doc])* fn $name($($arg: $ty),*) {
                let _ = ($($arg,)*);
                hsa_core::runtime::current()?;
                $crate::entry::unsupported(stringify!($name), $error)
            }
        }
    };
    (@export none $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty) => {};
    (@export $table:ident $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty) => {
        $crate::entry::hsa_alias! { $table $name = $name($($arg: $ty),*) -> $ret }
    };
}
pub(crate) use hsa_export;

/// Exports `$name` as a call through the entry `$entry` of a table (AMD's deprecated names are
/// second names of one entry).
macro_rules! hsa_alias {
    ($table:ident $name:ident = $entry:ident($($arg:ident: $ty:ty),*) -> $ret:ty) => {
        const _: () = {
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[cfg_attr(test, expect(dead_code, reason = "nothing is exported from the unit tests"))]
            unsafe extern "C-unwind" fn $name(
                $($arg: <$ty as $crate::args::FromC>::C),*
            ) -> $ret {
                // SAFETY: the table is static; tools write it only inside of OnLoad and OnUnload.
                let entry = unsafe { (*$crate::tables::$table()).$entry };
                match entry {
                    // SAFETY: our function or a tool's, with this signature and contract.
                    Some(function) => unsafe { function($($arg),*) },
                    None => $crate::entry::Missing::missing(),
                }
            }
        };
        $crate::entry::symver! { $name }
    };
}
pub(crate) use hsa_alias;

/// Gives an exported name its version. The version node itself comes from `version.map`; names
/// inside of that file would be dropped by the linker, since rustc passes its own list.
macro_rules! symver {
    ($name:ident) => {
        #[cfg(not(test))]
        std::arch::global_asm!(concat!(
            ".symver ",
            stringify!($name),
            ", ",
            stringify!($name),
            "@@@ROCR_1"
        ));
    };
}
pub(crate) use symver;

// The name of the version node itself, absolute zero as GNU ld writes it into AMD's library;
// rustc's linker leaves it out.
#[cfg(not(test))]
std::arch::global_asm!(
    ".type ROCR_1, @object",
    ".globl ROCR_1",
    ".set ROCR_1, 0",
    ".symver ROCR_1, ROCR_1@@@ROCR_1"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(enter("test", || panic!("on purpose")), HSA_STATUS_ERROR);
    }

    #[test]
    fn a_callbacks_status_is_handed_on() {
        let broke = finish("test", proceed(hsa_sys::HSA_STATUS_INFO_BREAK));
        assert_eq!(broke, hsa_sys::HSA_STATUS_INFO_BREAK);
        assert_eq!(
            finish("test", proceed(HSA_STATUS_SUCCESS)),
            HSA_STATUS_SUCCESS
        );
    }

    /// Names behind `unsupported fn` in a folder's sources; this file shows the form itself.
    fn unsupported_names(folder: &std::path::Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                unsupported_names(&path, names);
            } else if !path.ends_with("entry.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let parts = text.split("unsupported fn ").skip(1);
                names.extend(parts.map(|part| part.split('(').next().unwrap().to_owned()));
            }
        }
    }

    #[test]
    fn the_list_of_unsupported_functions_is_complete() {
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        // Written out, as it is in no table.
        let mut found = vec!["hsa_amd_image_get_info_max_dim".to_owned()];
        unsupported_names(std::path::Path::new(sources), &mut found);
        found.sort();
        let listed = include_str!("../unsupported.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        let listed: Vec<_> = listed.map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(found, listed);
    }
}
