//! Memory objects: what is allocated or registered, where it lies and who may use it.

use crate::driver::{Driver, Gpu};
use crate::error::Error;
use crate::pages::{self, PAGE, Reservation};
use crate::types::{GpuVa, HostPtr, NodeId};
use bitflags::bitflags;
use hsakmt_sys::kfd::{
    self, KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM as AQL_QUEUE_MEM,
    KFD_IOC_ALLOC_MEM_FLAGS_COHERENT as COHERENT, KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE as EXECUTABLE,
    KFD_IOC_ALLOC_MEM_FLAGS_GTT as GTT, KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE as NO_SUBSTITUTE,
    KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC as PUBLIC, KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED as UNCACHED,
    KFD_IOC_ALLOC_MEM_FLAGS_USERPTR as USERPTR, KFD_IOC_ALLOC_MEM_FLAGS_VRAM as VRAM,
    KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE as WRITABLE,
};
use hsakmt_sys::newer::KFD_IOC_ALLOC_MEM_FLAGS_CONTIGUOUS as CONTIGUOUS;
use hsakmt_sys::{Errno, Fd};
use parking_lot::Mutex;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Largest object of one handle: the driver's limit is 512 GiB less one large page.
const MAX_OBJECT_BYTES: u64 = (512 << 30) - (2 << 20);

/// Where memory lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// Local memory of the node's GPU.
    Vram,
    /// Memory of the host, in pages that the driver owns; a forked child can read it.
    System,
}

bitflags! {
    /// How memory is to be used.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct AllocFlags: u32 {
        /// The host reads and writes it at the same address.
        const HOST_ACCESS = 1 << 0;
        /// GPUs may execute it.
        const EXECUTABLE = 1 << 1;
        /// Fine grained: coherent between devices while a kernel runs.
        const COHERENT = 1 << 2;
        /// Not cached by GPUs.
        const UNCACHED = 1 << 3;
        /// Physically contiguous VRAM (interface 1.16).
        const CONTIGUOUS = 1 << 4;
        /// GPUs only read it.
        const READ_ONLY = 1 << 5;
        /// Ring of an AQL queue: uncached, and mapped twice in a row where the GPU wants that.
        const AQL_QUEUE = 1 << 6;
        /// A handle only: no GPU address, no host view, not mappable.
        const NO_ADDRESS = 1 << 7;
    }
}

/// What to allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocRequest {
    /// The GPU whose VRAM it is, or for system memory the node to be near to.
    pub node: NodeId,
    /// Bytes, rounded up to pages.
    pub size_bytes: u64,
    /// 0, or a power of two not below a page.
    pub alignment: u64,
    /// Where.
    pub kind: MemoryKind,
    /// How.
    pub flags: AllocFlags,
}

/// Memory that GPUs can be given access to. Dropping it unmaps and frees it, and then gives its
/// addresses back.
#[derive(Debug)]
pub struct MemoryObject {
    /// Dropped first: the driver must let go before the addresses are free again.
    buffer: BufferObject,
    place: Place,
    size_bytes: u64,
    host: Option<HostPtr>,
}

impl Drop for MemoryObject {
    fn drop(&mut self) {
        if let (Place::Reserved(reservation), Some(host)) = (&self.place, self.host) {
            let kernel = self.buffer.driver.device.kernel();
            kernel.unmapped(host.addr(), reservation.size());
        }
    }
}

/// Where an object lies.
#[derive(Debug)]
enum Place {
    /// In reserved address space.
    Reserved(Reservation),
    /// In the handle aperture.
    Handle(HandleRange),
}

/// A range of the handle aperture.
#[derive(Debug)]
struct HandleRange {
    driver: Arc<Driver>,
    start: u64,
}

impl Drop for HandleRange {
    fn drop(&mut self) {
        self.driver.handles.lock().give_back(self.start);
    }
}

/// Whose mmap gives the host its view of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View {
    /// None: the range stays inaccessible.
    None,
    /// The render node's, at the offset that the allocation returned.
    Render,
    /// `/dev/kfd`'s, at the offset that the allocation returned.
    Kfd,
    /// `/dev/kfd`'s, at this offset.
    KfdAt(u64),
}

