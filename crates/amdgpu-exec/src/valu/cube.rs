//! Cube map coordinates (`v_cubeid` and relatives), which images and some math code use.

use amdgpu_isa::Op;

use super::kernel::Entry;
use super::macros::f32op;
use crate::step::TranslateEnv;

/// Major axis of a direction: z wins ties, then y (ISA manuals, "V_CUBEID_F32").
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    X,
    Y,
    Z,
}

#[inline(always)]
fn axis(x: f32, y: f32, z: f32) -> Axis {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        Axis::Z
    } else if y.abs() >= x.abs() {
        Axis::Y
    } else {
        Axis::X
    }
}

#[inline(always)]
fn face(x: f32, y: f32, z: f32) -> f32 {
    match axis(x, y, z) {
        Axis::Z => {
            if z < 0.0 {
                5.0
            } else {
                4.0
            }
        }
        Axis::Y => {
            if y < 0.0 {
                3.0
            } else {
                2.0
            }
        }
        Axis::X => {
            if x < 0.0 {
                1.0
            } else {
                0.0
            }
        }
    }
}

#[inline(always)]
fn s_coordinate(x: f32, y: f32, z: f32) -> f32 {
    match axis(x, y, z) {
        Axis::Z => {
            if z < 0.0 {
                -x
            } else {
                x
            }
        }
        Axis::Y => x,
        Axis::X => {
            if x < 0.0 {
                z
            } else {
                -z
            }
        }
    }
}

#[inline(always)]
fn t_coordinate(x: f32, y: f32, z: f32) -> f32 {
    match axis(x, y, z) {
        Axis::Y => {
            if y < 0.0 {
                -z
            } else {
                z
            }
        }
        _ => -y,
    }
}

#[inline(always)]
fn major(x: f32, y: f32, z: f32) -> f32 {
    match axis(x, y, z) {
        Axis::Z => z * 2.0,
        Axis::Y => y * 2.0,
        Axis::X => x * 2.0,
    }
}

/// Table entry of a cube map operation.
pub(super) fn entry(op: Op, env: &TranslateEnv) -> Option<Entry> {
    Some(match op {
        Op::V_CUBEID_F32 => f32op!(env, rare32, [F32, F32, F32], |x, y, z| face(x, y, z)),
        Op::V_CUBESC_F32 => f32op!(env, rare32, [F32, F32, F32], |x, y, z| s_coordinate(
            x, y, z
        )),
        Op::V_CUBETC_F32 => f32op!(env, rare32, [F32, F32, F32], |x, y, z| t_coordinate(
            x, y, z
        )),
        Op::V_CUBEMA_F32 => f32op!(env, rare32, [F32, F32, F32], |x, y, z| major(x, y, z)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_follow_the_major_axis() {
        assert_eq!(face(2.0, 1.0, -1.0), 0.0);
        assert_eq!(face(-2.0, 1.0, 1.0), 1.0);
        assert_eq!(face(1.0, -1.0, 0.5), 3.0);
        assert_eq!(face(1.0, 1.0, -1.0), 5.0);
        assert_eq!(
            (s_coordinate(2.0, 1.0, 0.5), t_coordinate(2.0, 1.0, 0.5)),
            (-0.5, -1.0)
        );
        assert_eq!(major(0.5, -3.0, 1.0), -6.0);
    }
}
