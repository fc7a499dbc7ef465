//! Assembles all snippets of a target in one run of LLVM's assembler.
//!
//! Each snippet has a section of its own, so that the object file keeps them apart.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use amdgpu_isa::Target;
use object::{Object, ObjectSection};

/// The assembler: the newest that Debian's repositories of LLVM have.
const ASSEMBLER: &str = "llvm-mc-22";

/// Machine code, or what the assembler said.
pub(crate) type Code = Result<Vec<u8>, String>;

/// The code of each snippet.
///
/// # Errors
/// If the assembler does not run. A wrong snippet is not an error; its entry says what is wrong.
pub(crate) fn all(target: Target, lanes: u8, snippets: &[&str]) -> Result<Vec<Code>, String> {
    let mut wrong = BTreeMap::new();
    loop {
        let (source, starts) = source(snippets, &wrong);
        match assemble(target, lanes, source)? {
            Ok(object) => return Ok(cut(&object, snippets.len(), &wrong)),
            Err(messages) => {
                let new = blame(&messages, &starts);
                if new.is_empty() {
                    return Err(messages);
                }
                wrong.extend(new);
            }
        }
    }
}

/// The text of all snippets but the wrong ones, and the first line of each.
fn source(snippets: &[&str], wrong: &BTreeMap<usize, String>) -> (String, Vec<usize>) {
    let mut text = String::new();
    let mut line = 1;
    let mut starts = Vec::new();
    for (i, snippet) in snippets.iter().enumerate() {
        starts.push(line);
        let snippet = if wrong.contains_key(&i) { "" } else { *snippet };
        text += &format!(".section .text.c{i},\"ax\",@progbits\n{snippet}\n");
        line += 2 + snippet.matches('\n').count();
    }
    (text, starts)
}

fn assemble(target: Target, lanes: u8, source: String) -> Result<Result<Vec<u8>, String>, String> {
    let attributes = match (target.is_rdna(), lanes) {
        (false, _) => "",
        (true, 32) => "+wavefrontsize32,-wavefrontsize64",
        (true, _) => "-wavefrontsize32,+wavefrontsize64",
    };
    let mut child = Command::new(ASSEMBLER)
        .args(["--triple=amdgcn-amd-amdhsa", "--filetype=obj", "-o", "-"])
        .arg(format!("--mcpu={}", target.name()))
        .arg(format!("--mattr={attributes}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{ASSEMBLER} does not start: {error}"))?;
    let mut input = child.stdin.take().ok_or("the input is not a pipe")?;
    // The assembler reads all of its input before it writes.
    let written = std::thread::spawn(move || input.write_all(source.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let written = written.join().map_err(|_| "the writer panicked")?;
    if output.status.success() {
        written.map_err(|error| error.to_string())?;
        Ok(Ok(output.stdout))
    } else {
        Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

/// Which snippets the messages (`<stdin>:LINE:COLUMN: error: TEXT`) are about.
fn blame(messages: &str, starts: &[usize]) -> BTreeMap<usize, String> {
    let mut wrong = BTreeMap::new();
    for message in messages.lines() {
        let mut parts = message.splitn(4, ':');
        let line = parts.nth(1).and_then(|text| text.parse::<usize>().ok());
        let (Some(line), Some(text)) = (line, parts.nth(1)) else {
            continue;
        };
        let snippet = starts.partition_point(|start| *start <= line);
        if let Some(snippet) = snippet.checked_sub(1) {
            wrong.entry(snippet).or_insert_with(|| text.trim().into());
        }
    }
    wrong
}

fn cut(object: &[u8], count: usize, wrong: &BTreeMap<usize, String>) -> Vec<Code> {
    let missing = || Err("the object file has no section for it".to_owned());
    let mut codes: Vec<Code> = (0..count).map(|_| missing()).collect();
    let Ok(file) = object::File::parse(object) else {
        return codes;
    };
    for section in file.sections() {
        let index = section.name().ok().and_then(|n| n.strip_prefix(".text.c"));
        let index = index.and_then(|n| n.parse::<usize>().ok());
        if let (Some(index), Ok(data)) = (index, section.data()) {
            codes[index] = Ok(data.to_vec());
        }
    }
    for (index, message) in wrong {
        codes[*index] = Err(format!("does not assemble: {message}"));
    }
    codes
}
