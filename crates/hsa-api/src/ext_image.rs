//! hsa_ext_image.h: images. GPUs report the extension, since HIP refuses pitched allocations without
//! it, but so far no format has a capability and creation answers "unsupported". Without an image,
//! what takes one can only be given a bad handle.

use crate::args::{FromC, Out};
use crate::entry::{Result, hsa_export, symver, unsupported};
use crate::status::Error;
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::c_void;

const FORMAT: Error = Error::Extension(hsa_status_t(
    HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED.0,
));
const SAMPLER: Error = Error::Extension(hsa_status_t(
    HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED.0,
));

fn no_capability(agent: hsa_agent_t, mask: Out<u32>) -> Result {
    let runtime = runtime::current()?;
    let out = mask.required()?;
    runtime.agent(agent.handle)?;
    out.write(HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED.0)
}

hsa_export! { image:
    /// What can be done with a format: nothing.
    fn hsa_ext_image_get_capability(agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, capability_mask: Out<u32>) {
        let _ = (geometry, image_format);
        no_capability(agent, capability_mask)
    }
}

hsa_export! { image:
    /// What can be done with a format in a layout: nothing.
    fn hsa_ext_image_get_capability_with_layout(
        agent: hsa_agent_t,
        geometry: hsa_ext_image_geometry_t,
        image_format: *const hsa_ext_image_format_t,
        image_data_layout: hsa_ext_image_data_layout_t,
        capability_mask: Out<u32>,
    ) {
        let _ = (geometry, image_format, image_data_layout);
        no_capability(agent, capability_mask)
    }
}

hsa_export! { image:
    /// Size and alignment of an image.
    unsupported fn hsa_ext_image_data_get_info(
        agent: hsa_agent_t,
        image_descriptor: *const hsa_ext_image_descriptor_t,
        access_permission: hsa_access_permission_t,
        image_data_info: *mut hsa_ext_image_data_info_t,
    ) = FORMAT;
}

hsa_export! { image:
    /// Size and alignment of an image in a layout.
    unsupported fn hsa_ext_image_data_get_info_with_layout(
        agent: hsa_agent_t,
        image_descriptor: *const hsa_ext_image_descriptor_t,
        access_permission: hsa_access_permission_t,
        image_data_layout: hsa_ext_image_data_layout_t,
        image_data_row_pitch: usize,
        image_data_slice_pitch: usize,
        image_data_info: *mut hsa_ext_image_data_info_t,
    ) = FORMAT;
}

hsa_export! { image:
    /// Creates an image.
    unsupported fn hsa_ext_image_create(
        agent: hsa_agent_t,
        image_descriptor: *const hsa_ext_image_descriptor_t,
        image_data: *const c_void,
        access_permission: hsa_access_permission_t,
        image: *mut hsa_ext_image_t,
    ) = FORMAT;
}

hsa_export! { image:
    /// Creates an image in a layout.
    unsupported fn hsa_ext_image_create_with_layout(
        agent: hsa_agent_t,
        image_descriptor: *const hsa_ext_image_descriptor_t,
        image_data: *const c_void,
        access_permission: hsa_access_permission_t,
        image_data_layout: hsa_ext_image_data_layout_t,
        image_data_row_pitch: usize,
        image_data_slice_pitch: usize,
        image: *mut hsa_ext_image_t,
    ) = FORMAT;
}

hsa_export! { amd_ext:
    /// Creates an image with a vendor's layout.
    unsupported fn hsa_amd_image_create(
        agent: hsa_agent_t,
        image_descriptor: *const hsa_ext_image_descriptor_t,
        image_layout: *const hsa_amd_image_descriptor_t,
        image_data: *const c_void,
        access_permission: hsa_access_permission_t,
        image: *mut hsa_ext_image_t,
    ) = FORMAT;
}

hsa_export! { image:
    /// Destroys an image.
    unsupported fn hsa_ext_image_destroy(agent: hsa_agent_t, image: hsa_ext_image_t) = Core::InvalidArgument;
}

hsa_export! { image:
    /// Copies between images.
    unsupported fn hsa_ext_image_copy(
        agent: hsa_agent_t,
        src_image: hsa_ext_image_t,
        src_offset: *const hsa_dim3_t,
        dst_image: hsa_ext_image_t,
        dst_offset: *const hsa_dim3_t,
        range: *const hsa_dim3_t,
    ) = Core::InvalidArgument;
}

hsa_export! { image:
    /// Copies memory into an image.
    unsupported fn hsa_ext_image_import(
        agent: hsa_agent_t,
        src_memory: *const c_void,
        src_row_pitch: usize,
        src_slice_pitch: usize,
        dst_image: hsa_ext_image_t,
        image_region: *const hsa_ext_image_region_t,
    ) = Core::InvalidArgument;
}

hsa_export! { image:
    /// Copies an image into memory.
    unsupported fn hsa_ext_image_export(
        agent: hsa_agent_t,
        src_image: hsa_ext_image_t,
        dst_memory: *mut c_void,
        dst_row_pitch: usize,
        dst_slice_pitch: usize,
        image_region: *const hsa_ext_image_region_t,
    ) = Core::InvalidArgument;
}

hsa_export! { image:
    /// Fills an image.
    unsupported fn hsa_ext_image_clear(agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void, image_region: *const hsa_ext_image_region_t) = Core::InvalidArgument;
}

hsa_export! { image:
    /// Creates a sampler.
    unsupported fn hsa_ext_sampler_create(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t, sampler: *mut hsa_ext_sampler_t) = SAMPLER;
}

hsa_export! { image:
    /// Creates a sampler with an address mode per dimension.
    unsupported fn hsa_ext_sampler_create_v2(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t, sampler: *mut hsa_ext_sampler_t) = SAMPLER;
}

hsa_export! { image:
    /// Destroys a sampler.
    unsupported fn hsa_ext_sampler_destroy(agent: hsa_agent_t, sampler: hsa_ext_sampler_t) = Core::InvalidArgument;
}

/// `hsa_amd_image_get_info_max_dim`: exported by AMD's library for its own use, in no header and in
/// no table. The limits themselves are answered by `hsa_agent_get_info`.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(
    test,
    expect(dead_code, reason = "nothing is exported from the unit tests")
)]
unsafe extern "C-unwind" fn hsa_amd_image_get_info_max_dim(
    component: <hsa_agent_t as FromC>::C,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    let _ = (component, attribute, value);
    crate::entry::enter("hsa_amd_image_get_info_max_dim", || {
        runtime::current()?;
        unsupported("hsa_amd_image_get_info_max_dim", Core::Generic)
    })
}
symver! { hsa_amd_image_get_info_max_dim }
