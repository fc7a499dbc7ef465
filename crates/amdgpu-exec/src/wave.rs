//! Registers and status of one wavefront.
//!
//! Every index that a step can hold is in range by construction: vector registers live in a file of
//! a power-of-two number of chunks and scalar registers in a file of 256 entries indexed by `u8`,
//! so the hot path neither checks nor panics. A program that names registers beyond its allocation
//! reads and writes unused parts of its own wave's file.

use amdgpu_isa::{Target, scalar};

use crate::registers::VectorFile;

/// Lanes in a chunk.
pub const CHUNK_LANES: usize = 32;
/// Chunks in a wave's vector register file: 256 VGPRs and 256 AGPRs with 64 lanes, and as much again
/// so that a tuple starting at the last register stays inside.
pub const FILE_CHUNKS: usize = 2048;
/// First register number of the accumulation registers. The kernel's `accum_offset` only says
/// where hardware splits its physical file; no program can observe it.
pub const AGPR_BASE: u16 = 256;

/// One vector register's values in 32 consecutive lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct Chunk(pub [u32; CHUNK_LANES]);

impl Chunk {
    /// All lanes zero.
    pub const ZERO: Self = Self([0; CHUNK_LANES]);

    /// The same value in every lane.
    #[inline(always)]
    pub fn splat(value: u32) -> Self {
        Self([value; CHUNK_LANES])
    }
}

/// Entries of the scalar file that no operand code names. Writes to NULL go to [`slot::SINK`].
pub mod slot {
    /// Receives writes to NULL (a pair).
    pub const SINK: u8 = 128;
    /// Always zero (a pair).
    pub const ZERO: u8 = 144;
    /// SCC as a value, filled by the step before an instruction that reads it as an operand.
    pub const SCC: u8 = 130;
    /// VCCZ as a value.
    pub const VCCZ: u8 = 132;
    /// EXECZ as a value.
    pub const EXECZ: u8 = 134;
    /// SHARED_BASE, a pair.
    pub const SHARED_BASE: u8 = 136;
    /// SHARED_LIMIT, a pair.
    pub const SHARED_LIMIT: u8 = 138;
    /// PRIVATE_BASE, a pair.
    pub const PRIVATE_BASE: u8 = 140;
    /// PRIVATE_LIMIT, a pair.
    pub const PRIVATE_LIMIT: u8 = 142;
    /// FLAT_SCRATCH of gfx11 and later as a value, a pair; filled as SCC is.
    pub const FLAT_SCRATCH: u8 = 146;
}

/// Windows of flat addresses that are not global memory, as `vkfd` reports them (gfx9 and later
/// drivers place them there: kernel `kfd_flat_memory.c`, `MAKE_LDS_APP_BASE_V9`).
pub mod aperture {
    /// First flat address of LDS.
    pub const SHARED_BASE: u64 = 1 << 48;
    /// First flat address of private memory.
    pub const PRIVATE_BASE: u64 = 2 << 48;
    /// Last address of an aperture, relative to its base.
    pub const LIMIT: u64 = 0xffff_ffff;
}

/// Bits of the MODE register.
pub mod mode {
    /// Rounding of f32 (bits 1:0) and of f16 and f64 (bits 3:2): 0 even, 1 up, 2 down, 3 zero.
    pub const ROUND_MASK: u32 = 0xf;
    /// Denormals of f32 (bits 5:4) and of f16 and f64 (bits 7:6): bit 0 keep inputs, bit 1 keep outputs.
    pub const DENORM_MASK: u32 = 0xf0;
    /// Clamp turns NaN into zero.
    pub const DX10_CLAMP: u32 = 1 << 8;
    /// IEEE: signalling NaNs are quieted by min/max and friends.
    pub const IEEE: u32 = 1 << 9;
    /// f16 results overflow to the largest number instead of infinity.
    pub const FP16_OVERFLOW: u32 = 1 << 23;
    /// gfx9: `s_set_gpr_idx_on` is in effect.
    pub const GPR_INDEX: u32 = 1 << 27;
    /// gfx9: vector instructions are skipped.
    pub const VSKIP: u32 = 1 << 28;
    /// The bits that translation depends on; a change of one ends the block.
    pub const TRANSLATION: u32 =
        ROUND_MASK | DENORM_MASK | DX10_CLAMP | IEEE | FP16_OVERFLOW | GPR_INDEX | VSKIP;
}