/// An allocation in the driver's terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// Whole pages.
    pub(crate) size_bytes: u64,
    /// A power of two ≥ a page.
    pub(crate) alignment: u64,
    /// `KFD_IOC_ALLOC_MEM_FLAGS_*`.
    pub(crate) flags: u32,
    /// Host address of user memory, else 0.
    pub(crate) user_address: u64,
    /// Host view.
    pub(crate) view: View,
    /// A forked child may see the view.
    pub(crate) inherit: bool,
    /// What an error calls it.
    pub(crate) what: &'static str,
}

impl MemoryObject {
    /// Allocates as a caller of this crate asks.
    pub(crate) fn allocate(driver: &Arc<Driver>, request: &AllocRequest) -> Result<Self, Error> {
        check(driver, request)?;
        let gpu = match request.kind {
            MemoryKind::Vram => driver.gpu(request.node)?,
            MemoryKind::System => driver.gpu_near(request.node)?,
        };
        let double =
            request.flags.contains(AllocFlags::AQL_QUEUE) && wants_double_ring(driver, gpu);
        let size_bytes = pages::round_up(request.size_bytes, PAGE)
            .and_then(|size| size.checked_mul(1 + u64::from(double)))
            .filter(|&size| size <= MAX_OBJECT_BYTES)
            .ok_or(Error::OutOfMemory {
                node: request.node,
                size_bytes: request.size_bytes,
            })?;
        let flags = kfd_flags(request) | if double { AQL_QUEUE_MEM } else { 0 };
        if request.flags.contains(AllocFlags::NO_ADDRESS) {
            return Self::without_address(driver, gpu, size_bytes, request.alignment, flags);
        }
        let host = request.flags.contains(AllocFlags::HOST_ACCESS);
        let spec = Spec {
            size_bytes,
            alignment: pages::natural_alignment(size_bytes, request.alignment),
            flags,
            user_address: 0,
            view: if host { View::Render } else { View::None },
            inherit: request.kind == MemoryKind::System,
            what: "device memory",
        };
        Self::create(driver, gpu, &spec)
    }

    /// Registers the pages of `ptr..ptr + size_bytes` under an address of their own.
    pub(crate) fn register(
        driver: &Arc<Driver>,
        ptr: HostPtr,
        size_bytes: u64,
        coherent: bool,
    ) -> Result<Self, Error> {
        let start = ptr.addr() as u64 & !(PAGE - 1);
        let end = (ptr.addr() as u64)
            .checked_add(size_bytes)
            .and_then(|end| pages::round_up(end, PAGE))
            .filter(|_| size_bytes > 0)
            .ok_or(Error::Invalid("user memory is empty or wraps around"))?;
        let gpu = driver
            .gpus()
            .next()
            .ok_or(Error::Invalid("no GPU to register memory with"))?;
        let coherence = if coherent { COHERENT } else { 0 };
        let spec = Spec {
            size_bytes: end - start,
            alignment: pages::natural_alignment(end - start, 0),
            flags: USERPTR | WRITABLE | EXECUTABLE | NO_SUBSTITUTE | coherence,
            user_address: start,
            view: View::None,
            inherit: true,
            what: "user memory",
        };
        Self::create(driver, gpu, &spec)
    }

    /// Allocates in the driver's terms.
    pub(crate) fn create(driver: &Arc<Driver>, gpu: &Gpu, spec: &Spec) -> Result<Self, Error> {
        let reservation = reserve(driver, spec.size_bytes, spec.alignment)?;
        let (buffer, offset) = BufferObject::new(driver, gpu, reservation.va(), spec)?;
        let view = match spec.view {
            View::None => None,
            View::Render => Some((gpu.render.fd, offset)),
            View::Kfd => Some((driver.device.kfd(), offset)),
            View::KfdAt(offset) => Some((driver.device.kfd(), offset)),
        };
        let host = view.map(|(fd, offset)| show(driver, &reservation, fd, offset, spec));
        Ok(Self {
            host: host.transpose()?,
            buffer,
            place: Place::Reserved(reservation),
            size_bytes: spec.size_bytes,
        })
    }

