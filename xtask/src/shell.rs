//! Running other programs: one line that says what runs, and an error that names it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Cargo's target folder, which `CARGO_TARGET_DIR` may move.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A cargo command in the workspace's root.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// A compiler for HIP programs. ROCm 5.2.3's clang leaves an empty folder behind for each GPU it
/// compiles for, so its temporary files go into the target folder.
///
/// # Errors
/// If the folder cannot be made.
pub(crate) fn hipcc() -> std::io::Result<Command> {
    let temporary = target().join("hipcc");
    std::fs::create_dir_all(&temporary)?;
    let mut command = Command::new("hipcc");
    command.env("TMPDIR", temporary);
    Ok(command)
}

/// Runs a command with its output on ours.
///
/// # Errors
/// If it cannot start or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result {
    println!("\x1b[2m$ {}\x1b[0m", describe(command));
    let status = command
        .status()
        .map_err(|e| format!("{}: {e}", describe(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", describe(command)).into())
    }
}

/// True if `program` is found on PATH.
pub(crate) fn exists(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}
