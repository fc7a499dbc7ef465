//! `cargo xtask bench`: the same HSA program on our runtime and on AMD's, both on the same virtual
//! GPU, in one run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, build, packages, shell};

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Suites to run: `hsa` (the runtime's calls), `interpreter` (wave-instructions per second).
    #[arg(long = "suite", value_name = "NAME", default_values_t = ["hsa".to_owned(), "interpreter".to_owned()])]
    suites: Vec<String>,
    /// Profile of the virtual GPU.
    #[arg(long, default_value = "gfx90a")]
    gpu: String,
    /// Runs of each side; the figures are medians of them.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Leave out AMD's runtime.
    #[arg(long)]
    ours_only: bool,
    /// Write the medians as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Medians by figure: value and unit.
type Figures = BTreeMap<String, (f64, String)>;

/// Runs the suites.
///
/// # Errors
/// If a program cannot be built or fails.
pub(crate) fn run(options: &Options) -> Result {
    packages::ensure(&[packages::HIP, packages::TESTS])?;
    let mut all = BTreeMap::new();
    for suite in &options.suites {
        match suite.as_str() {
            "hsa" => hsa(options, &mut all)?,
            "interpreter" => interpreter(options, &mut all)?,
            other => {
                return Err(format!("there is no suite {other:?}; known: hsa, interpreter").into());
            }
        }
    }
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_string_pretty(&all)?)?;
    }
    Ok(())
}

fn hsa(options: &Options, all: &mut BTreeMap<String, Figures>) -> Result {
    let hsa = build::hsa_command()?;
    let folder = shell::target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let (program, code) = (
        folder.join("hsa_bench"),
        folder.join(format!("{}.co", options.gpu)),
    );
    compile(&options.gpu, &program, &code)?;
    let side = |extra: &[&str]| -> Result<Figures> {
        let one = || {
            let mut command = Command::new(&hsa);
            command
                .args(["run", "--gpu", &options.gpu])
                .args(extra)
                .arg("--")
                .arg(&program)
                .arg(&code);
            figures(&mut command)
        };
        medians((0..options.runs).map(|_| one()).collect::<Result<_>>()?)
    };
    let ours = side(&[])?;
    let amd = if options.ours_only {
        Figures::new()
    } else {
        side(&["--system-runtime"])?
    };
    println!(
        "{:<28} {:>14} {:>14} {:>8}",
        "HSA calls", "Hansa", "AMD 5.2.3", "ratio"
    );
    for (name, (value, unit)) in &ours {
        match amd.get(name) {
            Some((other, _)) => println!(
                "{name:<28} {value:>9.3} {unit:<4} {other:>9.3} {unit:<4} {:>8.2}",
                value / other
            ),
            None => println!("{name:<28} {value:>9.3} {unit:<4}"),
        }
    }
    all.insert("hsa".into(), ours);
    all.insert("hsa-amd".into(), amd);
    Ok(())
}

/// Both are made anew each time: they take seconds, and a stale one would lie.
fn compile(gpu: &str, program: &Path, code: &Path) -> Result {
    let sources = shell::root().join("tests/bench");
    let device = ["--genco", "-O2", "--no-gpu-bundle-output", "-o"];
    shell::run(
        shell::hipcc()?
            .arg(format!("--offload-arch={gpu}"))
            .args(device)
            .arg(code)
            .arg(sources.join("kernels.cpp")),
    )?;
    let host = ["-std=c++17", "-O2", "-o"];
    shell::run(
        Command::new("g++")
            .args(host)
            .arg(program)
            .arg(sources.join("hsa_bench.cpp"))
            .arg("-lhsa-runtime64"),
    )
}

fn interpreter(options: &Options, all: &mut BTreeMap<String, Figures>) -> Result {
    let build = [
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        "amdgpu-exec",
        "--example",
        "kernel_rate",
    ];
    shell::run(&mut shell::cargo(build))?;
    let program = shell::target().join("release/examples/kernel_rate");
    let runs = (0..options.runs)
        .map(|_| figures(&mut Command::new(&program)))
        .collect::<Result<_>>()?;
    let ours = medians(runs)?;
    println!("{:<28} {:>14}", "interpreter, one thread", "median");
    for (name, (value, unit)) in &ours {
        println!("{name:<28} {value:>9.3} {unit}");
    }
    all.insert("interpreter".into(), ours);
    Ok(())
}

/// Runs a benchmark program and reads its lines: name, value, unit.
fn figures(command: &mut Command) -> Result<Figures> {
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some((
            words.next()?.to_owned(),
            (words.next()?.parse().ok()?, words.next()?.to_owned()),
        ))
    };
    Ok(text.lines().filter_map(line).collect())
}

fn medians(runs: Vec<Figures>) -> Result<Figures> {
    let first = runs.first().ok_or("no runs")?;
    let median = |name: &String| {
        let mut values: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.get(name))
            .map(|(value, _)| *value)
            .collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok(first
        .iter()
        .map(|(name, (_, unit))| (name.clone(), (median(name), unit.clone())))
        .collect())
}
