//! Why a call was refused: one variant per status of hsa.h and hsa_ext_amd.h.

use hsakmt_sys::Errno;

/// Why a call was refused. `hsa-api` maps each variant to its `hsa_status_t` with one exhaustive
/// match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `HSA_STATUS_ERROR`: no narrower status exists.
    #[error("the operation failed")]
    Generic,
    /// The driver refused a call; `HSA_STATUS_ERROR` unless the call site knows better.
    #[error("the driver refused {operation}")]
    Driver {
        /// What was being done.
        operation: &'static str,
        /// What the kernel answered.
        #[source]
        errno: Errno,
    },
    /// `HSA_STATUS_ERROR_INVALID_ARGUMENT`.
    #[error("an argument is null, zero or out of its range")]
    InvalidArgument,
    /// `HSA_STATUS_ERROR_INVALID_QUEUE_CREATION`.
    #[error("the agent cannot create a queue of that type")]
    InvalidQueueCreation,
    /// `HSA_STATUS_ERROR_INVALID_ALLOCATION`.
    #[error(
        "the request cannot be allocated from this pool, or the address was not allocated here"
    )]
    InvalidAllocation,
    /// `HSA_STATUS_ERROR_INVALID_AGENT`.
    #[error("not an agent, or not one that can do this")]
    InvalidAgent,
    /// `HSA_STATUS_ERROR_INVALID_REGION`.
    #[error("not a region")]
    InvalidRegion,
    /// `HSA_STATUS_ERROR_INVALID_SIGNAL`.
    #[error("not a live signal")]
    InvalidSignal,
    /// `HSA_STATUS_ERROR_INVALID_QUEUE`.
    #[error("not a live queue")]
    InvalidQueue,
    /// `HSA_STATUS_ERROR_OUT_OF_RESOURCES`.
    #[error("memory, queues, events or another resource ran out")]
    OutOfResources,
    /// `HSA_STATUS_ERROR_INVALID_PACKET_FORMAT`.
    #[error("a packet's header or fields are invalid")]
    InvalidPacketFormat,
    /// `HSA_STATUS_ERROR_RESOURCE_FREE`.
    #[error("a resource could not be freed")]
    ResourceFree,
    /// `HSA_STATUS_ERROR_NOT_INITIALIZED`.
    #[error("the runtime is not open")]
    NotInitialized,
    /// `HSA_STATUS_ERROR_REFCOUNT_OVERFLOW`.
    #[error("too many hsa_init calls without hsa_shut_down")]
    RefcountOverflow,
    /// `HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS`.
    #[error("the arguments do not go together")]
    IncompatibleArguments,
    /// `HSA_STATUS_ERROR_INVALID_INDEX`.
    #[error("index out of range")]
    InvalidIndex,
    /// `HSA_STATUS_ERROR_INVALID_ISA`.
    #[error("not an instruction set")]
    InvalidIsa,
    /// `HSA_STATUS_ERROR_INVALID_ISA_NAME`.
    #[error("not the name of an instruction set")]
    InvalidIsaName,
    /// `HSA_STATUS_ERROR_INVALID_CODE_OBJECT`.
    #[error("not a valid code object")]
    InvalidCodeObject,
    /// `HSA_STATUS_ERROR_INVALID_EXECUTABLE`.
    #[error("not an executable")]
    InvalidExecutable,
    /// `HSA_STATUS_ERROR_FROZEN_EXECUTABLE`.
    #[error("the executable is frozen")]
    FrozenExecutable,
    /// `HSA_STATUS_ERROR_INVALID_SYMBOL_NAME`.
    #[error("no symbol of that name")]
    InvalidSymbolName,
    /// `HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED`.
    #[error("the variable is already defined")]
    VariableAlreadyDefined,
    /// `HSA_STATUS_ERROR_VARIABLE_UNDEFINED`.
    #[error("a variable is not defined")]
    VariableUndefined,
    /// `HSA_STATUS_ERROR_EXCEPTION`.
    #[error("a wave raised an exception")]
    Exception,
    /// `HSA_STATUS_ERROR_INVALID_CODE_SYMBOL`.
    #[error("not a code object symbol")]
    InvalidCodeSymbol,
    /// `HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL`.
    #[error("not an executable symbol")]
    InvalidExecutableSymbol,
    /// `HSA_STATUS_ERROR_INVALID_FILE`.
    #[error("not a readable file")]
    InvalidFile,
    /// `HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER`.
    #[error("not a code object reader")]
    InvalidCodeObjectReader,
    /// `HSA_STATUS_ERROR_INVALID_CACHE`.
    #[error("not a cache")]
    InvalidCache,
    /// `HSA_STATUS_ERROR_INVALID_WAVEFRONT`.
    #[error("not a wavefront")]
    InvalidWavefront,
    /// `HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP`.
    #[error("not a signal group")]
    InvalidSignalGroup,
    /// `HSA_STATUS_ERROR_INVALID_RUNTIME_STATE`.
    #[error("the runtime is not in a state that allows this")]
    InvalidRuntimeState,
    /// `HSA_STATUS_ERROR_FATAL`.
    #[error("the queue cannot go on")]
    Fatal,
    /// `HSA_STATUS_ERROR_INVALID_MEMORY_POOL`.
    #[error("not a memory pool")]
    InvalidMemoryPool,
    /// `HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION`.
    #[error("a wave accessed an address outside of its apertures")]
    MemoryApertureViolation,
    /// `HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION`.
    #[error("a wave met an illegal instruction")]
    IllegalInstruction,
    /// `HSA_STATUS_ERROR_MEMORY_FAULT`.
    #[error("a wave accessed memory that is not mapped to its device")]
    MemoryFault,
    /// `HSA_STATUS_CU_MASK_REDUCED`: the mask was applied, minus what is not there.
    #[error("the compute-unit mask named units that do not exist or are not allowed")]
    CuMaskReduced,
    /// `HSA_STATUS_ERROR_OUT_OF_REGISTERS`.
    #[error("a kernel needs more registers than the device has")]
    OutOfRegisters,
    /// `HSA_STATUS_ERROR_RESOURCE_BUSY`.
    #[error("the resource is busy")]
    ResourceBusy,
    /// `HSA_STATUS_ERROR_NOT_SUPPORTED`.
    #[error("not supported")]
    NotSupported,
}

/// Turns an error of the driver layer into ours. What the driver lacks in memory or other resources
/// is `OutOfResources`; the rest keeps the operation and the errno.
pub(crate) fn driver(operation: &'static str) -> impl Fn(hsakmt::Error) -> Error {
    move |error| {
        tracing::debug!(operation, %error, "the driver layer refused");
        match (&error, error.errno()) {
            (hsakmt::Error::OutOfMemory { .. }, _) => Error::OutOfResources,
            (_, Some(Errno(libc::ENOMEM | libc::ENOSPC | libc::EAGAIN | libc::EMFILE))) => {
                Error::OutOfResources
            }
            (_, Some(errno)) => Error::Driver { operation, errno },
            _ => Error::Generic,
        }
    }
}
