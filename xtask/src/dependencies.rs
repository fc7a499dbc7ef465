//! The direction of dependencies between our crates (ARCHITECTURE.md, "Layers").

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::{Result, shell};

/// Who may depend on whom; development dependencies of tests are free.
const ALLOWED: &[(&str, &[&str])] = &[
    ("amdgpu-abi", &[]),
    ("amdgpu-exec", &["amdgpu-abi", "amdgpu-isa"]),
    ("amdgpu-isa", &[]),
    (
        "hansa-tests",
        &[
            "amdgpu-abi",
            "amdgpu-exec",
            "amdgpu-isa",
            "hsa-core",
            "hsa-sys",
            "hsakmt",
            "hsakmt-sys",
            "vkfd",
        ],
    ),
    (
        "hsa-api",
        &[
            "amdgpu-abi",
            "hsa-core",
            "hsa-sys",
            "hsakmt",
            "hsakmt-sys",
            "vkfd",
        ],
    ),
    ("hsa-cli", &["hsa-sys", "vkfd"]),
    ("hsa-core", &["amdgpu-abi", "hsakmt", "hsakmt-sys"]),
    ("hsa-sys", &[]),
    ("hsakmt", &["hsakmt-sys"]),
    ("hsakmt-sys", &[]),
    (
        "vkfd",
        &["amdgpu-abi", "amdgpu-exec", "amdgpu-isa", "hsakmt-sys"],
    ),
    ("isa-suite", &["amdgpu-exec", "amdgpu-isa"]),
    ("vkfd-preload", &["hsakmt-sys", "vkfd"]),
    ("xtask", &[]),
];

/// Compares `cargo metadata` with the table.
///
/// # Errors
/// Names each edge that the table does not allow and each crate that it does not know.
pub(crate) fn check() -> Result {
    let metadata = MetadataCommand::new()
        .manifest_path(shell::root().join("Cargo.toml"))
        .no_deps()
        .exec()?;
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let Some(may) = allowed.get(package.name.as_str()) else {
            wrong.push(format!(
                "{} is not in the table of xtask/src/dependencies.rs",
                package.name
            ));
            continue;
        };
        let ours = package
            .dependencies
            .iter()
            .filter(|d| d.path.is_some() && d.kind == DependencyKind::Normal);
        wrong.extend(
            ours.filter(|d| !may.contains(&d.name.as_str()))
                .map(|d| format!("{} -> {}", package.name, d.name)),
        );
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("dependencies against the layers:\n  {}", wrong.join("\n  ")).into())
    }
}
