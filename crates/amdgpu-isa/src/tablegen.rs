//! Turns the opcode tables (`src/tables/*.txt`) into the Rust tables beside them and `op.rs`.
//!
//! Format of a table, one opcode per line, fields separated by blanks:
//!
//! `encoding opcode mnemonic dst sdst src0 src1 src2 src3 used zero [sdwa=used/zero] [dpp=used/zero] [dpp8] [suffix]`
//!
//! - Operands: `-` or element kind and bits (`b32`, `f16`, `u24` …), `m` for a lane mask, then
//!   `xN` for N elements, then a class: `:v` VGPR, `:s` scalar, `:a` AGPR, `:k` mandatory literal.
//! - `used`: mask over the instruction's bits (64, little endian) of the modifier fields that mean
//!   something; `zero`: bits that must be zero. All other bits are ignored.
//! - `suffix`: LLVM appends `_e32` or `_e64` to the mnemonic.
//! - `sdwa`, `dpp`, `dpp8`: the forms with an extra dword that exist, and the same masks for that dword.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Source text of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// `gfx9.txt`.
    pub gfx9: &'a str,
    /// `gfx10.txt`.
    pub gfx10: &'a str,
    /// `undecoded.txt`: mnemonics without opcode.
    pub undecoded: &'a str,
}

impl Input<'static> {
    /// The tables of this crate.
    pub const CHECKED_IN: Self = Self {
        gfx9: include_str!("tables/gfx9.txt"),
        gfx10: include_str!("tables/gfx10.txt"),
        undecoded: include_str!("tables/undecoded.txt"),
    };
}

/// Generated files, as path below `src/` and text.
#[must_use]
pub fn generate(input: Input<'_>) -> Vec<(&'static str, String)> {
    let gfx9 = rows(input.gfx9);
    let gfx10 = rows(input.gfx10);
    let mut signatures = Signatures::default();
    let mut names: Vec<&str> = gfx9.iter().chain(&gfx10).map(|row| row.name).collect();
    names.extend(lines(input.undecoded));
    names.sort_unstable();
    names.dedup();
    let gfx9_text = target_table("gfx9.txt", &gfx9, &names, &mut signatures);
    let gfx10_text = target_table("gfx10.txt", &gfx10, &names, &mut signatures);
    let by_op = op_signatures(&names, gfx9.iter().chain(&gfx10), &mut signatures);
    vec![
        ("op.rs", op_file(&names)),
        ("tables/gfx9.rs", gfx9_text),
        ("tables/gfx10.rs", gfx10_text),
        ("tables/signatures.rs", signature_file(&signatures, &by_op)),
    ]
}

const HEADER: &str = "//! Generated from `src/tables/*.txt`; regenerate with\n//! `cargo run -p amdgpu-isa --example generate`.\n";

/// Encodings, with the number of opcodes their field can hold.
const ENCODINGS: &[(&str, usize)] = &[
    ("sop2", 128),
    ("sop1", 256),
    ("sopc", 128),
    ("sopp", 128),
    ("sopk", 32),
    ("smem", 256),
    ("vop2", 64),
    ("vop1", 256),
    ("vopc", 256),
    ("vop3", 1024),
    ("vop3p", 128),
    ("ds", 256),
    ("flat", 128),
    ("global", 128),
    ("scratch", 128),
    ("mubuf", 256),
    ("mtbuf", 16),
    ("mimg", 256),
];

struct Line<'a> {
    encoding: &'a str,
    opcode: usize,
    name: &'a str,
    operands: Vec<&'a str>,
    used: &'a str,
    zero: &'a str,
    extra: Vec<&'a str>,
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn rows(text: &str) -> Vec<Line<'_>> {
    lines(text).filter_map(parse_line).collect()
}

/// `None` for a malformed line; the table test counts rows, so none goes missing unseen.
fn parse_line(line: &str) -> Option<Line<'_>> {
    let mut fields = line.split_whitespace();
    Some(Line {
        encoding: fields.next()?,
        opcode: usize::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?,
        name: fields.next()?,
        operands: fields.by_ref().take(6).collect(),
        used: fields.next()?,
        zero: fields.next()?,
        extra: fields.collect(),
    })
}

