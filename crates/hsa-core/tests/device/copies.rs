//! Asynchronous copies: engines, dependencies, rectangles, times.

use crate::{Open, pattern, read, write};
use hsa_core::copy::{CopyRequest, Direction, PitchedPtr, RectCopy};
use hsa_core::signal::{Condition, WaitHint};
use hsa_core::{Agent, Error, Signal};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

fn wait_zero(signal: Signal) {
    let value = signal.wait(
        Condition::Lt,
        1,
        u64::MAX,
        WaitHint::Blocked,
        Ordering::Acquire,
    );
    assert_eq!(value, 0, "decremented more than once");
}

/// Starts a copy and returns its completion signal.
fn start(rt: &Open, dst: (u64, &Agent), src: (u64, &Agent), size: u64, deps: &[Signal]) -> Signal {
    let done = rt.create_signal(1, &[], 0).unwrap();
    let request = CopyRequest {
        dst: dst.0,
        dst_agent: dst.1,
        src: src.0,
        src_agent: src.1,
        size,
        deps,
        completion: Some(done),
    };
    // SAFETY: the tests keep both buffers until the copy is done.
    unsafe { rt.async_copy(&request) }.unwrap();
    done
}

fn copies_of_odd_sizes(gpus: &str) {
    let rt = Open::new(gpus);
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    let bytes = 9 << 20;
    let (a, v, w, b) = (
        rt.host_buffer(bytes),
        rt.device_buffer(gpu, bytes),
        rt.device_buffer(gpu, bytes),
        rt.host_buffer(bytes),
    );
    for (size, offset) in [
        (1, 0),
        (3, 1),
        (4, 2),
        (63, 61),
        (4097, 4095),
        (100_000, 7),
        (8 << 20, 3),
    ] {
        let data = pattern(size, u8::try_from(offset % 251).unwrap());
        let offset = u64::try_from(offset).unwrap();
        write(a + offset, &data);
        write(b, &vec![0xee; size + 2]);
        let size64 = size as u64;
        let up = start(&rt, (v + 1, gpu), (a + offset, cpu), size64, &[]);
        let over = start(&rt, (w + offset, gpu), (v + 1, gpu), size64, &[up]);
        let down = start(&rt, (b + 1, cpu), (w + offset, gpu), size64, &[over]);
        wait_zero(down);
        assert_eq!(read(b + 1, size), data, "{size} bytes");
        assert_eq!(
            (read(b, 1)[0], read(b + 1 + size64, 1)[0]),
            (0xee, 0xee),
            "neighbours changed"
        );
        [up, over, down].iter().for_each(|s| s.destroy().unwrap());
    }
}

#[test]
fn copies_of_odd_sizes_and_offsets_are_exact_on_gfx90a() {
    copies_of_odd_sizes("gfx90a");
}

#[test]
fn copies_of_odd_sizes_and_offsets_are_exact_on_gfx1030() {
    copies_of_odd_sizes("gfx1030");
}

#[test]
fn copies_without_sdma_are_exact() {
    // SAFETY: the test's process has no other thread yet.
    unsafe { std::env::set_var("HSA_ENABLE_SDMA", "0") };
    copies_of_odd_sizes("gfx90a");
}

#[test]
fn a_copy_starts_only_when_its_dependency_is_0() {
    let rt = Open::new("gfx90a");
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    let (host, vram) = (rt.host_buffer(4096), rt.device_buffer(gpu, 4096));
    let ends = [(host, cpu, vram, gpu), (host, cpu, host + 2048, cpu)];
    for (src, src_agent, dst, dst_agent) in ends {
        let dep = rt.create_signal(3, &[], 0).unwrap();
        write(src, &[1; 1024]);
        write(dst, &[0; 1024]);
        let done = start(&rt, (dst, dst_agent), (src, src_agent), 1024, &[dep]);
        for value in [2, 1] {
            dep.store(value, Ordering::Release);
            thread::sleep(Duration::from_millis(5));
            assert_eq!(
                (read(dst, 1)[0], done.load(Ordering::Acquire)),
                (0, 1),
                "started at {value}"
            );
        }
        write(src, &[2; 1024]);
        dep.store(0, Ordering::Release);
        wait_zero(done);
        assert_eq!(read(dst, 1024), [2; 1024]);
    }
}

#[test]
fn a_late_dependency_does_not_hold_up_other_host_copies() {
    let rt = Open::new("gfx1030");
    let cpu = rt.cpu();
    let host = rt.host_buffer(1 << 16);
    let gate = rt.create_signal(1, &[], 0).unwrap();
    let late = start(&rt, (host, cpu), (host + 100, cpu), 10, &[gate]);
    for i in 0..50 {
        wait_zero(start(
            &rt,
            (host + 4096, cpu),
            (host + 8192, cpu),
            100 + i,
            &[],
        ));
    }
    assert_eq!(late.load(Ordering::Acquire), 1);
    gate.store(0, Ordering::Release);
    wait_zero(late);
}

