//! The suite `isa`: kernels of one instruction each, run by `tests/isa` in its own process.

use serde::Deserialize;

use super::Options;
use super::execute::{Outcome, Verdict};
use super::expectation;
use super::report::Row;
use crate::{Result, shell};

/// What `--suite` names.
pub(crate) const NAME: &str = "isa";

#[derive(Deserialize)]
struct Record {
    gpu: String,
    family: String,
    case: String,
    passed: bool,
    reason: String,
}

/// Names the cases.
///
/// # Errors
/// If the program does not build or run.
pub(crate) fn list(options: &Options) -> Result {
    shell::run(program(options)?.arg("--list"))
}

/// Runs the cases; the program prints a line per family and the failures.
///
/// # Errors
/// If the program does not build or run.
pub(crate) fn run(options: &Options) -> Result<Vec<Row>> {
    let folder = super::compile::folder(NAME);
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("results.json");
    drop(std::fs::remove_file(&file));
    // A failure of a case is in the file; a failure of the program leaves none.
    let ended = shell::run(program(options)?.arg("--json").arg(&file));
    let Ok(text) = std::fs::read_to_string(&file) else {
        return Err(ended.err().unwrap_or("isa-suite left no results".into()));
    };
    let records: Vec<Record> = serde_json::from_str(&text)?;
    let expected = expectation::load(NAME)?;
    Ok(records.into_iter().map(|r| row(r, &expected)).collect())
}

fn row(record: Record, expected: &expectation::Expectations) -> Row {
    let case = format!("{}: {}", record.family, record.case);
    let verdict = if record.passed {
        Verdict::Passed
    } else {
        Verdict::Failed
    };
    let outcome = Outcome {
        verdict,
        reason: record.reason,
        seconds: 0.0,
    };
    let reason = expected.reason(&case, &record.gpu);
    Row::new(NAME, &record.gpu, &case, outcome, reason)
}

fn program(options: &Options) -> Result<std::process::Command> {
    shell::run(&mut shell::cargo([
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "isa-suite",
    ]))?;
    let mut command = std::process::Command::new(shell::target().join("release/isa-suite"));
    command.args(options.gpus.iter().flat_map(|gpu| ["--gpu", gpu]));
    if let Some(filter) = &options.filter {
        command.args(["--filter", filter]);
    }
    Ok(command)
}
