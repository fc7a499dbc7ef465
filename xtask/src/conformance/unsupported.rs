//! How many of the exported names still answer "not supported".

use crate::{Result, shell};

/// Prints the count and the names.
///
/// # Errors
/// If a list is not readable.
pub(crate) fn print() -> Result {
    let all = names("exports.txt")?;
    let left = names("unsupported.txt")?;
    println!(
        "{} of {} exported names answer \"not supported\":",
        left.len(),
        all.len()
    );
    for line in left.chunks(4) {
        println!("  {}", line.join(" "));
    }
    Ok(())
}

/// The names of a list of `hsa-api`: a line each, without comments.
fn names(file: &str) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(shell::root().join("crates/hsa-api").join(file))?;
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect())
}