#[derive(Default)]
struct Signatures {
    index: BTreeMap<String, usize>,
    list: Vec<String>,
}

impl Signatures {
    fn add(&mut self, operands: &[&str]) -> usize {
        let text = signature(operands);
        if let Some(&index) = self.index.get(&text) {
            return index;
        }
        let index = self.list.len();
        self.list.push(text.clone());
        self.index.insert(text, index);
        index
    }
}

fn signature(operands: &[&str]) -> String {
    let types: Vec<String> = operands.iter().map(|text| operand_type(text)).collect();
    format!(
        "Signature {{ dst: {}, sdst: {}, src: [{}] }}",
        types[0],
        types[1],
        types[2..].join(", ")
    )
}

fn operand_type(text: &str) -> String {
    let (name, class) = text.split_once(':').unwrap_or((text, ""));
    let (element, count) = name.split_once('x').unwrap_or((name, "1"));
    if element == "-" {
        return "OperandType::NONE".to_owned();
    }
    let digits = element
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(element.len());
    let (kind, bits) = element.split_at(digits);
    let bits = if bits.is_empty() { "1" } else { bits };
    format!(
        "ty({}, {bits}, {count}, {})",
        kind_name(kind),
        class_name(class)
    )
}

fn kind_name(kind: &str) -> &'static str {
    match kind {
        "b" => "Kind::Bits",
        "i" => "Kind::Int",
        "u" => "Kind::Uint",
        "f" => "Kind::Float",
        "bf" => "Kind::Bfloat",
        _ => "Kind::Mask",
    }
}

fn class_name(class: &str) -> &'static str {
    match class {
        "v" => "Class::Vector",
        "s" => "Class::Scalar",
        "a" => "Class::Accumulator",
        "k" => "Class::Literal",
        _ => "Class::Any",
    }
}

/// The table that `encoding` shares the opcode space with.
fn table_of(encoding: &str) -> &str {
    match encoding {
        "vop3b" => "vop3",
        "mai" => "vop3p",
        other => other,
    }
}

