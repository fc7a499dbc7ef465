//! Access to the GPU's address space with rights checked.
//!
//! [`Port`] remembers, per instruction and direction, the last range the address space granted. An
//! access inside it costs one subtraction and two compares; anything else asks
//! [`Memory::resolve`].

pub(crate) mod guard;
pub mod lds;
pub mod scratch;

use crate::api::{Access, AccessFault, FaultReason, Memory};

/// Remembered ranges per direction. Instructions share entries by a hash of their address.
const WINDOWS: usize = 64;

/// A granted range: `size` bytes from `base`, at host address `va + delta`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Window {
    base: u64,
    size: u64,
    delta: u64,
}

impl Window {
    /// Host address of `va` if `bytes` bytes from it are inside.
    #[inline(always)]
    pub(crate) fn host(&self, va: u64, bytes: u64) -> Option<u64> {
        let offset = va.wrapping_sub(self.base);
        (offset < self.size && bytes <= self.size - offset).then(|| va.wrapping_add(self.delta))
    }
}

/// Why an access has no single host address.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The access is not allowed.
    Fault(AccessFault),
    /// The bytes lie in differently mapped ranges: access them one by one.
    Split,
}

/// A worker's view of one GPU's address space.
pub(crate) struct Port<'a> {
    memory: &'a dyn Memory,
    generation: u64,
    reads: [Window; WINDOWS],
    writes: [Window; WINDOWS],
}

impl<'a> Port<'a> {
    pub(crate) fn new(memory: &'a dyn Memory) -> Self {
        guard::install();
        Self {
            memory,
            generation: memory.generation(),
            reads: [Window::default(); WINDOWS],
            writes: [Window::default(); WINDOWS],
        }
    }

    /// Drops remembered ranges if mappings were taken away; true if so.
    #[inline(always)]
    pub(crate) fn refresh(&mut self) -> bool {
        let generation = self.memory.generation();
        if generation == self.generation {
            return false;
        }
        self.generation = generation;
        self.reads = [Window::default(); WINDOWS];
        self.writes = [Window::default(); WINDOWS];
        true
    }

    /// The window that an instruction used last.
    #[inline(always)]
    pub(crate) fn window<const WRITE: bool>(&self, pc: u64) -> Window {
        let slot = slot(pc);
        if WRITE {
            self.writes[slot]
        } else {
            self.reads[slot]
        }
    }

    /// Host address of `bytes` bytes at `va`.
    #[inline(always)]
    pub(crate) fn locate<const WRITE: bool>(
        &mut self,
        pc: u64,
        va: u64,
        bytes: u64,
    ) -> Result<u64, Refusal> {
        match self.window::<WRITE>(pc).host(va, bytes) {
            Some(host) => Ok(host),
            None => self.miss::<WRITE>(pc, va, bytes),
        }
    }

    #[cold]
    #[inline(never)]
    fn miss<const WRITE: bool>(&mut self, pc: u64, va: u64, bytes: u64) -> Result<u64, Refusal> {
        let access = if WRITE { Access::Write } else { Access::Read };
        let range = self.memory.resolve(va, access).map_err(Refusal::Fault)?;
        let window = Window {
            base: range.base,
            size: range.limit.wrapping_sub(range.base),
            delta: range.delta,
        };
        let slot = slot(pc);
        if WRITE {
            self.writes[slot] = window;
        } else {
            self.reads[slot] = window;
        }
        if let Some(host) = window.host(va, bytes) {
            return Ok(host);
        }
        let rest = self
            .memory
            .resolve(range.limit, access)
            .map_err(Refusal::Fault)?;
        let through = rest.delta == range.delta && va.wrapping_add(bytes) <= rest.limit;
        if through {
            Ok(va.wrapping_add(range.delta))
        } else {
            Err(Refusal::Split)
        }
    }

