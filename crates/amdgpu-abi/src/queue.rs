//! `hsa_queue_t` and `amd_queue_t` (hsa.h, amd_hsa_queue.h): the block that applications, the
//! runtime and the command processor share.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// `hsa_queue_t`, the part that applications see (40 bytes).
#[repr(C)]
#[derive(Debug, Default)]
pub struct HsaQueue {
    /// `hsa_queue_type32_t`: 0 multi, 1 single, 2 cooperative producer.
    pub queue_type: AtomicU32,
    /// `hsa_queue_feature_t` bits: 1 kernel dispatch, 2 agent dispatch.
    pub features: AtomicU32,
    /// Address of packet 0.
    pub base_address: AtomicU64,
    /// Handle of the doorbell signal.
    pub doorbell_signal: AtomicU64,
    /// Packets, a power of two.
    pub size: AtomicU32,
    reserved1: AtomicU32,
    /// Process-unique id.
    pub id: AtomicU64,
}

/// `amd_queue_t` as ROCm 7.2 lays it out (version 2: 2304 bytes; the first 256 bytes are the
/// 5.2.3 layout).
#[repr(C, align(64))]
#[derive(Debug)]
pub struct AmdQueue {
    /// What applications see.
    pub hsa_queue: HsaQueue,
    /// Capability bits (7.x).
    pub caps: AtomicU32,
    reserved1: [AtomicU32; 3],
    /// Index of the next packet to be written.
    pub write_dispatch_id: AtomicU64,
    /// High dword of the LDS aperture.
    pub group_segment_aperture_base_hi: AtomicU32,
    /// High dword of the scratch aperture.
    pub private_segment_aperture_base_hi: AtomicU32,
    /// Highest compute-unit id.
    pub max_cu_id: AtomicU32,
    /// Highest wave id in a compute unit.
    pub max_wave_id: AtomicU32,
    /// Legacy doorbells only.
    pub max_legacy_doorbell_dispatch_id_plus_1: AtomicU64,
    /// Legacy doorbells only.
    pub legacy_doorbell_lock: AtomicU32,
    reserved2: [AtomicU32; 9],
    /// Index of the next packet that the command processor will consume.
    pub read_dispatch_id: AtomicU64,
    /// Offset of `read_dispatch_id` in this block (0x80).
    pub read_dispatch_id_field_base_byte_offset: AtomicU32,
    /// COMPUTE_TMPRING_SIZE register value.
    pub compute_tmpring_size: AtomicU32,
    /// V# of scratch.
    pub scratch_resource_descriptor: [AtomicU32; 4],
    /// GPU address of scratch.
    pub scratch_backing_memory_location: AtomicU64,
    /// Bytes of scratch.
    pub scratch_backing_memory_byte_size: AtomicU64,
    /// Scratch bytes per lane in a wave64.
    pub scratch_wave64_lane_byte_size: AtomicU32,
    /// `AMD_QUEUE_PROPERTIES_*` bits.
    pub queue_properties: AtomicU32,
    /// Version 2: highest queue index that used scratch.
    pub scratch_max_use_index: AtomicU64,
    /// Signal handle; the command processor stores error bits there and stops the queue.
    pub queue_inactive_signal: AtomicU64,
    reserved3: [AtomicU32; 14],
    /// Version 2: per-XCC index of the last dispatch that used scratch.
    pub scratch_last_used_index: [ScratchUse; 128],
}

/// One entry of [`AmdQueue::scratch_last_used_index`].
#[repr(C)]
#[derive(Debug, Default)]
pub struct ScratchUse {
    /// Last index that used main scratch.
    pub main: AtomicU64,
    /// Last index that used alternate scratch.
    pub alt: AtomicU64,
}

/// [`AmdQueue::queue_properties`] bits.
pub mod properties {
    /// The queue takes timestamps for profiling.
    pub const ENABLE_PROFILING: u32 = 1 << 3;
    /// Pointers in the queue are 64-bit.
    pub const IS_PTR64: u32 = 1 << 1;
}

/// Bits that the command processor stores to `queue_inactive_signal` (ROCr's queue error codes).
pub mod inactive {
    /// Wave64 needs more scratch than the queue has.
    pub const INSUFFICIENT_SCRATCH_WAVE64: i64 = 0x1;
    /// Dispatch dimensions are invalid.
    pub const INVALID_DIM: i64 = 0x2;
    /// Group segment is larger than LDS.
    pub const INVALID_GROUP_MEMORY: i64 = 0x4;
    /// Kernel object is not a valid code object.
    pub const INVALID_CODE: i64 = 0x8;
    /// Packet header is invalid.
    pub const INVALID_PACKET: i64 = 0x20;
    /// Workgroup is larger than the device allows.
    pub const INVALID_WORKGROUP_SIZE: i64 = 0x40;
    /// Kernel needs more vector registers than the device has.
    pub const INVALID_VGPRS: i64 = 0x80;
    /// Vendor packet format is unknown.
    pub const INVALID_VENDOR_PACKET: i64 = 0x100;
    /// Wave32 needs more scratch than the queue has.
    pub const INSUFFICIENT_SCRATCH_WAVE32: i64 = 0x400;
    /// A wave accessed an invalid aperture address.
    pub const APERTURE_VIOLATION: i64 = 0x2000_0000;
    /// A wave met an illegal instruction.
    pub const ILLEGAL_INSTRUCTION: i64 = 0x4000_0000;
    /// A wave executed a trap (`s_trap 2`: abort).
    pub const TRAP: i64 = 0x8000_0000;
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<HsaQueue>() == 40);
    assert!(offset_of!(AmdQueue, write_dispatch_id) == 0x38);
    assert!(offset_of!(AmdQueue, group_segment_aperture_base_hi) == 0x40);
    assert!(offset_of!(AmdQueue, legacy_doorbell_lock) == 0x58);
    assert!(offset_of!(AmdQueue, read_dispatch_id) == 0x80);
    assert!(offset_of!(AmdQueue, read_dispatch_id_field_base_byte_offset) == 0x88);
    assert!(offset_of!(AmdQueue, compute_tmpring_size) == 0x8c);
    assert!(offset_of!(AmdQueue, scratch_resource_descriptor) == 0x90);
    assert!(offset_of!(AmdQueue, scratch_backing_memory_location) == 0xa0);
    assert!(offset_of!(AmdQueue, scratch_wave64_lane_byte_size) == 0xb0);
    assert!(offset_of!(AmdQueue, queue_properties) == 0xb4);
    assert!(offset_of!(AmdQueue, queue_inactive_signal) == 0xc0);
    assert!(offset_of!(AmdQueue, scratch_last_used_index) == 0x100);
    assert!(size_of::<AmdQueue>() == 2304);
};
