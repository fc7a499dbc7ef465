//! ACQUIRE_VM and the life of buffer objects.

use std::ffi::c_int;
use std::sync::Arc;

use hsakmt_sys::{Errno, kfd};

use super::EINVAL;
use super::map::kfd_offset_mmio;
use crate::bo::{Backing, Bo, KNOWN_FLAGS};
use crate::device::Device;
use crate::doorbell::{self, SLICE_BYTES};
use crate::extent::LARGE;
use crate::files::FileKind;
use crate::kernel::VirtualKfd;
use crate::maps;
use crate::memory::HeapKind;
use crate::uaccess;
use crate::vm::{GPUVM_LIMIT, Kind};

const ENOMEM: Errno = Errno(libc::ENOMEM);

pub(super) fn acquire_vm(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_acquire_vm_args,
) -> Result<(), Errno> {
    let device = kfd.device(args.gpu_id)?;
    let number = c_int::try_from(args.drm_fd).map_err(|_| EINVAL)?;
    let file = kfd.files.get(number).ok_or(EINVAL)?;
    if file.kind != FileKind::Render(device.gpu.index as usize) {
        return Err(EINVAL);
    }
    let mut state = device.state.lock();
    match state.vm_file {
        Some(id) if id != file.id => Err(Errno(libc::EBUSY)),
        _ => {
            state.vm_file = Some(file.id);
            Ok(())
        }
    }
}

pub(super) fn alloc(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_alloc_memory_of_gpu_args,
) -> Result<(), Errno> {
    if args.size == 0 || args.flags & !KNOWN_FLAGS != 0 {
        return Err(EINVAL);
    }
    let device = kfd.device(args.gpu_id)?;
    refuse_svm_overlap(kfd, args)?;
    if !device.is_bound() {
        return Err(Errno(libc::ENODEV));
    }
    let bo = Bo {
        gpu: device.gpu.index as usize,
        va: args.va_addr,
        bytes: args.size.checked_next_multiple_of(4096).ok_or(ENOMEM)?,
        flags: args.flags,
        backing: backing(device, args)?,
        mapped: 0,
        pinned: false,
    };
    args.mmap_offset = match bo.kind() {
        Kind::Mmio => kfd_offset_mmio(args.gpu_id),
        _ => bo.mmap_offset(),
    };
    args.handle = kfd.objects.lock().insert(bo)?;
    Ok(())
}

/// An address belongs to SVM or to a buffer object, not to both. A range whose memory the client
/// has replaced by a reservation is dropped, as the kernel's notifier would have done.
fn refuse_svm_overlap(
    kfd: &VirtualKfd,
    args: &kfd::kfd_ioctl_alloc_memory_of_gpu_args,
) -> Result<(), Errno> {
    let user = args.flags & kfd::KFD_IOC_ALLOC_MEM_FLAGS_USERPTR != 0;
    let starts = [
        Some(args.va_addr).filter(|va| *va != 0),
        Some(args.mmap_offset).filter(|_| user),
    ];
    for start in starts.into_iter().flatten() {
        let end = start.saturating_add(args.size);
        while let Some((low, high)) = kfd.svm.first_overlap(start, end) {
            if maps::is_accessible(low, high) {
                return Err(Errno(libc::EADDRINUSE));
            }
            kfd.svm.remove(low, high);
        }
    }
    Ok(())
}

/// Finds memory for the first domain bit, in the kernel's order.
fn backing(
    device: &Device,
    args: &kfd::kfd_ioctl_alloc_memory_of_gpu_args,
) -> Result<Backing, Errno> {
    let has = |flag| args.flags & flag != 0;
    let twice = has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM);
    let bytes = if twice { args.size >> 1 } else { args.size };
    if has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_VRAM) {
        if has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC) && !device.has_large_bar() {
            return Err(EINVAL);
        }
        return extent(device, HeapKind::Vram, bytes);
    }
    if has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_GTT) {
        return extent(device, HeapKind::Gtt, bytes);
    }
    if has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) {
        return user(device, args.mmap_offset, args.size);
    }
    if has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL) {
        let page = Backing::Page(Arc::clone(device.doorbells.segment()), Kind::Doorbell);
        return if args.size == SLICE_BYTES {
            Ok(page)
        } else {
            Err(EINVAL)
        };
    }
    if has(kfd::KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP) {
        let page = Backing::Page(Arc::clone(&device.mmio), Kind::Mmio);
        return if args.size == 4096 {
            Ok(page)
        } else {
            Err(EINVAL)
        };
    }
    Err(EINVAL)
}