    /// Reads bytes at any address; for slow paths.
    pub(crate) fn read(&mut self, pc: u64, va: u64, bytes: &mut [u8]) -> Result<(), AccessFault> {
        for (at, byte) in (va..).zip(bytes) {
            let host = self
                .locate::<false>(pc, at, 1)
                .map_err(|refusal| single(refusal, at))?;
            let mut fault = 0;
            // SAFETY: the address space granted the byte for reading.
            *byte = unsafe { guard::load8(host, &mut fault) };
            vanished(fault, at, Access::Read)?;
        }
        Ok(())
    }

    /// Writes bytes at any address; for slow paths.
    pub(crate) fn write(&mut self, pc: u64, va: u64, bytes: &[u8]) -> Result<(), AccessFault> {
        for (at, byte) in (va..).zip(bytes) {
            let host = self
                .locate::<true>(pc, at, 1)
                .map_err(|refusal| single(refusal, at))?;
            let mut fault = 0;
            // SAFETY: the address space granted the byte for writing.
            unsafe { guard::store8(host, *byte, &mut fault) };
            vanished(fault, at, Access::Write)?;
        }
        Ok(())
    }

    /// True if the code at `va` is executable and consists of `bytes`.
    pub(crate) fn matches(&mut self, va: u64, bytes: &[u8]) -> Result<bool, AccessFault> {
        let mut buffer = [0; 256];
        let mut at = va;
        for piece in bytes.chunks(buffer.len()) {
            let buffer = &mut buffer[..piece.len()];
            if self.fetch(at, buffer)? != piece.len() || buffer != piece {
                return Ok(false);
            }
            at = at.wrapping_add(piece.len() as u64);
        }
        Ok(true)
    }

    /// Reads instruction bytes, as many of `bytes` as are executable; returns how many.
    pub(crate) fn fetch(&mut self, va: u64, bytes: &mut [u8]) -> Result<usize, AccessFault> {
        let mut done = 0;
        while done < bytes.len() {
            let at = va.wrapping_add(done as u64);
            let range = match self.memory.resolve(at, Access::Execute) {
                Ok(range) => range,
                Err(_) if done > 0 => break,
                Err(fault) => return Err(fault),
            };
            let usable = usize::try_from(range.limit.wrapping_sub(at)).unwrap_or(usize::MAX);
            let take = usable.min(bytes.len() - done);
            read_host(at, range.delta, &mut bytes[done..done + take])?;
            done += take;
        }
        Ok(done)
    }
}

/// Reads granted code.
fn read_host(va: u64, delta: u64, bytes: &mut [u8]) -> Result<(), AccessFault> {
    let mut at = va;
    let mut fault = 0;
    let (words, tail) = bytes.as_chunks_mut::<8>();
    for word in words {
        // SAFETY: the address space granted the bytes for execution.
        let value = unsafe { guard::load64(at.wrapping_add(delta), &mut fault) };
        *word = value.to_le_bytes();
        at = at.wrapping_add(8);
    }
    for byte in tail {
        // SAFETY: the address space granted the byte for execution.
        *byte = unsafe { guard::load8(at.wrapping_add(delta), &mut fault) };
        at = at.wrapping_add(1);
    }
    vanished(fault, fault.wrapping_sub(delta), Access::Execute)
}

/// An access of one byte is never split.
fn single(refusal: Refusal, va: u64) -> AccessFault {
    match refusal {
        Refusal::Fault(fault) => fault,
        Refusal::Split => AccessFault {
            gpu_va: va,
            access: Access::Read,
            reason: FaultReason::NotPresent,
        },
    }
}

/// The host page behind a granted address is gone.
fn vanished(fault: u64, gpu_va: u64, access: Access) -> Result<(), AccessFault> {
    if fault == 0 {
        Ok(())
    } else {
        Err(AccessFault {
            gpu_va,
            access,
            reason: FaultReason::NotPresent,
        })
    }
}

/// Instructions of memory access have at least 8 bytes.
#[inline(always)]
fn slot(pc: u64) -> usize {
    (pc >> 3) as usize & (WINDOWS - 1)
}
