//! Accesses of the packet processors to GPU memory: by GPU virtual address, with rights checked,
//! and with atomic operations where client and device synchronise.
//!
//! Memory that vkfd owns (`stable` ranges) is accessed directly. Memory of the client can vanish
//! under us, so plain copies there go through the kernel, which answers `EFAULT` instead of a
//! signal. Atomic operations have no such form: the page is probed first, and a client that unmaps
//! a signal in the same instant has only itself to blame.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering};

use amdgpu_exec::{Access, AccessFault, FaultReason, Range};

use crate::scheduler::Host;
use crate::uaccess;

/// Why an access of a packet processor failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestError {
    /// The page may not be accessed so.
    Fault(AccessFault),
    /// An atomic access to an address that is no multiple of its size.
    Misaligned {
        /// The address.
        gpu_va: u64,
    },
}

impl From<AccessFault> for GuestError {
    fn from(fault: AccessFault) -> Self {
        Self::Fault(fault)
    }
}

/// Result of an access.
pub(crate) type Result<T> = std::result::Result<T, GuestError>;

/// Ranges that a processor keeps from its last accesses: ring, pointers, signals, code.
const KEPT: usize = 4;

/// A packet processor's view of GPU memory. Belongs to one thread.
pub struct Guest {
    host: Arc<dyn Host>,
    generation: Cell<u64>,
    kept: [Cell<Option<Range>>; KEPT],
    next: Cell<usize>,
}

/// Host memory behind a checked access.
#[derive(Clone, Copy)]
struct Span {
    /// Host address of the first byte.
    address: u64,
    /// Bytes up to the end of the range.
    bytes: u64,
    stable: bool,
}

impl Guest {
    /// The view of a GPU's memory.
    pub fn new(host: Arc<dyn Host>) -> Self {
        let generation = Cell::new(host.memory().generation());
        Self {
            host,
            generation,
            kept: Default::default(),
            next: Cell::new(0),
        }
    }

    /// The GPU.
    pub fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Loads 64 bits, acquiring what was released with them.
    ///
    /// # Errors
    /// As all accesses: the fault, or misalignment.
    pub fn load_u64(&self, gpu_va: u64) -> Result<u64> {
        // ORDERING: acquire pairs with the client's release stores to indices and signals.
        self.atomic(gpu_va, Access::Read, |p| {
            atomic_u64(p).load(Ordering::Acquire)
        })
    }

