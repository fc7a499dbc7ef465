//! The render node's ioctls besides AMDGPU_INFO: version, GEM handles, and their GPU mappings.

use std::ffi::c_int;

use hsakmt_sys::{Errno, drm};

use super::wire::{DrmVersion, GemMmap};
use super::{EINVAL, dmabuf};
use crate::files::{Gem, OpenFile};
use crate::kernel::VirtualKfd;
use crate::memory::HeapKind;
use crate::uaccess;
use crate::vm::{Kind, Mapping, Rights};

const ENOENT: Errno = Errno(libc::ENOENT);

/// `AMDGPU_VM_PAGE_*` of GEM_VA.
const PAGE_WRITEABLE: u32 = 1 << 2;
const PAGE_EXECUTABLE: u32 = 1 << 3;

/// The driver's name and version; 3.57 is the version of Linux 6.9.
pub(super) fn version(args: &mut DrmVersion) -> Result<(), Errno> {
    (args.major, args.minor, args.patch) = (3, 57, 0);
    args.name_len = text(args.name, args.name_len, "amdgpu")?;
    args.date_len = text(args.date, args.date_len, "20150101")?;
    args.desc_len = text(args.desc, args.desc_len, "AMD GPU")?;
    Ok(())
}

/// Copies at most `room` bytes (no terminator, as DRM) and answers the full length.
fn text(address: u64, room: u64, value: &str) -> Result<u64, Errno> {
    let length = value.len().min(usize::try_from(room).unwrap_or(usize::MAX));
    if address != 0 {
        uaccess::write(address, &value.as_bytes()[..length])?;
    }
    Ok(value.len() as u64)
}

pub(super) fn gem_close(file: &OpenFile, args: &mut drm::drm_gem_close) -> Result<(), Errno> {
    let key = key_of(args.handle)?;
    file.gem.lock().try_remove(key).map(drop).ok_or(EINVAL)
}

pub(super) fn fd_to_handle(
    kfd: &VirtualKfd,
    file: &OpenFile,
    args: &mut drm::drm_prime_handle,
) -> Result<(), Errno> {
    let fd = u32::try_from(args.fd).map_err(|_| Errno(libc::EBADF))?;
    let gem = dmabuf::memory_of(kfd, fd)?;
    let mut handles = file.gem.lock();
    // DRM gives the same handle for the same object.
    let same = handles
        .iter()
        .find(|(_, other)| std::sync::Arc::ptr_eq(&other.extent, &gem.extent));
    let key = match same.map(|(key, _)| key) {
        Some(key) => key,
        None => handles.insert(gem),
    };
    args.handle = u32::try_from(key + 1).map_err(|_| Errno(libc::ENOMEM))?;
    Ok(())
}

pub(super) fn handle_to_fd(
    kfd: &VirtualKfd,
    file: &OpenFile,
    args: &mut drm::drm_prime_handle,
) -> Result<(), Errno> {
    let gem = gem(file, args.handle)?;
    let flags = c_int::try_from(args.flags).map_err(|_| EINVAL)?;
    args.fd = dmabuf::to_fd(kfd, gem, flags)?.0;
    Ok(())
}

pub(super) fn gem_mmap(file: &OpenFile, args: &mut GemMmap) -> Result<(), Errno> {
    let handle = u32::try_from(args.value & 0xffff_ffff).map_err(|_| EINVAL)?;
    args.value = gem(file, handle)?.extent.file_offset();
    Ok(())
}

pub(super) fn gem_va(
    kfd: &VirtualKfd,
    file: &OpenFile,
    gpu: usize,
    args: &mut drm::drm_amdgpu_gem_va,
) -> Result<(), Errno> {
    let vm = &kfd.devices[gpu].gpu.vm;
    let aligned = [args.va_address, args.offset_in_bo, args.map_size]
        .iter()
        .all(|value| value.is_multiple_of(4096));
    if !aligned || args.map_size == 0 {
        return Err(EINVAL);
    }
    match args.operation {
        drm::AMDGPU_VA_OP_MAP => vm.map(args.va_address, mapping(file, args)?),
        drm::AMDGPU_VA_OP_REPLACE => {
            let mapping = mapping(file, args)?;
            vm.unmap_range(args.va_address, args.map_size);
            vm.map(args.va_address, mapping)
        }
        drm::AMDGPU_VA_OP_UNMAP => {
            gem(file, args.handle)?;
            if vm.unmap(args.va_address) {
                Ok(())
            } else {
                Err(ENOENT)
            }
        }
        drm::AMDGPU_VA_OP_CLEAR => {
            vm.unmap_range(args.va_address, args.map_size);
            Ok(())
        }
        _ => Err(EINVAL),
    }
}

fn mapping(file: &OpenFile, args: &drm::drm_amdgpu_gem_va) -> Result<Mapping, Errno> {
    let gem = gem(file, args.handle)?;
    let end = args.offset_in_bo.checked_add(args.map_size).ok_or(EINVAL)?;
    if end > gem.extent.bytes() {
        return Err(EINVAL);
    }
    Ok(Mapping {
        bytes: args.map_size,
        delta: (gem.extent.host() + args.offset_in_bo).wrapping_sub(args.va_address),
        rights: Rights {
            writable: args.flags & PAGE_WRITEABLE != 0,
            executable: args.flags & PAGE_EXECUTABLE != 0,
        },
        stable: true,
        kind: match gem.extent.kind() {
            HeapKind::Vram => Kind::Vram,
            HeapKind::Gtt => Kind::Gtt,
        },
    })
}

fn gem(file: &OpenFile, handle: u32) -> Result<Gem, Errno> {
    file.gem.lock().get(key_of(handle)?).cloned().ok_or(ENOENT)
}

fn key_of(handle: u32) -> Result<usize, Errno> {
    (handle as usize).checked_sub(1).ok_or(EINVAL)
}
