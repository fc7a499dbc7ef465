//! The release build that every command runs programs on.

use std::path::PathBuf;

use crate::{Result, shell};

/// Builds the runtime, the interposer and the `hsa` command, and returns the command's path.
///
/// # Errors
/// If cargo fails.
pub(crate) fn hsa_command() -> Result<PathBuf> {
    let packages = ["hsa-api", "vkfd-preload", "hsa-cli"];
    let mut arguments = vec!["build", "--release", "--locked", "--quiet"];
    arguments.extend(packages.iter().flat_map(|p| ["--package", p]));
    shell::run(&mut shell::cargo(arguments))?;
    Ok(shell::target().join("release/hsa"))
}
