//! Compiles a suite's programs with hipcc, two at a time, and keeps them until a source changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::report::Progress;
use super::suite::{Case, Suite};
use crate::{Result, shell};

/// The program of each case, or what the compiler said.
pub(crate) type Programs = BTreeMap<String, std::result::Result<PathBuf, String>>;

/// Where a suite's programs and what they print are kept.
pub(crate) fn folder(suite: &str) -> PathBuf {
    shell::target().join("conformance").join(suite)
}

/// Compiles what is missing or older than its source.
///
/// # Errors
/// If the folder for the programs cannot be made.
pub(crate) fn all(suite: &Suite, cases: &[&Case]) -> Result<Programs> {
    let folder = folder(&suite.name);
    std::fs::create_dir_all(&folder)?;
    let sources = shell::root().join(&suite.sources);
    let headers = newest_header(&sources);
    let progress = Progress::new(&format!("compiling {}", suite.name), cases.len());
    let compiled = super::execute::in_parallel(cases, |case| {
        if let Some(program) = &case.program {
            return (case.name.clone(), Ok(PathBuf::from(program)));
        }
        let program = folder.join(&case.name);
        let source = sources.join(&case.name).with_extension("cpp");
        let result = if is_fresh(&program, &source, headers) {
            Ok(program)
        } else {
            compile(suite, &source, &program).map(|()| program)
        };
        progress.step(&case.name);
        (case.name.clone(), result)
    });
    Ok(compiled.into_iter().collect())
}

fn compile(suite: &Suite, source: &Path, program: &Path) -> std::result::Result<(), String> {
    let failed = |error| format!("hipcc: {error}");
    let mut command = shell::hipcc().map_err(failed)?;
    command
        .args(["-O2", "-w"])
        .arg(source)
        .arg("-o")
        .arg(program);
    command.args(
        suite
            .architectures
            .iter()
            .map(|a| format!("--offload-arch={a}")),
    );
    let output = command.output().map_err(failed)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn newest_header(sources: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(sources).ok()?.flatten();
    entries
        .filter(|e| e.path().extension().is_some_and(|x| x == "h"))
        .filter_map(|e| modified(&e.path()))
        .max()
}

fn is_fresh(program: &Path, source: &Path, headers: Option<SystemTime>) -> bool {
    modified(program).is_some_and(|built| {
        modified(source)
            .max(headers)
            .is_some_and(|changed| changed < built)
    })
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|m| m.modified()).ok()
}
