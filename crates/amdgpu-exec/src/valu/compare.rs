//! Compares and class tests.
//!
//! A condition is a set of relations: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered. The
//! float conditions in opcode order are exactly the numbers 0 to 15, so one kernel per type serves
//! all of them.

#![expect(
    clippy::cast_possible_truncation,
    reason = "lane values narrower than 64 bits sit in the low bits"
)]

use std::marker::PhantomData;

use amdgpu_isa::{Inst, Op};

use super::kernel::{Entry, Test32, hot_compare};
use super::lanes;
use super::pipeline::{Kernel, Out, Rows};
use super::plan::{Ty, flag};
use crate::float::class;
use crate::float::half::f16_to_f32;
use crate::step::{HostLevel, TranslateEnv};
use crate::wave::{CHUNK_LANES, Chunk};

/// A type whose values can be compared.
trait Ordered {
    type Value: PartialOrd + Copy;
    fn value(rows: &Rows<'_>, source: usize, lane: usize) -> Self::Value;
}

macro_rules! ordered {
    ($($name:ident: $value:ty = |$rows:ident, $source:ident, $lane:ident| $body:expr;)*) => {$(
        struct $name;
        impl Ordered for $name {
            type Value = $value;
            #[inline(always)]
            fn value($rows: &Rows<'_>, $source: usize, $lane: usize) -> $value {
                $body
            }
        }
    )*};
}

ordered! {
    U32: u32 = |rows, s, lane| rows.lo[s].0[lane];
    I32: i32 = |rows, s, lane| rows.lo[s].0[lane].cast_signed();
    U16: u16 = |rows, s, lane| rows.lo[s].0[lane] as u16;
    I16: i16 = |rows, s, lane| rows.lo[s].0[lane] as i16;
    U64: u64 = |rows, s, lane| rows.wide(s, lane);
    I64: i64 = |rows, s, lane| rows.wide(s, lane).cast_signed();
    F32: f32 = |rows, s, lane| f32::from_bits(rows.lo[s].0[lane]);
    F64: f64 = |rows, s, lane| f64::from_bits(rows.wide(s, lane));
    F16: f32 = |rows, s, lane| f16_to_f32(rows.lo[s].0[lane] as u16);
}

/// Integer compares know their condition when they are compiled.
struct Known<T, const LESS: bool, const EQUAL: bool, const GREATER: bool>(PhantomData<T>);

impl<T: Ordered, const LESS: bool, const EQUAL: bool, const GREATER: bool> Kernel
    for Known<T, LESS, EQUAL, GREATER>
{
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let mut row = Chunk::ZERO;
        for lane in 0..CHUNK_LANES {
            let (a, b) = (T::value(rows, 0, lane), T::value(rows, 1, lane));
            let holds = related::<_, LESS, EQUAL, GREATER>(a, b);
            row.0[lane] = if holds { u32::MAX } else { 0 };
        }
        out.mask = lanes::to_mask(&row);
    }
}

/// True if the relation of `a` to `b` is one of those named.
#[inline(always)]
fn related<V: PartialOrd, const LESS: bool, const EQUAL: bool, const GREATER: bool>(
    a: V,
    b: V,
) -> bool {
    match (LESS, EQUAL, GREATER) {
        (true, false, false) => a < b,
        (false, true, false) => a == b,
        (true, true, false) => a <= b,
        (false, false, true) => a > b,
        (true, false, true) => a != b,
        (false, true, true) => a >= b,
        (all, ..) => all,
    }
}

struct Signed;
struct Unsigned;

impl<const LESS: bool, const EQUAL: bool, const GREATER: bool> Test32
    for Known<Signed, LESS, EQUAL, GREATER>
{
    #[inline(always)]
    fn holds(a: u32, b: u32) -> bool {
        related::<_, LESS, EQUAL, GREATER>(a.cast_signed(), b.cast_signed())
    }
}

impl<const LESS: bool, const EQUAL: bool, const GREATER: bool> Test32
    for Known<Unsigned, LESS, EQUAL, GREATER>
{
    #[inline(always)]
    fn holds(a: u32, b: u32) -> bool {
        related::<_, LESS, EQUAL, GREATER>(a, b)
    }
}

/// Specialised bodies of a 32-bit integer compare.
macro_rules! hot_bodies {
    ($sign:ty, $level:expr, $condition:expr) => {
        match $condition & 7 {
            _ if $level != HostLevel::V3 => [None; 8],
            0b001 => hot_compare::<Known<$sign, true, false, false>>(),
            0b010 => hot_compare::<Known<$sign, false, true, false>>(),
            0b011 => hot_compare::<Known<$sign, true, true, false>>(),
            0b100 => hot_compare::<Known<$sign, false, false, true>>(),
            0b101 => hot_compare::<Known<$sign, true, false, true>>(),
            0b110 => hot_compare::<Known<$sign, false, true, true>>(),
            _ => [None; 8],
        }
    };
}

/// The entry of an integer compare whose relations are `condition`.
fn known<T: Ordered>(level: HostLevel, ty: Ty, condition: u64) -> Entry {
    let types = &[ty; 2];
    match condition & 7 {
        0b001 => Entry::kernel::<Known<T, true, false, false>>(level, types, Ty::None),
        0b010 => Entry::kernel::<Known<T, false, true, false>>(level, types, Ty::None),
        0b011 => Entry::kernel::<Known<T, true, true, false>>(level, types, Ty::None),
        0b100 => Entry::kernel::<Known<T, false, false, true>>(level, types, Ty::None),
        0b101 => Entry::kernel::<Known<T, true, false, true>>(level, types, Ty::None),
        0b110 => Entry::kernel::<Known<T, false, true, true>>(level, types, Ty::None),
        _ => Entry::kernel::<Compare<T>>(level, types, Ty::None),
    }
}

