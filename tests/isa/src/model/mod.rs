//! What the instructions must compute, from arithmetic that is not the engine's.

pub(crate) mod float;
