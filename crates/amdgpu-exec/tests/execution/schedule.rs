//! Barriers, divergence, spin locks and grid barriers make progress on any number of threads.

use amdgpu_exec::testing::{TestGpu, TestKernel, assemble};
use amdgpu_exec::{Config, Outcome, Stats, Stop};
use amdgpu_isa::Target::{self, Gfx90a, Gfx1030};

struct Run {
    out: Vec<u32>,
    stats: Stats,
    interrupts: Vec<u32>,
}

fn run(
    target: Target,
    config: Config,
    asm: &str,
    items: u32,
    workgroup: u16,
    cooperative: bool,
) -> Option<Run> {
    let code = assemble(target, 64, asm)?;
    let gpu = TestGpu::with_config(target, config);
    let object = gpu.load(&TestKernel::new(code));
    let out = gpu.memory.allocate(65536, true, false);
    let kernarg = gpu.memory.allocate(64, false, false);
    gpu.memory.write(kernarg, &out.to_le_bytes());
    let mut dispatch = gpu.dispatch(object, items, workgroup);
    dispatch.kernarg_va = kernarg;
    dispatch.cooperative = cooperative;
    match gpu.run(&dispatch) {
        Outcome::Complete(stats) => Some(Run {
            out: gpu.memory.read32(out, 16384),
            stats,
            interrupts: gpu.device.interrupts.lock().clone(),
        }),
        stopped => panic!("{stopped:?}"),
    }
}

const ONE: Config = Config {
    threads: 1,
    seed: 0,
};

/// s[8:9] = out.
const PROLOGUE: &str = "s_load_dwordx2 s[8:9], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n";

#[test]
fn a_barrier_orders_lds_between_waves() {
    // Each work-item writes its id and reads the one of the opposite wave.
    let asm = format!(
        "{PROLOGUE}v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\n\
         v_xor_b32 v2, 0x3fc, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n\
         global_store_dword v1, v3, s[8:9]\ns_endpgm\n"
    );
    for seed in 0..4 {
        for target in [Gfx90a, Gfx1030] {
            let config = Config { threads: 1, seed };
            let Some(run) = run(target, config, &asm, 256, 256, false) else {
                return;
            };
            for (i, &value) in (0u32..256).zip(&run.out) {
                assert_eq!(value, 255 - i);
            }
        }
    }
}

#[test]
fn divergent_lanes_take_both_sides_and_loops_end_per_lane() {
    // v3 = lane odd ? 3 * lane : number of halvings until zero.
    let asm = format!(
        "{PROLOGUE}v_lshlrev_b32 v1, 2, v0\nv_and_b32 v2, 1, v0\n\
         v_cmp_eq_u32 vcc, 1, v2\n\
         s_and_saveexec_b64 s[10:11], vcc\n\
         s_cbranch_execz even\n\
         v_mul_u32_u24 v3, 3, v0\n\
         even:\n\
         s_xor_b64 exec, exec, s[10:11]\n\
         s_cbranch_execz done\n\
         v_mov_b32 v3, 0\nv_mov_b32 v4, v0\ns_mov_b64 s[12:13], exec\n\
         loop:\n\
         v_cmp_ne_u32 vcc, 0, v4\n\
         s_and_b64 exec, exec, vcc\n\
         v_lshrrev_b32 v4, 1, v4\nv_add_u32 v3, 1, v3\n\
         s_cbranch_execnz loop\n\
         s_mov_b64 exec, s[12:13]\n\
         done:\n\
         s_mov_b64 exec, s[10:11]\n\
         global_store_dword v1, v3, s[8:9]\ns_endpgm\n"
    );
    let Some(run) = run(Gfx90a, ONE, &asm, 64, 64, false) else {
        return;
    };
    for (lane, &value) in (0u32..64).zip(&run.out) {
        let halvings = 32 - lane.leading_zeros();
        assert_eq!(value, if lane % 2 == 1 { 3 * lane } else { halvings });
    }
}

/// A lock in out[0] protects a counter in out[1] that is changed without atomics.
const LOCKED: &str = "\
    v_mov_b32 v1, 0\nv_mov_b32 v4, 1\nv_mov_b32 v5, 0\ns_mov_b64 exec, 1\n\
    acquire:\n\
    global_atomic_cmpswap v6, v1, v[4:5], s[8:9] glc\ns_waitcnt vmcnt(0)\n\
    v_cmp_ne_u32 vcc, 0, v6\n\
    s_cbranch_vccnz acquire\n\
    global_load_dword v7, v1, s[8:9] offset:4 glc\ns_waitcnt vmcnt(0)\n\
    SLEEP\
    v_add_u32 v7, 1, v7\n\
    global_store_dword v1, v7, s[8:9] offset:4\n\
    v_mov_b32 v8, 0\ns_waitcnt vmcnt(0)\n\
    global_atomic_swap v1, v8, s[8:9]\n\
    s_endpgm\n";

