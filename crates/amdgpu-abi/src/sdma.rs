//! SDMA packets (opcodes and dword layouts of SDMA 4.x and 5.x): encoders and a decoder.
//!
//! Names and bit positions are those of the amdgpu driver's `vega10_sdma_pkt_open.h` and
//! `navi10_sdma_pkt_open.h` and of ROCr's `sdma_registers.h`. Sizes that the hardware stores minus
//! one (copy and fill bytes, written dwords, pitches, extents) are the true sizes here.
//!
//! [`mod@encode`] has one function per packet that returns its dwords as an array, for callers that
//! write rings; [`Packet::decode`] is total: any dwords give a packet or a [`DecodeError`].
//!
//! ```
//! use amdgpu_abi::sdma::{Generation, Packet, encode};
//! let words = encode::fence(0x1000, 7);
//! let (packet, used) = Packet::decode(&words, Generation::V4_0).expect("well formed");
//! assert_eq!((packet, used), (Packet::Fence { addr: 0x1000, value: 7 }, 4));
//! ```

mod decode;
pub mod encode;

pub use decode::DecodeError;

#[cfg(test)]
mod tests;

/// Opcodes, bits 7:0 of a packet's first dword.
pub mod op {
    /// Skip.
    pub const NOP: u8 = 0;
    /// Copy, see [`super::sub_op`].
    pub const COPY: u8 = 1;
    /// Write dwords that follow in the packet.
    pub const WRITE: u8 = 2;
    /// Run an indirect buffer.
    pub const INDIRECT: u8 = 4;
    /// Store a dword when all earlier packets are done.
    pub const FENCE: u8 = 5;
    /// Raise an interrupt.
    pub const TRAP: u8 = 6;
    /// Wait for a register or memory value.
    pub const POLL_REGMEM: u8 = 8;
    /// Read-modify-write of memory.
    pub const ATOMIC: u8 = 10;
    /// Fill with a constant.
    pub const CONST_FILL: u8 = 11;
    /// Timestamps.
    pub const TIMESTAMP: u8 = 13;
    /// Cache control (SDMA 5).
    pub const GCR_REQ: u8 = 17;
}

/// Sub-opcodes, bits 15:8 of a packet's first dword.
pub mod sub_op {
    /// Linear copy.
    pub const COPY_LINEAR: u8 = 0;
    /// Linear sub-window (rectangle) copy.
    pub const COPY_LINEAR_SUB_WIND: u8 = 4;
    /// Untiled write.
    pub const WRITE_LINEAR: u8 = 0;
    /// Store the GPU's 64-bit global counter.
    pub const TIMESTAMP_GET_GLOBAL: u8 = 2;
}

/// Generation of an SDMA engine, as far as packets differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Generation {
    /// SDMA 4.0 to 4.2 (gfx900 to gfx908): 22-bit sizes.
    V4_0,
    /// SDMA 4.4 (gfx90a, gfx94x, gfx950): 30-bit copy sizes.
    V4_4,
    /// SDMA 5.0 (gfx101x): 22-bit sizes, cache control packets.
    V5_0,
    /// SDMA 5.2 and 6 (gfx103x, gfx11): 30-bit copy sizes, cache control packets.
    V5_2,
}

impl Generation {
    /// Generation of the engines of a processor `gfx<major><minor><stepping>`; ROCr draws the same
    /// line for its copy sizes (amd_gpu_agent.cpp, `copy_size_overrides`).
    pub const fn of_gfx(major: u8, minor: u8, stepping: u8) -> Self {
        match (major, minor, stepping) {
            (..=8, ..) => Self::V4_0,
            (9, 0, 10) | (9, 4.., _) => Self::V4_4,
            (9, ..) => Self::V4_0,
            (10, 0..=2, _) => Self::V5_0,
            (10.., ..) => Self::V5_2,
        }
    }

    /// Most bytes of one linear copy packet.
    pub const fn max_copy_bytes(self) -> u64 {
        match self {
            Self::V4_0 | Self::V5_0 => 1 << 22,
            Self::V4_4 | Self::V5_2 => 1 << 30,
        }
    }

