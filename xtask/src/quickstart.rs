//! `cargo xtask quickstart`: from a fresh Debian 12 with Rust to a HIP program's PASS.

use std::process::Command;

use crate::{Result, build, packages, shell};

/// Installs, builds, compiles and runs, saying why at each step.
///
/// # Errors
/// Names the step that failed and what to do.
pub(crate) fn run() -> Result {
    packages::ensure(&[packages::HIP])?;
    println!("building the runtime (release)");
    let hsa = build::hsa_command()?;
    println!("\nthe virtual gfx90a as programs see it:");
    shell::run(Command::new(&hsa).args(["info", "--gpu", "gfx90a"]))?;

    println!("\ncompiling a HIP program with hipcc");
    let program = shell::target().join("quickstart-vector_add");
    shell::run(
        shell::hipcc()?
            .args([
                "-O2",
                "--offload-arch=gfx90a",
                "--offload-arch=gfx1030",
                "-o",
            ])
            .arg(&program)
            .arg(shell::root().join("tests/hip/vector_add.cpp")),
    )?;
    println!("\nrunning it through AMD's libamdhip64 on this runtime");
    let start = std::time::Instant::now();
    shell::run(
        Command::new(&hsa)
            .args(["run", "--gpu", "gfx90a", "--"])
            .arg(&program),
    )?;
    println!(
        "\nThat was AMD's HIP runtime, Hansa's HSA runtime and a software gfx90a ({:.2} s).",
        start.elapsed().as_secs_f64()
    );
    println!(
        "Your own program: {} run --gpu gfx90a -- ./program",
        hsa.display()
    );
    Ok(())
}
