//! `cargo xtask abi`: the tests that compare our library with the installed packages.

use crate::{Result, build, packages, shell};

/// Runs the ABI tests alone.
///
/// # Errors
/// If a package cannot be installed or a comparison fails.
pub(crate) fn run() -> Result {
    packages::ensure(&[packages::HIP, packages::TESTS])?;
    build::hsa_command()?;
    shell::run(&mut shell::cargo([
        "test",
        "--release",
        "--locked",
        "--package",
        "hansa-tests",
        "--test",
        "abi",
    ]))
}
