//! Operand codes: registers, inline constants, literals.

use super::{DecodeError, Result};
use crate::inst::{Operand, Special, scalar};
use crate::op::Op;
use crate::signature::{Class, Kind, OperandType};
use crate::target::Target;

/// The instruction being decoded: its dwords, and how many bytes it has taken so far.
pub(super) struct Cursor<'a> {
    pub(super) target: Target,
    bytes: &'a [u8],
    /// First dword.
    pub(super) word: u32,
    size: usize,
    literal: Option<u32>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(target: Target, bytes: &'a [u8]) -> Result<Self> {
        Ok(Self {
            target,
            bytes,
            word: dword(bytes, 0)?,
            size: 4,
            literal: None,
        })
    }

    pub(super) const fn gfx10(&self) -> bool {
        self.target.is_rdna()
    }

    pub(super) const fn unknown(&self) -> DecodeError {
        DecodeError::UnknownOpcode { word: self.word }
    }

    /// Takes the next dword of the instruction itself.
    pub(super) fn next_word(&mut self) -> Result<u32> {
        let word = dword(self.bytes, self.size)?;
        self.size += 4;
        Ok(word)
    }

    /// Takes the second dword and returns both as one value.
    pub(super) fn wide(&mut self) -> Result<u64> {
        let high = self.next_word()?;
        Ok(u64::from(high) << 32 | u64::from(self.word))
    }

    /// Takes the literal, once: all operands of an instruction share it.
    pub(super) fn literal(&mut self) -> Result<u32> {
        if let Some(value) = self.literal {
            return Ok(value);
        }
        let value = self.next_word()?;
        self.literal = Some(value);
        Ok(value)
    }

    /// Bytes taken.
    pub(super) fn size_bytes(&self) -> u8 {
        // At most five dwords.
        u8::try_from(self.size).unwrap_or(u8::MAX)
    }

    /// A 9-bit source code.
    pub(super) fn source(&mut self, op: Op, code: u32, ty: OperandType) -> Result<Operand> {
        match ty.class {
            Class::Literal => return self.literal().map(Operand::Literal),
            Class::Accumulator => return self.accumulator(op, code, ty),
            Class::Vector if code < 256 => return Err(DecodeError::BadOperand { op, code }),
            _ if matches!(ty.kind, Kind::Mask) && code >= 128 => {
                return Err(DecodeError::BadOperand { op, code });
            }
            Class::Scalar if code >= 256 => return Err(DecodeError::BadOperand { op, code }),
            _ => {}
        }
        if code >= 256 {
            return self.vgpr(op, code & 0xff, ty);
        }
        if code == 254 && ty.dwords() <= 1 && !self.target.is_gfx11_plus() {
            return Ok(Operand::Special(Special::LdsDirect));
        }
        self.scalar(op, code, self.dwords(ty))
    }

    fn accumulator(&self, op: Op, code: u32, ty: OperandType) -> Result<Operand> {
        let number = code
            .checked_sub(256)
            .ok_or(DecodeError::BadOperand { op, code })?;
        tuple(op, number, ty.dwords()).map(Operand::Agpr)
    }

    /// Registers of an operand in the target's usual wave size.
    pub(super) const fn dwords(&self, ty: OperandType) -> u8 {
        match ty.kind {
            Kind::Mask => self.target.mask_dwords(),
            _ => ty.dwords(),
        }
    }

    /// An 8-bit VGPR number.
    pub(super) fn vgpr(&self, op: Op, number: u32, ty: OperandType) -> Result<Operand> {
        tuple(op, number, ty.dwords()).map(Operand::Vgpr)
    }

    /// An 8-bit number of a VGPR or AGPR.
    pub(super) fn vgpr_or_agpr(
        &self,
        op: Op,
        number: u32,
        ty: OperandType,
        acc: bool,
    ) -> Result<Operand> {
        let first = tuple(op, number, ty.dwords())?;
        Ok(if acc {
            Operand::Agpr(first)
        } else {
            Operand::Vgpr(first)
        })
    }

    /// An 8-bit scalar source code, for an operand of `dwords` registers.
    pub(super) fn scalar(&mut self, op: Op, code: u32, dwords: u8) -> Result<Operand> {
        match code {
            0..128 => self.scalar_register(op, code, dwords),
            128..=192 => Ok(Operand::Int(small(code))),
            193..=208 => Ok(Operand::Int(-small(code - 192))),
            240..=248 => Ok(Operand::Float(byte(code))),
            255 => self.literal().map(Operand::Literal),
            _ => self.special(op, code, dwords),
        }
    }

    /// A 7-bit scalar destination, also the register half of the source codes.
    pub(super) fn scalar_register(&self, op: Op, code: u32, dwords: u8) -> Result<Operand> {
        let bad = DecodeError::BadOperand { op, code };
        let code = self.common_code(code);
        let sgprs = if self.gfx10() { 106 } else { 102 };
        let alignment = match dwords {
            0 | 1 => 1,
            2 => 2,
            _ => 4,
        };
        if code < sgprs {
            // LLVM reads a misaligned tuple as the aligned one below it.
            let first = code / alignment * alignment;
            let fits = first + u32::from(dwords.max(1)) <= 106;
            return if fits {
                Ok(Operand::Scalar(byte(first)))
            } else {
                Err(bad)
            };
        }
        if (108..124).contains(&code) {
            let first = 108 + (code - 108) / alignment * alignment;
            // LLVM does not have the last three.
            let last = if dwords == 3 { 120 } else { 124 };
            let fits = first + u32::from(dwords.max(1)) <= last;
            return if fits {
                Ok(Operand::Scalar(byte(first)))
            } else {
                Err(bad)
            };
        }
        if self.is_named(code, dwords) {
            return Ok(Operand::Scalar(byte(code)));
        }
        Err(bad)
    }

    /// gfx11 swapped the codes of M0 and NULL; [`Inst`](crate::Inst) keeps the older numbers.
    pub(super) fn common_code(&self, code: u32) -> u32 {
        let swapped = code == scalar::M0.into() || code == scalar::NULL.into();
        if self.target.is_gfx11_plus() && swapped {
            code ^ u32::from(scalar::M0 ^ scalar::NULL)
        } else {
            code
        }
    }

    /// The registers above the SGPRs, by width.
    fn is_named(&self, code: u32, dwords: u8) -> bool {
        let code = byte(code);
        match dwords {
            0 | 1 => match code {
                scalar::NULL => self.gfx10(),
                _ => true,
            },
            2 => match code {
                scalar::FLAT_SCRATCH_LO | scalar::XNACK_MASK_LO => !self.gfx10(),
                scalar::VCC_LO | scalar::EXEC_LO => true,
                scalar::NULL => self.gfx10(),
                _ => false,
            },
            // A wide load may drop its result.
            _ => code == scalar::NULL && self.gfx10(),
        }
    }

    fn special(&self, op: Op, code: u32, dwords: u8) -> Result<Operand> {
        let special = match code {
            230 if self.target.is_gfx11_plus() => Special::FlatScratchBaseLo,
            231 if self.target.is_gfx11_plus() && dwords < 2 => Special::FlatScratchBaseHi,
            235 => Special::SharedBase,
            236 => Special::SharedLimit,
            237 => Special::PrivateBase,
            238 => Special::PrivateLimit,
            239 => Special::PopsExitingWaveId,
            251 => Special::Vccz,
            252 => Special::Execz,
            253 => Special::Scc,
            _ => return Err(DecodeError::BadOperand { op, code }),
        };
        if dwords > 2 {
            return Err(DecodeError::BadOperand { op, code });
        }
        Ok(Operand::Special(special))
    }

    /// The lane mask that VOP2 and VOPC imply.
    pub(super) const fn vcc() -> Operand {
        Operand::Scalar(scalar::VCC_LO)
    }
}

