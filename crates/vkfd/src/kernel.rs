//! [`VirtualKfd`]: the device behind the seam.

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use hsakmt_sys::ioctl::{DRM_MAGIC, Request};
use hsakmt_sys::{Errno, Fd, Kernel};
use parking_lot::Mutex;

use crate::bo::BoTable;
use crate::config::Config;
use crate::device::{self, Device};
use crate::doorbell::{self, Monitor};
use crate::event::Events;
use crate::files::{self, FileKind, Files, OpenFile};
use crate::gpu::RuntimeDebug;
use crate::memory::{Segment, memfd};
use crate::paths::{self, DevicePath};
use crate::queues::Queues;
use crate::svm::SvmRanges;
use crate::sysfs::Sysfs;
use crate::uapi;
use crate::vm::AddressSpace;

/// Why a virtual KFD cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed; address space or descriptors ran out.
    #[error("cannot set up virtual GPU {gpu}: {errno}")]
    Device {
        /// Index of the GPU.
        gpu: usize,
        /// Error of the system call.
        errno: Errno,
    },
    /// The doorbell monitor cannot be started.
    #[error("cannot start the doorbell monitor: {0}")]
    Monitor(Errno),
}

/// State that RUNTIME_ENABLE and its relatives change.
#[derive(Debug, Default)]
pub(crate) struct RuntimeState {
    pub(crate) enabled: bool,
}

/// A virtual KFD with its GPUs, for the process that made it.
#[derive(Debug)]
pub struct VirtualKfd {
    /// Ends its thread before the devices go; hence the first field.
    _monitor: Monitor,
    pub(crate) queues: Queues,
    pub(crate) devices: Vec<Device>,
    pub(crate) objects: Mutex<BoTable>,
    pub(crate) events: Arc<Events>,
    pub(crate) svm: Arc<SvmRanges>,
    pub(crate) debug: Arc<RuntimeDebug>,
    pub(crate) runtime: Mutex<RuntimeState>,
    /// Event page of clients that bring none.
    pub(crate) own_event_page: Mutex<Option<Arc<Segment>>>,
    pub(crate) files: Files,
    sysfs: Sysfs,
    trace: bool,
    /// The process that made it; a child of `fork` has no device here.
    pid: libc::pid_t,
}

impl VirtualKfd {
    /// Makes the GPUs of `config`.
    ///
    /// # Errors
    /// Address space, descriptors or threads ran out.
    pub fn new(config: Config) -> Result<Arc<Self>, Error> {
        let events = Arc::new(Events::default());
        let svm = Arc::new(SvmRanges::default());
        let debug = Arc::new(RuntimeDebug::default());
        let devices = device::create(&config, &events, &svm, &debug)?;
        let slices: Vec<_> = devices.iter().map(|device| &device.doorbells).collect();
        let monitor = Monitor::start(&slices).map_err(Error::Monitor)?;
        let gpu_ids = devices.iter().map(|device| device.gpu.gpu_id).collect();
        Ok(Arc::new(Self {
            _monitor: monitor,
            queues: Queues::default(),
            objects: Mutex::new(BoTable::new(gpu_ids)),
            sysfs: Sysfs::new(&devices),
            devices,
            events,
            svm,
            debug,
            runtime: Mutex::default(),
            own_event_page: Mutex::default(),
            files: Files::default(),
            trace: config.trace,
            pid: own_pid(),
        }))
    }

    /// The devices that the process may use.
    pub(crate) fn visible_devices(&self) -> impl Iterator<Item = &Device> {
        self.devices
            .iter()
            .filter(|device| !device.gpu.profile.extra.kfd.hidden)
    }

    /// The device with this KFD id.
    pub(crate) fn device(&self, gpu_id: u32) -> Result<&Device, Errno> {
        let found = self
            .visible_devices()
            .find(|device| device.gpu.gpu_id == gpu_id);
        found.ok_or(Errno(libc::EINVAL))
    }

    /// The device with this KFD id, if the process has a VM on it; otherwise `unbound`.
    pub(crate) fn bound_device(&self, gpu_id: u32, unbound: c_int) -> Result<&Device, Errno> {
        let device = self.device(gpu_id)?;
        if device.is_bound() {
            Ok(device)
        } else {
            Err(Errno(unbound))
        }
    }

    /// The files below `/sys` and `/proc` that this device serves.
    pub fn sysfs(&self) -> &Sysfs {
        &self.sysfs
    }

    /// What a descriptor number is, if it belongs to this device.
    pub fn file_kind(&self, fd: c_int) -> Option<FileKind> {
        self.files.get(fd).map(|file| file.kind)
    }

    /// True if the descriptor number belongs to this device.
    pub fn owns_fd(&self, fd: c_int) -> bool {
        self.file_kind(fd).is_some()
    }

    /// True if [`Kernel::open`], [`Kernel::read_file`] or [`Sysfs::entry`] answers for this path.
    pub fn owns_path(&self, path: &Path) -> bool {
        paths::device(path).is_some() || self.sysfs.owns(path)
    }

    /// Notes that `new` is a duplicate of `old` (`dup`, `fcntl(F_DUPFD)`); true if `old` is ours.
    pub fn duplicated(&self, old: c_int, new: c_int) -> bool {
        match self.files.get(old) {
            Some(file) => self.files.adopt(new, file),
            None => drop(self.files.forget(new)),
        }
        self.owns_fd(new)
    }

    /// Notes that somebody else closed a number (`close_range`, `dup2` over it); true if it was ours.
    pub fn closed(&self, fd: c_int) -> bool {
        self.files.forget(fd).is_some()
    }

