//! The parts of a code object's ELF file that loading needs, each checked against the file.
//!
//! Rules: LLVM AMDGPUUsage, "Code Object"; the ELF specification for the order of segments.

use super::metadata;
use super::target::{self, Target};
use crate::{Error, Result};
use object::LittleEndian;
use object::elf::{
    ELFCLASS64, ELFDATA2LSB, EM_AMDGPU, ET_DYN, FileHeader64, PT_LOAD, ProgramHeader64, Rela64,
    SHT_DYNSYM, SHT_RELA, Sym64,
};
use object::read::elf::{
    FileHeader, ProgramHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable,
};

type Header = FileHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;

/// `ELFOSABI_AMDGPU_HSA`
const OSABI_HSA: u8 = 64;
/// Code object V6; 0 is V2.
const NEWEST_ABI_VERSION: u8 = 4;
/// Largest image: PC-relative addresses inside of a code object have 32 bits.
const MAX_IMAGE: u64 = 1 << 32;

/// A checked code object.
#[derive(Debug)]
pub(super) struct CodeObject<'data> {
    pub(super) target: Target,
    /// In the order of their addresses, without overlap.
    pub(super) segments: Vec<Segment<'data>>,
    /// Bytes from address 0 to the end of the last segment.
    pub(super) image_size: u64,
    pub(super) symbols: Vec<ElfSymbol>,
    pub(super) relocations: Vec<Relocation>,
}

/// A `PT_LOAD` segment.
#[derive(Debug)]
pub(super) struct Segment<'data> {
    pub(super) vaddr: u64,
    pub(super) memory_size: u64,
    pub(super) file_offset: u64,
    pub(super) data: &'data [u8],
}

/// An entry of `.dynsym`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ElfSymbol {
    pub(super) name: String,
    /// `STT_*`
    pub(super) kind: u8,
    pub(super) global: bool,
    pub(super) defined: bool,
    pub(super) value: u64,
    pub(super) size: u64,
    /// In a section without the write flag.
    pub(super) constant: bool,
    /// Of the section.
    pub(super) alignment: u64,
}

/// An entry of a `SHT_RELA` section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Relocation {
    pub(super) offset: u64,
    /// `R_AMDGPU_*`
    pub(super) kind: u32,
    /// Index in `.dynsym`, 0 for none.
    pub(super) symbol: usize,
    pub(super) addend: i64,
}

/// Reads a code object.
///
/// # Errors
/// `InvalidCodeObject` for anything that is no well-formed code object of this ABI,
/// `InvalidIsaName` for an unknown processor.
pub(super) fn parse(data: &[u8]) -> Result<CodeObject<'_>> {
    let header = header(data)?;
    let sections = header.sections(ENDIAN, data).map_err(invalid)?;
    let segments = segments(header, data)?;
    let image_size = segments.last().map_or(0, |s| s.vaddr + s.memory_size);
    if segments.is_empty() || image_size > MAX_IMAGE {
        return Err(Error::InvalidCodeObject);
    }
    Ok(CodeObject {
        target: target_of(header, data)?,
        image_size,
        symbols: symbols(&sections, data, image_size)?,
        relocations: relocations(&sections, data)?,
        segments,
    })
}

/// The crate's reader says only that a bound or a format was violated.
fn invalid(error: object::read::Error) -> Error {
    tracing::debug!(%error, "not a code object");
    Error::InvalidCodeObject
}

fn header(data: &[u8]) -> Result<&Header> {
    let header = Header::parse(data).map_err(invalid)?;
    let ident = header.e_ident();
    let good = ident.class == ELFCLASS64
        && ident.data == ELFDATA2LSB
        && ident.os_abi.0 == OSABI_HSA
        && ident.abi_version <= NEWEST_ABI_VERSION
        && header.e_machine(ENDIAN) == EM_AMDGPU
        && header.e_type(ENDIAN) == ET_DYN;
    if good {
        Ok(header)
    } else {
        Err(Error::InvalidCodeObject)
    }
}

fn target_of(header: &Header, data: &[u8]) -> Result<Target> {
    let flags = header.e_flags(ENDIAN).0;
    match header.e_ident().abi_version {
        0 => metadata::version_2_target(header, data, flags),
        version => target::from_flags(version, flags),
    }
}

