//! Exact binary floating point in integers, for any rounding mode and f16, f32 and f64 alike.
//!
//! Denormals are always kept; flushing is done on operands and results by the callers. Results that
//! are NaN carry the first NaN operand, quieted; a NaN made from numbers is positive and quiet.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "fields of at most 64 bits and exponents far below i32's range"
)]

use std::cmp::Ordering;

/// Rounding direction, numbered as MODE does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    /// To nearest, ties to even.
    Even,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Rounding {
    /// From a two-bit MODE field.
    #[inline]
    pub(crate) fn from_field(bits: u32) -> Self {
        [Self::Even, Self::Up, Self::Down, Self::Zero][(bits & 3) as usize]
    }
}

/// A binary interchange format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    /// Fraction bits.
    pub(crate) fraction: u32,
    /// Exponent bits.
    pub(crate) exponent: u32,
}

/// IEEE half precision.
pub(crate) const F16: Format = Format {
    fraction: 10,
    exponent: 5,
};
/// IEEE single precision.
pub(crate) const F32: Format = Format {
    fraction: 23,
    exponent: 8,
};
/// IEEE double precision.
pub(crate) const F64: Format = Format {
    fraction: 52,
    exponent: 11,
};

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }
    fn sign_bit(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }
    fn max_exponent(self) -> u64 {
        (1 << self.exponent) - 1
    }
    /// Bits of +infinity.
    pub(crate) fn infinity(self) -> u64 {
        self.max_exponent() << self.fraction
    }
    fn quiet_bit(self) -> u64 {
        1 << (self.fraction - 1)
    }
    /// Bits of the NaN that operations on numbers yield.
    pub(crate) fn default_nan(self) -> u64 {
        self.infinity() | self.quiet_bit()
    }
    /// The value is a NaN.
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign_bit() > self.infinity()
    }
    /// The first NaN operand, quieted.
    fn nan_of(self, operands: &[u64]) -> Option<u64> {
        let nan = operands.iter().find(|bits| self.is_nan(**bits))?;
        Some(nan | self.quiet_bit())
    }
    fn with_sign(self, negative: bool, magnitude: u64) -> u64 {
        if negative {
            magnitude | self.sign_bit()
        } else {
            magnitude
        }
    }
}

/// A finite value: `significand * 2^exponent`, and a bit of dust if inexact.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    exponent: i32,
    significand: u128,
    /// The exact magnitude is larger than told, by less than one unit of the significand.
    sticky: bool,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Finite(Number),
    Infinity(bool),
}

/// Splits bits that are no NaN.
fn unpack(format: Format, bits: u64) -> Value {
    let negative = bits & format.sign_bit() != 0;
    let exponent = bits >> format.fraction & format.max_exponent();
    let fraction = bits & ((1 << format.fraction) - 1);
    if exponent == format.max_exponent() {
        return Value::Infinity(negative);
    }
    let hidden = u64::from(exponent != 0) << format.fraction;
    Value::Finite(Number {
        negative,
        exponent: (exponent.max(1)) as i32 - format.bias() - format.fraction as i32,
        significand: u128::from(fraction | hidden),
        sticky: false,
    })
}

/// True if the magnitude must be rounded away from zero. `rest` compares the dropped part with half
/// a unit; `exact` says nothing was dropped.
fn round_up(rounding: Rounding, negative: bool, odd: bool, rest: Ordering, exact: bool) -> bool {
    match rounding {
        Rounding::Even => rest == Ordering::Greater || rest == Ordering::Equal && odd,
        Rounding::Up => !exact && !negative,
        Rounding::Down => !exact && negative,
        Rounding::Zero => false,
    }
}

