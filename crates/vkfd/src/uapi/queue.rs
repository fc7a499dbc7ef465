//! Queues: create, update, destroy, and what can be asked of them.

use hsakmt_sys::{Errno, kfd, newer};

use amdgpu_exec::Access;

use super::EINVAL;
use super::map::kfd_offset_doorbell;
use crate::device::Device;
use crate::kernel::VirtualKfd;
use crate::queue::{QueueDesc, QueueKind};
use crate::queues::{Place, Queue, Wanted};
use crate::scheduler;
use crate::uaccess;
use crate::vm::GPUVM_LIMIT;

type CreateArgs = newer::kfd_ioctl_create_queue_args;

const EFAULT: Errno = Errno(libc::EFAULT);
/// The kernel's own number for an unknown queue type; libc has no name for it.
const ENOTSUPP: Errno = Errno(524);
/// Most bits of a CU mask; longer ones are cut (`max_num_cus`).
const MAX_CU_BITS: u32 = 1024;

pub(super) fn create(kfd: &VirtualKfd, args: &mut CreateArgs) -> Result<(), Errno> {
    check_ranges(
        args.ring_base_address,
        args.ring_size,
        args.queue_percentage,
        args.queue_priority,
    )?;
    check_addresses(args)?;
    let kind = kind_of(args.queue_type)?;
    let device = kfd.bound_device(args.gpu_id, libc::ESRCH)?;
    let place = kfd
        .queues
        .reserve(device.gpu.index as usize, wanted(device, args)?)?;
    let created = start(kfd, device, place, kind, args);
    if created.is_err() {
        kfd.queues.release(place);
    }
    created
}

/// What create and update check alike.
fn check_ranges(ring: u64, ring_bytes: u32, percentage: u32, priority: u32) -> Result<(), Errno> {
    let percent = percentage & 0xff;
    if percent > kfd::KFD_MAX_QUEUE_PERCENTAGE || priority > kfd::KFD_MAX_QUEUE_PRIORITY {
        return Err(EINVAL);
    }
    if ring != 0 && !is_user_address(ring) {
        return Err(EFAULT);
    }
    if ring_bytes != 0 && !ring_bytes.is_power_of_two() {
        return Err(EINVAL);
    }
    Ok(())
}

fn check_addresses(args: &CreateArgs) -> Result<(), Errno> {
    let required = [args.read_pointer_address, args.write_pointer_address];
    let optional = [args.eop_buffer_address, args.ctx_save_restore_address];
    let fine = required.iter().all(|address| is_user_address(*address))
        && optional
            .iter()
            .all(|address| *address == 0 || is_user_address(*address));
    if fine { Ok(()) } else { Err(EFAULT) }
}

/// `access_ok`: below the end of user space; the GPU's own mappings are checked later.
fn is_user_address(address: u64) -> bool {
    address <= GPUVM_LIMIT
}

fn kind_of(queue_type: u32) -> Result<QueueKind, Errno> {
    match queue_type {
        kfd::KFD_IOC_QUEUE_TYPE_COMPUTE => Ok(QueueKind::Pm4),
        kfd::KFD_IOC_QUEUE_TYPE_COMPUTE_AQL => Ok(QueueKind::Aql),
        kfd::KFD_IOC_QUEUE_TYPE_SDMA
        | kfd::KFD_IOC_QUEUE_TYPE_SDMA_XGMI
        | newer::KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID => Ok(QueueKind::Sdma),
        _ => Err(ENOTSUPP),
    }
}

/// Which engines may take the queue. XGMI engines come after the plain ones.
fn wanted(device: &Device, args: &CreateArgs) -> Result<Wanted, Errno> {
    let node = |name| device.gpu.profile.node.get_u32(name);
    let (plain, xgmi) = (node("num_sdma_engines"), node("num_sdma_xgmi_engines"));
    let queues = node("num_sdma_queues_per_engine");
    match args.queue_type {
        kfd::KFD_IOC_QUEUE_TYPE_SDMA => Ok(Wanted::Sdma {
            first: 0,
            engines: plain,
            queues,
        }),
        kfd::KFD_IOC_QUEUE_TYPE_SDMA_XGMI => Ok(Wanted::Sdma {
            first: plain,
            engines: xgmi,
            queues,
        }),
        newer::KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID if args.sdma_engine_id < plain + xgmi => {
            Ok(Wanted::Sdma {
                first: args.sdma_engine_id,
                engines: 1,
                queues,
            })
        }
        newer::KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID => Err(EINVAL),
        _ => Ok(Wanted::Compute),
    }
}

fn start(
    kfd: &VirtualKfd,
    device: &Device,
    place: Place,
    kind: QueueKind,
    args: &mut CreateArgs,
) -> Result<(), Errno> {
    let desc = QueueDesc {
        queue_id: place.id,
        kind,
        ring_va: args.ring_base_address,
        ring_bytes: args.ring_size,
        rptr_va: args.read_pointer_address,
        wptr_va: args.write_pointer_address,
        doorbell: device.doorbells.doorbell(place.doorbell),
    };
    check_gpu_access(device, &desc)?;
    device.doorbells.clear(place.doorbell);
    let running = scheduler::start(desc.clone(), std::sync::Arc::clone(&device.gpu) as _)?;
    let active = is_active(
        args.ring_base_address,
        args.ring_size,
        args.queue_percentage,
    );
    running.set_active(active);
    device
        .doorbells
        .attach(place.doorbell, std::sync::Arc::clone(&running));
    args.queue_id = place.id;
    args.doorbell_offset = kfd_offset_doorbell(args.gpu_id, place.doorbell);
    kfd.queues.publish(Queue {
        gpu: device.gpu.index as usize,
        doorbell: place.doorbell,
        sdma: place.sdma,
        desc,
        active,
        has_gws: false,
        running,
    });
    Ok(())
}

