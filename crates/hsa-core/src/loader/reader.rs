//! Readers: where the bytes of a code object come from.

use super::state::{Handle, state};
use crate::Result;
use crate::error::Error;
use crate::runtime::Runtime;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The bytes of a code object and what debuggers call them.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) data: Data,
    pub(super) origin: Origin,
}

/// The bytes.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// The caller's memory.
    Borrowed(&'static [u8]),
    /// Read from a file.
    Owned(Arc<[u8]>),
}

/// The part of memory or of a file that holds the code object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Memory {
        base: u64,
        size: u64,
    },
    File {
        fd: RawFd,
        path: PathBuf,
        offset: u64,
        size: u64,
    },
}

impl Data {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl Origin {
    /// The URI of LLVM AMDGPUUsage, "Loaded Code Object Path Uniform Resource Identifier".
    pub(super) fn uri(&self) -> String {
        match self {
            Self::Memory { base, size } => {
                format!(
                    "memory://{}#offset={base:#x}&size={size:#x}",
                    std::process::id()
                )
            }
            Self::File {
                path, offset, size, ..
            } => {
                format!(
                    "file://{}#offset={offset}&size={size}",
                    escape(&path.to_string_lossy())
                )
            }
        }
    }
}

/// Percent-encodes what a URI path may not hold (RFC 3986, 3.3).
fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

impl Runtime {
    /// Makes a reader of a code object in memory (`hsa_code_object_reader_create_from_memory`).
    ///
    /// # Errors
    /// `InvalidArgument` for a null or empty range.
    ///
    /// # Safety
    /// The range stays valid and unchanged until the reader and every executable that loaded from
    /// it are destroyed (hsa.h).
    pub unsafe fn reader_from_memory(&self, base: u64, size: u64) -> Result<u64> {
        let length = usize::try_from(size).map_err(|_| Error::InvalidArgument)?;
        let start = usize::try_from(base).map_err(|_| Error::InvalidArgument)?;
        if start == 0 || length == 0 || start.checked_add(length).is_none() {
            return Err(Error::InvalidArgument);
        }
        let start = std::ptr::with_exposed_provenance::<u8>(start);
        // SAFETY: the caller vouches for the range and for how long it is valid.
        let bytes = unsafe { std::slice::from_raw_parts(start, length) };
        let reader = Reader {
            data: Data::Borrowed(bytes),
            origin: Origin::Memory { base, size },
        };
        Ok(state().readers.insert(reader).handle())
    }

    /// Makes a reader of a part of an open file; without a size, of all from `offset`.
    ///
    /// # Errors
    /// `InvalidFile` if the descriptor cannot be read, `InvalidArgument` for a part that is not in
    /// the file.
    pub fn reader_from_file(&self, fd: RawFd, offset: u64, size: Option<u64>) -> Result<u64> {
        let file = borrow(fd)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let rest = length.checked_sub(offset).ok_or(Error::InvalidArgument)?;
        let size = size.unwrap_or(rest);
        if size == 0 || size > rest {
            return Err(Error::InvalidArgument);
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(|_| Error::InvalidArgument)?];
        file.read_exact_at(&mut bytes, offset).map_err(unreadable)?;
        let path = std::fs::read_link(format!("/proc/self/fd/{fd}")).map_err(unreadable)?;
        let origin = Origin::File {
            fd,
            path,
            offset,
            size,
        };
        let reader = Reader {
            data: Data::Owned(bytes.into()),
            origin,
        };
        Ok(state().readers.insert(reader).handle())
    }

    /// Destroys a reader; what was loaded from it stays loaded.
    ///
    /// # Errors
    /// `InvalidCodeObjectReader`
    pub fn destroy_reader(&self, reader: u64) -> Result<()> {
        let key = Handle::decode(reader);
        state()
            .readers
            .remove(key)
            .map(drop)
            .ok_or(Error::InvalidCodeObjectReader)
    }
}

/// The caller's file, which stays the caller's: it is not closed here.
fn borrow(fd: RawFd) -> Result<ManuallyDrop<File>> {
    // SAFETY: fcntl checks the descriptor and changes nothing.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(Error::InvalidFile);
    }
    // SAFETY: an open descriptor, and `ManuallyDrop` never closes it.
    Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(fd) }))
}

fn unreadable(error: io::Error) -> Error {
    tracing::debug!(%error, "code object file");
    Error::InvalidFile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_process_and_range() {
        let memory = Origin::Memory {
            base: 0x7f00,
            size: 0x20,
        };
        let expected = format!("memory://{}#offset=0x7f00&size=0x20", std::process::id());
        assert_eq!(memory.uri(), expected);
        let file = Origin::File {
            fd: 3,
            path: "/a b/c%.o".into(),
            offset: 4096,
            size: 10,
        };
        assert_eq!(file.uri(), "file:///a%20b/c%25.o#offset=4096&size=10");
    }
}
