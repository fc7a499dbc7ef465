//! hsa.h: code object readers, executables and their symbols.

use crate::args::{In, Out, Text, Value, ValuePtr, Written};
use crate::entry::{Result, guard, hsa_export, proceed};
use crate::memory::{address, bytes};
use hsa_core::loader::{Detail, ExecutableInfo, Symbol};
use hsa_core::{Error as Core, Runtime, runtime};
use hsa_sys::*;
use std::ffi::c_void;

hsa_export! { core:
    /// Makes a reader of an open file.
    fn hsa_code_object_reader_create_from_file(file: i32, code_object_reader: Out<hsa_code_object_reader_t>) {
        let runtime = runtime::current()?;
        let out = code_object_reader.required()?;
        out.write(hsa_code_object_reader_t { handle: runtime.reader_from_file(file, 0, None)? })
    }
}

hsa_export! { core:
    /// Makes a reader of memory that stays valid as long as the reader.
    fn hsa_code_object_reader_create_from_memory(code_object: *const c_void, size: usize, code_object_reader: Out<hsa_code_object_reader_t>) {
        let runtime = runtime::current()?;
        let out = code_object_reader.required()?;
        // SAFETY: hsa.h demands it of the caller.
        let handle = unsafe { runtime.reader_from_memory(address(code_object), bytes(size)) }?;
        out.write(hsa_code_object_reader_t { handle })
    }
}

hsa_export! { core:
    /// Destroys a reader.
    fn hsa_code_object_reader_destroy(code_object_reader: hsa_code_object_reader_t) {
        Ok(runtime::current()?.destroy_reader(code_object_reader.handle)?)
    }
}

/// Creates an unfrozen executable, or one that is frozen (and empty) from the start.
fn create(
    profile: hsa_profile_t,
    rounding: hsa_default_float_rounding_mode_t,
    frozen: bool,
    executable: Out<hsa_executable_t>,
) -> Result {
    let runtime = runtime::current()?;
    let out = executable.required()?;
    crate::agent::known_profile(profile)?;
    if rounding.0 > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR.0 {
        return Err(Core::InvalidArgument.into());
    }
    let info = ExecutableInfo {
        profile: profile.0,
        rounding_mode: rounding.0,
        frozen,
    };
    out.write(hsa_executable_t {
        handle: runtime.create_executable(info)?,
    })
}

hsa_export! { core:
    /// Creates an executable. Options are ignored, as AMD's runtime ignores them.
    fn hsa_executable_create_alt(
        profile: hsa_profile_t,
        default_float_rounding_mode: hsa_default_float_rounding_mode_t,
        options: Text,
        executable: Out<hsa_executable_t>,
    ) {
        let _ = options;
        create(profile, default_float_rounding_mode, false, executable)
    }
}

hsa_export! { core:
    /// Creates an executable in a state (deprecated).
    fn hsa_executable_create(profile: hsa_profile_t, executable_state: hsa_executable_state_t, options: Text, executable: Out<hsa_executable_t>) {
        let _ = options;
        runtime::current()?;
        let frozen = match executable_state {
            HSA_EXECUTABLE_STATE_UNFROZEN => false,
            HSA_EXECUTABLE_STATE_FROZEN => true,
            _ => return Err(Core::InvalidArgument.into()),
        };
        create(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, frozen, executable)
    }
}

hsa_export! { core:
    /// Destroys an executable.
    fn hsa_executable_destroy(executable: hsa_executable_t) {
        Ok(runtime::current()?.destroy_executable(executable.handle)?)
    }
}

hsa_export! { core:
    /// Loads a code object that is for no agent: no compiler makes one since code object V2, so
    /// whatever the reader holds is refused.
    fn hsa_executable_load_program_code_object(
        executable: hsa_executable_t,
        code_object_reader: hsa_code_object_reader_t,
        options: Text,
        loaded_code_object: Out<hsa_loaded_code_object_t>,
    ) {
        let _ = (code_object_reader, options, loaded_code_object);
        let info = runtime::current()?.executable_info(executable.handle)?;
        Err(if info.frozen { Core::FrozenExecutable } else { Core::InvalidCodeObject }.into())
    }
}

