//! The packet decoder.

use super::{
    Atomic, AtomicOp, CopyRect, FillSize, Generation, MAX_WRITE_DWORDS, Packet, Poll, PollFunc,
    PollSpace, RECT_PITCH_BITS, RECT_SLICE_PITCH_BITS, RECT_XY_BITS, Window, op, sub_op,
};

/// Why dwords are no packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DecodeError {
    /// The packet is longer than the slice.
    Truncated {
        /// Dwords of the packet.
        needed: usize,
    },
    /// No packet that a user queue may hold.
    UnknownOpcode {
        /// Bits 7:0 of the first dword.
        op: u8,
        /// Bits 15:8 of the first dword.
        sub_op: u8,
    },
    /// A field has a reserved value.
    ReservedField {
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Truncated { needed } => write!(f, "packet of {needed} dwords is cut short"),
            Self::UnknownOpcode { op, sub_op } => {
                write!(f, "unknown opcode {op} with sub-opcode {sub_op}")
            }
            Self::ReservedField { field, value } => {
                write!(f, "field {field} has the reserved value {value}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Bits `shift..shift + bits` of a dword.
const fn field(word: u32, shift: u32, bits: u32) -> u32 {
    word >> shift & (u32::MAX >> (32 - bits))
}

const fn wide(lo: u32, hi: u32) -> u64 {
    lo as u64 | (hi as u64) << 32
}

/// The first `N` dwords.
fn take<const N: usize>(words: &[u32]) -> Result<&[u32; N], DecodeError> {
    words
        .first_chunk()
        .ok_or(DecodeError::Truncated { needed: N })
}

impl<'a> Packet<'a> {
    /// Decodes the packet at the start of `words`; answers it and its length in dwords.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if more dwords are needed, otherwise why there is no packet.
    pub fn decode(words: &'a [u32], generation: Generation) -> Result<(Self, usize), DecodeError> {
        let [first] = *take::<1>(words)?;
        let [op, sub_op, ..] = first.to_le_bytes();
        match (op, sub_op) {
            (op::NOP, _) => nop(words),
            (op::COPY, sub_op::COPY_LINEAR) => copy(words, generation),
            (op::COPY, sub_op::COPY_LINEAR_SUB_WIND) => copy_rect(words, generation),
            (op::WRITE, sub_op::WRITE_LINEAR) => write(words),
            (op::INDIRECT, _) => indirect(words),
            (op::FENCE, _) => fence(words),
            (op::TRAP, _) => trap(words),
            (op::POLL_REGMEM, 0) => poll(words),
            (op::ATOMIC, _) => atomic(words),
            (op::CONST_FILL, 0) => fill(words, generation),
            (op::TIMESTAMP, sub_op::TIMESTAMP_GET_GLOBAL) => timestamp(words),
            (op::GCR_REQ, _) if generation.has_cache_control() => {
                take::<5>(words).map(|_| (Packet::CacheControl, 5))
            }
            _ => Err(DecodeError::UnknownOpcode { op, sub_op }),
        }
    }
}

type Decoded<'a> = Result<(Packet<'a>, usize), DecodeError>;

fn nop(words: &[u32]) -> Decoded<'_> {
    let [h] = *take::<1>(words)?;
    let dwords = field(h, 16, 14) + 1;
    let needed = dwords as usize;
    if words.len() < needed {
        return Err(DecodeError::Truncated { needed });
    }
    Ok((Packet::Nop { dwords }, needed))
}

fn copy(words: &[u32], generation: Generation) -> Decoded<'_> {
    let [h, count, _, s0, s1, d0, d1] = *take::<7>(words)?;
    let bits = generation.max_copy_bytes().trailing_zeros();
    let bytes = u64::from(field(count, 0, bits)) + 1;
    let (src, dst) = (wide(s0, s1), wide(d0, d1));
    if field(h, 27, 1) == 0 {
        return Ok((
            Packet::Copy {
                src,
                dst,
                dst2: None,
                bytes,
            },
            7,
        ));
    }
    let [.., e0, e1] = *take::<9>(words)?;
    Ok((
        Packet::Copy {
            src,
            dst,
            dst2: Some(wide(e0, e1)),
            bytes,
        },
        9,
    ))
}

