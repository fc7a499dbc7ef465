//! Reads the sysfs tree into a [`Topology`].
//!
//! Rules of the contract: a node whose `gpu_id` or render node this process may not open is left
//! out, the others are renumbered, and links to it disappear; unknown property names are skipped; a
//! changed generation number means that the snapshot is torn and is read again.

use super::{Cache, IoLink, IoLinkProperties, MemoryBank, Node, NodeProperties, Topology};
use super::{CacheProperties, cpu};
use crate::error::Error;
use crate::types::NodeId;
use hsakmt_sys::{Errno, Kernel};
use std::path::{Path, PathBuf};

/// Where the kernel publishes it.
const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";

/// Most nodes that are read; the kernel has no limit, hosts have a few dozen.
const MAX_NODES: u32 = 1024;
/// Most entries of one kind in a node. An MI300X has 626 caches.
const MAX_ENTRIES: u32 = 1 << 16;
/// How often a torn snapshot is read again.
const ATTEMPTS: u32 = 8;

/// Decides whether a GPU of sysfs is usable by this process.
pub(crate) type Admit<'a> = &'a mut dyn FnMut(&Node) -> Result<bool, Error>;

/// Reads until the generation number is the same before and after.
pub(crate) fn read(kernel: &dyn Kernel, admit: Admit<'_>) -> Result<Topology, Error> {
    let tree = Tree { kernel };
    for _ in 0..ATTEMPTS {
        let generation = tree.generation()?;
        let topology = tree.snapshot(generation, admit);
        if tree.generation()? == generation {
            return topology;
        }
        tracing::debug!(generation, "topology changed while it was read");
    }
    Err(Error::TopologyUnstable)
}

/// The kernel's present generation number.
pub(crate) fn generation(kernel: &dyn Kernel) -> Result<u32, Error> {
    Tree { kernel }.generation()
}

struct Tree<'a> {
    kernel: &'a dyn Kernel,
}

/// A node before renumbering.
struct RawNode {
    node: Node,
    links: Vec<(bool, IoLinkProperties)>,
}

