//! Compiled code reads as `llvm-objdump` reads it, instruction by instruction.

#![expect(clippy::unwrap_used, reason = "a test")]
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

#[expect(dead_code, reason = "this test uses only the tool search")]
mod llvm;

use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_isa::{Target, decode};

/// Runs a command and returns its output if it succeeded.
fn output(command: &mut Command) -> Option<Vec<u8>> {
    let output = command.output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Compiles the test kernels; the compiler may wrap the code object in a bundle.
fn compile_kernels(target: Target, directory: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/mixed.hip");
    let bundle = directory.join(format!("{}.bundle", target.name()));
    let mut hipcc = Command::new("hipcc");
    hipcc
        .env("TMPDIR", directory)
        .arg(format!("--offload-arch={}", target.name()))
        .args(["--cuda-device-only", "-O2", "-c", "-o"])
        .arg(&bundle)
        .arg(source);
    output(&mut hipcc)?;
    let bytes = std::fs::read(&bundle).ok()?;
    let start = bytes.windows(4).position(|four| four == b"\x7fELF")?;
    let object = directory.join(format!("{}.elf", target.name()));
    std::fs::write(&object, &bytes[start..]).ok()?;
    Some(object)
}

/// Code objects to compare besides the compiled ones: `ISA_OBJECTS_<cpu>`, separated by colons.
fn extra_objects(target: Target) -> Vec<PathBuf> {
    std::env::var(format!("ISA_OBJECTS_{}", target.name()))
        .map(|list| list.split(':').map(PathBuf::from).collect())
        .unwrap_or_default()
}

/// One line of llvm-objdump: text and bytes of an instruction.
fn parse(line: &str) -> Option<(&str, Vec<u8>)> {
    let (text, rest) = line.strip_prefix('\t')?.split_once("// ")?;
    let (_, words) = rest.split_once(": ")?;
    let mut bytes = Vec::new();
    for word in words.split(' ').take_while(|word| word.len() == 8) {
        bytes.extend(u32::from_str_radix(word, 16).ok()?.to_le_bytes());
    }
    Some((text.trim(), bytes))
}

fn differences(objdump: &str, target: Target, object: &Path) -> (usize, Vec<String>) {
    let mut command = Command::new(objdump);
    command.args(["-d", "--no-show-raw-insn"]);
    command.arg(format!("--mcpu={}", target.name())).arg(object);
    let listing = output(&mut command).unwrap();
    let listing = String::from_utf8_lossy(&listing);
    let mut count = 0;
    let mut differing = Vec::new();
    for (text, bytes) in listing.lines().filter_map(parse) {
        // Data between functions.
        if text.starts_with(".long") {
            continue;
        }
        count += 1;
        let ours = decode(target, &bytes);
        let same = ours.is_ok_and(|inst| {
            inst.display(target).to_string() == text && usize::from(inst.size_bytes) == bytes.len()
        });
        if !same {
            let shown = ours.map(|inst| inst.display(target).to_string());
            differing.push(format!("{bytes:02x?}: LLVM {text}, ours {shown:?}"));
        }
    }
    (count, differing)
}

fn compare(target: Target) {
    let Some(objdump) = llvm::tool("llvm-objdump", 19) else {
        eprintln!("skipped: llvm-objdump of LLVM 19 is not installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let Some(object) = compile_kernels(target, directory.path()) else {
        eprintln!("skipped: hipcc is not installed or cannot compile");
        return;
    };
    for object in extra_objects(target).into_iter().chain([object]) {
        let (count, differing) = differences(&objdump, target, &object);
        eprintln!(
            "{}: {count} instructions, {} differ",
            object.display(),
            differing.len()
        );
        for text in differing.iter().take(50) {
            eprintln!("{text}");
        }
        assert!(count > 0, "no code in {}", object.display());
        assert!(differing.is_empty());
    }
}

#[test]
fn gfx90a_kernels_read_as_objdump_reads_them() {
    compare(Target::Gfx90a);
}

#[test]
fn gfx1030_kernels_read_as_objdump_reads_them() {
    compare(Target::Gfx1030);
}
