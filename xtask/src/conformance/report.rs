//! Results as a table, JSON, JUnit XML and HTML, and the progress bar while they come in.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::execute::{Outcome, Verdict};
use crate::Result;

/// One case on one GPU.
pub(crate) struct Row {
    pub(crate) suite: String,
    pub(crate) gpu: String,
    pub(crate) case: String,
    pub(crate) verdict: Verdict,
    reason: String,
    seconds: f64,
    /// Why a failure is expected here.
    expected: Option<String>,
}

impl Row {
    pub(crate) fn new(
        suite: &str,
        gpu: &str,
        case: &str,
        outcome: Outcome,
        expected: Option<&str>,
    ) -> Self {
        Self {
            suite: suite.into(),
            gpu: gpu.into(),
            case: case.into(),
            verdict: outcome.verdict,
            reason: outcome.reason,
            seconds: outcome.seconds,
            expected: expected.map(Into::into),
        }
    }

    /// A failure that nobody expects, or a pass that nobody expects.
    pub(crate) fn is_bad(&self) -> bool {
        match self.verdict {
            Verdict::Passed => self.expected.is_some(),
            Verdict::Failed => self.expected.is_none(),
            Verdict::Skipped => false,
        }
    }

    pub(crate) fn title(&self) -> String {
        format!(
            "{}/{} on {}: {}",
            self.suite,
            self.case,
            self.gpu,
            self.word()
        )
    }

    fn word(&self) -> String {
        match (self.verdict, &self.expected) {
            (Verdict::Passed, None) => "passed".into(),
            (Verdict::Passed, Some(_)) => "passed, but is listed as a known failure".into(),
            (Verdict::Failed, None) => format!("FAILED: {}", self.reason),
            (Verdict::Failed, Some(why)) => format!("failed as known ({why})"),
            (Verdict::Skipped, _) => format!("skipped: {}", self.reason),
        }
    }
}

/// The progress bar; silent when the output is not a terminal.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(title: &str, steps: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            println!("{title}: {steps} cases");
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(steps as u64).with_prefix(title.to_owned());
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg}");
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    pub(crate) fn step(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A line per case.
pub(crate) fn print(rows: &[Row]) {
    for row in rows {
        println!(
            "{:<6} {:<8} {:<22} {:>6.2} s  {}",
            row.suite,
            row.gpu,
            row.case,
            row.seconds,
            row.word()
        );
    }
}

#[derive(Serialize)]
struct Record<'a> {
    suite: &'a str,
    gpu: &'a str,
    case: &'a str,
    result: &'static str,
    reason: &'a str,
    expected_failure: Option<&'a str>,
    seconds: f64,
}

/// The rows as a JSON array.
///
/// # Errors
/// Never in practice; serialisation is total for these types.
pub(crate) fn json(rows: &[Row]) -> Result<String> {
    let records: Vec<_> = rows
        .iter()
        .map(|row| Record {
            suite: &row.suite,
            gpu: &row.gpu,
            case: &row.case,
            result: match row.verdict {
                Verdict::Passed => "passed",
                Verdict::Failed => "failed",
                Verdict::Skipped => "skipped",
            },
            reason: &row.reason,
            expected_failure: row.expected.as_deref(),
            seconds: row.seconds,
        })
        .collect();
    Ok(serde_json::to_string_pretty(&records)?)
}

/// The rows as JUnit XML.
pub(crate) fn junit(rows: &[Row]) -> String {
    let failures = rows.iter().filter(|r| r.is_bad()).count();
    let mut out = format!(
        "<?xml version=\"1.0\"?>\n<testsuites tests=\"{}\" failures=\"{failures}\">\n",
        rows.len()
    );
    for row in rows {
        let name = format!(
            "classname=\"{}.{}\" name=\"{}\" time=\"{:.3}\"",
            row.suite, row.gpu, row.case, row.seconds
        );
        let body = match row.verdict {
            Verdict::Skipped => format!("<skipped message=\"{}\"/>", escape(&row.reason)),
            _ if row.is_bad() => format!("<failure message=\"{}\"/>", escape(&row.word())),
            _ => String::new(),
        };
        out.push_str(&format!("<testcase {name}>{body}</testcase>\n"));
    }
    out + "</testsuites>\n"
}

/// The rows as a small HTML page.
pub(crate) fn html(rows: &[Row]) -> String {
    let mut out = String::from(
        "<!doctype html><meta charset=utf-8><title>Hansa conformance</title><table border=1>\n",
    );
    out.push_str("<tr><th>suite<th>GPU<th>case<th>seconds<th>result\n");
    for row in rows {
        let colour = if row.is_bad() { "#fbb" } else { "#bfb" };
        let cells = [
            &row.suite,
            &row.gpu,
            &row.case,
            &format!("{:.2}", row.seconds),
            &row.word(),
        ]
        .map(|c| escape(c));
        out.push_str(&format!(
            "<tr style=background:{colour}><td>{}\n",
            cells.join("<td>")
        ));
    }
    out + "</table>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