impl Tree<'_> {
    fn generation(&self) -> Result<u32, Error> {
        let path = Path::new(ROOT).join("generation_id");
        let value = number(self.text(&path)?.trim(), &path)?;
        u32::try_from(value).map_err(|_| malformed(&path, "generation beyond 32 bits"))
    }

    fn snapshot(&self, generation: u32, admit: Admit<'_>) -> Result<Topology, Error> {
        let mut topology = Topology {
            generation,
            ..Topology::default()
        };
        self.pairs(
            &Path::new(ROOT).join("system_properties"),
            |name, value| match name {
                "platform_oem" => topology.platform_oem = value,
                "platform_id" => topology.platform_id = value,
                "platform_rev" => topology.platform_rev = value,
                _ => {}
            },
        )?;
        let mut raw = self.nodes(admit)?;
        number_nodes(&mut raw);
        topology.nodes = resolve_links(raw);
        cpu::describe(self.kernel, &mut topology.nodes);
        Ok(topology)
    }

    fn nodes(&self, admit: Admit<'_>) -> Result<Vec<RawNode>, Error> {
        let mut nodes = Vec::new();
        for sysfs_id in 0..MAX_NODES {
            let path = Path::new(ROOT).join("nodes").join(sysfs_id.to_string());
            match self.gpu_id(&path)? {
                Presence::Absent => break,
                Presence::Hidden => tracing::info!(sysfs_id, "node hidden from this process"),
                Presence::Visible(gpu_id) => {
                    let raw = self.node(&path, sysfs_id, gpu_id)?;
                    if gpu_id == 0 || admit(&raw.node)? {
                        nodes.push(raw);
                    }
                }
            }
        }
        Ok(nodes)
    }

    fn gpu_id(&self, node: &Path) -> Result<Presence, Error> {
        let path = node.join("gpu_id");
        match self.kernel.read_file(&path) {
            Ok(bytes) => {
                let value = number(String::from_utf8_lossy(&bytes).trim(), &path)?;
                let gpu_id = u32::try_from(value);
                gpu_id
                    .map(Presence::Visible)
                    .map_err(|_| malformed(&path, "gpu_id beyond 32 bits"))
            }
            Err(Errno(libc::ENOENT | libc::ENOTDIR)) => Ok(Presence::Absent),
            // EPERM is how the device cgroup answers, EACCES how file permissions do.
            Err(Errno(libc::EPERM | libc::EACCES)) => Ok(Presence::Hidden),
            Err(errno) => Err(Error::Topology { path, errno }),
        }
    }

    fn node(&self, path: &Path, sysfs_id: u32, gpu_id: u32) -> Result<RawNode, Error> {
        let mut properties = NodeProperties::default();
        self.pairs(&path.join("properties"), |name, value| {
            properties.set(name, value)
        })?;
        let mut node = Node {
            sysfs_id,
            gpu_id,
            ..Node::default()
        };
        if gpu_id != 0 {
            node.name = self.text(&path.join("name"))?.trim().to_owned();
        }
        node.memory_banks = self.entries(path, "mem_banks", properties.mem_banks_count, |p| {
            self.filled(p, MemoryBank::default(), MemoryBank::set)
        })?;
        node.caches = self.entries(path, "caches", properties.caches_count, |p| self.cache(p))?;
        let link = |p: &Path| self.filled(p, IoLinkProperties::default(), IoLinkProperties::set);
        let io = self.entries(path, "io_links", properties.io_links_count, link)?;
        let p2p = self.entries(path, "p2p_links", properties.p2p_links_count, link)?;
        node.properties = properties;
        let links = io
            .into_iter()
            .map(|l| (false, l))
            .chain(p2p.into_iter().map(|l| (true, l)));
        Ok(RawNode {
            node,
            links: links.collect(),
        })
    }

    /// Reads `directory/0/properties` … `directory/(count - 1)/properties`.
    fn entries<T>(
        &self,
        node: &Path,
        directory: &str,
        count: u32,
        read: impl Fn(&Path) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let directory = node.join(directory);
        if count > MAX_ENTRIES {
            return Err(malformed(&directory, "more entries than any machine has"));
        }
        (0..count)
            .map(|index| read(&directory.join(index.to_string()).join("properties")))
            .collect()
    }

    fn filled<T>(&self, path: &Path, mut value: T, set: fn(&mut T, &str, u64)) -> Result<T, Error> {
        self.pairs(path, |name, number| set(&mut value, name, number))?;
        Ok(value)
    }

    fn cache(&self, path: &Path) -> Result<Cache, Error> {
        let text = self.text(path)?;
        let mut cache = Cache::default();
        for line in text.lines() {
            match line.strip_prefix("sibling_map ") {
                Some(map) => cache.sibling_map = siblings(map),
                None => pair(line, path, |n, v| {
                    CacheProperties::set(&mut cache.properties, n, v)
                })?,
            }
        }
        Ok(cache)
    }

    fn pairs(&self, path: &Path, mut each: impl FnMut(&str, u64)) -> Result<(), Error> {
        self.text(path)?
            .lines()
            .try_for_each(|line| pair(line, path, &mut each))
    }

    fn text(&self, path: &Path) -> Result<String, Error> {
        let bytes = self
            .kernel
            .read_file(path)
            .map_err(|errno| Error::Topology {
                path: path.to_owned(),
                errno,
            })?;
        String::from_utf8(bytes).map_err(|_| malformed(path, "not text"))
    }
}

enum Presence {
    Absent,
    Hidden,
    Visible(u32),
}

/// Calls `each` with the name and number of a `name value` line; blank lines are skipped.
fn pair(line: &str, path: &Path, mut each: impl FnMut(&str, u64)) -> Result<(), Error> {
    let mut words = line.split_ascii_whitespace();
    let Some(name) = words.next() else {
        return Ok(());
    };
    let value = words
        .next()
        .ok_or_else(|| malformed(path, "property without a value"))?;
    each(name, number(value, path)?);
    Ok(())
}

fn number(text: &str, path: &Path) -> Result<u64, Error> {
    text.parse().map_err(|_| malformed(path, "not a number"))
}

/// `1,0,1,` as flags.
fn siblings(map: &str) -> Vec<bool> {
    map.split(',')
        .map(str::trim)
        .filter(|bit| !bit.is_empty())
        .map(|bit| bit != "0")
        .collect()
}

fn malformed(path: &Path, reason: &'static str) -> Error {
    Error::Malformed {
        path: PathBuf::from(path),
        reason,
    }
}

