//! Types and constants of the HSA headers, no functions
