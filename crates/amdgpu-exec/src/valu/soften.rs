//! Per-lane execution for operations that go through software floating point.

use super::pipeline::{Out, Rows};
use super::plan::Ty;
use crate::float::soft::Rounding;
use crate::step::TranslateEnv;
use crate::wave::CHUNK_LANES;

/// The rounding direction for results of a type.
pub(super) fn rounding(mode: u32, ty: Ty) -> Rounding {
    match ty {
        Ty::F32 | Ty::PkF32 | Ty::Mix => Rounding::from_field(mode),
        _ => Rounding::from_field(mode >> 2),
    }
}

/// The mode rounds results of this type to nearest even.
pub(super) fn rounds_to_even(env: &TranslateEnv, ty: Ty) -> bool {
    rounding(env.mode, ty) == Rounding::Even
}

/// Runs a lane function over the rows.
#[inline(always)]
pub(super) fn each_lane(rows: &Rows<'_>, out: &mut Out, f: impl Fn(u64, u64, u64) -> u64) {
    for lane in 0..CHUNK_LANES {
        let value = f(rows.wide(0, lane), rows.wide(1, lane), rows.wide(2, lane));
        out.set_wide(lane, value);
    }
}