struct Compare<T>(PhantomData<T>);

impl<T: Ordered> Kernel for Compare<T> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let condition = rows.step.constant[2];
        let when = |bit: u32| {
            if condition >> bit & 1 != 0 {
                u32::MAX
            } else {
                0
            }
        };
        let (less, equal, greater, unordered) = (when(0), when(1), when(2), when(3));
        let mut row = Chunk::ZERO;
        for lane in 0..CHUNK_LANES {
            let (a, b) = (T::value(rows, 0, lane), T::value(rows, 1, lane));
            let all = |holds: bool| if holds { u32::MAX } else { 0 };
            let (lt, eq, gt) = (all(a < b), all(a == b), all(a > b));
            // Masks instead of branches, so that the loop vectorises.
            let ordered = lt & less | eq & equal | gt & greater;
            row.0[lane] = ordered | !(lt | eq | gt) & unordered;
        }
        out.mask = lanes::to_mask(&row);
    }
}

/// Tests against a set of classes.
struct Class<const BITS: u32>;

impl<const BITS: u32> Kernel for Class<BITS> {
    #[inline(always)]
    fn run(rows: &Rows<'_>, out: &mut Out) {
        let mut row = Chunk::ZERO;
        for lane in 0..CHUNK_LANES {
            let class = match BITS {
                16 => class::f16(rows.lo[0].0[lane] as u16),
                32 => class::f32(rows.lo[0].0[lane]),
                _ => class::f64(rows.wide(0, lane)),
            };
            row.0[lane] = if class & rows.lo[1].0[lane] != 0 {
                u32::MAX
            } else {
                0
            };
        }
        out.mask = lanes::to_mask(&row);
    }
}

/// Table entry of a compare. CMPX writes EXEC; on gfx9 also the mask operand.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    let name = inst.op.name();
    let (exec, rest) = match strip(name, "v_cmpx_") {
        Some(rest) => (true, rest),
        None => (false, strip(name, "v_cmp_")?),
    };
    let (condition, ty) = rest.rsplit_once('_')?;
    let mut entry = by_type(condition, ty, env.level)?;
    if exec {
        entry.flags |= flag::EXEC_OUT;
        // The specialised bodies write the mask operand only.
        entry.hot = [None; 8];
    }
    if !exec || env.target.is_gfx9() {
        entry.flags |= flag::MASK_OUT;
    }
    Some(entry)
}

fn strip<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let head = name.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &name[prefix.len()..])
}

fn by_type(condition: &str, ty: &str, level: HostLevel) -> Option<Entry> {
    let condition = condition.to_ascii_uppercase();
    let ty = ty.to_ascii_uppercase();
    if condition == "CLASS" {
        return class_entry(&ty);
    }
    let relations = relations(&condition, ty.starts_with('F'))?;
    let mut entry = match ty.as_str() {
        "U32" => {
            let hot = hot_bodies!(Unsigned, level, relations);
            Entry {
                hot,
                ..known::<U32>(level, Ty::B32, relations)
            }
        }
        "I32" => {
            let hot = hot_bodies!(Signed, level, relations);
            Entry {
                hot,
                ..known::<I32>(level, Ty::B32, relations)
            }
        }
        "U64" => known::<U64>(level, Ty::B64, relations),
        "I64" => known::<I64>(level, Ty::I64, relations),
        "F32" => Entry::kernel::<Compare<F32>>(level, &[Ty::F32; 2], Ty::None),
        "F64" => Entry::kernel::<Compare<F64>>(level, &[Ty::F64; 2], Ty::None),
        "F16" => Entry::kernel::<Compare<F16>>(level, &[Ty::F16; 2], Ty::None),
        "U16" => Entry::rare_kernel::<Compare<U16>>(&[Ty::B16; 2], Ty::None),
        "I16" => Entry::rare_kernel::<Compare<I16>>(&[Ty::B16; 2], Ty::None),
        _ => return None,
    };
    entry.argument = Some(relations);
    Some(entry)
}

/// The set of relations that a condition accepts.
fn relations(condition: &str, float: bool) -> Option<u64> {
    const FLOAT: [&str; 16] = [
        "F", "LT", "EQ", "LE", "GT", "LG", "GE", "O", "U", "NGE", "NLG", "NGT", "NLE", "NEQ",
        "NLT", "TRU",
    ];
    const INTEGER: [&str; 8] = ["F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"];
    let names: &[&str] = if float { &FLOAT } else { &INTEGER };
    let position = names.iter().position(|name| *name == condition)?;
    u64::try_from(position).ok()
}

fn class_entry(ty: &str) -> Option<Entry> {
    Some(match ty {
        "F16" => Entry::rare_kernel::<Class<16>>(&[Ty::F16, Ty::B16], Ty::None),
        "F32" => Entry::rare_kernel::<Class<32>>(&[Ty::F32, Ty::B32], Ty::None),
        "F64" => Entry::rare_kernel::<Class<64>>(&[Ty::F64, Ty::B32], Ty::None),
        _ => return None,
    })
}

/// The operation is a compare.
pub(super) fn is_compare(op: Op) -> bool {
    strip(op.name(), "v_cmp").is_some()
}
