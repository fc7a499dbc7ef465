//! Waves and groups that wait for each other, for other queues or for the host come on, whatever
//! the number of threads and the order; and threads and seeds do what they say.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use amdgpu_exec::testing::{TestGpu, TestKernel, assemble};
use amdgpu_exec::{Config, Device, Engine, Outcome, Stop};
use amdgpu_isa::Target::Gfx90a;
use parking_lot::Mutex;

/// s[8:9] = out, v1 = 0, v4 = 1, one lane active.
const ONE_LANE: &str = "s_load_dwordx2 s[8:9], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n\
                        v_mov_b32 v1, 0\nv_mov_b32 v4, 1\ns_mov_b64 exec, 1\n";
/// One thread, as many as cores, more than cores; natural and chosen orders.
const CONFIGS: [Config; 6] = [
    config(1, 0),
    config(1, 1),
    config(1, 2),
    config(2, 0),
    config(2, 3),
    config(4, 4),
];

const fn config(threads: usize, seed: u64) -> Config {
    Config { threads, seed }
}

/// A loaded kernel with one output buffer.
struct Loaded {
    gpu: TestGpu,
    object: u64,
    out: u64,
    kernarg: u64,
}

impl Loaded {
    fn new(config: Config, asm: &str) -> Option<Self> {
        let code = assemble(Gfx90a, 64, asm)?;
        let gpu = TestGpu::with_config(Gfx90a, config);
        let object = gpu.load(&TestKernel::new(code));
        let out = gpu.memory.allocate(65536, true, false);
        let kernarg = gpu.memory.allocate(64, false, false);
        gpu.memory.write(kernarg, &out.to_le_bytes());
        Some(Self {
            gpu,
            object,
            out,
            kernarg,
        })
    }

    fn run_with(&self, groups: u32, waves: u16, cooperative: bool, device: &dyn Device) -> Outcome {
        let workgroup = waves * 64;
        let items = groups * u32::from(workgroup);
        let mut dispatch = self.gpu.dispatch(self.object, items, workgroup);
        dispatch.kernarg_va = self.kernarg;
        dispatch.cooperative = cooperative;
        // A small device, so that large grids do not fit.
        dispatch.compute_units = 4;
        self.gpu.engine.run(&dispatch, &self.gpu.memory, device)
    }

    fn run(&self, groups: u32, waves: u16) -> Vec<u32> {
        self.finish(self.run_with(groups, waves, false, &self.gpu.device))
    }

    fn finish(&self, outcome: Outcome) -> Vec<u32> {
        assert!(matches!(outcome, Outcome::Complete(_)), "{outcome:?}");
        self.gpu.memory.read32(self.out, 16384)
    }
}

/// Runs a kernel in every configuration; `check` gets the output.
fn everywhere(asm: &str, groups: u32, waves: u16, check: impl Fn(&[u32], Config)) {
    for config in CONFIGS {
        let Some(loaded) = Loaded::new(config, asm) else {
            return;
        };
        check(&loaded.run(groups, waves), config);
    }
}

#[test]
fn a_group_that_polls_between_barriers_lets_others_run() {
    // Groups 0 to 19 meet at barriers until group 20 has set the flag in out[0]: wave by wave no
    // one ever runs for long.
    let asm = "\
        s_load_dwordx2 s[8:9], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n\
        v_mov_b32 v1, 0\nv_mov_b32 v4, 1\n\
        s_cmp_eq_u32 s6, 20\n\
        s_cbranch_scc1 set\n\
        poll:\n\
        v_cmp_eq_u32 vcc, 0, v0\n\
        s_and_saveexec_b64 s[10:11], vcc\n\
        global_load_dword v5, v1, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
        ds_write_b32 v1, v5\ns_waitcnt lgkmcnt(0)\n\
        s_mov_b64 exec, s[10:11]\n\
        s_barrier\n\
        ds_read_b32 v6, v1\ns_waitcnt lgkmcnt(0)\n\
        s_barrier\n\
        v_readfirstlane_b32 s12, v6\n\
        s_cmp_eq_u32 s12, 0\n\
        s_cbranch_scc1 poll\n\
        global_atomic_add v1, v4, s[8:9] offset:4\n\
        s_endpgm\n\
        set:\n\
        global_store_dword v1, v4, s[8:9]\n\
        s_endpgm\n";
    everywhere(asm, 21, 4, |out, config| {
        assert_eq!(out[..2], [1, 20 * 256], "{config:?}");
    });
}

