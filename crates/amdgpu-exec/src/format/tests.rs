//! Expected values are the formats' definitions, written out.

use amdgpu_isa::Target;

use super::{Format, Number, Select};

fn buffer(target: Target, code: u32) -> Format {
    Format::of_buffer(target, code).unwrap_or_else(|| panic!("format {code}"))
}

fn floats(values: [f32; 4]) -> [u32; 4] {
    values.map(f32::to_bits)
}

/// dfmt, nfmt of gfx9; number of gfx10; number of gfx11 (RDNA3 manual).
const SAME: &[(u32, u32, u32, u32)] = &[
    (1, 0, 1, 1),
    (2, 7, 13, 13),
    (3, 5, 19, 19),
    (4, 7, 22, 22),
    (5, 4, 27, 27),
    (6, 7, 36, 30),
    (7, 7, 43, 31),
    (8, 4, 48, 34),
    (9, 0, 50, 36),
    (10, 5, 61, 47),
    (11, 7, 64, 50),
    (12, 7, 71, 57),
    (13, 5, 73, 59),
    (14, 7, 77, 63),
];

#[test]
fn generations_number_the_same_formats() {
    for &(data, number, gfx10, gfx11) in SAME {
        let expected = buffer(Target::Gfx906, data | number << 4);
        assert_eq!(buffer(Target::Gfx1030, gfx10), expected);
        assert_eq!(buffer(Target::Gfx1100, gfx11), expected);
        assert_eq!(buffer(Target::Gfx1201, gfx11), expected);
        let image = Format::of_image(Target::Gfx906, data | number << 6);
        assert_eq!(image, Some(expected));
    }
    for target in Target::ALL {
        assert_eq!(Format::of_buffer(*target, 0), None);
    }
    assert_eq!(Format::of_buffer(Target::Gfx1030, 78), None);
    assert_eq!(Format::of_buffer(Target::Gfx1100, 64), None);
}

#[test]
fn image_formats_beyond_buffers() {
    let pairs = [(130, 66), (133, 68), (134, 69), (135, 70), (136, 71)];
    for (gfx10, gfx11) in pairs {
        let format = Format::of_image(Target::Gfx1030, gfx10);
        assert!(format.is_some(), "{gfx10}");
        assert_eq!(format, Format::of_image(Target::Gfx1100, gfx11));
    }
    for refused in [131, 132, 137, 200] {
        assert_eq!(Format::of_image(Target::Gfx1030, refused), None);
    }
    assert_eq!(Format::of_image(Target::Gfx1100, 67), None);
}

#[test]
fn normalised_channels() {
    let unorm8 = buffer(Target::Gfx1030, 56);
    assert_eq!(
        unorm8.unpack([0xff80_3300, 0, 0, 0]),
        floats([0.0, 0.2, 128.0 / 255.0, 1.0])
    );
    // 0.5 * 255 = 127.5 is a tie that goes to the even 128.
    assert_eq!(
        unorm8.pack(floats([0.5, -1.0, 2.0, f32::NAN])),
        [0x00ff_0080, 0, 0, 0]
    );
    let snorm8 = buffer(Target::Gfx1030, 57);
    assert_eq!(
        snorm8.unpack([0x7f81_8000, 0, 0, 0]),
        floats([0.0, -1.0, -1.0, 1.0])
    );
    assert_eq!(
        snorm8.pack(floats([-2.0, 1.0, -0.5, 0.0])),
        // -63.5 rounds to -64.
        [0x00c0_7f81, 0, 0, 0]
    );
}

#[test]
fn integers_extend_and_saturate() {
    let uint16 = buffer(Target::Gfx1030, 27);
    assert_eq!(uint16.unpack([0x8001_0002, 9, 9, 9]), [2, 0x8001, 0, 1]);
    assert_eq!(uint16.pack([0x1_0000, 7, 1, 1]), [0x0007_ffff, 0, 0, 0]);
    let sint8 = buffer(Target::Gfx1030, 6);
    assert_eq!(sint8.unpack([0x80, 0, 0, 0]), [0xffff_ff80, 0, 0, 1]);
    assert_eq!(
        sint8.pack([(-129i32).cast_unsigned(), 0, 0, 0]),
        [0x80, 0, 0, 0]
    );
    assert_eq!(sint8.pack([128, 0, 0, 0]), [0x7f, 0, 0, 0]);
}

#[test]
fn scaled_channels() {
    let uscaled = buffer(Target::Gfx1030, 3);
    assert_eq!(uscaled.unpack([200, 0, 0, 0])[0], 200f32.to_bits());
    assert_eq!(uscaled.pack(floats([300.0, 0.0, 0.0, 0.0]))[0], 255);
    let sscaled = buffer(Target::Gfx1030, 4);
    assert_eq!(sscaled.unpack([0x80, 0, 0, 0])[0], (-128f32).to_bits());
    assert_eq!(sscaled.pack(floats([-300.0, 0.0, 0.0, 0.0]))[0], 0x80);
}

