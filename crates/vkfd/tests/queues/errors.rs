//! What goes wrong, and how the client hears of it.

use std::sync::Arc;

use amdgpu_abi::aql::{Header, KernelDispatch, Packet, packet_type};
use amdgpu_abi::queue::inactive;
use amdgpu_exec::{Access, AccessFault, FaultReason, Outcome, Stop, WaveLocation};

use crate::gpu::{RANGE, TestGpu, TestQueue, cell, eventually, kernel, never};

/// Sends a packet that must be refused and checks all that the client can see.
#[track_caller]
fn refused(packet: impl Fn(&TestGpu, u64) -> Packet, bits: i64) {
    let gpu = TestGpu::with_engine(|_, _, _| panic!("the packet must not run"));
    let queue = TestQueue::new(&gpu);
    let (signal, later) = (gpu.signal(1, 0), gpu.signal(1, 0));
    queue.push(&packet(&gpu, signal.va));
    queue.barrier(0, later.va);
    queue.inactive.wait(bits);
    eventually(|| gpu.interrupts.lock().unwrap().contains(&99));
    assert_eq!(queue.inactive.mailbox(), 99);
    never(|| later.get() != 1 || queue.read_index() != 0);
    assert_eq!(signal.get(), 1);
    assert!(
        gpu.report().contains("packet 0 stopped"),
        "{}",
        gpu.report()
    );
}

fn changed(gpu: &TestGpu, signal: u64, f: impl Fn(&mut KernelDispatch)) -> Packet {
    let mut packet = kernel(gpu, signal);
    f(&mut packet);
    packet.encode(Header::new(packet_type::KERNEL_DISPATCH, true, 2, 2))
}

#[test]
fn invalid_dimensions_are_refused() {
    for setup in [0, 4] {
        refused(
            |gpu, s| changed(gpu, s, |k| k.setup = setup),
            inactive::INVALID_DIM,
        );
    }
    refused(
        |gpu, s| changed(gpu, s, |k| k.grid_size[0] = 0),
        inactive::INVALID_DIM,
    );
}

#[test]
fn oversized_and_empty_workgroups_are_refused() {
    for size in [
        [u16::MAX, 1, 1],
        [1, u16::MAX, 1],
        [1, 1, u16::MAX],
        [32, 33, 1],
        [0, 1, 1],
    ] {
        let packet = |gpu: &TestGpu, s| {
            changed(gpu, s, |k| {
                k.setup = 3;
                k.grid_size = [1; 3];
                k.workgroup_size = size;
            })
        };
        refused(packet, inactive::INVALID_WORKGROUP_SIZE);
    }
}

#[test]
fn too_much_group_memory_is_refused() {
    for bytes in [65537, u32::MAX] {
        let bits = inactive::INVALID_GROUP_MEMORY;
        refused(
            |gpu, s| changed(gpu, s, |k| k.group_segment_size = bytes),
            bits,
        );
    }
}

#[test]
fn scratch_beyond_the_hardware_is_refused() {
    let bits = inactive::INSUFFICIENT_SCRATCH_WAVE64;
    refused(
        |gpu, s| changed(gpu, s, |k| k.private_segment_size = 1 << 20),
        bits,
    );
}

#[test]
fn null_misaligned_and_unmapped_kernel_objects_are_refused() {
    for object in [0, 0x7f00_0000_0001, 0x40] {
        let bits = inactive::INVALID_CODE;
        refused(|gpu, s| changed(gpu, s, |k| k.kernel_object = object), bits);
    }
}

#[test]
fn unknown_packet_types_are_refused() {
    for packet_type in [packet_type::AGENT_DISPATCH, 6, 0xff] {
        let packet = |_: &TestGpu, signal| {
            let mut p = Packet::zeroed();
            p.set_u16(0, Header::new(packet_type, true, 2, 2).0);
            p.set_u64(56, signal);
            p
        };
        refused(packet, inactive::INVALID_PACKET);
    }
}

fn vendor(format: u8, signal: u64) -> Packet {
    let mut p = Packet::zeroed();
    p.0[2] = format;
    p.set_u64(56, signal);
    p
}

