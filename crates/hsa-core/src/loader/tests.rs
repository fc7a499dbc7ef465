//! The loader on code objects that clang makes, whole and damaged.

use super::elf::{self, CodeObject};
use super::executable::{exported, host_image};
use super::reloc;
use super::symbol::Detail;
use crate::isa::Feature;
use crate::{Error, Result};
use std::process::Command;
use std::sync::OnceLock;

/// A kernel, variables of all kinds, function pointers (RELATIVE64) and an undefined external.
const SOURCE: &str = r#"
#pragma GCC visibility push(default)
extern int there;
int counter = 5;
int zeroed[1000];
static int next(int x) { return x + 1; }
int (*pointers[2])(int) = {next, next};
int *address = &counter;
int *outside = &there;
__attribute__((amdgpu_kernel)) void add(int *a, int n) {
  a[n] = counter + zeroed[n] + *outside + pointers[n & 1](n);
}
"#;

/// The code object, or `None` (said on stdout) where no clang for AMDGPU is installed.
fn code_object() -> Option<&'static [u8]> {
    static OBJECT: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let object = OBJECT.get_or_init(|| {
        ["clang-15", "clang"]
            .iter()
            .find_map(|clang| compile(clang))
    });
    if object.is_none() {
        println!("skipped: no clang with the AMDGPU target and lld is installed");
    }
    object.as_deref()
}

fn compile(clang: &str) -> Option<Vec<u8>> {
    let folder = std::env::temp_dir().join(format!("hsa-core-loader-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let (source, output) = (folder.join("k.c"), folder.join("k.o"));
    std::fs::write(&source, SOURCE).ok()?;
    let arguments = [
        "-target",
        "amdgcn-amd-amdhsa",
        "-mcpu=gfx90a",
        "-nogpulib",
        "-O1",
    ];
    let linker = "-Wl,--unresolved-symbols=ignore-all";
    let mut command = Command::new(clang);
    command
        .args(arguments)
        .arg(linker)
        .arg(&source)
        .arg("-o")
        .arg(&output);
    let bytes = command
        .output()
        .ok()
        .and_then(|_| std::fs::read(&output).ok());
    let _ = std::fs::remove_dir_all(&folder);
    bytes
}

const BASE: u64 = 0x7f12_3450_0000;
const THERE: u64 = 0x7f99_0000_1234;

/// Everything that loading does to the bytes.
fn load(object: &CodeObject<'_>) -> Result<Vec<u8>> {
    let mut image = host_image(object)?;
    let _ = exported(object, &image, 1, BASE);
    reloc::apply(object, &mut image, BASE, |name| {
        (name == "there").then_some(THERE)
    })?;
    Ok(image)
}

fn word(image: &[u8], address: u64) -> u64 {
    let at = usize::try_from(address).unwrap();
    u64::from_le_bytes(*image[at..].first_chunk().unwrap())
}

#[test]
fn a_compiled_object_gives_its_symbols() {
    let Some(bytes) = code_object() else { return };
    let object = elf::parse(bytes).unwrap();
    assert_eq!(object.target.processor, "gfx90a");
    assert_eq!(
        (object.target.sramecc, object.target.xnack),
        (Feature::Any, Feature::Any)
    );
    let image = load(&object).unwrap();
    let symbols = exported(&object, &image, 1, BASE);
    let find = |name: &str| symbols.iter().find(|s| s.name == name).unwrap();
    // A pointer, an int, padding, and 56 bytes of hidden arguments, which indirect calls need.
    assert!(matches!(
        find("add.kd").detail,
        Detail::Kernel {
            kernarg_size: 72,
            ..
        }
    ));
    assert!(matches!(
        find("counter").detail,
        Detail::Variable {
            constant: false,
            ..
        }
    ));
    assert_eq!((find("counter").size, find("zeroed").size), (4, 4000));
    assert!(
        !symbols.iter().any(|s| s.name == "add" || s.name == "there"),
        "functions, undefined"
    );
}

#[test]
fn relocations_point_at_the_loaded_addresses() {
    let Some(bytes) = code_object() else { return };
    let object = elf::parse(bytes).unwrap();
    let image = load(&object).unwrap();
    let value = |name: &str| {
        object
            .symbols
            .iter()
            .find(|s| s.name == name)
            .unwrap()
            .value
    };
    assert_eq!(word(&image, value("address")), BASE + value("counter"));
    assert_eq!(word(&image, value("outside")), THERE);
    let code = object
        .segments
        .iter()
        .find(|s| s.vaddr <= value("add") && value("add") < s.vaddr + s.memory_size);
    let next = word(&image, value("pointers"));
    assert!(
        (BASE + code.unwrap().vaddr..BASE + value("add")).contains(&next),
        "static function"
    );
    let zeroed = usize::try_from(value("zeroed")).unwrap();
    assert!(image[zeroed..zeroed + 4000].iter().all(|byte| *byte == 0));
}

#[test]
fn an_undefined_external_is_named_as_such() {
    let Some(bytes) = code_object() else { return };
    let object = elf::parse(bytes).unwrap();
    let mut image = host_image(&object).unwrap();
    assert_eq!(
        reloc::apply(&object, &mut image, BASE, |_| None),
        Err(Error::VariableUndefined)
    );
}

#[test]
fn every_truncation_is_refused() {
    let Some(bytes) = code_object() else { return };
    for length in 0..bytes.len() {
        assert!(elf::parse(&bytes[..length]).is_err(), "cut to {length}");
    }
}

/// ELF header fields (offset, value) that make it no code object of this ABI.
#[test]
fn another_machine_or_abi_is_refused() {
    let Some(bytes) = code_object() else { return };
    for (offset, value) in [(0, 0), (4, 1), (5, 2), (7, 0), (8, 99), (16, 1), (18, 62)] {
        let mut damaged = bytes.to_vec();
        damaged[offset] = value;
        assert_eq!(
            elf::parse(&damaged).err(),
            Some(Error::InvalidCodeObject),
            "byte {offset}"
        );
    }
    let mut unknown = bytes.to_vec();
    unknown[48] = 0xfe;
    assert_eq!(elf::parse(&unknown).err(), Some(Error::InvalidIsaName));
}

/// Random damage in headers, tables and everywhere: an error or a load, never a panic.
#[test]
fn damaged_objects_never_panic() {
    let Some(bytes) = code_object() else { return };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    let interesting = [0, 1, 0x7f, 0x80, 0xff];
    for round in 0..20_000 {
        let mut damaged = bytes.to_vec();
        let region = if round % 2 == 0 {
            0x900.min(damaged.len())
        } else {
            damaged.len()
        };
        for _ in 0..=random(6) {
            damaged[random(region)] = interesting[random(interesting.len())];
        }
        // Images near the limit are legal but slow to fill.
        if let Ok(object) = elf::parse(&damaged)
            && object.image_size < 1 << 24
        {
            let _ = load(&object);
        }
    }
}
