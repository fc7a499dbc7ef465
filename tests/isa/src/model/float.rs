//! IEEE arithmetic with MODE's rounding, denormals and clamp, from `rustc_apfloat` (LLVM's APFloat).

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::case::Allowed;
use crate::state::mode;

/// A binary format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    F16,
    F32,
    F64,
}

impl Format {
    /// Bits of a value.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::F16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// Bits of the fraction field.
    pub(crate) const fn fraction(self) -> u32 {
        match self {
            Self::F16 => 10,
            Self::F32 => 23,
            Self::F64 => 52,
        }
    }

    /// The sign bit.
    pub(crate) const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Positive infinity.
    pub(crate) const fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction())
    }

    /// One.
    pub(crate) const fn one(self) -> u64 {
        self.infinity() >> (self.fraction() + 1) << self.fraction()
    }

    /// The bit that tells a quiet NaN from a signalling one.
    pub(crate) const fn quiet_bit(self) -> u64 {
        1 << (self.fraction() - 1)
    }

    /// The value without its sign.
    pub(crate) const fn magnitude(self, bits: u64) -> u64 {
        bits & (self.sign() - 1)
    }

    /// Any NaN.
    pub(crate) const fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }

    /// A quiet NaN.
    pub(crate) const fn is_quiet_nan(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet_bit() != 0
    }

    /// A signalling NaN.
    pub(crate) const fn is_signalling_nan(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet_bit() == 0
    }

    /// A non-zero number below the smallest normal one.
    pub(crate) const fn is_denormal(self, bits: u64) -> bool {
        let magnitude = self.magnitude(bits);
        magnitude != 0 && magnitude < 1 << self.fraction()
    }

    /// A denormal becomes zero of its sign.
    pub(crate) const fn flushed(self, bits: u64) -> u64 {
        if self.is_denormal(bits) {
            bits & self.sign()
        } else {
            bits
        }
    }

    /// The value, exactly; NaN stays NaN.
    pub(crate) fn to_f64(self, bits: u64) -> f64 {
        f64::from_bits(self.convert(bits, Self::F64, Round::NearestTiesToEven))
    }

    /// The nearest value of this format.
    pub(crate) fn nearest(self, value: f64) -> u64 {
        Self::F64.convert(value.to_bits(), self, Round::NearestTiesToEven)
    }

    /// Conversion between formats.
    pub(crate) fn convert(self, bits: u64, to: Self, round: Round) -> u64 {
        fn from<A>(bits: u64, to: Format, round: Round) -> u64
        where
            A: FloatConvert<Half> + FloatConvert<Single> + FloatConvert<Double>,
        {
            let value = A::from_bits(bits.into());
            let lost = &mut false;
            match to {
                Format::F16 => bits_of(FloatConvert::<Half>::convert_r(value, round, lost).value),
                Format::F32 => bits_of(FloatConvert::<Single>::convert_r(value, round, lost).value),
                Format::F64 => bits_of(FloatConvert::<Double>::convert_r(value, round, lost).value),
            }
        }
        match self {
            Self::F16 => from::<Half>(bits, to, round),
            Self::F32 => from::<Single>(bits, to, round),
            Self::F64 => from::<Double>(bits, to, round),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no format here is wider than 64 bits"
)]
fn bits_of<F: Float>(value: F) -> u64 {
    value.to_bits() as u64
}

/// Applies an operation of a format given by value.
macro_rules! with_format {
    ($format:expr, $f:ident => $body:expr) => {
        match $format {
            Format::F16 => {
                type $f = Half;
                $body
            }
            Format::F32 => {
                type $f = Single;
                $body
            }
            Format::F64 => {
                type $f = Double;
                $body
            }
        }
    };
}

/// An operation with one rounding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exact {
    Add,
    Sub,
    /// Second minus first.
    SubRev,
    Mul,
    Fma,
}

/// The correctly rounded result of an operation.
pub(crate) fn exact(format: Format, round: Round, op: Exact, [a, b, c]: [u64; 3]) -> u64 {
    with_format!(format, F => {
        let [a, b, c] = [a, b, c].map(|bits| F::from_bits(bits.into()));
        bits_of(match op {
            Exact::Add => a.add_r(b, round).value,
            Exact::Sub => a.sub_r(b, round).value,
            Exact::SubRev => b.sub_r(a, round).value,
            Exact::Mul => a.mul_r(b, round).value,
            Exact::Fma => a.mul_add_r(b, c, round).value,
        })
    })
}

