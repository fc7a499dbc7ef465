//! hsa.h: open and close, system properties, extensions, texts.

use crate::args::{InMut, Out, Value, ValuePtr, Written};
use crate::entry::{Result, hsa_export};
use crate::{driver, extensions, loader_export, log, status, tables, tools};
use hsa_core::Error as Core;
use hsa_core::{runtime, system};
use hsa_sys::*;
use std::ffi::{CStr, c_char, c_void};

/// What `HSA_AMD_SYSTEM_INFO_BUILD_VERSION` answers.
const BUILD_VERSION: &CStr = match CStr::from_bytes_with_nul(
    concat!("hansa-", env!("CARGO_PKG_VERSION"), "\0").as_bytes(),
) {
    Ok(text) => text,
    Err(_) => c"hansa",
};

/// `HSA_AMD_INTERFACE_VERSION` of the headers that `hsa-sys` binds.
const EXT_VERSION: (u16, u16) = (1, 15);

hsa_export! { core:
    /// Opens the runtime or counts one more user.
    callback fn hsa_init() {
        log::install();
        let first = crate::entry::guard(|| {
            loader_export::publish();
            let was_closed = runtime::current().is_err();
            runtime::acquire(driver::choose).inspect_err(|error| {
                if *error != Core::RefcountOverflow {
                    driver::explain_failure();
                }
            })?;
            Ok(was_closed)
        })?;
        if first {
            tools::load();
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Drops one user; the last closes the runtime, after the tools were told.
    fn hsa_shut_down() {
        runtime::release()?;
        if runtime::current().is_err() {
            tables::reset();
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Answers one property of the system.
    fn hsa_system_get_info(attribute: hsa_system_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        info(runtime, attribute, value).map(drop)
    }
}

fn info(
    runtime: &hsa_core::Runtime,
    attribute: hsa_system_info_t,
    value: ValuePtr,
) -> Result<Written> {
    Ok(match attribute {
        HSA_SYSTEM_INFO_VERSION_MAJOR => value.put::<u16>(system::VERSION.0),
        HSA_SYSTEM_INFO_VERSION_MINOR => value.put::<u16>(system::VERSION.1),
        HSA_SYSTEM_INFO_TIMESTAMP => value.put::<u64>(system::timestamp()),
        HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY => value.put::<u64>(system::TIMESTAMP_FREQUENCY),
        HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT => value.put::<u64>(u64::MAX),
        HSA_SYSTEM_INFO_ENDIANNESS => value.put(HSA_ENDIANNESS_LITTLE),
        HSA_SYSTEM_INFO_MACHINE_MODEL => value.put(HSA_MACHINE_MODEL_LARGE),
        HSA_SYSTEM_INFO_EXTENSIONS => value.put(system::extension_map()),
        HSA_AMD_SYSTEM_INFO_BUILD_VERSION => value.put::<*const c_char>(BUILD_VERSION.as_ptr()),
        HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED => value.put(runtime.svm_supported()),
        HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT | HSA_AMD_SYSTEM_INFO_XNACK_ENABLED => {
            value.put(runtime.xnack_enabled())
        }
        // Waits here sleep on a futex; no instruction of the host CPU is needed for it.
        HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED => value.put(false),
        // The functions behind these two are in `unsupported.txt`.
        HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED | HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED => {
            value.put(false)
        }
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR => value.put(EXT_VERSION.0),
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR => value.put(EXT_VERSION.1),
        _ => return Err(Core::InvalidArgument.into()),
    })
}

hsa_export! { core:
    /// The text of a status; works before `hsa_init`.
    fn hsa_status_string(status: hsa_status_t, status_string: Out<*const c_char>) {
        let out = status_string.required()?;
        out.write(status::text(status).ok_or(Core::InvalidArgument)?.as_ptr())
    }
}

hsa_export! { core:
    /// The name of an extension.
    fn hsa_extension_get_name(extension: u16, name: Out<*const c_char>) {
        runtime::current()?;
        let out = name.required()?;
        out.write(extensions::name(extension).ok_or(Core::InvalidArgument)?.as_ptr())
    }
}

hsa_export! { core:
    /// Whether the system has an extension in at least this version (deprecated form).
    fn hsa_system_extension_supported(extension: u16, version_major: u16, version_minor: u16, result: Out<bool>) {
        runtime::current()?;
        let out = result.required()?;
        extensions::name(extension).ok_or(Core::InvalidArgument)?;
        let newest = extensions::newest_minor(extension, version_major);
        out.write(newest.is_some_and(|newest| version_minor <= newest))
    }
}

hsa_export! { core:
    /// Whether the system has an extension, and its newest minor version.
    fn hsa_system_major_extension_supported(extension: u16, version_major: u16, version_minor: Out<u16>, result: Out<bool>) {
        runtime::current()?;
        let (minor, out) = (version_minor.required()?, result.required()?);
        extensions::name(extension).ok_or(Core::InvalidArgument)?;
        let newest = extensions::newest_minor(extension, version_major);
        if let Some(newest) = newest {
            minor.write(newest)?;
        }
        out.write(newest.is_some())
    }
}

hsa_export! { core:
    /// Copies an extension's functions of one version (deprecated form).
    fn hsa_system_get_extension_table(extension: u16, version_major: u16, version_minor: u16, table: Value) {
        runtime::current()?;
        let length = extensions::table_size(extension, version_minor).ok_or(Core::Generic)?;
        extensions::copy_table(extension, version_major, length, table)
    }
}

hsa_export! { core:
    /// Copies the first `table_length` bytes of an extension's functions.
    fn hsa_system_get_major_extension_table(extension: u16, version_major: u16, table_length: usize, table: Value) {
        runtime::current()?;
        extensions::copy_table(extension, version_major, table_length, table)
    }
}

hsa_export! { core:
    /// Whether an agent has an extension in at least this version (deprecated form).
    fn hsa_agent_extension_supported(extension: u16, agent: hsa_agent_t, version_major: u16, version_minor: u16, result: Out<bool>) {
        let runtime = runtime::current()?;
        let out = result.required()?;
        runtime.agent(agent.handle)?;
        extensions::name(extension).ok_or(Core::InvalidArgument)?;
        let newest = extensions::newest_minor(extension, version_major);
        out.write(newest.is_some_and(|newest| version_minor <= newest))
    }
}

hsa_export! { core:
    /// Whether an agent has an extension, and its newest minor version.
    fn hsa_agent_major_extension_supported(extension: u16, agent: hsa_agent_t, version_major: u16, version_minor: Out<u16>, result: Out<bool>) {
        let runtime = runtime::current()?;
        let (minor, out) = (version_minor.required()?, result.required()?);
        runtime.agent(agent.handle)?;
        extensions::name(extension).ok_or(Core::InvalidArgument)?;
        let newest = extensions::newest_minor(extension, version_major);
        if let Some(newest) = newest {
            minor.write(newest)?;
        }
        out.write(newest.is_some())
    }
}

hsa_export! { amd_ext:
    /// Turns logging on, into a C `FILE` or to stderr, or off if all flags are 0 (7.x). AMD's flags
    /// name its own packet dumps; here any of them asks for everything at debug level.
    fn hsa_amd_enable_logging(flags: InMut<u8>, file: *mut c_void) {
        runtime::current()?;
        let wanted = flags.0.array(8)?.iter().any(|flag| *flag != 0);
        log::redirect(wanted, file);
        Ok(())
    }
}