fn target_table(
    source: &str,
    rows: &[Line<'_>],
    names: &[&str],
    signatures: &mut Signatures,
) -> String {
    let mut out = format!(
        "{HEADER}//! This file: `{source}`.\n\nuse super::{{Layout, Row, Tables}};\nuse crate::op::Op;\n\n"
    );
    out.push_str(
        "pub(super) static TABLES: Tables = Tables {\n    rows: &ROWS,\n    suffixes: &SUFFIXES,\n",
    );
    for (encoding, size) in ENCODINGS {
        let mut index = vec![0; *size];
        for (position, row) in rows.iter().enumerate() {
            if table_of(row.encoding) == *encoding && row.opcode < *size {
                index[row.opcode] = position + 1;
            }
        }
        // An empty table for encodings without rows.
        if index.iter().all(|&entry| entry == 0) {
            index.clear();
        }
        let _ = writeln!(out, "    {encoding}: &{index:?},");
    }
    let _ = writeln!(out, "}};\n\nstatic ROWS: [Row; {}] = [", rows.len());
    for row in rows {
        let _ = writeln!(out, "    {},", row_text(row, signatures));
    }
    out.push_str("];\n\n");
    let _ = writeln!(out, "static SUFFIXES: [bool; {}] = [", names.len());
    for name in names {
        let _ = writeln!(out, "    {},", has_suffix(rows, name));
    }
    out.push_str("];\n");
    out
}

/// True if one of an operation's encodings has a suffix; then all have.
fn has_suffix(rows: &[Line<'_>], name: &str) -> bool {
    rows.iter()
        .any(|row| row.name == name && row.extra.contains(&"suffix"))
}

fn row_text(row: &Line<'_>, signatures: &mut Signatures) -> String {
    let layout = match row.encoding {
        "vop3b" => "Layout::ScalarDestination",
        "mai" => "Layout::Matrix",
        _ => "Layout::Plain",
    };
    format!(
        "Row {{ op: Op::{}, signature: {}, layout: {layout}, used: {}, zero: {}, sdwa: {}, dpp: {}, dpp8: {} }}",
        row.name.to_uppercase(),
        signatures.add(&row.operands),
        row.used,
        row.zero,
        extra_masks(row, "sdwa="),
        extra_masks(row, "dpp="),
        row.extra.contains(&"dpp8"),
    )
}

fn extra_masks(row: &Line<'_>, key: &str) -> String {
    row.extra
        .iter()
        .find_map(|text| text.strip_prefix(key)?.split_once('/'))
        .map_or_else(
            || "None".to_owned(),
            |(used, zero)| format!("Some(({used}, {zero}))"),
        )
}

/// One signature per operation: that of its widest encoding (VOP3 names every operand), without
/// register classes of the short forms.
fn op_signatures<'a>(
    names: &[&str],
    rows: impl Iterator<Item = &'a Line<'a>>,
    signatures: &mut Signatures,
) -> Vec<usize> {
    let mut best: BTreeMap<&str, (u8, &Line<'_>)> = BTreeMap::new();
    for row in rows {
        let rank = match row.encoding {
            "vop3" | "vop3b" | "vop3p" | "mai" => 2,
            _ => 1,
        };
        let known = best.get(row.name).map_or(0, |entry| entry.0);
        if rank > known {
            best.insert(row.name, (rank, row));
        }
    }
    let none = signatures.add(&["-"; 6]);
    names
        .iter()
        .map(|name| {
            best.get(name)
                .map_or(none, |(_, row)| signatures.add(&row.operands))
        })
        .collect()
}

fn signature_file(signatures: &Signatures, by_op: &[usize]) -> String {
    let mut out = format!(
        "{HEADER}\nuse crate::signature::{{Class, Kind, OperandType, Signature}};\n\nconst fn ty(kind: Kind, bits: u8, count: u8, class: Class) -> OperandType {{\n    OperandType::new(kind, bits, count, class)\n}}\n\n"
    );
    let _ = writeln!(
        out,
        "pub(crate) static SIGNATURES: [Signature; {}] = [",
        signatures.list.len()
    );
    for text in &signatures.list {
        let _ = writeln!(out, "    {text},");
    }
    let _ = writeln!(
        out,
        "];\n\n/// Index into [`SIGNATURES`] by operation.\npub(crate) static OF_OP: [u16; {}] = {by_op:?};",
        by_op.len()
    );
    out
}

fn op_file(names: &[&str]) -> String {
    let variants = |indent: &str, prefix: &str| {
        names.iter().fold(String::new(), |mut text, name| {
            let _ = writeln!(text, "{indent}{prefix}{},", name.to_uppercase());
            text
        })
    };
    let strings = names.iter().fold(String::new(), |mut text, name| {
        let _ = writeln!(text, "    \"{name}\",");
        text
    });
    OP_TEMPLATE
        .replace("@HEADER", HEADER)
        .replace("@VARIANTS", &variants("    ", ""))
        .replace("@ALL", &variants("        ", "Self::"))
        .replace("@NAMES", &strings)
}

const OP_TEMPLATE: &str = r##"//! The operations of all targets, in alphabetical order of LLVM's mnemonics.
//!
@HEADER
/// An operation; the variant is LLVM's mnemonic in capitals without encoding suffix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[expect(non_camel_case_types, missing_docs, reason = "vendor mnemonics")]
#[repr(u16)]
pub enum Op {
@VARIANTS}

impl Op {
    /// Every operation, by discriminant.
    pub const ALL: &[Self] = &[
@ALL    ];

    /// LLVM's mnemonic without encoding suffix, in small letters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The operation of a mnemonic without encoding suffix, in small letters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES
            .binary_search(&name)
            .ok()
            .map(|index| Self::ALL[index])
    }
}

const NAMES: &[&str] = &[
@NAMES];
"##;