/// Rounded to an integral value of the format.
pub(crate) fn integral(format: Format, round: Round, bits: u64) -> u64 {
    with_format!(format, F => bits_of(F::from_bits(bits.into()).round_to_integral(round).value))
}

/// The value times a power of two.
pub(crate) fn scaled(format: Format, round: Round, bits: u64, power: i32) -> u64 {
    with_format!(format, F => bits_of(F::from_bits(bits.into()).scalbn_r(power, round)))
}

/// An integer in the format.
pub(crate) fn from_integer(format: Format, round: Round, value: i128) -> u64 {
    with_format!(format, F => bits_of(F::from_i128_r(value, round).value))
}

/// The part of MODE that a format's operations see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Rounding.
    pub(crate) round: Round,
    /// Denormal sources keep their value.
    pub(crate) keeps_sources: bool,
    /// Denormal results keep their value.
    pub(crate) keeps_results: bool,
    /// Clamp turns NaN into zero.
    pub(crate) dx10_clamp: bool,
    /// IEEE mode.
    pub(crate) ieee: bool,
}

impl Mode {
    /// Fields of the register for a format: f16 shares those of f64.
    pub(crate) fn of(register: u32, format: Format) -> Self {
        let shift = if format == Format::F32 { 0 } else { 2 };
        let rounds = [
            Round::NearestTiesToEven,
            Round::TowardPositive,
            Round::TowardNegative,
            Round::TowardZero,
        ];
        let denormals = register >> (4 + shift);
        Self {
            round: rounds[(register >> shift & 3) as usize],
            keeps_sources: denormals & 1 != 0,
            keeps_results: denormals & 2 != 0,
            dx10_clamp: register & mode::DX10_CLAMP != 0,
            ieee: register & mode::IEEE != 0,
        }
    }

    /// A source as the operation sees it.
    pub(crate) fn source(self, format: Format, bits: u64) -> u64 {
        if self.keeps_sources {
            bits
        } else {
            format.flushed(bits)
        }
    }

    /// A result as it is stored.
    pub(crate) fn result(self, format: Format, bits: u64) -> u64 {
        if self.keeps_results {
            bits
        } else {
            format.flushed(bits)
        }
    }
}

/// A result, and what else is allowed instead of it.
pub(crate) type Value = (u64, Option<Allowed>);

/// An operation on sources under a mode.
///
/// A NaN source is returned quieted (IEEE 754-2008, 6.2.3); which one of several, and the sign and
/// payload of the NaN of an invalid operation, no manual says.
pub(crate) fn under_mode(
    format: Format,
    mode: Mode,
    count: usize,
    sources: [u64; 3],
    op: impl FnOnce([u64; 3]) -> u64,
) -> Value {
    let sources = sources.map(|bits| mode.source(format, bits));
    if let Some(nan) = nan_result(format, &sources[..count]) {
        return nan;
    }
    let bits = op(sources);
    if format.is_nan(bits) {
        return (bits, Some(Allowed::QuietNan));
    }
    (mode.result(format, bits), None)
}

/// The result of an operation with NaN sources, if it has any.
pub(crate) fn nan_result(format: Format, sources: &[u64]) -> Option<Value> {
    let mut nans = sources.iter().filter(|bits| format.is_nan(**bits));
    let first = nans.next()? | format.quiet_bit();
    let allowed = nans.next().map(|_| Allowed::QuietNan);
    Some((first, allowed))
}

/// CLAMP of a float result: to 0..=1; NaN becomes zero in DX10 mode, -0 becomes +0.
pub(crate) fn clamped(format: Format, mode: Mode, (bits, allowed): Value) -> Value {
    if format.is_nan(bits) {
        return if mode.dx10_clamp {
            (0, None)
        } else {
            (bits, allowed)
        };
    }
    let value = format.to_f64(bits);
    if value <= 0.0 {
        (0, None)
    } else if value >= 1.0 {
        (format.one(), None)
    } else {
        (bits, None)
    }
}
