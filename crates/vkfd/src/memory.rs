//! The memory of a virtual GPU: one sparse memfd with a VRAM and a GTT part, mapped once for vkfd
//! itself. Pages cost only when touched; freeing returns them to the host and makes them read zero.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hsakmt_sys::Errno;
use parking_lot::Mutex;

use crate::extent::{Extents, LARGE, PAGE};

/// File offset of VRAM. Real DRM offsets start here too (`DRM_FILE_PAGE_OFFSET_START`), and it
/// keeps 0 from being a valid offset.
const VRAM_START: u64 = 1 << 32;
/// Offsets per byte of capacity: the file is sparse, so fragmentation can be outrun cheaply.
const SLACK: u64 = 2;

/// Which heap an extent lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeapKind {
    /// Device memory.
    Vram,
    /// System memory for the device.
    Gtt,
}

/// A memfd with vkfd's own shared mapping of it.
#[derive(Debug)]
pub(crate) struct Segment {
    fd: OwnedFd,
    base: usize,
    bytes: usize,
}

impl Segment {
    /// Makes a zero-filled segment of `bytes` bytes (a multiple of the page size).
    ///
    /// # Errors
    /// The errno of `memfd_create`, `ftruncate` or `mmap`.
    pub(crate) fn new(name: &CStr, bytes: u64) -> Result<Self, Errno> {
        let length = usize::try_from(bytes).map_err(|_| Errno(libc::ENOMEM))?;
        let fd = memfd(name)?;
        let size = libc::off_t::try_from(bytes).map_err(|_| Errno(libc::ENOMEM))?;
        // SAFETY: plain call on our own descriptor.
        check(unsafe { libc::ftruncate(fd.as_raw_fd(), size) })?;
        let base = map_shared(&fd, length)?;
        Ok(Self {
            fd,
            base,
            bytes: length,
        })
    }

    /// vkfd's address of byte `offset`.
    pub(crate) fn host(&self, offset: u64) -> u64 {
        self.base as u64 + offset
    }

    /// The segment's descriptor.
    pub(crate) fn raw_fd(&self) -> libc::c_int {
        self.fd.as_raw_fd()
    }

    /// A new descriptor of the same file; `flags` may hold `O_CLOEXEC`.
    ///
    /// # Errors
    /// The errno of `open(2)` or `fcntl(2)`.
    pub(crate) fn reopen(&self, flags: libc::c_int) -> Result<libc::c_int, Errno> {
        reopen(self.raw_fd(), flags)
    }

    /// The 64-bit cells of `offset..offset + bytes`.
    pub(crate) fn cells(&self, offset: u64, bytes: u64) -> &[AtomicU64] {
        let fits = offset
            .checked_add(bytes)
            .is_some_and(|end| end <= self.bytes as u64);
        assert!(fits && offset.is_multiple_of(8), "cells inside the segment");
        let (offset, count) = (usize::try_from(offset), usize::try_from(bytes / 8));
        let (Ok(offset), Ok(count)) = (offset, count) else {
            return &[];
        };
        let first = std::ptr::with_exposed_provenance::<AtomicU64>(self.base + offset);
        // SAFETY: inside the mapping (checked), aligned, and every bit pattern is valid; the memory
        // is shared with clients, hence atomics.
        unsafe { std::slice::from_raw_parts(first, count) }
    }

    fn punch(&self, offset: u64, bytes: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (Ok(at), Ok(length)) = (libc::off_t::try_from(offset), libc::off_t::try_from(bytes))
        else {
            return;
        };
        // SAFETY: frees pages of our own file that no live buffer object covers.
        let failed = unsafe { libc::fallocate(self.raw_fd(), mode, at, length) };
        if failed != 0 {
            tracing::warn!(errno = %Errno::last(), offset, bytes, "cannot return device memory");
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let base = std::ptr::with_exposed_provenance_mut(self.base);
        // SAFETY: our own mapping; whoever hands out addresses of it holds the segment.
        unsafe { libc::munmap(base, self.bytes) };
    }
}

/// The memory of one GPU.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    segment: Segment,
    vram: Mutex<Heap>,
    gtt: Mutex<Heap>,
}

#[derive(Debug)]
struct Heap {
    extents: Extents,
    limit: u64,
    used: u64,
}

impl DeviceMemory {
    /// Reserves address space for `vram_bytes` and `gtt_bytes`.
    ///
    /// # Errors
    /// The errno of the first system call that failed.
    pub(crate) fn new(vram_bytes: u64, gtt_bytes: u64) -> Result<Arc<Self>, Errno> {
        let room = |bytes: u64| bytes.checked_mul(SLACK)?.checked_next_multiple_of(LARGE);
        let huge = Errno(libc::ENOMEM);
        let gtt_start = room(vram_bytes)
            .and_then(|bytes| bytes.checked_add(VRAM_START))
            .ok_or(huge)?;
        let end = room(gtt_bytes)
            .and_then(|bytes| bytes.checked_add(gtt_start))
            .ok_or(huge)?;
        Ok(Arc::new(Self {
            segment: Segment::new(c"vkfd-memory", end)?,
            vram: Mutex::new(Heap::new(VRAM_START, gtt_start, vram_bytes)),
            gtt: Mutex::new(Heap::new(gtt_start, end, gtt_bytes)),
        }))
    }

    /// Allocates zero-filled memory.
    ///
    /// # Errors
    /// `ENOMEM` if the heap's limit is reached.
    pub(crate) fn alloc(self: &Arc<Self>, kind: HeapKind, bytes: u64) -> Result<Extent, Errno> {
        let rounded = bytes
            .checked_next_multiple_of(PAGE)
            .ok_or(Errno(libc::ENOMEM))?;
        let offset = self
            .heap(kind)
            .lock()
            .take(rounded)
            .ok_or(Errno(libc::ENOMEM))?;
        Ok(Extent {
            memory: Arc::clone(self),
            kind,
            offset,
            bytes: rounded,
        })
    }