fn segments<'data>(header: &Header, data: &'data [u8]) -> Result<Vec<Segment<'data>>> {
    let all = header.program_headers(ENDIAN, data).map_err(invalid)?;
    let mut segments = Vec::new();
    let mut end = 0;
    for program in all.iter().filter(|p| p.p_type(ENDIAN) == PT_LOAD) {
        let segment = segment(program, data)?;
        // The specification orders segments by address; an overlap could overwrite checked data.
        if segment.vaddr < end {
            return Err(Error::InvalidCodeObject);
        }
        end = segment
            .vaddr
            .checked_add(segment.memory_size)
            .ok_or(Error::InvalidCodeObject)?;
        segments.push(segment);
    }
    Ok(segments)
}

fn segment<'data>(
    program: &ProgramHeader64<LittleEndian>,
    data: &'data [u8],
) -> Result<Segment<'data>> {
    let contents = program
        .data(ENDIAN, data)
        .map_err(|()| Error::InvalidCodeObject)?;
    let memory_size = program.p_memsz(ENDIAN);
    if program.p_filesz(ENDIAN) > memory_size {
        return Err(Error::InvalidCodeObject);
    }
    Ok(Segment {
        vaddr: program.p_vaddr(ENDIAN),
        memory_size,
        file_offset: program.p_offset(ENDIAN),
        data: contents,
    })
}

fn symbols(
    sections: &SectionTable<'_, Header>,
    data: &[u8],
    image_size: u64,
) -> Result<Vec<ElfSymbol>> {
    let table = sections
        .symbols(ENDIAN, data, SHT_DYNSYM)
        .map_err(invalid)?;
    table
        .iter()
        .map(|symbol| self::symbol(symbol, &table, sections, image_size))
        .collect()
}

fn symbol(
    symbol: &Sym64<LittleEndian>,
    table: &SymbolTable<'_, Header>,
    sections: &SectionTable<'_, Header>,
    image_size: u64,
) -> Result<ElfSymbol> {
    let name = symbol.name(ENDIAN, table.strings()).map_err(invalid)?;
    let section = sections.section(object::SectionIndex(usize::from(symbol.st_shndx(ENDIAN).0)));
    let section = section.ok();
    let (value, size) = (symbol.st_value(ENDIAN), symbol.st_size(ENDIAN));
    let defined = !symbol.is_undefined(ENDIAN);
    let inside = value.checked_add(size).is_some_and(|end| end <= image_size);
    if defined && !inside {
        return Err(Error::InvalidCodeObject);
    }
    Ok(ElfSymbol {
        name: String::from_utf8_lossy(name).into_owned(),
        kind: symbol.st_type().0,
        global: !symbol.is_local(),
        defined,
        value,
        size,
        constant: section.is_some_and(|s| s.sh_flags(ENDIAN).0 & object::elf::SHF_WRITE.0 == 0),
        alignment: section.map_or(1, |s| s.sh_addralign(ENDIAN)),
    })
}

fn relocations(sections: &SectionTable<'_, Header>, data: &[u8]) -> Result<Vec<Relocation>> {
    let mut found = Vec::new();
    for section in sections
        .iter()
        .filter(|s| s.sh_type(ENDIAN) == SHT_RELA && applies(s))
    {
        let entries = section
            .data_as_array::<Rela64<LittleEndian>, _>(ENDIAN, data)
            .map_err(invalid)?;
        found.extend(entries.iter().map(relocation));
    }
    Ok(found)
}

/// Relocations of sections that are not loaded (debug information) belong to the linker.
fn applies(section: &object::elf::SectionHeader64<LittleEndian>) -> bool {
    section.sh_flags(ENDIAN).0 & object::elf::SHF_ALLOC.0 != 0
}

fn relocation(entry: &Rela64<LittleEndian>) -> Relocation {
    Relocation {
        offset: entry.r_offset(ENDIAN),
        kind: entry.r_type(ENDIAN, false).0,
        symbol: entry.r_sym(ENDIAN, false) as usize,
        addend: entry.r_addend(ENDIAN),
    }
}
