//! Global, flat, private and buffer accesses, their rights and their faults.

use amdgpu_exec::step::HostLevel;
use amdgpu_exec::testing::{TestGpu, assemble};
use amdgpu_exec::wave::Wave;
use amdgpu_exec::{Access, FaultReason, Stop, WaveLocation};
use amdgpu_isa::Target::{self, Gfx90a, Gfx1030};

type Stopped = Box<(Stop, WaveLocation, Wave)>;

fn run(
    gpu: &TestGpu,
    lanes: u8,
    asm: &str,
    setup: impl FnOnce(&mut Wave),
) -> Option<Result<Wave, Stopped>> {
    run_at(HostLevel::detect(), gpu, lanes, asm, setup)
}

fn run_at(
    level: HostLevel,
    gpu: &TestGpu,
    lanes: u8,
    asm: &str,
    setup: impl FnOnce(&mut Wave),
) -> Option<Result<Wave, Stopped>> {
    let code = assemble(gpu.target, lanes, asm)?;
    let run = gpu.run_wave(&code, lanes, level, |wave, _| setup(wave));
    Some(run.map(|(wave, _)| wave))
}

/// The fall-back and the best level of this host.
fn levels() -> [HostLevel; 2] {
    [HostLevel::Base, HostLevel::detect()]
}

fn finish(run: Result<Wave, Stopped>) -> Wave {
    run.unwrap_or_else(|stop| panic!("{:?} at {:?}", stop.0, stop.1))
}

fn set_address(wave: &mut Wave, register: u16, lane: usize, va: u64) {
    wave.set_lane(register, lane, u32::try_from(va & 0xffff_ffff).unwrap());
    wave.set_lane(register + 1, lane, u32::try_from(va >> 32).unwrap());
}

fn number(lane: usize) -> u32 {
    u32::try_from(lane).unwrap()
}

