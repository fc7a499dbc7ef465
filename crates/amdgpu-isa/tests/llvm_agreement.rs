//! Every encoding means to us what it means to LLVM's disassembler.

#![expect(clippy::unwrap_used, reason = "a test")]
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod llvm;

use std::collections::BTreeSet;

use amdgpu_isa::{Op, Target, decode, opcodes};

/// Deterministic pseudo-random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// An encoding: fixed bits, opcode position, and the fields that get special values.
struct Shape {
    name: &'static str,
    base: u64,
    opcode: (u32, u32),
    opcode_high: Option<u32>,
    /// 9-bit source fields (low bit).
    sources: &'static [u32],
    /// 7-bit scalar register fields.
    scalars: &'static [u32],
    /// Modifier fields, mostly zero: low bit and width.
    modifiers: &'static [(u32, u32)],
}

impl Shape {
    fn opcode_bits(&self) -> u32 {
        self.opcode.1 + u32::from(self.opcode_high.is_some())
    }
}

const fn shape(name: &'static str, base: u64, opcode: (u32, u32)) -> Shape {
    Shape {
        name,
        base,
        opcode,
        opcode_high: None,
        sources: &[],
        scalars: &[],
        modifiers: &[],
    }
}

const VOP3_MODIFIERS: &[(u32, u32)] = &[(8, 3), (11, 4), (15, 1), (59, 2), (61, 3)];
const FLAT_MODIFIERS: &[(u32, u32)] = &[(13, 1), (16, 2), (25, 1), (55, 1)];
const IMAGE_MODIFIERS: &[(u32, u32)] = &[(12, 6), (25, 1), (53, 5), (62, 2)];
const BUFFER_MODIFIERS: &[(u32, u32)] = &[(12, 2), (14, 2), (16, 2), (53, 3)];

/// Image operations of gfx11.
const GFX11_IMAGE: Shape = Shape {
    modifiers: &[(12, 6), (53, 2), (58, 5)],
    ..shape("mimg", 0xf000_0000, (18, 8))
};

/// Image operations of gfx12.
const VIMAGE: Shape = Shape {
    modifiers: &[(3, 5), (13, 1), (50, 6), (56, 8)],
    ..shape("vimage", 0xd000_0000, (14, 8))
};
const VSAMPLE: Shape = Shape {
    modifiers: &[(3, 5), (50, 5), (62, 2)],
    ..shape("vsample", 0xe400_0000, (14, 8))
};

const GFX11_FLAT_MODIFIERS: &[(u32, u32)] = &[(13, 3), (55, 1)];

const GFX11_BUFFER_MODIFIERS: &[(u32, u32)] = &[(12, 3), (53, 3)];

/// Memory operations of gfx11. Scalar bases are often NULL, which FLAT insists on.
const GFX11_MEMORY: [Shape; 6] = [
    Shape {
        modifiers: &[(17, 1)],
        ..shape("ds", 0xd800_0000, (18, 8))
    },
    Shape {
        scalars: &[48],
        modifiers: GFX11_FLAT_MODIFIERS,
        ..shape("flat", 0xdc00_0000, (18, 7))
    },
    Shape {
        scalars: &[48],
        modifiers: GFX11_FLAT_MODIFIERS,
        ..shape("scratch", 0xdc01_0000, (18, 7))
    },
    Shape {
        scalars: &[48],
        modifiers: GFX11_FLAT_MODIFIERS,
        ..shape("global", 0xdc02_0000, (18, 7))
    },
    Shape {
        modifiers: GFX11_BUFFER_MODIFIERS,
        ..shape("mubuf", 0xe000_0000, (18, 8))
    },
    Shape {
        modifiers: GFX11_BUFFER_MODIFIERS,
        ..shape("mtbuf", 0xe800_0000, (15, 4))
    },
];

const GFX12_FLAT_MODIFIERS: &[(u32, u32)] = &[(7, 1), (50, 5)];

/// LDS, VFLAT, VSCRATCH and VGLOBAL of gfx12.
const GFX12_MEMORY: [Shape; 4] = [
    Shape {
        modifiers: &[(17, 1)],
        ..shape("ds", 0xd800_0000, (18, 8))
    },
    Shape {
        scalars: &[0],
        modifiers: GFX12_FLAT_MODIFIERS,
        ..shape("flat", 0xec00_0000, (14, 8))
    },
    Shape {
        scalars: &[0],
        modifiers: GFX12_FLAT_MODIFIERS,
        ..shape("scratch", 0xed00_0000, (14, 8))
    },
    Shape {
        scalars: &[0],
        modifiers: GFX12_FLAT_MODIFIERS,
        ..shape("global", 0xee00_0000, (14, 8))
    },
];

