//! The families of instructions, each a table and the forms it is tried in.

mod salu;
mod valu;
mod vector_float;
mod vector_integer;

use crate::case::Cases;

/// Every case of a target.
pub(crate) fn all(cases: &mut Cases) {
    salu::add(cases);
    vector_integer::add(cases);
    vector_float::add(cases);
}
