//! Debian packages that the commands need, and how they get onto the machine.

use std::process::{Command, Stdio};

use crate::{Result, shell};

/// A package and what it is needed for.
pub(crate) struct Package {
    name: &'static str,
    why: &'static str,
}

const fn package(name: &'static str, why: &'static str) -> Package {
    Package { name, why }
}

/// AMD's HIP 5.2.3 and the compiler that builds programs for it.
pub(crate) const HIP: &[Package] = &[
    package("hipcc", "compiles HIP programs"),
    package(
        "libamdhip64-dev",
        "AMD's HIP runtime, the program under test, and its headers",
    ),
    package(
        "libhsa-runtime-dev",
        "HSA headers that the ABI tests compare with, and AMD's own runtime as oracle",
    ),
    package(
        "rocm-device-libs",
        "device library that hipcc links into kernels",
    ),
    package("rocminfo", "lists agents"),
    package("kmod", "lsmod, which rocminfo runs"),
];

/// What only the tests need.
pub(crate) const TESTS: &[Package] = &[
    package("llvm-22", "assembles the tests of the software GPU"),
    package(
        "llvm-19",
        "reference assembler and disassembler for the decoder",
    ),
    package("g++", "compiles the benchmarks"),
    package("gcc", "compiles the C side of the layout tests"),
    package("libc6-dev", "C headers for it"),
    package("binutils", "readelf"),
];

/// What only `cargo xtask bindgen` needs.
#[cfg_attr(
    feature = "bindgen",
    expect(
        dead_code,
        reason = "ensured by the command that turned the feature on"
    )
)]
pub(crate) const BINDGEN: &[Package] = &[
    package("libclang-dev", "parses the headers"),
    package("linux-libc-dev", "kfd_ioctl.h"),
    package("libdrm-dev", "amdgpu_drm.h"),
];

/// Installs whatever of `wanted` is missing.
///
/// # Errors
/// If packages are missing and this is not Debian, or nothing may install them.
pub(crate) fn ensure(wanted: &[&[Package]]) -> Result {
    let missing: Vec<_> = wanted
        .iter()
        .flat_map(|list| list.iter())
        .filter(|p| !installed(p.name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing Debian packages:");
    for package in &missing {
        println!("  {:<20} {}", package.name, package.why);
    }
    apt(&["update", "-q"])?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(missing.iter().map(|p| p.name));
    apt(&arguments)
}

fn installed(name: &str) -> bool {
    Command::new("dpkg-query")
        .args(["-W", "-f", "${db:Status-Status}", name])
        .stderr(Stdio::null())
        .output()
        .is_ok_and(|output| output.stdout == b"installed")
}

fn apt(arguments: &[&str]) -> Result {
    if !shell::exists("apt-get") {
        return Err(
            "apt-get is missing: the packages above exist on Debian 12; install their like by hand"
                .into(),
        );
    }
    let mut command = as_root()?;
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null());
    shell::run(&mut command)
}

/// `apt-get`, through sudo unless we are root already.
fn as_root() -> Result<Command> {
    let id = Command::new("id").arg("-u").output()?;
    if id.stdout.trim_ascii() == b"0" {
        return Ok(Command::new("apt-get"));
    }
    if !shell::exists("sudo") {
        return Err(
            "not root and no sudo: install the packages above as root, then run this again".into(),
        );
    }
    let mut command = Command::new("sudo");
    command.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
    Ok(command)
}