    fn without_address(
        driver: &Arc<Driver>,
        gpu: &Gpu,
        size_bytes: u64,
        alignment: u64,
        flags: u32,
    ) -> Result<Self, Error> {
        let start = driver.handles.lock().take(size_bytes, alignment);
        let start = start.ok_or(Error::OutOfMemory {
            node: gpu.node,
            size_bytes,
        })?;
        let range = HandleRange {
            driver: Arc::clone(driver),
            start,
        };
        let spec = Spec {
            size_bytes,
            alignment,
            flags,
            user_address: 0,
            view: View::None,
            inherit: false,
            what: "memory without address",
        };
        let (buffer, _) = BufferObject::new(driver, gpu, GpuVa(0), &spec)?;
        Ok(Self {
            buffer,
            place: Place::Handle(range),
            size_bytes,
            host: None,
        })
    }

    /// Imports a dma-buf into the address space of a GPU.
    pub(crate) fn import(
        driver: &Arc<Driver>,
        gpu: &Gpu,
        dmabuf: Fd,
        size_bytes: u64,
    ) -> Result<Self, Error> {
        let size_bytes = pages::round_up(size_bytes, PAGE)
            .filter(|size| (1..=MAX_OBJECT_BYTES).contains(size))
            .ok_or(Error::Invalid("bad size of a dma-buf"))?;
        let reservation = reserve(driver, size_bytes, pages::natural_alignment(size_bytes, 0))?;
        let buffer = BufferObject::import(driver, gpu, reservation.va(), dmabuf)?;
        Ok(Self {
            buffer,
            place: Place::Reserved(reservation),
            size_bytes,
            host: None,
        })
    }

    /// Address in GPUs. For user memory, of the page that holds the first byte; for memory without
    /// an address, its place in the handle aperture, which no access can reach.
    pub fn gpu_va(&self) -> GpuVa {
        match &self.place {
            Place::Reserved(reservation) => reservation.va(),
            Place::Handle(range) => GpuVa(range.start),
        }
    }

    /// Address in this process, if the host has access through this object.
    pub const fn host_ptr(&self) -> Option<HostPtr> {
        self.host
    }

    /// Bytes, a multiple of the page size. A ring that is mapped twice counts twice.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The driver's handle.
    pub const fn handle(&self) -> u64 {
        self.buffer.handle
    }

    /// The node whose GPU's driver instance owns the memory.
    pub const fn owner(&self) -> NodeId {
        self.buffer.owner
    }

    /// Gives the GPUs of `nodes` access; those that have it keep it.
    ///
    /// # Errors
    /// A node without GPU, memory without address, a driver that refuses; none of `nodes` has then
    /// gained access.
    pub fn map(&self, nodes: &[NodeId]) -> Result<(), Error> {
        match self.place {
            Place::Handle(_) => Err(Error::NoAddress { va: self.gpu_va() }),
            Place::Reserved(_) => self.buffer.map(nodes),
        }
    }

    /// Takes access away from the GPUs of `nodes`; those without it are passed over.
    ///
    /// # Errors
    /// The driver refuses; [`MemoryObject::mapped_nodes`] tells who still has access.
    pub fn unmap(&self, nodes: &[NodeId]) -> Result<(), Error> {
        self.buffer.unmap(nodes)
    }

    /// The nodes that have access now.
    pub fn mapped_nodes(&self) -> Vec<NodeId> {
        self.buffer.mapped.lock().clone()
    }

    /// A dma-buf descriptor that another process or API can import; an ordinary descriptor of the
    /// process, closed with `close(2)`.
    ///
    /// # Errors
    /// The driver is older than 1.12 or refuses.
    pub fn export_dmabuf(&self) -> Result<OwnedFd, Error> {
        self.buffer.driver.need("dma-buf export", 12)?;
        self.buffer.driver.device.export_dmabuf(self.buffer.handle)
    }

    /// Leaves freeing to the driver, which has taken the object over (the event page).
    pub(crate) fn given_to_driver(&mut self) {
        self.buffer.kept_by_driver = true;
    }

    /// Writes words into the host view. Panics outside of it.
    pub(crate) fn write_words(&self, offset: usize, words: &[u32]) {
        match (&self.place, self.host) {
            (Place::Reserved(reservation), Some(_)) => {
                pages::write_words(reservation, offset, words);
            }
            // PANIC: the callers in this crate have asked for a host view.
            _ => panic!("no host view"),
        }
    }
}