    /// Most bytes of one constant fill packet (a multiple of 4).
    pub const fn max_fill_bytes(self) -> u64 {
        match self {
            Self::V4_0 | Self::V4_4 | Self::V5_0 => 1 << 22,
            Self::V5_2 => 1 << 30,
        }
    }

    /// Bits of the z offset and depth of a rectangle copy.
    pub const fn rect_z_bits(self) -> u32 {
        match self {
            Self::V4_0 | Self::V4_4 => 11,
            Self::V5_0 | Self::V5_2 => 13,
        }
    }

    /// The engine knows the cache control packet.
    pub const fn has_cache_control(self) -> bool {
        matches!(self, Self::V5_0 | Self::V5_2)
    }
}

/// Bits of x and y offsets and extents of a rectangle copy.
pub const RECT_XY_BITS: u32 = 14;
/// Bits of the pitch of a rectangle copy, in elements.
pub const RECT_PITCH_BITS: u32 = 19;
/// Bits of the slice pitch of a rectangle copy, in elements.
pub const RECT_SLICE_PITCH_BITS: u32 = 28;
/// Most dwords of one write packet.
pub const MAX_WRITE_DWORDS: usize = 1 << 20;

/// Comparison of a poll packet (bits 30:28): memory on the left, reference on the right.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PollFunc(pub u8);

impl PollFunc {
    /// Passes at once.
    pub const ALWAYS: Self = Self(0);
    /// Less than, unsigned.
    pub const LESS: Self = Self(1);
    /// Less than or equal, unsigned.
    pub const LESS_EQUAL: Self = Self(2);
    /// Equal.
    pub const EQUAL: Self = Self(3);
    /// Not equal.
    pub const NOT_EQUAL: Self = Self(4);
    /// Greater than or equal, unsigned.
    pub const GREATER_EQUAL: Self = Self(5);
    /// Greater than, unsigned.
    pub const GREATER: Self = Self(6);

    /// Whether `memory & mask` passes against `reference`; `None` for the reserved code 7.
    pub const fn passes(self, memory: u32, mask: u32, reference: u32) -> Option<bool> {
        let value = memory & mask;
        Some(match self {
            Self::ALWAYS => true,
            Self::LESS => value < reference,
            Self::LESS_EQUAL => value <= reference,
            Self::EQUAL => value == reference,
            Self::NOT_EQUAL => value != reference,
            Self::GREATER_EQUAL => value >= reference,
            Self::GREATER => value > reference,
            _ => return None,
        })
    }
}

/// What a poll packet looks at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PollSpace {
    /// Memory at the packet's address.
    Memory,
    /// A register; user queues use it only for ROCr's HDP flush command.
    Register,
    /// Write the HDP flush register, then poll another.
    HdpFlush,
}

/// Operation of an atomic packet: the texture-cache opcodes of the vector memory atomics. The forms
/// 0x40 and above return no value; SDMA drops the value anyway.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AtomicOp(pub u8);

impl AtomicOp {
    /// 32-bit exchange.
    pub const SWAP_32: Self = Self(0x07);
    /// 32-bit compare and exchange.
    pub const CMPSWAP_32: Self = Self(0x08);
    /// 32-bit add.
    pub const ADD_32: Self = Self(0x0f);
    /// 32-bit subtract.
    pub const SUB_32: Self = Self(0x10);
    /// 32-bit signed minimum.
    pub const SMIN_32: Self = Self(0x11);
    /// 32-bit unsigned minimum.
    pub const UMIN_32: Self = Self(0x12);
    /// 32-bit signed maximum.
    pub const SMAX_32: Self = Self(0x13);
    /// 32-bit unsigned maximum.
    pub const UMAX_32: Self = Self(0x14);
    /// 32-bit and.
    pub const AND_32: Self = Self(0x15);
    /// 32-bit or.
    pub const OR_32: Self = Self(0x16);
    /// 32-bit exclusive or.
    pub const XOR_32: Self = Self(0x17);
    /// 32-bit wrapping increment.
    pub const INC_32: Self = Self(0x18);
    /// 32-bit wrapping decrement.
    pub const DEC_32: Self = Self(0x19);
    /// 64-bit add: how ROCr decrements a signal.
    pub const ADD_64: Self = Self(0x2f);

