//! The operand types of operations: what a consumer needs to size registers and to expand inline
//! constants.

/// How the bits of an operand element are understood.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// No operand.
    #[default]
    None,
    /// Plain bits.
    Bits,
    /// Signed integer.
    Int,
    /// Unsigned integer.
    Uint,
    /// IEEE float.
    Float,
    /// bfloat16.
    Bfloat,
    /// One bit per lane: an SGPR in wave32, an SGPR pair in wave64.
    Mask,
}

/// Which registers and constants an operand field may name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Class {
    /// The encoding's own rule: any source for vector sources, VGPR for vector destinations.
    #[default]
    Any,
    /// VGPR only.
    Vector,
    /// Scalar register or constant.
    Scalar,
    /// AGPR only.
    Accumulator,
    /// The 32-bit literal that `v_fmamk`, `v_fmaak`, `v_madmk` and `v_madak` always carry.
    Literal,
}

/// Type of one operand: `count` elements of `bits` bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct OperandType {
    /// Element kind.
    pub kind: Kind,
    /// Element size in bits; 0 for [`Kind::None`], 1 for [`Kind::Mask`].
    pub bits: u8,
    /// Elements in the operand (2 for packed 16-bit types, 4 for a 4-dword load …).
    pub count: u8,
    /// Registers allowed.
    pub class: Class,
}

impl OperandType {
    pub(crate) const fn new(kind: Kind, bits: u8, count: u8, class: Class) -> Self {
        Self {
            kind,
            bits,
            count,
            class,
        }
    }

    /// No operand.
    pub const NONE: Self = Self::new(Kind::None, 0, 0, Class::Any);

    /// A 32-bit operand without further meaning.
    pub const B32: Self = Self::new(Kind::Bits, 32, 1, Class::Any);

    /// True if there is such an operand.
    #[must_use]
    pub const fn exists(self) -> bool {
        !matches!(self.kind, Kind::None)
    }

    /// 32-bit registers the operand takes: sub-dword types take one; a lane mask counts as one
    /// here and takes two in wave64.
    #[must_use]
    pub const fn dwords(self) -> u8 {
        match self.kind {
            Kind::None => 0,
            Kind::Mask => 1,
            _ => {
                // Widest: 32 elements of 32 bits; the quotient fits a byte.
                let bits = self.bits as u16 * self.count as u16;
                let [low, _] = bits.div_ceil(32).to_le_bytes();
                low
            }
        }
    }

    /// The same type restricted to a register class.
    #[must_use]
    pub const fn with_class(self, class: Class) -> Self {
        Self { class, ..self }
    }
}

/// Operand types of an operation, in the slots of [`Inst`](crate::Inst).
///
/// The slots of optional operands (a FLAT scalar base, a MUBUF VGPR address, the data of a
/// returning atomic) are typed even if an instruction leaves them out. SOPP has no operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Signature {
    /// Destination.
    pub dst: OperandType,
    /// Second, scalar destination.
    pub sdst: OperandType,
    /// Sources.
    pub src: [OperandType; 4],
}
