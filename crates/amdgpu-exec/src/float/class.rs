//! The ten classes that `v_cmp_class` tests, as a one-hot mask.

/// Class of a value with the given exponent and fraction fields.
#[inline(always)]
fn classify(negative: bool, exponent: u64, max_exponent: u64, fraction: u64, quiet: u64) -> u32 {
    if exponent == max_exponent && fraction != 0 {
        return if fraction & quiet == 0 { 1 } else { 2 };
    }
    let magnitude = if exponent == max_exponent {
        0
    } else if exponent != 0 {
        1
    } else if fraction != 0 {
        2
    } else {
        3
    };
    // Bits 2..=5: -inf, -normal, -denormal, -0; bits 6..=9: +0, +denormal, +normal, +inf.
    if negative {
        4 << magnitude
    } else {
        0x200 >> magnitude
    }
}

/// Class of an f16.
#[inline(always)]
pub(crate) fn f16(bits: u16) -> u32 {
    let bits = u64::from(bits);
    classify(
        bits >> 15 != 0,
        bits >> 10 & 0x1f,
        0x1f,
        bits & 0x3ff,
        0x200,
    )
}

/// Class of an f32.
#[inline(always)]
pub(crate) fn f32(bits: u32) -> u32 {
    let bits = u64::from(bits);
    classify(
        bits >> 31 != 0,
        bits >> 23 & 0xff,
        0xff,
        bits & 0x7f_ffff,
        0x40_0000,
    )
}

/// Class of an f64.
#[inline(always)]
pub(crate) fn f64(bits: u64) -> u32 {
    classify(
        bits >> 63 != 0,
        bits >> 52 & 0x7ff,
        0x7ff,
        bits & ((1 << 52) - 1),
        1 << 51,
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn classes_follow_the_manual_order() {
        // "V_CMP_CLASS_F32": 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, then positives.
        let values = [
            0x7f80_0001u32,
            0x7fc0_0000,
            0xff80_0000,
            0xbf80_0000,
            0x8000_0001,
            0x8000_0000,
            0,
            1,
            0x3f80_0000,
            0x7f80_0000,
        ];
        for (bit, value) in values.into_iter().enumerate() {
            assert_eq!(super::f32(value), 1 << bit);
            if bit > 1 {
                let wide = f64::from(f32::from_bits(value));
                if !matches!(bit, 4 | 7) {
                    assert_eq!(super::f64(wide.to_bits()), 1 << bit);
                }
            }
        }
        assert_eq!(super::f16(0x7c01), 1);
        assert_eq!(super::f16(0x8001), 1 << 4);
        assert_eq!(super::f64(1), 1 << 7);
    }
}
