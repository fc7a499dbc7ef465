//! `isa-suite`: runs small assembled kernels on the engine, one per instruction and operand form,
//! and compares every register, mask and memory word they leave with independent arithmetic.
//!
//! What it is: the cases, the model that their values come from, and the runner that
//! `cargo xtask conformance --suite isa` calls. What it is not: a user of the engine's own
//! arithmetic; the engine is only asked to run.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to its user"
)]

mod arch;
mod assemble;
mod case;
mod edge;
mod family;
mod kernel;
mod model;
mod report;
mod run;
mod state;

use std::process::ExitCode;

use amdgpu_isa::Target;
use clap::Parser;

use crate::case::{Case, Cases};
use crate::report::Report;

/// Runs the cases and reports.
#[derive(Parser)]
struct Options {
    /// Targets to run on (all by default).
    #[arg(long = "gpu", value_name = "TARGET")]
    gpus: Vec<String>,
    /// Only cases whose family and name match this regular expression.
    #[arg(long, value_name = "RE", default_value = "")]
    filter: String,
    /// Name the cases and stop.
    #[arg(long)]
    list: bool,
    /// Write each case's result as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("isa-suite: {message}");
            ExitCode::FAILURE
        }
    }
}

/// True if every case passed.
fn run(options: &Options) -> Result<bool, String> {
    let filter = regex::Regex::new(&options.filter).map_err(|error| error.to_string())?;
    let mut report = Report::default();
    for target in targets(&options.gpus)? {
        let mut cases = Cases::new(target);
        family::all(&mut cases);
        let mut list = cases.list;
        list.retain(|case| filter.is_match(&format!("{}: {}", case.family, case.name)));
        if options.list {
            for case in &list {
                println!("{} {}: {}", target.name(), case.family, case.name);
            }
            continue;
        }
        let results = run_target(target, &list)?;
        report.add(target, &list, results);
    }
    if let Some(file) = &options.json {
        std::fs::write(file, report.json()?).map_err(|error| error.to_string())?;
    }
    Ok(report.failed == 0)
}

fn targets(names: &[String]) -> Result<Vec<Target>, String> {
    if names.is_empty() {
        return Ok(arch::TARGETS.to_vec());
    }
    let target = |name: &String| {
        let known = arch::TARGETS.iter().find(|target| target.name() == name);
        known
            .copied()
            .ok_or(format!("the suite has no cases for {name}"))
    };
    names.iter().map(target).collect()
}

/// The result of each case, in order.
fn run_target(target: Target, cases: &[Case]) -> Result<Vec<Result<(), String>>, String> {
    let mut codes: Vec<assemble::Code> = Vec::new();
    codes.resize(cases.len(), Err(String::new()));
    for lanes in [64, 32] {
        let chosen: Vec<_> = (0..cases.len())
            .filter(|i| cases[*i].lanes == lanes)
            .collect();
        let texts: Vec<_> = chosen.iter().map(|i| cases[*i].asm.as_str()).collect();
        if texts.is_empty() {
            continue;
        }
        for (i, code) in chosen
            .into_iter()
            .zip(assemble::all(target, lanes, &texts)?)
        {
            codes[i] = code;
        }
    }
    let (prologue, epilogue) = (kernel::prologue(target), kernel::epilogue(target));
    let around = assemble::all(target, 64, &[&prologue, &epilogue])?;
    let around = around.into_iter().collect::<Result<Vec<_>, _>>()?;
    let jobs: Vec<_> = cases.iter().zip(&codes).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = jobs.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = jobs
            .chunks(share)
            .map(|jobs| {
                let rig = run::Rig::new(target, around[0].clone(), around[1].clone());
                scope.spawn(move || {
                    jobs.iter()
                        .map(|(case, code)| one(&rig, case, code))
                        .collect()
                })
            })
            .collect();
        let mut results: Vec<Result<(), String>> = Vec::new();
        for worker in workers {
            let part: Vec<_> = worker.join().map_err(|_| "a case panicked")?;
            results.extend(part);
        }
        Ok(results)
    })
}

fn one(rig: &run::Rig, case: &Case, code: &assemble::Code) -> Result<(), String> {
    rig.run(case, code.as_ref().map_err(Clone::clone)?)
}
