//! Operand text.

use crate::inst::{Operand, Special, scalar};
use crate::signature::{Class, Kind, OperandType};
use crate::target::Target;

/// Text of an operand of a type.
pub(super) fn operand(target: Target, value: Operand, ty: OperandType) -> String {
    let dwords = dwords(target, ty);
    if target.is_gfx9()
        && let Operand::Scalar(code) = value
        && let Some(name) = gfx9_name(code, dwords)
    {
        return name.to_owned();
    }
    match value {
        Operand::Literal(literal) if ty.class == Class::Literal => hex(literal),
        Operand::Literal(literal) => marked_literal(target, literal, ty),
        Operand::Float(code) => float_text(code, ty),
        _ => registers(value, dwords),
    }
}

/// Registers of a type: a lane mask is a pair in wave64 (gfx9).
pub(super) const fn dwords(target: Target, ty: OperandType) -> u8 {
    match ty.kind {
        Kind::Mask => target.mask_dwords(),
        _ => ty.dwords(),
    }
}

/// Text of an operand that takes `dwords` registers.
fn registers(value: Operand, dwords: u8) -> String {
    match value {
        Operand::None => "off".to_owned(),
        Operand::Scalar(code) => scalar_register(code, dwords),
        Operand::Vgpr(first) => tuple('v', first, dwords),
        Operand::Agpr(first) => tuple('a', first, dwords),
        Operand::Int(value) => value.to_string(),
        Operand::Float(code) => float(code, false).to_owned(),
        Operand::Literal(value) => hex(value),
        Operand::Special(special) => special_name(special).to_owned(),
    }
}

fn tuple(file: char, first: u8, dwords: u8) -> String {
    if dwords <= 1 {
        return format!("{file}{first}");
    }
    let last = u16::from(first) + u16::from(dwords) - 1;
    format!("{file}[{first}:{last}]")
}

fn scalar_register(code: u8, dwords: u8) -> String {
    match code {
        scalar::TTMP0..=123 => {
            let first = code - scalar::TTMP0;
            match dwords {
                0 | 1 => format!("ttmp{first}"),
                _ => format!("ttmp[{first}:{}]", first + dwords - 1),
            }
        }
        scalar::NULL => "null".to_owned(),
        _ => named(code, dwords).map_or_else(|| tuple('s', code, dwords), ToOwned::to_owned),
    }
}

fn named(code: u8, dwords: u8) -> Option<&'static str> {
    let single = dwords <= 1;
    Some(match (code, single) {
        (scalar::VCC_LO, true) => "vcc_lo",
        (scalar::VCC_LO, false) => "vcc",
        (scalar::VCC_HI, _) => "vcc_hi",
        (scalar::EXEC_LO, true) => "exec_lo",
        (scalar::EXEC_LO, false) => "exec",
        (scalar::EXEC_HI, _) => "exec_hi",
        (scalar::M0, _) => "m0",
        _ => return None,
    })
}

/// Names of the four gfx9 registers that are SGPRs on gfx10.
fn gfx9_name(code: u8, dwords: u8) -> Option<&'static str> {
    let single = dwords <= 1;
    Some(match (code, single) {
        (scalar::FLAT_SCRATCH_LO, true) => "flat_scratch_lo",
        (scalar::FLAT_SCRATCH_LO, false) => "flat_scratch",
        (scalar::FLAT_SCRATCH_HI, _) => "flat_scratch_hi",
        (scalar::XNACK_MASK_LO, true) => "xnack_mask_lo",
        (scalar::XNACK_MASK_LO, false) => "xnack_mask",
        (scalar::XNACK_MASK_HI, _) => "xnack_mask_hi",
        _ => return None,
    })
}

/// Text of an inline float; 16-bit integer operands show its half-precision bits.
fn float_text(code: u8, ty: OperandType) -> String {
    if ty.bits == 16 && ty.count == 1 && ty.kind != Kind::Float {
        return hex(u32::from(HALF[usize::from(code - 240)]));
    }
    float(code, ty.bits == 64).to_owned()
}

/// Bits of the inline floats 240..=248 in each precision (f64: high half).
const HALF: [u16; 9] = [
    0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118,
];
const SINGLE: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];
const DOUBLE: [u32; 8] = [
    0x3fe0_0000,
    0xbfe0_0000,
    0x3ff0_0000,
    0xbff0_0000,
    0x4000_0000,
    0xc000_0000,
    0x4010_0000,
    0xc010_0000,
];

/// From gfx11 on a literal whose value could have been an inline constant is marked as one, as LLVM
/// 22 does. The older targets follow LLVM 19.
fn marked_literal(target: Target, value: u32, ty: OperandType) -> String {
    let shown = literal_text(value, ty);
    if !target.is_gfx11_plus() || shown.starts_with("0x") {
        return shown;
    }
    format!("lit({value:#x})")
}

/// Literals whose value could have been an inline constant are printed as one.
fn literal_text(value: u32, ty: OperandType) -> String {
    let half = |bits: u32| HALF.iter().position(|&known| u32::from(known) == bits);
    let (integer, name, bits) = match (ty.kind, ty.bits, ty.count) {
        (Kind::Float, 64, _) => {
            let name = DOUBLE.iter().position(|&known| known == value);
            (i64::from(value) << 32, name, value)
        }
        (_, 64, _) => (i64::from(value), None, value),
        (kind, 16, 1) => {
            let low = value & 0xffff;
            let name = half(low).filter(|_| kind == Kind::Float);
            (i64::from((low << 16).cast_signed() >> 16), name, low)
        }
        (Kind::Float, 16, _) => (i64::from(value.cast_signed()), half(value), value),
        _ => {
            let name = SINGLE.iter().position(|&known| known == value);
            (i64::from(value.cast_signed()), name, value)
        }
    };
    if (-16..=64).contains(&integer) {
        return integer.to_string();
    }
    match name.and_then(|index| u8::try_from(240 + index).ok()) {
        Some(code) => float(code, false).to_owned(),
        None => hex(bits),
    }
}

fn hex(value: u32) -> String {
    format!("{value:#x}")
}

const fn float(code: u8, double: bool) -> &'static str {
    match code {
        240 => "0.5",
        241 => "-0.5",
        242 => "1.0",
        243 => "-1.0",
        244 => "2.0",
        245 => "-2.0",
        246 => "4.0",
        247 => "-4.0",
        _ if double => "0.15915494309189532",
        _ => "0.15915494",
    }
}

const fn special_name(special: Special) -> &'static str {
    match special {
        Special::SharedBase => "src_shared_base",
        Special::SharedLimit => "src_shared_limit",
        Special::PrivateBase => "src_private_base",
        Special::PrivateLimit => "src_private_limit",
        Special::PopsExitingWaveId => "src_pops_exiting_wave_id",
        Special::Vccz => "src_vccz",
        Special::Execz => "src_execz",
        Special::Scc => "src_scc",
        Special::LdsDirect => "src_lds_direct",
        Special::FlatScratchBaseLo => "src_flat_scratch_base_lo",
        Special::FlatScratchBaseHi => "src_flat_scratch_base_hi",
    }
}
