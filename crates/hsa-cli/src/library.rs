//! Where `libhsa-runtime64.so.1` and the interposer are.
//!
//! Installed, they are in `../lib` beside the command's folder. In a build tree cargo leaves
//! `libhsa_runtime64.so` without its SONAME's file name, so a folder with links is made beside it.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::run::Error;

/// Name that programs are linked with.
pub(crate) const RUNTIME: &str = "libhsa-runtime64.so.1";
/// The `LD_PRELOAD` interposer.
pub(crate) const PRELOAD: &str = "libvkfd_preload.so";
/// What cargo calls the runtime in a build tree.
const BUILT_RUNTIME: &str = "libhsa_runtime64.so";
/// Folder of links that a build tree gets.
const LINKS: &str = "hansa-lib";

/// The folder that holds [`RUNTIME`] (and [`PRELOAD`] if it is there at all).
///
/// # Errors
/// [`Error::NoRuntime`] names the places that were tried.
pub(crate) fn folder() -> Result<PathBuf, Error> {
    if let Some(named) = std::env::var_os("HANSA_LIB_DIR").map(PathBuf::from) {
        return accept(named.clone()).ok_or(Error::NoRuntime { tried: vec![named] });
    }
    let here = std::env::current_exe().map_err(Error::OwnPath)?;
    let bin = here.parent().unwrap_or(Path::new("/"));
    if bin.join(BUILT_RUNTIME).exists() {
        return links_beside(bin).map_err(|source| Error::Links {
            folder: bin.into(),
            source,
        });
    }
    let installed = [bin.join("../lib/hansa"), bin.join("../lib")];
    installed
        .iter()
        .cloned()
        .find_map(accept)
        .ok_or(Error::NoRuntime {
            tried: installed.into(),
        })
}

fn accept(folder: PathBuf) -> Option<PathBuf> {
    folder.join(RUNTIME).exists().then_some(folder)
}

fn links_beside(bin: &Path) -> io::Result<PathBuf> {
    let folder = bin.join(LINKS);
    std::fs::create_dir_all(&folder)?;
    link(&bin.join(BUILT_RUNTIME), &folder.join(RUNTIME))?;
    link(&bin.join(PRELOAD), &folder.join(PRELOAD))?;
    Ok(folder)
}

/// Two commands may start at the same moment, so an existing link is fine.
fn link(target: &Path, at: &Path) -> io::Result<()> {
    match symlink(target, at) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
