//! A small client of the seam: typed ioctls without any policy, over any [`Kernel`].

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]
#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::{CString, c_void};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hsakmt_sys::ioctl::{self, Request};
use hsakmt_sys::{Errno, Fd, Kernel, kfd, newer};
use vkfd::{Config, VirtualKfd};

/// Flags of the runtime's usual allocations.
pub(crate) const VRAM: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
pub(crate) const GTT: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_GTT;
pub(crate) const USERPTR: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
pub(crate) const WRITABLE: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
pub(crate) const EXECUTABLE: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;
pub(crate) const PUBLIC: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;

pub(crate) const EINVAL: Errno = Errno(libc::EINVAL);
pub(crate) const ENOMEM: Errno = Errno(libc::ENOMEM);
pub(crate) const EFAULT: Errno = Errno(libc::EFAULT);

/// A virtual KFD with these GPUs and little memory.
pub(crate) fn device(gpus: &str) -> Arc<VirtualKfd> {
    let mut config = Config::of_gpus(gpus).unwrap();
    config.vram_bytes = Some(256 << 20);
    VirtualKfd::new(config).unwrap()
}

/// A copy of a built-in profile whose `profile.toml` has `lines` added to its last section.
pub(crate) fn variant(base: &str, lines: &str) -> tempfile::TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("profiles")
        .join(base);
    let directory = tempfile::tempdir().unwrap();
    copy_tree(&from, directory.path());
    let file = directory.path().join("profile.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, format!("{text}{lines}\n")).unwrap();
    directory
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// An open client.
pub(crate) struct Client<'k> {
    pub(crate) kernel: &'k dyn Kernel,
    pub(crate) kfd: Fd,
    pub(crate) gpu_ids: Vec<u32>,
    pub(crate) render: Vec<Fd>,
}

impl<'k> Client<'k> {
    /// Opens everything and acquires the VM of every GPU.
    pub(crate) fn new(kernel: &'k dyn Kernel) -> Self {
        let mut client = Self::without_vm(kernel);
        for index in 0..client.gpu_ids.len() {
            client.acquire(index).unwrap();
        }
        client
    }

    /// Opens everything.
    pub(crate) fn without_vm(kernel: &'k dyn Kernel) -> Self {
        let kfd = open(kernel, "/dev/kfd").unwrap();
        let gpu_ids = (1..).map_while(|node| gpu_id(kernel, node)).collect();
        let mut client = Self {
            kernel,
            kfd,
            gpu_ids,
            render: Vec::new(),
        };
        for index in 0..client.gpu_ids.len() {
            let minor = property(kernel, index + 1, "drm_render_minor");
            client
                .render
                .push(open(kernel, &format!("/dev/dri/renderD{minor}")).unwrap());
        }
        client
    }

    pub(crate) fn ioctl<T>(&self, request: Request, args: &mut T) -> Result<(), Errno> {
        ioctl_on(self.kernel, self.kfd, request, args)
    }

    pub(crate) fn acquire(&mut self, index: usize) -> Result<(), Errno> {
        let mut args = kfd::kfd_ioctl_acquire_vm_args {
            drm_fd: u32::try_from(self.render[index].0).unwrap(),
            gpu_id: self.gpu_ids[index],
        };
        self.ioctl(ioctl::ACQUIRE_VM, &mut args)
    }

    pub(crate) fn alloc_raw(
        &self,
        args: &mut kfd::kfd_ioctl_alloc_memory_of_gpu_args,
    ) -> Result<(), Errno> {
        self.ioctl(ioctl::ALLOC_MEMORY_OF_GPU, args)
    }

    /// Handle and mmap offset.
    pub(crate) fn alloc(
        &self,
        gpu: usize,
        va: u64,
        size: u64,
        flags: u32,
    ) -> Result<(u64, u64), Errno> {
        let gpu_id = self.gpu_ids[gpu];
        let mut args = kfd::kfd_ioctl_alloc_memory_of_gpu_args {
            va_addr: va,
            size,
            gpu_id,
            flags,
            ..Default::default()
        };
        self.alloc_raw(&mut args)?;
        Ok((args.handle, args.mmap_offset))
    }

