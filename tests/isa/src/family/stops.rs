//! Kernels that must stop, and where: accesses that are not allowed, traps, bytes that are no
//! instruction.

use crate::case::{Cases, Stopped};
use crate::state::{MEMORY, State};

/// Adds the family.
pub(crate) fn add(cases: &mut Cases) {
    cases.family("stops");
    let (load, store, wide) = if cases.target.is_gfx11_plus() {
        ("global_load_b32", "global_store_b32", "s_load_b64")
    } else {
        ("global_load_dword", "global_store_dword", "s_load_dwordx2")
    };
    let end = MEMORY * 4;
    let mut address = State::new();
    address.exec = 1 << 9;
    address.v[0] = [0; 64];
    address.v[0][9] = u32::try_from(end).unwrap_or(0);
    let past = Stopped::Fault(i64::try_from(end).unwrap_or(0));
    let note = "lane 9 past the end";
    cases.add_stop(
        note,
        &format!("{load} v1, v0, s[8:9]"),
        address.clone(),
        past,
    );
    cases.add_stop(note, &format!("{store} v0, v1, s[8:9]"), address, past);
    let asm = format!("{wide} s[16:17], s[8:9], {end:#x}");
    cases.add_stop("", &asm, State::new(), past);
    cases.add_stop("", "s_trap 2", State::new(), Stopped::Trap(2));
    cases.add_stop(
        "no SOPP opcode",
        ".long 0xbfff0000",
        State::new(),
        Stopped::Illegal,
    );
    let mut none = State::new();
    none.exec = 0;
    none.v[0] = [u32::MAX; 64];
    let asm = format!("{load} v1, v0, s[8:9]\n{store} v0, v1, s[8:9]");
    cases.add("no active lane", asm, none, |_, _| {});
}