#[test]
fn eight_threads_of_copies_lose_no_completion() {
    let rt = Open::new("gfx90a");
    let runtime = rt.0;
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    let workers: Vec<_> = (0..8_u8)
        .map(|t| {
            let (a, v, b) = (
                rt.host_buffer(1 << 20),
                rt.device_buffer(gpu, 1 << 20),
                rt.host_buffer(1 << 20),
            );
            thread::spawn(move || {
                let rt = std::mem::ManuallyDrop::new(Open(runtime));
                for round in 0..40 {
                    let size = 200_000 + usize::from(t) * 1000 + round;
                    let data = pattern(size, t);
                    write(a, &data);
                    let up = start(&rt, (v, gpu), (a, cpu), size as u64, &[]);
                    let down = start(&rt, (b, cpu), (v, gpu), size as u64, &[up]);
                    wait_zero(down);
                    assert_eq!(up.load(Ordering::Acquire), 0);
                    assert!(read(b, size) == data, "data of thread {t} round {round}");
                    up.destroy().unwrap();
                    down.destroy().unwrap();
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
}

#[test]
fn thousands_of_small_copies_wrap_the_ring() {
    let rt = Open::new("gfx1030");
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    let (host, vram) = (rt.host_buffer(4096), rt.device_buffer(gpu, 1 << 20));
    write(host, &pattern(4096, 9));
    let done = rt.create_signal(20_000, &[], 0).unwrap();
    for i in 0..20_000_u64 {
        let request = CopyRequest {
            dst: vram + i % 256 * 16,
            dst_agent: gpu,
            src: host + i % 256 * 16,
            src_agent: cpu,
            size: 16,
            deps: &[],
            completion: Some(done),
        };
        // SAFETY: the buffers live until the end.
        unsafe { rt.async_copy(&request) }.unwrap();
    }
    wait_zero(done);
    assert_eq!(read(vram, 4096), pattern(4096, 9));
}

#[test]
fn copies_between_two_gpus_and_with_pinned_memory_are_exact() {
    let rt = Open::new("gfx90a*2");
    let (cpu, a, b) = (rt.cpu(), rt.gpu(0), rt.gpu(1));
    let (va, vb) = (rt.device_buffer(a, 1 << 20), rt.device_buffer(b, 1 << 20));
    let data = pattern(1_000_000, 4);
    // SAFETY: `data` lives until the unlock.
    let alias = unsafe { rt.lock(data.as_ptr() as u64, data.len() as u64, &[], None, 0) }.unwrap();
    wait_zero(start(&rt, (va, a), (alias, cpu), 1_000_000, &[]));
    // Without access of either GPU to the other the host copies; with access an engine does.
    for peers in [false, true] {
        if peers {
            rt.allow_access(&[b], va).unwrap();
        }
        write(vb, &vec![0; 1_000_000]);
        wait_zero(start(&rt, (vb, b), (va, a), 1_000_000, &[]));
        assert!(read(vb, 1_000_000) == data);
    }
    let mut back = vec![0_u8; 1_000_000];
    // SAFETY: `back` lives until the unlock.
    let alias_back =
        unsafe { rt.lock(back.as_mut_ptr() as u64, back.len() as u64, &[], None, 0) }.unwrap();
    wait_zero(start(&rt, (alias_back, cpu), (vb, b), 1_000_000, &[]));
    assert!(back == data);
    rt.unlock(back.as_ptr() as u64).unwrap();
    rt.unlock(data.as_ptr() as u64).unwrap();
}

#[test]
fn swapped_agents_never_give_a_wrong_copy() {
    let rt = Open::new("gfx90a");
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    let (host, vram) = (rt.host_buffer(4096), rt.device_buffer(gpu, 4096));
    for (seed, (dst_agent, src_agent)) in
        (1..).zip([(cpu, cpu), (cpu, gpu), (gpu, cpu), (gpu, gpu)])
    {
        for (dst, src) in [
            (vram, host),
            (host, vram),
            (vram, vram + 2048),
            (host, host + 2048),
        ] {
            let data = pattern(1000, seed);
            write(src, &data);
            wait_zero(start(&rt, (dst, dst_agent), (src, src_agent), 1000, &[]));
            assert_eq!(read(dst, 1000), data);
        }
    }
}

#[test]
fn an_empty_copy_completes_and_a_null_one_is_refused() {
    let rt = Open::new("gfx90a");
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    wait_zero(start(&rt, (0, gpu), (0, cpu), 0, &[]));
    let request = CopyRequest {
        dst: 0,
        dst_agent: gpu,
        src: 0,
        src_agent: cpu,
        size: 8,
        deps: &[],
        completion: None,
    };
    assert_eq!(
        // SAFETY: refused before anything is touched.
        unsafe { rt.async_copy(&request) }.unwrap_err(),
        Error::InvalidArgument
    );
}

#[test]
fn rectangles_of_any_pitch_equal_a_host_loop() {
    let rt = Open::new("gfx90a");
    let (host, vram) = (
        rt.host_buffer(8 << 20),
        rt.device_buffer(rt.gpu(0), 8 << 20),
    );
    let cases = [
        ([1, 1, 1], 1, 1, 5, 9),
        ([7, 5, 3], 9, 45, 11, 99),
        ([64, 33, 2], 64, 64 * 33, 64, 64 * 33),
        ([513, 100, 1], 1000, 0, 513, 0),
        ([3, 4096, 1], 5, 0, 777, 0),
    ];
    for ([x, y, z], src_pitch, src_slice, dst_pitch, dst_slice) in cases {
        let data = pattern(4 << 20, 5);
        write(host, &data);
        write(vram, &vec![0xaa; 4 << 20]);
        let mut expected = vec![0xaa_u8; 4 << 20];
        for slice in 0..z as usize {
            for row in 0..y as usize {
                for column in 0..x as usize {
                    let from = 2 + column + (1 + row) * src_pitch + slice * src_slice;
                    let to = 1 + column + row * dst_pitch + slice * dst_slice;
                    expected[to] = data[from];
                }
            }
        }
        let rect = RectCopy {
            dst: PitchedPtr {
                base: vram,
                pitch: dst_pitch as u64,
                slice: dst_slice as u64,
            },
            dst_offset: [0; 3],
            src: PitchedPtr {
                base: host,
                pitch: src_pitch as u64,
                slice: src_slice as u64,
            },
            src_offset: [0; 3],
            range: [x, y, z],
        };
        // Offsets in x need room in the pitch, so they are part of the bases here.
        let rect = RectCopy {
            dst: PitchedPtr {
                base: vram + 1,
                ..rect.dst
            },
            src: PitchedPtr {
                base: host + 2 + src_pitch as u64,
                ..rect.src
            },
            ..rect
        };
        let done = rt.create_signal(1, &[], 0).unwrap();
        // SAFETY: both buffers are large enough and live until the end.
        unsafe { rt.async_copy_rect(&rect, rt.gpu(0), Direction::HostToDevice, &[], Some(done)) }
            .unwrap();
        wait_zero(done);
        assert!(read(vram, 4 << 20) == expected, "{x}x{y}x{z}");
    }
}

#[test]
fn copy_times_lie_within_the_call_and_rise() {
    let rt = Open::new("gfx90a");
    rt.set_copy_profiling(true).unwrap();
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    let (host, vram) = (rt.host_buffer(1 << 20), rt.device_buffer(gpu, 1 << 20));
    let mut last = 0;
    for (dst, src) in [
        ((vram, gpu), (host, cpu)),
        ((host, cpu), (vram, gpu)),
        ((host, cpu), (host + 4096, cpu)),
    ] {
        let before = hsa_core::system::timestamp();
        let done = start(&rt, dst, src, 4096, &[]);
        wait_zero(done);
        let after = hsa_core::system::timestamp();
        let times = rt.copy_time(done).unwrap();
        // The device clock counts 10 ns.
        assert!(
            times.start + 20 >= before && times.end <= after + 20,
            "{before} {times:?} {after}"
        );
        assert!(times.start <= times.end && times.start >= last);
        last = times.start;
    }
    rt.set_copy_profiling(false).unwrap();
    let done = start(&rt, (vram, gpu), (host, cpu), 4096, &[]);
    wait_zero(done);
    assert_eq!(rt.copy_time(done).unwrap_err(), Error::Generic);
}

#[test]
fn engines_are_reported_idle_and_can_be_named() {
    let rt = Open::new("gfx90a");
    let (cpu, gpu) = (rt.cpu(), rt.gpu(0));
    assert_eq!(rt.copy_engine_status(cpu, gpu).unwrap(), 3);
    assert_eq!(
        rt.copy_engine_status(cpu, cpu).unwrap_err(),
        Error::InvalidAgent
    );
    assert_eq!(rt.preferred_copy_engine(gpu, cpu).unwrap().count_ones(), 1);
    let (host, vram) = (rt.host_buffer(4096), rt.device_buffer(gpu, 4096));
    write(host, &[9; 4096]);
    let done = rt.create_signal(1, &[], 0).unwrap();
    let request = CopyRequest {
        dst: vram,
        dst_agent: gpu,
        src: host,
        src_agent: cpu,
        size: 4096,
        deps: &[],
        completion: Some(done),
    };
    // SAFETY: the buffers live until the end.
    unsafe { rt.async_copy_on_engine(&request, 2, false) }.unwrap();
    wait_zero(done);
    assert_eq!(read(vram, 4096), [9; 4096]);
    assert_eq!(
        // SAFETY: refused before anything is touched.
        unsafe { rt.async_copy_on_engine(&request, 3, false) }.unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(
        // SAFETY: as above.
        unsafe { rt.async_copy_on_engine(&request, 1 << 20, false) }.unwrap_err(),
        Error::InvalidArgument
    );
}