    pub(crate) fn user(&self, gpu: usize, va: u64, address: u64, size: u64) -> Result<u64, Errno> {
        let mut args = kfd::kfd_ioctl_alloc_memory_of_gpu_args {
            va_addr: va,
            size,
            mmap_offset: address,
            gpu_id: self.gpu_ids[gpu],
            flags: USERPTR | WRITABLE | EXECUTABLE,
            ..Default::default()
        };
        self.alloc_raw(&mut args)?;
        Ok(args.handle)
    }

    pub(crate) fn free(&self, handle: u64) -> Result<(), Errno> {
        self.ioctl(
            ioctl::FREE_MEMORY_OF_GPU,
            &mut kfd::kfd_ioctl_free_memory_of_gpu_args { handle },
        )
    }

    pub(crate) fn map(&self, handle: u64, gpus: &[u32]) -> Result<u32, Errno> {
        let mut args = kfd::kfd_ioctl_map_memory_to_gpu_args {
            handle,
            device_ids_array_ptr: gpus.as_ptr() as u64,
            n_devices: u32::try_from(gpus.len()).unwrap(),
            n_success: 0,
        };
        self.ioctl(ioctl::MAP_MEMORY_TO_GPU, &mut args)
            .map(|()| args.n_success)
    }

    pub(crate) fn unmap(&self, handle: u64, gpus: &[u32]) -> Result<u32, Errno> {
        let mut args = kfd::kfd_ioctl_unmap_memory_from_gpu_args {
            handle,
            device_ids_array_ptr: gpus.as_ptr() as u64,
            n_devices: u32::try_from(gpus.len()).unwrap(),
            n_success: 0,
        };
        self.ioctl(ioctl::UNMAP_MEMORY_FROM_GPU, &mut args)
            .map(|()| args.n_success)
    }

    pub(crate) fn mmap(&self, fd: Fd, offset: u64, length: usize) -> Result<*mut u64, Errno> {
        self.mmap_at(std::ptr::null_mut(), fd, offset, length)
    }

    pub(crate) fn mmap_at(
        &self,
        at: *mut c_void,
        fd: Fd,
        offset: u64,
        length: usize,
    ) -> Result<*mut u64, Errno> {
        let fixed = if at.is_null() { 0 } else { libc::MAP_FIXED };
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fixed address is always a reservation of the same test.
        let address = unsafe {
            self.kernel.mmap(
                at,
                length,
                prot,
                libc::MAP_SHARED | fixed,
                fd,
                offset.cast_signed(),
            )
        }?;
        Ok(address.cast())
    }

    /// System memory that CPU and all GPUs see at one address.
    pub(crate) fn shared(&self, bytes: usize) -> Shared {
        let at = reserve(bytes);
        let flags = GTT | WRITABLE | EXECUTABLE | PUBLIC;
        let (handle, offset) = self.alloc(0, at as u64, bytes as u64, flags).unwrap();
        self.mmap_at(at, self.render[0], offset, bytes).unwrap();
        self.map(handle, &self.gpu_ids).unwrap();
        Shared {
            address: at as u64,
            handle,
        }
    }

    pub(crate) fn create_event(&self, event_type: u32, auto_reset: bool) -> Result<u32, Errno> {
        let mut args = kfd::kfd_ioctl_create_event_args {
            event_type,
            auto_reset: auto_reset.into(),
            ..Default::default()
        };
        self.ioctl(ioctl::CREATE_EVENT, &mut args)
            .map(|()| args.event_id)
    }

    pub(crate) fn set_event(&self, event_id: u32) -> Result<(), Errno> {
        self.ioctl(
            ioctl::SET_EVENT,
            &mut kfd::kfd_ioctl_set_event_args { event_id, pad: 0 },
        )
    }

    pub(crate) fn reset_event(&self, event_id: u32) -> Result<(), Errno> {
        self.ioctl(
            ioctl::RESET_EVENT,
            &mut kfd::kfd_ioctl_reset_event_args { event_id, pad: 0 },
        )
    }

    pub(crate) fn destroy_event(&self, event_id: u32) -> Result<(), Errno> {
        self.ioctl(
            ioctl::DESTROY_EVENT,
            &mut kfd::kfd_ioctl_destroy_event_args { event_id, pad: 0 },
        )
    }

