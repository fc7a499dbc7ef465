//! Paths of device nodes.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A device node that vkfd serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DevicePath {
    /// `/dev/kfd`.
    Kfd,
    /// `/dev/dri/renderD<minor>`; the minor may be no GPU's.
    Render(u32),
}

pub(crate) fn as_path(path: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(path.to_bytes()))
}

/// The node that a path names. Repeated slashes and `.` are as in the kernel.
pub(crate) fn device(path: &Path) -> Option<DevicePath> {
    let text = path.to_str()?;
    if !text.starts_with("/dev") {
        return None;
    }
    let normal = normalize(text);
    if normal == "/dev/kfd" {
        return Some(DevicePath::Kfd);
    }
    normal
        .strip_prefix("/dev/dri/renderD")?
        .parse()
        .ok()
        .map(DevicePath::Render)
}

/// Without repeated and trailing slashes and `.` components.
pub(crate) fn normalize(path: &str) -> String {
    let mut normal = String::with_capacity(path.len());
    for part in path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        normal.push('/');
        normal.push_str(part);
    }
    if normal.is_empty() {
        "/".to_owned()
    } else {
        normal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_nodes_are_recognised_in_every_spelling() {
        assert_eq!(device(Path::new("/dev/kfd")), Some(DevicePath::Kfd));
        assert_eq!(device(Path::new("/dev//./kfd")), Some(DevicePath::Kfd));
        assert_eq!(
            device(Path::new("/dev/dri/renderD130")),
            Some(DevicePath::Render(130))
        );
        assert_eq!(device(Path::new("/dev/dri/card0")), None);
        assert_eq!(device(Path::new("/dev/kfd2")), None);
        assert_eq!(device(Path::new("dev/kfd")), None);
    }
}
