//! Constants and layouts of `hsa-sys` against a compiled C file that includes the installed headers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Headers that C can include; the API tables need C++.
const HEADERS: &[&str] = &[
    "hsa.h",
    "hsa_ext_amd.h",
    "hsa_ext_image.h",
    "hsa_ext_finalize.h",
    "hsa_ven_amd_loader.h",
    "hsa_ven_amd_aqlprofile.h",
];

/// What 7.2.4 changed after 5.2.3, the headers that Debian 12 has: counts that grew with their
/// enumeration, interface versions, and structures that got fields at their end.
const CHANGED: &[&str] = &[
    "HSA_AMD_INTERFACE_VERSION_MINOR",
    "HSA_AMD_LAST_EXTENSION",
    "HSA_VEN_AMD_AQLPROFILE_BLOCKS_NUMBER",
    "HSA_VEN_AMD_AQLPROFILE_VERSION_MAJOR",
    "HSA_VEN_AMD_AQLPROFILE_VERSION_MINOR",
];

const BINDINGS: &str = include_str!("../../../crates/hsa-sys/src/bindings.rs");

/// The headers' text, or `None` if they are not installed.
fn installed() -> Option<String> {
    let read = |name: &&str| std::fs::read_to_string(Path::new("/usr/include/hsa").join(name)).ok();
    let texts: Option<Vec<_>> = HEADERS.iter().map(read).collect();
    if texts.is_none() {
        println!("skipped: the headers in /usr/include/hsa are not installed");
    }
    texts.map(|texts| texts.concat())
}

fn words(text: &str) -> std::collections::BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect()
}

/// Compiles and runs a program that prints `name value` lines.
fn measure(statements: &str) -> BTreeMap<String, i64> {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (
        folder.path().join("measure.c"),
        folder.path().join("measure"),
    );
    let includes: String = HEADERS
        .iter()
        .map(|h| format!("#include <hsa/{h}>\n"))
        .collect();
    let main = format!(
        "#include <stddef.h>\n#include <stdio.h>\n{includes}int main(void) {{\n{statements}}}\n"
    );
    std::fs::write(&source, main).unwrap();
    let gcc = Command::new("gcc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(gcc.success(), "the C file compiles");
    let output = Command::new(&program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    text.lines().map(pair).collect()
}

fn compare(expected: &BTreeMap<String, i64>, expression: impl Fn(&str) -> String) {
    let mut statements = String::new();
    for name in expected.keys() {
        writeln!(
            statements,
            "printf(\"{name} %lld\\n\", (long long)({}));",
            expression(name)
        )
        .unwrap();
    }
    let measured = measure(&statements);
    let differ: Vec<_> = expected
        .iter()
        .filter(|(name, value)| measured.get(*name) != Some(value))
        .collect();
    assert_eq!(differ, Vec::new());
}

/// `pub const NAME: type = type(value);`, possibly broken over lines.
fn constants() -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for item in BINDINGS.split("pub const HSA_").skip(1) {
        let (Some((name, rest)), true) = (item.split_once(':'), item.contains(';')) else {
            continue;
        };
        let value = rest
            .split(';')
            .next()
            .unwrap()
            .rsplit(['=', '('])
            .next()
            .unwrap();
        if let Ok(value) = value.trim().trim_end_matches(')').parse() {
            found.insert(format!("HSA_{name}"), value);
        }
    }
    found
}

#[test]
fn constants_have_the_values_of_the_headers() {
    let Some(headers) = installed() else { return };
    let known = words(&headers);
    let mut expected = constants();
    expected.retain(|name, _| known.contains(name.as_str()) && !CHANGED.contains(&name.as_str()));
    assert!(
        expected.len() > 300,
        "only {} constants found",
        expected.len()
    );
    // C enumerators are int, so the highest bit of a mask reads as a sign there.
    expected
        .values_mut()
        .for_each(|value| *value &= 0xffff_ffff);
    compare(&expected, |name| format!("(unsigned)({name})"));
}

/// The sizes that the bindings assert: `["Size of X"]…- N`.
fn sizes() -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for item in BINDINGS.split("[\"Size of ").skip(1) {
        let (name, rest) = item.split_once("\"]").unwrap();
        let number = rest
            .split("- ")
            .nth(1)
            .unwrap()
            .split("usize")
            .next()
            .unwrap();
        found.insert(name.to_owned(), number.parse().unwrap());
    }
    found
}

/// Structures whose end grew after 5.2.3.
const GREW: &[&str] = &[
    "hsa_ext_images_1_pfn_s",
    "hsa_ven_amd_aqlprofile_1_00_pfn_s",
    "hsa_ven_amd_aqlprofile_profile_t",
];

#[test]
fn structures_have_the_sizes_of_the_headers() {
    let Some(headers) = installed() else { return };
    let known = words(&headers);
    let mut expected = sizes();
    expected.retain(|name, _| known.contains(name.as_str()) && !GREW.contains(&name.as_str()));
    assert!(
        expected.len() > 50,
        "only {} structures found",
        expected.len()
    );
    let expression = |name: &str| {
        let tag = if name.ends_with("_s") && !headers.contains(&format!("}} {name};")) {
            "struct "
        } else {
            ""
        };
        format!("sizeof({tag}{name})")
    };
    compare(&expected, expression);
}

/// Fields that programs and the device rely on; offsets of the contract, compiled from the headers.
#[test]
fn fields_have_the_offsets_of_the_headers() {
    if installed().is_none() {
        return;
    }
    let mut expected = BTreeMap::new();
    macro_rules! offsets {
        ($($ty:ident { $($field:ident $name:literal),* })*) => { $($(
            let offset = std::mem::offset_of!(hsa_sys::$ty, $field);
            expected.insert(format!("{} {}", stringify!($ty), $name), i64::try_from(offset).unwrap());
        )*)* };
    }
    offsets! {
        hsa_queue_t { type_ "type", features "features", base_address "base_address", doorbell_signal "doorbell_signal", size "size", id "id" }
        hsa_kernel_dispatch_packet_t { workgroup_size_x "workgroup_size_x", grid_size_x "grid_size_x", private_segment_size "private_segment_size", group_segment_size "group_segment_size", kernel_object "kernel_object", kernarg_address "kernarg_address", completion_signal "completion_signal" }
        hsa_barrier_and_packet_t { dep_signal "dep_signal", completion_signal "completion_signal" }
        hsa_amd_barrier_value_packet_t { signal "signal", value "value", mask "mask", cond "cond", completion_signal "completion_signal" }
        hsa_amd_pointer_info_t { size "size", type_ "type", agentBaseAddress "agentBaseAddress", hostBaseAddress "hostBaseAddress", sizeInBytes "sizeInBytes", userData "userData", agentOwner "agentOwner", global_flags "global_flags" }
        hsa_amd_memory_pool_link_info_t { min_latency "min_latency", atomic_support_32bit "atomic_support_32bit", link_type "link_type", numa_distance "numa_distance" }
        hsa_amd_gpu_memory_fault_info_t { agent "agent", virtual_address "virtual_address", fault_reason_mask "fault_reason_mask" }
        hsa_pitched_ptr_t { base "base", pitch "pitch", slice "slice" }
        hsa_amd_svm_attribute_pair_t { attribute "attribute", value "value" }
        hsa_ven_amd_loader_segment_descriptor_t { agent "agent", executable "executable", segment_base "segment_base", segment_size "segment_size" }
    }
    compare(&expected, |name| {
        let (structure, field) = name.split_once(' ').unwrap();
        format!("offsetof({structure}, {field})")
    });
}
