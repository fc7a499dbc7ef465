//! From errors to `hsa_status_t`, and the texts of `hsa_status_string`.

use hsa_core::Error as Core;
use hsa_sys::*;
use std::ffi::CStr;

/// Why an exported function does not answer `HSA_STATUS_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// A rule of the runtime.
    #[error(transparent)]
    Core(#[from] Core),
    /// What a caller's callback returned; it ends the iteration and is handed on.
    #[error("the callback answered {:#x}", .0.0)]
    Callback(hsa_status_t),
    /// A status of an extension that the runtime's own errors do not know.
    #[error("extension status {:#x}", .0.0)]
    Extension(hsa_status_t),
}

impl Error {
    /// The status that C sees.
    pub(crate) fn status(self) -> hsa_status_t {
        match self {
            Self::Core(error) => of_core(error),
            Self::Callback(status) | Self::Extension(status) => status,
        }
    }
}

/// `HSA_STATUS_ERROR_*` values of hsa_ext_amd.h, whose enumeration has no type of its own there.
const fn amd(value: u32) -> hsa_status_t {
    hsa_status_t(value)
}

fn of_core(error: Core) -> hsa_status_t {
    match error {
        Core::Generic | Core::Driver { .. } => HSA_STATUS_ERROR,
        Core::InvalidArgument => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        Core::InvalidQueueCreation => HSA_STATUS_ERROR_INVALID_QUEUE_CREATION,
        Core::InvalidAllocation => HSA_STATUS_ERROR_INVALID_ALLOCATION,
        Core::InvalidAgent => HSA_STATUS_ERROR_INVALID_AGENT,
        Core::InvalidRegion => HSA_STATUS_ERROR_INVALID_REGION,
        Core::InvalidSignal => HSA_STATUS_ERROR_INVALID_SIGNAL,
        Core::InvalidQueue => HSA_STATUS_ERROR_INVALID_QUEUE,
        Core::OutOfResources => HSA_STATUS_ERROR_OUT_OF_RESOURCES,
        Core::InvalidPacketFormat => HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
        Core::ResourceFree => HSA_STATUS_ERROR_RESOURCE_FREE,
        Core::NotInitialized => HSA_STATUS_ERROR_NOT_INITIALIZED,
        Core::RefcountOverflow => HSA_STATUS_ERROR_REFCOUNT_OVERFLOW,
        Core::IncompatibleArguments => HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
        Core::InvalidIndex => HSA_STATUS_ERROR_INVALID_INDEX,
        Core::InvalidIsa => HSA_STATUS_ERROR_INVALID_ISA,
        Core::InvalidIsaName => HSA_STATUS_ERROR_INVALID_ISA_NAME,
        Core::InvalidCodeObject => HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
        Core::InvalidExecutable => HSA_STATUS_ERROR_INVALID_EXECUTABLE,
        Core::FrozenExecutable => HSA_STATUS_ERROR_FROZEN_EXECUTABLE,
        Core::InvalidSymbolName => HSA_STATUS_ERROR_INVALID_SYMBOL_NAME,
        Core::VariableAlreadyDefined => HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,
        Core::VariableUndefined => HSA_STATUS_ERROR_VARIABLE_UNDEFINED,
        Core::Exception => HSA_STATUS_ERROR_EXCEPTION,
        Core::InvalidCodeSymbol => HSA_STATUS_ERROR_INVALID_CODE_SYMBOL,
        Core::InvalidExecutableSymbol => HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL,
        Core::InvalidFile => HSA_STATUS_ERROR_INVALID_FILE,
        Core::InvalidCodeObjectReader => HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER,
        Core::InvalidCache => HSA_STATUS_ERROR_INVALID_CACHE,
        Core::InvalidWavefront => HSA_STATUS_ERROR_INVALID_WAVEFRONT,
        Core::InvalidSignalGroup => HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP,
        Core::InvalidRuntimeState => HSA_STATUS_ERROR_INVALID_RUNTIME_STATE,
        Core::Fatal => HSA_STATUS_ERROR_FATAL,
        Core::InvalidMemoryPool => amd(40),
        Core::MemoryApertureViolation => amd(41),
        Core::IllegalInstruction => amd(42),
        Core::MemoryFault => amd(43),
        Core::CuMaskReduced => amd(44),
        Core::OutOfRegisters => amd(45),
        Core::ResourceBusy => amd(46),
        Core::NotSupported => amd(47),
    }
}

/// The text of a status, or `None` for a number that is no status.
pub(crate) fn text(status: hsa_status_t) -> Option<&'static CStr> {
    TEXTS
        .iter()
        .find(|(value, _)| *value == status.0)
        .map(|(_, text)| *text)
}

