//! The files that user space reads about GPUs: KFD's topology, the amdgpu module, DRM's device
//! directories. Content is made once; only a few files change.

mod topology;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hsakmt_sys::Errno;

use crate::device::Device;
use crate::kernel::VirtualKfd;
use crate::memory::HeapKind;
use crate::paths::{device, normalize};

/// Where KFD's topology lives, and the class path that links there.
const TOPOLOGY: &str = "/sys/devices/virtual/kfd/kfd/topology";
const CLASS: &str = "/sys/class/kfd/kfd/topology";
/// Major number of DRM nodes (`DRM_MAJOR`).
pub const DRM_MAJOR: u32 = 226;
/// Major number of `/dev/kfd`: the kernel takes a dynamic one; this range is for local use.
pub const KFD_MAJOR: u32 = 240;

/// What `stat` and directory listings show of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A directory.
    Directory,
    /// A file with this many bytes.
    File(u64),
    /// A character device.
    Device {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
    },
    /// A symbolic link.
    Link,
}

#[derive(Debug)]
enum Content {
    Text(String),
    /// `mem_banks/0/used_memory` of the GPU with this index.
    VramUsed(usize),
    Link(String),
    /// A cgroup forbids to read it.
    Forbidden,
}

/// All virtual files.
#[derive(Debug)]
pub struct Sysfs {
    files: BTreeMap<String, Content>,
    directories: BTreeMap<String, BTreeSet<String>>,
    devices: BTreeMap<String, (u32, u32)>,
}

impl Sysfs {
    pub(crate) fn new(devices: &[Device]) -> Self {
        let mut sysfs = Self {
            files: BTreeMap::new(),
            directories: BTreeMap::new(),
            devices: BTreeMap::new(),
        };
        topology::fill(&mut sysfs, devices);
        sysfs.fill_module();
        sysfs.add_device("/dev/kfd", KFD_MAJOR, 0);
        for device in devices {
            sysfs.fill_drm(device);
        }
        sysfs
    }

    /// True if the path is one of the virtual files, directories or nodes.
    pub fn owns(&self, path: &Path) -> bool {
        self.key(path)
            .is_some_and(|key| self.entry_of(&key).is_some() || is_hidden(&key) || key == MODULES)
    }

    /// What the path is; `None` if it is not virtual, `Err` if it is and does not exist.
    pub fn entry(&self, path: &Path) -> Option<Result<Entry, Errno>> {
        let key = self.key(path)?;
        match self.entry_of(&key) {
            Some(entry) => Some(Ok(entry)),
            None => is_hidden(&key).then_some(Err(Errno(libc::ENOENT))),
        }
    }

    /// Names in a virtual directory.
    pub fn list(&self, path: &Path) -> Option<Vec<String>> {
        let names = self.directories.get(&self.key(path)?)?;
        Some(names.iter().cloned().collect())
    }

    /// Target of a virtual link.
    pub fn read_link(&self, path: &Path) -> Option<&str> {
        match self.files.get(&self.key(path)?)? {
            Content::Link(target) => Some(target),
            _ => None,
        }
    }

    /// Content of a file; `None` if the path is not virtual.
    pub(crate) fn read(&self, path: &Path, kfd: &VirtualKfd) -> Option<Result<Vec<u8>, Errno>> {
        let key = self.key(path)?;
        if key == MODULES {
            return Some(Ok(modules()));
        }
        match self.files.get(&key) {
            Some(Content::Text(text)) => Some(Ok(text.clone().into_bytes())),
            Some(Content::VramUsed(gpu)) => {
                let used = kfd.devices[*gpu].memory.used(HeapKind::Vram);
                Some(Ok(format!("{used}\n").into_bytes()))
            }
            Some(Content::Link(_)) => Some(Err(Errno(libc::EINVAL))),
            Some(Content::Forbidden) => Some(Err(Errno(libc::EPERM))),
            None if self.directories.contains_key(&key) => Some(Err(Errno(libc::EISDIR))),
            None => is_hidden(&key).then_some(Err(Errno(libc::ENOENT))),
        }
    }

