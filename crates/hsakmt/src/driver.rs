//! The open device as everything in this crate shares it.

use crate::call::Device;
use crate::error::Error;
use crate::handles::HandleAperture;
use crate::kfd::{Apertures, Version};
use crate::topology::{self, Node, Topology, names};
use crate::types::{GpuVa, NodeId};
use hsakmt_sys::{Errno, Fd, Kernel, kfd};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The device every process opens.
const DEVICE: &CStr = c"/dev/kfd";

/// Major version of the interface that this crate speaks.
const MAJOR: u32 = 1;

/// A GPU that this process can use.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) node: NodeId,
    pub(crate) gpu_id: u32,
    pub(crate) render: RenderNode,
    pub(crate) apertures: Apertures,
}

/// An open `/dev/dri/renderD*`.
#[derive(Debug)]
pub(crate) struct RenderNode {
    kernel: Arc<dyn Kernel>,
    pub(crate) fd: Fd,
}

impl Drop for RenderNode {
    fn drop(&mut self) {
        if let Err(errno) = self.kernel.close(self.fd) {
            tracing::warn!(%errno, "cannot close a render node");
        }
    }
}

/// Everything that is fixed once the device is open.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) version: Version,
    pub(crate) topology: Topology,
    pub(crate) xnack: bool,
    pub(crate) handles: Mutex<HandleAperture>,
    /// Last address that every GPU reaches.
    pub(crate) va_limit: GpuVa,
    /// By node index; `None` for CPU nodes. Dropped before `device`: render nodes close first.
    gpus: Vec<Option<Gpu>>,
    pub(crate) device: Device,
}

impl Driver {
    pub(crate) fn open(kernel: Arc<dyn Kernel>) -> Result<Self, Error> {
        let flags = libc::O_RDWR | libc::O_CLOEXEC;
        let kfd = kernel
            .open(DEVICE, flags)
            .map_err(|errno| explain(&*kernel, errno))?;
        let device = Device::new(kernel, kfd);
        let version = check_version(&device)?;
        let (mut topology, renders) = read_topology(&device)?;
        let gpus = take_gpus(&device, &topology, renders)?;
        name_products(&device, &mut topology, &gpus);
        let apertures: Vec<_> = gpus.iter().flatten().map(|gpu| gpu.apertures).collect();
        Ok(Self {
            version,
            topology,
            xnack: query_xnack(&device),
            va_limit: GpuVa(
                apertures
                    .iter()
                    .map(|a| a.gpuvm_limit)
                    .min()
                    .unwrap_or(u64::MAX),
            ),
            handles: Mutex::new(HandleAperture::beside(&apertures)),
            gpus,
            device,
        })
    }

    /// The GPU of a node.
    pub(crate) fn gpu(&self, node: NodeId) -> Result<&Gpu, Error> {
        let gpu = self.gpus.get(node.index()).and_then(Option::as_ref);
        gpu.ok_or(Error::BadNode {
            node,
            wanted: "a GPU",
        })
    }

    /// One node of the topology.
    pub(crate) fn node(&self, node: NodeId) -> Result<&Node, Error> {
        self.topology.node(node).ok_or(Error::BadNode {
            node,
            wanted: "a node",
        })
    }

    /// Every GPU, in node order.
    pub(crate) fn gpus(&self) -> impl Iterator<Item = &Gpu> {
        self.gpus.iter().flatten()
    }

    /// The GPU whose driver instance should own system memory near `node`: the node's own, else
    /// one that a link leads to, else any.
    pub(crate) fn gpu_near(&self, node: NodeId) -> Result<&Gpu, Error> {
        let linked = |links: &Node| {
            links
                .io_links
                .iter()
                .find_map(|link| self.gpu(link.to).ok())
        };
        let own = self.gpu(node).ok();
        own.or_else(|| self.topology.node(node).and_then(linked))
            .or_else(|| self.gpus().next())
            .ok_or(Error::BadNode {
                node,
                wanted: "near a GPU",
            })
    }

    /// The node with this gpu_id.
    pub(crate) fn node_of(&self, gpu_id: u32) -> Option<NodeId> {
        self.gpus()
            .find(|gpu| gpu.gpu_id == gpu_id)
            .map(|gpu| gpu.node)
    }

    /// Refuses a function that came with a later interface version.
    pub(crate) fn need(&self, what: &'static str, minor: u32) -> Result<(), Error> {
        match self.version.minor {
            have if have < minor => Err(Error::TooOld {
                what,
                needed: minor,
                have,
            }),
            _ => Ok(()),
        }
    }
}

/// Says why `/dev/kfd` cannot be opened, in terms of a cure.
fn explain(kernel: &dyn Kernel, errno: Errno) -> Error {
    let path = PathBuf::from("/dev/kfd");
    match errno.0 {
        libc::ENOENT if module_loaded(kernel) => Error::NoDevice,
        libc::ENOENT => Error::ModuleMissing,
        libc::ENODEV | libc::ENXIO => Error::NoDevice,
        libc::EACCES | libc::EPERM => Error::Permission { path },
        _ => Error::Open { path, errno },
    }
}

/// A loaded module says so in `initstate`; one that is built in only has parameters.
fn module_loaded(kernel: &dyn Kernel) -> bool {
    let signs = [
        "/sys/module/amdgpu/initstate",
        "/sys/module/amdgpu/parameters/noretry",
    ];
    signs
        .iter()
        .any(|sign| kernel.read_file(Path::new(sign)).is_ok())
}

