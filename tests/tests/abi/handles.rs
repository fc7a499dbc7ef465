//! Null and stale handles: refused with the status of their kind, never followed.

use crate::library::{self, Library, Open};

/// Statuses of hsa.h and hsa_ext_amd.h.
const ARGUMENT: u32 = 0x1001;
const ALLOCATION: u32 = 0x1003;
const AGENT: u32 = 0x1004;
const REGION: u32 = 0x1005;
const SIGNAL: u32 = 0x1006;
const QUEUE: u32 = 0x1007;
const ISA: u32 = 0x100f;
const EXECUTABLE: u32 = 0x1011;
const EXECUTABLE_SYMBOL: u32 = 0x1019;
const READER: u32 = 0x1021;
const CACHE: u32 = 0x1022;
const WAVEFRONT: u32 = 0x1023;
const SIGNAL_GROUP: u32 = 0x1024;
const POOL: u32 = 0x28;

/// What stands for the handle and for a buffer in a list of arguments.
#[derive(Clone, Copy)]
enum Arg {
    Handle,
    Buffer,
    Number(usize),
}
use Arg::{Buffer as B, Handle as H, Number as N};

/// Calls whose only mistake is the handle.
const CALLS: &[(&str, &[Arg], u32)] = &[
    ("hsa_agent_get_info", &[H, N(0), B], AGENT),
    ("hsa_agent_get_exception_policies", &[H, N(0), B], AGENT),
    (
        "hsa_agent_extension_supported",
        &[N(0), H, N(1), N(0), B],
        AGENT,
    ),
    (
        "hsa_agent_major_extension_supported",
        &[N(0), H, N(1), B, B],
        AGENT,
    ),
    (
        "hsa_queue_create",
        &[H, N(64), N(0), N(0), N(0), N(0), N(0), B],
        AGENT,
    ),
    ("hsa_amd_coherency_get_type", &[H, B], AGENT),
    ("hsa_amd_coherency_set_type", &[H, N(0)], AGENT),
    (
        "hsa_amd_profiling_convert_tick_to_system_domain",
        &[H, N(1), B],
        AGENT,
    ),
    ("hsa_amd_memory_copy_engine_status", &[H, H, B], AGENT),
    (
        "hsa_amd_memory_get_preferred_copy_engine",
        &[H, H, B],
        AGENT,
    ),
    ("hsa_ext_image_get_capability", &[H, N(0), B, B], AGENT),
    ("hsa_region_get_info", &[H, N(0), B], REGION),
    ("hsa_memory_allocate", &[H, N(4096), B], REGION),
    ("hsa_cache_get_info", &[H, N(0), B], CACHE),
    ("hsa_isa_get_info", &[H, N(0), N(0), B], ISA),
    ("hsa_isa_get_info_alt", &[H, N(0), B], ISA),
    ("hsa_isa_compatible", &[H, H, B], ISA),
    ("hsa_isa_get_round_method", &[H, N(1), N(1), B], ISA),
    ("hsa_wavefront_get_info", &[H, N(0), B], WAVEFRONT),
    ("hsa_signal_group_destroy", &[H], SIGNAL_GROUP),
    ("hsa_amd_signal_value_pointer", &[H, B], SIGNAL),
    ("hsa_amd_profiling_get_async_copy_time", &[H, B], SIGNAL),
    ("hsa_executable_get_info", &[H, N(1), B], EXECUTABLE),
    ("hsa_executable_destroy", &[H], EXECUTABLE),
    ("hsa_executable_freeze", &[H, N(0)], EXECUTABLE),
    ("hsa_executable_validate", &[H, B], EXECUTABLE),
    ("hsa_executable_validate_alt", &[H, N(0), B], EXECUTABLE),
    (
        "hsa_executable_global_variable_define",
        &[H, B, B],
        EXECUTABLE,
    ),
    (
        "hsa_executable_get_symbol_by_name",
        &[H, B, N(0), B],
        EXECUTABLE,
    ),
    (
        "hsa_executable_load_program_code_object",
        &[H, H, N(0), B],
        EXECUTABLE,
    ),
    (
        "hsa_executable_symbol_get_info",
        &[H, N(0), B],
        EXECUTABLE_SYMBOL,
    ),
    ("hsa_code_object_reader_destroy", &[H], READER),
    ("hsa_amd_memory_pool_get_info", &[H, N(0), B], POOL),
    ("hsa_amd_memory_pool_allocate", &[H, N(4096), N(0), B], POOL),
];

/// Numbers that are no handle: null, small, unmapped, non-canonical, and of each table's kind past
/// its end.
const BAD: &[usize] = &[
    0,
    1,
    0x1000,
    0x7fff_ffff_f000,
    usize::MAX,
    0x4101_0000_0000_ffff,
    0x4102_0000_0000_ffff,
    0x4103_0000_0000_ffff,
    0x1000_0001_0000_0000,
    0x2000_0001_0000_0000,
];

#[test]
fn a_handle_that_was_never_given_is_refused_by_its_kind() {
    let open = Open::gfx90a();
    let mut buffer = vec![0_u64; 4096];
    let buffer = buffer.as_mut_ptr().expose_provenance();
    for (name, args, status) in CALLS {
        for bad in BAD {
            let value = |arg: &Arg| match arg {
                H => *bad,
                B => buffer,
                N(number) => *number,
            };
            let args: Vec<_> = args.iter().map(value).collect();
            assert_eq!(open.0.call(name, &args), *status, "{name} {bad:#x}");
        }
    }
}

