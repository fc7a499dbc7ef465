//! The 64-byte kernel descriptor (LLVM AMDGPUUsage, "Code Object V3 Kernel Descriptor").

/// A kernel descriptor in memory order, little endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelDescriptor {
    /// Static LDS bytes.
    pub group_segment_fixed_size: u32,
    /// Static scratch bytes per work-item.
    pub private_segment_fixed_size: u32,
    /// Kernel argument bytes.
    pub kernarg_size: u32,
    /// Entry point relative to the descriptor's address.
    pub kernel_code_entry_byte_offset: i64,
    /// COMPUTE_PGM_RSRC3.
    pub compute_pgm_rsrc3: u32,
    /// COMPUTE_PGM_RSRC1.
    pub compute_pgm_rsrc1: u32,
    /// COMPUTE_PGM_RSRC2.
    pub compute_pgm_rsrc2: u32,
    /// `KERNEL_CODE_PROPERTY_*` bits, see [`property`].
    pub kernel_code_properties: u16,
    /// Preloaded kernel arguments: length in bits 6:0, offset in bits 15:7, dwords.
    pub kernarg_preload: u16,
}

/// Bits of [`KernelDescriptor::kernel_code_properties`].
pub mod property {
    /// Private segment buffer in 4 SGPRs.
    pub const ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER: u16 = 1 << 0;
    /// Dispatch packet address in 2 SGPRs.
    pub const ENABLE_SGPR_DISPATCH_PTR: u16 = 1 << 1;
    /// Queue address in 2 SGPRs.
    pub const ENABLE_SGPR_QUEUE_PTR: u16 = 1 << 2;
    /// Kernel argument address in 2 SGPRs.
    pub const ENABLE_SGPR_KERNARG_SEGMENT_PTR: u16 = 1 << 3;
    /// Dispatch id in 2 SGPRs.
    pub const ENABLE_SGPR_DISPATCH_ID: u16 = 1 << 4;
    /// Flat scratch init in 2 SGPRs.
    pub const ENABLE_SGPR_FLAT_SCRATCH_INIT: u16 = 1 << 5;
    /// Private segment size in 1 SGPR.
    pub const ENABLE_SGPR_PRIVATE_SEGMENT_SIZE: u16 = 1 << 6;
    /// Waves have 32 lanes (gfx10+).
    pub const ENABLE_WAVEFRONT_SIZE32: u16 = 1 << 10;
    /// The kernel's stack size is not known statically.
    pub const USES_DYNAMIC_STACK: u16 = 1 << 11;
}

impl KernelDescriptor {
    /// Reads the fields from the 64 bytes at the kernel object's address.
    pub fn parse(bytes: &[u8; 64]) -> Self {
        let u32_at = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let entry = u64::from(u32_at(16)) | u64::from(u32_at(20)) << 32;
        Self {
            group_segment_fixed_size: u32_at(0),
            private_segment_fixed_size: u32_at(4),
            kernarg_size: u32_at(8),
            kernel_code_entry_byte_offset: entry.cast_signed(),
            compute_pgm_rsrc3: u32_at(44),
            compute_pgm_rsrc1: u32_at(48),
            compute_pgm_rsrc2: u32_at(52),
            kernel_code_properties: u16_at(56),
            kernarg_preload: u16_at(58),
        }
    }
}
