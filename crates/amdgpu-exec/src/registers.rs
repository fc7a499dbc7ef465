//! Storage of a wave's vector registers: anonymous pages, so that registers a kernel does not use
//! never become resident. (The allocator would touch a zeroed block of this alignment.)

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::wave::{Chunk, FILE_CHUNKS};

type Chunks = [Chunk; FILE_CHUNKS];

/// An owned, zero-initialised vector register file.
pub(crate) struct VectorFile(NonNull<Chunks>);

// SAFETY: the file is plain memory owned by this value alone.
unsafe impl Send for VectorFile {}
// SAFETY: shared references only read.
unsafe impl Sync for VectorFile {}

impl VectorFile {
    pub(crate) fn new() -> Self {
        // SAFETY: an anonymous private mapping at an address of the kernel's choice affects nothing.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Chunks>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<Chunks>());
        }
        // PANIC: a successful mapping without MAP_FIXED is never at address zero.
        Self(NonNull::new(address.cast()).expect("mapping is not null"))
    }
}

impl Drop for VectorFile {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and nothing refers to it any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Chunks>()) };
    }
}

impl Deref for VectorFile {
    type Target = Chunks;
    #[inline(always)]
    fn deref(&self) -> &Chunks {
        // SAFETY: page-aligned, mapped for the life of `self`, and zero bytes are valid chunks.
        unsafe { self.0.as_ref() }
    }
}

impl DerefMut for VectorFile {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Chunks {
        // SAFETY: as for `deref`; `&mut self` makes the access unique.
        unsafe { self.0.as_mut() }
    }
}