/// Each wave works in the order of its tickets: out[0] gives them, out[1] says whose turn it is.
/// PAUSE is inside the lock, WAIT in the loop; both count in out[2] without atomics.
const TICKETS: &str = "\
    global_atomic_add v5, v1, v4, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
    wait:\n\
    WAIT\
    global_load_dword v6, v1, s[8:9] offset:4 glc\ns_waitcnt vmcnt(0)\n\
    v_cmp_ne_u32 vcc, v5, v6\n\
    s_cbranch_vccnz wait\n\
    PAUSE\
    global_load_dword v7, v1, s[8:9] offset:8 glc\ns_waitcnt vmcnt(0)\n\
    v_add_u32 v7, 1, v7\n\
    global_store_dword v1, v7, s[8:9] offset:8\n\
    v_add_u32 v6, 1, v6\ns_waitcnt vmcnt(0)\n\
    global_store_dword v1, v6, s[8:9] offset:4\n\
    s_endpgm\n";

#[test]
fn a_fair_lock_passes_through_all_waves_of_all_groups() {
    // With one thread every waiting wave runs between two holders, asleep or not.
    for (wait, pause) in [
        ("", ""),
        ("", "s_sleep 2\n"),
        ("s_sleep 1\n", "s_sleep 2\n"),
    ] {
        let text = TICKETS.replace("WAIT", wait).replace("PAUSE", pause);
        everywhere(&format!("{ONE_LANE}{text}"), 40, 4, |out, config| {
            assert_eq!(out[..3], [160; 3], "{config:?}");
        });
    }
}

#[test]
fn a_scan_that_looks_back_finishes_in_every_order() {
    // Group g adds up 1 to g + 1. out[64 + 2 g] is the state (1 own sum, 2 all sums), the next
    // dword the sum. A group walks back until it finds a complete sum; more groups than fit at once.
    let asm = "\
        s_lshl_b32 s10, s6, 3\nv_mov_b32 v10, s10\n\
        v_add_u32 v5, s6, v4\nv_mov_b32 v6, v5\nv_mov_b32 v7, v10\n\
        global_store_dword v10, v5, s[8:9] offset:260\n\
        s_waitcnt vmcnt(0)\n\
        global_store_dword v10, v4, s[8:9] offset:256\n\
        s_cmp_eq_u32 s6, 0\n\
        s_cbranch_scc1 done\n\
        back:\n\
        v_subrev_u32 v7, 8, v7\n\
        look:\n\
        global_load_dword v8, v7, s[8:9] offset:256 glc\ns_waitcnt vmcnt(0)\n\
        buffer_wbinvl1\n\
        v_cmp_eq_u32 vcc, 0, v8\n\
        s_cbranch_vccnz look\n\
        global_load_dword v9, v7, s[8:9] offset:260 glc\ns_waitcnt vmcnt(0)\n\
        global_load_dword v11, v7, s[8:9] offset:256 glc\ns_waitcnt vmcnt(0)\n\
        v_cmp_ne_u32 vcc, v8, v11\n\
        s_cbranch_vccnz look\n\
        v_add_u32 v6, v6, v9\n\
        v_cmp_eq_u32 vcc, 1, v8\n\
        s_cbranch_vccnz back\n\
        done:\n\
        v_mov_b32 v8, 3\n\
        global_store_dword v10, v8, s[8:9] offset:256\ns_waitcnt vmcnt(0)\n\
        global_store_dword v10, v6, s[8:9] offset:260\ns_waitcnt vmcnt(0)\n\
        v_mov_b32 v8, 2\n\
        global_store_dword v10, v8, s[8:9] offset:256\n\
        s_endpgm\n";
    // State 3 means that the sum is changing: look again.
    let asm = asm.replace(
        "v_cmp_ne_u32 vcc, v8, v11\n",
        "v_cmp_ne_u32 vcc, v8, v11\ns_cbranch_vccnz look\nv_cmp_eq_u32 vcc, 3, v8\n",
    );
    everywhere(&format!("{ONE_LANE}{asm}"), 700, 1, |out, config| {
        for group in 0..700u32 {
            let at = 64 + 2 * group as usize;
            let sum = (group + 1) * (group + 2) / 2;
            assert_eq!(out[at..at + 2], [2, sum], "group {group}, {config:?}");
        }
    });
}

