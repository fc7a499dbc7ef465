//! Element kinds of loads and stores, as constants for const generics.

/// Unsigned byte.
pub(crate) const U8: u8 = 0;
/// Signed byte.
pub(crate) const I8: u8 = 1;
/// Unsigned 16 bits.
pub(crate) const U16: u8 = 2;
/// Signed 16 bits.
pub(crate) const I16: u8 = 3;
/// One dword.
pub(crate) const B32: u8 = 4;
/// Two dwords.
pub(crate) const B64: u8 = 5;
/// Three dwords.
pub(crate) const B96: u8 = 6;
/// Four dwords.
pub(crate) const B128: u8 = 7;
/// Unsigned byte into the low half.
pub(crate) const U8_D16: u8 = 8;
/// Signed byte into the low half.
pub(crate) const I8_D16: u8 = 9;
/// 16 bits into the low half.
pub(crate) const B16_D16: u8 = 10;
/// Unsigned byte into (or from) the high half.
pub(crate) const U8_D16_HI: u8 = 11;
/// Signed byte into the high half.
pub(crate) const I8_D16_HI: u8 = 12;
/// 16 bits into (or from) the high half.
pub(crate) const B16_D16_HI: u8 = 13;

/// Bytes in memory.
#[inline(always)]
pub(crate) const fn bytes(kind: u8) -> usize {
    match kind {
        U8 | I8 | U8_D16 | I8_D16 | U8_D16_HI | I8_D16_HI => 1,
        U16 | I16 | B16_D16 | B16_D16_HI => 2,
        B64 => 8,
        B96 => 12,
        B128 => 16,
        _ => 4,
    }
}

/// Registers of a lane.
#[inline(always)]
pub(crate) const fn registers(kind: u8) -> usize {
    match kind {
        B64 => 2,
        B96 => 3,
        B128 => 4,
        _ => 1,
    }
}

/// A loaded element (zero-extended) as register value; `old` is what the register held.
#[inline(always)]
pub(crate) fn merge<const K: u8>(old: u32, raw: u32) -> u32 {
    match K {
        I8 => sign8(raw),
        I16 => (raw << 16).cast_signed().wrapping_shr(16).cast_unsigned(),
        U8_D16 | B16_D16 => old & 0xffff_0000 | raw,
        I8_D16 => old & 0xffff_0000 | sign8(raw) & 0xffff,
        U8_D16_HI | B16_D16_HI => old & 0xffff | raw << 16,
        I8_D16_HI => old & 0xffff | sign8(raw) << 16,
        _ => raw,
    }
}

fn sign8(raw: u32) -> u32 {
    (raw << 24).cast_signed().wrapping_shr(24).cast_unsigned()
}

/// Moves the half that is stored down.
#[inline(always)]
pub(crate) fn shift<const K: u8>(mut value: [u32; 4]) -> [u32; 4] {
    if K == U8_D16_HI || K == B16_D16_HI {
        value[0] >>= 16;
    }
    value
}
