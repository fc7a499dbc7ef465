//! Wave-instructions per second of CPU time of a few kernels, and the cost of an empty dispatch.
//!
//! `cargo run --release -p amdgpu-exec --example kernel_rate [threads [kernel]]`

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool that reports on the terminal"
)]

use std::time::Duration;

use amdgpu_exec::testing::{TestGpu, TestKernel, assemble};
use amdgpu_exec::{Config, Outcome, Stats};
use amdgpu_isa::Target;

const VECTOR_ADD: &str = "
    s_load_dword s7, s[4:5], 0x18
    s_load_dwordx4 s[8:11], s[4:5], 0x0
    s_load_dwordx2 s[12:13], s[4:5], 0x10
    s_lshl_b32 s6, s6, 8
    v_add_u32 v0, s6, v0
    s_waitcnt lgkmcnt(0)
    v_cmp_gt_i32 vcc, s7, v0
    s_and_saveexec_b64 s[14:15], vcc
    s_cbranch_execz done
    v_ashrrev_i32 v1, 31, v0
    v_lshlrev_b64 v[2:3], 2, v[0:1]
    v_mov_b32 v1, s9
    v_add_co_u32 v4, vcc, s8, v2
    v_addc_co_u32 v5, vcc, v1, v3, vcc
    v_mov_b32 v1, s11
    v_add_co_u32 v6, vcc, s10, v2
    v_addc_co_u32 v7, vcc, v1, v3, vcc
    global_load_dword v8, v[4:5], off
    global_load_dword v9, v[6:7], off
    v_mov_b32 v1, s13
    v_add_co_u32 v2, vcc, s12, v2
    v_addc_co_u32 v3, vcc, v1, v3, vcc
    s_waitcnt vmcnt(0)
    v_add_f32 v8, v8, v9
    global_store_dword v[2:3], v8, off
    done:
    s_endpgm
";

const ALU_LOOP: &str = "
    s_movk_i32 s10, 1000
    v_cvt_f32_u32 v1, v0
    v_mov_b32 v2, 1.0
    loop:
    v_fma_f32 v1, v1, v2, v1
    v_mul_f32 v2, v2, v1
    v_add_u32 v3, v3, v0
    v_xor_b32 v3, v3, v0
    v_mad_u32_u24 v4, v3, v0, v4
    v_lshlrev_b32 v5, 3, v4
    v_add_f32 v1, v1, v2
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 loop
    s_endpgm
";

const LDS_LOOP: &str = "
    s_movk_i32 s10, 500
    v_and_b32 v0, 0xff, v0
    v_lshlrev_b32 v1, 2, v0
    v_xor_b32 v2, 0x3fc, v1
    loop:
    ds_write_b32 v1, v0
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    v_add_u32 v0, v0, v3
    s_barrier
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 loop
    s_endpgm
";

/// CPU time of the calling thread, which other programs on the machine do not lengthen.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

fn run(gpu: &TestGpu, asm: &str, items: u32, workgroup: u16) -> Option<(Stats, f64)> {
    let code = assemble(gpu.target, 64, asm)?;
    let mut kernel = TestKernel::new(code);
    kernel.vgprs = 16;
    let object = gpu.load(&kernel);
    let n = 1u32 << 20;
    let kernarg = gpu.memory.allocate(64, false, false);
    let [a, b, c] = [0; 3].map(|_: i32| gpu.memory.allocate(u64::from(n) * 4, true, false));
    let words = [a, b, c]
        .iter()
        .flat_map(|va| va.to_le_bytes())
        .collect::<Vec<u8>>();
    gpu.memory.write(kernarg, &words);
    gpu.memory.write32(kernarg + 24, &[n]);
    let mut dispatch = gpu.dispatch(object, items, workgroup);
    dispatch.kernarg_va = kernarg;
    let mut best = f64::INFINITY;
    let mut last = Stats::default();
    for _ in 0..20 {
        let begin = cpu_time();
        match gpu.run(&dispatch) {
            Outcome::Complete(stats) => last = stats,
            Outcome::Stopped { stop, at } => {
                eprintln!("stopped: {stop:?} at {at:?}");
                return None;
            }
        }
        best = best.min((cpu_time() - begin).as_secs_f64());
    }
    Some((last, best))
}

fn main() {
    let only = std::env::args().nth(2);
    let threads = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let gpu = TestGpu::with_config(Target::Gfx90a, Config { threads, seed: 0 });
    for (name, asm, items, workgroup) in [
        ("vector_add", VECTOR_ADD, 1u32 << 20, 256),
        ("alu_loop", ALU_LOOP, 1 << 14, 256),
        ("lds_loop", LDS_LOOP, 1 << 13, 256),
    ] {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        if let Some((stats, seconds)) = run(&gpu, asm, items, workgroup) {
            let millions = 1e-6 * f64::from(u32::try_from(stats.wave_instructions).unwrap_or(0));
            let rate = millions / seconds;
            println!("{name} {rate:.1} M-wave-instructions/s");
        }
    }
    let Some(code) = assemble(Target::Gfx90a, 64, "s_endpgm") else {
        return;
    };
    let object = gpu.load(&TestKernel::new(code));
    let dispatch = gpu.dispatch(object, 64, 64);
    let count = 20_000;
    let begin = cpu_time();
    for _ in 0..count {
        gpu.run(&dispatch);
    }
    let each = (cpu_time() - begin).as_secs_f64() / f64::from(count);
    println!("empty_dispatch {:.2} us", each * 1e6);
}
