//! `cargo xtask conformance`: runs suites of real programs and says what passed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::{Result, build, packages};

mod compile;
mod execute;
mod expectation;
mod isa;
mod readme;
mod report;
mod suite;
mod unsupported;

use execute::Verdict;
use report::Row;
use suite::Suite;

/// What `cargo xtask conformance` takes.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Suites to run (all by default).
    #[arg(long = "suite", value_name = "NAME")]
    suites: Vec<String>,
    /// GPU profiles to run on (a suite's own list by default).
    #[arg(long = "gpu", value_name = "PROFILE")]
    gpus: Vec<String>,
    /// Only cases whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    filter: Option<String>,
    /// Name the cases and stop.
    #[arg(long)]
    list: bool,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as an HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Rewrite the table of what works in README.md.
    #[arg(long)]
    readme: bool,
}

/// Runs what the options choose.
///
/// # Errors
/// If anything fails beyond the written expectations, or passes against them.
pub(crate) fn run(options: &Options) -> Result {
    let suites = suite::load(&options.suites)?;
    let filter = regex::Regex::new(options.filter.as_deref().unwrap_or(""))?;
    if options.list {
        return list(&suites, options, &filter);
    }
    let mut rows = Vec::new();
    if !suites.is_empty() {
        packages::ensure(&[packages::HIP])?;
        let hsa = build::hsa_command()?;
        for suite in &suites {
            rows.extend(run_suite(suite, &hsa, options, &filter)?);
        }
        report::print(&rows);
        unsupported::print()?;
    }
    if wants(options, isa::NAME) {
        rows.extend(isa::run(options)?);
    }
    write_files(options, &rows)?;
    finish(&rows)
}

/// The part of the suites that the gate runs: all of them, as long as they take minutes.
pub(crate) fn run_gate() -> Result {
    run(&Options::default())
}

/// True if the options choose a suite that is no list of programs.
fn wants(options: &Options, name: &str) -> bool {
    options.suites.is_empty() || options.suites.iter().any(|suite| suite == name)
}

fn list(suites: &[Suite], options: &Options, filter: &regex::Regex) -> Result {
    if wants(options, isa::NAME) {
        isa::list(options)?;
    }
    for suite in suites {
        for case in suite
            .cases
            .iter()
            .filter(|case| filter.is_match(&case.name))
        {
            println!("{}/{}", suite.name, case.name);
        }
    }
    Ok(())
}

fn run_suite(
    suite: &Suite,
    hsa: &std::path::Path,
    options: &Options,
    filter: &regex::Regex,
) -> Result<Vec<Row>> {
    let cases: Vec<_> = suite
        .cases
        .iter()
        .filter(|case| filter.is_match(&case.name))
        .collect();
    let gpus = if options.gpus.is_empty() {
        &suite.gpus
    } else {
        &options.gpus
    };
    let expected = expectation::load(&suite.name)?;
    let programs = compile::all(suite, &cases)?;
    let mut rows = Vec::new();
    for gpu in gpus {
        let progress = report::Progress::new(&format!("{} on {gpu}", suite.name), cases.len());
        let place = execute::Place {
            hsa,
            gpu,
            folder: &compile::folder(&suite.name),
        };
        let here: Vec<_> = cases
            .iter()
            .filter(|case| case.is_for(gpu))
            .copied()
            .collect();
        let verdicts = execute::all(&place, &here, &programs, &progress);
        for (case, result) in here.iter().zip(verdicts) {
            let reason = expected.reason(&case.name, gpu);
            rows.push(Row::new(&suite.name, gpu, &case.name, result, reason));
        }
    }
    Ok(rows)
}

fn write_files(options: &Options, rows: &[Row]) -> Result {
    if let Some(file) = &options.json {
        std::fs::write(file, report::json(rows)?)?;
    }
    if let Some(file) = &options.junit {
        std::fs::write(file, report::junit(rows))?;
    }
    if let Some(file) = &options.html {
        std::fs::write(file, report::html(rows))?;
    }
    if options.readme {
        readme::update(rows)?;
    }
    Ok(())
}

/// The last line, and the exit code that goes with it.
fn finish(rows: &[Row]) -> Result {
    let count = |wanted: Verdict| rows.iter().filter(|row| row.verdict == wanted).count();
    let bad: BTreeSet<_> = rows
        .iter()
        .filter(|row| row.is_bad())
        .map(Row::title)
        .collect();
    let (passed, failed, skipped) = (
        count(Verdict::Passed),
        count(Verdict::Failed),
        count(Verdict::Skipped),
    );
    for title in &bad {
        println!("not as expected: {title}");
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if rows.is_empty() {
        return Err("no case matches".into());
    }
    if bad.is_empty() {
        Ok(())
    } else {
        Err(format!("{} results are not as expected", bad.len()).into())
    }
}
