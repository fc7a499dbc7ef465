//! `cargo xtask`: the commands that a contributor types.
//!
//! What it is: provisioning, the gate, the conformance runner, benchmarks and generators. What it
//! is not: part of anything that is installed.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "commands talk to their user"
)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod abi;
mod bench;
mod build;
mod conformance;
mod dependencies;
mod gate;
mod generate;
mod packages;
mod quickstart;
mod shell;

/// The result of a command; the message says what to do next.
type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what is missing, build, compile a HIP program and run it on a virtual GPU.
    Quickstart,
    /// Set up for tests, then run the whole gate (what CI runs).
    Test(gate::Options),
    /// Run conformance suites and print a table.
    Conformance(conformance::Options),
    /// Run benchmarks side by side.
    Bench(bench::Options),
    /// Regenerate the kernel bindings from the installed headers.
    Bindgen,
    /// Regenerate the HSA bindings from the folder that holds `hsa/hsa.h` of ROCm 7.2.4.
    BindgenHsa {
        /// Folder above `hsa`.
        include: std::path::PathBuf,
    },
    /// Compare exports, versions and layouts with the installed packages.
    Abi,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Quickstart => quickstart::run(),
        Command::Test(options) => gate::run(&options),
        Command::Conformance(options) => conformance::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Bindgen => generate::kernel(),
        Command::BindgenHsa { include } => generate::hsa(&include),
        Command::Abi => abi::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