hsa_export! { core:
    /// Loads a code object for an agent.
    fn hsa_executable_load_agent_code_object(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        code_object_reader: hsa_code_object_reader_t,
        options: Text,
        loaded_code_object: Out<hsa_loaded_code_object_t>,
    ) {
        let _ = options;
        let runtime = runtime::current()?;
        let agent = runtime.agent(agent.handle)?;
        let handle = runtime.load_code_object(executable.handle, agent, code_object_reader.handle)?;
        match loaded_code_object.optional() {
            Some(out) => out.write(hsa_loaded_code_object_t { handle }),
            None => Ok(()),
        }
    }
}

hsa_export! { core:
    /// Closes an executable for more code and brings its code to the devices.
    fn hsa_executable_freeze(executable: hsa_executable_t, options: Text) {
        let _ = options;
        Ok(runtime::current()?.freeze_executable(executable.handle)?)
    }
}

hsa_export! { core:
    /// Answers one property of an executable.
    fn hsa_executable_get_info(executable: hsa_executable_t, attribute: hsa_executable_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let info = runtime.executable_info(executable.handle)?;
        match attribute {
            HSA_EXECUTABLE_INFO_PROFILE => value.put::<u32>(info.profile),
            HSA_EXECUTABLE_INFO_STATE => value.put::<u32>(u32::from(info.frozen)),
            HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE => value.put::<u32>(info.rounding_mode),
            _ => return Err(Core::InvalidArgument.into()),
        };
        Ok(())
    }
}

/// Defines a variable for an agent, or for the program.
fn define(
    executable: hsa_executable_t,
    agent: Option<hsa_agent_t>,
    name: &Text,
    at: *mut c_void,
    constant: bool,
) -> Result {
    let runtime = runtime::current()?;
    let name = name.required()?;
    if at.is_null() {
        return Err(Core::InvalidArgument.into());
    }
    let agent = agent.map(|agent| runtime.agent(agent.handle)).transpose()?;
    Ok(runtime.define_variable(executable.handle, agent, &name, address(at), constant)?)
}

hsa_export! { core:
    /// Defines a variable of the whole program.
    fn hsa_executable_global_variable_define(executable: hsa_executable_t, variable_name: Text, address: *mut c_void) {
        define(executable, None, &variable_name, address, false)
    }
}

hsa_export! { core:
    /// Defines a variable of one agent.
    fn hsa_executable_agent_global_variable_define(executable: hsa_executable_t, agent: hsa_agent_t, variable_name: Text, address: *mut c_void) {
        define(executable, Some(agent), &variable_name, address, false)
    }
}

hsa_export! { core:
    /// Defines a constant of one agent.
    fn hsa_executable_readonly_variable_define(executable: hsa_executable_t, agent: hsa_agent_t, variable_name: Text, address: *mut c_void) {
        define(executable, Some(agent), &variable_name, address, true)
    }
}

/// Loading has checked everything, so a live executable is valid.
fn validate(executable: hsa_executable_t, result: Out<u32>) -> Result {
    let runtime = runtime::current()?;
    let out = result.required()?;
    runtime.executable_info(executable.handle)?;
    out.write(0)
}

hsa_export! { core:
    /// Checks an executable (deprecated form).
    fn hsa_executable_validate(executable: hsa_executable_t, result: Out<u32>) {
        validate(executable, result)
    }
}

hsa_export! { core:
    /// Checks an executable.
    fn hsa_executable_validate_alt(executable: hsa_executable_t, options: Text, result: Out<u32>) {
        let _ = options;
        validate(executable, result)
    }
}

/// The symbol of a name: the agent's, or else the program's.
fn find(
    runtime: &Runtime,
    executable: u64,
    name: &str,
    agent: Option<u64>,
) -> hsa_core::Result<u64> {
    let of_agent = agent.map(|agent| runtime.symbol_by_name(executable, name, Some(agent)));
    match of_agent {
        Some(Err(Core::InvalidSymbolName)) | None => runtime.symbol_by_name(executable, name, None),
        Some(other) => other,
    }
}

