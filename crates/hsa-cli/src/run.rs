//! `hsa run`: sets library path, interposer and GPU choice, then becomes the program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library;

/// What `hsa run` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Virtual GPU: a profile (gfx90a, gfx1030), `profile*count`, a comma list of these, or a
    /// directory in KFD topology layout. Without it VKFD_GPUS counts, and without that the real
    /// /dev/kfd is used.
    #[arg(long, value_name = "PROFILE")]
    gpu: Option<String>,
    /// How many of the one profile that --gpu names.
    #[arg(long, requires = "gpu", value_parser = clap::value_parser!(u32).range(1..=64))]
    count: Option<u32>,
    /// Leave out the interposer that serves /dev/kfd and sysfs to programs which look for
    /// themselves (rocminfo, AMD's own runtime).
    #[arg(long)]
    no_preload: bool,
    /// Use the system's own libhsa-runtime64 on the virtual device instead of Hansa's.
    #[arg(long)]
    system_runtime: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Why the command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot find this program's own path: {0}")]
    OwnPath(#[source] io::Error),
    #[error(
        "libhsa-runtime64.so.1 is not in {}; build it with `cargo build --release` or name its folder in HANSA_LIB_DIR",
        tried.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" or ")
    )]
    NoRuntime { tried: Vec<PathBuf> },
    #[error("cannot link the libraries below {}: {source}", folder.display())]
    Links { folder: PathBuf, source: io::Error },
    #[error("{0}")]
    Gpus(#[from] vkfd::ConfigError),
    #[error("--count needs a single profile in --gpu, not the list {0:?}")]
    CountOfList(String),
    #[error("cannot start {program:?}: {source}")]
    Start {
        program: OsString,
        source: io::Error,
    },
    #[error("{call} answered {status}")]
    Hsa { call: &'static str, status: String },
    #[error("cannot load {}: {message}", path.display())]
    Load { path: PathBuf, message: String },
}

/// Replaces this process by the program.
///
/// # Errors
/// Whatever keeps the program from starting, in words that name the cure.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let folder = library::folder()?;
    let mut command = Command::new(&options.program[0]);
    command.args(&options.program[1..]);
    if let Some(gpus) = gpus(options)? {
        command.env("VKFD_GPUS", gpus);
    }
    if !options.system_runtime {
        command.env("LD_LIBRARY_PATH", prepend(&folder, "LD_LIBRARY_PATH"));
    }
    if !options.no_preload {
        command.env(
            "LD_PRELOAD",
            prepend(&folder.join(library::PRELOAD), "LD_PRELOAD"),
        );
    }
    let source = command.exec();
    Err(Error::Start {
        program: options.program[0].clone(),
        source,
    })
}

/// The value for VKFD_GPUS, checked before the program starts, so that a typing mistake is this
/// command's error and not the program's.
fn gpus(options: &Options) -> Result<Option<String>, Error> {
    let Some(gpu) = &options.gpu else {
        return Ok(None);
    };
    let list = match options.count {
        None => gpu.clone(),
        Some(_) if gpu.contains([',', '*']) => return Err(Error::CountOfList(gpu.clone())),
        Some(count) => format!("{gpu}*{count}"),
    };
    vkfd::Config::of_gpus(&list)?;
    Ok(Some(list))
}

/// `first`, then what the variable already holds.
fn prepend(first: &Path, variable: &str) -> OsString {
    let mut value = first.as_os_str().to_owned();
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        value.push(OsStr::new(":"));
        value.push(rest);
    }
    value
}