#[test]
fn unknown_vendor_formats_are_refused() {
    for format in [0, 3, 0xff] {
        refused(
            |_, signal| vendor(format, signal),
            inactive::INVALID_VENDOR_PACKET,
        );
    }
}

#[test]
fn barrier_value_with_unknown_condition_is_refused() {
    let packet = |gpu: &TestGpu, signal| {
        let mut p = vendor(2, signal);
        p.set_u64(8, gpu.signal(0, 0).va);
        p.set_u32(32, 4);
        p
    };
    refused(packet, inactive::INVALID_PACKET);
}

/// A PM4-IB packet (ROCr `AqlQueue::ExecutePM4`) with these dwords.
fn pm4_ib(gpu: &TestGpu, words: &[u32], signal: u64) -> Packet {
    let ib = gpu.alloc(4096);
    for (i, pair) in words.chunks(2).enumerate() {
        let hi = pair.get(1).copied().unwrap_or(0);
        let value = u64::from(pair[0]) | u64::from(hi) << 32;
        cell(ib + 8 * i as u64).store(value, std::sync::atomic::Ordering::Relaxed);
    }
    let mut p = vendor(1, signal);
    p.set_u32(4, 0xc002_3f00);
    p.set_u64(8, ib);
    p.set_u32(16, u32::try_from(words.len()).unwrap() | 1 << 23);
    p.set_u32(20, 0xa);
    p
}

#[test]
fn pm4_cache_invalidation_and_write_data_complete() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let (signal, target) = (gpu.signal(1, 0), gpu.alloc(4096));
    let [lo, hi] = [target & 0xffff_ffff, target >> 32].map(|half| u32::try_from(half).unwrap());
    // ACQUIRE_MEM with six dwords, NOP with one, WRITE_DATA of one dword to memory.
    let words = [
        0xc005_5800,
        0,
        u32::MAX,
        0xff,
        0,
        0,
        4, //
        0xc000_1000,
        0, //
        0xc003_3700,
        5 << 8,
        lo,
        hi,
        0xabcd,
    ];
    queue.push(&pm4_ib(&gpu, &words, signal.va));
    signal.wait(0);
    assert_eq!(
        cell(target).load(std::sync::atomic::Ordering::Relaxed),
        0xabcd
    );
}

#[test]
fn unknown_or_truncated_pm4_is_refused() {
    let bits = inactive::INVALID_VENDOR_PACKET;
    refused(|gpu, signal| pm4_ib(gpu, &[0xc000_7600, 0], signal), bits);
    refused(|gpu, signal| pm4_ib(gpu, &[0xc010_5800, 0], signal), bits);
    refused(|_, signal| vendor(1, signal), bits);
}

/// Runs a dispatch whose engine stops and gives the GPU and the queue.
fn stopped(stop: Stop) -> (Arc<TestGpu>, TestQueue) {
    let at = WaveLocation {
        workgroup: [3, 1, 0],
        wave: 2,
        lane: 17,
        pc: 0x40,
    };
    let gpu = TestGpu::with_engine(move |_, _, _| Outcome::Stopped {
        stop: stop.clone(),
        at,
    });
    let queue = TestQueue::new(&gpu);
    queue.dispatch(0);
    (gpu, queue)
}

#[test]
fn wave_errors_have_their_own_bits() {
    let cases = [
        (
            Stop::ApertureViolation { gpu_va: 1 },
            inactive::APERTURE_VIOLATION,
        ),
        (
            Stop::IllegalInstruction {
                bytes: vec![0xff; 4],
            },
            inactive::ILLEGAL_INSTRUCTION,
        ),
        (
            Stop::Unsupported {
                text: "v_foo".into(),
            },
            inactive::ILLEGAL_INSTRUCTION,
        ),
        (Stop::Trap { id: 2 }, inactive::TRAP),
        (
            Stop::InvalidDispatch { reason: "x".into() },
            inactive::INVALID_CODE,
        ),
    ];
    for (stop, bits) in cases {
        let (gpu, queue) = stopped(stop);
        queue.inactive.wait(bits);
        let report = gpu.report();
        assert!(
            report.contains("workgroup (3, 1, 0) wave 2 lane 17"),
            "{report}"
        );
        assert!(report.contains("kernel"), "{report}");
    }
}

