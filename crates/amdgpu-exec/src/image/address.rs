//! What the address registers of a lane say.

use amdgpu_isa::inst::image;
use amdgpu_isa::{Dim, ImageOp, Inst, Level, Operand};

use super::descriptor::Image;
use super::{Refused, Result};
use crate::float::half;
use crate::step::Step;
use crate::wave::Wave;

/// Reads a lane's address, dword by dword.
pub(super) struct Address<'a> {
    wave: &'a Wave,
    inst: &'a Inst,
    parts: ImageOp,
    dim: Dim,
    lane: usize,
}

impl<'a> Address<'a> {
    pub(super) fn new(
        wave: &'a Wave,
        step: &'a Step,
        parts: ImageOp,
        image: &Image,
        lane: usize,
    ) -> Result<Self> {
        let inst = &step.inst;
        Ok(Self {
            wave,
            inst,
            parts,
            dim: dim(wave, inst, image)?,
            lane,
        })
    }

    pub(super) const fn dim(&self) -> Dim {
        self.dim
    }

    fn a16(&self) -> bool {
        self.inst.mods.image & image::A16 != 0
    }

    fn dword(&self, index: u8) -> u32 {
        let register = if self.wave.target.is_gfx9() {
            match self.inst.src[0] {
                Operand::Vgpr(first) => u16::from(first) + u16::from(index),
                _ => 0,
            }
        } else {
            u16::from(self.inst.address[usize::from(index)])
        };
        self.wave.lane(register, self.lane)
    }

    /// Texel offsets of `_o` operations: six bits each, signed.
    pub(super) fn offsets(&self) -> [i64; 3] {
        if !self.parts.offset {
            return [0; 3];
        }
        let word = self.dword(0);
        [0, 8, 16].map(|low| i64::from((word << (26 - low)).cast_signed() >> 26))
    }

    /// The value that texels are compared with.
    pub(super) fn reference(&self) -> f32 {
        let before = u8::from(self.parts.offset) + u8::from(self.parts.bias);
        f32::from_bits(self.dword(before))
    }

    /// Level-of-detail bias of `_b` operations.
    pub(super) fn bias(&self) -> f32 {
        if !self.parts.bias {
            return 0.0;
        }
        let word = self.dword(u8::from(self.parts.offset));
        if self.a16() {
            half::f16_to_f32(low(word))
        } else {
            f32::from_bits(word)
        }
    }

    /// Derivatives of the coordinates: horizontal, then vertical.
    pub(super) fn gradients(&self) -> [[f32; 3]; 2] {
        let half = self.parts.half_gradients(self.wave.target, self.a16());
        let spatial = self.dim.spatial();
        let first = self.parts.extra_dwords();
        let mut gradients = [[0.0; 3]; 2];
        for (direction, values) in (0u8..).zip(&mut gradients) {
            for (axis, value) in (0..spatial).zip(values) {
                *value = if half {
                    let word = self.dword(first + direction * spatial.div_ceil(2) + axis / 2);
                    half::f16_to_f32(side(word, axis))
                } else {
                    f32::from_bits(self.dword(first + direction * spatial + axis))
                };
            }
        }
        gradients
    }

    /// Raw component `index` behind the derivatives; with A16 sixteen bits.
    fn component(&self, index: u8) -> u32 {
        let gradients = self
            .parts
            .gradient_dwords(self.wave.target, self.dim, self.a16());
        let first = self.parts.extra_dwords() + gradients;
        if self.a16() {
            u32::from(side(self.dword(first + index / 2), index))
        } else {
            self.dword(first + index)
        }
    }

    /// Component as a float.
    fn float(&self, index: u8) -> f32 {
        let raw = self.component(index);
        if self.a16() {
            half::f16_to_f32(low(raw))
        } else {
            f32::from_bits(raw)
        }
    }

    /// Unsigned texel position in x, y and z; arrays have their slice in z.
    pub(super) fn texel(&self) -> [u32; 3] {
        match self.dim {
            Dim::D1 => [self.component(0), 0, 0],
            Dim::D2 => [self.component(0), self.component(1), 0],
            Dim::D1Array => [self.component(0), 0, self.component(1)],
            _ => [self.component(0), self.component(1), self.component(2)],
        }
    }

    /// Position as floats, in the same places.
    pub(super) fn position(&self) -> [f32; 3] {
        match self.dim {
            Dim::D1 => [self.float(0), 0.0, 0.0],
            Dim::D2 => [self.float(0), self.float(1), 0.0],
            Dim::D1Array => [self.float(0), 0.0, self.float(1)],
            _ => [self.float(0), self.float(1), self.float(2)],
        }
    }

    /// The level of an operation at integer coordinates.
    pub(super) fn level(&self) -> u32 {
        match self.parts.level {
            Level::Given => self.component(self.parts.components(self.dim) - 1),
            _ => 0,
        }
    }

    /// The only component of `image_get_resinfo`.
    pub(super) fn first_component(&self) -> u32 {
        self.component(0)
    }

    /// The given level, or the lower bound of `_cl` operations.
    pub(super) fn level_float(&self) -> f32 {
        self.float(self.parts.components(self.dim) - 1)
    }
}

/// From gfx10 on the instruction names the dimension, before that the descriptor does.
fn dim(wave: &Wave, inst: &Inst, image: &Image) -> Result<Dim> {
    if wave.target.is_gfx9() {
        let array = inst.mods.image & image::DA != 0;
        return Ok(match image.dim {
            Dim::D1Array if !array => Dim::D1,
            Dim::D2Array if !array => Dim::D2,
            dim => dim,
        });
    }
    match Dim::from_code(inst.mods.image >> image::DIM_SHIFT) {
        Dim::Cube => Refused::unsupported("cube coordinates"),
        Dim::D2Msaa | Dim::D2MsaaArray => Refused::unsupported("multisample coordinates"),
        dim => Ok(dim),
    }
}

/// The half of a dword that component `index` is in.
fn side(word: u32, index: u8) -> u16 {
    let [a, b, c, d] = word.to_le_bytes();
    u16::from_le_bytes(if index.is_multiple_of(2) {
        [a, b]
    } else {
        [c, d]
    })
}

fn low(word: u32) -> u16 {
    side(word, 0)
}
