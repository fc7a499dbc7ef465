//! A GPU around the engine for tests and benchmarks: flat memory with rights, a device stub, and
//! an assembler (LLVM's) for snippets.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use amdgpu_isa::Target;
use parking_lot::Mutex;

use crate::api::{
    Access, AccessFault, Device, Dispatch, Engine, FaultReason, Memory, Outcome, Range, Scratch,
    Stop,
};
use crate::block::{BlockTable, SharedBlocks, next_epoch};
use crate::context::Context;
use crate::engine::{Config, Interpreter};
use crate::host::FloatEnvironment;
use crate::interp::{Exit, Runner};
use crate::launch::Launch;
use crate::memory::Port;
use crate::memory::lds::Lds;
use crate::step::HostLevel;
use crate::sync::Gws;
use crate::wave::Wave;

/// GPU addresses lie this far from host addresses, so that a missing translation shows.
const GPU_OFFSET: u64 = 0x10_0000_0000;

/// Memory of a [`TestGpu`].
#[derive(Default)]
pub struct TestMemory {
    buffers: Mutex<Vec<Buffer>>,
    generation: AtomicU64,
}

struct Buffer {
    va: u64,
    bytes: u64,
    writable: bool,
    executable: bool,
}

impl TestMemory {
    /// Maps fresh zeroed pages with inaccessible GPU addresses around them; returns the GPU address.
    pub fn allocate(&self, bytes: u64, writable: bool, executable: bool) -> u64 {
        const GUARD: u64 = 4096;
        let size = bytes.next_multiple_of(4096).max(4096);
        // SAFETY: a fresh anonymous mapping.
        let host = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                usize::try_from(size + 2 * GUARD).unwrap_or(usize::MAX),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert!(host != libc::MAP_FAILED, "out of memory");
        let va = (host as u64 + GUARD).wrapping_add(GPU_OFFSET);
        self.buffers.lock().push(Buffer {
            va,
            bytes: size,
            writable,
            executable,
        });
        va
    }

    /// Takes the mapping at `va` away from the GPU. The host pages stay.
    pub fn unmap(&self, va: u64) {
        self.buffers.lock().retain(|buffer| buffer.va != va);
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Host address of a GPU address.
    fn host(va: u64) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(
            usize::try_from(va.wrapping_sub(GPU_OFFSET)).unwrap_or(0),
        )
    }

    /// Writes bytes as the host, whatever the GPU may do.
    pub fn write(&self, va: u64, bytes: &[u8]) {
        // SAFETY: tests pass addresses inside their own allocations.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), Self::host(va), bytes.len()) };
    }

    /// Writes dwords.
    pub fn write32(&self, va: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords
            .iter()
            .flat_map(|dword| dword.to_le_bytes())
            .collect();
        self.write(va, &bytes);
    }

    /// Reads bytes as the host.
    pub fn read(&self, va: u64, bytes: usize) -> Vec<u8> {
        let mut copy = vec![0; bytes];
        // SAFETY: tests pass addresses inside their own allocations.
        unsafe { std::ptr::copy_nonoverlapping(Self::host(va), copy.as_mut_ptr(), bytes) };
        copy
    }

    /// Reads dwords.
    pub fn read32(&self, va: u64, dwords: usize) -> Vec<u32> {
        let bytes = self.read(va, dwords * 4);
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|dword| u32::from_le_bytes(*dword))
            .collect()
    }
}

