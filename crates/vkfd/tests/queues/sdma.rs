//! SDMA packets.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use amdgpu_abi::sdma::{
    Atomic, AtomicOp, CopyRect, FillSize, Generation, Packet, Poll, PollFunc, PollSpace, Window,
    encode,
};
use amdgpu_exec::{FaultReason, Range};
use vkfd::queue::{Doorbell, DoorbellCell, QueueDesc, QueueKind, RunningQueue};
use vkfd::scheduler::{self, Host};

use crate::gpu::{RANGE, TestDoorbell, TestGpu, bytes, cell, eventually, never};

const V4: Generation = Generation::V4_4;

struct Sdma {
    gpu: Arc<TestGpu>,
    ring: u64,
    ring_bytes: u64,
    pointers: u64,
    doorbell: Arc<TestDoorbell>,
    running: Arc<dyn RunningQueue>,
}

impl Sdma {
    fn new(gpu: &Arc<TestGpu>) -> Self {
        Self::with_ring(gpu, 4096)
    }

    fn with_ring(gpu: &Arc<TestGpu>, ring_bytes: u32) -> Self {
        let ring = gpu.alloc(ring_bytes as usize);
        let pointers = gpu.alloc(4096);
        let doorbell = Arc::new(TestDoorbell::default());
        let desc = QueueDesc {
            queue_id: 2,
            kind: QueueKind::Sdma,
            ring_va: ring,
            ring_bytes,
            rptr_va: pointers + 16,
            wptr_va: pointers + 8,
            doorbell: Doorbell(Arc::clone(&doorbell) as Arc<dyn DoorbellCell>),
        };
        let running = scheduler::start(desc, Arc::clone(gpu) as Arc<dyn Host>).unwrap();
        let (gpu, ring_bytes) = (Arc::clone(gpu), ring_bytes.into());
        Self {
            gpu,
            ring,
            ring_bytes,
            pointers,
            doorbell,
            running,
        }
    }

    fn wptr(&self) -> u64 {
        cell(self.pointers + 8).load(Ordering::Relaxed)
    }

    fn rptr(&self) -> u64 {
        cell(self.pointers + 16).load(Ordering::Acquire)
    }

    /// Puts dwords into the ring, wrapping, without telling the engine.
    fn put(&self, words: &[u32]) -> u64 {
        let mut at = self.wptr();
        for word in words {
            bytes(self.ring + at % self.ring_bytes, 4).copy_from_slice(&word.to_le_bytes());
            at += 4;
        }
        at
    }

    fn submit(&self, words: &[u32]) {
        let count = words.len() as u64 * 4;
        eventually(|| self.wptr() + count - self.rptr() <= self.ring_bytes);
        let wptr = self.put(words);
        cell(self.pointers + 8).store(wptr, Ordering::Release);
        self.doorbell.cell().store(wptr, Ordering::Release);
        self.running.wake();
    }

    /// Submits and waits until the engine has retired everything.
    fn run(&self, words: &[u32]) {
        self.submit(words);
        let wptr = self.wptr();
        eventually(|| self.rptr() == wptr);
    }

    fn run_packet(&self, packet: &Packet<'_>) {
        let mut words = Vec::new();
        packet.encode(V4, &mut words);
        self.run(&words);
    }
}

fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn linear_copy_moves_bytes_of_any_alignment() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (src, dst) = (gpu.alloc(1 << 16), gpu.alloc(1 << 16));
    bytes(src, 1 << 16).copy_from_slice(&pattern(1 << 16));
    for (from, to, count) in [(0, 0, 1), (1, 3, 4097), (5, 0, 60000)] {
        bytes(dst, 1 << 16).fill(0xee);
        sdma.run(&encode::copy_linear(V4, src + from, dst + to, count));
        let (to, count) = (to as usize, count as usize);
        let expected = &pattern(1 << 16)[from as usize..][..count];
        assert_eq!(&bytes(dst, 1 << 16)[to..to + count], expected);
        assert_eq!(bytes(dst, 1 << 16)[to + count], 0xee);
    }
}

