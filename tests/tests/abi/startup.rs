//! What a user sees when the runtime cannot open a device.

use crate::library::{self, Library};
use std::path::Path;
use std::process::Command;

/// The rest of this file runs it in a process of its own.
#[test]
#[ignore = "helper of the other tests in this file"]
fn child() {
    let library = Library::ours();
    println!("first {:#x}", library.call("hsa_init", &[]));
    println!("second {:#x}", library.call("hsa_init", &[]));
}

/// Standard output, and the lines that the library wrote to standard error.
fn run(gpus: Option<&str>) -> (String, Vec<String>) {
    // Built here, so that the child's cargo has nothing to say.
    library::path();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "startup::child", "--ignored", "--nocapture"])
        .env_remove("VKFD_GPUS");
    if let Some(gpus) = gpus {
        command.env("VKFD_GPUS", gpus);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let ours = errors
        .lines()
        .filter(|line| line.starts_with("hsa-runtime"))
        .map(str::to_owned);
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        ours.collect(),
    )
}

#[test]
fn without_a_device_one_line_names_cause_and_cure() {
    if Path::new("/dev/kfd").exists() {
        println!("skipped: this machine has a /dev/kfd");
        return;
    }
    let (answers, lines) = run(None);
    assert!(
        answers.contains("first 0x1008") && answers.contains("second 0x1008"),
        "{answers}"
    );
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("/dev/kfd") && lines[0].contains("VKFD_GPUS=gfx90a"),
        "{lines:?}"
    );
}

#[test]
fn an_unknown_profile_is_answered_with_the_known_ones() {
    let (answers, lines) = run(Some("gfx9000"));
    assert!(answers.contains("first 0x1008"), "{answers}");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("gfx9000") && lines[0].contains("gfx90a, gfx1030"),
        "{lines:?}"
    );
}
