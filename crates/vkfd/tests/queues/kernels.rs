//! Machine code on the real engine, from packet to memory. The code is gfx90a, encoded by
//! `llvm-mc-19 -mcpu=gfx90a`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use amdgpu_abi::aql::{Header, KernelDispatch, Packet, packet_type};
use amdgpu_abi::queue::inactive;
use amdgpu_exec::{Access, Config, Engine, FaultReason, Interpreter};

use crate::gpu::{TestGpu, TestQueue, bytes, cell, eventually, never};

static ENGINE: LazyLock<Interpreter> = LazyLock::new(|| Interpreter::new(Config::default()));

fn gpu() -> Arc<TestGpu> {
    TestGpu::with_engine(|dispatch, memory, device| ENGINE.run(dispatch, memory, device))
}

/// Offset of the code from its descriptor.
const ENTRY: u64 = 256;

/// A kernel with the kernarg address in s[0:1], the workgroup id in s2 and 8 vector registers.
fn load(gpu: &TestGpu, code: &[u32]) -> u64 {
    let object = gpu.alloc(4096);
    let descriptor = bytes(object, 64);
    descriptor[16..24].copy_from_slice(&ENTRY.to_le_bytes());
    // COMPUTE_PGM_RSRC1: 16 SGPRs, f16 and f64 denormals, IEEE mode; RSRC2: 2 user SGPRs and the
    // workgroup id; properties: kernarg segment pointer.
    descriptor[48..52].copy_from_slice(&(1u32 << 6 | 3 << 18 | 1 << 23).to_le_bytes());
    descriptor[52..56].copy_from_slice(&(2u32 << 1 | 1 << 7).to_le_bytes());
    descriptor[56..58].copy_from_slice(&(1u16 << 3).to_le_bytes());
    let text: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes(object + ENTRY, text.len()).copy_from_slice(&text);
    object
}

fn packet(gpu: &TestGpu, code: &[u32], items: u32, argument: u64, signal: u64) -> Packet {
    let kernarg = gpu.alloc(4096);
    cell(kernarg).store(argument, Ordering::Relaxed);
    KernelDispatch {
        setup: 1,
        workgroup_size: [64, 1, 1],
        grid_size: [items, 1, 1],
        kernel_object: load(gpu, code),
        kernarg_address: kernarg,
        completion_signal: signal,
        ..KernelDispatch::default()
    }
    .encode(Header::new(packet_type::KERNEL_DISPATCH, true, 2, 2))
}

/// Stores each work-item's global id to its dword of the buffer.
const IDS: [u32; 9] = [
    0xc006_0000,
    0,           // s_load_dwordx2 s[0:1], s[0:1], 0x0
    0x8e03_8602, // s_lshl_b32 s3, s2, 6
    0x6804_0003, // v_add_u32 v2, s3, v0
    0x2402_0482, // v_lshlrev_b32 v1, 2, v2
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdc70_8000,
    0x0000_0201, // global_store_dword v1, v2, s[0:1]
    0xbf81_0000, // s_endpgm
];

/// Waits until the dword of the buffer is not 0.
const SPIN: [u32; 11] = [
    0xc006_0000,
    0,           // s_load_dwordx2 s[0:1], s[0:1], 0x0
    0x7e00_0280, // v_mov_b32 v0, 0
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdc51_8000,
    0x0100_0000, // global_load_dword v1, v0, s[0:1] glc
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0x7e08_0501, // v_readfirstlane_b32 s4, v1
    0xbf06_8004, // s_cmp_eq_u32 s4, 0
    0xbf85_fffa, // s_cbranch_scc1 -6
    0xbf81_0000, // s_endpgm
];

/// Stores 1 to the dword of the buffer.
const SET: [u32; 8] = [
    0xc006_0000,
    0,           // s_load_dwordx2 s[0:1], s[0:1], 0x0
    0x7e00_0280, // v_mov_b32 v0, 0
    0x7e02_0281, // v_mov_b32 v1, 1
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdc70_8000,
    0x0000_0100, // global_store_dword v0, v1, s[0:1]
    0xbf81_0000, // s_endpgm
];

