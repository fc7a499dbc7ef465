//! `cargo xtask test`: the gate, the same on a desk and in CI.

use std::process::Command;
use std::time::Instant;

use crate::{Result, conformance, dependencies, packages, shell};

/// What the gate takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leave out the conformance subset.
    #[arg(long)]
    no_conformance: bool,
}

/// Runs every check, cheapest first; stops at the first that fails.
///
/// # Errors
/// Names the check that failed.
pub(crate) fn run(options: &Options) -> Result {
    step("packages", || {
        packages::ensure(&[packages::HIP, packages::TESTS])
    })?;
    step("dependency direction", dependencies::check)?;
    step("format", || cargo(&["fmt", "--all", "--check"]))?;
    step("clippy", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    step("documentation", documentation)?;
    step("build", || crate::build::hsa_command().map(drop))?;
    step("tests", tests)?;
    if !options.no_conformance {
        step("conformance", conformance::run_gate)?;
    }
    Ok(())
}

fn step(name: &str, body: impl FnOnce() -> Result) -> Result {
    println!("\n== {name}");
    let start = Instant::now();
    body().map_err(|error| format!("{name}: {error}"))?;
    println!("== {name}: ok ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result {
    shell::run(&mut shell::cargo(arguments))
}

fn documentation() -> Result {
    let mut command = shell::cargo([
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--locked",
        "--quiet",
    ]);
    shell::run(command.env(
        "RUSTDOCFLAGS",
        "-D warnings -A rustdoc::private_intra_doc_links",
    ))
}

/// nextest kills a test that hangs; plain `cargo test` is what a machine without it has. The step
/// before built the library, which tests that open it are told.
fn tests() -> Result {
    let all = ["--workspace", "--release", "--locked", "--no-fail-fast"];
    let mut command = if nextest_exists() {
        shell::cargo(["nextest", "run"])
    } else {
        println!("cargo-nextest is missing; running `cargo test`, without its time limits");
        shell::cargo(["test", "--lib", "--bins", "--tests"])
    };
    shell::run(command.args(all).env("HANSA_PREBUILT", "1"))?;
    cargo(&["test", "--workspace", "--release", "--locked", "--doc"])
}

fn nextest_exists() -> bool {
    Command::new("cargo")
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}
