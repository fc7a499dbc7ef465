//! Version, apertures, clocks, and settings that only need to be remembered.

use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

use hsakmt_sys::{Errno, kfd, newer};

use super::EINVAL;
use crate::clock;
use crate::device::Device;
use crate::files::FileKind;
use crate::kernel::VirtualKfd;
use crate::uaccess;
use crate::vm::{GPUVM_BASE, GPUVM_LIMIT, LDS_BASE, SCRATCH_BASE, WINDOW_BYTES};

pub(super) fn get_version(args: &mut kfd::kfd_ioctl_get_version_args) -> Result<(), Errno> {
    args.major_version = kfd::KFD_IOCTL_MAJOR_VERSION;
    args.minor_version = newer::KFD_IOCTL_MINOR_VERSION;
    Ok(())
}

/// Only gfx7 and gfx8 have the two apertures; later chips check the arguments and forget them.
pub(super) fn set_memory_policy(
    kfd: &VirtualKfd,
    args: &mut newer::kfd_ioctl_set_memory_policy_args,
) -> Result<(), Errno> {
    let is_policy = |policy| {
        policy == kfd::KFD_IOC_CACHE_POLICY_COHERENT
            || policy == kfd::KFD_IOC_CACHE_POLICY_NONCOHERENT
    };
    if !is_policy(args.default_policy) || !is_policy(args.alternate_policy) {
        return Err(EINVAL);
    }
    kfd.bound_device(args.gpu_id, libc::ESRCH).map(drop)
}

pub(super) fn get_clock_counters(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_clock_counters_args,
) -> Result<(), Errno> {
    let known = kfd.device(args.gpu_id).is_ok();
    args.gpu_clock_counter = if known { clock::gpu_ticks() } else { 0 };
    args.cpu_clock_counter = clock::monotonic_raw_ns();
    args.system_clock_counter = clock::boottime_ns();
    args.system_clock_freq = 1_000_000_000;
    Ok(())
}

pub(super) fn get_process_apertures(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_process_apertures_args,
) -> Result<(), Errno> {
    let mut count = 0;
    for (place, device) in args.process_apertures.iter_mut().zip(kfd.visible_devices()) {
        *place = apertures(device);
        count += 1;
    }
    args.num_of_nodes = count;
    Ok(())
}

pub(super) fn get_process_apertures_new(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_process_apertures_new_args,
) -> Result<(), Errno> {
    let present = u32::try_from(kfd.visible_devices().count()).map_err(|_| EINVAL)?;
    if args.num_of_nodes == 0 {
        args.num_of_nodes = present;
        return Ok(());
    }
    let filled = args.num_of_nodes.min(present);
    let mut address = args.kfd_process_device_apertures_ptr;
    for device in kfd.visible_devices().take(filled as usize) {
        uaccess::put(address, &apertures(device))?;
        address += size_of::<kfd::kfd_process_device_apertures>() as u64;
    }
    args.num_of_nodes = filled;
    Ok(())
}

fn apertures(device: &Device) -> kfd::kfd_process_device_apertures {
    kfd::kfd_process_device_apertures {
        lds_base: LDS_BASE,
        lds_limit: LDS_BASE + WINDOW_BYTES - 1,
        scratch_base: SCRATCH_BASE,
        scratch_limit: SCRATCH_BASE + WINDOW_BYTES - 1,
        gpuvm_base: GPUVM_BASE,
        gpuvm_limit: GPUVM_LIMIT,
        gpu_id: device.gpu.gpu_id,
        pad: 0,
    }
}

pub(super) fn set_scratch_backing_va(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_set_scratch_backing_va_args,
) -> Result<(), Errno> {
    let device = kfd.bound_device(args.gpu_id, libc::ENODEV)?;
    device.state.lock().scratch_va = args.va_addr.checked_mul(1 << 16).ok_or(EINVAL)?;
    Ok(())
}

pub(super) fn set_trap_handler(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_set_trap_handler_args,
) -> Result<(), Errno> {
    let device = kfd.bound_device(args.gpu_id, libc::ESRCH)?;
    device.state.lock().trap_handler = (args.tba_addr, args.tma_addr);
    Ok(())
}

/// The tables are those of old chips: here all entries are 0, and only the address configuration
/// is real. As the kernel, at most as many entries as the chip has are written.
pub(super) fn get_tile_config(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_tile_config_args,
) -> Result<(), Errno> {
    const TILES: u32 = 32;
    const MACRO_TILES: u32 = 16;
    let device = kfd.device(args.gpu_id)?;
    args.gb_addr_config = device.gpu.profile.extra.drm.gb_addr_config;
    args.num_banks = 0;
    args.num_ranks = 0;
    args.num_tile_configs = args.num_tile_configs.min(TILES);
    args.num_macro_tile_configs = args.num_macro_tile_configs.min(MACRO_TILES);
    clear(args.tile_config_ptr, args.num_tile_configs)?;
    clear(args.macro_tile_config_ptr, args.num_macro_tile_configs)
}

fn clear(address: u64, words: u32) -> Result<(), Errno> {
    uaccess::write(address, &vec![0; words as usize * 4])
}

/// A stream of events that never has any: nothing throttles, migrates or is evicted here.
pub(super) fn smi_events(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_smi_events_args,
) -> Result<(), Errno> {
    kfd.device(args.gpuid)?;
    let mut ends = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: `ends` has room for the two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
        return Err(Errno::last());
    }
    // SAFETY: fresh descriptors that nobody else owns.
    let [near, far] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let file = kfd.files.describe(FileKind::Smi, None, Some(far));
    args.anon_fd = u32::try_from(kfd.files.insert(near, Arc::new(file)).0).map_err(|_| EINVAL)?;
    Ok(())
}
