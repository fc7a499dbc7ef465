//! What a wave finds in its registers, and refused dispatches.

use amdgpu_exec::testing::{TestGpu, TestKernel, assemble};
use amdgpu_exec::{Outcome, Stats, Stop};
use amdgpu_isa::Target::{Gfx90a, Gfx1030};

/// Stores a value per work-item at out + 4 * (group * size + lane); the value is in v5.
const STORE: &str = "\
    s_load_dwordx2 s[8:9], s[4:5], 0x0\n\
    s_waitcnt lgkmcnt(0)\n\
    global_store_dword v4, v5, s[8:9]\n\
    s_endpgm\n";

fn run(
    target: amdgpu_isa::Target,
    lanes: u8,
    asm: &str,
    shape: ([u32; 3], [u16; 3]),
    bytes: u64,
) -> Option<(Vec<u32>, Stats)> {
    let code = assemble(target, lanes, &format!("{asm}{STORE}"))?;
    let gpu = TestGpu::new(target);
    let mut kernel = TestKernel::new(code);
    if lanes == 32 {
        kernel.properties |= 1 << 10;
    }
    let object = gpu.load(&kernel);
    let out = gpu.memory.allocate(bytes, true, false);
    let kernarg = gpu.memory.allocate(64, false, false);
    gpu.memory.write(kernarg, &out.to_le_bytes());
    let mut dispatch = gpu.dispatch(object, 1, 1);
    dispatch.kernarg_va = kernarg;
    (dispatch.grid, dispatch.workgroup) = shape;
    match gpu.run(&dispatch) {
        Outcome::Complete(stats) => Some((
            gpu.memory.read32(out, usize::try_from(bytes / 4).unwrap()),
            stats,
        )),
        stopped => panic!("{stopped:?}"),
    }
}

#[test]
fn partial_groups_have_only_existing_work_items() {
    // 150 work-items in groups of 100: the second group has 50, its wave 50 lanes.
    let asm = "s_mul_i32 s10, s6, 400\nv_lshlrev_b32 v4, 2, v0\nv_add_u32 v4, s10, v4\n\
               v_mov_b32 v5, 7\n";
    let shape = ([150, 1, 1], [100, 1, 1]);
    let Some((out, stats)) = run(Gfx90a, 64, asm, shape, 1024) else {
        return;
    };
    assert!(out[..150].iter().all(|&value| value == 7), "{out:?}");
    assert!(out[150..].iter().all(|&value| value == 0), "{out:?}");
    assert_eq!((stats.waves, stats.workgroups), (3, 2));
}

#[test]
fn gfx90a_packs_work_item_ids() {
    // Flat id 0..24 in a 4 x 3 x 2 group: recomputed from the packed fields.
    let asm = "v_and_b32 v1, 0x3ff, v0\nv_bfe_u32 v2, v0, 10, 10\nv_bfe_u32 v3, v0, 20, 10\n\
               v_mul_u32_u24 v4, v3, 12\nv_mul_u32_u24 v6, v2, 4\nv_add_u32 v4, v4, v6\n\
               v_add_u32 v4, v4, v1\nv_lshlrev_b32 v4, 2, v4\nv_mov_b32 v5, v0\n";
    let Some((out, _)) = run(Gfx90a, 64, asm, ([4, 3, 2], [4, 3, 2]), 4096) else {
        return;
    };
    for (flat, &value) in (0u32..24).zip(&out) {
        let (x, y, z) = (flat % 4, flat / 4 % 3, flat / 12);
        assert_eq!(value, x | y << 10 | z << 20);
    }
    assert_eq!(out[24], 0);
}

#[test]
fn gfx1030_has_work_item_ids_in_three_registers() {
    let asm = "v_mul_u32_u24 v4, v2, 12\nv_mul_u32_u24 v6, v1, 4\nv_add_nc_u32 v4, v4, v6\n\
               v_add_nc_u32 v4, v4, v0\nv_lshlrev_b32 v4, 2, v4\n\
               v_lshl_or_b32 v5, v1, 10, v0\nv_lshl_or_b32 v5, v2, 20, v5\n";
    for lanes in [32, 64] {
        let Some((out, _)) = run(Gfx1030, lanes, asm, ([4, 3, 12], [4, 3, 12]), 4096) else {
            return;
        };
        for (flat, &value) in (0u32..144).zip(&out) {
            let (x, y, z) = (flat % 4, flat / 4 % 3, flat / 12);
            assert_eq!(value, x | y << 10 | z << 20, "wave{lanes}");
        }
    }
}

#[test]
fn workgroup_ids_follow_the_user_registers() {
    let asm = "s_mul_i32 s10, s8, 6\ns_mul_i32 s11, s7, 2\ns_add_u32 s10, s10, s11\n\
               s_add_u32 s10, s10, s6\ns_lshl_b32 s10, s10, 2\nv_mov_b32 v4, s10\n\
               s_lshl_b32 s11, s7, 8\ns_or_b32 s11, s11, s6\ns_lshl_b32 s12, s8, 16\n\
               s_or_b32 s11, s11, s12\nv_mov_b32 v5, s11\n";
    let Some((out, stats)) = run(Gfx90a, 64, asm, ([2, 3, 4], [1, 1, 1]), 4096) else {
        return;
    };
    for (flat, &value) in (0u32..24).zip(&out) {
        let [x, y, z] = [flat % 2, flat / 2 % 3, flat / 6];
        assert_eq!(value, x | y << 8 | z << 16);
    }
    assert_eq!((stats.waves, stats.workgroups), (24, 24));
}

#[test]
fn impossible_dispatches_are_refused_with_the_limit() {
    let gpu = TestGpu::new(Gfx90a);
    let object = gpu.load(&TestKernel::new(vec![0, 0, 0x81, 0xbf]));
    let good = gpu.dispatch(object, 64, 64);
    assert!(matches!(gpu.run(&good), Outcome::Complete(_)));
    let refused = |change: &dyn Fn(&mut amdgpu_exec::api::Dispatch), word: &str| {
        let mut dispatch = good.clone();
        change(&mut dispatch);
        match gpu.run(&dispatch) {
            Outcome::Stopped {
                stop: Stop::InvalidDispatch { reason },
                ..
            } => {
                assert!(reason.contains(word), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    };
    refused(&|d| d.workgroup = [1024, 2, 1], "2048");
    refused(&|d| d.grid = [0, 1, 1], "zero");
    refused(&|d| d.group_segment_bytes = 65537, "65537");
    refused(&|d| d.private_segment_bytes = 1 << 20, "private");
    refused(&|d| d.kernel_object += 4, "aligned");
    // Wave32 does not exist on gfx90a: property bit 10.
    refused(&|d| d.descriptor[57] |= 1 << 2, "32 lanes");
    // Four buffer registers and two for the arguments do not fit in one.
    refused(&|d| d.descriptor[52] = 1 << 1, "user SGPRs");
}

#[test]
fn hw_id_names_different_units_for_resident_groups() {
    let asm = "s_getreg_b32 s10, hwreg(HW_REG_HW_ID)\nv_mov_b32 v5, s10\n\
               s_lshl_b32 s11, s6, 2\nv_mov_b32 v4, s11\n";
    let Some((out, _)) = run(Gfx90a, 64, asm, ([1, 1, 1], [1, 1, 1]), 4096) else {
        return;
    };
    assert_eq!(out[0] & 0x3f, 0, "first wave sits in slot 0 of SIMD 0");
}
