//! What an image operation's name says about its operands.
//!
//! The number of address and data registers follows from the operation, the dimension and the
//! modifiers (RDNA2 ISA manual, "Image Address"); no table lists it.

use crate::inst::{ADDRESS_REGISTERS, Encoding, Inst, image};
use crate::op::Op;
use crate::target::{Family, Target};

/// What is done with the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageAction {
    /// Reads texels at integer coordinates.
    Load,
    /// Writes texels at integer coordinates.
    Store,
    /// Reads, modifies and writes one texel.
    Atomic,
    /// Reads the image's size.
    GetResinfo,
    /// Computes the level of detail that a sample would use.
    GetLod,
    /// Filters texels.
    Sample,
    /// Returns one channel of the four texels that a linear filter would use.
    Gather4,
    /// The same of four neighbours in a row.
    Gather4h,
    /// Reads one channel of all samples of a texel.
    MsaaLoad,
    /// Intersects a ray with a node of a bounding volume hierarchy.
    IntersectRay,
}

/// Derivatives in the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gradients {
    /// None.
    No,
    /// One dword each.
    Full,
    /// Two 16-bit values in a dword (`_g16`).
    Half,
}

/// Where the level of detail comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// From derivatives, given or between lanes.
    Computed,
    /// The last component of the address.
    Given,
    /// Level zero.
    Zero,
}

/// What a ray is intersected with, by the name behind `bvh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// A node with a 32-bit address.
    Narrow,
    /// A node with a 64-bit address.
    Wide,
    /// Two nodes (gfx12).
    Dual,
    /// A node of eight children (gfx12).
    Eight,
}

impl Node {
    fn of(rest: &str) -> Self {
        match rest.split('_').next() {
            Some("64") => Self::Wide,
            Some("8") => Self::Eight,
            _ if rest.starts_with("_dual") => Self::Dual,
            _ => Self::Narrow,
        }
    }

    /// Dwords of node, extent, origin, direction and inverse direction (or what gfx12 has last).
    const fn groups(self) -> [u8; 5] {
        match self {
            Self::Narrow => [1, 1, 3, 3, 3],
            Self::Wide => [2, 1, 3, 3, 3],
            Self::Dual => [2, 2, 3, 3, 2],
            Self::Eight => [2, 2, 3, 3, 1],
        }
    }
}

/// Address registers in groups of consecutive ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    sizes: [u8; ADDRESS_REGISTERS],
    count: usize,
}

impl Groups {
    /// `count` single registers.
    const fn singles(count: usize) -> Self {
        let sizes = [1; ADDRESS_REGISTERS];
        Self { sizes, count }
    }

    /// `dwords` registers, of which all behind the first `singles` follow each other.
    fn partial(dwords: u8, singles: u8) -> Self {
        let mut groups = Self::singles(usize::from(dwords.min(singles + 1)));
        if dwords > singles {
            groups.sizes[usize::from(singles)] = dwords - singles;
        }
        groups
    }

    /// Numbers of registers, in order.
    pub(crate) fn sizes(&self) -> &[u8] {
        &self.sizes[..self.count]
    }
}

/// The parts of an image operation's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent part of the name"
)]
pub struct ImageOp {
    /// What is done.
    pub action: ImageAction,
    /// Derivatives in the address.
    pub gradients: Gradients,
    /// Level of detail.
    pub level: Level,
    /// The last component of the address is the least level of detail (`_cl`).
    pub clamp: bool,
    /// The address starts with texel offsets (`_o`).
    pub offset: bool,
    /// The address has a level-of-detail bias (`_b`).
    pub bias: bool,
    /// The address has a value to compare texels with (`_c`).
    pub compare: bool,
    /// Texels are moved without conversion (`_pck`).
    pub packed: bool,
    /// `_pck_sgn`: narrow channels are extended with their sign.
    pub signed: bool,
    /// The atomic operation compares and exchanges.
    pub exchange: bool,
    /// What a ray is intersected with.
    pub node: Node,
}

/// The dimension that an address is for (the DIM field of gfx10 and later).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Dim {
    D1,
    D2,
    D3,
    Cube,
    D1Array,
    D2Array,
    D2Msaa,
    D2MsaaArray,
}

impl Dim {
    const ALL: [Self; 8] = [
        Self::D1,
        Self::D2,
        Self::D3,
        Self::Cube,
        Self::D1Array,
        Self::D2Array,
        Self::D2Msaa,
        Self::D2MsaaArray,
    ];

    /// From the DIM field.
    #[must_use]
    pub const fn from_code(code: u16) -> Self {
        Self::ALL[(code & 7) as usize]
    }

    /// Components of a coordinate: position, then slice or face, then sample.
    #[must_use]
    pub const fn coordinates(self) -> u8 {
        match self {
            Self::D1 => 1,
            Self::D2 | Self::D1Array => 2,
            Self::D3 | Self::Cube | Self::D2Array | Self::D2Msaa => 3,
            Self::D2MsaaArray => 4,
        }
    }

