//! Buffer objects of a process: what ALLOC_MEMORY_OF_GPU gives out handles for.

use std::collections::BTreeMap;
use std::sync::Arc;

use hsakmt_sys::{Errno, kfd, newer};
use slab::Slab;

use crate::memory::{Extent, HeapKind, Segment};
use crate::vm::{Kind, Mapping, Rights};

/// What is behind a buffer object.
#[derive(Clone, Debug)]
pub(crate) enum Backing {
    /// Memory of a GPU; shared with dma-bufs that were made of it.
    Extent(Arc<Extent>),
    /// Memory of the client, by CPU address.
    User(u64),
    /// A page that vkfd shares with the client (doorbells, registers).
    Page(Arc<Segment>, Kind),
}

/// One buffer object.
#[derive(Clone, Debug)]
pub(crate) struct Bo {
    /// Index of the owning GPU.
    pub(crate) gpu: usize,
    /// GPU virtual address, 0 if it has none (vmem handles).
    pub(crate) va: u64,
    /// Size that the client asked for.
    pub(crate) bytes: u64,
    /// `KFD_IOC_ALLOC_MEM_FLAGS_*`.
    pub(crate) flags: u32,
    /// Memory.
    pub(crate) backing: Backing,
    /// GPUs (bit = index) that it is mapped on.
    pub(crate) mapped: u64,
    /// The event page: it cannot be freed.
    pub(crate) pinned: bool,
}

impl Bo {
    /// Host address of the first byte.
    pub(crate) fn host(&self) -> u64 {
        match &self.backing {
            Backing::Extent(extent) => extent.host(),
            Backing::User(address) => *address,
            Backing::Page(segment, _) => segment.host(0),
        }
    }

    /// Offset for mmap of the render node; 0 if it cannot be mapped there.
    pub(crate) fn mmap_offset(&self) -> u64 {
        match &self.backing {
            Backing::Extent(extent) => extent.file_offset(),
            Backing::User(_) | Backing::Page(..) => 0,
        }
    }

    /// The mappings that MAP_MEMORY_TO_GPU makes: base address and mapping. An AQL queue's ring
    /// appears twice in a row.
    pub(crate) fn mappings(&self) -> Vec<(u64, Mapping)> {
        let twice = self.flags & kfd::KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM != 0;
        let bytes = if twice { self.bytes / 2 } else { self.bytes };
        let bases = [self.va, self.va + bytes];
        let count = if twice { 2 } else { 1 };
        bases
            .into_iter()
            .take(count)
            .map(|base| (base, self.mapping(base, bytes)))
            .collect()
    }

    fn mapping(&self, base: u64, bytes: u64) -> Mapping {
        Mapping {
            bytes,
            delta: self.host().wrapping_sub(base),
            rights: rights_of(self.flags),
            stable: !matches!(self.backing, Backing::User(_)),
            kind: self.kind(),
        }
    }

    /// What it is, for reports.
    pub(crate) fn kind(&self) -> Kind {
        match &self.backing {
            Backing::Extent(extent) => match extent.kind() {
                HeapKind::Vram => Kind::Vram,
                HeapKind::Gtt => Kind::Gtt,
            },
            Backing::User(_) => Kind::UserPtr,
            Backing::Page(_, kind) => *kind,
        }
    }
}

/// Rights that allocation flags stand for.
pub(crate) fn rights_of(flags: u32) -> Rights {
    Rights {
        writable: flags & kfd::KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE != 0,
        executable: flags & kfd::KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE != 0,
    }
}

/// All flags that interface 1.18 knows.
pub(crate) const KNOWN_FLAGS: u32 = kfd::KFD_IOC_ALLOC_MEM_FLAGS_VRAM
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_GTT
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_USERPTR
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_COHERENT
    | kfd::KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED
    | newer::KFD_IOC_ALLOC_MEM_FLAGS_EXT_COHERENT
    | newer::KFD_IOC_ALLOC_MEM_FLAGS_CONTIGUOUS;

/// Handles and mmap offsets of a process.
#[derive(Debug)]
pub(crate) struct BoTable {
    /// Per GPU; the handle's low half is the key plus 1, as the kernel's idr starts at 1.
    objects: Vec<Slab<Bo>>,
    gpu_ids: Vec<u32>,
    /// mmap offset to handle, per GPU.
    offsets: Vec<BTreeMap<u64, u64>>,
}

impl BoTable {
    pub(crate) fn new(gpu_ids: Vec<u32>) -> Self {
        let count = gpu_ids.len();
        let offsets = std::iter::repeat_with(BTreeMap::new).take(count).collect();
        Self {
            objects: std::iter::repeat_with(Slab::new).take(count).collect(),
            gpu_ids,
            offsets,
        }
    }

    /// Adds an object and gives its handle: `gpu_id << 32 | number`.
    pub(crate) fn insert(&mut self, bo: Bo) -> Result<u64, Errno> {
        let (gpu, offset) = (bo.gpu, bo.mmap_offset());
        let key = u32::try_from(self.objects[gpu].insert(bo)).map_err(|_| Errno(libc::ENOMEM))?;
        let handle = u64::from(self.gpu_ids[gpu]) << 32 | u64::from(key + 1);
        if offset != 0 {
            self.offsets[gpu].entry(offset).or_insert(handle);
        }
        Ok(handle)
    }

    pub(crate) fn get(&self, handle: u64) -> Option<&Bo> {
        let (gpu, key) = self.locate(handle)?;
        self.objects[gpu].get(key)
    }

    pub(crate) fn get_mut(&mut self, handle: u64) -> Option<&mut Bo> {
        let (gpu, key) = self.locate(handle)?;
        self.objects[gpu].get_mut(key)
    }

    pub(crate) fn remove(&mut self, handle: u64) -> Option<Bo> {
        let (gpu, key) = self.locate(handle)?;
        let bo = self.objects[gpu].try_remove(key)?;
        if self.offsets[gpu].get(&bo.mmap_offset()) == Some(&handle) {
            self.offsets[gpu].remove(&bo.mmap_offset());
        }
        Some(bo)
    }

    /// The object that the render node of `gpu` maps at exactly this offset.
    pub(crate) fn at_offset(&self, gpu: usize, offset: u64) -> Option<&Bo> {
        self.get(*self.offsets.get(gpu)?.get(&offset)?)
    }

    /// Number of objects.
    pub(crate) fn count(&self) -> usize {
        self.objects.iter().map(Slab::len).sum()
    }

    fn locate(&self, handle: u64) -> Option<(usize, usize)> {
        let gpu = self
            .gpu_ids
            .iter()
            .position(|id| u64::from(*id) == handle >> 32)?;
        let key = usize::try_from(handle & 0xffff_ffff).ok()?.checked_sub(1)?;
        Some((gpu, key))
    }
}
