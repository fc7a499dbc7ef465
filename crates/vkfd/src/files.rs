//! Open files: which descriptor numbers belong to vkfd, and what they are.

use std::collections::HashMap;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hsakmt_sys::{Errno, Fd};
use parking_lot::{Mutex, RwLock};
use slab::Slab;

use crate::memory::Extent;

/// What an open file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// `/dev/kfd`.
    Kfd,
    /// The render node of the GPU with this index.
    Render(usize),
    /// A dma-buf.
    DmaBuf,
    /// System-management events.
    Smi,
}

/// An open file description; duplicates of a descriptor share it.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// Unique number of the description.
    pub(crate) id: u64,
    pub(crate) kind: FileKind,
    /// GEM handles (key plus 1) of a render node's file.
    pub(crate) gem: Mutex<Slab<Gem>>,
    /// Memory of a dma-buf.
    pub(crate) memory: Option<Gem>,
    /// The far end of an event stream, kept open so that the near one does not read as closed.
    _peer: Option<OwnedFd>,
}

/// Memory that a GEM handle or a dma-buf stands for.
#[derive(Clone, Debug)]
pub(crate) struct Gem {
    /// Index of the GPU that owns it.
    pub(crate) gpu: usize,
    pub(crate) extent: Arc<Extent>,
    pub(crate) bytes: u64,
    /// `KFD_IOC_ALLOC_MEM_FLAGS_*` it was allocated with.
    pub(crate) flags: u32,
}

/// All open files of the process.
#[derive(Debug, Default)]
pub(crate) struct Files {
    open: RwLock<HashMap<c_int, Arc<OpenFile>>>,
    /// Number of open descriptors: lets an interposer skip the table while there are none.
    count: AtomicUsize,
    next_id: AtomicU64,
}

impl Files {
    /// Makes a description; [`Files::insert`] gives it a number.
    pub(crate) fn describe(
        &self,
        kind: FileKind,
        memory: Option<Gem>,
        peer: Option<OwnedFd>,
    ) -> OpenFile {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        OpenFile {
            id,
            kind,
            gem: Mutex::default(),
            memory,
            _peer: peer,
        }
    }

    /// Enters a descriptor that the caller made; the table owns it from now on.
    pub(crate) fn insert(&self, fd: OwnedFd, file: Arc<OpenFile>) -> Fd {
        let number = fd.into_raw_fd();
        self.adopt(number, file);
        Fd(number)
    }

    /// Enters a number that somebody else's `dup` made.
    pub(crate) fn adopt(&self, number: c_int, file: Arc<OpenFile>) {
        if self.open.write().insert(number, file).is_none() {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self, fd: c_int) -> Option<Arc<OpenFile>> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.open.read().get(&fd).cloned()
    }

    /// Forgets a number without closing it.
    pub(crate) fn forget(&self, fd: c_int) -> Option<Arc<OpenFile>> {
        let file = self.open.write().remove(&fd)?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(file)
    }

    /// Closes a descriptor.
    pub(crate) fn close(&self, fd: c_int) -> Result<(), Errno> {
        self.forget(fd).ok_or(Errno(libc::EBADF))?;
        // SAFETY: the number was in the table, which owned it.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for (fd, file) in self.open.get_mut().drain() {
            // A descriptor that an ioctl made is the client's, who closes it with close(2).
            if matches!(file.kind, FileKind::DmaBuf | FileKind::Smi) {
                continue;
            }
            // SAFETY: as in `close`.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
}

/// Sets or clears close-on-exec as `open(2)` flags ask.
pub(crate) fn set_cloexec(fd: &OwnedFd, flags: c_int) {
    let bits = if flags & libc::O_CLOEXEC == 0 {
        0
    } else {
        libc::FD_CLOEXEC
    };
    // SAFETY: plain call on our own descriptor; it cannot fail for a valid one.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, bits) };
}
