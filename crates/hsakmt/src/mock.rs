//! A scripted kernel for tests: keeps books about everything that is open, allocated or created,
//! and fails at a chosen call.

use crate::topology::capability;
use hsakmt_sys::ioctl::{self, Request};
use hsakmt_sys::kfd::*;
use hsakmt_sys::newer::{self, kfd_ioctl_create_queue_args};
use hsakmt_sys::{Errno, Fd, Kernel};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{CStr, c_int, c_void};
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";
/// gpu_id of the first GPU; the others follow.
pub(crate) const FIRST_GPU: u32 = 50149;
const FIRST_RENDER: u32 = 128;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Buffer {
    pub(crate) va: u64,
    pub(crate) size: u64,
    pub(crate) flags: u32,
    pub(crate) user_address: u64,
    pub(crate) mapped: BTreeSet<u32>,
}

/// What a scripted WAIT_EVENTS answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) result: u32,
    pub(crate) payload: [u64; 4],
    pub(crate) errno: c_int,
}

#[derive(Debug)]
pub(crate) struct State {
    files: BTreeMap<PathBuf, Result<Vec<u8>, Errno>>,
    renders: BTreeMap<u32, Result<(), Errno>>,
    kfd: Result<(), Errno>,
    pub(crate) version: (u32, u32),
    pub(crate) open: BTreeMap<c_int, String>,
    next_number: u32,
    pub(crate) buffers: BTreeMap<u64, Buffer>,
    pub(crate) queues: BTreeMap<u32, kfd_ioctl_create_queue_args>,
    pub(crate) events: BTreeMap<u32, u32>,
    pub(crate) event_page: Option<u64>,
    pub(crate) waits: VecDeque<Wait>,
    pub(crate) log: Vec<&'static str>,
    pub(crate) svm: Vec<(u32, u32)>,
    bumps: u32,
    fail_in: Option<(u32, Errno)>,
    /// Last address of each GPU's address space.
    pub(crate) gpuvm_limit: u64,
    /// What [`Kernel::outlives_close`] answers.
    pub(crate) keeps_state: bool,
    /// MAP_MEMORY fails after this many GPUs.
    pub(crate) map_limit: Option<usize>,
    pub(crate) rung: Vec<u64>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            files: BTreeMap::new(),
            renders: BTreeMap::new(),
            kfd: Ok(()),
            version: (1, 17),
            open: BTreeMap::new(),
            next_number: 1000,
            buffers: BTreeMap::new(),
            queues: BTreeMap::new(),
            events: BTreeMap::new(),
            event_page: None,
            waits: VecDeque::new(),
            log: Vec::new(),
            svm: Vec::new(),
            bumps: 0,
            fail_in: None,
            gpuvm_limit: 0x7fff_ffff_ffff,
            keeps_state: false,
            map_limit: None,
            rung: Vec::new(),
        }
    }
}

#[derive(Default, Debug)]
pub(crate) struct MockKernel {
    state: Mutex<State>,
}

impl MockKernel {
    /// One CPU node and `count` GPUs with the properties of an MI210.
    pub(crate) fn with_gpus(count: u32) -> Self {
        let kernel = Self::default();
        kernel.set_file("generation_id", "2\n");
        kernel.set_file(
            "system_properties",
            "platform_oem 1\nplatform_id 2\nplatform_rev 3\n",
        );
        let cpu = format!("cpu_cores_count 8\nmem_banks_count 1\nio_links_count {count}\n");
        kernel.set_file("nodes/0/properties", &cpu);
        kernel.set_file("nodes/0/gpu_id", "0\n");
        kernel.set_file(
            "nodes/0/mem_banks/0/properties",
            "heap_type 0\nsize_in_bytes 4096\n",
        );
        for gpu in 0..count {
            kernel.add_gpu(gpu);
        }
        kernel
    }

    fn add_gpu(&self, index: u32) {
        let (node, render) = (index + 1, FIRST_RENDER + index);
        let link = |from, to| format!("type 2\nnode_from {from}\nnode_to {to}\nweight 20\n");
        self.set_file(
            &format!("nodes/0/io_links/{index}/properties"),
            &link(0, node),
        );
        self.set_file(
            &format!("nodes/{node}/io_links/0/properties"),
            &link(node, 0),
        );
        self.set_file(
            &format!("nodes/{node}/gpu_id"),
            &format!("{}\n", FIRST_GPU + index),
        );
        self.set_file(&format!("nodes/{node}/name"), "aldebaran\n");
        let bank = "heap_type 1\nsize_in_bytes 68702699520\nwidth 4096\nmem_clk_max 1600\n";
        self.set_file(&format!("nodes/{node}/mem_banks/0/properties"), bank);
        self.set_gpu_properties(index, "");
        self.state.lock().renders.insert(render, Ok(()));
    }