    /// The normal form of a path that may be virtual.
    fn key(&self, path: &Path) -> Option<String> {
        let text = path.to_str()?;
        if !["/sys", "/dev", "/proc"]
            .iter()
            .any(|root| text.starts_with(root))
        {
            return None;
        }
        let normal = normalize(text);
        match normal.strip_prefix(CLASS) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                Some(format!("{TOPOLOGY}{rest}"))
            }
            _ => Some(normal),
        }
    }

    fn entry_of(&self, key: &str) -> Option<Entry> {
        if let Some(&(major, minor)) = self.devices.get(key) {
            return Some(Entry::Device { major, minor });
        }
        if self.directories.contains_key(key) {
            return Some(Entry::Directory);
        }
        match self.files.get(key)? {
            Content::Text(text) => Some(Entry::File(text.len() as u64)),
            Content::VramUsed(_) | Content::Forbidden => Some(Entry::File(4096)),
            Content::Link(_) => Some(Entry::Link),
        }
    }

    fn add(&mut self, path: &str, text: impl Into<String>) {
        self.insert(path, Content::Text(text.into()));
    }

    fn insert(&mut self, path: &str, content: Content) {
        self.add_parents(path);
        self.files.insert(path.to_owned(), content);
    }

    fn add_device(&mut self, path: &str, major: u32, minor: u32) {
        self.add_parents(path);
        self.devices.insert(path.to_owned(), (major, minor));
    }

    /// Enters a path into its directories, up to the first that exists outside as well.
    fn add_parents(&mut self, path: &str) {
        let mut child = path;
        while let Some((parent, name)) = child.rsplit_once('/') {
            if is_real(parent) {
                return;
            }
            self.directories
                .entry(parent.to_owned())
                .or_default()
                .insert(name.to_owned());
            child = parent;
        }
    }

    fn fill_module(&mut self) {
        const MODULE: &str = "/sys/module/amdgpu";
        self.add(&format!("{MODULE}/initstate"), "live\n");
        self.add(&format!("{MODULE}/refcnt"), "1\n");
        self.add(&format!("{MODULE}/parameters/cwsr_enable"), "1\n");
        self.add(&format!("{MODULE}/parameters/emu_mode"), "0\n");
        self.add(&format!("{MODULE}/parameters/noretry"), "-1\n");
        self.directories
            .entry(format!("{MODULE}/holders"))
            .or_default();
        self.directories
            .entry(MODULE.to_owned())
            .or_default()
            .insert("holders".to_owned());
    }

    /// Node, and the directories in which libdrm looks for a node's device.
    fn fill_drm(&mut self, device: &Device) {
        let minor = device.render_minor;
        let node = format!("renderD{minor}");
        self.add_device(&format!("/dev/dri/{node}"), DRM_MAJOR, minor);
        let directory = format!("/sys/dev/char/{DRM_MAJOR}:{minor}/device");
        let slot = pci_slot(device);
        let property = |name| device.gpu.profile.node.get_u32(name);
        let (vendor, chip) = (property("vendor_id"), property("device_id"));
        let revision = device.gpu.profile.extra.drm.pci_rev;
        self.add(&format!("{directory}/vendor"), format!("{vendor:#06x}\n"));
        self.add(&format!("{directory}/device"), format!("{chip:#06x}\n"));
        self.add(
            &format!("{directory}/subsystem_vendor"),
            format!("{vendor:#06x}\n"),
        );
        self.add(
            &format!("{directory}/subsystem_device"),
            format!("{chip:#06x}\n"),
        );
        self.add(
            &format!("{directory}/revision"),
            format!("{revision:#04x}\n"),
        );
        self.add(&format!("{directory}/uevent"), uevent(&slot, vendor, chip));
        self.insert(
            &format!("{directory}/subsystem"),
            Content::Link("/sys/bus/pci".to_owned()),
        );
        let dev = format!("{DRM_MAJOR}:{minor}\n");
        self.add(&format!("{directory}/drm/{node}/dev"), dev);
    }
}

/// Directories of the host that vkfd adds entries to but does not take over.
fn is_real(directory: &str) -> bool {
    matches!(
        directory,
        "" | "/"
            | "/dev"
            | "/sys"
            | "/sys/dev"
            | "/sys/dev/char"
            | "/sys/module"
            | "/sys/devices"
            | "/sys/devices/virtual"
            | "/sys/class"
    )
}

/// Trees that are virtual as a whole: what is not in them does not exist, whatever the host has.
fn is_hidden(key: &str) -> bool {
    let within = |root: &str| {
        key == root
            || key
                .strip_prefix(root)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    within(TOPOLOGY)
        || within("/sys/module/amdgpu")
        || within("/dev/dri")
        || within("/sys/class/kfd")
        || key.strip_prefix("/sys/dev/char/226:").is_some()
        || device(Path::new(key)).is_some()
}

const MODULES: &str = "/proc/modules";

/// The host's module list with amdgpu in it: rocminfo refuses to run without.
fn modules() -> Vec<u8> {
    let mut text = std::fs::read(MODULES).unwrap_or_default();
    if !text.starts_with(b"amdgpu ") {
        text.splice(0..0, *b"amdgpu 16384000 1 - Live 0x0000000000000000\n");
    }
    text
}

fn pci_slot(device: &Device) -> String {
    let location = device.location;
    format!(
        "{:04x}:{:02x}:{:02x}.{}",
        device.domain,
        location >> 8,
        location >> 3 & 0x1f,
        location & 7
    )
}

fn uevent(slot: &str, vendor: u32, chip: u32) -> String {
    format!(
        "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID={vendor:04X}:{chip:04X}\nPCI_SUBSYS_ID={vendor:04X}:{chip:04X}\nPCI_SLOT_NAME={slot}\n"
    )
}