/// The encodings of gfx11 and gfx12 that have rows.
fn newer_shapes(target: Target) -> Vec<Shape> {
    let smem_opcode = if target == Target::Gfx1201 {
        (13, 6)
    } else {
        (18, 8)
    };
    let mut shapes = vec![
        shape("sop2", 0x8000_0000, (23, 7)),
        shape("sop1", 0xbe80_0000, (8, 8)),
        shape("sopc", 0xbf00_0000, (16, 7)),
        shape("sopp", 0xbf80_0000, (16, 7)),
        shape("sopk", 0xb000_0000, (23, 5)),
        Shape {
            scalars: &[57],
            ..shape("smem", 0xf400_0000, smem_opcode)
        },
    ];
    if target == Target::Gfx1100 {
        shapes.extend(GFX11_MEMORY);
        shapes.push(GFX11_IMAGE);
    } else {
        shapes.extend(GFX12_MEMORY);
        shapes.extend([VIMAGE, VSAMPLE]);
    }
    shapes
}

fn shapes(target: Target) -> Vec<Shape> {
    if matches!(target, Target::Gfx1100 | Target::Gfx1201) {
        return newer_shapes(target);
    }
    let gfx10 = target == Target::Gfx1030;
    let smem = if gfx10 { 0xf400_0000 } else { 0xc000_0000 };
    let vop3 = if gfx10 { 0xd400_0000 } else { 0xd000_0000 };
    let vop3p = if gfx10 { 0xcc00_0000 } else { 0xd380_0000 };
    let ds = if gfx10 { (18, 8) } else { (17, 8) };
    let mtbuf = if gfx10 { (16, 3) } else { (15, 4) };
    vec![
        shape("sop2", 0x8000_0000, (23, 7)),
        shape("sop1", 0xbe80_0000, (8, 8)),
        shape("sopc", 0xbf00_0000, (16, 7)),
        shape("sopp", 0xbf80_0000, (16, 7)),
        shape("sopk", 0xb000_0000, (23, 5)),
        Shape {
            scalars: &[57],
            ..shape("smem", smem, (18, 8))
        },
        Shape {
            sources: &[0],
            ..shape("vop2", 0, (25, 6))
        },
        Shape {
            sources: &[0],
            ..shape("vop1", 0x7e00_0000, (9, 8))
        },
        Shape {
            sources: &[0],
            ..shape("vopc", 0x7c00_0000, (17, 8))
        },
        Shape {
            sources: &[32, 41, 50],
            modifiers: VOP3_MODIFIERS,
            ..shape("vop3", vop3, (16, 10))
        },
        Shape {
            sources: &[32, 41, 50],
            ..shape("vop3p", vop3p, (16, 7))
        },
        Shape {
            modifiers: &[(16, 2), (25, 1)],
            ..shape("ds", 0xd800_0000, ds)
        },
        Shape {
            scalars: &[48],
            modifiers: FLAT_MODIFIERS,
            ..shape("flat", 0xdc00_0000, (18, 7))
        },
        Shape {
            scalars: &[48],
            modifiers: FLAT_MODIFIERS,
            ..shape("scratch", 0xdc00_4000, (18, 7))
        },
        Shape {
            scalars: &[48],
            modifiers: FLAT_MODIFIERS,
            ..shape("global", 0xdc00_8000, (18, 7))
        },
        Shape {
            modifiers: BUFFER_MODIFIERS,
            opcode_high: gfx10.then_some(25),
            ..shape("mubuf", 0xe000_0000, (18, 7))
        },
        Shape {
            modifiers: &[(53, 3)],
            opcode_high: gfx10.then_some(53),
            ..shape("mtbuf", 0xe800_0000, mtbuf)
        },
        Shape {
            modifiers: IMAGE_MODIFIERS,
            opcode_high: Some(0),
            ..shape("mimg", 0xf000_0000, (18, 7))
        },
    ]
}

const FIELD_MASK: fn(u32, u32) -> u64 = |low, width| ((1 << width) - 1) << low;

fn replace(word: u64, low: u32, width: u32, value: u64) -> u64 {
    word & !FIELD_MASK(low, width) | (value << low) & FIELD_MASK(low, width)
}

