//! Output modifiers of float results: multiply by 2, 4 or 1/2, and clamp to 0..=1.

use super::pipeline::Out;
use super::plan::Ty;
use super::shape;
use crate::float::half::{f16_to_f32, f32_to_f16};
use crate::step::{Step, TranslateEnv};
use crate::wave::{Chunk, mode};

/// Applies MODE's denormal rule, OMOD and CLAMP to a result of type `ty`.
pub(super) fn apply(step: &Step, ty: Ty, mode_bits: u32, out: &mut Out) {
    let scale = scale(step.inst.mods.omod, ty, mode_bits);
    let clamp = step.inst.mods.clamp;
    let nan_to_zero = mode_bits & mode::DX10_CLAMP != 0;
    let single = |bits: u32| single(bits, scale, clamp, nan_to_zero);
    if mode_bits & denormal_bit(ty) == 0 {
        shape::flush(ty, &mut out.lo, &mut out.hi);
    }
    if scale == 1.0 && !clamp {
        return;
    }
    match ty {
        Ty::F32 | Ty::Mix => each(&mut out.lo, single),
        Ty::PkF32 => {
            each(&mut out.lo, single);
            each(&mut out.hi, single);
        }
        Ty::F16 => each(&mut out.lo, |bits| half(bits, single)),
        Ty::PkF16 => each(&mut out.lo, |bits| {
            half(bits, single) | half(bits >> 16, single) << 16
        }),
        Ty::F64 => double(out, scale, clamp, nan_to_zero),
        _ => {}
    }
}

/// OMOD's factor. Hardware ignores OMOD when output denormals are enabled or in IEEE mode (ISA
/// manuals, "Output modifiers").
fn scale(omod: u8, ty: Ty, mode_bits: u32) -> f32 {
    let keep_denormals = match ty {
        Ty::F32 | Ty::PkF32 | Ty::Mix => 1 << 5,
        _ => 1 << 7,
    };
    if mode_bits & (keep_denormals | mode::IEEE) != 0 {
        return 1.0;
    }
    [1.0, 2.0, 4.0, 0.5][usize::from(omod & 3)]
}

fn each(row: &mut Chunk, f: impl Fn(u32) -> u32) {
    for value in &mut row.0 {
        *value = f(*value);
    }
}

fn single(bits: u32, scale: f32, clamp: bool, nan_to_zero: bool) -> u32 {
    let mut value = f32::from_bits(bits);
    if value.is_nan() {
        return if clamp && nan_to_zero { 0 } else { bits };
    }
    if scale != 1.0 {
        value *= scale;
    }
    if clamp {
        // Ordered tests, so that -0 becomes +0.
        value = if value > 0.0 { value.min(1.0) } else { 0.0 };
    }
    value.to_bits()
}

/// An f16 through f32: scaling is exact but for denormals, which are flushed when it applies.
fn half(bits: u32, single: impl Fn(u32) -> u32) -> u32 {
    let low = (bits & 0xffff).try_into().unwrap_or(0);
    let wide = single(f16_to_f32(low).to_bits());
    u32::from(f32_to_f16(f32::from_bits(wide)))
}

fn double(out: &mut Out, scale: f32, clamp: bool, nan_to_zero: bool) {
    for lane in 0..crate::wave::CHUNK_LANES {
        let bits = u64::from(out.lo.0[lane]) | u64::from(out.hi.0[lane]) << 32;
        let value = f64::from_bits(bits) * f64::from(scale);
        let clamped = if value.is_nan() {
            if clamp && nan_to_zero { 0 } else { bits }
        } else if clamp {
            (if value > 0.0 { value.min(1.0) } else { 0.0 }).to_bits()
        } else {
            value.to_bits()
        };
        out.set_wide(lane, clamped);
    }
}

/// Denormal results of the type become zero in this mode.
pub(super) fn flushes(env: &TranslateEnv, ty: Ty) -> bool {
    env.mode & denormal_bit(ty) == 0
}

/// MODE bit that keeps denormal results of a float type.
fn denormal_bit(ty: Ty) -> u32 {
    match ty {
        Ty::F32 | Ty::PkF32 | Ty::Mix => 1 << 5,
        _ => 1 << 7,
    }
}