/// Loads from address 0.
const NULL_LOAD: [u32; 6] = [
    0x7e00_0280, // v_mov_b32 v0, 0
    0x7e02_0280, // v_mov_b32 v1, 0
    0xdc50_8000,
    0x027f_0000, // global_load_dword v2, v[0:1], off
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0xbf81_0000, // s_endpgm
];

#[test]
fn kernel_writes_the_ids_of_its_grid_and_no_more() {
    let gpu = gpu();
    let queue = TestQueue::new(&gpu);
    for items in [1u32, 63, 64, 65, 1000, 100_000] {
        let buffer = gpu.alloc((items as usize + 1) * 4);
        bytes(buffer, (items as usize + 1) * 4).fill(0xee);
        let signal = gpu.signal(1, 0);
        queue.push(&packet(&gpu, &IDS, items, buffer, signal.va));
        signal.wait(0);
        let expected: Vec<u8> = (0..items)
            .chain([0xeeee_eeee])
            .flat_map(u32::to_le_bytes)
            .collect();
        assert!(bytes(buffer, expected.len()) == expected, "{items} items");
    }
}

#[test]
fn load_from_unmapped_memory_is_a_memory_event_with_a_full_report() {
    let gpu = gpu();
    let queue = TestQueue::new(&gpu);
    let packet = packet(&gpu, &NULL_LOAD, 64, 0, 0);
    let pc = packet.u64_at(32) + ENTRY + 8;
    queue.push(&packet);
    eventually(|| !gpu.faults.lock().unwrap().is_empty());
    let fault = gpu.faults.lock().unwrap()[0];
    assert_eq!(
        (fault.gpu_va, fault.access, fault.reason),
        (0, Access::Read, FaultReason::NotPresent)
    );
    let report = gpu.report();
    for part in [
        format!("{pc:#x}"),
        "0x0, read".into(),
        "workgroup (0, 0, 0) wave 0".into(),
    ] {
        assert!(report.contains(&part), "no {part} in {report}");
    }
    never(|| queue.inactive.get() != 0);
}

#[test]
fn trap_and_illegal_instruction_stop_the_queue() {
    for (code, bits) in [
        ([0xbf92_0002, 0xbf81_0000], inactive::TRAP),
        ([0xffff_ffff, 0xffff_ffff], inactive::ILLEGAL_INSTRUCTION),
    ] {
        let gpu = gpu();
        let queue = TestQueue::new(&gpu);
        let signal = gpu.signal(1, 0);
        queue.push(&packet(&gpu, &code, 64, 0, signal.va));
        queue.inactive.wait(bits);
        assert_eq!(signal.get(), 1);
    }
}

#[test]
fn endless_kernel_ends_when_its_queue_is_stopped() {
    let gpu = gpu();
    let queue = TestQueue::new(&gpu);
    let (flag, signal) = (gpu.alloc(4096), gpu.signal(1, 0));
    queue.push(&packet(&gpu, &SPIN, 64, flag, signal.va));
    never(|| signal.get() == 0);
    queue.running.stop();
    assert_eq!(signal.get(), 1);
    assert!(gpu.report().is_empty(), "{}", gpu.report());
}

#[test]
fn kernel_of_one_queue_releases_the_kernel_of_another() {
    let gpu = gpu();
    let (waits, sets) = (TestQueue::new(&gpu), TestQueue::new(&gpu));
    for _ in 0..10 {
        let (flag, signal) = (gpu.alloc(4096), gpu.signal(2, 0));
        waits.push(&packet(&gpu, &SPIN, 64, flag, signal.va));
        never(|| signal.get() != 2);
        sets.push(&packet(&gpu, &SET, 64, flag, signal.va));
        signal.wait(0);
    }
}

#[test]
fn store_of_the_host_releases_a_running_kernel() {
    let gpu = gpu();
    let queue = TestQueue::new(&gpu);
    let (flag, signal) = (gpu.alloc(4096), gpu.signal(1, 0));
    queue.push(&packet(&gpu, &SPIN, 64, flag, signal.va));
    never(|| signal.get() == 0);
    cell(flag).store(1, Ordering::Release);
    signal.wait(0);
}
