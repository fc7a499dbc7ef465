//! Which uapi structs may be copied between processes as bytes.

use hsakmt_sys::{drm, kfd, newer};

use crate::uaccess::Wire;

macro_rules! wire {
    ($($ty:ty),* $(,)?) => {
        $(
            // SAFETY: a C struct of integers (or a union of such) whose padding bindgen made
            // explicit, so every bit pattern is valid.
            unsafe impl Wire for $ty {}
        )*
    };
}

wire!(
    kfd::kfd_ioctl_get_version_args,
    newer::kfd_ioctl_create_queue_args,
    kfd::kfd_ioctl_destroy_queue_args,
    kfd::kfd_ioctl_update_queue_args,
    newer::kfd_ioctl_set_memory_policy_args,
    kfd::kfd_ioctl_get_clock_counters_args,
    kfd::kfd_process_device_apertures,
    kfd::kfd_ioctl_get_process_apertures_args,
    kfd::kfd_ioctl_get_process_apertures_new_args,
    kfd::kfd_ioctl_create_event_args,
    kfd::kfd_ioctl_destroy_event_args,
    kfd::kfd_ioctl_set_event_args,
    kfd::kfd_ioctl_reset_event_args,
    kfd::kfd_ioctl_wait_events_args,
    kfd::kfd_ioctl_set_scratch_backing_va_args,
    kfd::kfd_ioctl_get_tile_config_args,
    kfd::kfd_ioctl_set_trap_handler_args,
    kfd::kfd_ioctl_acquire_vm_args,
    kfd::kfd_ioctl_alloc_memory_of_gpu_args,
    kfd::kfd_ioctl_free_memory_of_gpu_args,
    kfd::kfd_ioctl_map_memory_to_gpu_args,
    kfd::kfd_ioctl_unmap_memory_from_gpu_args,
    kfd::kfd_ioctl_set_cu_mask_args,
    kfd::kfd_ioctl_get_queue_wave_state_args,
    kfd::kfd_ioctl_get_dmabuf_info_args,
    kfd::kfd_ioctl_import_dmabuf_args,
    kfd::kfd_ioctl_alloc_queue_gws_args,
    kfd::kfd_ioctl_smi_events_args,
    kfd::kfd_ioctl_svm_attribute,
    kfd::kfd_ioctl_set_xnack_mode_args,
    kfd::kfd_ioctl_criu_args,
    kfd::kfd_ioctl_get_available_memory_args,
    newer::kfd_ioctl_export_dmabuf_args,
    newer::kfd_ioctl_runtime_enable_args,
    newer::kfd_ioctl_dbg_trap_args,
    drm::drm_gem_close,
    drm::drm_prime_handle,
    drm::drm_amdgpu_gem_va,
    drm::drm_amdgpu_info_device,
    drm::drm_amdgpu_info_hw_ip,
    drm::drm_amdgpu_info_vram_gtt,
    drm::drm_amdgpu_memory_info,
    drm::drm_amdgpu_info_firmware,
    DrmVersion,
    GemMmap,
    Info,
    EventData,
    SvmHeader,
);

/// `drm_version`, with its pointers as numbers.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DrmVersion {
    pub(super) major: u32,
    pub(super) minor: u32,
    pub(super) patch: u32,
    pub(super) pad: u32,
    pub(super) name_len: u64,
    pub(super) name: u64,
    pub(super) date_len: u64,
    pub(super) date: u64,
    pub(super) desc_len: u64,
    pub(super) desc: u64,
}

/// `drm_amdgpu_gem_mmap`: a handle in the low half in, the offset out.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct GemMmap {
    pub(super) value: u64,
}

/// `drm_amdgpu_info`, with the query's own part as words.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Info {
    pub(super) return_pointer: u64,
    pub(super) return_size: u32,
    pub(super) query: u32,
    pub(super) words: [u32; 4],
}

/// `kfd_event_data`, with its union as words.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct EventData {
    pub(super) words: [u32; 8],
    pub(super) ext: u64,
    pub(super) event_id: u32,
    pub(super) pad: u32,
}

/// `kfd_ioctl_svm_args` without its attributes.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct SvmHeader {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) op: u32,
    pub(super) nattr: u32,
}

const _: () = {
    assert!(size_of::<DrmVersion>() == size_of::<drm::drm_version>());
    assert!(size_of::<GemMmap>() == size_of::<drm::drm_amdgpu_gem_mmap>());
    assert!(size_of::<Info>() == size_of::<drm::drm_amdgpu_info>());
    assert!(size_of::<EventData>() == size_of::<kfd::kfd_event_data>());
    assert!(size_of::<SvmHeader>() == size_of::<kfd::kfd_ioctl_svm_args>());
};
