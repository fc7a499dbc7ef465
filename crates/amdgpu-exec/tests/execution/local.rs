//! LDS: widths, range rule, atomics, and lane permutations.

use amdgpu_exec::memory::lds::Lds;
use amdgpu_exec::step::HostLevel;
use amdgpu_exec::testing::{TestGpu, assemble};
use amdgpu_exec::wave::Wave;
use amdgpu_isa::Target::{self, Gfx90a, Gfx1030};

fn run(
    target: Target,
    lanes: u8,
    asm: &str,
    setup: impl FnOnce(&mut Wave, &mut Lds),
) -> Option<(Wave, Lds)> {
    let code = assemble(target, lanes, asm)?;
    let gpu = TestGpu::new(target);
    let run = gpu.run_wave(&code, lanes, HostLevel::detect(), setup);
    Some(run.unwrap_or_else(|stop| panic!("{:?} at {:?}", stop.0, stop.1)))
}

/// v0 = 4 * lane, v1 = 100 + lane.
fn lanes(wave: &mut Wave) {
    for lane in 0..wave.lanes() {
        let number = u32::try_from(lane).unwrap();
        wave.set_lane(0, lane, 4 * number);
        wave.set_lane(1, lane, 100 + number);
        wave.set_lane(2, lane, 200 + number);
    }
}

#[test]
fn widths_and_offsets_reach_the_same_bytes() {
    let asm = "ds_write_b32 v0, v1 offset:16\n\
               ds_read_u8 v3, v0 offset:16\n\
               ds_read_i8 v4, v0 offset:17\n\
               ds_read_b64 v[6:7], v0 offset:16\n\
               ds_read2_b32 v[8:9], v0 offset0:4 offset1:5\n\
               ds_read_u16_d16_hi v1, v0 offset:16\n\
               s_waitcnt lgkmcnt(0)\n";
    for (target, size) in [(Gfx90a, 64), (Gfx1030, 32)] {
        let Some((wave, _)) = run(target, size, asm, |wave, _| lanes(wave)) else {
            return;
        };
        for lane in 0..usize::from(size) - 1 {
            let value = 100 + u32::try_from(lane).unwrap();
            assert_eq!(wave.lane(3, lane), value);
            assert_eq!(wave.lane(4, lane), 0);
            assert_eq!((wave.lane(6, lane), wave.lane(7, lane)), (value, value + 1));
            assert_eq!((wave.lane(8, lane), wave.lane(9, lane)), (value, value + 1));
            assert_eq!(wave.lane(1, lane), value | value << 16);
        }
    }
}

#[test]
fn accesses_past_the_allocation_read_zero_and_write_nothing() {
    // 4096 bytes are allocated: the last lanes of these accesses lie outside.
    let asm = "v_add_u32 v3, 4000, v0\n\
               ds_write_b32 v3, v1\n\
               ds_read_b32 v4, v3\n\
               ds_add_rtn_u32 v5, v3, v1\n\
               v_mov_b32 v6, -1\n\
               ds_read_b64 v[6:7], v3\n\
               s_waitcnt lgkmcnt(0)\n";
    let Some((wave, _)) = run(Gfx90a, 64, asm, |wave, _| lanes(wave)) else {
        return;
    };
    for lane in 0..64 {
        let value = 100 + u32::try_from(lane).unwrap();
        let expected = if lane < 24 { value } else { 0 };
        assert_eq!(wave.lane(4, lane), expected);
        assert_eq!(wave.lane(5, lane), expected);
        // The 64-bit element of lane 23 is cut off, so all of it reads as zero.
        assert_eq!(wave.lane(6, lane), if lane < 23 { 2 * value } else { 0 });
    }
}

#[test]
fn atomics_on_one_address_happen_lane_after_lane() {
    let asm = "v_mov_b32 v3, 64\n\
               v_mov_b32 v4, 1\n\
               ds_add_rtn_u32 v5, v3, v4\n\
               ds_max_u32 v3, v1 offset:4\n\
               ds_add_f32 v3, v6 offset:8\n\
               ds_inc_rtn_u32 v7, v3, v8 offset:12\n\
               ds_or_b64 v3, v[0:1] offset:16\n\
               s_waitcnt lgkmcnt(0)\n";
    let setup = |wave: &mut Wave, _: &mut Lds| {
        lanes(wave);
        for lane in 0..64 {
            wave.set_lane(6, lane, 0.5f32.to_bits());
            wave.set_lane(8, lane, 9);
        }
    };
    let Some((wave, lds)) = run(Gfx90a, 64, asm, setup) else {
        return;
    };
    for lane in 0..64 {
        let number = u32::try_from(lane).unwrap();
        assert_eq!(wave.lane(5, lane), number);
        // Counts 0..=9 and starts again.
        assert_eq!(wave.lane(7, lane), number % 10);
    }
    assert_eq!(lds.read32(64), 64);
    assert_eq!(lds.read32(68), 163);
    assert_eq!(f32::from_bits(lds.read32(72)), 32.0);
    assert_eq!(lds.read32(80), 0xfc);
}