/// State of one wavefront.
#[repr(C, align(64))]
pub struct Wave {
    vector: VectorFile,
    /// Scalar condition code.
    pub scc: bool,
    /// 32 or 64.
    lanes: u8,
    /// Architecture of the running code.
    pub target: Target,
    /// Address of the next block; within a block, of its first instruction.
    pub pc: u64,
    /// MODE register, see [`mode`].
    pub mode: u32,
    /// Scalar file by operand code, and the extra entries of [`slot`].
    scalar: [u32; 256],
    /// The worker's block that the wave left when it let go.
    pub(crate) resume_hint: u32,
    /// What identifies the wave and its resources.
    pub place: Place,
}

/// Identity of a wave within device and dispatch.
#[derive(Clone, Copy, Default, Debug)]
pub struct Place {
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Index of the wave in its workgroup.
    pub wave: u32,
    /// Compute unit that holds the workgroup; consecutive units lie in different shader engines.
    pub compute_unit: u32,
    /// Shader engines of the device.
    pub shader_engines: u32,
    /// Which of the unit's resident workgroups this is.
    pub unit_layer: u32,
    /// SIMD of the unit.
    pub simd: u32,
    /// Slot on the SIMD.
    pub wave_slot: u32,
    /// Barrier of global wave sync that the wave waits at.
    pub gws_ticket: Option<u64>,
    /// FLAT_SCRATCH of gfx10, which keeps it in hardware registers.
    pub flat_scratch: u64,
}

impl Wave {
    /// A wave with all registers zero.
    pub fn new(target: Target, lanes: u8) -> Self {
        Self {
            vector: VectorFile::new(),
            scc: false,
            lanes,
            target,
            pc: 0,
            mode: 0,
            scalar: fresh_scalars(),
            resume_hint: crate::block::UNKNOWN,
            place: Place::default(),
        }
    }

    /// 32 or 64.
    #[inline(always)]
    pub fn lanes(&self) -> usize {
        usize::from(self.lanes)
    }

    /// Makes this a wave of another size or target (between launches).
    pub fn retarget(&mut self, target: Target, lanes: u8) {
        self.target = target;
        self.lanes = lanes;
    }

    /// Chunks per vector register: 1 or 2.
    #[inline(always)]
    pub fn chunks_per_register(&self) -> usize {
        self.lanes() / CHUNK_LANES
    }

    /// A chunk by its index in the file ([`chunk_index`] plus 0 or 1).
    #[inline(always)]
    pub fn chunk(&self, index: usize) -> &Chunk {
        &self.vector[index & (FILE_CHUNKS - 1)]
    }

    /// A chunk to write.
    #[inline(always)]
    pub fn chunk_mut(&mut self, index: usize) -> &mut Chunk {
        &mut self.vector[index & (FILE_CHUNKS - 1)]
    }

    /// One lane of register `register` (0..=255 VGPR, 256.. AGPR). For tests and slow paths.
    #[inline]
    pub fn lane(&self, register: u16, lane: usize) -> u32 {
        let chunk = usize::from(register) * self.chunks_per_register() + lane / CHUNK_LANES;
        self.chunk(chunk).0[lane % CHUNK_LANES]
    }

    /// Writes one lane of a register.
    #[inline]
    pub fn set_lane(&mut self, register: u16, lane: usize, value: u32) {
        let chunk = usize::from(register) * self.chunks_per_register() + lane / CHUNK_LANES;
        self.chunk_mut(chunk).0[lane % CHUNK_LANES] = value;
    }

