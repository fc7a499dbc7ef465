//! CPU nodes: what the KFD tree does not say about them stands in the CPU's own tree.

use super::{Cache, CacheProperties, Node};
use hsakmt_sys::Kernel;
use std::path::{Path, PathBuf};

/// Types of a cache in KFD's terms: CPU (4) with data (1) or instruction (2).
const DATA: u32 = 1;
const INSTRUCTION: u32 = 2;
const CPU: u32 = 4;

/// Most caches of one CPU that are looked for.
const MAX_INDEX: u32 = 16;

/// Fills in model names and caches of CPU nodes. What cannot be read stays empty: nothing depends
/// on it but what `rocminfo` prints.
pub(crate) fn describe(kernel: &dyn Kernel, nodes: &mut [Node]) {
    let model = model_name(kernel);
    for node in nodes.iter_mut().filter(|node| node.is_cpu()) {
        if !node.is_gpu() {
            node.marketing_name.clone_from(&model);
        }
        if node.properties.caches_count == 0 || !node.is_gpu() {
            let caches = cpus_of(kernel, node)
                .into_iter()
                .flat_map(|cpu| caches(kernel, cpu));
            node.caches.extend(caches);
        }
    }
}

fn model_name(kernel: &dyn Kernel) -> Option<String> {
    let text = text(kernel, Path::new("/proc/cpuinfo"))?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

/// The CPUs of a node: those of the NUMA node with its number, or all CPUs of a machine whose NUMA
/// tree is missing.
fn cpus_of(kernel: &dyn Kernel, node: &Node) -> Vec<u32> {
    let numa = format!("/sys/devices/system/node/node{}/cpulist", node.sysfs_id);
    text(kernel, Path::new(&numa))
        .or_else(|| text(kernel, Path::new("/sys/devices/system/cpu/online")))
        .map(|list| cpu_list(&list))
        .unwrap_or_default()
}

/// `0-3,8` as numbers; what does not parse is skipped.
fn cpu_list(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',')
        .filter_map(range)
        .flatten()
        .take(1 << 16)
        .collect()
}

/// The caches whose first user is `cpu`, so that a shared cache appears once.
fn caches(kernel: &dyn Kernel, cpu: u32) -> Vec<Cache> {
    let base = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/cache"));
    let mut found = Vec::new();
    for index in 0..MAX_INDEX {
        let directory = base.join(format!("index{index}"));
        let Some(shared) = text(kernel, &directory.join("shared_cpu_list")) else {
            break;
        };
        let users = cpu_list(&shared);
        if users.first() == Some(&cpu) {
            found.extend(cache(kernel, &directory, &users));
        }
    }
    found
}

fn cache(kernel: &dyn Kernel, directory: &Path, users: &[u32]) -> Option<Cache> {
    let word = |name: &str| text(kernel, &directory.join(name));
    let value = |name: &str| word(name).and_then(|v| v.trim().trim_end_matches('K').parse().ok());
    let kind = match word("type")?.trim() {
        "Data" => CPU | DATA,
        "Instruction" => CPU | INSTRUCTION,
        _ => CPU | DATA | INSTRUCTION,
    };
    let (&first, &last) = (users.first()?, users.last()?);
    Some(Cache {
        properties: CacheProperties {
            processor_id_low: first,
            level: value("level")?,
            size: value("size")?,
            cache_line_size: value("coherency_line_size").unwrap_or(0),
            cache_lines_per_tag: value("physical_line_partition").unwrap_or(0),
            association: value("ways_of_associativity").unwrap_or(0),
            latency: 0,
            kind,
        },
        sibling_map: (first..=last).map(|cpu| users.contains(&cpu)).collect(),
    })
}

fn text(kernel: &dyn Kernel, path: &Path) -> Option<String> {
    String::from_utf8(kernel.read_file(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockKernel;

    #[test]
    fn cpu_lists_are_ranges_and_numbers() {
        assert_eq!(cpu_list("0-2,8,10-11\n"), [0, 1, 2, 8, 10, 11]);
        assert_eq!(cpu_list("x,3"), [3]);
    }

    #[test]
    fn a_shared_cache_appears_once() {
        let kernel = MockKernel::default();
        for cpu in 0..2 {
            let shared = [
                ("index0", format!("{cpu}"), "1", "32K"),
                ("index1", "0-1".into(), "3", "8192K"),
            ];
            for (index, list, level, size) in shared {
                let base = format!("/sys/devices/system/cpu/cpu{cpu}/cache/{index}");
                kernel.set_absolute(&format!("{base}/shared_cpu_list"), &list);
                kernel.set_absolute(&format!("{base}/level"), level);
                kernel.set_absolute(&format!("{base}/size"), size);
                kernel.set_absolute(&format!("{base}/type"), "Unified\n");
            }
        }
        let all: Vec<_> = (0..2).flat_map(|cpu| caches(&kernel, cpu)).collect();
        let summary: Vec<_> = all
            .iter()
            .map(|c| (c.properties.level, c.properties.size, c.sibling_map.len()))
            .collect();
        assert_eq!(summary, [(1, 32, 1), (3, 8192, 2), (1, 32, 1)]);
    }
}
