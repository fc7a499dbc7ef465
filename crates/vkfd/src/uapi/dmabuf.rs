//! dma-bufs: memory under a descriptor. Within one process for now; a descriptor that came from
//! another process is not recognised (`EINVAL`).

use std::ffi::c_int;
use std::sync::Arc;

use hsakmt_sys::{Errno, Fd, kfd, newer};

use super::EINVAL;
use crate::bo::{Backing, Bo};
use crate::files::{FileKind, Gem};
use crate::kernel::{VirtualKfd, owned};
use crate::memory::HeapKind;

pub(super) fn export(
    kfd: &VirtualKfd,
    args: &mut newer::kfd_ioctl_export_dmabuf_args,
) -> Result<(), Errno> {
    let gem = {
        let objects = kfd.objects.lock();
        let bo = objects.get(args.handle).ok_or(EINVAL)?;
        let Backing::Extent(extent) = &bo.backing else {
            return Err(EINVAL);
        };
        Gem {
            gpu: bo.gpu,
            extent: Arc::clone(extent),
            bytes: bo.bytes,
            flags: bo.flags,
        }
    };
    let flags = c_int::try_from(args.flags).map_err(|_| EINVAL)?;
    args.dmabuf_fd = u32::try_from(to_fd(kfd, gem, flags)?.0).map_err(|_| EINVAL)?;
    Ok(())
}

/// A new descriptor of `gem`.
pub(super) fn to_fd(kfd: &VirtualKfd, gem: Gem, flags: c_int) -> Result<Fd, Errno> {
    let number = gem.extent.memory().segment().reopen(flags)?;
    let file = kfd.files.describe(FileKind::DmaBuf, Some(gem), None);
    Ok(kfd.files.insert(owned(number), Arc::new(file)))
}

/// The memory of a dma-buf descriptor.
pub(super) fn memory_of(kfd: &VirtualKfd, fd: u32) -> Result<Gem, Errno> {
    let number = c_int::try_from(fd).map_err(|_| EINVAL)?;
    kfd.files
        .get(number)
        .and_then(|file| file.memory.clone())
        .ok_or(EINVAL)
}

pub(super) fn get_info(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_dmabuf_info_args,
) -> Result<(), Errno> {
    let gem = memory_of(kfd, args.dmabuf_fd)?;
    args.size = gem.bytes;
    args.metadata_size = 0;
    args.gpu_id = kfd.devices[gem.gpu].gpu.gpu_id;
    args.flags = match gem.extent.kind() {
        HeapKind::Vram => kfd::KFD_IOC_ALLOC_MEM_FLAGS_VRAM,
        HeapKind::Gtt => kfd::KFD_IOC_ALLOC_MEM_FLAGS_GTT,
    };
    args.flags |= gem.flags & kfd::KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
    Ok(())
}

pub(super) fn import(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_import_dmabuf_args,
) -> Result<(), Errno> {
    let device = kfd.bound_device(args.gpu_id, libc::ENODEV)?;
    let gem = memory_of(kfd, args.dmabuf_fd)?;
    // An import may be written and executed (amdgpu_amdkfd_gpuvm_import_dmabuf).
    let rights = kfd::KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | kfd::KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE;
    let bo = Bo {
        gpu: device.gpu.index as usize,
        va: args.va_addr,
        bytes: gem.bytes,
        flags: gem.flags & !kfd::KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM | rights,
        backing: Backing::Extent(gem.extent),
        mapped: 0,
        pinned: false,
    };
    args.handle = kfd.objects.lock().insert(bo)?;
    Ok(())
}