#[test]
fn a_cooperative_grid_larger_than_the_device_meets_again_and_again() {
    // 5 rounds of a counter barrier over 400 groups where 4 units hold 128 waves.
    let asm = "\
        s_mov_b32 s10, 0\n\
        round:\n\
        s_add_u32 s10, s10, 400\n\
        global_atomic_add v1, v4, s[8:9]\ns_waitcnt vmcnt(0)\n\
        wait:\n\
        WAIT\
        global_load_dword v5, v1, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
        v_cmp_gt_u32 vcc, s10, v5\n\
        s_cbranch_vccnz wait\n\
        s_cmp_lt_u32 s10, 2000\n\
        s_cbranch_scc1 round\n\
        s_endpgm\n";
    for (wait, config) in ["", "s_sleep 1\n"]
        .into_iter()
        .flat_map(|w| CONFIGS.map(|c| (w, c)))
    {
        let asm = format!("{ONE_LANE}{}", asm.replace("WAIT", wait));
        let Some(loaded) = Loaded::new(config, &asm) else {
            return;
        };
        let out = loaded.finish(loaded.run_with(400, 1, true, &loaded.gpu.device));
        assert_eq!(out[0], 2000, "{config:?}");
    }
}

#[test]
fn queues_that_wait_for_each_other_come_on() {
    // Queue q of 4 waits for out[0] = 4 k + q, then sets the next number; 50 rounds, and the groups
    // of each queue take turns too, as groups of one queue share its number.
    let asm = "\
        s_load_dword s12, s[4:5], 0x8\ns_waitcnt lgkmcnt(0)\n\
        s_mov_b32 s13, 0\n\
        wait:\n\
        global_load_dword v5, v1, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
        v_cmp_ne_u32 vcc, s12, v5\n\
        s_cbranch_vccnz wait\n\
        v_add_u32 v5, 1, v5\n\
        global_store_dword v1, v5, s[8:9]\n\
        s_add_u32 s12, s12, 4\ns_add_u32 s13, s13, 1\n\
        s_cmp_lt_u32 s13, 50\n\
        s_cbranch_scc1 wait\n\
        s_endpgm\n";
    for config in CONFIGS {
        let Some(loaded) = Loaded::new(config, &format!("{ONE_LANE}{asm}")) else {
            return;
        };
        let gpu = &loaded.gpu;
        let dispatches = [0u32, 1, 2, 3].map(|queue| {
            let kernarg = gpu.memory.allocate(64, false, false);
            gpu.memory.write(kernarg, &loaded.out.to_le_bytes());
            gpu.memory.write32(kernarg + 8, &[queue]);
            let mut dispatch = gpu.dispatch(loaded.object, 64, 64);
            dispatch.kernarg_va = kernarg;
            dispatch.queue_va += 0x1000 * u64::from(queue);
            dispatch
        });
        std::thread::scope(|scope| {
            for dispatch in &dispatches {
                scope.spawn(|| {
                    let outcome = gpu.run(dispatch);
                    assert!(matches!(outcome, Outcome::Complete(_)), "{outcome:?}");
                });
            }
        });
        assert_eq!(gpu.memory.read32(loaded.out, 1), [200], "{config:?}");
    }
}

