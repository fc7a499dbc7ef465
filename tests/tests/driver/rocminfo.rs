//! AMD's own stack as judge: Debian's rocminfo on AMD's runtime and thunk, over the interposer.

use crate::harness::{TURN, interposer};
use std::path::Path;
use std::process::{Command, Output};

/// What the package `rocminfo` installs.
const ROCMINFO: &str = "/usr/bin/rocminfo";

fn rocminfo(gpus: &str) -> Option<Output> {
    if !Path::new(ROCMINFO).exists() {
        println!("skipped: {ROCMINFO} is not installed");
        return None;
    }
    let _turn = TURN.read();
    let mut command = Command::new(ROCMINFO);
    command
        .env("LD_PRELOAD", interposer())
        .env("VKFD_GPUS", gpus);
    Some(command.output().unwrap())
}

/// Values of one property, in order, for all agents.
fn values<'a>(output: &'a str, property: &str) -> Vec<&'a str> {
    let lines = output.lines().filter_map(|line| line.strip_prefix("  "));
    let value = |line: &'a str| line.split_once(':').filter(|(name, _)| *name == property);
    lines
        .filter_map(value)
        .map(|(_, value)| value.trim())
        .collect()
}

fn check(gpus: &str, names: &[&str], units: &[&str]) {
    let Some(output) = rocminfo(gpus) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {text}", output.status);
    assert_eq!(values(&text, "Name")[1..], *names, "{text}");
    assert_eq!(values(&text, "Compute Unit")[1..], *units);
    assert!(
        text.contains("ROCk module is loaded"),
        "lsmod did not find amdgpu: {text}"
    );
    assert!(text.contains("*** Done ***"));
}

#[test]
fn rocminfo_lists_an_mi210() {
    check("gfx90a", &["gfx90a"], &["104"]);
}

#[test]
fn rocminfo_lists_an_rx_6900_xt() {
    check("gfx1030", &["gfx1030"], &["80"]);
}

#[test]
fn rocminfo_lists_several_gpus() {
    let names = ["gfx90a", "gfx90a", "gfx1030"];
    check("gfx90a*2,gfx1030", &names, &["104", "104", "80"]);
}

#[test]
fn programs_that_do_not_touch_the_device_are_left_alone() {
    let _turn = TURN.read();
    for gpus in [None, Some("gfx90a"), Some("no such profile")] {
        let mut command = Command::new("/bin/cat");
        command
            .arg("/proc/self/comm")
            .env("LD_PRELOAD", interposer())
            .env_remove("VKFD_GPUS");
        if let Some(gpus) = gpus {
            command.env("VKFD_GPUS", gpus);
        }
        let output = command.output().unwrap();
        assert_eq!(
            (output.stdout.as_slice(), output.stderr.as_slice()),
            (&b"cat\n"[..], &b""[..])
        );
    }
}

#[test]
fn an_unknown_profile_is_named_once() {
    let _turn = TURN.read();
    let mut command = Command::new("/bin/cat");
    command.args(["/dev/kfd", "/sys/class/kfd/kfd/topology/generation_id"]);
    command
        .env("LD_PRELOAD", interposer())
        .env("VKFD_GPUS", "gfx9999");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.matches("gfx9999").count(), 1, "{text}");
    assert!(
        text.contains("gfx90a"),
        "the message names what is known: {text}"
    );
    assert!(!output.status.success());
}