/// `number` divided by `2^shift`, rounded to an integer.
fn shift_round(number: Number, shift: i32, rounding: Rounding) -> u128 {
    if shift <= 0 {
        return number.significand << -shift;
    }
    let shift = shift as u32;
    let (kept, rest, exact) = if shift > 127 {
        let exact = number.significand == 0 && !number.sticky;
        (0, Ordering::Less, exact)
    } else {
        let kept = number.significand >> shift;
        let dropped = number.significand & ((1 << shift) - 1);
        let rest = match dropped.cmp(&(1 << (shift - 1))) {
            Ordering::Equal if number.sticky => Ordering::Greater,
            other => other,
        };
        (kept, rest, dropped == 0 && !number.sticky)
    };
    kept + u128::from(round_up(
        rounding,
        number.negative,
        kept & 1 == 1,
        rest,
        exact,
    ))
}

/// Rounds a number to a format. A sticky number must have more significant bits than the format.
fn pack(format: Format, rounding: Rounding, number: Number) -> u64 {
    if number.significand == 0 && !number.sticky {
        return format.with_sign(number.negative, 0);
    }
    let top = 127 - number.significand.leading_zeros() as i32 + number.exponent;
    let smallest = 1 - format.bias();
    let unit = top.max(smallest) - format.fraction as i32;
    let kept = shift_round(number, unit - number.exponent, rounding) as u64;
    let biased = unit + format.fraction as i32 + format.bias();
    if biased >= format.max_exponent() as i32 {
        return overflow(format, rounding, number.negative);
    }
    // The hidden bit of `kept` adds one to the exponent field, a carry out of it one more.
    let magnitude = ((biased as u64 - 1) << format.fraction) + kept;
    if magnitude >= format.infinity() {
        return overflow(format, rounding, number.negative);
    }
    format.with_sign(number.negative, magnitude)
}

fn overflow(format: Format, rounding: Rounding, negative: bool) -> u64 {
    let to_infinity = match rounding {
        Rounding::Even => true,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::Zero => false,
    };
    format.with_sign(negative, format.infinity() - u64::from(!to_infinity))
}

/// Moves the top bit to 124, so that a sum cannot overflow.
fn normalise(number: Number) -> Number {
    let shift = number.significand.leading_zeros() as i32 - 3;
    Number {
        significand: number.significand << shift,
        exponent: number.exponent - shift,
        ..number
    }
}

/// Exact sum but for dust below bit 0.
fn sum(a: Number, b: Number, rounding: Rounding) -> Number {
    if a.significand == 0 && b.significand == 0 {
        let negative = if a.negative == b.negative {
            a.negative
        } else {
            rounding == Rounding::Down
        };
        return Number { negative, ..a };
    }
    if a.significand == 0 {
        return b;
    }
    if b.significand == 0 {
        return a;
    }
    let (a, b) = (normalise(a), normalise(b));
    let a_larger = (a.exponent, a.significand) >= (b.exponent, b.significand);
    let (large, small) = if a_larger { (a, b) } else { (b, a) };
    let distance = (large.exponent - small.exponent) as u32;
    let (aligned, sticky) = if distance > 127 {
        (0, true)
    } else {
        let aligned = small.significand >> distance;
        (aligned, aligned << distance != small.significand)
    };
    if large.negative == small.negative {
        return Number {
            significand: large.significand + aligned,
            sticky,
            ..large
        };
    }
    let difference = large.significand - aligned - u128::from(sticky);
    if difference == 0 && !sticky {
        let negative = rounding == Rounding::Down;
        return Number {
            negative,
            significand: 0,
            ..large
        };
    }
    Number {
        significand: difference,
        sticky,
        ..large
    }
}

/// `a * b + c` with one rounding.
pub(crate) fn fma(format: Format, rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
    fma_scaled(format, rounding, [a, b, c], 0)
}

/// `(a * b + c) * 2^power` with one rounding.
pub(crate) fn fma_scaled(
    format: Format,
    rounding: Rounding,
    [a, b, c]: [u64; 3],
    power: i32,
) -> u64 {
    if let Some(nan) = format.nan_of(&[a, b, c]) {
        return nan;
    }
    match (product(format, a, b), unpack(format, c)) {
        (None, _) => format.default_nan(),
        (Some(Value::Infinity(x)), Value::Infinity(y)) if x != y => format.default_nan(),
        (Some(Value::Infinity(negative)), _) | (_, Value::Infinity(negative)) => {
            format.with_sign(negative, format.infinity())
        }
        (Some(Value::Finite(x)), Value::Finite(y)) => {
            let exact = sum(x, y, rounding);
            let exponent = exact.exponent + power;
            pack(format, rounding, Number { exponent, ..exact })
        }
    }
}