/// Waits for the host: out[0] must become 1. Every group adds to out[1] first.
const HOST: &str = "\
    global_atomic_add v1, v4, s[8:9] offset:4\n\
    wait:\n\
    WAIT\
    global_load_dword v5, v1, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
    v_cmp_eq_u32 vcc, 0, v5\n\
    s_cbranch_vccnz wait\n\
    s_endpgm\n";

#[test]
fn sleepers_wake_when_the_host_writes() {
    // The host writes when all groups have begun, so they must be resident together.
    for (wait, config) in ["", "s_sleep 8\n"]
        .into_iter()
        .flat_map(|w| CONFIGS.map(|c| (w, c)))
    {
        let asm = format!("{ONE_LANE}{}", HOST.replace("WAIT", wait));
        let Some(loaded) = Loaded::new(config, &asm) else {
            return;
        };
        let memory = &loaded.gpu.memory;
        let out = std::thread::scope(|scope| {
            scope.spawn(|| {
                while memory.read32(loaded.out, 2) != [0, 100] {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(20));
                memory.write32(loaded.out, &[1]);
            });
            loaded.run(100, 1)
        });
        assert_eq!(out[..2], [1, 100], "{config:?}");
    }
}

#[test]
fn waiting_groups_end_when_the_queue_goes() {
    let barrier = "v_mov_b32 v1, 0\nloop:\ns_barrier\ns_branch loop\n".to_owned();
    let sleep = format!("{ONE_LANE}{}", HOST.replace("WAIT", "s_sleep 8\n"));
    let spin = format!("{ONE_LANE}{}", HOST.replace("WAIT", ""));
    for (asm, config) in [barrier, sleep, spin]
        .iter()
        .flat_map(|asm| CONFIGS.map(|config| (asm, config)))
    {
        let Some(loaded) = Loaded::new(config, asm) else {
            return;
        };
        let device = &loaded.gpu.device;
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                device.cancelled.store(true, Ordering::SeqCst);
            });
            loaded.run_with(10, 2, false, device)
        });
        let killed = matches!(
            outcome,
            Outcome::Stopped {
                stop: Stop::Killed,
                ..
            }
        );
        assert!(killed, "{outcome:?}, {config:?}, {asm}");
    }
}

/// Takes 3 tickets per wave with sleeps between them; the log holds who took each.
const LOG: &str = "\
    s_load_dwordx2 s[8:9], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\n\
    v_mov_b32 v1, 0\nv_mov_b32 v4, 1\n\
    v_readfirstlane_b32 s10, v0\ns_lshl_b32 s11, s6, 16\ns_or_b32 s10, s10, s11\n\
    s_mov_b64 exec, 1\ns_mov_b32 s11, 3\n\
    again:\n\
    s_sleep 1\n\
    global_atomic_add v5, v1, v4, s[8:9] glc\ns_waitcnt vmcnt(0)\n\
    v_lshlrev_b32 v6, 2, v5\nv_mov_b32 v7, s10\n\
    global_store_dword v6, v7, s[8:9] offset:64\n\
    s_sub_u32 s11, s11, 1\n\
    s_cmp_lg_u32 s11, 0\n\
    s_cbranch_scc1 again\n\
    s_endpgm\n";

#[test]
fn one_seed_gives_one_order_of_atomics_and_others_give_others() {
    // A fresh engine each time, and one engine twice: what ran before must not matter.
    let log = |loaded: &Loaded| {
        loaded.gpu.memory.write32(loaded.out, &[0; 256]);
        loaded.run(20, 4)[16..256].to_vec()
    };
    let mut orders = HashSet::new();
    for seed in 0..8 {
        let Some(first) = Loaded::new(config(1, seed), LOG) else {
            return;
        };
        let second = Loaded::new(config(1, seed), LOG).unwrap();
        let order = log(&first);
        assert_eq!(order, log(&second), "seed {seed}");
        assert_eq!(order, log(&first), "seed {seed}, second run");
        let mut takers = order.clone();
        takers.sort_unstable();
        let wanted = (0..20u32).flat_map(|g| (0..4).flat_map(move |w| [(g << 16) + w * 64; 3]));
        assert!(takers.into_iter().eq(wanted), "seed {seed}: {order:x?}");
        orders.insert(order);
    }
    assert_eq!(orders.len(), 8, "every seed has its own order");
}