#[test]
fn page_fault_of_a_wave_is_a_memory_event_and_no_queue_error() {
    let fault = AccessFault {
        gpu_va: 0xdead_0000,
        access: Access::Write,
        reason: FaultReason::ReadOnly,
    };
    let (gpu, queue) = stopped(Stop::MemoryFault(fault));
    eventually(|| !gpu.faults.lock().unwrap().is_empty());
    assert_eq!(*gpu.faults.lock().unwrap(), [fault]);
    let report = gpu.report();
    assert!(report.contains("0xdead0000, write"), "{report}");
    assert!(report.contains("near 0xdead0000"), "{report}");
    never(|| queue.inactive.get() != 0);
}

#[test]
fn report_shows_the_instruction_and_its_place() {
    let code = Arc::new(std::sync::OnceLock::new());
    let at = Arc::clone(&code);
    let gpu = TestGpu::with_engine(move |_, _, _| Outcome::Stopped {
        stop: Stop::Trap { id: 2 },
        at: WaveLocation {
            pc: *at.get().unwrap(),
            ..WaveLocation::default()
        },
    });
    // llvm-mc-19 -mcpu=gfx90a: global_load_dword v2, v[0:1], off
    let pc = gpu.alloc(4096) + 4088;
    cell(pc).store(0x027f_0000_dc50_8000, std::sync::atomic::Ordering::Relaxed);
    code.set(pc).unwrap();
    let queue = TestQueue::new(&gpu);
    queue.dispatch(0);
    queue.inactive.wait(inactive::TRAP);
    let report = gpu.report();
    let text = format!("{pc:#x}: global_load_dword v2, v[0:1], off (00 80 50 dc 00 00 7f 02)");
    assert!(report.contains(&text), "{report}");
}

#[test]
fn unmapped_dependency_and_completion_signals_are_page_faults() {
    for (dep, completion) in [(0x1000, 0), (0, 0x1000)] {
        let gpu = TestGpu::new();
        let queue = TestQueue::new(&gpu);
        queue.barrier(dep, completion);
        eventually(|| !gpu.faults.lock().unwrap().is_empty());
        assert_eq!(gpu.faults.lock().unwrap()[0].gpu_va & !0xff, 0x1000);
    }
}

#[test]
fn read_only_completion_signal_is_a_page_fault() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.alloc_as(
        4096,
        amdgpu_exec::Range {
            writable: false,
            ..RANGE
        },
    );
    queue.barrier(0, signal);
    eventually(|| !gpu.faults.lock().unwrap().is_empty());
    assert_eq!(gpu.faults.lock().unwrap()[0].reason, FaultReason::ReadOnly);
}

#[test]
fn misaligned_signal_is_an_aperture_violation() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    queue.barrier(gpu.signal(0, 0).va + 4, 0);
    queue.inactive.wait(inactive::APERTURE_VIOLATION);
}

#[test]
fn panic_in_the_engine_stops_the_queue_and_tells_the_client() {
    let gpu = TestGpu::with_engine(|_, _, _| panic!("a fault in the engine"));
    let queue = TestQueue::new(&gpu);
    queue.dispatch(0);
    queue.inactive.wait(inactive::TRAP);
    assert!(gpu.report().contains("internal error"));
}

#[test]
fn error_of_one_queue_leaves_others_running() {
    let gpu = TestGpu::new();
    let (bad, good) = (TestQueue::new(&gpu), TestQueue::new(&gpu));
    bad.push(&vendor(9, 0));
    bad.inactive.wait(inactive::INVALID_VENDOR_PACKET);
    let signal = gpu.signal(1, 0);
    good.dispatch(signal.va);
    signal.wait(0);
}

#[test]
fn memory_unmapped_after_its_first_use_faults() {
    let gpu = TestGpu::new();
    let queue = TestQueue::new(&gpu);
    let signal = gpu.signal(2, 0);
    queue.barrier(0, signal.va);
    signal.wait(1);
    gpu.unmap(signal.va);
    queue.barrier(0, signal.va);
    eventually(|| !gpu.faults.lock().unwrap().is_empty());
    assert_eq!(signal.get(), 1);
}
