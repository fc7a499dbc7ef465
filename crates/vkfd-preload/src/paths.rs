//! Which paths may be the device's. Called for every file that a program opens, so it allocates
//! only for the few that are.

use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Everything that the device serves lies at or below one of these.
const ROOTS: &[&[u8]] = &[
    b"/dev/kfd",
    b"/dev/dri",
    b"/proc/modules",
    b"/sys/class/drm",
    b"/sys/class/kfd",
    b"/sys/dev/char/226:",
    b"/sys/devices/virtual/kfd",
    b"/sys/module/amdgpu",
];

/// The path, if it may be the device's: absolute, without repeated slashes and dots.
pub(crate) fn candidate(path: &CStr) -> Option<Cow<'_, Path>> {
    let bytes = path.to_bytes();
    let first = bytes.get(..5)?;
    if !matches!(first, b"/dev/" | b"/sys/" | b"/proc") && !first.starts_with(b"//") {
        return None;
    }
    let plain = !contains(bytes, b"//") && !contains(bytes, b"/.");
    let path = if plain {
        Cow::Borrowed(Path::new(OsStr::from_bytes(bytes)))
    } else {
        Cow::Owned(tidy(Path::new(OsStr::from_bytes(bytes))))
    };
    is_below_a_root(&path).then_some(path)
}

/// The same for a path below a directory of the device.
pub(crate) fn joined(directory: &Path, path: &CStr) -> PathBuf {
    tidy(&directory.join(OsStr::from_bytes(path.to_bytes())))
}

fn is_below_a_root(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    ROOTS.iter().any(|root| bytes.starts_with(root))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Resolves `.` and `..` in the text; links of the device lead nowhere that `..` would matter.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::from("/");
    for component in path.components() {
        match component {
            std::path::Component::Normal(name) => tidy.push(name),
            std::path::Component::ParentDir => drop(tidy.pop()),
            _ => {}
        }
    }
    tidy
}