hsa_export! { core:
    /// Finds a symbol (deprecated form; module names and call conventions are HSAIL's).
    fn hsa_executable_get_symbol(
        executable: hsa_executable_t,
        module_name: Text,
        symbol_name: Text,
        agent: hsa_agent_t,
        call_convention: i32,
        symbol: Out<hsa_executable_symbol_t>,
    ) {
        let _ = (module_name, call_convention);
        let runtime = runtime::current()?;
        let (name, out) = (symbol_name.required()?, symbol.required()?);
        // hsa.h: the agent is ignored for symbols of program linkage, which have none.
        let agent = (agent.handle != 0).then(|| runtime.agent(agent.handle)).transpose()?;
        let handle = find(runtime, executable.handle, &name, agent.map(hsa_core::Agent::handle))?;
        out.write(hsa_executable_symbol_t { handle })
    }
}

hsa_export! { core:
    /// Finds a symbol.
    fn hsa_executable_get_symbol_by_name(executable: hsa_executable_t, symbol_name: Text, agent: In<hsa_agent_t>, symbol: Out<hsa_executable_symbol_t>) {
        let runtime = runtime::current()?;
        let (name, out) = (symbol_name.required()?, symbol.required()?);
        let agent = if agent.is_null() { None } else { Some(runtime.agent(agent.read()?.handle)?) };
        let handle = find(runtime, executable.handle, &name, agent.map(hsa_core::Agent::handle))?;
        out.write(hsa_executable_symbol_t { handle })
    }
}

hsa_export! { core:
    /// Answers one property of a symbol.
    fn hsa_executable_symbol_get_info(executable_symbol: hsa_executable_symbol_t, attribute: hsa_executable_symbol_info_t, value: Value) {
        let runtime = runtime::current()?;
        let value = value.required()?;
        let symbol = runtime.symbol(executable_symbol.handle)?;
        let common = common_info(&symbol, attribute, value);
        let written = common.or_else(|| detail_info(&symbol, attribute, value));
        written.map(drop).ok_or(Core::InvalidArgument.into())
    }
}

fn common_info(
    symbol: &Symbol,
    attribute: hsa_executable_symbol_info_t,
    value: ValuePtr,
) -> Option<Written> {
    let length = |text: &str| u32::try_from(text.len()).unwrap_or(0);
    Some(match attribute {
        HSA_EXECUTABLE_SYMBOL_INFO_TYPE => value.put(match symbol.detail {
            Detail::Variable { .. } => HSA_SYMBOL_KIND_VARIABLE,
            Detail::Kernel { .. } => HSA_SYMBOL_KIND_KERNEL,
        }),
        // hsa.h: neither the length nor the name counts or writes a final zero.
        HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH => value.put::<u32>(length(&symbol.name)),
        HSA_EXECUTABLE_SYMBOL_INFO_NAME => value.bytes(symbol.name.as_bytes()),
        HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH => value.put::<u32>(0),
        HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME => value.bytes(b""),
        HSA_EXECUTABLE_SYMBOL_INFO_AGENT => value.put(hsa_agent_t {
            handle: symbol.agent.unwrap_or(0),
        }),
        HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE => value.put(HSA_SYMBOL_LINKAGE_PROGRAM),
        HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION => value.put(true),
        _ => return None,
    })
}

fn detail_info(
    symbol: &Symbol,
    attribute: hsa_executable_symbol_info_t,
    value: ValuePtr,
) -> Option<Written> {
    match symbol.detail {
        Detail::Variable {
            constant,
            alignment,
            ..
        } => variable_info(symbol, constant, alignment, attribute, value),
        Detail::Kernel { .. } => kernel_info(symbol, attribute, value),
    }
}

