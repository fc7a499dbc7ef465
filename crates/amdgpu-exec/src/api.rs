//! The boundary between the engine and the virtual device that drives it.

use amdgpu_isa::Target;

/// What an access wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Load.
    Read,
    /// Store, or the write half of an atomic.
    Write,
    /// Instruction fetch.
    Execute,
}

/// Why an address may not be accessed (bits of the KFD memory exception data).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultReason {
    /// No mapping for this GPU at the address.
    NotPresent,
    /// A write to a read-only mapping.
    ReadOnly,
    /// An instruction fetch from a mapping without execute right.
    NoExecute,
}

/// A refused access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AccessFault {
    /// First refused GPU virtual address.
    pub gpu_va: u64,
    /// What was tried.
    pub access: Access,
    /// Why it was refused.
    pub reason: FaultReason,
}

/// A contiguous piece of the GPU's address space with one translation and one set of rights.
///
/// GPU virtual addresses `base..limit` are at host address `gpu_va.wrapping_add(delta)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First GPU virtual address.
    pub base: u64,
    /// One past the last GPU virtual address.
    pub limit: u64,
    /// Host address minus GPU virtual address (wrapping).
    pub delta: u64,
    /// Stores are allowed.
    pub writable: bool,
    /// Instruction fetch is allowed.
    pub executable: bool,
    /// The host mapping cannot go away while the range is mapped (device memory that vkfd owns).
    /// Otherwise (user pointers, SVM) a host access may fault and must be made through a guarded
    /// access.
    pub stable: bool,
}

/// One GPU's address space, as the engine sees it.
pub trait Memory: Send + Sync {
    /// The range that holds `gpu_va` and grants `access`. Slow path; the engine keeps the answer
    /// as long as [`Memory::generation`] is unchanged.
    ///
    /// # Errors
    /// The fault that hardware would raise.
    fn resolve(&self, gpu_va: u64, access: Access) -> Result<Range, AccessFault>;

    /// Changes whenever a mapping is removed or its rights shrink. Checked at block boundaries.
    fn generation(&self) -> u64;

    /// The allocation nearest to an address, for reports, e.g. `"0x7f..000 + 4096 bytes (VRAM)"`.
    fn describe_near(&self, gpu_va: u64) -> String;
}

/// What a running wave asks of the device around it.
pub trait Device: Send + Sync {
    /// `s_sendmsg MSG_INTERRUPT` with M0: an event id for the driver.
    fn interrupt(&self, event_id: u32);
    /// The 100 MHz counter that KFD clock counters and AQL timestamps use.
    fn realtime_ticks(&self) -> u64;
    /// A core-clock counter (`s_memtime`).
    fn clock_ticks(&self) -> u64;
    /// True once the queue is being destroyed or reset: running waves stop with [`Stop::Killed`].
    fn cancelled(&self) -> bool;
    /// A store or atomic may have changed memory that another queue polls (called once at the end
    /// of each workgroup and at release fences; must be cheap).
    fn memory_written(&self) {}
}

/// One kernel dispatch, with everything that the wave launcher needs. Sizes are in bytes and
/// work-items unless said.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Processor of the code.
    pub target: Target,
    /// GPU virtual address of the 64-byte kernel descriptor.
    pub kernel_object: u64,
    /// The descriptor's bytes (already fetched with rights checked).
    pub descriptor: [u8; 64],
    /// GPU virtual address of the AQL packet (`dispatch_ptr`).
    pub packet_va: u64,
    /// GPU virtual address of `amd_queue_t` (`queue_ptr`).
    pub queue_va: u64,
    /// Kernel argument address.
    pub kernarg_va: u64,
    /// Index of the packet (`dispatch_id`).
    pub dispatch_id: u64,
    /// Work-items per dimension (unused dimensions 1).
    pub grid: [u32; 3],
    /// Work-items per group and dimension (unused dimensions 1).
    pub workgroup: [u16; 3],
    /// Group segment size of the packet: LDS bytes.
    pub group_segment_bytes: u32,
    /// Private segment size of the packet: scratch bytes per work-item.
    pub private_segment_bytes: u32,
    /// Scratch backing memory of the dispatch, see [`Scratch`].
    pub scratch: Scratch,
    /// Compute-unit topology for `HW_ID`-like registers: shader engines, units per engine.
    pub shader_engines: u32,
    /// Compute units of the device; also the number of groups kept resident at least.
    pub compute_units: u32,
    /// The packet comes from a cooperative queue: all groups must be resident together.
    pub cooperative: bool,
}

/// Scratch of a dispatch. The engine owns the backing memory of private segments (host memory,
/// dword-interleaved by lane as on hardware); the fields are what the kernel reads about it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Scratch {
    /// `scratch_resource_descriptor` of `amd_queue_t` (the private segment buffer SGPRs).
    pub resource_descriptor: [u32; 4],
    /// `scratch_backing_memory_location` of `amd_queue_t`.
    pub backing_location: u64,
}

/// Position of a wave, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaveLocation {
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
    /// Lane that caused the stop (0 for scalar causes).
    pub lane: u32,
    /// GPU virtual address of the instruction.
    pub pc: u64,
}

/// Why a dispatch did not run to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// An access was refused.
    MemoryFault(AccessFault),
    /// A flat access outside its aperture, or a misaligned atomic.
    ApertureViolation {
        /// The offending address.
        gpu_va: u64,
    },
    /// The bytes at the program counter are no instruction of this target.
    IllegalInstruction {
        /// Up to 12 bytes found there.
        bytes: Vec<u8>,
    },
    /// A valid instruction that this engine does not execute yet.
    Unsupported {
        /// Disassembly.
        text: String,
    },
    /// `s_trap` with this id (2 = abort).
    Trap {
        /// Trap id.
        id: u8,
    },
    /// The descriptor or packet asks for what the target does not have.
    InvalidDispatch {
        /// The field and the limit it breaks.
        reason: String,
    },
    /// The queue was destroyed while the dispatch ran.
    Killed,
}

/// Counters of one dispatch.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Instructions executed, counted once per wave.
    pub wave_instructions: u64,
    /// Waves launched.
    pub waves: u64,
    /// Workgroups launched.
    pub workgroups: u64,
}

/// How a dispatch ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every work-item ran to `s_endpgm`.
    Complete(Stats),
    /// A wave stopped; the other waves were abandoned.
    Stopped {
        /// Cause.
        stop: Stop,
        /// Where.
        at: WaveLocation,
    },
}

/// Something that executes dispatches: the interpreter, later the JIT.
pub trait Engine: Send + Sync {
    /// Runs a dispatch to its end on the calling thread and the engine's workers.
    /// Several dispatches (of several queues) may run at the same time.
    fn run(&self, dispatch: &Dispatch, memory: &dyn Memory, device: &dyn Device) -> Outcome;
}