/// A source code: mostly a register or a constant, now and then anything.
fn source_code(random: &mut Random) -> u64 {
    match random.below(8) {
        0..=3 => 256 + random.below(256),
        4 => random.below(108),
        5 => 128 + random.below(128),
        _ => random.below(512),
    }
}

fn record(target: Target, shape: &Shape, opcode: u64, random: &mut Random) -> Vec<u8> {
    let mut word = random.next();
    // Sparse words reach the encodings that want zeros.
    if random.chance(3) {
        word &= random.next() & random.next();
    }
    if random.chance(6) {
        word &= 0xffff_ffff;
    }
    for &(low, width) in shape.modifiers {
        if !random.chance(4) {
            word = replace(word, low, width, 0);
        }
    }
    for &low in shape.sources {
        word = replace(word, low, 9, source_code(random));
    }
    if shape.sources.len() == 3 {
        // Operations of one or two sources want the other fields to be zero.
        match random.below(12) {
            0 => word = 0,
            1..4 => word = replace(word, 41, 18, 0),
            4..8 => word = replace(word, 50, 9, 0),
            _ => {}
        }
    }
    for &low in shape.scalars {
        if random.chance(2) {
            // "No register" of the generations.
            let off = if target.is_gfx11_plus() {
                0x7c
            } else {
                0x7d + 2 * random.below(2)
            };
            word = replace(word, low, 7, off);
        }
    }
    let (low, width) = shape.opcode;
    if shape.base >> 31 == 0 || shape.name.starts_with("sop") {
        word = random.next() << 32 | word & 0xffff_ffff;
    }
    let fixed = fixed_bits(target, shape);
    word = word & !fixed | shape.base;
    word = replace(word, low, width, opcode);
    if let Some(bit) = shape.opcode_high {
        word = replace(word, bit, 1, opcode >> width);
    }
    word = tame(shape, word, random);
    if is_image(shape.name) && random.chance(4) {
        word = ray(target, word);
    }
    let mut bytes = word.to_le_bytes().to_vec();
    let mut third = random.next();
    if random.chance(2) {
        // gfx12 wants zeros for the address registers that an image operation does not have.
        third &= 0x00ff_ffff;
    }
    bytes.extend(&third.to_le_bytes()[..4]);
    bytes.extend([0, 0, 0x80, 0xbf].repeat(2));
    bytes
}

/// Bits that tell the encoding.
fn fixed_bits(target: Target, shape: &Shape) -> u64 {
    match shape.name {
        "vop2" => 0x8000_0000,
        "vop1" | "vopc" => 0xfe00_0000,
        "sop2" => 0xc000_0000,
        "sopk" => 0xf000_0000,
        "sop1" | "sopc" | "sopp" => 0xff80_0000,
        "vop3p" => 0xff80_0000,
        "flat" | "scratch" | "global" if target.is_gfx12() => 0xff00_0000,
        "flat" | "scratch" | "global" if target.is_gfx11_plus() => 0xfc03_0000,
        "flat" | "scratch" | "global" => 0xfc00_c000,
        _ => 0xfc00_0000,
    }
}

/// Modifiers that ray tracing insists on.
fn ray(target: Target, word: u64) -> u64 {
    if target == Target::Gfx1100 {
        return word & 0x001f_ffff_fffd_0001 | 0xf000_8f80;
    }
    if target == Target::Gfx1201 {
        return word & 0xff03_ffff_fc3f_c050 | 0x03c0_0010;
    }
    word & 0x401f_ffff_ddfc_0007 | 0xf000_9f00
}

/// Vector ALU words with a control dword get a plausible one.
fn tame(shape: &Shape, word: u64, random: &mut Random) -> u64 {
    if shape.base >> 31 != 0 {
        return word;
    }
    match random.below(6) {
        0 => sdwa(replace(word, 0, 9, 249), random),
        1 => dpp(replace(word, 0, 9, 250), random),
        2 => replace(word, 0, 9, 233 + random.below(2)),
        _ => word,
    }
}

/// Selectors stay below 7 and DST_UNUSED below 3: LLVM aborts on the others.
fn sdwa(mut word: u64, random: &mut Random) -> u64 {
    for low in [40, 48, 56] {
        word = replace(word, low, 3, random.below(7));
    }
    word = replace(word, 43, 2, random.below(3));
    for (low, width) in [(45, 3), (51, 3), (59, 3), (55, 1), (63, 1)] {
        if !random.chance(3) {
            word = replace(word, low, width, 0);
        }
    }
    word
}