    /// Bytes of `kind` in use.
    pub(crate) fn used(&self, kind: HeapKind) -> u64 {
        self.heap(kind).lock().used
    }

    /// Bytes of `kind` in total.
    pub(crate) fn limit(&self, kind: HeapKind) -> u64 {
        self.heap(kind).lock().limit
    }

    /// The file behind it.
    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    fn heap(&self, kind: HeapKind) -> &Mutex<Heap> {
        match kind {
            HeapKind::Vram => &self.vram,
            HeapKind::Gtt => &self.gtt,
        }
    }
}

impl Heap {
    fn new(start: u64, end: u64, limit: u64) -> Self {
        Self {
            extents: Extents::new(start, end),
            limit,
            used: 0,
        }
    }

    fn take(&mut self, bytes: u64) -> Option<u64> {
        if self.used.checked_add(bytes)? > self.limit {
            return None;
        }
        let offset = self.extents.take(bytes)?;
        self.used += bytes;
        Some(offset)
    }

    fn give(&mut self, offset: u64, bytes: u64) {
        self.extents.give(offset, bytes);
        self.used -= bytes;
    }
}

/// Allocated memory; dropping it frees it.
#[derive(Debug)]
pub(crate) struct Extent {
    memory: Arc<DeviceMemory>,
    kind: HeapKind,
    offset: u64,
    bytes: u64,
}

impl Extent {
    /// vkfd's address of the first byte.
    pub(crate) fn host(&self) -> u64 {
        self.memory.segment.host(self.offset)
    }

    /// Offset in the memory's file, which is also its mmap offset.
    pub(crate) fn file_offset(&self) -> u64 {
        self.offset
    }

    /// Length, a multiple of the page size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its heap.
    pub(crate) fn kind(&self) -> HeapKind {
        self.kind
    }

    /// Its memory.
    pub(crate) fn memory(&self) -> &Arc<DeviceMemory> {
        &self.memory
    }

    /// The memory as 64-bit cells.
    pub(crate) fn cells(&self, bytes: u64) -> &[AtomicU64] {
        self.memory
            .segment
            .cells(self.offset, bytes.min(self.bytes))
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        // Before the offset is free again: its next owner must find zeroes.
        self.memory.segment.punch(self.offset, self.bytes);
        self.memory
            .heap(self.kind)
            .lock()
            .give(self.offset, self.bytes);
    }
}

/// A memfd that closes on exec.
pub(crate) fn memfd(name: &CStr) -> Result<OwnedFd, Errno> {
    // SAFETY: `name` is a C string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    check(fd)?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A new descriptor with its own open file description (a plain duplicate without /proc).
pub(crate) fn reopen(fd: libc::c_int, flags: libc::c_int) -> Result<libc::c_int, Errno> {
    let path =
        std::ffi::CString::new(format!("/proc/self/fd/{fd}")).map_err(|_| Errno(libc::EINVAL))?;
    let cloexec = flags & libc::O_CLOEXEC;
    // SAFETY: `path` is a C string.
    let opened = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | cloexec) };
    if opened >= 0 {
        return Ok(opened);
    }
    let command = if cloexec == 0 {
        libc::F_DUPFD
    } else {
        libc::F_DUPFD_CLOEXEC
    };
    // SAFETY: plain call on our own descriptor.
    let duplicate = unsafe { libc::fcntl(fd, command, 0) };
    check(duplicate)?;
    Ok(duplicate)
}

fn map_shared(fd: &OwnedFd, length: usize) -> Result<usize, Errno> {
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), length, prot, flags, fd.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    for advice in [libc::MADV_DONTFORK, libc::MADV_DONTDUMP] {
        // Only an optimisation, so a refusal is fine. SAFETY: our own mapping; neither advice
        // changes its content.
        unsafe { libc::madvise(base, length, advice) };
    }
    Ok(base.expose_provenance())
}

fn check(result: libc::c_int) -> Result<(), Errno> {
    if result < 0 {
        Err(Errno::last())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn freed_memory_reads_zero_for_its_next_owner() {
        let memory = DeviceMemory::new(8 << 20, 0).unwrap();
        let first = memory.alloc(HeapKind::Vram, 8 << 20).unwrap();
        first.cells(8)[0].store(7, Ordering::Relaxed);
        assert_eq!(memory.used(HeapKind::Vram), 8 << 20);
        drop(first);
        let second = memory.alloc(HeapKind::Vram, 8 << 20).unwrap();
        assert_eq!(second.cells(8)[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn limits_are_exact() {
        let memory = DeviceMemory::new(3 * 4096, 4096).unwrap();
        let _two = memory.alloc(HeapKind::Vram, 2 * 4096).unwrap();
        assert_eq!(
            memory.alloc(HeapKind::Vram, 4097).unwrap_err(),
            Errno(libc::ENOMEM)
        );
        let one = memory.alloc(HeapKind::Vram, 1).unwrap();
        assert_eq!(
            memory.alloc(HeapKind::Vram, 1).unwrap_err(),
            Errno(libc::ENOMEM)
        );
        drop(one);
        assert_eq!(memory.used(HeapKind::Vram), 2 * 4096);
        assert!(memory.alloc(HeapKind::Vram, u64::MAX).is_err());
        assert!(memory.alloc(HeapKind::Gtt, 4096).is_ok());
    }
}
