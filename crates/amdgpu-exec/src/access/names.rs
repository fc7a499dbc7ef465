//! What a mnemonic says about an access.

use super::{kind, rmw};

/// Kind of a load, by the mnemonic without its prefix (`load_dword`).
pub(crate) fn load(name: &str) -> Option<u8> {
    Some(match name {
        "load_ubyte" => kind::U8,
        "load_sbyte" => kind::I8,
        "load_ushort" => kind::U16,
        "load_sshort" => kind::I16,
        "load_dword" => kind::B32,
        "load_dwordx2" => kind::B64,
        "load_dwordx3" => kind::B96,
        "load_dwordx4" => kind::B128,
        "load_ubyte_d16" => kind::U8_D16,
        "load_sbyte_d16" => kind::I8_D16,
        "load_short_d16" => kind::B16_D16,
        "load_ubyte_d16_hi" => kind::U8_D16_HI,
        "load_sbyte_d16_hi" => kind::I8_D16_HI,
        "load_short_d16_hi" => kind::B16_D16_HI,
        _ => return None,
    })
}

/// Kind of a store.
pub(crate) fn store(name: &str) -> Option<u8> {
    Some(match name {
        "store_byte" => kind::U8,
        "store_short" => kind::U16,
        "store_dword" => kind::B32,
        "store_dwordx2" => kind::B64,
        "store_dwordx3" => kind::B96,
        "store_dwordx4" => kind::B128,
        "store_byte_d16_hi" => kind::U8_D16_HI,
        "store_short_d16_hi" => kind::B16_D16_HI,
        _ => return None,
    })
}

/// Operation of an atomic and whether it has 64 bits.
pub(crate) fn atomic(name: &str) -> Option<(u8, bool)> {
    let name = name.strip_prefix("atomic_")?;
    match name {
        "add_f32" => return Some((rmw::FADD, false)),
        "add_f64" => return Some((rmw::FADD, true)),
        "min_f64" => return Some((rmw::FMIN, true)),
        "max_f64" => return Some((rmw::FMAX, true)),
        "pk_add_f16" => return Some((rmw::PK_ADD_F16, false)),
        _ => {}
    }
    let (name, wide) = name
        .strip_suffix("_x2")
        .map_or((name, false), |name| (name, true));
    let operation = match name {
        "swap" => rmw::SWAP,
        "cmpswap" => rmw::CMPSWAP,
        "add" => rmw::ADD,
        "sub" => rmw::SUB,
        "smin" => rmw::SMIN,
        "umin" => rmw::UMIN,
        "smax" => rmw::SMAX,
        "umax" => rmw::UMAX,
        "and" => rmw::AND,
        "or" => rmw::OR,
        "xor" => rmw::XOR,
        "inc" => rmw::INC,
        "dec" => rmw::DEC,
        "fcmpswap" => rmw::FCMPSWAP,
        "fmin" => rmw::FMIN,
        "fmax" => rmw::FMAX,
        "csub" => rmw::CSUB,
        _ => return None,
    };
    Some((operation, wide))
}

/// Calls `$use!(K)` with the kind as a literal path, so that it can be a const argument.
macro_rules! with_load_kind {
    ($kind:expr, $use:ident) => {{
        use $crate::access::kind;
        match $kind {
            kind::U8 => $use!(kind::U8),
            kind::I8 => $use!(kind::I8),
            kind::U16 => $use!(kind::U16),
            kind::I16 => $use!(kind::I16),
            kind::B32 => $use!(kind::B32),
            kind::B64 => $use!(kind::B64),
            kind::B96 => $use!(kind::B96),
            kind::B128 => $use!(kind::B128),
            kind::U8_D16 => $use!(kind::U8_D16),
            kind::I8_D16 => $use!(kind::I8_D16),
            kind::B16_D16 => $use!(kind::B16_D16),
            kind::U8_D16_HI => $use!(kind::U8_D16_HI),
            kind::I8_D16_HI => $use!(kind::I8_D16_HI),
            _ => $use!(kind::B16_D16_HI),
        }
    }};
}

/// The same for the kinds that stores have.
macro_rules! with_store_kind {
    ($kind:expr, $use:ident) => {{
        use $crate::access::kind;
        match $kind {
            kind::U8 => $use!(kind::U8),
            kind::U16 => $use!(kind::U16),
            kind::B32 => $use!(kind::B32),
            kind::B64 => $use!(kind::B64),
            kind::B96 => $use!(kind::B96),
            kind::B128 => $use!(kind::B128),
            kind::U8_D16_HI => $use!(kind::U8_D16_HI),
            _ => $use!(kind::B16_D16_HI),
        }
    }};
}

/// Calls `$use!(OP, WIDE)` for an atomic operation.
macro_rules! with_atomic {
    ($operation:expr, $wide:expr, $use:ident) => {{
        use $crate::access::rmw;
        macro_rules! width {
            ($op:expr) => {
                if $wide {
                    $use!({ $op }, true)
                } else {
                    $use!({ $op }, false)
                }
            };
        }
        match $operation {
            rmw::SWAP => width!(rmw::SWAP),
            rmw::CMPSWAP => width!(rmw::CMPSWAP),
            rmw::ADD => width!(rmw::ADD),
            rmw::SUB => width!(rmw::SUB),
            rmw::RSUB => width!(rmw::RSUB),
            rmw::SMIN => width!(rmw::SMIN),
            rmw::UMIN => width!(rmw::UMIN),
            rmw::SMAX => width!(rmw::SMAX),
            rmw::UMAX => width!(rmw::UMAX),
            rmw::AND => width!(rmw::AND),
            rmw::OR => width!(rmw::OR),
            rmw::XOR => width!(rmw::XOR),
            rmw::INC => width!(rmw::INC),
            rmw::DEC => width!(rmw::DEC),
            rmw::FADD => width!(rmw::FADD),
            rmw::FMIN => width!(rmw::FMIN),
            rmw::FMAX => width!(rmw::FMAX),
            rmw::FCMPSWAP => width!(rmw::FCMPSWAP),
            rmw::PK_ADD_F16 => $use!({ rmw::PK_ADD_F16 }, false),
            rmw::MSKOR => width!(rmw::MSKOR),
            rmw::CSUB => $use!({ rmw::CSUB }, false),
            _ => $use!({ rmw::WRAP }, false),
        }
    }};
}

pub(crate) use {with_atomic, with_load_kind, with_store_kind};