fn dpp(mut word: u64, random: &mut Random) -> u64 {
    if random.chance(2) {
        word = replace(word, 40, 9, 0x100 + random.below(0x70));
    }
    if !random.chance(3) {
        word = replace(word, 52, 4, 0);
    }
    word
}

#[derive(Default)]
struct Tally {
    agreed: usize,
    refused: usize,
    excepted: usize,
    differences: Vec<String>,
    /// Operations that agreed at least once.
    seen: BTreeSet<Op>,
}

impl Tally {
    const fn total(&self) -> usize {
        self.agreed + self.refused + self.excepted + self.differences.len()
    }

    fn add(&mut self, mc: &str, target: Target, bytes: &[u8], llvm: &llvm::Verdict) {
        let inst = decode(target, bytes).ok();
        let ours = inst.map(|inst| inst.display(target).to_string());
        let theirs = llvm.as_ref().map(|(text, _)| text.clone());
        match (inst, llvm) {
            (None, None) => self.refused += 1,
            (Some(inst), Some((_, encoding))) if ours == theirs => {
                if is_size(encoding, bytes, usize::from(inst.size_bytes)) {
                    self.agreed += 1;
                    self.seen.insert(inst.op);
                } else {
                    self.differences.push(difference(bytes, "size", encoding));
                }
            }
            _ if is_exception(target, inst.is_some(), llvm)
                || inst.is_none() && is_odd_image(mc, target, llvm) =>
            {
                self.excepted += 1;
            }
            _ => {
                let show = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                self.differences
                    .push(difference(bytes, &show(theirs), &show(ours)));
            }
        }
    }
}

/// Checks our length where LLVM's assembly of the text is the record itself.
fn is_size(encoding: &str, bytes: &[u8], size: usize) -> bool {
    let listed: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let length = encoding.split(',').count();
    listed[..length].join(",") != encoding || size == length
}

fn difference(bytes: &[u8], llvm: &str, ours: &str) -> String {
    let hex: String = bytes[..12]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{hex}: LLVM {llvm}, ours {ours}")
}

/// The exceptions of docs/decode-exceptions.md.
fn is_exception(target: Target, decoded: bool, llvm: &llvm::Verdict) -> bool {
    llvm.as_ref().is_some_and(|(text, _)| {
        // LLVM prints what it finds wrong as a comment inside the text.
        let null = target == Target::Gfx90a && text.contains("null");
        // Read-only values as a destination, a lane mask or a vector register.
        let special = [
            "v_cmp",
            "v_mfma",
            "v_accvgpr",
            "v_read",
            "v_addc",
            "v_subb",
            "v_add_co_ci",
            "v_sub_co_ci",
            "v_subrev_co_ci",
            "v_cndmask",
            "v_movrel",
            "v_swap",
        ]
        .iter()
        .any(|start| text.starts_with(start))
            && text.contains(" src_");
        // A literal as a buffer's scalar offset.
        let literal =
            text.contains("buffer_") && (text.contains(", 0x") || text.contains(", lit("));
        // Bits that only gfx1250 has.
        let later =
            target == Target::Gfx1201 && (text.ends_with(" nv") || text.contains(" scale_offset"));
        let scratch_base = text.contains("buffer_") && text.contains("src_flat_scratch_base");
        text.contains("/*")
            || !decoded
                && (text.starts_with("v_interp")
                    || null
                    || special
                    || literal
                    || scratch_base
                    || text.ends_with(" src_lds_direct")
                    || later
                    || ends_behind_the_file(text))
    })
}

/// LLVM 22 knows more vector registers than these targets have.
fn ends_behind_the_file(text: &str) -> bool {
    let ends = text.split(':').skip(1).filter_map(|part| {
        let (number, _) = part.split_once(']')?;
        number.parse::<u32>().ok()
    });
    ends.max().is_some_and(|last| last > 255)
}

/// LLVM prints image operations with the shortest operands if it has none of the right length;
/// its assembler refuses the text.
fn is_odd_image(mc: &str, target: Target, llvm: &llvm::Verdict) -> bool {
    llvm.as_ref().is_some_and(|(text, _)| {
        // gfx9's encoding of an operation that gfx12 places elsewhere.
        let stray = target == Target::Gfx1201 && text.starts_with("v_fma_mix");
        stray || text.starts_with("image_") && !llvm::assembles(mc, target, text)
    })
}

