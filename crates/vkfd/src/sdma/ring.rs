//! The dwords of an SDMA queue: its ring and, while one runs, an indirect buffer.

use std::sync::atomic::Ordering;

use amdgpu_abi::sdma::{DecodeError, Generation, Packet};

use super::{Fault, Result};
use crate::guest::Guest;
use crate::queue::QueueDesc;

/// Dwords fetched at first: any packet but a write fits.
const SHORT: u64 = 16;
const DWORD: u64 = 4;

/// Where the engine reads.
pub(super) struct Ring {
    desc: QueueDesc,
    /// Bytes consumed since the queue began.
    position: u64,
    /// The indirect buffer that the last packet started.
    indirect: Option<Indirect>,
    /// The packet at the head was looked at before.
    seen: bool,
}

struct Indirect {
    addr: u64,
    /// Bytes left.
    bytes: u64,
}

impl Ring {
    pub(super) fn new(desc: QueueDesc, guest: &Guest) -> Self {
        let position = guest.load_u64(desc.rptr_va).unwrap_or(0);
        Self {
            desc,
            position,
            indirect: None,
            seen: false,
        }
    }

    /// Bytes of the ring consumed so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// True once per packet.
    pub(super) fn first_look(&mut self) -> bool {
        !std::mem::replace(&mut self.seen, true)
    }

    /// The dwords of the packet at the head (and perhaps some after it); `None` if there is none
    /// or it is not complete.
    pub(super) fn head(
        &mut self,
        guest: &Guest,
        generation: Generation,
    ) -> Result<Option<Vec<u32>>> {
        let available = self.available(guest)?;
        if available < DWORD {
            return Ok(None);
        }
        let words = self.fetch(guest, available.min(SHORT * DWORD))?;
        let Err(DecodeError::Truncated { needed }) = Packet::decode(&words, generation) else {
            return Ok(Some(words));
        };
        let needed = needed as u64 * DWORD;
        if needed <= available {
            return self.fetch(guest, needed).map(Some);
        }
        let limit = self
            .indirect
            .as_ref()
            .map_or(self.desc.ring_bytes.into(), |ib| ib.bytes);
        if needed > limit {
            return Err(Fault::Refused(format!(
                "packet of {needed} bytes in a buffer of {limit} bytes"
            )));
        }
        Ok(None)
    }

    /// Retires a packet of so many dwords.
    pub(super) fn advance(&mut self, guest: &Guest, dwords: usize) -> Result<()> {
        let bytes = dwords as u64 * DWORD;
        self.seen = false;
        if let Some(ib) = &mut self.indirect {
            ib.addr = ib.addr.wrapping_add(bytes);
            ib.bytes -= bytes;
            if ib.bytes < DWORD {
                self.indirect = None;
            }
            return Ok(());
        }
        self.position += bytes;
        Ok(guest.store_u64(self.desc.rptr_va, self.position)?)
    }

    /// Continues in an indirect buffer.
    pub(super) fn enter(&mut self, addr: u64, dwords: u32) -> Result<()> {
        if self.indirect.is_some() {
            return Err(Fault::Refused(
                "indirect buffer within an indirect buffer".to_owned(),
            ));
        }
        if dwords > 0 {
            self.indirect = Some(Indirect {
                addr,
                bytes: u64::from(dwords) * DWORD,
            });
        }
        Ok(())
    }

    /// Bytes that may be read at the head.
    fn available(&self, guest: &Guest) -> Result<u64> {
        if let Some(ib) = &self.indirect {
            return Ok(ib.bytes);
        }
        let ring = u64::from(self.desc.ring_bytes);
        // The write pointer may come by memory, by the doorbell or by both. A value that is not
        // within a ring of the position is an old one, or none.
        let ahead = |wptr: u64| Some(wptr.wrapping_sub(self.position)).filter(|&n| n <= ring);
        let memory = ahead(guest.load_u64(self.desc.wptr_va)?);
        let doorbell = ahead(self.desc.doorbell.0.cell().load(Ordering::Acquire));
        Ok(memory.max(doorbell).unwrap_or(0))
    }

    fn fetch(&mut self, guest: &Guest, bytes: u64) -> Result<Vec<u32>> {
        let mut buffer = vec![0; usize::try_from(bytes).unwrap_or(0)];
        match &self.indirect {
            Some(ib) => guest.read(ib.addr, &mut buffer)?,
            None => self.read_wrapping(guest, &mut buffer)?,
        }
        let (words, _) = buffer.as_chunks();
        Ok(words.iter().map(|&word| u32::from_le_bytes(word)).collect())
    }

    fn read_wrapping(&self, guest: &Guest, buffer: &mut [u8]) -> Result<()> {
        let ring = u64::from(self.desc.ring_bytes).max(DWORD);
        let at = self.position % ring;
        let first = usize::try_from(ring - at)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let (head, tail) = buffer.split_at_mut(first);
        guest.read(self.desc.ring_va.wrapping_add(at), head)?;
        Ok(guest.read(self.desc.ring_va, tail)?)
    }
}