/// Address space of the process, if every GPU reaches it: always with 47 bits or more, by luck with
/// the smaller address spaces of old chips.
fn reserve(driver: &Driver, size_bytes: u64, alignment: u64) -> Result<Reservation, Error> {
    let reservation = Reservation::new(size_bytes, alignment)?;
    let last = reservation.va().add(size_bytes - 1);
    if last > driver.va_limit {
        return Err(Error::BeyondReach {
            va: last,
            limit: driver.va_limit,
        });
    }
    Ok(reservation)
}

fn show(
    driver: &Driver,
    reservation: &Reservation,
    fd: Fd,
    offset: u64,
    spec: &Spec,
) -> Result<HostPtr, Error> {
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    reservation.map_device(&**driver.device.kernel(), fd, offset, prot, spec.what)?;
    if !spec.inherit {
        reservation.dont_fork();
    }
    Ok(reservation.host())
}

/// Rules that the driver does not check, or answers with a bare `EINVAL`.
fn check(driver: &Driver, request: &AllocRequest) -> Result<(), Error> {
    let AllocRequest {
        node,
        size_bytes,
        alignment,
        kind,
        flags,
    } = *request;
    let found = driver.node(node)?;
    if size_bytes == 0 {
        return Err(Error::Invalid("allocation of 0 bytes"));
    }
    if alignment != 0 && (!alignment.is_power_of_two() || alignment < PAGE) {
        return Err(Error::Invalid(
            "alignment is no power of two of at least a page",
        ));
    }
    if flags.contains(AllocFlags::NO_ADDRESS | AllocFlags::HOST_ACCESS) {
        return Err(Error::Invalid("memory without an address has no host view"));
    }
    if flags.contains(AllocFlags::CONTIGUOUS) {
        driver.need("contiguous memory", 16)?;
    }
    let host_vram = kind == MemoryKind::Vram && flags.contains(AllocFlags::HOST_ACCESS);
    let private = |bank: &crate::topology::MemoryBank| {
        bank.heap_type == crate::topology::HeapType::FRAME_BUFFER_PRIVATE
    };
    if host_vram && found.memory_banks.iter().any(private) {
        return Err(Error::SmallBar { node });
    }
    Ok(())
}

fn wants_double_ring(driver: &Driver, gpu: &Gpu) -> bool {
    let capability = driver
        .node(gpu.node)
        .map_or(0, |node| node.properties.capability);
    capability & crate::topology::capability::AQL_QUEUE_DOUBLE_MAP != 0
}

/// The driver's flags, bit by bit as AMD's runtimes send them for the same purposes.
fn kfd_flags(request: &AllocRequest) -> u32 {
    let has = |flag, bits| {
        if request.flags.contains(flag) {
            bits
        } else {
            0
        }
    };
    let domain = match request.kind {
        MemoryKind::Vram => VRAM | has(AllocFlags::HOST_ACCESS, PUBLIC),
        MemoryKind::System => GTT,
    };
    let writable = if request.flags.contains(AllocFlags::READ_ONLY) {
        0
    } else {
        WRITABLE
    };
    domain
        | NO_SUBSTITUTE
        | writable
        | has(AllocFlags::EXECUTABLE, EXECUTABLE)
        | has(AllocFlags::COHERENT, COHERENT)
        | has(AllocFlags::UNCACHED, UNCACHED)
        | has(AllocFlags::AQL_QUEUE, UNCACHED)
        | has(AllocFlags::CONTIGUOUS, CONTIGUOUS)
}

/// A handle of the driver with the GPUs it is mapped to.
#[derive(Debug)]
struct BufferObject {
    driver: Arc<Driver>,
    handle: u64,
    owner: NodeId,
    /// Held across the ioctl, so that it always tells what the driver did.
    mapped: Mutex<Vec<NodeId>>,
    kept_by_driver: bool,
}