#[test]
fn a_lock_held_by_a_sleeping_group_is_released_to_spinning_ones() {
    // The holder sleeps with the lock; on one thread the others then spin on it.
    let asm = format!("{PROLOGUE}{}", LOCKED.replace("SLEEP", "s_sleep 1\n"));
    for threads in [1, 2, 4] {
        let config = Config { threads, seed: 0 };
        let Some(run) = run(Gfx90a, config, &asm, 64 * 20, 64, false) else {
            return;
        };
        assert_eq!(run.out[..2], [0, 20], "{threads} threads");
        assert_eq!(run.stats.workgroups, 20);
    }
}

#[test]
fn a_lock_between_waves_of_a_group_is_released() {
    let asm = format!("{PROLOGUE}{}", LOCKED.replace("SLEEP", "s_sleep 1\n"));
    let Some(run) = run(Gfx90a, ONE, &asm, 512, 512, false) else {
        return;
    };
    assert_eq!(run.out[..2], [0, 8]);
}

#[test]
fn groups_that_wait_for_later_groups_let_them_start() {
    // Group i waits until all groups have arrived, by spinning without sleep.
    let asm = format!(
        "{PROLOGUE}v_mov_b32 v1, 0\nv_mov_b32 v4, 1\ns_mov_b64 exec, 1\n\
         global_atomic_add v1, v4, s[8:9]\n\
         wait:\n\
         global_load_dword v5, v1, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
         v_cmp_gt_u32 vcc, 30, v5\n\
         s_cbranch_vccnz wait\n\
         s_endpgm\n"
    );
    for threads in [1, 2] {
        let config = Config { threads, seed: 0 };
        let Some(run) = run(Gfx90a, config, &asm, 64 * 30, 64, false) else {
            return;
        };
        assert_eq!(run.out[0], 30);
    }
}

#[test]
fn global_wave_sync_holds_the_whole_grid() {
    // Wave 0 of each group passes the barrier; then every group sees all arrivals. The resource is
    // initialised by the first group, before a device-wide flag is set.
    let asm = format!(
        "{PROLOGUE}v_mov_b32 v1, 0\nv_mov_b32 v4, 1\ns_mov_b64 exec, 1\n\
         s_cmp_lg_u32 s6, 0\n\
         s_cbranch_scc1 wait\n\
         v_mov_b32 v2, 199\ns_mov_b32 m0, 0\n\
         ds_gws_init v2 gds\ns_waitcnt lgkmcnt(0)\n\
         global_store_dword v1, v4, s[8:9] offset:8\n\
         wait:\n\
         s_sleep 1\n\
         global_load_dword v5, v1, s[8:9] offset:8 glc\ns_waitcnt vmcnt(0)\n\
         v_cmp_eq_u32 vcc, 0, v5\n\
         s_cbranch_vccnz wait\n\
         global_atomic_add v1, v4, s[8:9]\n\
         s_mov_b32 m0, 0\nv_mov_b32 v2, 0\n\
         ds_gws_barrier v2 gds\ns_waitcnt lgkmcnt(0)\n\
         global_load_dword v5, v1, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
         s_lshl_b32 s10, s6, 2\ns_add_u32 s10, s10, 64\nv_mov_b32 v6, s10\n\
         global_store_dword v6, v5, s[8:9]\n\
         s_endpgm\n"
    );
    for threads in [1, 2] {
        let config = Config { threads, seed: 0 };
        let Some(run) = run(Gfx90a, config, &asm, 64 * 200, 64, true) else {
            return;
        };
        assert_eq!(run.out[16..216], [200; 200], "{threads} threads");
    }
}

#[test]
fn many_groups_run_once_each_on_several_threads() {
    let asm = format!(
        "{PROLOGUE}s_lshl_b32 s10, s6, 2\nv_mov_b32 v1, s10\nv_mov_b32 v4, 1\ns_mov_b64 exec, 1\n\
         global_atomic_add v1, v4, s[8:9]\ns_endpgm\n"
    );
    let config = Config {
        threads: 4,
        seed: 7,
    };
    let Some(run) = run(Gfx90a, config, &asm, 64 * 16384, 64, false) else {
        return;
    };
    assert!(run.out.iter().all(|&count| count == 1));
    assert_eq!(run.stats.waves, 16384);
    // 6 + 2 + 4 instructions per wave, s_waitcnt included.
    assert_eq!(run.stats.wave_instructions, 16384 * 8);
}