#[test]
fn compare_and_store_takes_the_comparison_first() {
    let asm = "ds_write_b32 v0, v1\n\
               ds_cmpst_rtn_b32 v3, v0, v4, v2\n\
               ds_read_b32 v5, v0\n\
               s_waitcnt lgkmcnt(0)\n";
    let setup = |wave: &mut Wave, _: &mut Lds| {
        lanes(wave);
        for lane in 0..64 {
            let number = u32::try_from(lane).unwrap();
            // Even lanes expect what is there.
            wave.set_lane(4, lane, if lane % 2 == 0 { 100 + number } else { 0 });
        }
    };
    let Some((wave, _)) = run(Gfx90a, 64, asm, setup) else {
        return;
    };
    for lane in 0..64 {
        let number = u32::try_from(lane).unwrap();
        assert_eq!(wave.lane(3, lane), 100 + number);
        assert_eq!(
            wave.lane(5, lane),
            if lane % 2 == 0 { 200 } else { 100 } + number
        );
    }
}

#[test]
fn permutations_ignore_inactive_sources() {
    // Lanes 0..48 are active; each reads from the lane opposite.
    let asm = "v_sub_u32 v3, 252, v0\n\
               ds_bpermute_b32 v4, v3, v1\n\
               ds_permute_b32 v5, v3, v1\n\
               s_waitcnt lgkmcnt(0)\n";
    let setup = |wave: &mut Wave, _: &mut Lds| {
        lanes(wave);
        wave.set_exec(0xffff_ffff_ffff);
    };
    let Some((wave, _)) = run(Gfx90a, 64, asm, setup) else {
        return;
    };
    for lane in 0..48 {
        let opposite = 63 - u32::try_from(lane).unwrap();
        let expected = if opposite < 48 { 100 + opposite } else { 0 };
        assert_eq!(wave.lane(4, lane), expected);
        assert_eq!(wave.lane(5, lane), expected);
    }
    assert_eq!(wave.lane(4, 50), 0, "inactive lanes keep their value");
}

#[test]
fn swizzle_modes_follow_the_manual() {
    let asm = "ds_swizzle_b32 v3, v1 offset:swizzle(QUAD_PERM, 1, 0, 3, 2)\n\
               ds_swizzle_b32 v4, v1 offset:swizzle(SWAP, 16)\n\
               ds_swizzle_b32 v5, v1 offset:swizzle(BROADCAST, 8, 3)\n\
               ds_swizzle_b32 v6, v1 offset:swizzle(REVERSE, 4)\n\
               s_waitcnt lgkmcnt(0)\n";
    let Some((wave, _)) = run(Gfx90a, 64, asm, |wave, _| lanes(wave)) else {
        return;
    };
    for lane in 0..64u32 {
        let at = |register| wave.lane(register, usize::try_from(lane).unwrap());
        assert_eq!(at(3), 100 + (lane ^ 1));
        assert_eq!(at(4), 100 + (lane ^ 16));
        assert_eq!(at(5), 100 + (lane & !7 | 3));
        assert_eq!(at(6), 100 + (lane ^ 3));
    }
}

#[test]
fn append_counts_active_lanes() {
    let asm = "s_mov_b32 m0, 0x1000000\nds_append v3 offset:4\nds_append v4 offset:4\n\
               ds_consume v5 offset:4\ns_waitcnt lgkmcnt(0)\n";
    let setup = |wave: &mut Wave, _: &mut Lds| wave.set_exec(0xff);
    let Some((wave, lds)) = run(Gfx90a, 64, asm, setup) else {
        return;
    };
    assert_eq!([3, 4, 5].map(|register| wave.lane(register, 7)), [0, 8, 16]);
    assert_eq!(lds.read32(0x104), 8);
}