/// Exact product; `None` for zero times infinity.
fn product(format: Format, a: u64, b: u64) -> Option<Value> {
    Some(match (unpack(format, a), unpack(format, b)) {
        (Value::Finite(x), Value::Finite(y)) => Value::Finite(Number {
            negative: x.negative != y.negative,
            exponent: x.exponent + y.exponent,
            significand: x.significand * y.significand,
            sticky: false,
        }),
        (Value::Infinity(x), Value::Infinity(y)) => Value::Infinity(x != y),
        (Value::Infinity(x), Value::Finite(y)) | (Value::Finite(y), Value::Infinity(x)) => {
            if y.significand == 0 {
                return None;
            }
            Value::Infinity(x != y.negative)
        }
    })
}

/// `a + b`.
pub(crate) fn add(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    if let Some(nan) = format.nan_of(&[a, b]) {
        return nan;
    }
    match (unpack(format, a), unpack(format, b)) {
        (Value::Infinity(x), Value::Infinity(y)) if x != y => format.default_nan(),
        (Value::Infinity(negative), _) | (_, Value::Infinity(negative)) => {
            format.with_sign(negative, format.infinity())
        }
        (Value::Finite(x), Value::Finite(y)) => pack(format, rounding, sum(x, y, rounding)),
    }
}

/// `a * b`.
pub(crate) fn mul(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    if let Some(nan) = format.nan_of(&[a, b]) {
        return nan;
    }
    match product(format, a, b) {
        None => format.default_nan(),
        Some(Value::Infinity(negative)) => format.with_sign(negative, format.infinity()),
        Some(Value::Finite(number)) => pack(format, rounding, number),
    }
}

/// A value of one format in another.
pub(crate) fn convert(from: Format, to: Format, rounding: Rounding, bits: u64) -> u64 {
    let negative = bits & from.sign_bit() != 0;
    if from.is_nan(bits) {
        let payload = bits & ((1 << from.fraction) - 1);
        let moved = if to.fraction >= from.fraction {
            payload << (to.fraction - from.fraction)
        } else {
            payload >> (from.fraction - to.fraction)
        };
        return to.with_sign(negative, to.default_nan() | moved);
    }
    match unpack(from, bits) {
        Value::Infinity(negative) => to.with_sign(negative, to.infinity()),
        Value::Finite(number) => pack(to, rounding, number),
    }
}

/// An integer in a format.
pub(crate) fn from_int(format: Format, rounding: Rounding, value: i64) -> u64 {
    let number = Number {
        negative: value < 0,
        exponent: 0,
        significand: u128::from(value.unsigned_abs()),
        sticky: false,
    };
    pack(format, rounding, number)
}

