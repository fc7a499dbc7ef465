//! Runs LLVM's disassembler on many short records.

use std::io::Write as _;
use std::process::{Command, Stdio};

use amdgpu_isa::Target;

/// What LLVM makes of a record: text and encoding of its first instruction, or nothing.
///
/// The encoding is LLVM's own assembly of the text, so it can be shorter than the record's.
pub(crate) type Verdict = Option<(String, String)>;

/// The tools of an LLVM version, by the names that Debian and others install.
pub(crate) fn tool(name: &str, version: u32) -> Option<String> {
    let candidates = [
        format!("{name}-{version}"),
        format!("/usr/lib/llvm-{version}/bin/{name}"),
    ];
    candidates.into_iter().find(|path| {
        Command::new(path)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}

/// Stands between records; no record may start with it.
const SEPARATOR: &str = "[0x34,0x12,0x80,0xbf]";
const SEPARATOR_TEXT: &str = "s_nop 0x1234";

/// Records per run: long inputs have crashed LLVM 19.
const CHUNK: usize = 500;

/// Text of a record on which LLVM died; written as LLVM writes its complaints.
const CRASHED: &str = "/*LLVM crashed*/";

/// First instruction of every record.
pub(crate) fn disassemble(mc: &str, target: Target, records: &[Vec<u8>]) -> Vec<Verdict> {
    records
        .chunks(CHUNK)
        .flat_map(|chunk| bisect(mc, target, chunk))
        .collect()
}

fn bisect(mc: &str, target: Target, records: &[Vec<u8>]) -> Vec<Verdict> {
    if let Some(verdicts) = run(mc, target, records) {
        return verdicts;
    }
    if records.len() == 1 {
        return vec![Some((CRASHED.to_owned(), String::new()))];
    }
    let (left, right) = records.split_at(records.len() / 2);
    let mut verdicts = bisect(mc, target, left);
    verdicts.extend(bisect(mc, target, right));
    verdicts
}

/// `None` if LLVM died.
fn run(mc: &str, target: Target, records: &[Vec<u8>]) -> Option<Vec<Verdict>> {
    let mut child = Command::new(mc)
        .args(["--arch=amdgcn", "--disassemble", "--show-encoding"])
        .arg(format!("--mcpu={}", target.name()))
        .env("LLVM_DISABLE_SYMBOLIZATION", "1")
        .env("LLVM_DISABLE_CRASH_REPORT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = records.iter().map(|bytes| record_text(bytes)).collect();
    // A crash closes the pipe early; the exit status tells.
    let writer = std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.status.code()?;
    let verdicts = parse(&String::from_utf8_lossy(&output.stdout));
    (verdicts.len() == records.len()).then_some(verdicts)
}

/// True if LLVM's assembler takes a text.
pub(crate) fn assembles(mc: &str, target: Target, text: &str) -> bool {
    let mut child = Command::new(mc)
        .args(["--arch=amdgcn", "--filetype=null"])
        .arg(format!("--mcpu={}", target.name()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    child.wait().unwrap().success()
}

fn record_text(bytes: &[u8]) -> String {
    let listed: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
    format!("[{}]\n{SEPARATOR}\n", listed.join(","))
}

fn parse(output: &str) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut first = None;
    for line in output.lines() {
        let Some((text, encoding)) = line.split_once("; encoding: [") else {
            continue;
        };
        let text = text.trim();
        if text == SEPARATOR_TEXT {
            verdicts.push(first.take());
        } else if first.is_none() {
            // LLVM writes two blanks behind some image mnemonics.
            let text = text.replace("  ", " ");
            first = Some((text, encoding.trim_end_matches(']').to_owned()));
        }
    }
    verdicts
}
