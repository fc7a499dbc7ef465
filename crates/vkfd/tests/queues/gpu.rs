//! A GPU for tests: identity-mapped memory, an engine made of a closure, recorded events.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amdgpu_abi::aql::{Barrier, Header, KernelDispatch, Packet, packet_type};
use amdgpu_abi::queue::AmdQueue;
use amdgpu_abi::signal::AmdSignal;
use amdgpu_exec::{
    Access, AccessFault, Device, Dispatch, Engine, FaultReason, Memory, Outcome, Range, Stats,
};
use amdgpu_isa::Target;
use vkfd::queue::{Doorbell, DoorbellCell, QueueDesc, QueueKind, RunningQueue};
use vkfd::scheduler::{self, Host};

/// Longest time that a test waits for what must happen; never for what must not.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) type Run = dyn Fn(&Dispatch, &dyn Memory, &dyn Device) -> Outcome + Send + Sync;

/// See the module.
pub(crate) struct TestGpu {
    ranges: Mutex<Vec<Range>>,
    generation: AtomicU64,
    run: Box<Run>,
    pub(crate) interrupts: Mutex<Vec<u32>>,
    pub(crate) faults: Mutex<Vec<AccessFault>>,
    pub(crate) exceptions: AtomicU64,
    pub(crate) reports: Mutex<Vec<String>>,
    ticks: AtomicU64,
}

impl TestGpu {
    /// Whose dispatches complete at once.
    pub(crate) fn new() -> Arc<Self> {
        Self::with_engine(|_, _, _| Outcome::Complete(Stats::default()))
    }

    pub(crate) fn with_engine(
        run: impl Fn(&Dispatch, &dyn Memory, &dyn Device) -> Outcome + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            ranges: Mutex::default(),
            generation: AtomicU64::new(0),
            run: Box::new(run),
            interrupts: Mutex::default(),
            faults: Mutex::default(),
            exceptions: AtomicU64::new(0),
            reports: Mutex::default(),
            ticks: AtomicU64::new(1000),
        })
    }

    /// Zeroed, page-aligned memory, mapped to the GPU for everything. Never freed.
    pub(crate) fn alloc(&self, bytes: usize) -> u64 {
        self.alloc_as(
            bytes,
            Range {
                stable: true,
                ..RANGE
            },
        )
    }

    /// As [`TestGpu::alloc`] with other rights.
    pub(crate) fn alloc_as(&self, bytes: usize, like: Range) -> u64 {
        let va = mmap(bytes);
        self.map(Range {
            base: va,
            limit: va + bytes as u64,
            ..like
        });
        va
    }

    pub(crate) fn map(&self, range: Range) {
        self.ranges.lock().unwrap().push(range);
    }

    pub(crate) fn unmap(&self, va: u64) {
        self.ranges.lock().unwrap().retain(|range| range.base != va);
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// A signal with a value and, if `event` is not 0, a mailbox slot.
    pub(crate) fn signal(&self, value: i64, event: u32) -> Signal {
        let va = self.alloc(4096);
        let signal = Signal { va };
        signal.block().value.store(value, Ordering::Relaxed);
        if event != 0 {
            signal
                .block()
                .event_mailbox_ptr
                .store(va + 64, Ordering::Relaxed);
            signal.block().event_id.store(event, Ordering::Relaxed);
        }
        signal
    }

    pub(crate) fn report(&self) -> String {
        self.reports.lock().unwrap().concat()
    }
}

/// Rights of an ordinary mapping.
pub(crate) const RANGE: Range = Range {
    base: 0,
    limit: 0,
    delta: 0,
    writable: true,
    executable: true,
    stable: false,
};

