//! Generators of bindings. bindgen is a large dependency, so it is built only when one of them is
//! asked for: the command then starts itself once more with the feature that brings it.

use std::path::Path;

use crate::Result;

#[cfg(feature = "bindgen")]
mod hsa;
#[cfg(feature = "bindgen")]
mod kernel;

/// `cargo xtask bindgen`.
///
/// # Errors
/// As the generator.
#[cfg(feature = "bindgen")]
pub(crate) fn kernel() -> Result {
    kernel::run()
}

/// `cargo xtask bindgen-hsa DIR`.
///
/// # Errors
/// As the generator.
#[cfg(feature = "bindgen")]
pub(crate) fn hsa(include: &Path) -> Result {
    hsa::run(include)
}

/// `cargo xtask bindgen`.
///
/// # Errors
/// As the generator.
#[cfg(not(feature = "bindgen"))]
pub(crate) fn kernel() -> Result {
    crate::packages::ensure(&[crate::packages::BINDGEN])?;
    again(&["bindgen".as_ref()])
}

/// `cargo xtask bindgen-hsa DIR`.
///
/// # Errors
/// As the generator.
#[cfg(not(feature = "bindgen"))]
pub(crate) fn hsa(include: &Path) -> Result {
    crate::packages::ensure(&[crate::packages::BINDGEN])?;
    let include = include.canonicalize()?;
    again(&["bindgen-hsa".as_ref(), include.as_os_str()])
}

#[cfg(not(feature = "bindgen"))]
fn again(arguments: &[&std::ffi::OsStr]) -> Result {
    let run = [
        "run",
        "--quiet",
        "--package",
        "xtask",
        "--features",
        "bindgen",
        "--",
    ];
    crate::shell::run(crate::shell::cargo(run).args(arguments))
}
