//! hsa_ext_amd.h: what the runtime knows about a pointer, and who wants to know when it is freed.

use crate::args::Out;
use crate::entry::{guard, hsa_export};
use crate::memory::{address, pointer};
use hsa_core::memory::PointerInfo;
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::c_void;

/// The user's allocator for the list of agents.
type Alloc = Option<unsafe extern "C-unwind" fn(usize) -> *mut c_void>;

hsa_export! { amd_ext:
    /// Describes the memory around a pointer; unknown memory is an answer, not an error.
    callback fn hsa_amd_pointer_info(
        ptr: *const c_void,
        info: Out<hsa_amd_pointer_info_t>,
        alloc: Alloc,
        num_agents_accessible: Out<u32>,
        accessible: Out<*mut hsa_agent_t>,
    ) {
        let (found, count_out, list_out) = guard(|| {
            let runtime = runtime::current()?;
            let info = info.required()?;
            let found = runtime.pointer_info(address(ptr))?;
            deliver(&info, &found)?;
            Ok((found, num_agents_accessible.optional(), accessible.optional()))
        })?;
        let (Some(alloc), Some(count_out), Some(list_out)) = (alloc, count_out, list_out) else {
            return Ok(());
        };
        let agents = found.accessible;
        // SAFETY: the user's function, called with the size of the list.
        let list = unsafe { alloc(agents.len() * size_of::<hsa_agent_t>()) }.cast::<hsa_agent_t>();
        if list.is_null() {
            return Err(Core::OutOfResources.into());
        }
        for (index, handle) in agents.iter().enumerate() {
            // SAFETY: the user's function gave room for the whole list.
            unsafe { list.wrapping_add(index).write_unaligned(hsa_agent_t { handle: *handle }) };
        }
        count_out.write(u32::try_from(agents.len()).unwrap_or(u32::MAX))?;
        list_out.write(list)
    }
}

/// Writes as many bytes as the caller's structure has: `size` says so.
fn deliver(
    out: &crate::args::Checked<hsa_amd_pointer_info_t>,
    found: &PointerInfo,
) -> crate::entry::Result {
    // SAFETY: every version of the structure starts with `size`.
    let size = unsafe { out.address().cast::<u32>().read_unaligned() };
    if size == 0 {
        return Err(Core::InvalidArgument.into());
    }
    let size = size.min(56);
    let full = hsa_amd_pointer_info_t {
        size,
        type_: hsa_amd_pointer_type_t(found.pointer_type as u32),
        agentBaseAddress: pointer(found.agent_base),
        hostBaseAddress: pointer(found.host_base),
        sizeInBytes: usize::try_from(found.size).unwrap_or(usize::MAX),
        userData: pointer(found.user_data),
        agentOwner: hsa_agent_t {
            handle: found.agent_owner,
        },
        global_flags: found.global_flags,
        registered: found.registered,
    };
    let from = std::ptr::from_ref(&full).cast::<u8>();
    // SAFETY: the caller's structure has `size` bytes, ours at least as many.
    unsafe { std::ptr::copy_nonoverlapping(from, out.address().cast(), size as usize) };
    Ok(())
}

hsa_export! { amd_ext:
    /// Stores a value with an allocation, for `hsa_amd_pointer_info`.
    fn hsa_amd_pointer_info_set_userdata(ptr: *const c_void, userdata: *mut c_void) {
        let runtime = runtime::current()?;
        Ok(runtime.set_pointer_userdata(address(ptr), address(userdata))?)
    }
}

hsa_export! { amd_ext:
    /// Calls back when the allocation around a pointer is freed.
    fn hsa_amd_register_deallocation_callback(ptr: *mut c_void, callback: hsa_amd_deallocation_callback_t, user_data: *mut c_void) {
        let runtime = runtime::current()?;
        if ptr.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        let callback = callback.ok_or(Core::InvalidArgument)?;
        // SAFETY: the user's function, called with the user's data while it is registered.
        Ok(unsafe { runtime.register_deallocation_callback(address(ptr), callback, address(user_data)) }?)
    }
}

hsa_export! { amd_ext:
    /// Undoes `hsa_amd_register_deallocation_callback`.
    fn hsa_amd_deregister_deallocation_callback(ptr: *mut c_void, callback: hsa_amd_deallocation_callback_t) {
        let runtime = runtime::current()?;
        if ptr.is_null() {
            return Err(Core::InvalidArgument.into());
        }
        let callback = callback.ok_or(Core::InvalidArgument)?;
        Ok(runtime.deregister_deallocation_callback(address(ptr), callback)?)
    }
}
