//! The profiles that are compiled in, file by file.

use super::{Source, Tree};

/// Names of the built-in profiles.
pub const NAMES: &[&str] = &["gfx90a", "gfx1030"];

macro_rules! files {
    ($profile:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../profiles/", $profile, "/", $file)))),*]
    };
}

type Files = &'static [(&'static str, &'static str)];

const GFX90A: Files = files!("gfx90a":
    "generation_id",
    "nodes/0/gpu_id",
    "nodes/0/io_links/0/properties",
    "nodes/0/mem_banks/0/properties",
    "nodes/0/name",
    "nodes/0/properties",
    "nodes/1/caches/0/properties",
    "nodes/1/caches/1/properties",
    "nodes/1/caches/2/properties",
    "nodes/1/caches/3/properties",
    "nodes/1/gpu_id",
    "nodes/1/io_links/0/properties",
    "nodes/1/mem_banks/0/properties",
    "nodes/1/name",
    "nodes/1/properties",
    "profile.toml",
    "system_properties",
);

const GFX1030: Files = files!("gfx1030":
    "generation_id",
    "nodes/0/gpu_id",
    "nodes/0/io_links/0/properties",
    "nodes/0/mem_banks/0/properties",
    "nodes/0/name",
    "nodes/0/properties",
    "nodes/1/caches/0/properties",
    "nodes/1/caches/1/properties",
    "nodes/1/caches/2/properties",
    "nodes/1/caches/3/properties",
    "nodes/1/caches/4/properties",
    "nodes/1/caches/5/properties",
    "nodes/1/gpu_id",
    "nodes/1/io_links/0/properties",
    "nodes/1/mem_banks/0/properties",
    "nodes/1/name",
    "nodes/1/properties",
    "profile.toml",
    "system_properties",
);

pub(super) fn find(name: &str) -> Option<Tree> {
    let files = match name {
        "gfx90a" => GFX90A,
        "gfx1030" => GFX1030,
        _ => return None,
    };
    Some(Tree {
        name: name.to_owned(),
        source: Source::Builtin(files),
    })
}
