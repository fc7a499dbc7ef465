//! What a vector step knows about its operands, packed into [`Step::aux`].

use crate::step::Step;

/// Type of a vector operand: how constants, modifiers and halves apply to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Ty {
    /// No operand.
    None,
    /// 32-bit integer or bits.
    B32,
    /// f32.
    F32,
    /// 64-bit integer or bits; literals are zero-extended.
    B64,
    /// Signed 64-bit integer; literals are sign-extended.
    I64,
    /// f64.
    F64,
    /// 16-bit integer in a half of a register.
    B16,
    /// f16 in a half of a register.
    F16,
    /// Two 16-bit integers.
    PkB16,
    /// Two f16.
    PkF16,
    /// Two f32 in a register pair, halves chosen by op_sel (gfx90a).
    PkF32,
    /// Two dwords in a register pair, chosen by op_sel (gfx90a).
    PkB32,
    /// 32 bits whose sign modifiers change, but that are no number (`v_cndmask`).
    S32,
    /// f32, or f16 if the source's op_sel_hi bit is set (`v_fma_mix*`).
    Mix,
}

impl Ty {
    const ALL: [Self; 14] = [
        Self::None,
        Self::B32,
        Self::F32,
        Self::B64,
        Self::I64,
        Self::F64,
        Self::B16,
        Self::F16,
        Self::PkB16,
        Self::PkF16,
        Self::PkF32,
        Self::PkB32,
        Self::S32,
        Self::Mix,
    ];

    /// The operand is a register pair.
    pub(super) fn is_wide(self) -> bool {
        matches!(
            self,
            Self::B64 | Self::I64 | Self::F64 | Self::PkF32 | Self::PkB32
        )
    }

    /// A number: clamp, output modifiers and denormal modes apply.
    pub(super) fn is_float(self) -> bool {
        matches!(
            self,
            Self::F32 | Self::F64 | Self::F16 | Self::PkF16 | Self::PkF32 | Self::Mix
        )
    }

    /// Negation and absolute value apply.
    pub(super) fn has_sign(self) -> bool {
        self.is_float() || self == Self::S32
    }

    /// The operand is one half of a register.
    pub(super) fn is_half(self) -> bool {
        matches!(self, Self::B16 | Self::F16)
    }
}

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    /// Vector register: `step.src[i]` is its first chunk.
    Vector,
    /// Scalar register: `step.src[i]` is its index.
    Scalar,
    /// `step.constant[i]`.
    Constant,
    /// There is no such source; it reads as zero.
    Absent,
}

/// How the result reaches the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Store {
    /// No vector result (compares).
    Nothing,
    /// One register.
    Full,
    /// A register pair.
    Pair,
    /// The low half; the high half becomes zero.
    LowZero,
    /// The low half; the high half stays.
    LowKeep,
    /// The high half; the low half stays.
    HighKeep,
    /// As the SDWA fields say.
    Sdwa,
}

impl Store {
    const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Full,
        Self::Pair,
        Self::LowZero,
        Self::LowKeep,
        Self::HighKeep,
        Self::Sdwa,
    ];
}

/// Facts that select the general path or extra work in it.
pub(super) mod flag {
    /// A source needs more than a plain read: modifiers, halves, packed selection.
    pub(in super::super) const SHAPED: u8 = 1;
    /// Source 0 moves between lanes.
    pub(in super::super) const DPP: u8 = 2;
    /// Sources or destination are parts of a register.
    pub(in super::super) const SDWA: u8 = 4;
    /// Clamp or output modifier on a float result.
    pub(in super::super) const OUTPUT: u8 = 8;
    /// The kernel's mask goes to `step.sdst`.
    pub(in super::super) const MASK_OUT: u8 = 16;
    /// The mask at scalar `step.src[3]` is read.
    pub(in super::super) const MASK_IN: u8 = 32;
    /// The kernel's mask goes to EXEC.
    pub(in super::super) const EXEC_OUT: u8 = 64;
    /// What keeps a step from using a specialised body.
    pub(in super::super) const GENERAL: u8 = SHAPED | DPP | SDWA | OUTPUT;
}

/// The packed facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    pub(super) kinds: [Kind; 3],
    pub(super) types: [Ty; 3],
    pub(super) dst: Ty,
    pub(super) store: Store,
    pub(super) flags: u8,
}

impl Plan {
    /// As stored in a step.
    pub(super) fn pack(self) -> u64 {
        let kinds = self
            .kinds
            .iter()
            .rev()
            .fold(0, |bits, kind| bits << 2 | *kind as u8);
        let [a, b, c] = self.types.map(|ty| ty as u8);
        u64::from_le_bytes([
            kinds,
            a,
            b,
            c,
            self.dst as u8,
            self.store as u8,
            self.flags,
            self.shape(),
        ])
    }

    /// Bits 0..=2: source i is a pair; bit 3: the result is one; bit 4: there is a vector result.
    fn shape(self) -> u8 {
        let sources = self
            .types
            .iter()
            .enumerate()
            .fold(0, |bits, (i, ty)| bits | u8::from(ty.is_wide()) << i);
        let result = u8::from(self.store == Store::Pair) << 3;
        sources | result | u8::from(self.store != Store::Nothing) << 4
    }

    /// Of a step made by [`super::translate`].
    #[inline]
    pub(super) fn of(step: &Step) -> Self {
        let [kinds, a, b, c, dst, store, flags, _] = step.aux.to_le_bytes();
        Self {
            kinds: [0, 2, 4].map(|shift| match kinds >> shift & 3 {
                0 => Kind::Vector,
                1 => Kind::Scalar,
                2 => Kind::Constant,
                _ => Kind::Absent,
            }),
            types: [a, b, c].map(|code| Ty::ALL[usize::from(code)]),
            dst: Ty::ALL[usize::from(dst)],
            store: Store::ALL[usize::from(store)],
            flags,
        }
    }

    pub(super) fn has(self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_discriminant_order() {
        for (i, ty) in Ty::ALL.iter().enumerate() {
            assert_eq!(*ty as usize, i);
        }
        for (i, store) in Store::ALL.iter().enumerate() {
            assert_eq!(*store as usize, i);
        }
    }
}