fn check_version(device: &Device) -> Result<Version, Error> {
    let mut argument = kfd::kfd_ioctl_get_version_args::default();
    device.call(&mut argument)?;
    let (major, minor) = (argument.major_version, argument.minor_version);
    if major == MAJOR {
        Ok(Version { major, minor })
    } else {
        Err(Error::UnsupportedAbi { major, minor })
    }
}

type RenderNodes = BTreeMap<u32, RenderNode>;

/// Reads the topology, leaving out GPUs whose render node cannot be opened.
fn read_topology(device: &Device) -> Result<(Topology, RenderNodes), Error> {
    let mut renders = RenderNodes::new();
    let mut admit = |node: &Node| {
        let minor = node.properties.drm_render_minor;
        // A torn snapshot is read again, and then finds the node open.
        let Entry::Vacant(slot) = renders.entry(minor) else {
            return Ok(true);
        };
        let render = open_render(device.kernel(), minor)?;
        Ok(render.map(|render| slot.insert(render)).is_some())
    };
    let topology = topology::read::read(&**device.kernel(), &mut admit)?;
    Ok((topology, renders))
}

/// Opens a render node; `None` if this process may not have it.
fn open_render(kernel: &Arc<dyn Kernel>, minor: u32) -> Result<Option<RenderNode>, Error> {
    let path = format!("/dev/dri/renderD{minor}");
    let c_path = CString::new(path.as_str()).map_err(|_| Error::Invalid("NUL in a path"))?;
    match kernel.open(&c_path, libc::O_RDWR | libc::O_CLOEXEC) {
        Ok(fd) => Ok(Some(RenderNode {
            kernel: Arc::clone(kernel),
            fd,
        })),
        Err(errno @ Errno(libc::ENOENT | libc::EACCES | libc::EPERM)) => {
            tracing::warn!(path, %errno, "GPU left out: its render node cannot be opened");
            Ok(None)
        }
        Err(errno) => Err(Error::Open {
            path: path.into(),
            errno,
        }),
    }
}

fn take_gpus(
    device: &Device,
    topology: &Topology,
    mut renders: RenderNodes,
) -> Result<Vec<Option<Gpu>>, Error> {
    let apertures = read_apertures(device, topology.nodes.len())?;
    let take = |node: &Node| -> Result<Option<Gpu>, Error> {
        if !node.is_gpu() {
            return Ok(None);
        }
        let apertures = *apertures.get(&node.gpu_id).ok_or(Error::Protocol {
            request: "GET_PROCESS_APERTURES_NEW",
            reason: "no entry for a GPU of the topology",
        })?;
        let render = renders
            .remove(&node.properties.drm_render_minor)
            .ok_or(SHARED_RENDER_NODE)?;
        acquire_vm(device, node.gpu_id, render.fd)?;
        Ok(Some(Gpu {
            node: node.id,
            gpu_id: node.gpu_id,
            render,
            apertures,
        }))
    };
    topology.nodes.iter().map(take).collect()
}

const SHARED_RENDER_NODE: Error =
    Error::Invalid("two GPUs of the topology name the same render node");

fn read_apertures(device: &Device, nodes: usize) -> Result<BTreeMap<u32, Apertures>, Error> {
    // Hidden GPUs are counted as well, so the driver may know more than the topology shows.
    let count = device.apertures(&mut [])?.max(nodes).min(1 << 16);
    let mut entries = vec![kfd::kfd_process_device_apertures::default(); count];
    let filled = device.apertures(&mut entries)?;
    let pair = |entry: &kfd::kfd_process_device_apertures| (entry.gpu_id, Apertures::from(entry));
    Ok(entries.iter().take(filled).map(pair).collect())
}

impl From<&kfd::kfd_process_device_apertures> for Apertures {
    fn from(entry: &kfd::kfd_process_device_apertures) -> Self {
        Self {
            lds_base: entry.lds_base,
            lds_limit: entry.lds_limit,
            scratch_base: entry.scratch_base,
            scratch_limit: entry.scratch_limit,
            gpuvm_base: entry.gpuvm_base,
            gpuvm_limit: entry.gpuvm_limit,
        }
    }
}

fn acquire_vm(device: &Device, gpu_id: u32, render: Fd) -> Result<(), Error> {
    let drm_fd = u32::try_from(render.0).map_err(|_| Error::Invalid("negative descriptor"))?;
    device.call(&mut kfd::kfd_ioctl_acquire_vm_args { drm_fd, gpu_id })
}

/// A driver without SVM refuses the question, which answers it.
fn query_xnack(device: &Device) -> bool {
    let mut argument = kfd::kfd_ioctl_set_xnack_mode_args { xnack_enabled: -1 };
    device.try_call(&mut argument).is_ok() && argument.xnack_enabled > 0
}

fn name_products(device: &Device, topology: &mut Topology, gpus: &[Option<Gpu>]) {
    if gpus.iter().flatten().next().is_none() {
        return;
    }
    // An ordinary file of the distribution, not the driver's.
    let Ok(table) = std::fs::read_to_string(names::TABLE) else {
        return;
    };
    for (node, gpu) in topology.nodes.iter_mut().zip(gpus) {
        let Some(gpu) = gpu else { continue };
        let Ok(info) = device.device_info(gpu.render.fd) else {
            continue;
        };
        let name = names::find(&table, node.properties.device_id, info.pci_rev);
        node.marketing_name = name.map(str::to_owned);
    }
}
