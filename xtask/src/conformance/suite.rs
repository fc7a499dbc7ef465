//! Suites as data: `tests/conformance/*.toml`.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{Result, shell};

/// A suite: programs, the GPUs they run on, and how they end.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suite {
    /// What `--suite` names.
    pub(crate) name: String,
    /// Folder of the sources, below the workspace's root.
    #[serde(default)]
    pub(crate) sources: PathBuf,
    /// Architectures that hipcc compiles for.
    #[serde(default)]
    pub(crate) architectures: Vec<String>,
    /// Profiles to run on.
    pub(crate) gpus: Vec<String>,
    /// The cases, in order.
    #[serde(rename = "case")]
    pub(crate) cases: Vec<Case>,
}

/// One program and what it must do.
#[derive(Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// Source file without its suffix.
    pub(crate) name: String,
    /// A program of the system to run instead of a source of the suite.
    pub(crate) program: Option<String>,
    /// Profiles that the case is for, if not for all of the suite.
    pub(crate) gpus: Option<Vec<String>>,
    /// GPUs in the process.
    #[serde(default = "one")]
    pub(crate) count: u32,
    /// Seconds until the program counts as hanging.
    #[serde(default = "minute")]
    pub(crate) limit_s: u64,
    /// How the process ends.
    #[serde(default)]
    pub(crate) ends: Ends,
    /// Regular expressions that must match the standard output.
    #[serde(default)]
    pub(crate) stdout: Vec<String>,
    /// Regular expressions that must match the standard error.
    #[serde(default)]
    pub(crate) stderr: Vec<String>,
}

impl Case {
    /// True if the case runs on this profile.
    pub(crate) fn is_for(&self, gpu: &str) -> bool {
        self.gpus
            .as_ref()
            .is_none_or(|gpus| gpus.iter().any(|g| g == gpu))
    }
}

/// How a process ends.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ends {
    /// Exit code 0 and a last line PASS.
    #[default]
    Pass,
    /// Exit code 0.
    Success,
    /// Killed by SIGABRT, as AMD's runtime ends a process after a fault.
    Abort,
}

fn one() -> u32 {
    1
}

fn minute() -> u64 {
    60
}

/// The named suites, or all.
///
/// # Errors
/// If a file is not readable, or a name is not known (the message lists those that are).
pub(crate) fn load(names: &[String]) -> Result<Vec<Suite>> {
    let mut suites = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(shell::root().join("tests/conformance"))?
        .collect::<std::io::Result<_>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files
        .iter()
        .filter(|f| f.path().extension().is_some_and(|e| e == "toml"))
    {
        let suite: Suite = toml::from_str(&std::fs::read_to_string(file.path())?)
            .map_err(|error| format!("{}: {error}", file.path().display()))?;
        suites.push(suite);
    }
    let mut known: Vec<_> = suites.iter().map(|s| s.name.clone()).collect();
    known.push(super::isa::NAME.into());
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("there is no suite {unknown:?}; known: {}", known.join(", ")).into());
    }
    suites.retain(|s| names.is_empty() || names.contains(&s.name));
    Ok(suites)
}