    /// Loads 64 signed bits.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn load_i64(&self, gpu_va: u64) -> Result<i64> {
        self.load_u64(gpu_va).map(u64::cast_signed)
    }

    /// Loads 32 bits.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn load_u32(&self, gpu_va: u64) -> Result<u32> {
        // ORDERING: acquire pairs with the client's release store of a packet header.
        self.atomic(gpu_va, Access::Read, |p| {
            atomic_u32(p).load(Ordering::Acquire)
        })
    }

    /// Stores 64 bits, releasing everything before.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn store_u64(&self, gpu_va: u64, value: u64) -> Result<()> {
        // ORDERING: release: the client that reads the value finds all earlier stores.
        self.atomic(gpu_va, Access::Write, |p| {
            atomic_u64(p).store(value, Ordering::Release)
        })
    }

    /// Stores 32 bits, releasing everything before.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn store_u32(&self, gpu_va: u64, value: u32) -> Result<()> {
        // ORDERING: as `store_u64`.
        self.atomic(gpu_va, Access::Write, |p| {
            atomic_u32(p).store(value, Ordering::Release)
        })
    }

    /// Stores 16 bits, releasing everything before.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn store_u16(&self, gpu_va: u64, value: u16) -> Result<()> {
        // ORDERING: as `store_u64`.
        self.atomic(gpu_va, Access::Write, |p| {
            atomic_u16(p).store(value, Ordering::Release)
        })
    }

    /// Adds to a 64-bit value and answers the old one.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn add_i64(&self, gpu_va: u64, addend: i64) -> Result<i64> {
        self.atomic(gpu_va, Access::Write, |p| {
            atomic_i64(p).fetch_add(addend, Ordering::SeqCst)
        })
    }

    /// Replaces a 64-bit value by a function of it.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn update_u64(&self, gpu_va: u64, mut f: impl FnMut(u64) -> u64) -> Result<u64> {
        self.atomic(gpu_va, Access::Write, |p| {
            let set = |old| Some(f(old));
            let result = atomic_u64(p).fetch_update(Ordering::SeqCst, Ordering::SeqCst, set);
            result.unwrap_or_else(|old| old)
        })
    }

    /// Replaces a 32-bit value by a function of it.
    ///
    /// # Errors
    /// As [`Guest::load_u64`].
    pub fn update_u32(&self, gpu_va: u64, mut f: impl FnMut(u32) -> u32) -> Result<u32> {
        self.atomic(gpu_va, Access::Write, |p| {
            let set = |old| Some(f(old));
            let result = atomic_u32(p).fetch_update(Ordering::SeqCst, Ordering::SeqCst, set);
            result.unwrap_or_else(|old| old)
        })
    }

    /// Copies memory out, across any number of ranges.
    ///
    /// # Errors
    /// The fault of the first byte that may not be read.
    pub fn read(&self, gpu_va: u64, buffer: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let at = gpu_va.wrapping_add(done as u64);
            let span = self.span(at, Access::Read)?;
            let rest = &mut buffer[done..];
            let count = clamp(span.bytes, rest.len());
            copy_out(span, &mut rest[..count]).ok_or_else(|| gone(at, Access::Read))?;
            done += count;
        }
        Ok(())
    }

    /// Copies bytes to memory, across any number of ranges.
    ///
    /// # Errors
    /// The fault of the first byte that may not be written.
    pub fn write(&self, gpu_va: u64, bytes: &[u8]) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let at = gpu_va.wrapping_add(done as u64);
            let span = self.span(at, Access::Write)?;
            let rest = &bytes[done..];
            let count = clamp(span.bytes, rest.len());
            copy_in(span, &rest[..count]).ok_or_else(|| gone(at, Access::Write))?;
            done += count;
        }
        Ok(())
    }

    /// Moves up to `bytes` bytes within one range each of source and destination, from their start
    /// or, for overlapping moves upwards, from their end. Answers how many were moved, at least 1.
    ///
    /// # Errors
    /// The fault of the first byte that may not be accessed.
    pub fn transfer(&self, src: u64, dst: u64, bytes: u64, backwards: bool) -> Result<u64> {
        let first = if backwards { bytes - 1 } else { 0 };
        let (src_at, dst_at) = (src.wrapping_add(first), dst.wrapping_add(first));
        let from = self.sided(src_at, Access::Read, backwards)?;
        let to = self.sided(dst_at, Access::Write, backwards)?;
        let count = bytes.min(from.bytes).min(to.bytes);
        let (from, to) = (from.shifted(count, backwards), to.shifted(count, backwards));
        let count = clamp(count, usize::MAX);
        move_bytes(from, to, count).ok_or_else(|| gone(dst_at, Access::Write))?;
        Ok(count as u64)
    }

    /// Fills up to `bytes` bytes of one range with copies of `pattern`, starting at its first byte;
    /// answers how many, at least 1.
    ///
    /// # Errors
    /// The fault of the first byte that may not be written.
    pub fn fill(&self, dst: u64, bytes: u64, pattern: [u8; 4]) -> Result<u64> {
        let span = self.span(dst, Access::Write)?;
        let count = clamp(span.bytes.min(bytes), usize::MAX);
        fill_bytes(span, count, pattern).ok_or_else(|| gone(dst, Access::Write))?;
        Ok(count as u64)
    }

    /// Runs `f` on the host pointer of an aligned `T` that may be accessed.
    fn atomic<T, R>(&self, gpu_va: u64, access: Access, f: impl FnOnce(*mut T) -> R) -> Result<R> {
        if !gpu_va.is_multiple_of(size_of::<T>() as u64) {
            return Err(GuestError::Misaligned { gpu_va });
        }
        let span = self.span(gpu_va, access)?;
        let mut probe = [0];
        if !span.stable && uaccess::read(span.address, &mut probe).is_err() {
            return Err(gone(gpu_va, access));
        }
        Ok(f(pointer(span.address).cast()))
    }

    /// The span whose last byte (`backwards`) or first byte is at `gpu_va`.
    fn sided(&self, gpu_va: u64, access: Access, backwards: bool) -> Result<Span> {
        let range = self.range(gpu_va, access)?;
        let bytes = if backwards {
            gpu_va - range.base + 1
        } else {
            range.limit - gpu_va
        };
        let address = gpu_va.wrapping_add(range.delta);
        Ok(Span {
            address,
            bytes,
            stable: range.stable,
        })
    }

    fn span(&self, gpu_va: u64, access: Access) -> Result<Span> {
        self.sided(gpu_va, access, false)
    }

    /// The range around `gpu_va`, from the kept ones if nothing was unmapped since.
    fn range(&self, gpu_va: u64, access: Access) -> Result<Range> {
        let memory = self.host.memory();
        let generation = memory.generation();
        if self.generation.replace(generation) != generation {
            self.kept.iter().for_each(|kept| kept.set(None));
        }
        let usable = |range: &Range| {
            (range.base..range.limit).contains(&gpu_va)
                && (access != Access::Write || range.writable)
                && (access != Access::Execute || range.executable)
        };
        if let Some(range) = self.kept.iter().filter_map(Cell::get).find(usable) {
            return Ok(range);
        }
        let range = memory.resolve(gpu_va, access)?;
        let slot = self.next.get();
        self.kept[slot].set(Some(range));
        self.next.set((slot + 1) % KEPT);
        Ok(range)
    }
}