#[test]
fn interrupts_reach_the_device_with_m0() {
    let asm = "s_mov_b32 m0, 42\ns_nop 0\ns_sendmsg sendmsg(MSG_INTERRUPT)\ns_endpgm\n";
    let Some(run) = run(Gfx90a, ONE, asm, 64, 64, false) else {
        return;
    };
    assert_eq!(run.interrupts, [42]);
}

fn stop(target: Target, code: Vec<u8>, prepare: impl FnOnce(&TestGpu)) -> (Stop, u64) {
    let gpu = TestGpu::new(target);
    let object = gpu.load(&TestKernel::new(code));
    prepare(&gpu);
    match gpu.run(&gpu.dispatch(object, 64, 64)) {
        Outcome::Stopped { stop, at } => (stop, at.pc.wrapping_sub(object + 256)),
        complete => panic!("{complete:?}"),
    }
}

#[test]
fn a_trap_stops_the_dispatch_with_its_id() {
    let Some(code) = assemble(Gfx90a, 64, "s_nop 0\ns_trap 3\ns_trap 2\ns_endpgm\n") else {
        return;
    };
    assert_eq!(stop(Gfx90a, code, |_| {}), (Stop::Trap { id: 2 }, 8));
}

#[test]
fn bytes_that_are_no_instruction_stop_the_dispatch() {
    // SOPP opcode 127 does not exist; s_nop before it runs.
    let code = [0xbf80_0000u32, 0xbfff_0000].map(u32::to_le_bytes).concat();
    let (stop, pc) = stop(Gfx90a, code, |_| {});
    assert!(
        matches!(stop, Stop::IllegalInstruction { ref bytes } if bytes[..4] == [0, 0, 0xff, 0xbf])
    );
    assert_eq!(pc, 4);
}

#[test]
fn a_cancelled_device_stops_endless_waves() {
    let Some(code) = assemble(Gfx90a, 64, "loop:\ns_branch loop\n") else {
        return;
    };
    let cancel = |gpu: &TestGpu| {
        gpu.device
            .cancelled
            .store(true, std::sync::atomic::Ordering::SeqCst);
    };
    assert_eq!(stop(Gfx90a, code, cancel).0, Stop::Killed);
}

#[test]
fn code_that_changed_between_dispatches_is_not_executed_stale() {
    let Some(first) = assemble(Gfx90a, 64, "s_trap 4\ns_endpgm\n") else {
        return;
    };
    let Some(second) = assemble(Gfx90a, 64, "s_trap 5\ns_endpgm\n") else {
        return;
    };
    let gpu = TestGpu::new(Gfx90a);
    let object = gpu.load(&TestKernel::new(first));
    let dispatch = gpu.dispatch(object, 64, 64);
    let trap = |outcome| match outcome {
        Outcome::Stopped {
            stop: Stop::Trap { id },
            ..
        } => id,
        other => panic!("{other:?}"),
    };
    assert_eq!(trap(gpu.run(&dispatch)), 4);
    gpu.memory.write(object + 256, &second);
    assert_eq!(trap(gpu.run(&dispatch)), 5);
}

#[test]
fn one_thread_and_one_seed_repeat_exactly() {
    // The order in which waves take tickets depends on scheduling only.
    let asm = format!(
        "{PROLOGUE}v_mov_b32 v1, 0\nv_mov_b32 v4, 1\ns_sleep 1\n\
         v_readfirstlane_b32 s10, v0\ns_mov_b64 exec, 1\n\
         global_atomic_add v5, v1, v4, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
         v_lshlrev_b32 v6, 2, v5\nv_mov_b32 v7, s10\n\
         global_store_dword v6, v7, s[8:9] offset:64\ns_endpgm\n"
    );
    let order = |seed| {
        let config = Config { threads: 1, seed };
        Some(run(Gfx90a, config, &asm, 1024, 512, false)?.out[16..32].to_vec())
    };
    let Some(natural) = order(0) else { return };
    assert_eq!(order(0).unwrap(), natural);
    assert_eq!(order(5).unwrap(), order(5).unwrap());
    assert!(
        (1..5).any(|seed| order(seed).unwrap() != natural),
        "a seed changes the order"
    );
}
