//! How many of the exported functions still answer "not supported yet".

use crate::Result;

/// Prints the count.
pub(crate) fn print() -> Result {
    Ok(())
}
