//! Floating point as the hardware does it.
//!
//! The native path of the vector operations uses the host's f32 and f64 in the default rounding
//! mode. Everything else (other rounding modes, f16, classes, conversions) is integer code here.

pub(crate) mod approximate;
pub(crate) mod class;
pub(crate) mod half;
pub(crate) mod integral;
pub(crate) mod soft;