fn copy_rect(words: &[u32], generation: Generation) -> Decoded<'_> {
    let [h, s @ .., x0, x1] = *take::<13>(words)?;
    let [s0, s1, s2, s3, s4, d0, d1, d2, d3, d4] = s;
    let element_log2 = field(h, 29, 3);
    if element_log2 > 4 {
        return Err(DecodeError::ReservedField {
            field: "elementsize",
            value: element_log2,
        });
    }
    let z_bits = generation.rect_z_bits();
    let rect = CopyRect {
        element_log2: element_log2.to_le_bytes()[0],
        src: window([s0, s1, s2, s3, s4], z_bits),
        dst: window([d0, d1, d2, d3, d4], z_bits),
        extent: [
            field(x0, 0, RECT_XY_BITS) + 1,
            field(x0, 16, RECT_XY_BITS) + 1,
            field(x1, 0, z_bits) + 1,
        ],
    };
    Ok((Packet::CopyRect(rect), 13))
}

fn window([a0, a1, xy, z_pitch, slice]: [u32; 5], z_bits: u32) -> Window {
    Window {
        addr: wide(a0, a1),
        origin: [
            field(xy, 0, RECT_XY_BITS),
            field(xy, 16, RECT_XY_BITS),
            field(z_pitch, 0, z_bits),
        ],
        pitch: field(z_pitch, 13, RECT_PITCH_BITS) + 1,
        slice_pitch: field(slice, 0, RECT_SLICE_PITCH_BITS) + 1,
    }
}

fn write(words: &[u32]) -> Decoded<'_> {
    let [_, d0, d1, count] = *take::<4>(words)?;
    let dwords = field(count, 0, MAX_WRITE_DWORDS.trailing_zeros()) as usize + 1;
    let data = words
        .get(4..4 + dwords)
        .ok_or(DecodeError::Truncated { needed: 4 + dwords })?;
    Ok((
        Packet::Write {
            dst: wide(d0, d1),
            data,
        },
        4 + dwords,
    ))
}

fn fill(words: &[u32], generation: Generation) -> Decoded<'_> {
    let [h, d0, d1, value, count] = *take::<5>(words)?;
    let size = match field(h, 30, 2) {
        0 => FillSize::Byte,
        1 => FillSize::Word,
        2 => FillSize::Dword,
        value => {
            return Err(DecodeError::ReservedField {
                field: "fillsize",
                value,
            });
        }
    };
    let bits = generation.max_fill_bytes().trailing_zeros();
    let bytes = u64::from(field(count, 0, bits)) + 1;
    Ok((
        Packet::Fill {
            dst: wide(d0, d1),
            value,
            size,
            bytes,
        },
        5,
    ))
}

fn fence(words: &[u32]) -> Decoded<'_> {
    let [_, a0, a1, value] = *take::<4>(words)?;
    Ok((
        Packet::Fence {
            addr: wide(a0, a1),
            value,
        },
        4,
    ))
}

fn trap(words: &[u32]) -> Decoded<'_> {
    let [_, context] = *take::<2>(words)?;
    Ok((
        Packet::Trap {
            context: field(context, 0, 28),
        },
        2,
    ))
}

fn poll(words: &[u32]) -> Decoded<'_> {
    let [h, a0, a1, reference, mask, wait] = *take::<6>(words)?;
    let space = match (field(h, 31, 1), field(h, 26, 1)) {
        (1, _) => PollSpace::Memory,
        (_, 1) => PollSpace::HdpFlush,
        _ => PollSpace::Register,
    };
    let func = field(h, 28, 3);
    if func > 6 {
        return Err(DecodeError::ReservedField {
            field: "func",
            value: func,
        });
    }
    let [i0, i1, ..] = wait.to_le_bytes();
    let [r0, r1, ..] = field(wait, 16, 12).to_le_bytes();
    let poll = Poll {
        space,
        addr: wide(a0, a1),
        func: PollFunc(func.to_le_bytes()[0]),
        reference,
        mask,
        interval: u16::from_le_bytes([i0, i1]),
        retry_count: u16::from_le_bytes([r0, r1]),
    };
    Ok((Packet::Poll(poll), 6))
}

fn atomic(words: &[u32]) -> Decoded<'_> {
    let [h, a0, a1, s0, s1, c0, c1, _] = *take::<8>(words)?;
    let atomic = Atomic {
        op: AtomicOp(field(h, 25, 7).to_le_bytes()[0]),
        addr: wide(a0, a1),
        src: wide(s0, s1),
        cmp: wide(c0, c1),
        repeat: field(h, 16, 1) != 0,
    };
    Ok((Packet::Atomic(atomic), 8))
}

fn timestamp(words: &[u32]) -> Decoded<'_> {
    let [_, a0, a1] = *take::<3>(words)?;
    Ok((Packet::Timestamp { addr: wide(a0, a1) }, 3))
}

fn indirect(words: &[u32]) -> Decoded<'_> {
    let [_, a0, a1, size, _, _] = *take::<6>(words)?;
    Ok((
        Packet::Indirect {
            addr: wide(a0, a1),
            dwords: field(size, 0, 20),
        },
        6,
    ))
}
