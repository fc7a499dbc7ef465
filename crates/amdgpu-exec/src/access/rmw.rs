//! Read-modify-write operations, as constants for const generics.
//!
//! Semantics: Vega, CDNA2 and RDNA2 ISA manuals, "DS", "FLAT" and "MUBUF" instructions.

pub(crate) const SWAP: u8 = 0;
pub(crate) const CMPSWAP: u8 = 1;
pub(crate) const ADD: u8 = 2;
pub(crate) const SUB: u8 = 3;
pub(crate) const RSUB: u8 = 4;
pub(crate) const SMIN: u8 = 5;
pub(crate) const UMIN: u8 = 6;
pub(crate) const SMAX: u8 = 7;
pub(crate) const UMAX: u8 = 8;
pub(crate) const AND: u8 = 9;
pub(crate) const OR: u8 = 10;
pub(crate) const XOR: u8 = 11;
/// Up to the data, then back to zero.
pub(crate) const INC: u8 = 12;
/// Down to zero, then back to the data.
pub(crate) const DEC: u8 = 13;
pub(crate) const FADD: u8 = 14;
pub(crate) const FMIN: u8 = 15;
pub(crate) const FMAX: u8 = 16;
pub(crate) const FCMPSWAP: u8 = 17;
/// Two f16 additions.
pub(crate) const PK_ADD_F16: u8 = 18;
/// Memory with the bits of `data` cleared, then the bits of `compare` set.
pub(crate) const MSKOR: u8 = 19;
/// Subtracts and stops at zero.
pub(crate) const CSUB: u8 = 20;
/// Wraps around like a ring buffer: `old >= data ? old - data : old + compare`.
pub(crate) const WRAP: u8 = 21;

/// The new 32-bit value.
#[inline(always)]
pub(crate) fn apply32<const OP: u8>(old: u32, data: u32, compare: u32) -> u32 {
    match OP {
        SWAP => data,
        CMPSWAP => {
            if old == compare {
                data
            } else {
                old
            }
        }
        ADD => old.wrapping_add(data),
        SUB => old.wrapping_sub(data),
        RSUB => data.wrapping_sub(old),
        SMIN => old.cast_signed().min(data.cast_signed()).cast_unsigned(),
        UMIN => old.min(data),
        SMAX => old.cast_signed().max(data.cast_signed()).cast_unsigned(),
        UMAX => old.max(data),
        AND => old & data,
        OR => old | data,
        XOR => old ^ data,
        INC => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        DEC => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        FADD => (f32::from_bits(old) + f32::from_bits(data)).to_bits(),
        FMIN => float_min32(old, data),
        FMAX => float_max32(old, data),
        FCMPSWAP => {
            if f32::from_bits(old) == f32::from_bits(compare) {
                data
            } else {
                old
            }
        }
        PK_ADD_F16 => pk_add_f16(old, data),
        MSKOR => old & !data | compare,
        CSUB => old.saturating_sub(data),
        WRAP => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(compare)
            }
        }
        _ => old,
    }
}

/// The new 64-bit value.
#[inline(always)]
pub(crate) fn apply64<const OP: u8>(old: u64, data: u64, compare: u64) -> u64 {
    match OP {
        SWAP => data,
        CMPSWAP => {
            if old == compare {
                data
            } else {
                old
            }
        }
        ADD => old.wrapping_add(data),
        SUB => old.wrapping_sub(data),
        RSUB => data.wrapping_sub(old),
        SMIN => old.cast_signed().min(data.cast_signed()).cast_unsigned(),
        UMIN => old.min(data),
        SMAX => old.cast_signed().max(data.cast_signed()).cast_unsigned(),
        UMAX => old.max(data),
        AND => old & data,
        OR => old | data,
        XOR => old ^ data,
        INC => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        DEC => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        FADD => (f64::from_bits(old) + f64::from_bits(data)).to_bits(),
        FMIN => float_min64(old, data),
        FMAX => float_max64(old, data),
        FCMPSWAP => {
            if f64::from_bits(old) == f64::from_bits(compare) {
                data
            } else {
                old
            }
        }
        MSKOR => old & !data | compare,
        _ => old,
    }
}

/// A number wins against a NaN, and -0 is less than +0.
fn float_min32(old: u32, data: u32) -> u32 {
    let (a, b) = (f32::from_bits(old), f32::from_bits(data));
    let take = b < a || a.is_nan() || (a == b && b.is_sign_negative());
    if take { data } else { old }
}

fn float_max32(old: u32, data: u32) -> u32 {
    let (a, b) = (f32::from_bits(old), f32::from_bits(data));
    let take = b > a || a.is_nan() || (a == b && b.is_sign_positive());
    if take { data } else { old }
}

fn float_min64(old: u64, data: u64) -> u64 {
    let (a, b) = (f64::from_bits(old), f64::from_bits(data));
    let take = b < a || a.is_nan() || (a == b && b.is_sign_negative());
    if take { data } else { old }
}

fn float_max64(old: u64, data: u64) -> u64 {
    let (a, b) = (f64::from_bits(old), f64::from_bits(data));
    let take = b > a || a.is_nan() || (a == b && b.is_sign_positive());
    if take { data } else { old }
}

/// Rounding the sum to f32 first does no harm: 24 bits are at least twice 11 plus 2.
fn pk_add_f16(old: u32, data: u32) -> u32 {
    let add = |a: u32, b: u32| {
        let [a, b] = [a, b].map(|bits| {
            let [low, high, ..] = bits.to_le_bytes();
            half::f16::from_le_bytes([low, high]).to_f32()
        });
        u32::from(half::f16::from_f32(a + b).to_bits())
    };
    add(old, data) | add(old >> 16, data >> 16) << 16
}
