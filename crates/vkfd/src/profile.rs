//! GPU profiles: a directory in the layout of KFD's topology, plus a TOML file for what sysfs does
//! not say. Some are built in; a path names any other, including a copy of a real machine's tree.

mod builtin;
mod properties;

use std::path::Path;
use std::sync::Arc;

use amdgpu_isa::Target;
use serde::Deserialize;

pub use builtin::NAMES;
pub use properties::Properties;

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No built-in profile and no directory has this name.
    #[error(
        "unknown GPU profile {name:?}; known: {known}, or the path of a directory in KFD topology layout"
    )]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The built-in names.
        known: String,
    },
    /// A file is missing.
    #[error("profile {profile} has no {file}")]
    Missing {
        /// Profile.
        profile: String,
        /// File relative to its root.
        file: String,
    },
    /// A file does not parse.
    #[error("profile {profile}: {file} is not valid: {reason}")]
    Malformed {
        /// Profile.
        profile: String,
        /// File relative to its root.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// No engine executes the GPU's machine code.
    #[error(
        "profile {profile}: gfx_target_version {version} has no engine; known: 90010 (gfx90a), 100300 (gfx1030)"
    )]
    NoEngine {
        /// Profile.
        profile: String,
        /// Its `gfx_target_version`.
        version: u64,
    },
    /// The directory has only CPU nodes.
    #[error("profile {profile} has no GPU node")]
    NoGpu {
        /// Profile.
        profile: String,
    },
}

/// What DRM answers (AMDGPU_INFO DEV_INFO) beyond the node's properties.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drm {
    /// `AMDGPU_FAMILY_*`.
    pub family: u32,
    /// Internal chip revision.
    pub chip_rev: u32,
    /// External chip revision.
    pub external_rev: u32,
    /// PCI revision.
    pub pci_rev: u32,
    /// `AMDGPU_VRAM_TYPE_*`.
    pub vram_type: u32,
    /// GB_ADDR_CONFIG register.
    pub gb_addr_config: u32,
    /// Vector registers that a shader sees per SIMD lane.
    pub shader_visible_vgprs: u32,
    /// GS VGT table depth.
    pub gs_vgt_table_depth: u32,
    /// `AMDGPU_IDS_FLAGS_*`: 1 is an APU.
    pub ids_flags: u64,
}

/// What KFD knows of a chip without publishing it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kfd {
    /// XNACK can be chosen per process.
    pub xnack_per_process: bool,
    /// User memory can be registered (`USERPTR`); without it clients must fall back to GTT or SVM.
    #[serde(default = "yes")]
    pub userptr: bool,
    /// A cgroup hides the GPU: its `gpu_id` and render node answer `EPERM`, as the kernel does.
    #[serde(default)]
    pub hidden: bool,
}

fn yes() -> bool {
    true
}

/// `profile.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extra {
    /// Marketing name.
    pub product: String,
    /// DRM answers.
    pub drm: Drm,
    /// KFD knowledge.
    pub kfd: Kfd,
}

/// One GPU as data.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name it was asked for by.
    pub name: String,
    /// Processor whose code it executes.
    pub target: Target,
    /// `gpu_id` of the node; several GPUs of one profile get ids derived from it.
    pub gpu_id: u32,
    /// `name` of the node.
    pub chip: String,
    /// `properties` of the node.
    pub node: Properties,
    /// `mem_banks/*/properties`.
    pub mem_banks: Vec<Properties>,
    /// `caches/*/properties`.
    pub caches: Vec<Properties>,
    /// Link from the GPU to its CPU.
    pub link_to_cpu: Properties,
    /// Link from the CPU to the GPU.
    pub link_from_cpu: Properties,
    /// The CPU node's `properties`, before the host's own values are put in.
    pub cpu_node: Properties,
    /// The CPU's memory bank, before the host's own values are put in.
    pub cpu_bank: Properties,
    /// `system_properties`.
    pub system: Properties,
    /// What sysfs does not say.
    pub extra: Extra,
}

impl Profile {
    /// The GPUs that `name` stands for: one for a built-in profile, all GPU nodes for a directory.
    ///
    /// # Errors
    /// Unknown name, missing or malformed files, or a GPU that no engine can execute.
    pub fn load(name: &str) -> Result<Vec<Arc<Self>>, ProfileError> {
        if let Some(tree) = builtin::find(name) {
            return Self::from_tree(&tree);
        }
        if !Path::new(name).is_dir() {
            return Err(ProfileError::Unknown {
                name: name.to_owned(),
                known: NAMES.join(", "),
            });
        }
        Self::from_tree(&Tree::directory(name))
    }

    fn from_tree(tree: &Tree) -> Result<Vec<Arc<Self>>, ProfileError> {
        let nodes = tree.children("nodes", "properties");
        let mut gpus = Vec::new();
        for node in nodes
            .iter()
            .filter(|node| tree.gpu_id(node).is_some_and(|id| id != 0))
        {
            gpus.push(Arc::new(Self::from_node(tree, node)?));
        }
        if gpus.is_empty() {
            Err(ProfileError::NoGpu {
                profile: tree.name.clone(),
            })
        } else {
            Ok(gpus)
        }
    }