/// `bits * 2^power`, rounded once.
pub(crate) fn scale(format: Format, rounding: Rounding, bits: u64, power: i32) -> u64 {
    if let Some(nan) = format.nan_of(&[bits]) {
        return nan;
    }
    match unpack(format, bits) {
        Value::Infinity(_) => bits,
        Value::Finite(number) => {
            let exponent = number.exponent + power.clamp(-5000, 5000);
            pack(format, rounding, Number { exponent, ..number })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_apfloat::ieee::{Double, Half, Single};
    use rustc_apfloat::{Float, FloatConvert, Round};

    const ROUNDINGS: [(Rounding, Round); 4] = [
        (Rounding::Even, Round::NearestTiesToEven),
        (Rounding::Up, Round::TowardPositive),
        (Rounding::Down, Round::TowardNegative),
        (Rounding::Zero, Round::TowardZero),
    ];

    /// NaNs compare by class; their payload rule is tested on its own.
    fn same(format: Format, ours: u64, theirs: u128) -> bool {
        ours == theirs as u64 || format.is_nan(ours) && format.is_nan(theirs as u64)
    }

    /// Random bits, often near the ends of the exponent range or near each other.
    struct Generator(u64);

    impl Generator {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }
        fn float(&mut self, format: Format) -> u64 {
            let width = format.fraction + format.exponent + 1;
            let random = self.next() >> (64 - width);
            let exponent_mask = format.max_exponent() << format.fraction;
            let exponent = match self.next() % 8 {
                0 => 0,
                1 => format.max_exponent(),
                2 => 1,
                3 => format.max_exponent() - 1,
                4 | 5 => format.bias() as u64 + self.next() % 4 - 2,
                _ => return random,
            };
            let fraction = match self.next() % 4 {
                0 => 0,
                1 => (1 << format.fraction) - 1,
                _ => random,
            };
            random & format.sign_bit()
                | exponent << format.fraction
                | fraction & !exponent_mask & (format.sign_bit() - 1)
        }
    }

    fn check<F: Float>(format: Format, count: u32) {
        let mut generator = Generator(0x9e37_79b9_7f4a_7c15);
        for _ in 0..count {
            let [a, b, c] = [0; 3].map(|_: u8| generator.float(format));
            let [fa, fb, fc] = [a, b, c].map(|bits| F::from_bits(u128::from(bits)));
            for (ours, theirs) in ROUNDINGS {
                let sum = fa.add_r(fb, theirs).value.to_bits();
                assert!(
                    same(format, add(format, ours, a, b), sum),
                    "{a:x}+{b:x} {ours:?}"
                );
                let times = fa.mul_r(fb, theirs).value.to_bits();
                assert!(
                    same(format, mul(format, ours, a, b), times),
                    "{a:x}*{b:x} {ours:?}"
                );
                let fused = fa.mul_add_r(fb, fc, theirs).value.to_bits();
                assert!(
                    same(format, fma(format, ours, a, b, c), fused),
                    "{a:x}*{b:x}+{c:x} {ours:?} {:x} {fused:x}",
                    fma(format, ours, a, b, c)
                );
                let power = (generator.next() % 300) as i32 - 150;
                let scaled = fa.scalbn_r(power, theirs).to_bits();
                assert!(
                    same(format, scale(format, ours, a, power), scaled),
                    "{a:x}<<{power}"
                );
            }
        }
    }

    #[test]
    fn half_arithmetic_matches_apfloat() {
        check::<Half>(F16, 40_000);
    }

    #[test]
    fn single_arithmetic_matches_apfloat() {
        check::<Single>(F32, 40_000);
    }

    #[test]
    fn double_arithmetic_matches_apfloat() {
        check::<Double>(F64, 40_000);
    }

    #[test]
    fn conversions_match_apfloat() {
        let mut generator = Generator(7);
        for _ in 0..40_000 {
            let (s, d) = (generator.float(F32), generator.float(F64));
            for (ours, theirs) in ROUNDINGS {
                let single = Single::from_bits(u128::from(s));
                let double = Double::from_bits(u128::from(d));
                let half: Half = single.convert_r(theirs, &mut false).value;
                assert!(same(F16, convert(F32, F16, ours, s), half.to_bits()));
                let narrow: Single = double.convert_r(theirs, &mut false).value;
                assert!(same(F32, convert(F64, F32, ours, d), narrow.to_bits()));
                let integer = Single::from_i128_r(i128::from(d.cast_signed()), theirs).value;
                assert!(same(
                    F32,
                    from_int(F32, ours, d.cast_signed()),
                    integer.to_bits()
                ));
            }
        }
    }

    #[test]
    fn first_nan_operand_is_returned_quiet() {
        let signalling = 0x7f80_0123;
        assert_eq!(add(F32, Rounding::Even, 0, signalling), 0x7fc0_0123);
        assert_eq!(
            fma(F32, Rounding::Even, 0xffc0_0001, signalling, 0),
            0xffc0_0001
        );
        assert_eq!(mul(F32, Rounding::Even, 0, 0x7f80_0000), 0x7fc0_0000);
    }
}