    /// Notes that the client unmapped or replaced `address..address + bytes`.
    pub fn unmapped(&self, address: usize, bytes: usize) {
        doorbell::unmapped(address, bytes);
        let (start, end) = (
            address as u64,
            (address as u64).saturating_add(bytes as u64),
        );
        self.svm
            .remove(start & !0xfff, end.saturating_add(0xfff) & !0xfff);
    }

    /// The minor number of the render node of the GPU with this index.
    pub fn render_minor(&self, gpu: usize) -> Option<u32> {
        self.devices.get(gpu).map(|device| device.render_minor)
    }

    /// The address space of the GPU with this index, for reports and tests.
    pub fn address_space(&self, gpu: usize) -> Option<&AddressSpace> {
        self.devices.get(gpu).map(|device| &device.gpu.vm)
    }

    /// The events of the process, as the packet processors raise them.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Numbers of buffer objects, events and SVM ranges, for tests that look for leaks.
    pub fn live_counts(&self) -> (usize, usize, usize) {
        (
            self.objects.lock().count(),
            self.events.count(),
            self.svm.count(),
        )
    }

    fn file(&self, fd: Fd) -> Result<Arc<OpenFile>, Errno> {
        if own_pid() != self.pid {
            return Err(Errno(libc::EBADF));
        }
        self.files.get(fd.0).ok_or(Errno(libc::EBADF))
    }

    fn open_device(&self, path: DevicePath, flags: c_int) -> Result<Fd, Errno> {
        let (fd, kind) = match path {
            DevicePath::Kfd => (memfd(c"kfd")?, FileKind::Kfd),
            DevicePath::Render(minor) => {
                let gpu = self
                    .devices
                    .iter()
                    .position(|device| device.render_minor == minor);
                let gpu = gpu.ok_or(Errno(libc::ENOENT))?;
                if self.devices[gpu].gpu.profile.extra.kfd.hidden {
                    return Err(Errno(libc::EPERM));
                }
                let number = self.devices[gpu].memory.segment().reopen(flags)?;
                // SAFETY: a fresh descriptor that nobody else owns.
                (
                    unsafe { OwnedFd::from_raw_fd(number) },
                    FileKind::Render(gpu),
                )
            }
        };
        files::set_cloexec(&fd, flags);
        let file = self.files.describe(kind, None, None);
        Ok(self.files.insert(fd, Arc::new(file)))
    }
}

impl Drop for VirtualKfd {
    fn drop(&mut self) {
        let queues = self.queues.take_all();
        if own_pid() != self.pid {
            // A child of `fork` has none of the queues' threads to wait for.
            std::mem::forget(queues);
            return;
        }
        for queue in queues {
            self.devices[queue.gpu].doorbells.detach(queue.doorbell);
            queue.running.stop();
        }
    }
}

impl Kernel for VirtualKfd {
    fn open(&self, path: &CStr, flags: c_int) -> Result<Fd, Errno> {
        if own_pid() != self.pid {
            return Err(Errno(libc::ENODEV));
        }
        let device = paths::device(paths::as_path(path)).ok_or(Errno(libc::ENOENT))?;
        self.open_device(device, flags)
    }

    fn close(&self, fd: Fd) -> Result<(), Errno> {
        self.files.close(fd.0)
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, arg: *mut c_void) -> Result<c_int, Errno> {
        let file = self.file(fd)?;
        let request = Request::from_code(request);
        let result = match file.kind {
            FileKind::Kfd => uapi::kfd(self, request, arg.addr() as u64),
            FileKind::Render(gpu) if request.magic() == DRM_MAGIC => {
                uapi::drm(self, &file, gpu, request, arg.addr() as u64)
            }
            FileKind::Render(_) => Err(Errno(libc::EINVAL)),
            FileKind::DmaBuf | FileKind::Smi => Err(Errno(libc::ENOTTY)),
        };
        if self.trace {
            crate::report::write(&format!("vkfd: {request:?} = {result:?}"));
        }
        result
    }

    unsafe fn mmap(
        &self,
        addr: *mut c_void,
        length: usize,
        prot: c_int,
        flags: c_int,
        fd: Fd,
        offset: i64,
    ) -> Result<*mut c_void, Errno> {
        let file = self.file(fd)?;
        let wish = uapi::MapRequest {
            addr: addr.expose_provenance(),
            length,
            prot,
            flags,
            offset,
        };
        match file.kind {
            FileKind::Kfd => uapi::map_kfd(self, &wish),
            FileKind::Render(gpu) => uapi::map_render(self, gpu, &wish),
            FileKind::DmaBuf => uapi::map_dmabuf(&file, &wish),
            FileKind::Smi => Err(Errno(libc::ENODEV)),
        }
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        match self.sysfs.read(path, self) {
            Some(content) => content,
            None => std::fs::read(path)
                .map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EIO))),
        }
    }

    unsafe fn ring_doorbell(&self, doorbell: *mut u64, value: u64) {
        doorbell::ring(doorbell.addr(), value);
    }

    fn outlives_close(&self) -> bool {
        true
    }

    fn unmapped(&self, address: usize, length: usize) {
        Self::unmapped(self, address, length);
    }

    fn host_wrote_signal(&self) {
        crate::scheduler::notify_waiting();
    }
}

fn own_pid() -> libc::pid_t {
    // SAFETY: getpid cannot fail and touches no memory.
    unsafe { libc::getpid() }
}

/// A descriptor number as an owned descriptor, for ioctls that make one.
pub(crate) fn owned(fd: c_int) -> OwnedFd {
    debug_assert!(fd >= 0, "callers checked");
    // SAFETY: callers pass a descriptor that they have just made.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