#[test]
fn ten_ten_ten_two_has_x_lowest() {
    let format = buffer(Target::Gfx1030, 54);
    assert_eq!(
        format.unpack([3 << 30 | 5 << 20 | 7 << 10 | 9, 0, 0, 0]),
        [9, 7, 5, 3]
    );
    let reversed = buffer(Target::Gfx1030, 48);
    assert_eq!(
        reversed.pack([1, 2, 3, 4]),
        [4 << 22 | 3 << 12 | 2 << 2 | 1, 0, 0, 0]
    );
}

#[test]
fn small_floats() {
    let format = buffer(Target::Gfx1030, 36);
    // One is exponent 15: 15 << 6 in 11 bits, 15 << 5 in 10 bits.
    let ones = 15 << 27 | 15 << 17 | 15 << 6;
    assert_eq!(format.unpack([ones, 0, 0, 0]), floats([1.0; 4]));
    assert_eq!(format.pack(floats([1.0; 4])), [ones, 0, 0, 0]);
    // The least denormals, 2^-20 and 2^-19, and half of them: a tie that goes to zero.
    let least = floats([2f32.powi(-20), 2f32.powi(-21), 2f32.powi(-19), 0.0]);
    assert_eq!(format.pack(least), [1 << 22 | 1, 0, 0, 0]);
    assert_eq!(
        format.unpack([1 << 22 | 1, 0, 0, 0]),
        floats([2f32.powi(-20), 0.0, 2f32.powi(-19), 1.0])
    );
    let extremes = floats([-1.0, f32::INFINITY, f32::NAN, 0.0]);
    assert_eq!(
        format.pack(extremes),
        [(31 << 5 | 1 << 4) << 22 | (31 << 6) << 11, 0, 0, 0]
    );
    // 65535 is above the middle between the greatest number and infinity.
    assert_eq!(format.pack(floats([65535.0, 0.0, 0.0, 0.0]))[0], 31 << 6);
    // Rounds up into the next binade: 1.9999 is 2.
    assert_eq!(format.pack(floats([1.9999, 0.0, 0.0, 0.0]))[0], 16 << 6);
}

#[test]
fn wide_formats_keep_their_bits() {
    let format = buffer(Target::Gfx1030, 77);
    let value = [0x7fc0_1234, 1, 0x8000_0000, 0xffff_ffff];
    assert_eq!(format.unpack(value), value);
    assert_eq!(format.pack(value), value);
    assert_eq!((format.bytes(), format.channels()), (16, 4));
    assert_eq!(format.channel_bytes(), Some(4));
    assert_eq!(buffer(Target::Gfx1030, 36).channel_bytes(), None);
}

#[test]
fn srgb_has_linear_alpha() {
    let format = Format::of_image(Target::Gfx1030, 130).unwrap_or_else(|| panic!("sRGB"));
    assert_eq!(format.number, Number::Srgb);
    let [r, g, b, a] = format.unpack([0x80bc_01ff, 0, 0, 0]).map(f32::from_bits);
    assert!((r - 1.0).abs() < 1e-7);
    assert!((g - 1.0 / (255.0 * 12.92)).abs() < 1e-9);
    // ((188/255 + 0.055) / 1.055) ^ 2.4
    assert!((b - 0.502_886_5).abs() < 1e-6);
    assert!((a - 128.0 / 255.0).abs() < 1e-7);
    for byte in 0..256 {
        let raw = [byte | byte << 24, 0, 0, 0];
        assert_eq!(format.pack(format.unpack(raw)), raw);
    }
}

#[test]
fn selectors_move_channels() {
    let format = buffer(Target::Gfx1030, 60);
    // Z, Y, X, 1: blue first in memory, no alpha.
    let select = Select::from_word(6 | 5 << 3 | 4 << 6 | 1 << 9);
    assert_eq!(select.load(format, [10, 20, 30, 40]), [30, 20, 10, 1]);
    assert_eq!(select.store([10, 20, 30, 40]), [30, 20, 10, 0]);
    // X, X, X, 0: a store takes the first component.
    let grey = Select::from_word(4 | 4 << 3 | 4 << 6);
    assert_eq!(grey.load(format, [7, 8, 9, 10]), [7, 7, 7, 0]);
    assert_eq!(grey.store([1, 2, 3, 4]), [1, 0, 0, 0]);
}

#[test]
fn half_registers() {
    let float = buffer(Target::Gfx1030, 22);
    assert_eq!(float.to_half(1.5f32.to_bits()), 0x3e00);
    assert_eq!(float.widen_half(0x3e00), 1.5f32.to_bits());
    let sint = buffer(Target::Gfx1030, 21);
    assert_eq!(sint.to_half(0xffff_fffe), 0xfffe);
    assert_eq!(sint.widen_half(0xfffe), 0xffff_fffe);
}
