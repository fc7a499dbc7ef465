//! The families of instructions, each a table and the forms it is tried in.

mod atomics;
mod carry;
mod convert;
mod float_order;
mod float_unary;
mod lanes;
mod salu;
mod sdwa;
mod stops;
mod valu;
mod vector_compare;
mod vector_float;
mod vector_integer;

use crate::case::Cases;

/// Every case of a target.
pub(crate) fn all(cases: &mut Cases) {
    salu::add(cases);
    vector_integer::add(cases);
    vector_float::add(cases);
    float_order::add(cases);
    float_unary::add(cases);
    convert::add(cases);
    vector_compare::add(cases);
    carry::add(cases);
    sdwa::add(cases);
    lanes::add(cases);
    atomics::add(cases);
    stops::add(cases);
}
