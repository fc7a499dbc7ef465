//! Kernel dispatch packets: validation and launch.

use std::mem::offset_of;

use amdgpu_abi::aql::KernelDispatch;
use amdgpu_abi::descriptor::{KernelDescriptor, property};
use amdgpu_abi::queue::{AmdQueue, inactive};
use amdgpu_exec::api::Scratch;
use amdgpu_exec::{Access, Dispatch};

use super::{Halt, Outcome};
use crate::guest::{Guest, GuestError};
use crate::scheduler::Host;

/// Work-items of a group, in total and per dimension (all targets).
const MAX_WORKGROUP: u32 = 1024;
/// Bytes of scratch per work-item that the 13-bit WAVESIZE field of COMPUTE_TMPRING_SIZE can
/// express for a wave64: 8191 units of 1 KiB.
const MAX_PRIVATE_BYTES: u32 = 8191 * 1024 / 64;
/// `HSA_QUEUE_TYPE_COOPERATIVE`.
const COOPERATIVE: u32 = 2;
/// Alignment of kernel descriptors.
const DESCRIPTOR_BYTES: u64 = 64;

/// Where a dispatch packet was found.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) queue_va: u64,
    pub(super) packet_va: u64,
    pub(super) index: u64,
}

/// Checks a packet and puts together what the engine needs.
pub(super) fn prepare(guest: &Guest, packet: &KernelDispatch, place: Place) -> Outcome<Dispatch> {
    let host = guest.host();
    let dims = dimensions(packet)?;
    let (grid, workgroup) = sizes(packet, dims)?;
    check_group_memory(packet, host)?;
    let descriptor = fetch_descriptor(guest, packet.kernel_object)?;
    check_scratch(packet, &descriptor)?;
    Ok(Dispatch {
        target: host.target(),
        kernel_object: packet.kernel_object,
        descriptor,
        packet_va: place.packet_va,
        queue_va: place.queue_va,
        kernarg_va: packet.kernarg_address,
        dispatch_id: place.index,
        grid,
        workgroup,
        group_segment_bytes: packet.group_segment_size,
        private_segment_bytes: packet.private_segment_size,
        scratch: scratch(guest, place.queue_va),
        shader_engines: host.shader_engines(),
        compute_units: host.compute_units(),
        cooperative: guest.load_u32(place.queue_va) == Ok(COOPERATIVE),
    })
}

fn dimensions(packet: &KernelDispatch) -> Outcome<usize> {
    match packet.setup & 3 {
        0 => Err(Halt::refused(
            inactive::INVALID_DIM,
            format!(
                "dispatch with setup {:#x}: dimensions must be 1, 2 or 3",
                packet.setup
            ),
        )),
        dims => Ok(dims.into()),
    }
}

/// Grid and workgroup with unused dimensions set to 1; the packet's own values there do not count.
fn sizes(packet: &KernelDispatch, dims: usize) -> Outcome<([u32; 3], [u16; 3])> {
    let (mut grid, mut workgroup) = ([1; 3], [1; 3]);
    grid[..dims].copy_from_slice(&packet.grid_size[..dims]);
    workgroup[..dims].copy_from_slice(&packet.workgroup_size[..dims]);
    if grid.contains(&0) {
        let why = format!("dispatch of an empty grid {grid:?}");
        return Err(Halt::refused(inactive::INVALID_DIM, why));
    }
    let items: u64 = workgroup.iter().map(|&size| u64::from(size)).product();
    if items == 0 || items > MAX_WORKGROUP.into() {
        let why = format!(
            "dispatch with workgroup {workgroup:?}: a group has 1 to {MAX_WORKGROUP} work-items"
        );
        return Err(Halt::refused(inactive::INVALID_WORKGROUP_SIZE, why));
    }
    Ok((grid, workgroup))
}

fn check_group_memory(packet: &KernelDispatch, host: &dyn Host) -> Outcome<()> {
    let (asked, limit) = (packet.group_segment_size, host.lds_bytes());
    if asked <= limit {
        return Ok(());
    }
    let why = format!("dispatch with {asked} bytes of LDS; a group can have {limit}");
    Err(Halt::refused(inactive::INVALID_GROUP_MEMORY, why))
}

fn check_scratch(packet: &KernelDispatch, descriptor: &[u8; 64]) -> Outcome<()> {
    let (asked, limit) = (packet.private_segment_size, MAX_PRIVATE_BYTES);
    if asked <= limit {
        return Ok(());
    }
    let properties = KernelDescriptor::parse(descriptor).kernel_code_properties;
    let bits = if properties & property::ENABLE_WAVEFRONT_SIZE32 == 0 {
        inactive::INSUFFICIENT_SCRATCH_WAVE64
    } else {
        inactive::INSUFFICIENT_SCRATCH_WAVE32
    };
    let why = format!("dispatch with {asked} bytes of scratch per work-item; {limit} can be had");
    Err(Halt::refused(bits, why))
}

fn fetch_descriptor(guest: &Guest, kernel_object: u64) -> Outcome<[u8; 64]> {
    let refuse = |why: String| Err(Halt::refused(inactive::INVALID_CODE, why));
    if kernel_object == 0 || !kernel_object.is_multiple_of(DESCRIPTOR_BYTES) {
        return refuse(format!(
            "dispatch of kernel object {kernel_object:#x}, which is no object"
        ));
    }
    let mut bytes = [0; 64];
    match guest.read(kernel_object, &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(GuestError::Fault(fault)) => {
            debug_assert_eq!(fault.access, Access::Read);
            refuse(format!(
                "dispatch of kernel object {kernel_object:#x}, which is not mapped"
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// What kernels read about scratch; a queue block that cannot be read gives zeros, since clients
/// that run no code on scratch need not have one.
fn scratch(guest: &Guest, queue_va: u64) -> Scratch {
    let at = |offset: usize| queue_va.wrapping_add(offset as u64);
    let descriptor = at(offset_of!(AmdQueue, scratch_resource_descriptor));
    let location = at(offset_of!(AmdQueue, scratch_backing_memory_location));
    let dword = |i: u64| guest.load_u32(descriptor.wrapping_add(4 * i)).unwrap_or(0);
    Scratch {
        resource_descriptor: [dword(0), dword(1), dword(2), dword(3)],
        backing_location: guest.load_u64(location).unwrap_or(0),
    }
}