fn samples() -> u64 {
    std::env::var("ISA_SAMPLES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(5)
}

fn compare(target: Target) {
    let newer = matches!(target, Target::Gfx1100 | Target::Gfx1201);
    compare_some(if newer { 22 } else { 19 }, target, |name| !is_image(name));
}

fn is_image(name: &str) -> bool {
    matches!(name, "mimg" | "vimage" | "vsample")
}

/// Image operations as the newest LLVM reads them.
fn compare_images(target: Target) {
    compare_some(22, target, is_image);
}

/// Memory operations, which LLVM 19 reads with other names.
fn compare_memory(target: Target) {
    const MEMORY: [&str; 6] = ["ds", "flat", "scratch", "global", "mubuf", "mtbuf"];
    compare_some(22, target, |name| MEMORY.contains(&name));
}

fn compare_some(version: u32, target: Target, wanted: fn(&str) -> bool) {
    let Some(mc) = llvm::tool("llvm-mc", version) else {
        eprintln!("skipped: llvm-mc of LLVM {version} is not installed");
        return;
    };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut differences = Vec::new();
    let mut unseen = Vec::new();
    for shape in shapes(target).into_iter().filter(|s| wanted(s.name)) {
        let mut tally = Tally::default();
        let opcodes: Vec<u64> = (0..1 << shape.opcode_bits()).collect();
        for _ in 0..samples() {
            sample(&mc, target, &shape, &opcodes, &mut random, &mut tally);
        }
        // Opcodes that random operands rarely suit get more chances.
        for _ in 0..20 {
            let missing = missing_opcodes(target, &shape, &tally);
            if missing.is_empty() {
                break;
            }
            let opcodes = missing.repeat(100 / missing.len().min(100));
            sample(&mc, target, &shape, &opcodes, &mut random, &mut tally);
        }
        unseen.extend(
            missing_opcodes(target, &shape, &tally)
                .iter()
                .map(|opcode| format!("{} {opcode:#x}", shape.name)),
        );
        eprintln!(
            "{target:?} {}: {} records, {} same text, {} refused by both, {} exceptions, {} differ",
            shape.name,
            tally.total(),
            tally.agreed,
            tally.refused,
            tally.excepted,
            tally.differences.len()
        );
        differences.append(&mut tally.differences);
    }
    for text in differences.iter().take(200) {
        eprintln!("{text}");
    }
    assert!(differences.is_empty(), "{} differences", differences.len());
    assert!(unseen.is_empty(), "never compared: {unseen:?}");
}

fn sample(
    mc: &str,
    target: Target,
    shape: &Shape,
    opcodes: &[u64],
    random: &mut Random,
    tally: &mut Tally,
) {
    let records: Vec<Vec<u8>> = opcodes
        .iter()
        .map(|&opcode| record(target, shape, opcode, random))
        .collect();
    for (bytes, verdict) in records.iter().zip(llvm::disassemble(mc, target, &records)) {
        tally.add(mc, target, bytes, &verdict);
    }
}

/// Opcodes of the table that have not agreed yet.
fn missing_opcodes(target: Target, shape: &Shape, tally: &Tally) -> Vec<u64> {
    opcodes(target)
        .filter(|(encoding, _, op)| *encoding == shape.name && !tally.seen.contains(op))
        .map(|(_, opcode, _)| u64::from(opcode))
        .collect()
}

#[test]
fn gfx90a_encodings_read_as_llvm_reads_them() {
    compare(Target::Gfx90a);
}

#[test]
fn gfx1030_encodings_read_as_llvm_reads_them() {
    compare(Target::Gfx1030);
}

#[test]
fn gfx1100_encodings_read_as_llvm_reads_them() {
    compare(Target::Gfx1100);
}

#[test]
fn gfx1201_encodings_read_as_llvm_reads_them() {
    compare(Target::Gfx1201);
}

#[test]
fn gfx906_images_read_as_llvm_reads_them() {
    compare_images(Target::Gfx906);
}

#[test]
fn gfx90a_images_read_as_llvm_reads_them() {
    compare_images(Target::Gfx90a);
}

#[test]
fn gfx1030_images_read_as_llvm_reads_them() {
    compare_images(Target::Gfx1030);
}

#[test]
fn gfx1100_images_read_as_llvm_reads_them() {
    compare_images(Target::Gfx1100);
}

#[test]
fn gfx1100_memory_operations_read_as_llvm_reads_them() {
    compare_memory(Target::Gfx1100);
}

#[test]
fn gfx1201_memory_operations_read_as_llvm_reads_them() {
    compare_memory(Target::Gfx1201);
}

#[test]
fn gfx1201_images_read_as_llvm_reads_them() {
    compare_images(Target::Gfx1201);
}
