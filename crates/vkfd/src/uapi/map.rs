//! mmap of `/dev/kfd`, render nodes and dma-bufs.

use std::ffi::{c_int, c_void};

use hsakmt_sys::Errno;

use super::EINVAL;
use super::event::MMAP_EVENTS;
use crate::bo::Backing;
use crate::device::Device;
use crate::doorbell::{self, SLICE_BYTES};
use crate::event::PAGE_BYTES;
use crate::files::OpenFile;
use crate::kernel::VirtualKfd;

/// Arguments of an mmap call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapRequest {
    pub(crate) addr: usize,
    pub(crate) length: usize,
    pub(crate) prot: c_int,
    pub(crate) flags: c_int,
    pub(crate) offset: i64,
}

/// KFD's mmap offset (`KFD_MMAP_TYPE_SHIFT`, `KFD_MMAP_GPU_ID_SHIFT`): 63:62 type, 61:46 gpu_id.
const TYPE_SHIFT: u32 = 62;
const GPU_ID_SHIFT: u32 = 46;
const TYPE_MMIO: u64 = 0;
const TYPE_RESERVED: u64 = 1;
const TYPE_EVENTS: u64 = MMAP_EVENTS >> TYPE_SHIFT;
const TYPE_DOORBELL: u64 = 3;

/// mmap offset of a GPU's register page.
pub(super) fn kfd_offset_mmio(gpu_id: u32) -> u64 {
    TYPE_MMIO << TYPE_SHIFT | u64::from(gpu_id & 0xffff) << GPU_ID_SHIFT
}

/// mmap offset of a doorbell: of the slice, with the doorbell's byte offset in the page bits.
pub(super) fn kfd_offset_doorbell(gpu_id: u32, index: usize) -> u64 {
    TYPE_DOORBELL << TYPE_SHIFT | u64::from(gpu_id & 0xffff) << GPU_ID_SHIFT | (index as u64 * 8)
}

/// Maps a part of `/dev/kfd`.
pub(crate) fn map_kfd(kfd: &VirtualKfd, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    let offset = wish.offset.cast_unsigned();
    let gpu_id = u32::try_from(offset >> GPU_ID_SHIFT & 0xffff).map_err(|_| EINVAL)?;
    let device = || kfd.device(gpu_id).map_err(|_| Errno(libc::ENODEV));
    match offset >> TYPE_SHIFT {
        TYPE_DOORBELL => map_doorbells(device()?, wish),
        TYPE_EVENTS => map_events(kfd, wish),
        TYPE_MMIO => map_mmio(device()?, wish),
        // The trap handler pages of APUs.
        TYPE_RESERVED => Err(EINVAL),
        _ => Err(Errno(libc::EFAULT)),
    }
}

/// The slice starts without write permission: the first store is to be noticed.
fn map_doorbells(device: &Device, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    if wish.length as u64 != SLICE_BYTES {
        return Err(EINVAL);
    }
    let quiet = MapRequest {
        prot: wish.prot & !libc::PROT_WRITE,
        ..*wish
    };
    let address = map_file(device.doorbells.segment().raw_fd(), 0, &quiet)?;
    doorbell::unmapped(address.addr(), wish.length);
    if wish.prot & libc::PROT_WRITE != 0 {
        device
            .doorbells
            .mapped(address.expose_provenance(), wish.length)?;
    }
    Ok(address)
}

fn map_events(kfd: &VirtualKfd, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    let page = kfd.own_event_page.lock();
    let segment = page.as_ref().ok_or(EINVAL)?;
    if wish.length as u64 > PAGE_BYTES {
        return Err(EINVAL);
    }
    map_other(segment.raw_fd(), 0, wish)
}

fn map_mmio(device: &Device, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    if wish.length != 4096 {
        return Err(EINVAL);
    }
    map_other(device.mmio.raw_fd(), 0, wish)
}

/// Maps a buffer object through its GPU's render node; the offset must be exactly its own.
pub(crate) fn map_render(
    kfd: &VirtualKfd,
    gpu: usize,
    wish: &MapRequest,
) -> Result<*mut c_void, Errno> {
    let offset = u64::try_from(wish.offset).map_err(|_| EINVAL)?;
    let extent = {
        let objects = kfd.objects.lock();
        match objects.at_offset(gpu, offset).map(|bo| &bo.backing) {
            Some(Backing::Extent(extent)) => std::sync::Arc::clone(extent),
            _ => return Err(EINVAL),
        }
    };
    if wish.length as u64 > extent.bytes() {
        return Err(EINVAL);
    }
    map_other(
        extent.memory().segment().raw_fd(),
        extent.file_offset(),
        wish,
    )
}

/// Maps a dma-buf from `offset` on.
pub(crate) fn map_dmabuf(file: &OpenFile, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    let gem = file.memory.as_ref().ok_or(Errno(libc::ENODEV))?;
    let offset = u64::try_from(wish.offset).map_err(|_| EINVAL)?;
    let end = offset.checked_add(wish.length as u64).ok_or(EINVAL)?;
    if end > gem.extent.bytes() {
        return Err(EINVAL);
    }
    map_other(
        gem.extent.memory().segment().raw_fd(),
        gem.extent.file_offset() + offset,
        wish,
    )
}

/// Maps something else than doorbells, which may replace a mapping of doorbells.
fn map_other(fd: c_int, file_offset: u64, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    let address = map_file(fd, file_offset, wish)?;
    doorbell::unmapped(address.addr(), wish.length);
    Ok(address)
}

fn map_file(fd: c_int, file_offset: u64, wish: &MapRequest) -> Result<*mut c_void, Errno> {
    let offset = libc::off_t::try_from(file_offset).map_err(|_| EINVAL)?;
    let hint = std::ptr::with_exposed_provenance_mut(wish.addr);
    // SAFETY: what the caller of `Kernel::mmap` promised; the file is one of ours.
    let address = unsafe { libc::mmap(hint, wish.length, wish.prot, wish.flags, fd, offset) };
    if address == libc::MAP_FAILED {
        Err(Errno::last())
    } else {
        Ok(address)
    }
}
