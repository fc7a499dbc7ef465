//! The decoded form of an instruction: what every consumer (printer, interpreter, JIT) reads.

use crate::op::Op;

/// The machine encoding an instruction was found in (names as in the ISA manuals).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the manuals' chapter titles")]
pub enum Encoding {
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vop3,
    /// VOP3 with a scalar destination (carry out, `v_div_scale`).
    Vop3Sd,
    /// Packed math, and on CDNA the matrix instructions (`VOP3P-MAI`).
    Vop3p,
    Vopc,
    Vintrp,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    /// gfx12's image operations without a sampler.
    Vimage,
    /// gfx12's image operations with one.
    Vsample,
    Exp,
}

/// Scalar operand codes that both targets share. Codes 0..=105 are SGPRs.
pub mod scalar {
    /// FLAT_SCRATCH low half, gfx9 only.
    pub const FLAT_SCRATCH_LO: u8 = 102;
    /// FLAT_SCRATCH high half, gfx9 only.
    pub const FLAT_SCRATCH_HI: u8 = 103;
    /// XNACK_MASK low half, gfx9 only.
    pub const XNACK_MASK_LO: u8 = 104;
    /// XNACK_MASK high half, gfx9 only.
    pub const XNACK_MASK_HI: u8 = 105;
    /// VCC low half.
    pub const VCC_LO: u8 = 106;
    /// VCC high half.
    pub const VCC_HI: u8 = 107;
    /// First trap temporary; `ttmp0..ttmp15` are 108..=123.
    pub const TTMP0: u8 = 108;
    /// M0. Code 125 in gfx11 and later encodings; the decoder gives this number on every target.
    pub const M0: u8 = 124;
    /// NULL (gfx10 and later): reads as zero, writes vanish. Code 124 in gfx11 and later
    /// encodings; the decoder gives this number on every target.
    pub const NULL: u8 = 125;
    /// EXEC low half.
    pub const EXEC_LO: u8 = 126;
    /// EXEC high half.
    pub const EXEC_HI: u8 = 127;
}

/// Where a source is read or a destination written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Operand {
    /// The instruction has no such operand.
    #[default]
    None,
    /// Scalar register file entry 0..=127 by operand code (see [`scalar`]); multi-dword operands
    /// name their first register.
    Scalar(u8),
    /// Vector register 0..=255, first of its tuple.
    Vgpr(u8),
    /// Accumulation register 0..=255 (gfx90a), first of its tuple.
    Agpr(u8),
    /// Inline integer constant, -16..=64.
    Int(i8),
    /// Inline float constant: operand code 240..=248 (0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi)).
    /// Its bit pattern depends on the operand's type.
    Float(u8),
    /// 32-bit literal that follows the instruction.
    Literal(u32),
    /// A read-only hardware value.
    Special(Special),
}

/// Read-only hardware values that can be scalar sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's operand names")]
pub enum Special {
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
    PopsExitingWaveId,
    Vccz,
    Execz,
    Scc,
    LdsDirect,
    FlatScratchBaseLo,
    FlatScratchBaseHi,
}

/// Data-parallel primitive: how lane data moves before the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dpp {
    /// 16-lane rows: `ctrl` is the 9-bit DPP_CTRL field.
    Dpp16 {
        /// DPP_CTRL, 9 bits.
        ctrl: u16,
        /// Rows (of 16 lanes) that are written, bit 0 = lanes 0..16.
        row_mask: u8,
        /// Banks (of 4 lanes in each row) that are written.
        bank_mask: u8,
        /// BOUND_CTRL: invalid source lanes read as zero instead of disabling the write.
        bound_ctrl: bool,
        /// FETCH_INACTIVE (gfx10): lanes disabled by EXEC may be sources.
        fetch_inactive: bool,
    },
    /// gfx10: eight 3-bit selectors, lane 0 in bits 2:0.
    Dpp8 {
        /// Selectors, 24 bits.
        selectors: u32,
        /// FETCH_INACTIVE.
        fetch_inactive: bool,
    },
}

/// Sub-dword addressing (gfx9, gfx10). Selectors: 0..=3 byte, 4..=5 word, 6 dword.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sdwa {
    /// Destination selector.
    pub dst_sel: u8,
    /// 0 pad with zeros, 1 sign extend, 2 preserve the rest of the destination.
    pub dst_unused: u8,
    /// Selectors of source 0 and 1.
    pub src_sel: [u8; 2],
    /// Sign extension of source 0 and 1 (integer operations).
    pub src_sext: [bool; 2],
}

/// Bits of [`Mods::image`].
pub mod image {
    /// Coordinates are not normalised.
    pub const UNORM: u16 = 1;
    /// gfx9: the image is an array.
    pub const DA: u16 = 1 << 1;
    /// The descriptor has 128 bits.
    pub const R128: u16 = 1 << 2;
    /// LOD warning enable.
    pub const LWE: u16 = 1 << 3;
    /// 16-bit coordinates.
    pub const A16: u16 = 1 << 4;
    /// 16-bit data.
    pub const D16: u16 = 1 << 5;
    /// The instruction lists its address registers.
    pub const NSA: u16 = 1 << 6;
    /// First bit of DIM (3 bits; gfx10 and later).
    pub const DIM_SHIFT: u16 = 8;
}

/// Most registers that an image address takes: offset, comparison, six derivatives, three
/// coordinates and a level.
pub const ADDRESS_REGISTERS: usize = 12;

