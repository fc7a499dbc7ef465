//! Private segment of one wave.
//!
//! Memory is interleaved by lane in dwords, as on hardware: byte `o` of lane `l` is byte `o % 4` of
//! the dword `(o / 4) * lanes + l`. So all lanes at one offset are one contiguous vector, and every
//! way to reach private memory (scratch instructions, swizzled buffers, the flat aperture) agrees.

use crate::wave::{CHUNK_LANES, Chunk};

/// A wave's private memory.
#[derive(Default, Debug)]
pub struct Scratch {
    chunks: Vec<Chunk>,
    chunks_per_dword: usize,
    bytes_per_lane: u32,
}

impl Scratch {
    /// Makes this the private memory of a wave with `lanes` lanes of `bytes` bytes. What an earlier
    /// wave left there stays, as on hardware.
    pub(crate) fn reset(&mut self, bytes: u32, lanes: usize) {
        let dwords = (bytes as usize).div_ceil(4);
        self.chunks_per_dword = lanes / CHUNK_LANES;
        let chunks = dwords * self.chunks_per_dword;
        if self.chunks.len() < chunks {
            self.chunks.resize(chunks, Chunk::ZERO);
        }
        // PANIC: at most `bytes` rounded up to 4, checked against the dispatch limit before.
        self.bytes_per_lane = u32::try_from(dwords * 4).unwrap_or(u32::MAX);
    }

    /// Bytes of each lane.
    pub fn bytes_per_lane(&self) -> u32 {
        self.bytes_per_lane
    }

    /// True if `bytes` bytes at `offset` exist.
    #[inline(always)]
    pub(crate) fn holds(&self, offset: u32, bytes: u32) -> bool {
        u64::from(offset) + u64::from(bytes) <= u64::from(self.bytes_per_lane)
    }

    /// The dword at `offset` (a multiple of 4, inside) of 32 lanes.
    #[inline(always)]
    pub(crate) fn row(&self, offset: u32, chunk: usize) -> &Chunk {
        &self.chunks[offset as usize / 4 * self.chunks_per_dword + chunk]
    }

    /// The dword of 32 lanes to write.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, offset: u32, chunk: usize) -> &mut Chunk {
        &mut self.chunks[offset as usize / 4 * self.chunks_per_dword + chunk]
    }

    /// One byte of one lane (inside).
    #[inline]
    pub(crate) fn byte(&self, offset: u32, lane: usize) -> u8 {
        let row = self.row(offset, lane / CHUNK_LANES);
        row.0[lane % CHUNK_LANES].to_le_bytes()[offset as usize % 4]
    }

    /// Writes one byte of one lane (inside).
    #[inline]
    pub(crate) fn set_byte(&mut self, offset: u32, lane: usize, value: u8) {
        let row = self.row_mut(offset, lane / CHUNK_LANES);
        let dword = &mut row.0[lane % CHUNK_LANES];
        let mut bytes = dword.to_le_bytes();
        bytes[offset as usize % 4] = value;
        *dword = u32::from_le_bytes(bytes);
    }
}
