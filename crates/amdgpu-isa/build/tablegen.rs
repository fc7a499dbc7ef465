//! Turns the opcode tables (`src/tables/*.txt`) into Rust.
//!
//! One file per target; `undecoded.txt` lists mnemonics without an opcode. Format of a table, one
//! opcode per line, fields separated by blanks:
//!
//! `encoding opcode mnemonic dst sdst src0 src1 src2 src3 used zero [sdwa=used/zero] [dpp=used/zero] [dpp8] [suffix] [op=older]`
//!
//! - Operands: `-` or element kind and bits (`b32`, `f16`, `u24` …), `m` for a lane mask, then
//!   `xN` for N elements, then a class: `:v` VGPR, `:s` scalar, `:a` AGPR, `:k` mandatory literal.
//! - `used`: mask over the instruction's bits (64, little endian) of the modifier fields that mean
//!   something; `zero`: bits that must be zero. All other bits are ignored.
//! - `suffix`: LLVM appends `_e32` or `_e64` to the mnemonic.
//! - `sdwa`, `dpp`, `dpp8`: the forms with an extra dword that exist, and the same masks for that dword.
//! - `op=older`: the row is a later target's name of the operation `older`, which has a row of its own
//!   name somewhere. It decodes to that operation, so its meaning exists once, and prints as `mnemonic`.
//!
//! A table may build on another target's: `@base gfx90a` takes all its lines, later lines replace
//! those of the same encoding and opcode, `@drop encoding opcode` takes one away and `@drop encoding`
//! all of an encoding.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The targets with a table, as the file's stem.
const TARGETS: &[&str] = &[
    "gfx906", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201",
];

/// Generated files: name and text.
pub(crate) fn generate(source: &Path) -> Result<Vec<(String, String)>> {
    let mut tables = Vec::new();
    for target in TARGETS {
        tables.push((*target, table(source, target)?));
    }
    let undecoded = std::fs::read_to_string(source.join("undecoded.txt"))?;
    let all: Vec<&Line> = tables.iter().flat_map(|(_, rows)| rows).collect();
    let names = operation_names(&all, lines(&undecoded))?;
    let shared = widest(&all);
    let mut signatures = Signatures::default();
    let mut files = vec![("op.rs".to_owned(), op_file(&names))];
    for (target, rows) in &tables {
        check_mnemonics(target, rows)?;
        let text = target_table(rows, &names, &shared, &mut signatures);
        files.push((format!("{target}.rs"), text));
    }
    files.push(("signatures.rs".to_owned(), signature_file(&signatures)));
    Ok(files)
}

/// The operations, sorted. Each has a row of its own name, or is listed without a row.
fn operation_names<'a>(
    rows: &[&'a Line],
    undecoded: impl Iterator<Item = &'a str>,
) -> Result<Vec<&'a str>> {
    let own = rows.iter().filter(|row| !row.is_renamed());
    let mut names: Vec<&str> = own.map(|row| row.op.as_str()).chain(undecoded).collect();
    names.sort_unstable();
    names.dedup();
    for row in rows {
        if names.binary_search(&row.op.as_str()).is_err() {
            return Err(format!("{}: there is no operation {}", row.name, row.op).into());
        }
    }
    Ok(names)
}

/// A target must print each operation in one way: the decoded form does not say which row it was.
fn check_mnemonics(target: &str, rows: &[Line]) -> Result<()> {
    let mut known = BTreeMap::new();
    for row in rows {
        let first = known.entry(row.op.as_str()).or_insert(row.name.as_str());
        if *first != row.name {
            return Err(format!("{target}: {} prints as {first} and {}", row.op, row.name).into());
        }
    }
    Ok(())
}

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
    ("vimage", 256),
    ("vsample", 256),
];

/// One opcode of a table.
#[derive(Clone)]
struct Line {
    encoding: String,
    opcode: usize,
    /// The mnemonic.
    name: String,
    /// The operation: the mnemonic unless `op=` says otherwise.
    op: String,
    operands: Vec<String>,
    used: String,
    zero: String,
    extra: Vec<String>,
}