    /// Writes the properties of a GPU, with `more` lines after the usual ones.
    pub(crate) fn set_gpu_properties(&self, index: u32, more: &str) {
        let properties = format!(
            "simd_count 416\nsimd_per_cu 4\narray_count 8\nsimd_arrays_per_engine 1\n\
             gfx_target_version 90010\nlds_size_in_kb 64\nnum_xcc 1\nmem_banks_count 1\n\
             io_links_count 1\ncapability 746037888\nlocal_mem_size 0\n\
             drm_render_minor {}\n{more}",
            FIRST_RENDER + index
        );
        self.set_file(&format!("nodes/{}/properties", index + 1), &properties);
    }

    /// Writes a file of the topology.
    pub(crate) fn set_file(&self, path: &str, text: &str) {
        self.set_absolute(&format!("{ROOT}/{path}"), text);
    }

    pub(crate) fn set_absolute(&self, path: &str, text: &str) {
        self.state.lock().files.insert(path.into(), Ok(text.into()));
    }

    pub(crate) fn hide_gpu_id(&self, node: u32) {
        let path = format!("{ROOT}/nodes/{node}/gpu_id");
        self.state
            .lock()
            .files
            .insert(path.into(), Err(Errno(libc::EPERM)));
    }

    pub(crate) fn refuse_render(&self, minor: u32, errno: c_int) {
        self.state.lock().renders.insert(minor, Err(Errno(errno)));
    }

    pub(crate) fn refuse_kfd(&self, errno: c_int) {
        self.state.lock().kfd = Err(Errno(errno));
    }

    pub(crate) fn bump_generation_during_next_read(&self) {
        self.state.lock().bumps = 1;
    }

    pub(crate) fn bump_generation_always(&self) {
        self.state.lock().bumps = u32::MAX;
    }

    /// Lets the open, ioctl or mmap after `calls` successful ones fail, once.
    pub(crate) fn fail_after(&self, calls: u32, errno: c_int) {
        self.state.lock().fail_in = Some((calls, Errno(errno)));
    }

    /// Whether a failure is still to come.
    pub(crate) fn failure_pending(&self) -> bool {
        self.state.lock().fail_in.is_some()
    }

    pub(crate) fn no_failure(&self) {
        self.state.lock().fail_in = None;
    }