    /// Components that have derivatives.
    #[must_use]
    pub const fn spatial(self) -> u8 {
        match self {
            Self::D1 | Self::D1Array => 1,
            Self::D3 => 3,
            _ => 2,
        }
    }

    /// LLVM's name behind `SQ_RSRC_IMG_`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::D1 => "1D",
            Self::D2 => "2D",
            Self::D3 => "3D",
            Self::Cube => "CUBE",
            Self::D1Array => "1D_ARRAY",
            Self::D2Array => "2D_ARRAY",
            Self::D2Msaa => "2D_MSAA",
            Self::D2MsaaArray => "2D_MSAA_ARRAY",
        }
    }
}

impl ImageOp {
    /// The parts of `image_load`.
    pub const LOAD: Self = Self {
        action: ImageAction::Load,
        gradients: Gradients::No,
        level: Level::Zero,
        clamp: false,
        offset: false,
        bias: false,
        compare: false,
        packed: false,
        signed: false,
        exchange: false,
        node: Node::Narrow,
    };

    /// The parts of an operation; `None` if it is no image operation.
    #[must_use]
    pub fn of(op: Op) -> Option<Self> {
        let name = op.name().strip_prefix("image_")?;
        let (action, rest) = split_action(name)?;
        let mut parts = Self {
            action,
            ..Self::LOAD
        };
        if parts.has_sampler() {
            parts.level = Level::Computed;
        }
        match action {
            ImageAction::Atomic => parts.exchange = rest.ends_with("cmpswap"),
            ImageAction::IntersectRay => parts.node = Node::of(rest),
            _ => parts.add_all(rest)?,
        }
        Some(parts)
    }

    fn add_all(&mut self, rest: &str) -> Option<()> {
        for part in rest.split('_').filter(|part| !part.is_empty()) {
            self.add(part)?;
        }
        Some(())
    }

    fn add(&mut self, part: &str) -> Option<()> {
        match part {
            "mip" | "l" => self.level = Level::Given,
            "lz" => self.level = Level::Zero,
            "d" | "cd" => self.gradients = Gradients::Full,
            "g16" => self.gradients = Gradients::Half,
            "cl" => self.clamp = true,
            "o" => self.offset = true,
            "b" => self.bias = true,
            "c" => self.compare = true,
            "pck" => self.packed = true,
            "sgn" => self.signed = true,
            _ => return None,
        }
        Some(())
    }

    /// True if the instruction names a sampler.
    #[must_use]
    pub const fn has_sampler(self) -> bool {
        matches!(
            self.action,
            ImageAction::Sample
                | ImageAction::Gather4
                | ImageAction::Gather4h
                | ImageAction::GetLod
        )
    }

    /// Leading dwords that are never packed: offset, bias, comparison value.
    #[must_use]
    pub const fn extra_dwords(self) -> u8 {
        self.offset as u8 + self.bias as u8 + self.compare as u8
    }

    /// True if a level or its lower bound follows the coordinates.
    #[must_use]
    pub const fn has_level_component(self) -> bool {
        matches!(self.level, Level::Given)
            || self.clamp
            || matches!(self.action, ImageAction::GetResinfo)
    }

    /// Components behind the derivatives, each a dword, or half of one with A16.
    #[must_use]
    pub const fn components(self, dim: Dim) -> u8 {
        let coordinates = match self.action {
            ImageAction::GetResinfo => 0,
            _ => dim.coordinates(),
        };
        coordinates + self.has_level_component() as u8
    }

    /// True if derivatives are 16-bit values: by name, or by A16 where there is no such name (gfx9).
    #[must_use]
    pub const fn half_gradients(self, target: Target, a16: bool) -> bool {
        match self.gradients {
            Gradients::No => false,
            Gradients::Half => true,
            Gradients::Full => a16 && target.is_gfx9(),
        }
    }

    /// Dwords of derivatives. Those of one direction start at a dword.
    #[must_use]
    pub const fn gradient_dwords(self, target: Target, dim: Dim, a16: bool) -> u8 {
        match self.gradients {
            Gradients::No => 0,
            _ if self.half_gradients(target, a16) => 2 * dim.spatial().div_ceil(2),
            _ => 2 * dim.spatial(),
        }
    }

    /// Dwords of an address.
    #[must_use]
    pub const fn address_dwords(self, target: Target, dim: Dim, a16: bool) -> u8 {
        if let ImageAction::IntersectRay = self.action {
            let [node, extent, origin, direction, inverse] = self.node.groups();
            // A16 packs the directions.
            return node + extent + origin + direction + if a16 { 0 } else { inverse };
        }
        let components = self.components(dim);
        let tail = if a16 {
            components.div_ceil(2)
        } else {
            components
        };
        self.extra_dwords() + self.gradient_dwords(target, dim, a16) + tail
    }