#[test]
fn large_copy_crosses_pieces_and_mappings() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let count = (13 << 20) + 5;
    let src = gpu.alloc_as(
        count,
        Range {
            stable: true,
            ..RANGE
        },
    );
    let dst = gpu.alloc_as(
        count,
        Range {
            limit: 0,
            stable: true,
            ..RANGE
        },
    );
    gpu.unmap(dst);
    let half = dst + (5 << 20);
    gpu.map(Range {
        base: dst,
        limit: half,
        stable: true,
        ..RANGE
    });
    gpu.map(Range {
        base: half,
        limit: dst + count as u64,
        stable: true,
        ..RANGE
    });
    let expected = pattern(count);
    bytes(src, count).copy_from_slice(&expected);
    sdma.run(&encode::copy_linear(V4, src, dst, count as u64));
    assert!(bytes(dst, count) == expected);
}

#[test]
fn copy_of_client_memory_goes_both_ways() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (user, device) = (gpu.alloc_as(1 << 16, RANGE), gpu.alloc(1 << 16));
    bytes(user, 1 << 16).copy_from_slice(&pattern(1 << 16));
    sdma.run(&encode::copy_linear(V4, user, device, 1 << 16));
    assert_eq!(bytes(device, 1 << 16), pattern(1 << 16));
    bytes(user, 1 << 16).fill(0);
    sdma.run(&encode::copy_linear(V4, device, user, 1 << 16));
    assert_eq!(bytes(user, 1 << 16), pattern(1 << 16));
}

#[test]
fn overlapping_copies_move_what_was_there_before() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let count = 9 << 20;
    for stable in [true, false] {
        for shift in [1u64, 4096, 5 << 20] {
            let buffer = gpu.alloc_as(count * 2, Range { stable, ..RANGE });
            let expected = pattern(count);
            bytes(buffer, count).copy_from_slice(&expected);
            sdma.run(&encode::copy_linear(
                V4,
                buffer,
                buffer + shift,
                count as u64,
            ));
            assert!(bytes(buffer + shift, count) == expected, "up by {shift}");
            sdma.run(&encode::copy_linear(
                V4,
                buffer + shift,
                buffer,
                count as u64,
            ));
            assert!(bytes(buffer, count) == expected, "down by {shift}");
        }
    }
}

#[test]
fn broadcast_copy_reaches_both_destinations() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (src, a, b) = (gpu.alloc(4096), gpu.alloc(4096), gpu.alloc(4096));
    bytes(src, 4096).copy_from_slice(&pattern(4096));
    sdma.run(&encode::copy_broadcast(V4, src, [a, b], 4096));
    assert_eq!(bytes(a, 4096), pattern(4096));
    assert_eq!(bytes(b, 4096), pattern(4096));
}

#[test]
fn rectangle_copy_equals_a_host_loop() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (src, dst) = (gpu.alloc(1 << 20), gpu.alloc(1 << 20));
    for (element_log2, extent) in [
        (0u8, [513, 7, 3]),
        (2, [31, 64, 2]),
        (4, [1, 1, 1]),
        (3, [8, 1000, 1]),
    ] {
        bytes(src, 1 << 20).copy_from_slice(&pattern(1 << 20));
        bytes(dst, 1 << 20).fill(0);
        let src_window = Window {
            addr: src,
            origin: [3, 2, 1],
            pitch: 520,
            slice_pitch: 520 * 16,
        };
        let dst_window = Window {
            addr: dst,
            origin: [1, 0, 2],
            pitch: 515,
            slice_pitch: 515 * 9,
        };
        // Slices of the tall case overlap nothing: it has one.
        let rect = CopyRect {
            element_log2,
            src: small(src_window, extent),
            dst: small(dst_window, extent),
            extent,
        };
        sdma.run(&encode::copy_rect(V4, &rect));
        assert!(bytes(dst, 1 << 20) == host_rect(&rect), "{rect:?}");
    }
}

/// Windows whose pitch leaves little room, so that the larger elements stay in the buffer.
fn small(window: Window, extent: [u32; 3]) -> Window {
    let pitch = extent[0] + 5;
    Window {
        pitch,
        slice_pitch: pitch * (extent[1] + 3),
        ..window
    }
}

fn host_rect(rect: &CopyRect) -> Vec<u8> {
    let (source, mut result) = (pattern(1 << 20), vec![0; 1 << 20]);
    let element = 1usize << rect.element_log2;
    let at = |w: &Window, x: u32, y: u32, z: u32| {
        let index =
            (w.origin[0] + x) + (w.origin[1] + y) * w.pitch + (w.origin[2] + z) * w.slice_pitch;
        index as usize * element
    };
    for z in 0..rect.extent[2] {
        for y in 0..rect.extent[1] {
            for x in 0..rect.extent[0] {
                let (s, d) = (at(&rect.src, x, y, z), at(&rect.dst, x, y, z));
                result[d..d + element].copy_from_slice(&source[s..s + element]);
            }
        }
    }
    result
}