    /// Distance from a 32-bit operation to its 64-bit form.
    pub const WIDE: u8 = 0x20;
    /// Bit of the forms that return no value.
    pub const NO_RETURN: u8 = 0x40;

    /// The operation's 64-bit form.
    pub const fn wide(self) -> Self {
        Self(self.0 | Self::WIDE)
    }
    /// True for the 64-bit forms.
    pub const fn is_wide(self) -> bool {
        self.0 & Self::WIDE != 0
    }
    /// The 32-bit, value-returning form of the operation.
    pub const fn base(self) -> Self {
        Self(self.0 & !(Self::WIDE | Self::NO_RETURN))
    }
}

/// Element size of a constant fill (bits 31:30).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FillSize {
    /// The low byte of the data.
    Byte,
    /// The low 16 bits of the data.
    Word,
    /// The whole dword.
    Dword,
}

/// One side of a rectangle copy; offsets and pitches are in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// Address of element (0, 0, 0).
    pub addr: u64,
    /// Offset of the window.
    pub origin: [u32; 3],
    /// Elements from one row to the next, at least 1.
    pub pitch: u32,
    /// Elements from one slice to the next, at least 1.
    pub slice_pitch: u32,
}

/// A linear sub-window copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CopyRect {
    /// Bytes of an element as a power of two, 0 to 4.
    pub element_log2: u8,
    /// Source.
    pub src: Window,
    /// Destination.
    pub dst: Window,
    /// Elements per dimension, each at least 1.
    pub extent: [u32; 3],
}

/// A poll packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Poll {
    /// Memory or a register.
    pub space: PollSpace,
    /// Address of a dword.
    pub addr: u64,
    /// Comparison.
    pub func: PollFunc,
    /// Right-hand side.
    pub reference: u32,
    /// Bits of the memory value that count.
    pub mask: u32,
    /// Engine clocks between two looks.
    pub interval: u16,
    /// Looks before the engine gives up, 0xfff: never.
    pub retry_count: u16,
}

/// An atomic packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Atomic {
    /// Operation.
    pub op: AtomicOp,
    /// Address of a dword or, for the wide forms, of a 64-bit value.
    pub addr: u64,
    /// Operand.
    pub src: u64,
    /// Value to compare with, for the compare operations.
    pub cmp: u64,
    /// Repeat a failed compare-and-exchange until it succeeds.
    pub repeat: bool,
}

/// A decoded packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet<'a> {
    /// Nothing, in so many dwords.
    Nop {
        /// Dwords including the header, 1 to 2^14.
        dwords: u32,
    },
    /// Linear copy, to one or (broadcast) two destinations.
    Copy {
        /// Source address.
        src: u64,
        /// Destination address.
        dst: u64,
        /// Second destination of a broadcast copy.
        dst2: Option<u64>,
        /// Bytes, at least 1.
        bytes: u64,
    },
    /// Rectangle copy.
    CopyRect(CopyRect),
    /// Dwords from the packet.
    Write {
        /// Destination address.
        dst: u64,
        /// What to store.
        data: &'a [u32],
    },
    /// Constant fill.
    Fill {
        /// Destination address.
        dst: u64,
        /// Element value.
        value: u32,
        /// Element size.
        size: FillSize,
        /// Bytes, at least 1.
        bytes: u64,
    },
    /// Store of a dword.
    Fence {
        /// Address.
        addr: u64,
        /// Value.
        value: u32,
    },
    /// Interrupt.
    Trap {
        /// Event id for the driver, 28 bits.
        context: u32,
    },
    /// Wait for a value.
    Poll(Poll),
    /// Read-modify-write.
    Atomic(Atomic),
    /// Store of the 64-bit global counter.
    Timestamp {
        /// Address.
        addr: u64,
    },
    /// Run packets from another buffer.
    Indirect {
        /// Address of the buffer.
        addr: u64,
        /// Its dwords.
        dwords: u32,
    },
    /// Cache write-back or invalidation.
    CacheControl,
}