    fn from_node(tree: &Tree, node: &str) -> Result<Self, ProfileError> {
        let properties = tree.properties(&format!("{node}/properties"))?;
        let target = target_of(tree, properties.get("gfx_target_version"))?;
        let cpu = "nodes/0";
        Ok(Self {
            name: tree.name.clone(),
            target,
            gpu_id: tree.gpu_id(node).unwrap_or(0),
            chip: tree.text(&format!("{node}/name"))?.trim().to_owned(),
            mem_banks: tree.list(&format!("{node}/mem_banks"))?,
            caches: tree.list(&format!("{node}/caches"))?,
            link_to_cpu: tree.properties(&format!("{node}/io_links/0/properties"))?,
            link_from_cpu: tree.properties(&format!("{cpu}/io_links/0/properties"))?,
            cpu_node: tree.properties(&format!("{cpu}/properties"))?,
            cpu_bank: tree.properties(&format!("{cpu}/mem_banks/0/properties"))?,
            system: tree.properties("system_properties")?,
            extra: tree.extra(target)?,
            node: properties,
        })
    }

    /// Bytes of device memory.
    pub fn vram_bytes(&self) -> u64 {
        self.mem_banks
            .iter()
            .map(|bank| bank.get("size_in_bytes"))
            .sum()
    }

    /// Compute units of all XCCs.
    pub fn compute_units(&self) -> u32 {
        self.node.get_u32("simd_count") / self.node.get_u32("simd_per_cu").max(1)
    }

    /// Shader engines of all XCCs.
    pub fn shader_engines(&self) -> u32 {
        self.node.get_u32("array_count") / self.node.get_u32("simd_arrays_per_engine").max(1)
    }
}

/// Files of a profile, built in or on disk.
#[derive(Debug)]
struct Tree {
    name: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Builtin(&'static [(&'static str, &'static str)]),
    Directory(std::path::PathBuf),
}

impl Tree {
    fn directory(path: &str) -> Self {
        Self {
            name: path.to_owned(),
            source: Source::Directory(path.into()),
        }
    }

    fn find(&self, file: &str) -> Option<String> {
        match &self.source {
            Source::Builtin(files) => files
                .iter()
                .find(|(name, _)| *name == file)
                .map(|(_, text)| (*text).to_owned()),
            Source::Directory(root) => std::fs::read_to_string(root.join(file)).ok(),
        }
    }

    fn text(&self, file: &str) -> Result<String, ProfileError> {
        self.find(file).ok_or_else(|| ProfileError::Missing {
            profile: self.name.clone(),
            file: file.to_owned(),
        })
    }

    fn properties(&self, file: &str) -> Result<Properties, ProfileError> {
        Properties::parse(&self.text(file)?).map_err(|reason| self.malformed(file, reason))
    }

    /// `directory/0`, `directory/1`, … as long as they hold `file`.
    fn children(&self, directory: &str, file: &str) -> Vec<String> {
        (0..)
            .map(|index| format!("{directory}/{index}"))
            .take_while(|child| self.find(&format!("{child}/{file}")).is_some())
            .collect()
    }

    fn list(&self, directory: &str) -> Result<Vec<Properties>, ProfileError> {
        let children = self.children(directory, "properties");
        children
            .iter()
            .map(|child| self.properties(&format!("{child}/properties")))
            .collect()
    }

    fn gpu_id(&self, node: &str) -> Option<u32> {
        self.find(&format!("{node}/gpu_id"))?.trim().parse().ok()
    }

    /// `profile.toml`; a copied sysfs tree has none and takes the built-in one of its target.
    fn extra(&self, target: Target) -> Result<Extra, ProfileError> {
        const FILE: &str = "profile.toml";
        let text = match self.find(FILE) {
            Some(text) => text,
            None => builtin::find(target.name())
                .ok_or_else(|| self.malformed(FILE, "no such file".into()))?
                .text(FILE)?,
        };
        toml::from_str(&text).map_err(|error| self.malformed(FILE, error.to_string()))
    }

    fn malformed(&self, file: &str, reason: String) -> ProfileError {
        ProfileError::Malformed {
            profile: self.name.clone(),
            file: file.to_owned(),
            reason,
        }
    }
}

fn target_of(tree: &Tree, version: u64) -> Result<Target, ProfileError> {
    match version {
        90010 => Ok(Target::Gfx90a),
        100_300 => Ok(Target::Gfx1030),
        _ => Err(ProfileError::NoEngine {
            profile: tree.name.clone(),
            version,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_profiles_describe_their_chips() {
        let mi210 = &Profile::load("gfx90a").unwrap()[0];
        assert_eq!(mi210.target, Target::Gfx90a);
        assert_eq!((mi210.compute_units(), mi210.shader_engines()), (104, 8));
        assert_eq!(mi210.vram_bytes(), 68_702_699_520);
        let navi21 = &Profile::load("gfx1030").unwrap()[0];
        assert_eq!(navi21.target, Target::Gfx1030);
        assert_eq!((navi21.compute_units(), navi21.shader_engines()), (80, 4));
    }

    #[test]
    fn counts_in_properties_match_the_tree() {
        for name in NAMES {
            for profile in Profile::load(name).unwrap() {
                let count = |of: &str| usize::try_from(profile.node.get(of)).unwrap();
                assert_eq!(count("mem_banks_count"), profile.mem_banks.len());
                assert_eq!(count("caches_count"), profile.caches.len());
                assert_eq!(count("io_links_count"), 1);
            }
        }
    }

    #[test]
    fn unknown_profile_names_the_known_ones() {
        let message = Profile::load("gfx9999").unwrap_err().to_string();
        assert!(
            message.contains("gfx90a") && message.contains("gfx1030"),
            "{message}"
        );
    }

    #[test]
    fn a_directory_with_a_topology_tree_is_a_profile() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/gfx1030");
        let profiles = Profile::load(root).unwrap();
        assert_eq!(profiles.len(), 1);
        assert_eq!(profiles[0].chip, "sienna_cichlid");
    }
}