impl BufferObject {
    /// Allocates; answers the object and its mmap offset.
    fn new(driver: &Arc<Driver>, gpu: &Gpu, va: GpuVa, spec: &Spec) -> Result<(Self, u64), Error> {
        let mut argument = kfd::kfd_ioctl_alloc_memory_of_gpu_args {
            va_addr: va.get(),
            size: spec.size_bytes,
            handle: 0,
            mmap_offset: spec.user_address,
            gpu_id: gpu.gpu_id,
            flags: spec.flags,
        };
        driver
            .device
            .call(&mut argument)
            .map_err(|error| match error.errno() {
                Some(Errno(libc::ENOMEM)) => Error::OutOfMemory {
                    node: gpu.node,
                    size_bytes: spec.size_bytes,
                },
                _ => error,
            })?;
        Ok((
            Self::owned(driver, gpu, argument.handle),
            argument.mmap_offset,
        ))
    }

    fn import(driver: &Arc<Driver>, gpu: &Gpu, va: GpuVa, dmabuf: Fd) -> Result<Self, Error> {
        let mut argument = kfd::kfd_ioctl_import_dmabuf_args {
            va_addr: va.get(),
            handle: 0,
            gpu_id: gpu.gpu_id,
            dmabuf_fd: u32::try_from(dmabuf.0).map_err(|_| Error::Invalid("bad descriptor"))?,
        };
        driver.device.call(&mut argument)?;
        Ok(Self::owned(driver, gpu, argument.handle))
    }

    fn owned(driver: &Arc<Driver>, gpu: &Gpu, handle: u64) -> Self {
        Self {
            driver: Arc::clone(driver),
            handle,
            owner: gpu.node,
            mapped: Mutex::new(Vec::new()),
            kept_by_driver: false,
        }
    }

    fn map(&self, nodes: &[NodeId]) -> Result<(), Error> {
        let mut mapped = self.mapped.lock();
        let mut new: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for &node in nodes {
            if !mapped.contains(&node) && !new.contains(&node) {
                new.push(node);
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let gpus = self.gpu_ids(&new)?;
        match self.driver.device.map_memory(self.handle, &gpus) {
            Ok(()) => mapped.extend(new),
            Err((done, error)) => {
                mapped.extend(self.undo(&new[..done], &gpus[..done]));
                return Err(error);
            }
        }
        Ok(())
    }

    /// Takes back what a failed `map` did; answers the nodes that could not be taken back.
    fn undo<'a>(&self, nodes: &'a [NodeId], gpus: &[u32]) -> &'a [NodeId] {
        if gpus.is_empty() {
            return &[];
        }
        match self.driver.device.unmap_memory(self.handle, gpus) {
            Ok(()) => &[],
            Err((done, error)) => {
                tracing::warn!(%error, "cannot undo a partial mapping");
                &nodes[done..]
            }
        }
    }

    fn unmap(&self, nodes: &[NodeId]) -> Result<(), Error> {
        let mut mapped = self.mapped.lock();
        let (gone, kept): (Vec<_>, Vec<_>) = mapped.iter().partition(|node| nodes.contains(node));
        if gone.is_empty() {
            return Ok(());
        }
        let gpus = self.gpu_ids(&gone)?;
        let (left, result) = match self.driver.device.unmap_memory(self.handle, &gpus) {
            Ok(()) => (gone.len(), Ok(())),
            Err((done, error)) => (done, Err(error)),
        };
        *mapped = kept;
        mapped.extend(&gone[left..]);
        result
    }

    fn gpu_ids(&self, nodes: &[NodeId]) -> Result<Vec<u32>, Error> {
        nodes
            .iter()
            .map(|&node| self.driver.gpu(node).map(|gpu| gpu.gpu_id))
            .collect()
    }
}

impl Drop for BufferObject {
    fn drop(&mut self) {
        if self.kept_by_driver {
            return;
        }
        let nodes = std::mem::take(self.mapped.get_mut());
        if let Ok(gpus) = self.gpu_ids(&nodes)
            && !gpus.is_empty()
            && let Err((_, error)) = self.driver.device.unmap_memory(self.handle, &gpus)
        {
            tracing::warn!(%error, handle = self.handle, "cannot unmap before freeing");
        }
        let mut argument = kfd::kfd_ioctl_free_memory_of_gpu_args {
            handle: self.handle,
        };
        if let Err(error) = self.driver.device.call(&mut argument) {
            tracing::error!(%error, handle = self.handle, "cannot free device memory");
        }
    }
}

#[cfg(test)]
mod tests;