#[test]
fn no_live_signal_or_queue_at_an_address_is_refused_or_reads_as_zero() {
    let open = Open::gfx90a();
    for bad in BAD.iter().filter(|bad| **bad != 0) {
        assert_eq!(open.0.call("hsa_signal_destroy", &[*bad]), SIGNAL);
        assert_eq!(open.0.call("hsa_queue_destroy", &[*bad]), QUEUE);
        assert_eq!(open.0.call("hsa_queue_inactivate", &[*bad]), QUEUE);
        assert_eq!(open.0.call("hsa_amd_queue_set_priority", &[*bad, 1]), QUEUE);
        assert_eq!(open.0.call("hsa_signal_load_relaxed", &[*bad]), 0);
        assert_eq!(
            open.0.call("hsa_queue_load_write_index_relaxed", &[*bad]),
            0
        );
        open.0.call("hsa_signal_store_screlease", &[*bad, 1]);
        open.0.call("hsa_signal_add_relaxed", &[*bad, 1]);
        open.0
            .call("hsa_queue_add_write_index_screlease", &[*bad, 1]);
        assert_eq!(
            open.0.call("hsa_memory_free", &[*bad]),
            ALLOCATION,
            "{bad:#x}"
        );
    }
    assert_eq!(open.0.call("hsa_signal_destroy", &[0]), ARGUMENT);
    assert_eq!(open.0.call("hsa_queue_destroy", &[0]), ARGUMENT);
    assert_eq!(
        open.0.call("hsa_memory_free", &[0]),
        0,
        "null is freed like in C"
    );
}

#[test]
fn a_signal_that_was_destroyed_is_no_signal() {
    let open = Open::gfx90a();
    let mut handle = 0_usize;
    let out = (&raw mut handle).expose_provenance();
    assert_eq!(open.0.call("hsa_signal_create", &[7, 0, 0, out]), 0);
    assert_eq!(open.0.call("hsa_signal_load_relaxed", &[handle]), 7);
    assert_eq!(open.0.call("hsa_signal_destroy", &[handle]), 0);
    assert_eq!(open.0.call("hsa_signal_destroy", &[handle]), SIGNAL);
    assert_eq!(open.0.call("hsa_signal_load_relaxed", &[handle]), 0);
}

#[test]
fn an_executable_that_was_destroyed_is_no_executable() {
    let open = Open::gfx90a();
    let mut handle = 0_usize;
    let out = (&raw mut handle).expose_provenance();
    assert_eq!(open.0.call("hsa_executable_create_alt", &[1, 0, 0, out]), 0);
    assert_eq!(open.0.call("hsa_executable_freeze", &[handle, 0]), 0);
    assert_eq!(
        open.0.call("hsa_executable_freeze", &[handle, 0]),
        0x1012,
        "frozen"
    );
    assert_eq!(open.0.call("hsa_executable_destroy", &[handle]), 0);
    assert_eq!(open.0.call("hsa_executable_destroy", &[handle]), EXECUTABLE);
}

/// With nothing but zeros, no function crashes, and none that needs an argument succeeds.
#[test]
fn zeros_are_survived_by_every_function() {
    let open = Open::gfx90a();
    let harmless = [
        "hsa_amd_memory_pool_free",
        "hsa_amd_profiling_async_copy_enable",
        // All of no signals.
        "hsa_amd_signal_wait_all",
        "hsa_memory_deregister",
        "hsa_memory_free",
        "hsa_memory_register",
    ];
    for name in library::recorded() {
        if ["hsa_init", "hsa_shut_down", "_amdgpu_r_debug"].contains(&name) {
            continue;
        }
        let answer = open.0.call(name, &[]);
        let has_status = !(name.contains("_index_") || name.starts_with("hsa_signal_"));
        if has_status && !harmless.contains(&name) {
            assert_ne!(answer, 0, "{name}");
        }
    }
}

/// The table of the loader extension honours the length that the caller has room for.
#[test]
fn an_extension_table_is_cut_to_the_callers_length() {
    let open = Open::gfx90a();
    let table = |length: usize| {
        let mut functions = [usize::MAX; 8];
        let out = functions.as_mut_ptr().expose_provenance();
        assert_eq!(
            open.0.call(
                "hsa_system_get_major_extension_table",
                &[0x201, 1, length, out]
            ),
            0
        );
        functions
            .iter()
            .filter(|function| **function != usize::MAX)
            .count()
    };
    assert_eq!([table(24), table(40), table(56), table(64)], [3, 5, 7, 7]);
    let refused = |library: Library, extension| {
        let mut functions = [0_usize; 8];
        let out = functions.as_mut_ptr().expose_provenance();
        library.call(
            "hsa_system_get_major_extension_table",
            &[extension, 1, 64, out],
        )
    };
    assert_eq!(refused(open.0, 1), 0x1000, "images");
    assert_eq!(refused(open.0, 0x202), 0x1000, "aqlprofile");
    assert_eq!(refused(open.0, 0x7777), ARGUMENT);
}
