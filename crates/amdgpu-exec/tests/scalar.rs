//! Scalar instructions: results and SCC, from the ISA manuals.

use amdgpu_exec::testing::run_snippet;
use amdgpu_isa::Target;

#[test]
fn mov_add() {
    let wave = run_snippet(
        Target::Gfx90a,
        64,
        "s_mov_b32 s0, 5\ns_add_u32 s1, s0, 0xfffffffe\n s_addc_u32 s2, s0, 1",
        |_| {},
    );
    let Some(wave) = wave else { return };
    assert_eq!(wave.scalar(1), 3);
    assert!(!wave.scc);
    assert_eq!(wave.scalar(2), 7);
}
