//! Calls outside of `hsa_init` and `hsa_shut_down`.

use crate::library::{self, Library};

const NOT_INITIALIZED: u32 = 0x100b;
const INVALID_ARGUMENT: u32 = 0x1001;

/// Functions that have no status: they work on the values of signals and queues.
fn answers_a_value(name: &str) -> bool {
    let signal = [
        "load", "store", "silent", "wait", "and", "or", "xor", "exchange", "add", "subtract", "cas",
    ];
    let of_signal = signal
        .iter()
        .any(|verb| name.starts_with(&format!("hsa_signal_{verb}_")));
    let of_queue = name.starts_with("hsa_queue_") && name.contains("_index_");
    of_signal || of_queue || name.starts_with("hsa_amd_signal_wait_")
}

/// What a closed runtime answers; `None` for what is no function or opens the runtime.
fn expected(name: &str) -> Option<u32> {
    match name {
        "hsa_init" | "_amdgpu_r_debug" => None,
        // The text of a status needs no runtime.
        "hsa_status_string" => Some(INVALID_ARGUMENT),
        "hsa_amd_signal_wait_any" | "hsa_amd_signal_wait_all" => Some(u32::MAX),
        name if answers_a_value(name) => Some(0),
        _ => Some(NOT_INITIALIZED),
    }
}

fn require_closed(library: Library) {
    for name in library::recorded() {
        let Some(status) = expected(name) else {
            continue;
        };
        let answer = library.call(name, &[]);
        // Functions without a result leave anything in the register.
        if !answers_a_value(name) || status == u32::MAX {
            assert_eq!(answer, status, "{name}");
        }
    }
}

#[test]
fn every_function_says_that_the_runtime_is_not_open() {
    let _guard = library::exclusive();
    require_closed(Library::ours());
}

#[test]
fn a_closed_runtime_is_as_one_that_was_never_open() {
    drop(library::Open::gfx90a());
    let _guard = library::exclusive();
    require_closed(Library::ours());
}

#[test]
fn each_init_needs_its_shut_down() {
    let open = library::Open::gfx90a();
    assert_eq!(open.0.call("hsa_init", &[]), 0);
    assert_eq!(open.0.call("hsa_shut_down", &[]), 0);
    let mut value = [0_u8; 128];
    let out = value.as_mut_ptr().expose_provenance();
    assert_eq!(
        open.0.call("hsa_system_get_info", &[0, out]),
        0,
        "one user is left"
    );
}
