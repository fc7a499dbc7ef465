//! Packet builders: each returns the packet's dwords, to be copied into a ring.
//!
//! Sizes are checked in debug builds only; callers split work by [`Generation`]'s limits first.

use super::{
    Atomic, CopyRect, FillSize, Generation, MAX_WRITE_DWORDS, Packet, Poll, PollSpace,
    RECT_PITCH_BITS, RECT_SLICE_PITCH_BITS, RECT_XY_BITS, Window, op, sub_op,
};

/// Interval and retry count of polls that wait for ever (ROCr's values).
const POLL_INTERVAL: u16 = 4;
/// Never give up.
const POLL_FOREVER: u16 = 0xfff;

const fn header(op: u8, sub_op: u8) -> u32 {
    op as u32 | (sub_op as u32) << 8
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a value into its dwords"
)]
const fn lo(value: u64) -> u32 {
    value as u32
}

const fn hi(value: u64) -> u32 {
    lo(value >> 32)
}

/// `value - 1`, which must fit `bits`.
const fn minus_one(value: u64, bits: u32) -> u32 {
    debug_assert!(value >= 1 && value <= 1 << bits);
    lo(value.wrapping_sub(1)) & lo((1 << bits) - 1)
}

/// One dword that does nothing.
pub const fn nop() -> [u32; 1] {
    [header(op::NOP, 0)]
}

/// First dword of a NOP that skips `dwords` dwords including itself (1 to 2^14).
pub const fn nop_header(dwords: u32) -> u32 {
    header(op::NOP, 0) | minus_one(dwords as u64, 14) << 16
}

/// Linear copy of 1 to [`Generation::max_copy_bytes`] bytes.
pub const fn copy_linear(generation: Generation, src: u64, dst: u64, bytes: u64) -> [u32; 7] {
    let count = minus_one(bytes, generation.max_copy_bytes().trailing_zeros());
    [
        header(op::COPY, sub_op::COPY_LINEAR),
        count,
        0,
        lo(src),
        hi(src),
        lo(dst),
        hi(dst),
    ]
}

/// Linear copy to two destinations.
pub const fn copy_broadcast(
    generation: Generation,
    src: u64,
    dst: [u64; 2],
    bytes: u64,
) -> [u32; 9] {
    let [h, count, parameter, s0, s1, d0, d1] = copy_linear(generation, src, dst[0], bytes);
    [
        h | 1 << 27,
        count,
        parameter,
        s0,
        s1,
        d0,
        d1,
        lo(dst[1]),
        hi(dst[1]),
    ]
}

/// Rectangle copy; see the `RECT_*_BITS` limits.
pub const fn copy_rect(generation: Generation, rect: &CopyRect) -> [u32; 13] {
    let z_bits = generation.rect_z_bits();
    let [s0, s1, s2, s3, s4] = window(&rect.src, z_bits);
    let [d0, d1, d2, d3, d4] = window(&rect.dst, z_bits);
    let [x, y, z] = rect.extent;
    let xy = minus_one(x as u64, RECT_XY_BITS) | minus_one(y as u64, RECT_XY_BITS) << 16;
    let z = minus_one(z as u64, z_bits);
    let first = header(op::COPY, sub_op::COPY_LINEAR_SUB_WIND) | (rect.element_log2 as u32) << 29;
    [first, s0, s1, s2, s3, s4, d0, d1, d2, d3, d4, xy, z]
}

const fn window(w: &Window, z_bits: u32) -> [u32; 5] {
    let [x, y, z] = w.origin;
    debug_assert!(x >> RECT_XY_BITS == 0 && y >> RECT_XY_BITS == 0 && z >> z_bits == 0);
    let pitch = minus_one(w.pitch as u64, RECT_PITCH_BITS);
    let slice = minus_one(w.slice_pitch as u64, RECT_SLICE_PITCH_BITS);
    [lo(w.addr), hi(w.addr), x | y << 16, z | pitch << 13, slice]
}

/// The four dwords before the data of a write of `dwords` dwords (1 to [`MAX_WRITE_DWORDS`]).
pub const fn write_header(dst: u64, dwords: usize) -> [u32; 4] {
    let count = minus_one(dwords as u64, MAX_WRITE_DWORDS.trailing_zeros());
    [
        header(op::WRITE, sub_op::WRITE_LINEAR),
        lo(dst),
        hi(dst),
        count,
    ]
}

/// Constant fill of 1 to [`Generation::max_fill_bytes`] bytes.
pub const fn fill(
    generation: Generation,
    dst: u64,
    value: u32,
    size: FillSize,
    bytes: u64,
) -> [u32; 5] {
    let count = minus_one(bytes, generation.max_fill_bytes().trailing_zeros());
    let size = match size {
        FillSize::Byte => 0,
        FillSize::Word => 1,
        FillSize::Dword => 2,
    };
    [
        header(op::CONST_FILL, 0) | size << 30,
        lo(dst),
        hi(dst),
        value,
        count,
    ]
}