/// A device whose interrupts run a function of the test.
struct Hooked<F>(F);

impl<F: Fn() + Send + Sync> Device for Hooked<F> {
    fn interrupt(&self, _: u32) {
        self.0();
    }
    fn realtime_ticks(&self) -> u64 {
        0
    }
    fn clock_ticks(&self) -> u64 {
        0
    }
    fn cancelled(&self) -> bool {
        false
    }
}

/// BEFORE, then an interrupt from every wave.
const INTERRUPT: &str = "s_mov_b32 s10, 0\n\
    BEFORE\
    s_mov_b32 m0, 1\ns_nop 0\ns_sendmsg sendmsg(MSG_INTERRUPT)\ns_endpgm\n";
/// 400,000 instructions: many turns without a sign of waiting.
const COMPUTE: &str = "loop:\ns_add_u32 s10, s10, 1\ns_nop 0\ns_cmp_lt_u32 s10, 100000\n\
                       s_cbranch_scc1 loop\n";

/// Waits until `condition`; false after a time in which any machine should have managed.
fn soon(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        if condition() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn two_groups_run_on_two_threads_at_once() {
    // Each interrupt waits for one on another thread, so both must be inside at the same time.
    // Groups that sleep first have all begun on one thread: the other has to steal.
    for before in [COMPUTE, "s_sleep 1\ns_sleep 1\ns_sleep 1\n"] {
        let asm = INTERRUPT.replace("BEFORE", before);
        let Some(loaded) = Loaded::new(config(2, 0), &asm) else {
            return;
        };
        let threads = Mutex::new(HashSet::new());
        let lonely = AtomicBool::new(false);
        let device = Hooked(|| {
            threads.lock().insert(std::thread::current().id());
            if !soon(|| threads.lock().len() == 2) {
                lonely.store(true, Ordering::SeqCst);
            }
        });
        loaded.finish(loaded.run_with(2, 1, false, &device));
        assert!(!lonely.load(Ordering::SeqCst), "{before}");
    }
}

#[test]
fn no_more_threads_than_asked_for_execute() {
    for threads in [1, 3] {
        let asm = INTERRUPT.replace("BEFORE", COMPUTE);
        let Some(loaded) = Loaded::new(config(threads, 0), &asm) else {
            return;
        };
        let seen = Mutex::new(HashSet::new());
        let device = Hooked(|| {
            seen.lock().insert(std::thread::current().id());
        });
        loaded.finish(loaded.run_with(40, 2, false, &device));
        let seen = seen.into_inner();
        assert!((1..=threads).contains(&seen.len()), "{seen:?}");
        assert!(threads != 1 || seen.contains(&std::thread::current().id()));
    }
}

#[test]
fn a_dispatch_whose_worker_failed_does_not_complete() {
    let asm = INTERRUPT.replace("BEFORE", COMPUTE);
    let Some(loaded) = Loaded::new(config(2, 0), &asm) else {
        return;
    };
    let caller = std::thread::current().id();
    let failures = AtomicU32::new(0);
    let device = Hooked(|| {
        if std::thread::current().id() == caller {
            soon(|| failures.load(Ordering::SeqCst) > 0);
        } else {
            failures.fetch_add(1, Ordering::SeqCst);
            panic!("the worker fails, as this test wants");
        }
    });
    let outcome = loaded.run_with(2, 1, false, &device);
    assert!(matches!(outcome, Outcome::Stopped { .. }), "{outcome:?}");
}