impl Span {
    /// From a span that ends at its address to one that starts `bytes` earlier.
    fn shifted(self, bytes: u64, backwards: bool) -> Self {
        if !backwards {
            return self;
        }
        Self {
            address: self.address.wrapping_sub(bytes - 1),
            bytes,
            ..self
        }
    }
}

fn gone(gpu_va: u64, access: Access) -> GuestError {
    AccessFault {
        gpu_va,
        access,
        reason: FaultReason::NotPresent,
    }
    .into()
}

fn clamp(bytes: u64, most: usize) -> usize {
    usize::try_from(bytes).map_or(most, |bytes| bytes.min(most))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "host addresses have 64 bits, as on all hosts"
)]
fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

fn atomic_u64<'a>(p: *mut u64) -> &'a AtomicU64 {
    // SAFETY: `Guest::atomic` gives aligned pointers into mapped memory; other accesses to it, by
    // client and engines, are no Rust references. The reference ends within the access.
    unsafe { AtomicU64::from_ptr(p) }
}

fn atomic_i64<'a>(p: *mut i64) -> &'a AtomicI64 {
    // SAFETY: as `atomic_u64`.
    unsafe { AtomicI64::from_ptr(p) }
}

fn atomic_u32<'a>(p: *mut u32) -> &'a AtomicU32 {
    // SAFETY: as `atomic_u64`.
    unsafe { AtomicU32::from_ptr(p) }
}

fn atomic_u16<'a>(p: *mut u16) -> &'a AtomicU16 {
    // SAFETY: as `atomic_u64`.
    unsafe { AtomicU16::from_ptr(p) }
}

fn copy_out(from: Span, to: &mut [u8]) -> Option<()> {
    if !from.stable {
        return uaccess::read(from.address, to).ok();
    }
    // SAFETY: the span is mapped, readable memory of at least `to.len()` bytes outside Rust's
    // objects; tearing against concurrent writers is as on hardware.
    unsafe {
        std::ptr::copy(
            pointer(from.address).cast_const(),
            to.as_mut_ptr(),
            to.len(),
        )
    };
    Some(())
}

fn copy_in(to: Span, from: &[u8]) -> Option<()> {
    if !to.stable {
        return uaccess::write(to.address, from).ok();
    }
    // SAFETY: as `copy_out`, with the span writable.
    unsafe { std::ptr::copy(from.as_ptr(), pointer(to.address), from.len()) };
    Some(())
}

fn move_bytes(from: Span, to: Span, count: usize) -> Option<()> {
    if from.stable && to.stable {
        // SAFETY: both spans are mapped for `count` bytes with the needed rights; `copy` allows
        // overlap.
        unsafe {
            std::ptr::copy(
                pointer(from.address).cast_const(),
                pointer(to.address),
                count,
            )
        };
        return Some(());
    }
    if from.address.abs_diff(to.address) < count as u64 {
        let mut bounce = vec![0; count];
        copy_out(from, &mut bounce)?;
        return copy_in(to, &bounce);
    }
    kernel_copy(from.address, to.address, count)
}

/// A copy within this process whose both sides the kernel checks.
fn kernel_copy(from: u64, to: u64, count: usize) -> Option<()> {
    let part = |address| libc::iovec {
        iov_base: pointer(address).cast(),
        iov_len: count,
    };
    let (local, remote) = (part(to), part(from));
    // SAFETY: getpid touches no memory.
    let pid = unsafe { libc::getpid() };
    // SAFETY: the vectors are live for the call; the kernel answers EFAULT or a short count where
    // either side is not mapped. The destination holds no Rust object.
    let copied =
        unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    (usize::try_from(copied) == Ok(count)).then_some(())
}

fn fill_bytes(to: Span, count: usize, pattern: [u8; 4]) -> Option<()> {
    const BLOCK: usize = 4096;
    let mut block = [0; BLOCK];
    let (words, _) = block.as_chunks_mut();
    words.fill(pattern);
    let mut done = 0;
    while done < count {
        let part = BLOCK.min(count - done);
        let at = Span {
            address: to.address.wrapping_add(done as u64),
            ..to
        };
        copy_in(at, &block[..part])?;
        done += part;
    }
    Some(())
}