impl Memory for TestMemory {
    fn resolve(&self, gpu_va: u64, access: Access) -> Result<Range, AccessFault> {
        let fault = |reason| AccessFault {
            gpu_va,
            access,
            reason,
        };
        let buffers = self.buffers.lock();
        let buffer = buffers
            .iter()
            .find(|buffer| gpu_va.wrapping_sub(buffer.va) < buffer.bytes)
            .ok_or(fault(FaultReason::NotPresent))?;
        match access {
            Access::Write if !buffer.writable => return Err(fault(FaultReason::ReadOnly)),
            Access::Execute if !buffer.executable => return Err(fault(FaultReason::NoExecute)),
            _ => {}
        }
        Ok(Range {
            base: buffer.va,
            limit: buffer.va + buffer.bytes,
            delta: GPU_OFFSET.wrapping_neg(),
            writable: buffer.writable,
            executable: buffer.executable,
            stable: true,
        })
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    fn describe_near(&self, gpu_va: u64) -> String {
        format!("{gpu_va:#x}")
    }
}

/// Records what waves ask for.
#[derive(Default)]
pub struct TestDevice {
    /// Event ids of `s_sendmsg MSG_INTERRUPT`.
    pub interrupts: Mutex<Vec<u32>>,
    /// Makes running waves stop.
    pub cancelled: AtomicBool,
    clock: AtomicU64,
}

impl Device for TestDevice {
    fn interrupt(&self, event_id: u32) {
        self.interrupts.lock().push(event_id);
    }
    fn realtime_ticks(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
    fn clock_ticks(&self) -> u64 {
        self.clock.fetch_add(10, Ordering::SeqCst)
    }
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// Why and where a wave stopped, and its state then.
pub type StoppedWave = (Stop, crate::WaveLocation, Wave);

/// A kernel descriptor and code for [`TestGpu::dispatch`].
#[derive(Clone, Debug)]
pub struct TestKernel {
    /// Machine code.
    pub code: Vec<u8>,
    /// COMPUTE_PGM_RSRC1 without the register counts.
    pub rsrc1: u32,
    /// COMPUTE_PGM_RSRC2.
    pub rsrc2: u32,
    /// Property bits.
    pub properties: u16,
    /// VGPRs to ask for.
    pub vgprs: u32,
}

impl TestKernel {
    /// A kernel as clang describes HIP kernels: kernel arguments in `s[4:5]` behind the private
    /// segment buffer, workgroup ids x, y, z from s6 on, all work-item ids.
    pub fn new(code: Vec<u8>) -> Self {
        const FLOAT_MODE: u32 = 0xf0 << 12 | 1 << 21 | 1 << 23;
        const USER_SGPRS: u32 = 6 << 1;
        const IDS: u32 = 7 << 7 | 2 << 11;
        Self {
            code,
            rsrc1: FLOAT_MODE,
            rsrc2: USER_SGPRS | IDS | 1,
            properties: 0b1001,
            vgprs: 64,
        }
    }

    /// The 64 descriptor bytes; the code lies 256 bytes after the descriptor.
    pub fn descriptor(&self, target: Target) -> [u8; 64] {
        let granule = match target {
            _ if target.is_rdna() && self.properties & 1 << 10 == 0 => 4,
            _ => 8,
        };
        let mut bytes = [0; 64];
        let mut put = |at: usize, value: u32| {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        };
        put(16, 256);
        put(44, self.vgprs / 4 - 1);
        put(48, self.rsrc1 | (self.vgprs / granule - 1));
        put(52, self.rsrc2);
        put(56, u32::from(self.properties));
        bytes
    }
}

/// A GPU with memory, device stub and engine.
pub struct TestGpu {
    /// Processor.
    pub target: Target,
    /// Memory.
    pub memory: TestMemory,
    /// Device.
    pub device: TestDevice,
    /// Engine.
    pub engine: Interpreter,
}

impl TestGpu {
    /// One thread, natural order.
    pub fn new(target: Target) -> Self {
        Self::with_config(
            target,
            Config {
                threads: 1,
                seed: 0,
            },
        )
    }

    /// Any configuration.
    pub fn with_config(target: Target, config: Config) -> Self {
        let engine = Interpreter::new(config);
        Self {
            target,
            memory: TestMemory::default(),
            device: TestDevice::default(),
            engine,
        }
    }

    /// Loads a kernel; returns the address of its descriptor.
    pub fn load(&self, kernel: &TestKernel) -> u64 {
        let va = self
            .memory
            .allocate(256 + kernel.code.len() as u64, false, true);
        self.memory.write(va, &kernel.descriptor(self.target));
        self.memory.write(va + 256, &kernel.code);
        va
    }

    /// A dispatch of a loaded kernel over a one-dimensional grid.
    pub fn dispatch(&self, kernel_object: u64, items: u32, workgroup: u16) -> Dispatch {
        let bytes = self.memory.read(kernel_object, 64);
        let mut descriptor = [0; 64];
        descriptor.copy_from_slice(&bytes);
        Dispatch {
            target: self.target,
            kernel_object,
            descriptor,
            packet_va: 0x1000,
            queue_va: 0x2000,
            kernarg_va: 0,
            dispatch_id: 0,
            grid: [items, 1, 1],
            workgroup: [workgroup, 1, 1],
            group_segment_bytes: 4096,
            private_segment_bytes: 256,
            scratch: Scratch::default(),
            shader_engines: 8,
            compute_units: 104,
            cooperative: false,
        }
    }

    /// Runs a dispatch.
    pub fn run(&self, dispatch: &Dispatch) -> Outcome {
        self.engine.run(dispatch, &self.memory, &self.device)
    }

    /// Runs code on one wave prepared by `setup` until it ends; returns the wave and its LDS.
    /// `s_endpgm` is appended.
    ///
    /// # Errors
    /// Why and in which lane the wave stopped, with the wave at that point.
    pub fn run_wave(
        &self,
        code: &[u8],
        lanes: u8,
        level: HostLevel,
        setup: impl FnOnce(&mut Wave, &mut Lds),
    ) -> Result<(Wave, Lds), Box<StoppedWave>> {
        let opcode = if self.target.is_gfx11_plus() {
            0xb0
        } else {
            0x81
        };
        let mut kernel = TestKernel::new([code, &[0, 0, opcode, 0xbf]].concat());
        if lanes == 32 {
            kernel.properties |= 1 << 10;
        }
        let va = self.load(&kernel);
        let dispatch = self.dispatch(va, u32::from(lanes), u16::from(lanes));
        let launch = Launch::new(&dispatch, &self.memory);
        let launch = launch.unwrap_or_else(|stop| panic!("{stop:?}"));
        let gws = Gws::default();
        let mut context = Context {
            device: &self.device,
            lds: Lds::default(),
            scratch: crate::memory::scratch::Scratch::default(),
            port: Port::new(&self.memory),
            launch: &launch,
            gws: &gws,
            stopped: None,
            code_epoch: next_epoch(),
        };
        context.lds.reset(dispatch.group_segment_bytes);
        context
            .scratch
            .reset(dispatch.private_segment_bytes, usize::from(lanes));
        let mut wave = Wave::new(self.target, lanes);
        launch.start(
            &mut wave,
            &launch.extent(0),
            0,
            crate::wave::Place::default(),
        );
        setup(&mut wave, &mut context.lds);
        let mut table = BlockTable::default();
        let shared = SharedBlocks::default();
        let mut runner = Runner {
            table: &mut table,
            shared: &shared,
            level,
            resumed: crate::block::UNKNOWN,
            instructions: 0,
            charged: 0,
        };
        let _floats = FloatEnvironment::enter();
        loop {
            match runner.run(&mut wave, &mut context, 1_000_000) {
                Exit::End => return Ok((wave, context.lds)),
                Exit::Stop(stop, at) => return Err(Box::new((stop, at, wave))),
                Exit::Yield(_) | Exit::Barrier => {}
            }
        }
    }
}

/// Runs assembly on one full wave prepared by `setup`, at the best host level, and returns it at
/// its end; `None` (with a printed reason) if there is no assembler.
///
/// # Panics
/// If the text does not assemble or the wave stops.
pub fn run_snippet(
    target: Target,
    lanes: u8,
    asm: &str,
    setup: impl FnOnce(&mut Wave),
) -> Option<Wave> {
    let code = assemble(target, lanes, asm)?;
    let gpu = TestGpu::new(target);
    match gpu.run_wave(&code, lanes, HostLevel::detect(), |wave, _| setup(wave)) {
        Ok((wave, _)) => Some(wave),
        Err(stopped) => panic!("{:?} at {:?} in {asm}", stopped.0, stopped.1),
    }
}

/// Assembles text with LLVM; `None` (with a printed reason) if `llvm-mc` is missing.
///
/// # Panics
/// If the text is wrong.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub fn assemble(target: Target, lanes: u8, asm: &str) -> Option<Vec<u8>> {
    let cpu = target.name();
    let attributes = match (target.is_rdna(), lanes) {
        (false, _) => "",
        (true, 32) => "+wavefrontsize32,-wavefrontsize64",
        (true, _) => "-wavefrontsize32,+wavefrontsize64",
    };
    let command = Command::new("llvm-mc-22")
        .args(["--triple=amdgcn-amd-amdhsa", "--filetype=obj", "-o", "-"])
        .arg(format!("--mcpu={cpu}"))
        .arg(format!("--mattr={attributes}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match command {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skipped: llvm-mc-22 does not start: {error}");
            return None;
        }
    };
    let mut input = child
        .stdin
        .take()
        .unwrap_or_else(|| panic!("stdin is piped"));
    input
        .write_all(asm.as_bytes())
        .unwrap_or_else(|error| panic!("{error}"));
    drop(input);
    let output = child
        .wait_with_output()
        .unwrap_or_else(|error| panic!("{error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(text_section(&output.stdout))
}

/// Assembles single instructions; `None` as for [`assemble`].
///
/// # Panics
/// If a line is wrong or is not exactly one instruction.
pub fn assemble_each(target: Target, lanes: u8, lines: &[&str]) -> Option<Vec<Vec<u8>>> {
    let code = assemble(target, lanes, &lines.join("\n"))?;
    let mut rest = &code[..];
    let pieces = lines.iter().map(|line| {
        let inst = amdgpu_isa::decode(target, rest);
        let inst = inst.unwrap_or_else(|error| panic!("{line}: {error}"));
        let (one, tail) = rest.split_at(usize::from(inst.size_bytes));
        rest = tail;
        one.to_vec()
    });
    Some(pieces.collect())
}

/// True if the engine has code for an instruction (it may still refuse rare operand forms).
pub fn supports(target: Target, lanes: u8, inst: &amdgpu_isa::Inst) -> bool {
    let env = crate::step::TranslateEnv {
        target,
        lanes,
        level: HostLevel::Base,
        mode: 0x3f0,
    };
    crate::translate::translate(inst, 0, &env).is_ok()
}

/// The bytes of `.text` in an ELF64 object.
///
/// # Panics
/// If there is none.
pub fn text_section(elf: &[u8]) -> Vec<u8> {
    let number = |at: usize, bytes: usize| {
        elf[at..at + bytes]
            .iter()
            .rev()
            .fold(0usize, |value, byte| value << 8 | usize::from(*byte))
    };
    let (table, entry, count, names) = (
        number(0x28, 8),
        number(0x3a, 2),
        number(0x3c, 2),
        number(0x3e, 2),
    );
    let section = |i: usize| table + i * entry;
    let strings = number(section(names) + 0x18, 8);
    for i in 0..count {
        let name = strings + number(section(i), 4);
        if elf[name..].starts_with(b".text\0") {
            let (offset, size) = (number(section(i) + 0x18, 8), number(section(i) + 0x20, 8));
            return elf[offset..offset + size].to_vec();
        }
    }
    panic!("no .text section");
}