    /// How the address registers are grouped that an instruction lists.
    pub(crate) fn groups(self, target: Target, inst: &Inst, dwords: u8) -> Groups {
        if self.action == ImageAction::IntersectRay && target.is_gfx11_plus() {
            let mut groups = Groups::singles(4 + usize::from(inst.mods.image & image::A16 == 0));
            groups.sizes[..5].copy_from_slice(&self.node.groups());
            return groups;
        }
        match (target.family(), inst.encoding) {
            (Family::Gfx11, _) => Groups::partial(dwords, 4),
            (Family::Gfx12, Encoding::Vsample) => Groups::partial(dwords, 3),
            _ => Groups::singles(usize::from(dwords)),
        }
    }

    /// Data registers of an instruction, with the status dword of TFE.
    #[must_use]
    pub fn data_dwords(self, target: Target, inst: &Inst) -> u8 {
        let channels = match self.action {
            ImageAction::IntersectRay if matches!(self.node, Node::Dual | Node::Eight) => 10,
            ImageAction::Gather4 | ImageAction::Gather4h | ImageAction::IntersectRay => 4,
            ImageAction::MsaaLoad if target.is_gfx11_plus() => 4,
            _ => u8::try_from((inst.mods.format & 15).count_ones().max(1)).unwrap_or(1),
        };
        let dwords = if inst.mods.image & image::D16 == 0 {
            channels
        } else {
            channels.div_ceil(2)
        };
        dwords + u8::from(inst.mods.tfe)
    }

    /// True if LLVM has data registers of this number for the operation.
    pub(crate) const fn takes_data(self, dwords: u8) -> bool {
        match self.action {
            ImageAction::Atomic if self.exchange => matches!(dwords, 2..=5),
            ImageAction::Atomic => matches!(dwords, 1..=3),
            ImageAction::Gather4 | ImageAction::Gather4h => !matches!(dwords, 1 | 3),
            _ => true,
        }
    }

    /// Least and greatest number of address dwords over all dimensions and A16, multisampled ones
    /// excepted for operations with a sampler.
    pub(crate) const fn address_range(self) -> (u8, u8) {
        match self.action {
            ImageAction::IntersectRay => return (8, 12),
            _ if !self.has_sampler() => return (1, 4),
            _ => {}
        }
        let (least, greatest) = match self.gradients {
            Gradients::No => (1, 3),
            Gradients::Full => (2, 9),
            Gradients::Half => (2, 7),
        };
        let extra = self.extra_dwords();
        (
            least + extra,
            greatest + self.has_level_component() as u8 + extra,
        )
    }
}

fn split_action(name: &str) -> Option<(ImageAction, &str)> {
    const ACTIONS: [(&str, ImageAction); 10] = [
        ("load", ImageAction::Load),
        ("store", ImageAction::Store),
        ("atomic_", ImageAction::Atomic),
        ("get_resinfo", ImageAction::GetResinfo),
        ("get_lod", ImageAction::GetLod),
        ("sample", ImageAction::Sample),
        ("gather4h", ImageAction::Gather4h),
        ("gather4", ImageAction::Gather4),
        ("msaa_load", ImageAction::MsaaLoad),
        ("bvh", ImageAction::IntersectRay),
    ];
    ACTIONS
        .iter()
        .find_map(|(start, action)| Some((*action, name.strip_prefix(start)?)))
}

#[cfg(test)]
mod tests {
    use super::{Dim, Gradients, ImageAction, ImageOp, Level};
    use crate::op::Op;
    use crate::target::Target;

    fn parts(name: &str) -> ImageOp {
        ImageOp::of(Op::from_name(name).unwrap_or_else(|| panic!("{name}")))
            .unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn every_image_operation_has_parts() {
        for &op in Op::ALL {
            let image = op.name().starts_with("image_");
            assert_eq!(ImageOp::of(op).is_some(), image, "{op:?}");
        }
    }

    #[test]
    fn names_are_taken_apart() {
        let sample = parts("image_sample_c_d_cl_o_g16");
        assert_eq!(sample.action, ImageAction::Sample);
        assert_eq!(sample.gradients, Gradients::Half);
        assert!(sample.compare && sample.clamp && sample.offset && !sample.bias);
        assert_eq!(parts("image_gather4_lz").level, Level::Zero);
        assert_eq!(parts("image_load_mip_pck_sgn").level, Level::Given);
        assert!(parts("image_atomic_fcmpswap").exchange);
    }

    /// RDNA2 ISA manual, image address tables.
    #[test]
    fn addresses_have_the_manuals_lengths() {
        let size = |name, dim, a16| parts(name).address_dwords(Target::Gfx1030, dim, a16);
        assert_eq!(size("image_load", Dim::D2, false), 2);
        assert_eq!(size("image_load", Dim::D2Array, true), 2);
        assert_eq!(size("image_sample_d", Dim::D3, false), 9);
        assert_eq!(size("image_sample_d_g16", Dim::D3, false), 7);
        assert_eq!(size("image_sample_c_d_cl_o", Dim::D3, false), 12);
        assert_eq!(size("image_get_resinfo", Dim::D3, false), 1);
    }
}