fn number_nodes(nodes: &mut [RawNode]) {
    for (raw, id) in nodes.iter_mut().zip(0..) {
        raw.node.id = NodeId(id);
    }
}

/// Translates links to the new numbers; a link that leads to a node left out is dropped.
fn resolve_links(nodes: Vec<RawNode>) -> Vec<Node> {
    let ids: Vec<(u32, NodeId)> = nodes.iter().map(|r| (r.node.sysfs_id, r.node.id)).collect();
    let find = |sysfs| {
        ids.iter()
            .find(|(id, _)| *id == sysfs)
            .map(|(_, node)| *node)
    };
    let resolve = |mut raw: RawNode| {
        let links = raw
            .links
            .into_iter()
            .filter_map(|(peer_to_peer, properties)| {
                let (from, to) = (find(properties.node_from)?, find(properties.node_to)?);
                Some(IoLink {
                    from,
                    to,
                    peer_to_peer,
                    properties,
                })
            });
        raw.node.io_links = links.collect();
        raw.node
    };
    nodes.into_iter().map(resolve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockKernel;

    fn admit_all(_: &Node) -> Result<bool, Error> {
        Ok(true)
    }

    #[test]
    fn a_hidden_gpu_is_left_out_and_links_are_renumbered() {
        let kernel = MockKernel::with_gpus(4);
        kernel.hide_gpu_id(1);
        kernel.hide_gpu_id(3);
        let topology = read(&kernel, &mut admit_all).unwrap();
        let ids: Vec<_> = topology
            .nodes
            .iter()
            .map(|n| (n.id.0, n.sysfs_id))
            .collect();
        assert_eq!(ids, [(0, 0), (1, 2), (2, 4)]);
        let cpu_links: Vec<_> = topology.nodes[0].io_links.iter().map(|l| l.to.0).collect();
        assert_eq!(cpu_links, [1, 2]);
    }

    #[test]
    fn a_gpu_that_is_not_admitted_disappears() {
        let kernel = MockKernel::with_gpus(2);
        let topology = read(&kernel, &mut |node| Ok(node.sysfs_id != 1)).unwrap();
        assert_eq!(topology.gpus().map(|n| n.sysfs_id).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_change_during_the_read_repeats_it() {
        let kernel = MockKernel::with_gpus(1);
        kernel.bump_generation_during_next_read();
        let topology = read(&kernel, &mut admit_all).unwrap();
        assert_eq!(topology.generation, 3);
    }

    #[test]
    fn a_topology_that_never_settles_is_an_error() {
        let kernel = MockKernel::with_gpus(1);
        kernel.bump_generation_always();
        assert_eq!(read(&kernel, &mut admit_all), Err(Error::TopologyUnstable));
    }

    #[test]
    fn unknown_properties_are_skipped_and_known_ones_read() {
        let kernel = MockKernel::with_gpus(1);
        kernel.set_file(
            "nodes/1/properties",
            "from_the_future 7\nsimd_count 416\nsimd_per_cu 4\nunique_id 18446744073709551615\n",
        );
        let topology = read(&kernel, &mut admit_all).unwrap();
        let gpu = &topology.nodes[1];
        assert_eq!(gpu.compute_units(), 104);
        assert_eq!(gpu.properties.unique_id, u64::MAX);
    }

    #[test]
    fn hostile_trees_are_refused() {
        for text in [
            "simd_count",
            "simd_count x",
            "simd_count -1",
            "caches_count 4000000000",
        ] {
            let kernel = MockKernel::with_gpus(1);
            kernel.set_file("nodes/1/properties", text);
            let error = read(&kernel, &mut admit_all).unwrap_err();
            assert!(matches!(error, Error::Malformed { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_missing_sub_directory_names_the_file() {
        let kernel = MockKernel::with_gpus(1);
        kernel.set_file("nodes/1/properties", "mem_banks_count 2\n");
        let error = read(&kernel, &mut admit_all).unwrap_err().to_string();
        assert!(error.contains("nodes/1/mem_banks/1/properties"), "{error}");
    }

    #[test]
    fn sibling_maps_are_comma_lists() {
        assert_eq!(siblings("1,0,1,\n"), [true, false, true]);
        assert_eq!(siblings(""), []);
    }
}
