//! Local data share of a workgroup.
//!
//! Only one thread runs waves of a group at a time, so this is ordinary memory. Accesses past the
//! allocation read zero and write nothing (LLVM AMDGPUUsage, "Memory Spaces"; ISA manuals, "LDS").

/// Allocation granularity of both targets: 128 dwords.
const GRANULE_BYTES: usize = 512;

/// A workgroup's LDS.
#[derive(Default, Debug)]
pub struct Lds {
    bytes: Vec<u8>,
}

impl Lds {
    /// Makes this the LDS of a group that asked for `bytes` bytes. What an earlier group left there
    /// stays, as on hardware.
    pub(crate) fn reset(&mut self, bytes: u32) {
        let size = (bytes as usize).next_multiple_of(GRANULE_BYTES);
        self.bytes.resize(size, 0);
    }

    /// Allocated bytes.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// `N` bytes at `address`, zero if any of them is outside.
    #[inline(always)]
    pub fn read<const N: usize>(&self, address: u32) -> [u8; N] {
        self.bytes
            .get(address as usize..)
            .and_then(|tail| tail.first_chunk::<N>())
            .copied()
            .unwrap_or([0; N])
    }

    /// Writes `N` bytes at `address` unless any of them is outside.
    #[inline(always)]
    pub fn write<const N: usize>(&mut self, address: u32, value: [u8; N]) {
        if let Some(place) = self
            .bytes
            .get_mut(address as usize..)
            .and_then(|tail| tail.first_chunk_mut::<N>())
        {
            *place = value;
        }
    }

    /// A dword.
    #[inline(always)]
    pub fn read32(&self, address: u32) -> u32 {
        u32::from_le_bytes(self.read(address))
    }

    /// Writes a dword.
    #[inline(always)]
    pub fn write32(&mut self, address: u32, value: u32) {
        self.write(address, value.to_le_bytes());
    }

    /// All bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Consecutive bytes, if all are inside.
    #[inline(always)]
    pub(crate) fn span(&self, address: u32, len: usize) -> Option<&[u8]> {
        self.bytes.get(address as usize..)?.get(..len)
    }

    /// Consecutive bytes to write, if all are inside.
    #[inline(always)]
    pub(crate) fn span_mut(&mut self, address: u32, len: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(address as usize..)?.get_mut(..len)
    }
}