fn mmap(bytes: usize) -> u64 {
    let (prot, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new anonymous mapping, at an address of the kernel's choice.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), bytes, prot, flags, -1, 0) };
    assert_ne!(p, libc::MAP_FAILED);
    p.expose_provenance() as u64
}

impl Memory for TestGpu {
    fn resolve(&self, gpu_va: u64, access: Access) -> Result<Range, AccessFault> {
        let fault = |reason| AccessFault {
            gpu_va,
            access,
            reason,
        };
        let ranges = self.ranges.lock().unwrap();
        let range = ranges
            .iter()
            .find(|range| (range.base..range.limit).contains(&gpu_va));
        match range {
            None => Err(fault(FaultReason::NotPresent)),
            Some(range) if access == Access::Write && !range.writable => {
                Err(fault(FaultReason::ReadOnly))
            }
            Some(range) => Ok(*range),
        }
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn describe_near(&self, gpu_va: u64) -> String {
        format!("near {gpu_va:#x}")
    }
}

impl Engine for TestGpu {
    fn run(&self, dispatch: &Dispatch, memory: &dyn Memory, device: &dyn Device) -> Outcome {
        (self.run)(dispatch, memory, device)
    }
}

impl Host for TestGpu {
    fn memory(&self) -> &dyn Memory {
        self
    }
    fn engine(&self) -> &dyn Engine {
        self
    }
    fn target(&self) -> Target {
        Target::Gfx90a
    }
    fn shader_engines(&self) -> u32 {
        8
    }
    fn compute_units(&self) -> u32 {
        104
    }
    fn ticks(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::Relaxed)
    }
    fn clock(&self) -> u64 {
        self.ticks()
    }
    fn interrupt(&self, event_id: u32) {
        self.interrupts.lock().unwrap().push(event_id);
    }
    fn memory_fault(&self, fault: &AccessFault) {
        self.faults.lock().unwrap().push(*fault);
    }
    fn hw_exception(&self) {
        self.exceptions.fetch_add(1, Ordering::SeqCst);
    }
    fn label(&self) -> String {
        "test #0".to_owned()
    }
    fn report(&self, text: &str) {
        self.reports.lock().unwrap().push(text.to_owned());
    }
}

/// The atomic at an address of the test GPU's memory.
pub(crate) fn cell(va: u64) -> &'static AtomicU64 {
    let p = std::ptr::with_exposed_provenance_mut(usize::try_from(va).unwrap());
    // SAFETY: the test's allocations are never freed and always accessed atomically or before
    // they are shared.
    unsafe { AtomicU64::from_ptr(p) }
}

/// The bytes at an address of the test GPU's memory, while nobody writes them.
pub(crate) fn bytes(va: u64, count: usize) -> &'static mut [u8] {
    let p = std::ptr::with_exposed_provenance_mut(usize::try_from(va).unwrap());
    // SAFETY: the test's allocations are never freed; callers look at bytes only while no packet
    // that touches them is in flight.
    unsafe { std::slice::from_raw_parts_mut(p, count) }
}

/// A signal in GPU memory.
#[derive(Clone, Copy)]
pub(crate) struct Signal {
    pub(crate) va: u64,
}

impl Signal {
    pub(crate) fn block(&self) -> &'static AmdSignal {
        let p = std::ptr::with_exposed_provenance(usize::try_from(self.va).unwrap());
        // SAFETY: the block was allocated zeroed and aligned; all its fields are atomics.
        unsafe { &*p }
    }
    pub(crate) fn value(&self) -> &'static AtomicI64 {
        &self.block().value
    }
    pub(crate) fn mailbox(&self) -> u64 {
        cell(self.va + 64).load(Ordering::Acquire)
    }
    pub(crate) fn get(&self) -> i64 {
        self.value().load(Ordering::Acquire)
    }
    pub(crate) fn set(&self, value: i64) {
        self.value().store(value, Ordering::Release);
    }
    /// Waits until the value is reached.
    pub(crate) fn wait(&self, value: i64) {
        eventually(|| self.get() == value);
    }
}

/// Waits until a condition holds that must come to hold.
pub(crate) fn eventually(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "it did not happen");
        std::thread::yield_now();
    }
}

/// Gives what must not happen some opportunity to happen. Passing this proves little; failing
/// proves the fault.
pub(crate) fn never(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(20) {
        assert!(!condition(), "it happened");
        std::thread::yield_now();
    }
}

#[derive(Debug, Default)]
pub(crate) struct TestDoorbell {
    cell: AtomicU64,
    pub(crate) armed: AtomicU64,
}

impl DoorbellCell for TestDoorbell {
    fn cell(&self) -> &AtomicU64 {
        &self.cell
    }
    fn arm(&self) {
        self.armed.fetch_add(1, Ordering::SeqCst);
    }
}

