//! hsa_ext_amd.h: shared virtual memory.

use crate::args::{In, InMut, Out};
use crate::entry::hsa_export;
use crate::memory::{address, bytes};
use crate::signal::{list, optional};
use hsa_core::memory::SvmAttribute;
use hsa_core::{Error as Core, runtime};
use hsa_sys::*;
use std::ffi::c_void;

fn attributes(
    raw: &In<hsa_amd_svm_attribute_pair_t>,
    count: usize,
) -> hsa_core::Result<Vec<SvmAttribute>> {
    let pairs = raw.array(count)?;
    Ok(pairs
        .iter()
        .map(|pair| SvmAttribute {
            attribute: pair.attribute,
            value: pair.value,
        })
        .collect())
}

hsa_export! { amd_ext:
    /// Sets attributes of a range.
    fn hsa_amd_svm_attributes_set(ptr: *mut c_void, size: usize, attribute_list: InMut<hsa_amd_svm_attribute_pair_t>, attribute_count: usize) {
        let runtime = runtime::current()?;
        let list = attributes(&attribute_list.0, attribute_count)?;
        Ok(runtime.svm_attributes_set(address(ptr), bytes(size), &list)?)
    }
}

hsa_export! { amd_ext:
    /// Reads attributes of a range into the list's values.
    fn hsa_amd_svm_attributes_get(ptr: *mut c_void, size: usize, attribute_list: Out<hsa_amd_svm_attribute_pair_t>, attribute_count: usize) {
        let runtime = runtime::current()?;
        let out = attribute_list.required()?;
        let mut list = attributes(&out.as_input(), attribute_count)?;
        runtime.svm_attributes_get(address(ptr), bytes(size), &mut list)?;
        let pair = |a: SvmAttribute| hsa_amd_svm_attribute_pair_t { attribute: a.attribute, value: a.value };
        out.write_all(list.into_iter().map(pair))
    }
}

hsa_export! { amd_ext:
    /// Moves a range to an agent.
    fn hsa_amd_svm_prefetch_async(
        ptr: *mut c_void,
        size: usize,
        agent: hsa_agent_t,
        num_dep_signals: u32,
        dep_signals: In<hsa_signal_t>,
        completion_signal: hsa_signal_t,
    ) {
        let runtime = runtime::current()?;
        if dep_signals.is_null() != (num_dep_signals == 0) {
            return Err(Core::InvalidArgument.into());
        }
        let agent = runtime.agent(agent.handle)?;
        let deps = list(&dep_signals, usize::try_from(num_dep_signals).unwrap_or(usize::MAX))?;
        let completion = optional(completion_signal)?;
        Ok(runtime.svm_prefetch(address(ptr), bytes(size), agent, &deps, completion)?)
    }
}