/// Ring and pointers must be mapped to the GPU, as Linux 6.11 and newer demand.
fn check_gpu_access(device: &Device, desc: &QueueDesc) -> Result<(), Errno> {
    let vm = &device.gpu.vm;
    let check = |va, bytes, access| vm.host_ptr(va, bytes, access).map(drop).map_err(|_| EFAULT);
    check(desc.rptr_va, 8, Access::Write)?;
    check(desc.wptr_va, 8, Access::Read)?;
    if desc.ring_bytes == 0 {
        Ok(())
    } else {
        check(desc.ring_va, desc.ring_bytes.into(), Access::Read)
    }
}

fn is_active(ring: u64, ring_bytes: u32, percentage: u32) -> bool {
    ring != 0 && ring_bytes != 0 && percentage & 0xff != 0
}

pub(super) fn destroy(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_destroy_queue_args,
) -> Result<(), Errno> {
    let (queue, place) = kfd.queues.remove(args.queue_id)?;
    kfd.devices[queue.gpu].doorbells.detach(queue.doorbell);
    queue.running.stop();
    kfd.queues.release(place);
    Ok(())
}

pub(super) fn update(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_update_queue_args,
) -> Result<(), Errno> {
    check_ranges(
        args.ring_base_address,
        args.ring_size,
        args.queue_percentage,
        args.queue_priority,
    )?;
    let queue = kfd.queues.get(args.queue_id)?;
    let moved = args.ring_size != 0
        && (args.ring_base_address, args.ring_size) != (queue.desc.ring_va, queue.desc.ring_bytes);
    let running = if moved {
        restart(kfd, &queue, args)?
    } else {
        queue.running
    };
    let active = is_active(
        args.ring_base_address,
        args.ring_size,
        args.queue_percentage,
    );
    kfd.queues
        .update(args.queue_id, |queue| queue.active = active)?;
    running.set_active(active);
    Ok(())
}

/// Gives the queue another ring: a new processor takes over where the pointers in memory stand.
fn restart(
    kfd: &VirtualKfd,
    queue: &Queue,
    args: &kfd::kfd_ioctl_update_queue_args,
) -> Result<std::sync::Arc<dyn crate::queue::RunningQueue>, Errno> {
    let device = &kfd.devices[queue.gpu];
    let desc = QueueDesc {
        ring_va: args.ring_base_address,
        ring_bytes: args.ring_size,
        ..queue.desc.clone()
    };
    check_gpu_access(device, &desc)?;
    device.doorbells.detach(queue.doorbell);
    queue.running.stop();
    let running = scheduler::start(desc.clone(), std::sync::Arc::clone(&device.gpu) as _)?;
    device
        .doorbells
        .attach(queue.doorbell, std::sync::Arc::clone(&running));
    kfd.queues.update(args.queue_id, |queue| {
        queue.desc = desc;
        queue.running = std::sync::Arc::clone(&running);
    })?;
    Ok(running)
}

/// Checked and then forgotten: the software GPU has no fixed compute units.
pub(super) fn set_cu_mask(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_set_cu_mask_args,
) -> Result<(), Errno> {
    if args.num_cu_mask == 0 || !args.num_cu_mask.is_multiple_of(32) {
        return Err(EINVAL);
    }
    let words = args.num_cu_mask.min(MAX_CU_BITS) / 32;
    let mask: Vec<u32> = uaccess::get_array(args.cu_mask_ptr, words as usize)?;
    let queue = kfd.queues.get(args.queue_id)?;
    let device = &kfd.devices[queue.gpu];
    // gfx10 and newer hand out work-group processors: pairs of compute units.
    let pairs = device.gpu.facts.wavefront == 32;
    if pairs
        && mask
            .iter()
            .any(|word| (word ^ word >> 1) & 0x5555_5555 != 0)
    {
        return Err(EINVAL);
    }
    Ok(())
}

/// A suspended queue has no waves to save: the processor stops between packets.
pub(super) fn get_wave_state(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_get_queue_wave_state_args,
) -> Result<(), Errno> {
    let queue = kfd.queues.get(args.queue_id)?;
    if queue.active || queue.desc.kind == QueueKind::Sdma {
        return Err(EINVAL);
    }
    args.ctl_stack_used_size = 0;
    args.save_area_used_size = 0;
    Ok(())
}

pub(super) fn alloc_gws(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_alloc_queue_gws_args,
) -> Result<(), Errno> {
    let queue = kfd.queues.get(args.queue_id)?;
    let available = kfd.devices[queue.gpu].gpu.profile.node.get("num_gws");
    if available == 0 {
        return Err(Errno(libc::ENODEV));
    }
    if queue.desc.kind == QueueKind::Sdma {
        return Err(EINVAL);
    }
    let wanted = args.num_gws != 0;
    kfd.queues
        .update(args.queue_id, |queue| queue.has_gws = wanted)?;
    args.first_gws = 0;
    Ok(())
}
