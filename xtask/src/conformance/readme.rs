//! The table "what works today" in README.md, generated between two marks.

use std::collections::BTreeMap;

use super::execute::Verdict;
use super::report::Row;
use crate::{Result, shell};

const BEGIN: &str = "<!-- conformance:begin (cargo xtask conformance --readme) -->";
const END: &str = "<!-- conformance:end -->";

/// Rewrites the table.
///
/// # Errors
/// If README.md lacks the marks.
pub(crate) fn update(rows: &[Row]) -> Result {
    let path = shell::root().join("README.md");
    let text = std::fs::read_to_string(&path)?;
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        return Err(format!("README.md has no line {BEGIN:?}").into());
    };
    let new = format!("{}{BEGIN}\n{}{}", &text[..begin], table(rows), &text[end..]);
    Ok(std::fs::write(&path, new)?)
}

fn table(rows: &[Row]) -> String {
    let mut counts: BTreeMap<(&str, &str), [usize; 3]> = BTreeMap::new();
    for row in rows {
        let count = counts.entry((&row.suite, &row.gpu)).or_default();
        count[match row.verdict {
            Verdict::Passed => 0,
            Verdict::Failed => 1,
            Verdict::Skipped => 2,
        }] += 1;
    }
    let mut out = String::from(
        "| suite | GPU | passed | failed | skipped |\n| --- | --- | ---: | ---: | ---: |\n",
    );
    for ((suite, gpu), [passed, failed, skipped]) in counts {
        out.push_str(&format!(
            "| {suite} | {gpu} | {passed} | {failed} | {skipped} |\n"
        ));
    }
    out
}
