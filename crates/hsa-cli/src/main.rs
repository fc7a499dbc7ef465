//! The `hsa` command: runs programs on Hansa's runtime and describes the agents that it finds.
//!
//! What it is: a thin front over environment variables and `libhsa-runtime64.so.1`. What it is not:
//! a part of the runtime; whatever it does can be done by hand with the variables it sets.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to its user"
)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod info;
mod library;
mod run;
mod runtime;

/// Run HSA and HIP programs on Hansa's runtime, with or without an AMD GPU.
#[derive(Parser)]
#[command(name = "hsa", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program on this runtime.
    Run(run::Options),
    /// List the agents, memory pools and ISAs that a program would see.
    Info(info::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Info(options) => info::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hsa: {error}");
            ExitCode::from(2)
        }
    }
}