/// Every shape of addresses gives the same values: consecutive, reversed, one for all, partial.
#[test]
fn loads_agree_whatever_the_address_pattern() {
    /// Name, byte offset of a lane, active lanes.
    type Pattern = (&'static str, fn(usize) -> u64, u64);
    let patterns: [Pattern; 5] = [
        ("consecutive", |lane| 16 * lane as u64, u64::MAX),
        ("reversed", |lane| 16 * (63 - lane as u64), u64::MAX),
        ("uniform", |_| 64, u64::MAX),
        ("partial", |lane| 16 * lane as u64, 0x0f0f_0000_ffff_fff1),
        (
            "scattered",
            |lane| 16 * (lane as u64 * 37 % 64) + 4,
            u64::MAX,
        ),
    ];
    let asm = "global_load_dword v4, v[2:3], off\n\
               global_load_dwordx2 v[6:7], v[2:3], off offset:4\n\
               global_load_dwordx4 v[8:11], v[2:3], off\n\
               global_load_dword v12, v1, s[2:3] offset:8\n\
               flat_load_dwordx3 v[14:16], v[2:3]\n\
               global_load_ubyte v17, v[2:3], off\n\
               global_load_sshort v18, v[2:3], off\n\
               s_waitcnt vmcnt(0)\n";
    let targets = [Gfx90a, Gfx1030];
    for (target, level) in targets
        .into_iter()
        .flat_map(|t| levels().map(|level| (t, level)))
    {
        let gpu = TestGpu::new(target);
        let va = gpu.memory.allocate(4096, false, false);
        let words: Vec<u32> = (0..1024).map(|i| 0x8001_f000 + 3 * i).collect();
        gpu.memory.write32(va, &words);
        for (name, offset, exec) in patterns {
            let setup = |wave: &mut Wave| {
                wave.set_exec(exec);
                wave.set_scalar64(2, va);
                for lane in 0..64 {
                    set_address(wave, 2, lane, va + offset(lane));
                    wave.set_lane(1, lane, u32::try_from(offset(lane)).unwrap());
                }
            };
            let Some(result) = run_at(level, &gpu, 64, asm, setup) else {
                return;
            };
            let wave = finish(result);
            for lane in 0..64 {
                let active = exec >> lane & 1 != 0;
                let word = |i: usize| {
                    let at = usize::try_from(offset(lane) / 4).unwrap() + i;
                    if active { words[at] } else { 0 }
                };
                let got = |register| wave.lane(register, lane);
                assert_eq!(got(4), word(0), "{name} {lane}");
                assert_eq!([got(6), got(7)], [word(1), word(2)], "{name} {lane}");
                assert_eq!(
                    [8, 9, 10, 11].map(got),
                    [0, 1, 2, 3].map(word),
                    "{name} {lane}"
                );
                assert_eq!(got(12), word(2), "{name} {lane}");
                assert_eq!([14, 15, 16].map(got), [0, 1, 2].map(word), "{name} {lane}");
                assert_eq!(got(17), word(0) & 0xff, "{name} {lane}");
                let half = word(0) << 16;
                assert_eq!(
                    got(18),
                    (half.cast_signed() >> 16).cast_unsigned(),
                    "{name} {lane}"
                );
            }
        }
    }
}

#[test]
fn stores_write_active_lanes_only() {
    let asm = "global_store_dword v1, v4, s[2:3]\n\
               global_store_dwordx2 v1, v[4:5], s[2:3] offset:2048\n\
               global_store_byte v1, v4, s[2:3] offset:1024\n\
               global_store_short_d16_hi v1, v5, s[2:3] offset:1026\n";
    let masks = [u64::MAX, 0x5555_5555_5555_5555, 1 << 63];
    for (exec, level) in masks
        .into_iter()
        .flat_map(|mask| levels().map(|level| (mask, level)))
    {
        let gpu = TestGpu::new(Gfx90a);
        let va = gpu.memory.allocate(8192, true, false);
        let setup = |wave: &mut Wave| {
            wave.set_exec(exec);
            wave.set_scalar64(2, va);
            for lane in 0..64 {
                wave.set_lane(1, lane, 8 * number(lane));
                wave.set_lane(4, lane, 1000 + number(lane));
                wave.set_lane(5, lane, (2000 + number(lane)) << 16);
            }
        };
        let Some(result) = run_at(level, &gpu, 64, asm, setup) else {
            return;
        };
        finish(result);
        let memory = gpu.memory.read32(va, 2048);
        for lane in 0..64 {
            let active = u32::from(exec >> lane & 1 != 0);
            let (low, high) = (1000 + number(lane), 2000 + number(lane));
            assert_eq!(memory[2 * lane], active * low);
            assert_eq!(memory[512 + 2 * lane], active * low);
            assert_eq!(memory[513 + 2 * lane], active * (high << 16));
            assert_eq!(memory[256 + 2 * lane], active * (low & 0xff | high << 16));
        }
    }
}

#[test]
fn a_fault_names_lane_address_and_pc() {
    for (target, lanes, bad) in [(Gfx90a, 64, 37), (Gfx1030, 32, 5)] {
        let gpu = TestGpu::new(target);
        let va = gpu.memory.allocate(4096, false, false);
        let asm = "v_mov_b32 v9, 0\nglobal_load_dword v4, v[2:3], off\ns_waitcnt vmcnt(0)\n";
        let setup = |wave: &mut Wave| {
            for lane in 0..usize::from(lanes) {
                set_address(wave, 2, lane, va);
            }
            set_address(wave, 2, bad, va + 4096 * 16 + 12);
        };
        let Some(result) = run(&gpu, lanes, asm, setup) else {
            return;
        };
        let Err(stopped) = result else {
            panic!("the load must fault")
        };
        let Stop::MemoryFault(fault) = stopped.0 else {
            panic!("{:?}", stopped.0)
        };
        assert_eq!(fault.gpu_va, va + 4096 * 16 + 12);
        assert_eq!(
            (fault.access, fault.reason),
            (Access::Read, FaultReason::NotPresent)
        );
        assert_eq!(stopped.1.lane, number(bad));
        // v_mov_b32 has four bytes.
        assert_eq!(stopped.1.pc % 256, 4);
    }
}

#[test]
fn rights_are_checked_per_direction() {
    let gpu = TestGpu::new(Gfx90a);
    let read_only = gpu.memory.allocate(4096, false, false);
    let asm = "global_load_dword v4, v1, s[2:3]\nglobal_store_dword v1, v4, s[2:3]\n";
    let setup = |wave: &mut Wave| {
        wave.set_scalar64(2, read_only);
        for lane in 0..64 {
            wave.set_lane(1, lane, 4 * number(lane));
        }
    };
    let Some(Err(stopped)) = run(&gpu, 64, asm, setup) else {
        return;
    };
    let Stop::MemoryFault(fault) = &stopped.0 else {
        panic!("{:?}", stopped.0)
    };
    assert_eq!(
        (fault.access, fault.reason),
        (Access::Write, FaultReason::ReadOnly)
    );
    assert_eq!(fault.gpu_va, read_only);
    // Code without the execute right.
    let jump = |wave: &mut Wave| wave.set_scalar64(2, read_only);
    let Some(Err(stopped)) = run(&gpu, 64, "s_setpc_b64 s[2:3]\n", jump) else {
        panic!()
    };
    let Stop::MemoryFault(fault) = &stopped.0 else {
        panic!("{:?}", stopped.0)
    };
    assert_eq!(
        (fault.access, fault.reason),
        (Access::Execute, FaultReason::NoExecute)
    );
    assert_eq!(stopped.1.pc, read_only);
}

#[test]
fn atomics_return_old_values_in_lane_order() {
    let asm = "v_mov_b32 v1, 0\n\
               global_atomic_add v4, v1, v5, s[2:3] glc\n\
               global_atomic_umax v1, v6, s[2:3] offset:4\n\
               global_atomic_cmpswap v7, v6, v[8:9], s[2:3] offset:64 glc\n\
               global_atomic_add_x2 v1, v[10:11], s[2:3] offset:8\n\
               global_atomic_dec v12, v1, v13, s[2:3] offset:16 glc\n\
               s_waitcnt vmcnt(0)\n";
    for target in [Gfx90a, Gfx1030] {
        let gpu = TestGpu::new(target);
        let va = gpu.memory.allocate(4096, true, false);
        let setup = |wave: &mut Wave| {
            wave.set_scalar64(2, va);
            for lane in 0..64 {
                wave.set_lane(5, lane, 2);
                wave.set_lane(6, lane, 4 * number(lane));
                // New value, then the value that memory must hold.
                wave.set_lane(8, lane, 77);
                wave.set_lane(9, lane, if lane == 3 { 1 } else { 0 });
                wave.set_lane(10, lane, u32::MAX);
                wave.set_lane(13, lane, 4);
            }
        };
        let Some(result) = run(&gpu, 64, asm, setup) else {
            return;
        };
        let wave = finish(result);
        for lane in 0..64 {
            assert_eq!(wave.lane(4, lane), 2 * number(lane));
            assert_eq!(wave.lane(7, lane), 0);
            // 0 wraps to 4, then down again.
            assert_eq!(wave.lane(12, lane), [0, 4, 3, 2, 1][lane % 5]);
        }
        let memory = gpu.memory.read32(va, 256);
        assert_eq!(memory[..4], [128, 252, 64u32.wrapping_neg(), 63]);
        assert_eq!(memory[16..21], [77, 77, 77, 0, 77]);
    }
}

#[test]
fn float_atomics_add_in_order() {
    let asm = "v_mov_b32 v1, 0\n\
               global_atomic_add_f32 v1, v4, s[2:3]\n\
               global_atomic_add_f64 v1, v[6:7], s[2:3] offset:8\n\
               global_atomic_pk_add_f16 v1, v5, s[2:3] offset:4\n\
               global_atomic_max_f64 v1, v[6:7], s[2:3] offset:16\n";
    let gpu = TestGpu::new(Gfx90a);
    let va = gpu.memory.allocate(4096, true, false);
    let setup = |wave: &mut Wave| {
        wave.set_scalar64(2, va);
        for lane in 0..64 {
            wave.set_lane(4, lane, 0.25f32.to_bits());
            // f16 1.0 and 0.5.
            wave.set_lane(5, lane, 0x3800_3c00);
            let double = f64::from(number(lane)).to_bits();
            set_address(wave, 6, lane, double);
        }
    };
    let Some(result) = run(&gpu, 64, asm, setup) else {
        return;
    };
    finish(result);
    let memory = gpu.memory.read32(va, 6);
    assert_eq!(f32::from_bits(memory[0]), 16.0);
    // f16 64.0 and 32.0.
    assert_eq!(memory[1], 0x5000_5400);
    let double = |i: usize| f64::from_bits(u64::from(memory[i]) | u64::from(memory[i + 1]) << 32);
    assert_eq!((double(2), double(4)), (2016.0, 63.0));
}

#[test]
fn misaligned_atomics_are_refused() {
    let gpu = TestGpu::new(Gfx90a);
    let va = gpu.memory.allocate(4096, true, false);
    let asm = "v_mov_b32 v1, 2\nglobal_atomic_add v1, v4, s[2:3]\n";
    let Some(Err(stopped)) = run(&gpu, 64, asm, |wave| wave.set_scalar64(2, va)) else {
        return;
    };
    assert_eq!(stopped.0, Stop::ApertureViolation { gpu_va: va + 2 });
}

/// The scratch instructions, the swizzled buffer and the flat private aperture see one memory.
fn private_round_trip(target: Target, lanes: u8) {
    let asm = "scratch_store_dword v1, v4, off\n\
               buffer_load_dword v5, v1, s[0:3], 0 offen\n\
               flat_load_dword v6, v[2:3]\n\
               buffer_store_dword v7, off, s[0:3], s20 offset:16\n\
               scratch_load_dword v8, off, s21\n\
               flat_store_byte v[2:3], v9\n\
               scratch_load_dword v10, v1, off\n\
               s_waitcnt vmcnt(0)\n";
    let gpu = TestGpu::new(target);
    let setup = |wave: &mut Wave| {
        // One dword row of unswizzled offset, then 16 bytes: private offset 4 + 16.
        wave.set_scalar(20, 4 * u32::from(lanes));
        wave.set_scalar(21, 20);
        for lane in 0..usize::from(lanes) {
            // Lanes use different private offsets, all multiples of 4 from 32 on.
            let offset = 32 + 4 * (number(lane) % 8);
            wave.set_lane(1, lane, offset);
            wave.set_lane(4, lane, 0xaa00_0000 | number(lane));
            set_address(wave, 2, lane, (2 << 48) + u64::from(offset));
            wave.set_lane(7, lane, 500 + number(lane));
            wave.set_lane(9, lane, 0xee);
        }
    };
    let Some(result) = run(&gpu, lanes, asm, setup) else {
        return;
    };
    let wave = finish(result);
    for lane in 0..usize::from(lanes) {
        let stored = 0xaa00_0000 | number(lane);
        assert_eq!(wave.lane(5, lane), stored);
        assert_eq!(wave.lane(6, lane), stored);
        assert_eq!(wave.lane(8, lane), 500 + number(lane));
        assert_eq!(wave.lane(10, lane), 0xaa00_00ee);
    }
}

#[test]
fn all_ways_to_private_memory_agree() {
    private_round_trip(Gfx90a, 64);
    private_round_trip(Gfx1030, 32);
    private_round_trip(Gfx1030, 64);
}

#[test]
fn private_accesses_past_the_segment_fault() {
    // 256 bytes per work-item.
    let gpu = TestGpu::new(Gfx90a);
    let asm = "v_mov_b32 v1, 0x100\nscratch_load_dword v5, v1, off\n";
    let Some(Err(stopped)) = run(&gpu, 64, asm, |_| {}) else {
        return;
    };
    let Stop::MemoryFault(fault) = &stopped.0 else {
        panic!("{:?}", stopped.0)
    };
    assert_eq!(fault.gpu_va, (2 << 48) + 256);
}

#[test]
fn flat_addresses_in_the_shared_aperture_are_lds() {
    let asm = "v_mov_b32 v1, 8\n\
               ds_write_b32 v1, v4\n\
               s_mov_b64 s[2:3], src_shared_base\n\
               v_mov_b32 v2, 8\n\
               v_mov_b32 v3, s3\n\
               flat_load_dword v5, v[2:3]\n\
               flat_atomic_add v6, v[2:3], v7 glc\n\
               s_waitcnt vmcnt(0) lgkmcnt(0)\n";
    for target in [Gfx90a, Gfx1030] {
        let gpu = TestGpu::new(target);
        let setup = |wave: &mut Wave| {
            for lane in 0..64 {
                wave.set_lane(4, lane, 1000);
                wave.set_lane(7, lane, 1);
            }
        };
        let Some(result) = run(&gpu, 64, asm, setup) else {
            return;
        };
        let wave = finish(result);
        for lane in 0..64 {
            assert_eq!(wave.lane(5, lane), 1000);
            assert_eq!(wave.lane(6, lane), 1000 + number(lane));
        }
    }
}

#[test]
fn raw_buffers_read_zero_past_their_end() {
    let asm = "buffer_load_dword v4, v1, s[8:11], 0 offen\n\
               buffer_load_dwordx2 v[6:7], v1, s[8:11], s12 offen offset:4\n\
               buffer_store_dword v5, v1, s[8:11], 0 offen\n\
               s_waitcnt vmcnt(0)\n";
    let gpu = TestGpu::new(Gfx90a);
    let va = gpu.memory.allocate(4096, true, false);
    let words: Vec<u32> = (1..1025).collect();
    gpu.memory.write32(va, &words);
    let setup = |wave: &mut Wave| {
        wave.set_scalar64(8, va);
        wave.set_scalar(10, 128);
        wave.set_scalar(12, 256);
        for lane in 0..64 {
            wave.set_lane(1, lane, 4 * number(lane));
            wave.set_lane(4, lane, 9);
            wave.set_lane(5, lane, 5000);
        }
    };
    let Some(result) = run(&gpu, 64, asm, setup) else {
        return;
    };
    let wave = finish(result);
    let memory = gpu.memory.read32(va, 64);
    for lane in 0..64usize {
        assert_eq!(wave.lane(4, lane), if lane < 32 { words[lane] } else { 0 });
        // The scalar offset is not part of the range check.
        let word = |i: usize| if i < 32 { words[64 + i] } else { 0 };
        assert_eq!(
            [wave.lane(6, lane), wave.lane(7, lane)],
            [word(lane + 1), word(lane + 2)]
        );
        assert_eq!(memory[lane], if lane < 32 { 5000 } else { words[lane] });
    }
}

#[test]
fn scalar_buffer_loads_clamp_to_the_records() {
    let asm = "s_buffer_load_dwordx4 s[12:15], s[8:11], 0x8\n\
               s_load_dwordx8 s[16:23], s[2:3], 0x4\n\
               s_mov_b32 s4, 12\n\
               s_load_dword s5, s[2:3], s4\n\
               s_waitcnt lgkmcnt(0)\n";
    for target in [Gfx90a, Gfx1030] {
        let gpu = TestGpu::new(target);
        let va = gpu.memory.allocate(4096, false, false);
        gpu.memory.write32(va, &(1..100).collect::<Vec<u32>>());
        let setup = |wave: &mut Wave| {
            wave.set_scalar64(2, va);
            wave.set_scalar64(8, va);
            wave.set_scalar(10, 16);
        };
        let Some(result) = run(&gpu, 64, asm, setup) else {
            return;
        };
        let wave = finish(result);
        assert_eq!([12, 13, 14, 15].map(|i| wave.scalar(i)), [3, 4, 0, 0]);
        assert_eq!([16, 19, 23].map(|i| wave.scalar(i)), [2, 5, 9]);
        assert_eq!(wave.scalar(5), 4);
    }
}

#[test]
fn an_access_across_two_mappings_is_split() {
    let gpu = TestGpu::new(Gfx90a);
    let va = gpu.memory.allocate(4096, false, false);
    let asm = "global_load_dword v4, v1, s[2:3]\ns_waitcnt vmcnt(0)\n";
    let setup = |wave: &mut Wave| {
        wave.set_scalar64(2, va + 4094);
        wave.set_exec(1);
    };
    let Some(Err(stopped)) = run(&gpu, 64, asm, setup) else {
        return;
    };
    let Stop::MemoryFault(fault) = &stopped.0 else {
        panic!("{:?}", stopped.0)
    };
    assert_eq!(fault.gpu_va, va + 4096);
}