/// An AQL queue with its ring.
pub(crate) struct TestQueue {
    pub(crate) gpu: Arc<TestGpu>,
    pub(crate) ring: u64,
    pub(crate) packets: u64,
    block_va: u64,
    pub(crate) inactive: Signal,
    pub(crate) doorbell: Arc<TestDoorbell>,
    pub(crate) running: Arc<dyn RunningQueue>,
}

impl TestQueue {
    pub(crate) fn new(gpu: &Arc<TestGpu>) -> Self {
        Self::with_packets(gpu, 64)
    }

    pub(crate) fn with_packets(gpu: &Arc<TestGpu>, packets: u64) -> Self {
        let ring_bytes = packets * 64;
        let ring = gpu.alloc(usize::try_from(ring_bytes).unwrap());
        for i in 0..packets {
            cell(ring + 64 * i).store(packet_type::INVALID.into(), Ordering::Relaxed);
        }
        let block_va = gpu.alloc(4096);
        let inactive = gpu.signal(0, 99);
        let doorbell = Arc::new(TestDoorbell::default());
        let desc = QueueDesc {
            queue_id: 1,
            kind: QueueKind::Aql,
            ring_va: ring,
            ring_bytes: u32::try_from(ring_bytes).unwrap(),
            rptr_va: block_va + 0x80,
            wptr_va: block_va + 0x38,
            doorbell: Doorbell(Arc::clone(&doorbell) as Arc<dyn DoorbellCell>),
        };
        cell(block_va + 0xc0).store(inactive.va, Ordering::Relaxed);
        let host = Arc::clone(gpu) as Arc<dyn Host>;
        let running = scheduler::start(desc, host).unwrap();
        Self {
            gpu: Arc::clone(gpu),
            ring,
            packets,
            block_va,
            inactive,
            doorbell,
            running,
        }
    }

    pub(crate) fn block(&self) -> &'static AmdQueue {
        let p = std::ptr::with_exposed_provenance(usize::try_from(self.block_va).unwrap());
        // SAFETY: the block was allocated zeroed, large and aligned; all its fields are atomics.
        unsafe { &*p }
    }

    pub(crate) fn block_va(&self) -> u64 {
        self.block_va
    }

    /// Takes the next index.
    pub(crate) fn reserve(&self) -> u64 {
        self.block()
            .write_dispatch_id
            .fetch_add(1, Ordering::AcqRel)
    }

    pub(crate) fn slot(&self, index: u64) -> u64 {
        self.ring + index % self.packets * 64
    }

    /// Writes a packet, header last.
    pub(crate) fn publish(&self, index: u64, packet: &Packet) {
        let slot = self.slot(index);
        bytes(slot + 8, 56).copy_from_slice(&packet.0[8..]);
        cell(slot).store(packet.u64_at(0), Ordering::Release);
    }

    pub(crate) fn ring(&self, index: u64) {
        self.doorbell.cell().store(index, Ordering::Release);
        self.running.wake();
    }

    pub(crate) fn push(&self, packet: &Packet) -> u64 {
        let index = self.reserve();
        eventually(|| index - self.read_index() < self.packets);
        self.publish(index, packet);
        self.ring(index);
        index
    }

    pub(crate) fn read_index(&self) -> u64 {
        self.block().read_dispatch_id.load(Ordering::Acquire)
    }

    pub(crate) fn header_at(&self, index: u64) -> u8 {
        cell(self.slot(index)).load(Ordering::Acquire).to_le_bytes()[0]
    }

    /// Pushes a dispatch of an empty kernel.
    pub(crate) fn dispatch(&self, completion: u64) -> u64 {
        self.push(&kernel(&self.gpu, completion).encode(Header::new(2, true, 2, 2)))
    }

    /// Pushes a barrier-AND on one signal (or none).
    pub(crate) fn barrier(&self, dep: u64, completion: u64) -> u64 {
        let barrier = Barrier {
            dep_signals: [dep, 0, 0, 0, 0],
            completion_signal: completion,
        };
        self.push(&barrier.encode(Header::new(packet_type::BARRIER_AND, true, 2, 2)))
    }
}

/// A dispatch that passes all checks.
pub(crate) fn kernel(gpu: &TestGpu, completion_signal: u64) -> KernelDispatch {
    KernelDispatch {
        setup: 1,
        workgroup_size: [64, 1, 1],
        grid_size: [256, 1, 1],
        kernel_object: gpu.alloc(4096),
        completion_signal,
        ..KernelDispatch::default()
    }
}