/// Store of a dword after all earlier packets.
pub const fn fence(addr: u64, value: u32) -> [u32; 4] {
    [header(op::FENCE, 0), lo(addr), hi(addr), value]
}

/// Interrupt with an event id (28 bits).
pub const fn trap(context: u32) -> [u32; 2] {
    debug_assert!(context >> 28 == 0);
    [header(op::TRAP, 0), context]
}

/// Wait for ever until the dword at `addr` equals `reference`.
pub const fn poll_equal(addr: u64, reference: u32) -> [u32; 6] {
    poll(&Poll {
        space: PollSpace::Memory,
        addr,
        func: super::PollFunc::EQUAL,
        reference,
        mask: u32::MAX,
        interval: POLL_INTERVAL,
        retry_count: POLL_FOREVER,
    })
}

/// Wait for a value.
pub const fn poll(p: &Poll) -> [u32; 6] {
    let space = match p.space {
        PollSpace::Memory => 1 << 31,
        PollSpace::Register => 0,
        PollSpace::HdpFlush => 1 << 26,
    };
    let first = header(op::POLL_REGMEM, 0) | space | (p.func.0 as u32 & 7) << 28;
    let wait = p.interval as u32 | (p.retry_count as u32 & 0xfff) << 16;
    [first, lo(p.addr), hi(p.addr), p.reference, p.mask, wait]
}

/// 64-bit add: `u64::MAX` decrements a signal.
pub const fn atomic_add64(addr: u64, addend: u64) -> [u32; 8] {
    atomic(&Atomic {
        op: super::AtomicOp::ADD_64,
        addr,
        src: addend,
        cmp: 0,
        repeat: false,
    })
}

/// Read-modify-write.
pub const fn atomic(a: &Atomic) -> [u32; 8] {
    let first = header(op::ATOMIC, 0) | (a.repeat as u32) << 16 | (a.op.0 as u32 & 0x7f) << 25;
    [
        first,
        lo(a.addr),
        hi(a.addr),
        lo(a.src),
        hi(a.src),
        lo(a.cmp),
        hi(a.cmp),
        0,
    ]
}

/// Store of the 64-bit global counter; hardware wants `addr` 32-byte aligned.
pub const fn timestamp(addr: u64) -> [u32; 3] {
    [
        header(op::TIMESTAMP, sub_op::TIMESTAMP_GET_GLOBAL),
        lo(addr),
        hi(addr),
    ]
}

/// Run `dwords` (20 bits) of packets at `addr`.
pub const fn indirect(addr: u64, dwords: u32) -> [u32; 6] {
    debug_assert!(dwords >> 20 == 0);
    [header(op::INDIRECT, 0), lo(addr), hi(addr), dwords, 0, 0]
}

/// Cache control over all addresses (SDMA 5); the fields do not matter to coherent memory.
pub const fn cache_control() -> [u32; 5] {
    [header(op::GCR_REQ, 0), 0, 0, 0, 0]
}

impl Packet<'_> {
    /// Appends the packet's dwords.
    pub fn encode(&self, generation: Generation, out: &mut Vec<u32>) {
        match *self {
            Self::Nop { dwords } => {
                out.push(nop_header(dwords));
                out.extend((1..dwords).map(|_| 0));
            }
            Self::Copy {
                src,
                dst,
                dst2: None,
                bytes,
            } => {
                out.extend(copy_linear(generation, src, dst, bytes));
            }
            Self::Copy {
                src,
                dst,
                dst2: Some(dst2),
                bytes,
            } => {
                out.extend(copy_broadcast(generation, src, [dst, dst2], bytes));
            }
            Self::CopyRect(ref rect) => out.extend(copy_rect(generation, rect)),
            Self::Write { dst, data } => {
                out.extend(write_header(dst, data.len()));
                out.extend(data);
            }
            Self::Fill {
                dst,
                value,
                size,
                bytes,
            } => {
                out.extend(fill(generation, dst, value, size, bytes));
            }
            Self::Fence { addr, value } => out.extend(fence(addr, value)),
            Self::Trap { context } => out.extend(trap(context)),
            Self::Poll(ref p) => out.extend(poll(p)),
            Self::Atomic(ref a) => out.extend(atomic(a)),
            Self::Timestamp { addr } => out.extend(timestamp(addr)),
            Self::Indirect { addr, dwords } => out.extend(indirect(addr, dwords)),
            Self::CacheControl => out.extend(cache_control()),
        }
    }
}