#[test]
fn fills_repeat_their_element() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let dst = gpu.alloc(1 << 16);
    let value = 0x4433_2211;
    for (size, unit) in [
        (FillSize::Byte, vec![0x11]),
        (FillSize::Word, vec![0x11, 0x22]),
        (FillSize::Dword, vec![0x11, 0x22, 0x33, 0x44]),
    ] {
        bytes(dst, 1 << 16).fill(0);
        sdma.run(&encode::fill(V4, dst + 4, value, size, 40000));
        let expected: Vec<u8> = unit.iter().copied().cycle().take(40000).collect();
        assert_eq!(&bytes(dst, 1 << 16)[4..40004], expected);
        assert_eq!(bytes(dst, 1 << 16)[40004], 0);
        assert_eq!(bytes(dst, 1 << 16)[3], 0);
    }
}

#[test]
fn dword_fill_with_rocrs_count_fills_whole_dwords() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let dst = gpu.alloc(4096);
    // ROCr stores (dwords - 1) * 4 where the kernel driver stores bytes - 1.
    let mut words = encode::fill(V4, dst, 7, FillSize::Dword, 64);
    words[4] = 15 * 4;
    sdma.run(&words);
    assert!(bytes(dst, 64).chunks(4).all(|dword| dword == [7, 0, 0, 0]));
    assert_eq!(bytes(dst + 64, 1)[0], 0);
}

#[test]
fn write_fence_trap_and_timestamp_do_their_one_thing() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let dst = gpu.alloc(4096);
    let data = [1, 2, 3, 4, 5];
    sdma.run_packet(&Packet::Write {
        dst: dst + 4,
        data: &data,
    });
    let written: Vec<u8> = data
        .iter()
        .flat_map(|word: &u32| word.to_le_bytes())
        .collect();
    assert_eq!(bytes(dst + 4, 20), written);
    sdma.run(&encode::fence(dst + 64, 0xfeed));
    assert_eq!(bytes(dst + 64, 8), 0xfeedu64.to_le_bytes());
    sdma.run(&encode::timestamp(dst + 96));
    assert!(cell(dst + 96).load(Ordering::Relaxed) >= 1000);
    sdma.run(&encode::trap(0x123_4567));
    assert_eq!(*gpu.interrupts.lock().unwrap(), [0x123_4567]);
}

#[test]
fn write_longer_than_the_first_fetch_is_complete() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let dst = gpu.alloc(4096);
    let data: Vec<u32> = (0..600).collect();
    sdma.run_packet(&Packet::Write { dst, data: &data });
    let expected: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(bytes(dst, 2400), expected);
}

#[test]
fn atomics_follow_their_operation() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let at = gpu.alloc(4096);
    let run = |old: u64, op: AtomicOp, src: u64, cmp: u64| {
        cell(at).store(old, Ordering::Relaxed);
        sdma.run_packet(&Packet::Atomic(Atomic {
            op,
            addr: at,
            src,
            cmp,
            repeat: false,
        }));
        cell(at).load(Ordering::Relaxed)
    };
    assert_eq!(run(5, AtomicOp::ADD_64, u64::MAX, 0), 4);
    assert_eq!(
        run(u64::MAX, AtomicOp(0x6f), 1, 0),
        0,
        "form without return value"
    );
    assert_eq!(run(0x1_ffff_ffff, AtomicOp::ADD_32, 1, 0), 0x1_0000_0000);
    assert_eq!(run(5, AtomicOp::SUB_32.wide(), 7, 0), u64::MAX - 1);
    assert_eq!(run(5, AtomicOp::CMPSWAP_32.wide(), 9, 5), 9);
    assert_eq!(run(5, AtomicOp::CMPSWAP_32.wide(), 9, 6), 5);
    assert_eq!(run(5, AtomicOp::SWAP_32.wide(), 9, 0), 9);
    assert_eq!(run(0xffff_fff0, AtomicOp::SMIN_32, 3, 0), 0xffff_fff0);
    assert_eq!(run(0xffff_fff0, AtomicOp::UMIN_32, 3, 0), 3);
    assert_eq!(run(0xffff_fff0, AtomicOp::SMAX_32, 3, 0), 3);
    assert_eq!(run(0xffff_fff0, AtomicOp::UMAX_32, 3, 0), 0xffff_fff0);
    assert_eq!(run(0b1100, AtomicOp::AND_32, 0b1010, 0), 0b1000);
    assert_eq!(run(0b1100, AtomicOp::OR_32, 0b1010, 0), 0b1110);
    assert_eq!(run(0b1100, AtomicOp::XOR_32, 0b1010, 0), 0b0110);
    assert_eq!(
        (
            run(3, AtomicOp::INC_32, 3, 0),
            run(2, AtomicOp::INC_32, 3, 0)
        ),
        (0, 3)
    );
    assert_eq!(
        (
            run(0, AtomicOp::DEC_32, 3, 0),
            run(9, AtomicOp::DEC_32, 3, 0)
        ),
        (3, 3)
    );
    assert_eq!(run(2, AtomicOp::DEC_32, 3, 0), 1);
}

