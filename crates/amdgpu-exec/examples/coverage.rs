//! Lists instructions of code objects that the engine has no code for.
//!
//! `cargo run -p amdgpu-exec --example coverage gfx90a FILE...`; the files are ELF code objects.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool that reports on the terminal"
)]

use std::collections::BTreeMap;

use amdgpu_exec::testing::{supports, text_section};
use amdgpu_isa::Target;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (target, lanes) = match arguments.next().as_deref() {
        Some("gfx90a") => (Target::Gfx90a, 64),
        Some("gfx1030") => (Target::Gfx1030, 32),
        other => {
            eprintln!("unknown target {other:?}: gfx90a or gfx1030");
            return;
        }
    };
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0usize;
    for path in arguments {
        let Ok(bytes) = std::fs::read(&path) else {
            eprintln!("cannot read {path}");
            continue;
        };
        let text = text_section(&bytes);
        let mut at = 0;
        while at + 4 <= text.len() {
            let Ok(inst) = amdgpu_isa::decode(target, &text[at..]) else {
                let dword = [text[at], text[at + 1], text[at + 2], text[at + 3]];
                let word = u32::from_le_bytes(dword);
                *missing
                    .entry(format!("undecodable {word:#010x}"))
                    .or_default() += 1;
                at += 4;
                continue;
            };
            total += 1;
            if !supports(target, lanes, &inst) {
                *missing.entry(inst.op.name().to_owned()).or_default() += 1;
            }
            at += usize::from(inst.size_bytes);
        }
    }
    for (name, count) in &missing {
        println!("{count:6} {name}");
    }
    println!(
        "{} of {total} instructions have no code",
        missing.values().sum::<usize>()
    );
}
