//! Exported names and their versions, read from the files.

use crate::library;
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{ElfFile, Sym};
use std::collections::BTreeSet;
use std::path::Path;

/// Debian's library, if it is installed.
const AMD: &str = "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1";

/// `name@version` of every symbol that a library defines, the version node's own included.
fn exports(path: &Path) -> BTreeSet<String> {
    let data = std::fs::read(path).unwrap();
    let file = ElfFile::<FileHeader64<LittleEndian>>::parse(&*data).unwrap();
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let versions = sections
        .versions(endian, &*data)
        .unwrap()
        .expect("symbols have versions");
    let table = file.elf_dynamic_symbol_table();
    let mut names = BTreeSet::new();
    for (index, symbol) in table.enumerate() {
        if symbol.is_undefined(endian) || symbol.is_local() {
            continue;
        }
        let name = symbol.name(endian, table.strings()).unwrap();
        let version = versions
            .version(versions.version_index(endian, index).index())
            .unwrap();
        let version = version.map_or("", |v| std::str::from_utf8(v.name()).unwrap());
        names.insert(format!("{}@{version}", String::from_utf8_lossy(name)));
    }
    names
}

#[test]
fn the_exports_are_those_of_rocm_7_2_4_under_rocr_1() {
    let recorded: BTreeSet<_> = library::recorded()
        .iter()
        .chain(&["ROCR_1"])
        .map(|name| format!("{name}@ROCR_1"))
        .collect();
    assert_eq!(
        recorded.len(),
        262,
        "260 functions, _amdgpu_r_debug and the version node"
    );
    assert_eq!(exports(library::path()), recorded);
}

#[test]
fn nothing_of_the_installed_library_is_missing() {
    if !Path::new(AMD).exists() {
        println!("skipped: {AMD} is not installed");
        return;
    }
    let (ours, theirs) = (exports(library::path()), exports(Path::new(AMD)));
    assert_eq!(
        theirs.difference(&ours).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

#[test]
fn the_soname_is_amds() {
    let data = std::fs::read(library::path()).unwrap();
    let name = b"\0libhsa-runtime64.so.1\0";
    assert!(data.windows(name.len()).any(|window| window == name));
}

/// The object that debuggers read is 40 bytes: `struct r_debug`.
#[test]
fn the_debugger_object_has_amds_size() {
    let data = std::fs::read(library::path()).unwrap();
    let file = ElfFile::<FileHeader64<LittleEndian>>::parse(&*data).unwrap();
    let table = file.elf_dynamic_symbol_table();
    let named = |s: &&object::elf::Sym64<LittleEndian>| {
        s.name(LittleEndian, table.strings())
            .is_ok_and(|name| name == b"_amdgpu_r_debug")
    };
    assert_eq!(table.iter().find(named).unwrap().st_size(LittleEndian), 40);
}