impl Line {
    fn is_renamed(&self) -> bool {
        self.op != self.name
    }

    fn has(&self, flag: &str) -> bool {
        self.extra.iter().any(|text| text == flag)
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Rows by opcode space and opcode.
type Rows = BTreeMap<(String, usize), Line>;

/// The rows of a target, in the order of encoding and opcode.
fn table(source: &Path, target: &str) -> Result<Vec<Line>> {
    let mut rows = Rows::new();
    collect(source, target, &mut rows)?;
    Ok(rows.into_values().collect())
}

fn collect(source: &Path, target: &str, rows: &mut Rows) -> Result<()> {
    let path = source.join(target).with_extension("txt");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    for line in lines(&text) {
        let bad = || format!("{}: malformed line: {line}", path.display());
        if let Some(base) = line.strip_prefix("@base ") {
            collect(source, base, rows)?;
        } else if let Some(key) = line.strip_prefix("@drop ") {
            let Some((encoding, opcode)) = key.split_once(' ') else {
                rows.retain(|(encoding, _), _| encoding != key);
                continue;
            };
            let opcode = number(opcode).ok_or_else(bad)?;
            rows.remove(&(encoding.to_owned(), opcode))
                .ok_or_else(bad)?;
        } else {
            let row = parse_line(line).ok_or_else(bad)?;
            rows.insert((table_of(&row.encoding).to_owned(), row.opcode), row);
        }
    }
    Ok(())
}

fn number(text: &str) -> Option<usize> {
    usize::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn parse_line(line: &str) -> Option<Line> {
    let mut fields = line.split_whitespace().map(str::to_owned);
    let mut row = Line {
        encoding: fields.next()?,
        opcode: number(&fields.next()?)?,
        name: fields.next()?,
        op: String::new(),
        operands: fields.by_ref().take(6).collect(),
        used: fields.next()?,
        zero: fields.next()?,
        extra: fields.collect(),
    };
    let renamed = row.extra.iter().find_map(|text| text.strip_prefix("op="));
    row.op = renamed.unwrap_or(&row.name).to_owned();
    (row.operands.len() == 6).then_some(row)
}

#[derive(Default)]
struct Signatures {
    index: BTreeMap<String, usize>,
    list: Vec<String>,
}

impl Signatures {
    fn add<T: AsRef<str>>(&mut self, operands: &[T]) -> usize {
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

fn signature<T: AsRef<str>>(operands: &[T]) -> String {
    let types: Vec<String> = operands
        .iter()
        .map(|text| operand_type(text.as_ref()))
        .collect();
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
    rows: &[Line],
    names: &[&str],
    shared: &Widest<'_>,
    signatures: &mut Signatures,
) -> String {
    let mut out = "use super::{Row, Tables};\n\n".to_owned();
    out.push_str(
        "pub(super) static TABLES: Tables = Tables {\n    rows: &ROWS,\n    suffixes: &SUFFIXES,\n    signatures: &SIGNATURES,\n    mnemonics: MNEMONICS,\n",
    );
    for (encoding, size) in ENCODINGS {
        let mut index = vec![0; *size];
        for (position, row) in rows.iter().enumerate() {
            if table_of(&row.encoding) == *encoding && row.opcode < *size {
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
    out.push_str("];\n\n");
    let own = rows.iter().collect::<Vec<_>>();
    let by_op = op_signatures(names, &[&widest(&own), shared], signatures);
    let _ = writeln!(
        out,
        "static SIGNATURES: [u16; {}] = {by_op:?};",
        by_op.len()
    );
    out.push_str(&mnemonics(rows));
    out
}

/// The operations that have another name on a target, sorted.
fn mnemonics(rows: &[Line]) -> String {
    let renamed: BTreeMap<&str, &str> = rows
        .iter()
        .filter(|row| row.is_renamed())
        .map(|row| (row.op.as_str(), row.name.as_str()))
        .collect();
    let mut out = "\nstatic MNEMONICS: &[(crate::op::Op, &str)] = &[\n".to_owned();
    for (op, name) in renamed {
        let _ = writeln!(
            out,
            "    (crate::op::Op::{}, \"{name}\"),",
            op.to_uppercase()
        );
    }
    out.push_str("];\n");
    out
}

/// True if one of an operation's encodings has a suffix; then all have.
fn has_suffix(rows: &[Line], name: &str) -> bool {
    rows.iter().any(|row| row.op == *name && row.has("suffix"))
}

fn row_text(row: &Line, signatures: &mut Signatures) -> String {
    let layout = match row.encoding.as_str() {
        "vop3b" => "super::Layout::ScalarDestination",
        "mai" => "super::Layout::Matrix",
        _ => "super::Layout::Plain",
    };
    format!(
        "Row {{ encoding: {:?}, opcode: {}, op: crate::op::Op::{}, signature: {}, layout: {layout}, used: {}, zero: {}, sdwa: {}, dpp: {}, dpp8: {} }}",
        table_of(&row.encoding),
        row.opcode,
        row.op.to_uppercase(),
        signatures.add(&row.operands),
        row.used,
        row.zero,
        extra_masks(row, "sdwa="),
        extra_masks(row, "dpp="),
        row.has("dpp8"),
    )
}

fn extra_masks(row: &Line, key: &str) -> String {
    row.extra
        .iter()
        .find_map(|text| text.strip_prefix(key)?.split_once('/'))
        .map_or_else(
            || "None".to_owned(),
            |(used, zero)| format!("Some(({used}, {zero}))"),
        )
}

/// The row of each operation that says most about its operands.
type Widest<'a> = BTreeMap<&'a str, (u8, &'a Line)>;

/// Takes the widest encoding (VOP3 names every operand, without the register classes of the short
/// forms), and of equals the first row of the operation's own name.
fn widest<'a>(rows: &[&'a Line]) -> Widest<'a> {
    let mut best = Widest::new();
    for &row in rows {
        let wide = matches!(row.encoding.as_str(), "vop3" | "vop3b" | "vop3p" | "mai");
        let rank = 1 + 2 * u8::from(wide) + u8::from(!row.is_renamed());
        let known = best.get(row.op.as_str()).map_or(0, |entry| entry.0);
        if rank > known {
            best.insert(&row.op, (rank, row));
        }
    }
    best
}

/// One signature per operation, from the first of the lists that has it. A target's own rows come
/// first: operands of one operation may differ between targets.
fn op_signatures(names: &[&str], lists: &[&Widest<'_>], signatures: &mut Signatures) -> Vec<usize> {
    let none = signatures.add(&["-"; 6]);
    names
        .iter()
        .map(|name| {
            let entry = lists.iter().find_map(|list| list.get(name));
            entry.map_or(none, |(_, row)| signatures.add(&row.operands))
        })
        .collect()
}

fn signature_file(signatures: &Signatures) -> String {
    let mut out = "use crate::signature::{Class, Kind, OperandType, Signature};\n\nconst fn ty(kind: Kind, bits: u8, count: u8, class: Class) -> OperandType {\n    OperandType::new(kind, bits, count, class)\n}\n\n".to_owned();
    let _ = writeln!(
        out,
        "pub(crate) static SIGNATURES: [Signature; {}] = [",
        signatures.list.len()
    );
    for text in &signatures.list {
        let _ = writeln!(out, "    {text},");
    }
    out.push_str("];\n");
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
        .replace("@VARIANTS", &variants("    ", ""))
        .replace("@ALL", &variants("        ", "Self::"))
        .replace("@NAMES", &strings)
}

const OP_TEMPLATE: &str = r##"/// An operation; the variant is LLVM's mnemonic in capitals without encoding suffix. Later targets
/// may print another name, see `mnemonic`.
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