#[test]
fn poll_for_zero_passes_only_at_zero() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (signal, fence) = (gpu.alloc(4096), gpu.alloc(4096));
    cell(signal).store(3, Ordering::Relaxed);
    sdma.submit(&[&encode::poll_equal(signal, 0)[..], &encode::fence(fence, 1)].concat());
    for value in [2, 1] {
        never(|| cell(fence).load(Ordering::Acquire) != 0);
        cell(signal).store(value, Ordering::Release);
    }
    never(|| cell(fence).load(Ordering::Acquire) != 0);
    cell(signal).store(0, Ordering::Release);
    eventually(|| cell(fence).load(Ordering::Acquire) == 1);
}

#[test]
fn poll_functions_compare_unsigned_under_the_mask() {
    let gpu = TestGpu::new();
    let at = gpu.alloc(4096);
    cell(at).store(0xff00_0005, Ordering::Relaxed);
    let functions = [
        (PollFunc::ALWAYS, 0, true),
        (PollFunc::LESS, 6, true),
        (PollFunc::LESS, 5, false),
        (PollFunc::LESS_EQUAL, 5, true),
        (PollFunc::EQUAL, 5, true),
        (PollFunc::NOT_EQUAL, 5, false),
        (PollFunc::GREATER_EQUAL, 5, true),
        (PollFunc::GREATER, 5, false),
        (PollFunc::GREATER, 4, true),
    ];
    for (func, reference, passes) in functions {
        let sdma = Sdma::new(&gpu);
        let poll = Poll {
            space: PollSpace::Memory,
            addr: at,
            func,
            reference,
            mask: 0xff,
            interval: 4,
            retry_count: 0xfff,
        };
        sdma.submit(&encode::poll(&poll));
        if passes {
            eventually(|| sdma.rptr() == 24);
        } else {
            never(|| sdma.rptr() != 0);
        }
    }
}

#[test]
fn hdp_flush_and_padding_pass() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    sdma.run(&[0x8, 0x0, 0x8000_0000, 0x0, 0x0, 0x0]);
    sdma.run(&[0; 9]);
    sdma.run_packet(&Packet::Nop { dwords: 100 });
}

#[test]
fn ring_wraps_in_the_middle_of_packets() {
    let gpu = TestGpu::new();
    let sdma = Sdma::with_ring(&gpu, 4096);
    let counter = gpu.alloc(4096);
    // Packets of 7 and 8 dwords: neither divides the ring.
    for i in 0..2000u64 {
        sdma.submit(&encode::atomic_add64(counter, 1));
        sdma.submit(&encode::copy_linear(V4, counter, counter + 64, 8));
        if i % 64 == 0 {
            eventually(|| sdma.rptr() == sdma.wptr());
        }
    }
    eventually(|| cell(counter).load(Ordering::Acquire) == 2000);
    eventually(|| sdma.rptr() == 2000 * 60);
}

#[test]
fn write_pointer_by_doorbell_alone_is_enough() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let fence = gpu.alloc(4096);
    let wptr = sdma.put(&encode::fence(fence, 5));
    sdma.doorbell.cell().store(wptr, Ordering::Release);
    sdma.running.wake();
    eventually(|| cell(fence).load(Ordering::Acquire) == 5);
}

#[test]
fn packet_that_is_not_complete_waits_for_its_rest() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let fence = gpu.alloc(4096);
    let words = encode::fence(fence, 5);
    sdma.submit(&words[..2]);
    never(|| sdma.rptr() != 0);
    sdma.submit(&words[2..]);
    eventually(|| cell(fence).load(Ordering::Acquire) == 5);
}

