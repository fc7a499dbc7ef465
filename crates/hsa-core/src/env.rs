//! Environment variables that AMD's runtime reads, with the meaning they have there.
//!
//! Read once, when the runtime opens; a program may change them between shut-down and init.

use std::env;

/// Settings of one open runtime.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Env {
    /// `HSA_ENABLE_INTERRUPT`: 0 makes every signal polled.
    pub interrupts: bool,
    /// `HSA_ENABLE_SDMA`: 0 copies on the host.
    pub sdma: bool,
    /// `HSA_DISABLE_FRAGMENT_ALLOCATOR`: 1 gives each allocation its own buffer object.
    pub fragments: bool,
    /// `HSA_FORCE_FINE_GRAIN_PCIE`: 1 shows the fine-grained device pool on every GPU.
    pub fine_grain_pcie: bool,
    /// `HSA_COOP_CU_COUNT`: 1 reports fewer compute units to cooperative launches.
    pub coop_cu_count: bool,
    /// `HSA_ENABLE_VM_FAULT_MESSAGE`: 0 aborts on a fault without a message.
    pub vm_fault_message: bool,
    /// `HSA_MAX_QUEUES`: queues per GPU.
    pub max_queues: u32,
    /// `HSA_XNACK`: the mode to ask the driver for, if any.
    pub xnack: Option<bool>,
    /// `HSA_SCRATCH_MEM`, bytes; 0 is the default.
    pub scratch_bytes: u64,
    /// `ROCR_VISIBLE_DEVICES`; `None` shows all GPUs.
    pub visible_devices: Option<Vec<String>>,
    /// `HSA_OVERRIDE_GFX_VERSION` as a `gfx_target_version`.
    pub override_gfx_version: Option<u32>,
}

impl Env {
    /// Reads the process's environment.
    #[must_use]
    pub fn from_process() -> Self {
        Self::from_lookup(|name| env::var(name).ok())
    }

    /// Reads variables through `get`.
    #[must_use]
    pub fn from_lookup(get: impl Fn(&str) -> Option<String>) -> Self {
        let is = |name: &str, value: &str| get(name).is_some_and(|v| v == value);
        Self {
            interrupts: !is("HSA_ENABLE_INTERRUPT", "0"),
            sdma: !is("HSA_ENABLE_SDMA", "0"),
            fragments: !is("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1"),
            fine_grain_pcie: is("HSA_FORCE_FINE_GRAIN_PCIE", "1"),
            coop_cu_count: is("HSA_COOP_CU_COUNT", "1"),
            vm_fault_message: !is("HSA_ENABLE_VM_FAULT_MESSAGE", "0"),
            max_queues: number(get("HSA_MAX_QUEUES")).unwrap_or(crate::queue::MAX_QUEUES),
            xnack: get("HSA_XNACK").and_then(|v| match v.as_str() {
                "0" => Some(false),
                "1" => Some(true),
                _ => None,
            }),
            scratch_bytes: number(get("HSA_SCRATCH_MEM")).unwrap_or(0),
            visible_devices: get("ROCR_VISIBLE_DEVICES").map(|v| device_tokens(&v)),
            override_gfx_version: get("HSA_OVERRIDE_GFX_VERSION").and_then(|v| gfx_version(&v)),
        }
    }
}

fn number<T: std::str::FromStr>(value: Option<String>) -> Option<T> {
    value?.trim().parse().ok()
}

fn device_tokens(list: &str) -> Vec<String> {
    list.split(',')
        .map(|token| token.trim().to_owned())
        .collect()
}

/// `major.minor.stepping` as KFD writes it; `None` (with a log line) if it is anything else.
fn gfx_version(text: &str) -> Option<u32> {
    let parts: Option<Vec<u32>> = text.split('.').map(|p| p.parse().ok()).collect();
    match parts.as_deref() {
        Some(&[major, minor, stepping]) if major <= 63 && minor <= 99 && stepping <= 99 => {
            Some(major * 10000 + minor * 100 + stepping)
        }
        _ => {
            tracing::warn!(
                value = text,
                "HSA_OVERRIDE_GFX_VERSION is not major.minor.stepping; ignored"
            );
            None
        }
    }
}

/// Chooses and orders GPUs by `ROCR_VISIBLE_DEVICES` tokens: an index or a UUID; the list ends at the
/// first token that names no GPU or one that was named already, as in AMD's runtime.
pub(crate) fn visible(tokens: &[String], uuids: &[String]) -> Vec<usize> {
    let mut chosen = Vec::new();
    for token in tokens {
        match find_device(token, uuids) {
            Some(index) if !chosen.contains(&index) => chosen.push(index),
            _ => break,
        }
    }
    chosen
}

fn find_device(token: &str, uuids: &[String]) -> Option<usize> {
    if token.starts_with("GPU-") {
        let mut matches = (0..uuids.len()).filter(|&i| uuids[i].starts_with(token));
        let first = matches.next()?;
        return matches.next().is_none().then_some(first);
    }
    token.parse().ok().filter(|&index| index < uuids.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|&s| s.to_owned()).collect()
    }

    #[test]
    fn visible_devices_filter_and_reorder_until_the_first_bad_token() {
        let uuids = strings(&[
            "GPU-00000000000000aa",
            "GPU-00000000000000bb",
            "GPU-00000000000000cc",
        ]);
        assert_eq!(visible(&strings(&["2", "0"]), &uuids), [2, 0]);
        assert_eq!(visible(&strings(&["GPU-00000000000000bb"]), &uuids), [1]);
        assert_eq!(visible(&strings(&["1", "1", "0"]), &uuids), [1]);
        assert_eq!(visible(&strings(&["0", "7", "1"]), &uuids), [0]);
        assert_eq!(visible(&strings(&["-1"]), &uuids), [0_usize; 0]);
        assert_eq!(visible(&strings(&[""]), &uuids), [0_usize; 0]);
        assert_eq!(
            visible(&strings(&["GPU-0000"]), &uuids),
            [0_usize; 0],
            "ambiguous prefix"
        );
    }

    #[test]
    fn switches_have_amd_defaults_and_take_exact_values() {
        let defaults = Env::from_lookup(|_| None);
        assert!(defaults.interrupts && defaults.sdma && defaults.fragments);
        assert_eq!(defaults.visible_devices, None);
        let set = Env::from_lookup(|name| match name {
            "HSA_ENABLE_INTERRUPT" => Some("0".into()),
            "HSA_OVERRIDE_GFX_VERSION" => Some("10.3.0".into()),
            _ => None,
        });
        assert!(!set.interrupts);
        assert_eq!(set.override_gfx_version, Some(100_300));
        assert_eq!(gfx_version("gfx1030"), None);
        assert_eq!(gfx_version("10.3"), None);
    }
}