fn extent(device: &Device, kind: HeapKind, bytes: u64) -> Result<Backing, Errno> {
    if bytes == 0 {
        return Err(EINVAL);
    }
    device
        .memory
        .alloc(kind, bytes)
        .map(|extent| Backing::Extent(Arc::new(extent)))
}

fn user(device: &Device, address: u64, bytes: u64) -> Result<Backing, Errno> {
    if !device.gpu.profile.extra.kfd.userptr {
        return Err(EINVAL);
    }
    let is_valid = address != 0 && address.is_multiple_of(4096);
    let end = address
        .checked_add(bytes)
        .filter(|end| *end <= GPUVM_LIMIT + 1);
    if !is_valid || end.is_none() {
        return Err(EINVAL);
    }
    if !maps::is_mapped(address, bytes.next_multiple_of(4096)) {
        return Err(Errno(libc::EFAULT));
    }
    Ok(Backing::User(address))
}

pub(super) fn free(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_free_memory_of_gpu_args,
) -> Result<(), Errno> {
    let mut objects = kfd.objects.lock();
    let bo = objects.get(args.handle).ok_or(EINVAL)?;
    if bo.pinned {
        return Err(Errno(libc::EPERM));
    }
    if bo.mapped != 0 {
        return Err(Errno(libc::EBUSY));
    }
    let gone = objects.remove(args.handle);
    if let Some(bo) = gone.as_ref().filter(|bo| bo.kind() == Kind::Doorbell) {
        let (va, bytes) = (usize::try_from(bo.va), usize::try_from(bo.bytes));
        doorbell::released(va.unwrap_or(0), bytes.unwrap_or(0));
    }
    // Returning the pages takes a system call; not under the lock.
    drop(objects);
    drop(gone);
    Ok(())
}

pub(super) fn map(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_map_memory_to_gpu_args,
) -> Result<(), Errno> {
    let gpus = gpu_list(
        kfd,
        args.device_ids_array_ptr,
        args.n_devices,
        args.n_success,
    )?;
    let mut objects = kfd.objects.lock();
    let bo = objects.get_mut(args.handle).ok_or(ENOMEM)?;
    for device in gpus {
        map_on(bo, device)?;
        args.n_success += 1;
    }
    Ok(())
}

pub(super) fn unmap(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_unmap_memory_from_gpu_args,
) -> Result<(), Errno> {
    let gpus = gpu_list(
        kfd,
        args.device_ids_array_ptr,
        args.n_devices,
        args.n_success,
    )?;
    let mut objects = kfd.objects.lock();
    let bo = objects.get_mut(args.handle).ok_or(ENOMEM)?;
    for device in gpus {
        unmap_on(bo, device);
        args.n_success += 1;
    }
    Ok(())
}

/// The GPUs that are still to be done; the kernel goes on after `n_success` of an earlier attempt.
fn gpu_list(kfd: &VirtualKfd, address: u64, count: u32, done: u32) -> Result<Vec<&Device>, Errno> {
    if count == 0 || done > count {
        return Err(EINVAL);
    }
    // More entries than GPUs exist can only repeat them; a real client never sends so many.
    if count as usize > crate::config::MAX_GPUS * 2 {
        return Err(ENOMEM);
    }
    let ids: Vec<u32> = uaccess::get_array(address, count as usize)?;
    ids.into_iter()
        .skip(done as usize)
        .map(|id| kfd.bound_device(id, libc::ENODEV))
        .collect()
}

/// Maps an object on a GPU; a no-op where it is mapped already.
fn map_on(bo: &mut Bo, device: &Device) -> Result<(), Errno> {
    let bit = 1 << device.gpu.index;
    if bo.mapped & bit != 0 {
        return Ok(());
    }
    let mappings = bo.mappings();
    for (done, (base, mapping)) in mappings.iter().enumerate() {
        if let Err(errno) = device.gpu.vm.map(*base, *mapping) {
            for (base, _) in &mappings[..done] {
                device.gpu.vm.unmap(*base);
            }
            return Err(errno);
        }
    }
    bo.mapped |= bit;
    Ok(())
}

fn unmap_on(bo: &mut Bo, device: &Device) {
    let bit = 1 << device.gpu.index;
    if bo.mapped & bit != 0 {
        for (base, _) in bo.mappings() {
            device.gpu.vm.unmap(base);
        }
        bo.mapped &= !bit;
    }
}

pub(super) fn available(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_available_memory_args,
) -> Result<(), Errno> {
    let memory = &kfd.device(args.gpu_id)?.memory;
    let free = memory
        .limit(HeapKind::Vram)
        .saturating_sub(memory.used(HeapKind::Vram));
    args.available = free / LARGE * LARGE;
    Ok(())
}