    /// Waits; gives `wait_result`, with the ages of signal events updated in `events`.
    pub(crate) fn wait(
        &self,
        events: &mut [EventData],
        all: bool,
        timeout_ms: u32,
    ) -> Result<u32, Errno> {
        let mut args = kfd::kfd_ioctl_wait_events_args {
            events_ptr: events.as_mut_ptr() as u64,
            num_events: u32::try_from(events.len()).unwrap(),
            wait_for_all: all.into(),
            timeout: timeout_ms,
            wait_result: 77,
        };
        self.ioctl(ioctl::WAIT_EVENTS, &mut args)
            .map(|()| args.wait_result)
    }

    pub(crate) fn create_queue(
        &self,
        args: &mut newer::kfd_ioctl_create_queue_args,
    ) -> Result<(), Errno> {
        self.ioctl(ioctl::CREATE_QUEUE, args)
    }

    pub(crate) fn destroy_queue(&self, queue_id: u32) -> Result<(), Errno> {
        self.ioctl(
            ioctl::DESTROY_QUEUE,
            &mut kfd::kfd_ioctl_destroy_queue_args { queue_id, pad: 0 },
        )
    }
}

/// Memory of [`Client::shared`].
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    pub(crate) address: u64,
    pub(crate) handle: u64,
}

/// `kfd_event_data`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct EventData {
    pub(crate) age: u64,
    pub(crate) words: [u32; 6],
    pub(crate) ext: u64,
    pub(crate) event_id: u32,
    pub(crate) pad: u32,
}

impl EventData {
    pub(crate) fn of(event_id: u32) -> Self {
        Self {
            event_id,
            ..Self::default()
        }
    }
}

pub(crate) fn open(kernel: &dyn Kernel, path: &str) -> Result<Fd, Errno> {
    kernel.open(&CString::new(path).unwrap(), libc::O_RDWR | libc::O_CLOEXEC)
}

pub(crate) fn ioctl_on<T>(
    kernel: &dyn Kernel,
    fd: Fd,
    request: Request,
    args: &mut T,
) -> Result<(), Errno> {
    let pointer = std::ptr::from_mut(args).cast();
    // SAFETY: whatever memory the arguments name lives until the test's end.
    unsafe { kernel.ioctl(fd, request.code(), pointer) }.map(drop)
}

/// An inaccessible range of the CPU's address space, as the thunk reserves one per allocation.
pub(crate) fn reserve(bytes: usize) -> *mut c_void {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at
}

/// Anonymous readable and writable memory.
pub(crate) fn anonymous(bytes: usize) -> *mut c_void {
    let at = reserve(bytes);
    protect(at, bytes, libc::PROT_READ | libc::PROT_WRITE);
    at
}

/// Changes the rights of a test's own mapping.
pub(crate) fn protect(at: *mut c_void, bytes: usize, prot: i32) {
    // SAFETY: tests only name mappings that they made.
    let failed = unsafe { libc::mprotect(at, bytes, prot) };
    assert_eq!(failed, 0);
}

/// Ends a test's own mapping.
pub(crate) fn unmap<T>(at: *mut T, bytes: usize) {
    // SAFETY: tests only name mappings that they made.
    let failed = unsafe { libc::munmap(at.cast(), bytes) };
    assert_eq!(failed, 0);
}

/// The 64-bit cell at an address that a test has mapped.
pub(crate) fn cell<'a>(address: u64) -> &'a AtomicU64 {
    // SAFETY: tests only name memory that lives as long as they look at it.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

pub(crate) fn topology(kernel: &dyn Kernel, file: &str) -> Result<String, Errno> {
    let path = format!("/sys/devices/virtual/kfd/kfd/topology/{file}");
    kernel
        .read_file(path.as_ref())
        .map(|bytes| String::from_utf8(bytes).unwrap())
}

pub(crate) fn gpu_id(kernel: &dyn Kernel, node: usize) -> Option<u32> {
    topology(kernel, &format!("nodes/{node}/gpu_id"))
        .ok()?
        .trim()
        .parse()
        .ok()
}

pub(crate) fn property(kernel: &dyn Kernel, node: usize, name: &str) -> u64 {
    let text = topology(kernel, &format!("nodes/{node}/properties")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} in {text}"))
        .parse()
        .unwrap()
}