/// As `hsa_status_string` of ROCm 5.2.3 and 7.2.4 answers (the ABI test compares); the last two of
/// the AMD block are missing there.
const TEXTS: &[(u32, &CStr)] = &[
    (0, c"HSA_STATUS_SUCCESS: The function has been executed successfully."),
    (0x1, c"HSA_STATUS_INFO_BREAK: A traversal over a list of elements has been interrupted by the application before completing."),
    (0x28, c"HSA_STATUS_ERROR_INVALID_MEMORY_POOL: The memory pool is invalid."),
    (0x29, c"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address."),
    (0x2a, c"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction."),
    (0x2b, c"HSA_STATUS_ERROR_MEMORY_FAULT: Agent attempted to access an inaccessible address."),
    (0x2c, c"HSA_STATUS_CU_MASK_REDUCED: The CU mask was successfully set but the mask attempted to enable a CU which was disabled for the process.  CUs disabled for the process remain disabled."),
    (0x2d, c"HSA_STATUS_ERROR_OUT_OF_REGISTERS: Kernel has requested more VGPRs than are available on this agent"),
    (0x1000, c"HSA_STATUS_ERROR: A generic error has occurred."),
    (0x1001, c"HSA_STATUS_ERROR_INVALID_ARGUMENT: One of the actual arguments does not meet a precondition stated in the documentation of the corresponding formal argument."),
    (0x1002, c"HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: The requested queue creation is not valid."),
    (0x1003, c"HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid."),
    (0x1004, c"HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid."),
    (0x1005, c"HSA_STATUS_ERROR_INVALID_REGION: The memory region is invalid."),
    (0x1006, c"HSA_STATUS_ERROR_INVALID_SIGNAL: The signal is invalid."),
    (0x1007, c"HSA_STATUS_ERROR_INVALID_QUEUE: The queue is invalid."),
    (0x1008, c"HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. This error may also occur when the core runtime library needs to spawn threads or create internal OS-specific events."),
    (0x1009, c"HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: The AQL packet is malformed."),
    (0x100a, c"HSA_STATUS_ERROR_RESOURCE_FREE: An error has been detected while releasing a resource."),
    (0x100b, c"HSA_STATUS_ERROR_NOT_INITIALIZED: An API other than hsa_init has been invoked while the reference count of the HSA runtime is zero."),
    (0x100c, c"HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: The maximum reference count for the object has been reached."),
    (0x100d, c"HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: The arguments passed to a functions are not compatible."),
    (0x100e, c"HSA_STATUS_ERROR_INVALID_INDEX: The index is invalid."),
    (0x100f, c"HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid."),
    (0x1010, c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT: The code object is invalid."),
    (0x1011, c"HSA_STATUS_ERROR_INVALID_EXECUTABLE: The executable is invalid."),
    (0x1012, c"HSA_STATUS_ERROR_FROZEN_EXECUTABLE: The executable is frozen."),
    (0x1013, c"HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: There is no symbol with the given name."),
    (0x1014, c"HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: The variable is already defined."),
    (0x1015, c"HSA_STATUS_ERROR_VARIABLE_UNDEFINED: The variable is undefined."),
    (0x1016, c"HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception."),
    (0x1017, c"HSA_STATUS_ERROR_INVALID_ISA_NAME: The instruction set architecture name is invalid."),
    (0x1018, c"HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: The code object symbol is invalid."),
    (0x1019, c"HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: The executable symbol is invalid."),
    (0x1020, c"HSA_STATUS_ERROR_INVALID_FILE: The file descriptor is invalid."),
    (0x1021, c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: The code object reader is invalid."),
    (0x1022, c"HSA_STATUS_ERROR_INVALID_CACHE: The cache is invalid."),
    (0x1023, c"HSA_STATUS_ERROR_INVALID_WAVEFRONT: The wavefront is invalid."),
    (0x1024, c"HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: The signal group is invalid."),
    (0x1025, c"HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: The HSA runtime is not in the configuration state."),
    (0x1026, c"HSA_STATUS_ERROR_FATAL: The queue received an error that may require process termination."),
    (0x2000, c"HSA_EXT_STATUS_ERROR_INVALID_PROGRAM: Invalid program"),
    (0x2001, c"HSA_EXT_STATUS_ERROR_INVALID_MODULE: Invalid module"),
    (0x2002, c"HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE: Incompatible module"),
    (0x2003, c"HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED: Module already included"),
    (0x2004, c"HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH: Symbol mismatch"),
    (0x2005, c"HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED: Finalization failed"),
    (0x2006, c"HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH: Directive mismatch"),
    (0x3000, c"HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED: Image format is not supported."),
    (0x3001, c"HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED: Image size is not supported."),
    (0x3002, c"HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED: Image pitch is not supported or invalid."),
    (0x3003, c"HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED: Sampler descriptor is not supported or invalid."),
    (0x2e, c"HSA_STATUS_ERROR_RESOURCE_BUSY: The resource is busy or temporarily unavailable."),
    (0x2f, c"HSA_STATUS_ERROR_NOT_SUPPORTED: The operation is not supported."),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// hsa.h and hsa_ext_amd.h number the statuses; every error has the text of its own number.
    #[test]
    fn each_error_has_its_number_and_text() {
        let table = [
            (Core::Generic, 0x1000, "HSA_STATUS_ERROR:"),
            (
                Core::InvalidArgument,
                0x1001,
                "HSA_STATUS_ERROR_INVALID_ARGUMENT:",
            ),
            (
                Core::InvalidQueueCreation,
                0x1002,
                "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION:",
            ),
            (
                Core::InvalidAllocation,
                0x1003,
                "HSA_STATUS_ERROR_INVALID_ALLOCATION:",
            ),
            (
                Core::InvalidAgent,
                0x1004,
                "HSA_STATUS_ERROR_INVALID_AGENT:",
            ),
            (
                Core::InvalidRegion,
                0x1005,
                "HSA_STATUS_ERROR_INVALID_REGION:",
            ),
            (
                Core::InvalidSignal,
                0x1006,
                "HSA_STATUS_ERROR_INVALID_SIGNAL:",
            ),
            (
                Core::InvalidQueue,
                0x1007,
                "HSA_STATUS_ERROR_INVALID_QUEUE:",
            ),
            (
                Core::OutOfResources,
                0x1008,
                "HSA_STATUS_ERROR_OUT_OF_RESOURCES:",
            ),
            (
                Core::InvalidPacketFormat,
                0x1009,
                "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT:",
            ),
            (
                Core::ResourceFree,
                0x100a,
                "HSA_STATUS_ERROR_RESOURCE_FREE:",
            ),
            (
                Core::NotInitialized,
                0x100b,
                "HSA_STATUS_ERROR_NOT_INITIALIZED:",
            ),
            (
                Core::RefcountOverflow,
                0x100c,
                "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW:",
            ),
            (
                Core::IncompatibleArguments,
                0x100d,
                "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:",
            ),
            (
                Core::InvalidIndex,
                0x100e,
                "HSA_STATUS_ERROR_INVALID_INDEX:",
            ),
            (Core::InvalidIsa, 0x100f, "HSA_STATUS_ERROR_INVALID_ISA:"),
            (
                Core::InvalidCodeObject,
                0x1010,
                "HSA_STATUS_ERROR_INVALID_CODE_OBJECT:",
            ),
            (
                Core::InvalidExecutable,
                0x1011,
                "HSA_STATUS_ERROR_INVALID_EXECUTABLE:",
            ),
            (
                Core::FrozenExecutable,
                0x1012,
                "HSA_STATUS_ERROR_FROZEN_EXECUTABLE:",
            ),
            (
                Core::InvalidSymbolName,
                0x1013,
                "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:",
            ),
            (
                Core::VariableAlreadyDefined,
                0x1014,
                "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED:",
            ),
            (
                Core::VariableUndefined,
                0x1015,
                "HSA_STATUS_ERROR_VARIABLE_UNDEFINED:",
            ),
            (Core::Exception, 0x1016, "HSA_STATUS_ERROR_EXCEPTION:"),
            (
                Core::InvalidIsaName,
                0x1017,
                "HSA_STATUS_ERROR_INVALID_ISA_NAME:",
            ),
            (
                Core::InvalidCodeSymbol,
                0x1018,
                "HSA_STATUS_ERROR_INVALID_CODE_SYMBOL:",
            ),
            (
                Core::InvalidExecutableSymbol,
                0x1019,
                "HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL:",
            ),
            (Core::InvalidFile, 0x1020, "HSA_STATUS_ERROR_INVALID_FILE:"),
            (
                Core::InvalidCodeObjectReader,
                0x1021,
                "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER:",
            ),
            (
                Core::InvalidCache,
                0x1022,
                "HSA_STATUS_ERROR_INVALID_CACHE:",
            ),
            (
                Core::InvalidWavefront,
                0x1023,
                "HSA_STATUS_ERROR_INVALID_WAVEFRONT:",
            ),
            (
                Core::InvalidSignalGroup,
                0x1024,
                "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP:",
            ),
            (
                Core::InvalidRuntimeState,
                0x1025,
                "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE:",
            ),
            (Core::Fatal, 0x1026, "HSA_STATUS_ERROR_FATAL:"),
            (
                Core::InvalidMemoryPool,
                40,
                "HSA_STATUS_ERROR_INVALID_MEMORY_POOL:",
            ),
            (
                Core::MemoryApertureViolation,
                41,
                "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION:",
            ),
            (
                Core::IllegalInstruction,
                42,
                "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION:",
            ),
            (Core::MemoryFault, 43, "HSA_STATUS_ERROR_MEMORY_FAULT:"),
            (Core::CuMaskReduced, 44, "HSA_STATUS_CU_MASK_REDUCED:"),
            (
                Core::OutOfRegisters,
                45,
                "HSA_STATUS_ERROR_OUT_OF_REGISTERS:",
            ),
            (Core::ResourceBusy, 46, "HSA_STATUS_ERROR_RESOURCE_BUSY:"),
            (Core::NotSupported, 47, "HSA_STATUS_ERROR_NOT_SUPPORTED:"),
        ];
        for (error, number, name) in table {
            let status = Error::Core(error).status();
            assert_eq!(status.0, number, "{error:?}");
            assert!(
                text(status).unwrap().to_str().unwrap().starts_with(name),
                "{error:?}"
            );
        }
    }

    #[test]
    fn a_number_that_is_no_status_has_no_text() {
        assert_eq!(text(hsa_status_t(0x9999)), None);
    }
}