/// Instruction modifiers. Bit `i` of a mask belongs to source `i`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mods {
    /// Negate source (VOP3, SDWA, DPP); for packed math the low half.
    pub neg: u8,
    /// Absolute value of source; applied before `neg`. `v_fma_mix*` too.
    pub abs: u8,
    /// Packed math: negate the high half.
    pub neg_hi: u8,
    /// Half select of sources (bits 0..=2) and of the destination (bit 3); packed math: the half
    /// used for the low result.
    pub op_sel: u8,
    /// Packed math: the half used for the high result. `v_fma_mix*`: source is f16.
    pub op_sel_hi: u8,
    /// Output modifier: 0 none, 1 times 2, 2 times 4, 3 divided by 2.
    pub omod: u8,
    /// Clamp the result (float: to 0..=1; integer: saturate).
    pub clamp: bool,
    /// GLC: atomics return the old value; loads and stores bypass a cache level.
    pub glc: bool,
    /// SLC cache hint.
    pub slc: bool,
    /// DLC cache hint (gfx10).
    pub dlc: bool,
    /// SCC system-coherence bit (gfx90a memory instructions).
    pub scc: bool,
    /// Buffer: LDS is the destination.
    pub lds: bool,
    /// DS: the access goes to GDS.
    pub gds: bool,
    /// Buffer: the VGPR address holds an offset. SMEM: an immediate comes with the register.
    pub offen: bool,
    /// Buffer: the VGPR address holds an index.
    pub idxen: bool,
    /// gfx12: how long the data will be of use (3 bits, see the ISA manual's TH field). `glc` says
    /// whether an atomic returns.
    pub th: u8,
    /// gfx12: which caches must agree, 0 compute unit to 3 system.
    pub scope: u8,
    /// Texture fail enable.
    pub tfe: bool,
    /// MTBUF format, or MIMG DMASK.
    pub format: u8,
    /// Other MIMG bits, see [`image`].
    pub image: u16,
    /// MFMA: control broadcast size of source 0.
    pub cbsz: u8,
    /// MFMA: block of source 0 that is broadcast.
    pub abid: u8,
    /// MFMA: lane-group pattern of source 1.
    pub blgp: u8,
}

/// One decoded instruction.
///
/// Operand order is the assembler's: `dst`, then `src[0..]`. Memory instructions use
/// - DS: `dst`, `src[0]` = address, `src[1]` = data0, `src[2]` = data1, `imm` = 16-bit offset
///   (`offset1 << 8 | offset0` for the two-address forms).
/// - FLAT, GLOBAL, SCRATCH: `dst`, `src[0]` = VGPR address (None if off), `src[1]` = data,
///   `src[2]` = scalar base (None if off), `imm` = signed byte offset.
/// - MUBUF, MTBUF: `dst` = loaded data (loads and returning atomics), `src[0]` = VADDR,
///   `src[1]` = VDATA (stores and atomics), `src[2]` = SRSRC, `src[3]` = SOFFSET, `imm` = offset.
/// - MIMG, VIMAGE, VSAMPLE: `dst` = loaded data, `src[1]` = stored data, both for atomics that return, `src[0]` =
///   first address register, `src[2]` = SRSRC, `src[3]` = SSAMP. `address` holds the numbers of the
///   address VGPRs from gfx10 on, whether they follow each other or not; gfx9's follow `src[0]`, and
///   the descriptor tells how many they are.
/// - SMEM: `dst` (loads) or `src[2]` (store data), `src[0]` = SBASE, `src[1]` = SOFFSET,
///   `imm` = signed byte offset.
/// - SOPP and SOPK: `imm` = SIMM16, sign-extended; SOPK's compares and adds have `src[0]` = the
///   register. `s_setreg_imm32_b32` has `src[0]` = Literal.
/// - VOPC: `dst` = the mask (VCC, EXEC or an SGPR pair). VOP3 with carry out: `sdst`.
/// - Implicit reads (VCC of `v_cndmask_b32_e32`, `v_addc`, `v_div_fmas`) are not listed, except
///   that VOP2 carry-in/cndmask forms list VCC as `src[2]`, as their VOP3 forms list the mask, and
///   VOP2 carry-out forms list VCC as `sdst`.
/// - `v_fmamk`, `v_fmaak`, `v_madmk`, `v_madak`: all three sources in order (the literal is one).
/// - `v_mac`, `v_fmac`, dot-accumulate: the accumulator is `dst` only and is also read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// Operation, named as LLVM's mnemonic without an encoding suffix (`_e32`, `_e64`, `_sdwa`,
    /// `_dpp`).
    pub op: Op,
    /// Encoding it was decoded from.
    pub encoding: Encoding,
    /// Length with literal or DPP/SDWA dword: 4, 8, 12, … bytes.
    pub size_bytes: u8,
    /// Vector or scalar destination.
    pub dst: Operand,
    /// Second, scalar destination.
    pub sdst: Operand,
    /// Sources.
    pub src: [Operand; 4],
    /// Immediate or offset, see the type's documentation.
    pub imm: i32,
    /// Modifiers.
    pub mods: Mods,
    /// Lane movement, if any.
    pub dpp: Option<Dpp>,
    /// Sub-dword selection, if any.
    pub sdwa: Option<Sdwa>,
    /// MIMG: VGPR of each address dword.
    pub address: [u8; ADDRESS_REGISTERS],
}