    pub(crate) fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Counts one call; answers the injected failure when its time has come.
    fn count(&mut self) -> Result<(), Errno> {
        match &mut self.fail_in {
            Some((0, errno)) => {
                let errno = *errno;
                self.fail_in = None;
                Err(errno)
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number
    }

    fn bump(&mut self, path: &Path) {
        if self.bumps > 0 && path.ends_with("system_properties") {
            self.bumps -= 1;
            let path = Path::new(ROOT).join("generation_id");
            let old = self.files[&path].clone().unwrap();
            let next = String::from_utf8(old)
                .unwrap()
                .trim()
                .parse::<u32>()
                .unwrap()
                + 1;
            self.files.insert(path, Ok(next.to_string().into_bytes()));
        }
    }

    fn dispatch(&mut self, request: Request, arg: *mut c_void) -> Result<(), Errno> {
        self.log.push(ioctl::name(request).expect("a known ioctl"));
        match request.nr() {
            0x01 => {
                let a = argument::<kfd_ioctl_get_version_args>(arg);
                (a.major_version, a.minor_version) = self.version;
            }
            0x02 => self.create_queue(argument(arg))?,
            0x03 => {
                let a = argument::<kfd_ioctl_destroy_queue_args>(arg);
                self.queues.remove(&a.queue_id).ok_or(Errno(libc::EINVAL))?;
            }
            0x05 => {
                let a = argument::<kfd_ioctl_get_clock_counters_args>(arg);
                a.gpu_clock_counter = u64::from(a.gpu_id);
                a.system_clock_freq = 1_000_000_000;
            }
            0x08 => self.create_event(argument(arg))?,
            0x09 => {
                let a = argument::<kfd_ioctl_destroy_event_args>(arg);
                self.events.remove(&a.event_id).ok_or(Errno(libc::EINVAL))?;
            }
            0x0c => self.wait(argument(arg))?,
            0x14 => self.apertures(argument(arg)),
            0x16 => self.allocate(argument(arg)),
            0x17 => {
                let a = argument::<kfd_ioctl_free_memory_of_gpu_args>(arg);
                self.free(a.handle)?;
            }
            0x18 => self.map(argument(arg))?,
            0x19 => self.unmap(argument(arg))?,
            0x20 => self.svm(arg),
            0x21 => argument::<kfd_ioctl_set_xnack_mode_args>(arg).xnack_enabled = 0,
            0x23 => argument::<kfd_ioctl_get_available_memory_args>(arg).available = 123 << 20,
            _ => {}
        }
        Ok(())
    }

    fn create_queue(&mut self, a: &mut kfd_ioctl_create_queue_args) -> Result<(), Errno> {
        let covers = |b: &&Buffer, va: u64| va >= b.va && va < b.va + b.size;
        for va in [a.eop_buffer_address, a.ctx_save_restore_address] {
            let buffer = self.buffers.values().find(|b| covers(b, va));
            if va != 0 && !buffer.is_some_and(|b| b.mapped.contains(&a.gpu_id)) {
                return Err(Errno(libc::EFAULT));
            }
        }
        a.queue_id = self.number();
        a.doorbell_offset = 3 << 62 | u64::from(a.gpu_id) << 46 | (8 * u64::from(a.queue_id % 64));
        self.queues.insert(a.queue_id, *a);
        Ok(())
    }

    fn create_event(&mut self, a: &mut kfd_ioctl_create_event_args) -> Result<(), Errno> {
        if a.event_page_offset != 0 {
            if self.event_page.is_some() || !self.buffers.contains_key(&a.event_page_offset) {
                return Err(Errno(libc::EINVAL));
            }
            self.event_page = Some(a.event_page_offset);
        }
        a.event_id = self.number();
        a.event_slot_index = a.event_id % 4096;
        self.events.insert(a.event_id, a.event_type);
        Ok(())
    }

    fn wait(&mut self, a: &mut kfd_ioctl_wait_events_args) -> Result<(), Errno> {
        let wait = self.waits.pop_front().expect("a scripted wait");
        if wait.errno != 0 {
            return Err(Errno(wait.errno));
        }
        a.wait_result = wait.result;
        for index in 0..a.num_events as usize {
            let at: *mut newer::kfd_event_data = host(a.events_ptr);
            // SAFETY: the caller passes `num_events` entries.
            unsafe { (*at.wrapping_add(index)).payload = wait.payload };
        }
        Ok(())
    }

    fn apertures(&mut self, a: &mut kfd_ioctl_get_process_apertures_new_args) {
        let count = u32::try_from(self.renders.len()).unwrap();
        if a.num_of_nodes == 0 {
            a.num_of_nodes = count;
            return;
        }
        a.num_of_nodes = a.num_of_nodes.min(count);
        let at: *mut kfd_process_device_apertures = host(a.kfd_process_device_apertures_ptr);
        for index in 0..a.num_of_nodes {
            let entry = kfd_process_device_apertures {
                lds_base: 1 << 48,
                lds_limit: (1 << 48) + 0xffff_ffff,
                scratch_base: 2 << 48,
                scratch_limit: (2 << 48) + 0xffff_ffff,
                gpuvm_base: 0x4000,
                gpuvm_limit: self.gpuvm_limit,
                gpu_id: FIRST_GPU + index,
                ..Default::default()
            };
            // SAFETY: the caller passes `num_of_nodes` entries.
            unsafe { at.wrapping_add(index as usize).write(entry) };
        }
    }

    fn allocate(&mut self, a: &mut kfd_ioctl_alloc_memory_of_gpu_args) {
        a.handle = u64::from(a.gpu_id) << 32 | u64::from(self.number());
        let buffer = Buffer {
            va: a.va_addr,
            size: a.size,
            flags: a.flags,
            user_address: a.mmap_offset,
            mapped: BTreeSet::new(),
        };
        a.mmap_offset = a.handle << 12;
        self.buffers.insert(a.handle, buffer);
    }

    fn free(&mut self, handle: u64) -> Result<(), Errno> {
        match self.buffers.get(&handle) {
            None => Err(Errno(libc::EINVAL)),
            Some(buffer) if !buffer.mapped.is_empty() => Err(Errno(libc::EBUSY)),
            Some(_) => {
                self.buffers.remove(&handle);
                Ok(())
            }
        }
    }

    fn map(&mut self, a: &mut kfd_ioctl_map_memory_to_gpu_args) -> Result<(), Errno> {
        let buffer = self.buffers.get_mut(&a.handle).ok_or(Errno(libc::ENOMEM))?;
        for index in 0..a.n_devices as usize {
            if self.map_limit.is_some_and(|limit| index >= limit) {
                return Err(Errno(libc::ENOMEM));
            }
            buffer.mapped.insert(gpu_at(a.device_ids_array_ptr, index));
            a.n_success += 1;
        }
        Ok(())
    }

    fn unmap(&mut self, a: &mut kfd_ioctl_unmap_memory_from_gpu_args) -> Result<(), Errno> {
        let buffer = self.buffers.get_mut(&a.handle).ok_or(Errno(libc::ENOMEM))?;
        for index in 0..a.n_devices as usize {
            buffer.mapped.remove(&gpu_at(a.device_ids_array_ptr, index));
            a.n_success += 1;
        }
        Ok(())
    }

    /// SET remembers the attributes, GET answers access in place, 7 for all else.
    fn svm(&mut self, arg: *mut c_void) {
        let header = argument::<kfd_ioctl_svm_args>(arg);
        let first: *mut kfd_ioctl_svm_attribute = arg.wrapping_byte_add(24).cast();
        for index in 0..header.nattr as usize {
            // SAFETY: the caller passes `nattr` attributes behind the header.
            let attribute = unsafe { &mut *first.wrapping_add(index) };
            match (header.op, attribute.type_) {
                (KFD_IOCTL_SVM_OP_SET_ATTR, _) => self.svm.push((attribute.type_, attribute.value)),
                (_, KFD_IOCTL_SVM_ATTR_ACCESS) => {
                    attribute.type_ = KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE
                }
                _ => attribute.value = 7,
            }
        }
    }
}

fn host<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap())
}

