//! `VKFD_*` variables.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use vkfd::{Config, ConfigError};

fn config(variables: &[(&str, &str)]) -> Result<Option<Config>, ConfigError> {
    Config::from_variables(|name| {
        variables
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

fn refusal(variables: &[(&str, &str)]) -> String {
    config(variables).unwrap_err().to_string()
}

#[test]
fn without_gpus_there_is_no_device() {
    assert!(config(&[("VKFD_THREADS", "4")]).unwrap().is_none());
}

#[test]
fn lists_counts_and_paths_name_gpus() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx1030");
    let list = format!("gfx90a*2, gfx1030 ,{path}");
    let names: Vec<String> = config(&[("VKFD_GPUS", &list)])
        .unwrap()
        .unwrap()
        .gpus
        .iter()
        .map(|gpu| gpu.chip.clone())
        .collect();
    assert_eq!(
        names,
        ["aldebaran", "aldebaran", "sienna_cichlid", "sienna_cichlid"]
    );
}

#[test]
fn companions_are_read() {
    let all = [
        ("VKFD_GPUS", "gfx90a"),
        ("VKFD_THREADS", "3"),
        ("VKFD_SEED", "18446744073709551615"),
        ("VKFD_VRAM", "2G"),
        ("VKFD_TRACE", "1"),
        ("VKFD_ENGINE", "interp"),
    ];
    let config = config(&all).unwrap().unwrap();
    assert_eq!(
        (config.threads, config.seed, config.vram_bytes),
        (Some(3), u64::MAX, Some(2 << 30))
    );
    assert!(config.trace);
}

#[test]
fn a_seed_alone_means_one_thread() {
    let threads = |variables: &[(&str, &str)]| config(variables).unwrap().unwrap().threads;
    let gpu = ("VKFD_GPUS", "gfx90a");
    assert_eq!(threads(&[gpu]), None);
    assert_eq!(threads(&[gpu, ("VKFD_SEED", "7")]), Some(1));
    let both = [gpu, ("VKFD_SEED", "7"), ("VKFD_THREADS", "2")];
    assert_eq!(threads(&both), Some(2));
}

#[test]
fn refusals_name_what_is_known() {
    let unknown = refusal(&[("VKFD_GPUS", "gfx90a,gfx9999")]);
    for word in ["VKFD_GPUS", "gfx9999", "gfx90a", "gfx1030"] {
        assert!(unknown.contains(word), "{unknown}");
    }
    let engine = refusal(&[("VKFD_GPUS", "gfx90a"), ("VKFD_ENGINE", "jit")]);
    assert!(
        engine.contains("jit") && engine.contains("interp"),
        "{engine}"
    );
    for (variable, value) in [
        ("VKFD_THREADS", "0"),
        ("VKFD_THREADS", "many"),
        ("VKFD_SEED", "-1"),
        ("VKFD_VRAM", "1"),
        ("VKFD_VRAM", "9999999999T"),
        ("VKFD_VRAM", "G"),
        ("VKFD_VRAM", "é"),
    ] {
        let message = refusal(&[("VKFD_GPUS", "gfx90a"), (variable, value)]);
        assert!(
            message.contains(variable) && message.contains(value),
            "{message}"
        );
    }
    for list in [
        "",
        ",",
        "gfx90a*0",
        "gfx90a*65",
        "gfx90a*x",
        "gfx90a*64,gfx1030",
        "/nonexistent",
        "/",
    ] {
        assert!(
            refusal(&[("VKFD_GPUS", list)]).starts_with("VKFD_GPUS"),
            "{list}"
        );
    }
}