#[test]
fn indirect_buffer_runs_before_what_follows() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (ib, value) = (gpu.alloc(4096), gpu.alloc(4096));
    let inner = [&encode::fence(value, 1)[..], &encode::fence(value + 4, 1)].concat();
    for (i, word) in inner.iter().enumerate() {
        bytes(ib + 4 * i as u64, 4).copy_from_slice(&word.to_le_bytes());
    }
    sdma.run(&[&encode::indirect(ib, 8)[..], &encode::fence(value, 2)].concat());
    eventually(|| cell(value).load(Ordering::Acquire) == 0x1_0000_0002);
}

#[track_caller]
fn refused(words: &[u32], why: &str) {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let fence = gpu.alloc(4096);
    sdma.submit(&[words, &encode::fence(fence, 1)].concat());
    eventually(|| gpu.exceptions.load(Ordering::SeqCst) == 1);
    assert!(gpu.report().contains(why), "{}", gpu.report());
    never(|| cell(fence).load(Ordering::Acquire) != 0 || sdma.rptr() != 0);
}

#[test]
fn malformed_packets_stop_the_queue_with_a_report() {
    refused(&[0xff; 16], "unknown opcode 255");
    refused(&[12; 16], "unknown opcode 12");
    refused(&[17; 16], "unknown opcode 17");
    refused(&[0xc000_000b, 0, 0, 0, 0], "fillsize");
    refused(&[0xf000_0008, 0x1000, 0, 0, 0, 0], "func");
    let float = Atomic {
        op: AtomicOp(9),
        addr: 0x1000,
        src: 0,
        cmp: 0,
        repeat: false,
    };
    refused(&encode::atomic(&float), "atomic operation 0x9");
    refused(&encode::fence(0x1001, 0), "misaligned");
    refused(
        &encode::write_header(0x1000, 1 << 20),
        "in a buffer of 4096 bytes",
    );
}

#[test]
fn refused_accesses_are_memory_faults() {
    let gpu = TestGpu::new();
    let good = gpu.alloc(8192);
    let read_only = gpu.alloc_as(
        4096,
        Range {
            writable: false,
            stable: true,
            ..RANGE
        },
    );
    let cases = [
        (good, 0x10_0000, FaultReason::NotPresent),
        (0x10_0000, good, FaultReason::NotPresent),
        (good, read_only, FaultReason::ReadOnly),
    ];
    for (src, dst, reason) in cases {
        let sdma = Sdma::new(&gpu);
        gpu.faults.lock().unwrap().clear();
        sdma.submit(&encode::copy_linear(V4, src, dst, 64));
        eventually(|| !gpu.faults.lock().unwrap().is_empty());
        assert_eq!(gpu.faults.lock().unwrap()[0].reason, reason);
        assert_eq!(sdma.rptr(), 0);
    }
    assert!(
        gpu.report()
            .contains("SDMA queue 2 stopped at ring byte 0x0")
    );
}

#[test]
fn copy_from_vanished_client_memory_is_a_fault_and_no_crash() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let dst = gpu.alloc(4096);
    // Mapped to the GPU, but the client has no memory there.
    gpu.map(Range {
        base: 0x20_0000,
        limit: 0x20_1000,
        ..RANGE
    });
    sdma.submit(&encode::copy_linear(V4, 0x20_0000, dst, 64));
    eventually(|| !gpu.faults.lock().unwrap().is_empty());
    let sdma = Sdma::new(&gpu);
    sdma.submit(&encode::fence(0x20_0000, 1));
    eventually(|| gpu.faults.lock().unwrap().len() == 2);
}

#[test]
fn stop_ends_a_poll_and_a_paused_engine_continues() {
    let gpu = TestGpu::new();
    let sdma = Sdma::new(&gpu);
    let (signal, fence) = (gpu.alloc(4096), gpu.alloc(4096));
    cell(signal).store(1, Ordering::Relaxed);
    sdma.submit(&[&encode::poll_equal(signal, 0)[..], &encode::fence(fence, 1)].concat());
    sdma.running.set_active(false);
    sdma.running.set_active(true);
    sdma.running.stop();
    cell(signal).store(0, Ordering::Release);
    never(|| cell(fence).load(Ordering::Acquire) != 0 || sdma.rptr() != 0);
    assert_eq!(sdma.gpu.exceptions.load(Ordering::SeqCst), 0);
}