fn argument<'a, T>(arg: *mut c_void) -> &'a mut T {
    // SAFETY: the code under test passes the struct that belongs to the request.
    unsafe { &mut *arg.cast() }
}

fn gpu_at(array: u64, index: usize) -> u32 {
    // SAFETY: the caller passes an array of at least `index + 1` ids.
    unsafe { host::<u32>(array).wrapping_add(index).read() }
}

impl Kernel for MockKernel {
    fn open(&self, path: &CStr, _flags: c_int) -> Result<Fd, Errno> {
        let mut state = self.state.lock();
        state.count()?;
        let path = path.to_str().unwrap().to_owned();
        match path.strip_prefix("/dev/dri/renderD") {
            Some(minor) => {
                let minor: u32 = minor.parse().unwrap();
                state
                    .renders
                    .get(&minor)
                    .copied()
                    .unwrap_or(Err(Errno(libc::ENOENT)))?;
            }
            None => state.kfd?,
        }
        let fd = c_int::try_from(state.number()).unwrap();
        state.open.insert(fd, path);
        Ok(Fd(fd))
    }

    fn close(&self, fd: Fd) -> Result<(), Errno> {
        self.state
            .lock()
            .open
            .remove(&fd.0)
            .map(drop)
            .ok_or(Errno(libc::EBADF))
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, arg: *mut c_void) -> Result<c_int, Errno> {
        let mut state = self.state.lock();
        state.count()?;
        assert!(
            state.open.contains_key(&fd.0),
            "ioctl on a closed descriptor"
        );
        state.dispatch(Request::from_code(request), arg)?;
        Ok(0)
    }

    unsafe fn mmap(
        &self,
        addr: *mut c_void,
        length: usize,
        prot: c_int,
        flags: c_int,
        fd: Fd,
        _offset: i64,
    ) -> Result<*mut c_void, Errno> {
        let mut state = self.state.lock();
        state.count()?;
        assert!(
            state.open.contains_key(&fd.0),
            "mmap of a closed descriptor"
        );
        state.log.push("mmap");
        let flags = flags | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: the caller's promise about MAP_FIXED.
        let at = unsafe { libc::mmap(addr, length, prot, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            Err(Errno::last())
        } else {
            Ok(at)
        }
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        let mut state = self.state.lock();
        state.bump(path);
        state
            .files
            .get(path)
            .cloned()
            .unwrap_or(Err(Errno(libc::ENOENT)))
    }

    fn outlives_close(&self) -> bool {
        self.state.lock().keeps_state
    }

    unsafe fn ring_doorbell(&self, doorbell: *mut u64, value: u64) {
        self.state.lock().rung.push(value);
        // SAFETY: the caller passes a live mapping.
        unsafe { doorbell.write_volatile(value) };
    }
}

/// The MI210's doorbell type is 2, as runtimes demand.
const _: () = assert!(746_037_888 >> capability::DOORBELL_TYPE_SHIFT & 3 == 2);