/// Checks that a tuple of vector registers ends inside the file.
///
/// gfx90a wants tuples to start even; LLVM's disassembler does not insist, nor do we.
fn tuple(op: Op, number: u32, dwords: u8) -> Result<u8> {
    let bad = DecodeError::BadOperand { op, code: number };
    let first = u8::try_from(number).map_err(|_| bad)?;
    first.checked_add(dwords.max(1) - 1).ok_or(bad)?;
    Ok(first)
}

fn dword(bytes: &[u8], at: usize) -> Result<u32> {
    bytes
        .get(at..at + 4)
        .and_then(|four| four.try_into().ok())
        .map(u32::from_le_bytes)
        .ok_or(DecodeError::Truncated {
            available: bytes.len(),
        })
}

/// The low byte; operand codes fit one.
pub(super) const fn byte(code: u32) -> u8 {
    code.to_le_bytes()[0]
}

/// Inline integer codes are below 128 apart, so this is exact for them.
const fn small(code: u32) -> i8 {
    (code & 0x7f).to_le_bytes()[0].cast_signed()
}

/// Bits `high..=low` of a word.
pub(super) const fn field(word: u64, high: u32, low: u32) -> u32 {
    let bits = word >> low & ((1 << (high - low + 1)) - 1);
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Sign-extends the low `bits` bits.
pub(super) const fn signed(value: u32, bits: u32) -> i32 {
    (value << (32 - bits)).cast_signed() >> (32 - bits)
}