fn variable_info(
    symbol: &Symbol,
    constant: bool,
    alignment: u32,
    attribute: hsa_executable_symbol_info_t,
    value: ValuePtr,
) -> Option<Written> {
    let segment = if constant {
        HSA_VARIABLE_SEGMENT_READONLY
    } else {
        HSA_VARIABLE_SEGMENT_GLOBAL
    };
    let allocation = match symbol.agent {
        Some(_) => HSA_VARIABLE_ALLOCATION_AGENT,
        None => HSA_VARIABLE_ALLOCATION_PROGRAM,
    };
    Some(match attribute {
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS => value.put::<u64>(symbol.address),
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION => value.put(allocation),
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT => value.put(segment),
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT => value.put::<u32>(alignment),
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE => {
            value.put::<u32>(u32::try_from(symbol.size).unwrap_or(u32::MAX))
        }
        HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST => value.put::<bool>(constant),
        _ => return None,
    })
}

/// Alignment of a kernel's arguments that AMD's runtime reports for every kernel.
const KERNARG_ALIGNMENT: u32 = 16;

fn kernel_info(
    symbol: &Symbol,
    attribute: hsa_executable_symbol_info_t,
    value: ValuePtr,
) -> Option<Written> {
    let Detail::Kernel {
        kernarg_size,
        group_size,
        private_size,
        dynamic_callstack,
    } = symbol.detail
    else {
        return None;
    };
    Some(match attribute {
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT => value.put::<u64>(symbol.address),
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE => value.put::<u32>(kernarg_size),
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT => {
            value.put::<u32>(KERNARG_ALIGNMENT)
        }
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE => value.put::<u32>(group_size),
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE => value.put::<u32>(private_size),
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK => value.put::<bool>(dynamic_callstack),
        HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION => value.put::<u32>(0),
        _ => return None,
    })
}

/// The user's function that sees each symbol.
type EachSymbol = Option<
    unsafe extern "C-unwind" fn(
        hsa_executable_t,
        hsa_executable_symbol_t,
        *mut c_void,
    ) -> hsa_status_t,
>;
/// The same with the agent.
type EachAgentSymbol = Option<
    unsafe extern "C-unwind" fn(
        hsa_executable_t,
        hsa_agent_t,
        hsa_executable_symbol_t,
        *mut c_void,
    ) -> hsa_status_t,
>;

/// The handles of symbols that `wanted` picks.
fn pick(executable: u64, wanted: impl Fn(&Symbol) -> bool) -> Result<Vec<u64>> {
    let all = runtime::current()?.symbols(executable)?;
    Ok(all
        .iter()
        .filter(|(_, symbol)| wanted(symbol))
        .map(|(handle, _)| *handle)
        .collect())
}

hsa_export! { core:
    /// Calls back for every symbol (deprecated form).
    callback fn hsa_executable_iterate_symbols(executable: hsa_executable_t, callback: EachSymbol, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            runtime::current()?;
            Ok((callback.ok_or(Core::InvalidArgument)?, pick(executable.handle, |_| true)?))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(executable, hsa_executable_symbol_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Calls back for every symbol of an agent.
    callback fn hsa_executable_iterate_agent_symbols(executable: hsa_executable_t, agent: hsa_agent_t, callback: EachAgentSymbol, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            runtime::current()?.agent(agent.handle)?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            Ok((callback, pick(executable.handle, |symbol| symbol.agent == Some(agent.handle))?))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(executable, agent, hsa_executable_symbol_t { handle }, data) })?;
        }
        Ok(())
    }
}

hsa_export! { core:
    /// Calls back for every symbol of the program.
    callback fn hsa_executable_iterate_program_symbols(executable: hsa_executable_t, callback: EachSymbol, data: *mut c_void) {
        let (callback, handles) = guard(|| {
            runtime::current()?;
            let callback = callback.ok_or(Core::InvalidArgument)?;
            Ok((callback, pick(executable.handle, |symbol| symbol.agent.is_none())?))
        })?;
        for handle in handles {
            // SAFETY: the user's function, called with the user's data.
            proceed(unsafe { callback(executable, hsa_executable_symbol_t { handle }, data) })?;
        }
        Ok(())
    }
}