    /// A scalar register by operand code or [`slot`].
    #[inline(always)]
    pub fn scalar(&self, index: u8) -> u32 {
        self.scalar[usize::from(index)]
    }

    /// Writes a scalar register.
    #[inline(always)]
    pub fn set_scalar(&mut self, index: u8, value: u32) {
        self.scalar[usize::from(index)] = value;
    }

    /// A pair of scalar registers; hardware ignores bit 0 of the index.
    #[inline(always)]
    pub fn scalar64(&self, index: u8) -> u64 {
        let first = usize::from(index & 0xfe);
        u64::from(self.scalar[first]) | u64::from(self.scalar[first + 1]) << 32
    }

    /// Writes a pair of scalar registers.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "splits a pair into its halves"
    )]
    pub fn set_scalar64(&mut self, index: u8, value: u64) {
        let first = usize::from(index & 0xfe);
        self.scalar[first] = value as u32;
        self.scalar[first + 1] = (value >> 32) as u32;
    }

    /// A lane mask operand: a pair in wave64, one register in wave32.
    #[inline(always)]
    pub fn mask(&self, index: u8) -> u64 {
        if self.lanes == 64 {
            self.scalar64(index)
        } else {
            u64::from(self.scalar(index))
        }
    }

    /// Writes a lane mask; in wave32 the register after it is untouched.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "wave32 masks have 32 bits")]
    pub fn set_mask(&mut self, index: u8, value: u64) {
        if self.lanes == 64 {
            self.set_scalar64(index, value);
        } else {
            self.set_scalar(index, value as u32);
        }
    }

    /// Active lanes; in wave32 the high half is zero whatever EXEC_HI holds.
    #[inline(always)]
    pub fn exec(&self) -> u64 {
        self.mask(scalar::EXEC_LO)
    }

    /// Active lanes of chunk 0 or 1.
    #[inline(always)]
    pub fn exec_chunk(&self, chunk: usize) -> u32 {
        self.scalar[usize::from(scalar::EXEC_LO) + (chunk & 1)]
    }

    /// Sets the active lanes.
    #[inline(always)]
    pub fn set_exec(&mut self, value: u64) {
        self.set_mask(scalar::EXEC_LO, value);
    }

    /// VCC as a lane mask.
    #[inline(always)]
    pub fn vcc(&self) -> u64 {
        self.mask(scalar::VCC_LO)
    }

    /// Writes VCC as a lane mask.
    #[inline(always)]
    pub fn set_vcc(&mut self, value: u64) {
        self.set_mask(scalar::VCC_LO, value);
    }

    /// M0.
    #[inline(always)]
    pub fn m0(&self) -> u32 {
        self.scalar(scalar::M0)
    }

    /// Zeroes what operand codes name as scalars. Vector registers keep what an earlier wave left
    /// there, as on hardware.
    pub fn clear_scalars(&mut self) {
        self.scalar[..128].fill(0);
        self.scc = false;
    }
}

/// The scalar file of a new wave: zero but for the apertures.
#[expect(
    clippy::cast_possible_truncation,
    reason = "splits addresses into halves"
)]
fn fresh_scalars() -> [u32; 256] {
    let mut scalar = [0; 256];
    for (index, value) in [
        (slot::SHARED_BASE, aperture::SHARED_BASE),
        (slot::SHARED_LIMIT, aperture::SHARED_BASE + aperture::LIMIT),
        (slot::PRIVATE_BASE, aperture::PRIVATE_BASE),
        (
            slot::PRIVATE_LIMIT,
            aperture::PRIVATE_BASE + aperture::LIMIT,
        ),
    ] {
        scalar[usize::from(index)] = value as u32;
        scalar[usize::from(index) + 1] = (value >> 32) as u32;
    }
    scalar
}

/// Index of the first chunk of a register in a wave with `lanes` lanes.
#[inline(always)]
pub fn chunk_index(register: u16, lanes: usize) -> u16 {
    if lanes == 64 { register * 2 } else { register }
}
