//! Kernel names, from the list of loaded code objects that the client's runtime keeps for
//! debuggers: `r_debug` and `link_map` of glibc's `<link.h>`, with URIs instead of file names
//! (LLVM AMDGPUUsage, "Loaded Code Object Path Uniform Resource Identifier").
//!
//! The list lies in client memory and may be anything, so every read is checked and bounded.

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object, ObjectSymbol};

use super::well_known;
use crate::uaccess;

/// Entries of the list that are looked at.
const MAX_OBJECTS: usize = 4096;
/// Bytes of a URI.
const MAX_URI: usize = 4096;
/// Bytes of a code object.
const MAX_ELF: u64 = 1 << 30;

/// `struct r_debug`: offset of `r_map`.
const R_MAP: u64 = 8;
/// `struct link_map`: `l_addr`, `l_name`, `l_ld`, `l_next`.
const LINK_MAP_BYTES: usize = 32;

/// A kernel found by the address of its descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kernel {
    /// Symbol without `.kd`.
    pub(super) name: String,
    /// Address of its first instruction, if the symbol of the code exists too.
    pub(super) entry: Option<u64>,
}

/// The kernel whose descriptor is at `kernel_object`, by the debug list at `r_debug` or, if that is
/// 0, the one with the well-known name.
pub(super) fn kernel_at(r_debug: u64, kernel_object: u64) -> Option<Kernel> {
    let r_debug = if r_debug == 0 {
        well_known::r_debug()
    } else {
        r_debug
    };
    if r_debug == 0 {
        return None;
    }
    let mut node = read_u64(r_debug.checked_add(R_MAP)?)?;
    for _ in 0..MAX_OBJECTS {
        let map = LinkMap::read(node)?;
        let found = elf_bytes(&map.name).and_then(|elf| find(&elf, map.delta, kernel_object));
        if found.is_some() {
            return found;
        }
        node = map.next;
    }
    None
}

struct LinkMap {
    delta: u64,
    name: String,
    next: u64,
}

impl LinkMap {
    /// The node at an address; `None` at the end of the list.
    fn read(address: u64) -> Option<Self> {
        if address == 0 {
            return None;
        }
        let mut bytes = [0; LINK_MAP_BYTES];
        uaccess::read(address, &mut bytes).ok()?;
        let (words, _) = bytes.as_chunks();
        let field = |i: usize| words.get(i).map(|&word| u64::from_le_bytes(word));
        Some(Self {
            delta: field(0)?,
            name: read_string(field(1)?),
            next: field(3)?,
        })
    }
}

/// The bytes of a code object named by its URI.
fn elf_bytes(uri: &str) -> Option<Vec<u8>> {
    let (scheme, rest) = uri.split_once("://")?;
    let (path, range) = rest.split_once('#').unwrap_or((rest, ""));
    let (offset, size) = (parameter(range, "offset"), parameter(range, "size"));
    match scheme {
        "memory" if path.parse() == Ok(std::process::id()) => from_memory(offset?, size?),
        "file" => from_file(path, offset.unwrap_or(0), size),
        _ => None,
    }
}

/// `name=value` in a list joined by `&`, decimal or with `0x`.
fn parameter(list: &str, name: &str) -> Option<u64> {
    let value = list
        .split('&')
        .find_map(|item| item.strip_prefix(name)?.strip_prefix('='))?;
    match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    }
}

fn from_memory(address: u64, size: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size.min(MAX_ELF)).ok()?];
    uaccess::read(address, &mut bytes).ok()?;
    Some(bytes)
}

fn from_file(path: &str, offset: u64, size: Option<u64>) -> Option<Vec<u8>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(decode_percent(path)?).ok()?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    file.take(size.unwrap_or(MAX_ELF).min(MAX_ELF))
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

/// Undoes `%xx`.
fn decode_percent(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

fn find(elf: &[u8], delta: u64, kernel_object: u64) -> Option<Kernel> {
    let file = ElfFile::<FileHeader64<LittleEndian>>::parse(elf).ok()?;
    let wanted = kernel_object.wrapping_sub(delta);
    let name = file
        .dynamic_symbols()
        .filter(|symbol| symbol.address() == wanted)
        .find_map(|symbol| symbol.name().ok()?.strip_suffix(".kd").map(str::to_owned))?;
    let code = file
        .dynamic_symbols()
        .find(|symbol| symbol.name() == Ok(&name));
    Some(Kernel {
        entry: code.map(|symbol| symbol.address().wrapping_add(delta)),
        name,
    })
}

fn read_u64(address: u64) -> Option<u64> {
    uaccess::get(address).ok()
}

/// A zero-terminated string, cut at a page that cannot be read.
fn read_string(address: u64) -> String {
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < MAX_URI {
        let mut chunk = [0; 64];
        let until_page = 4096 - (at % 4096);
        let count = usize::try_from(until_page).map_or(64, |bytes| bytes.min(64));
        if uaccess::read(at, &mut chunk[..count]).is_err() {
            break;
        }
        let end = chunk[..count].iter().position(|&byte| byte == 0);
        text.extend_from_slice(&chunk[..end.unwrap_or(count)]);
        if end.is_some() {
            break;
        }
        at += count as u64;
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uri_parameters_are_decimal_or_hexadecimal() {
        assert_eq!(parameter("offset=0x10&size=20", "offset"), Some(16));
        assert_eq!(parameter("offset=0x10&size=20", "size"), Some(20));
        assert_eq!(parameter("size=x", "size"), None);
        assert_eq!(decode_percent("/a%20b").as_deref(), Some("/a b"));
    }

    /// A little-endian ELF64 with one dynamic symbol table: `f` at 0x1100 and `f.kd` at 0x40.
    fn code_object() -> Vec<u8> {
        const STRINGS: &[u8; 8] = b"\0f.kd\0f\0";
        let symbol = |name: u32, value: u64| {
            let mut bytes = name.to_le_bytes().to_vec();
            bytes.extend([0x12, 0, 1, 0]);
            bytes.extend([value, 64].iter().flat_map(|word| word.to_le_bytes()));
            bytes
        };
        let section = |kind: u32, offset: u64, size: u64, link: u32, entry: u64| {
            let mut bytes = [0, kind]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect::<Vec<u8>>();
            bytes.extend(
                [0, 0, offset, size]
                    .iter()
                    .flat_map(|word: &u64| word.to_le_bytes()),
            );
            bytes.extend([link, 1].iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend([8, entry].iter().flat_map(|word| word.to_le_bytes()));
            bytes
        };
        let symbols = [vec![0; 24], symbol(1, 0x40), symbol(6, 0x1100)].concat();
        let (strings_at, symbols_at) = (64, 72);
        let sections_at = symbols_at + symbols.len() as u64;
        let mut elf = b"\x7fELF\x02\x01\x01\x40\x02".to_vec();
        elf.resize(16, 0);
        elf.extend([3, 0, 224, 0, 1, 0, 0, 0]);
        elf.extend(
            [0, 0, sections_at]
                .iter()
                .flat_map(|word: &u64| word.to_le_bytes()),
        );
        elf.extend([0, 0, 0, 0, 64, 0, 56, 0, 0, 0, 64, 0, 3, 0, 2, 0]);
        elf.extend(STRINGS);
        elf.extend(&symbols);
        elf.extend(section(0, 0, 0, 0, 0));
        elf.extend(section(11, symbols_at, symbols.len() as u64, 2, 24));
        elf.extend(section(3, strings_at, STRINGS.len() as u64, 0, 0));
        elf
    }

    /// Looks a descriptor up in a list of one object with this URI, loaded at `delta`.
    fn look_up(uri: &str, delta: u64, kernel_object: u64) -> Option<Kernel> {
        let name = std::ffi::CString::new(uri).unwrap();
        let map = [delta, name.as_ptr() as u64, 0, 0];
        let r_debug = [0, map.as_ptr() as u64];
        kernel_at(r_debug.as_ptr() as u64, kernel_object)
    }

    #[test]
    fn kernels_are_found_in_code_objects_in_memory_and_in_files() {
        let elf = code_object();
        let (pid, at, size) = (std::process::id(), elf.as_ptr() as u64, elf.len());
        let in_memory = format!("memory://{pid}#offset={at:#x}&size={size}");
        let path = std::env::temp_dir().join(format!("vkfd names {pid}"));
        std::fs::write(&path, [vec![0; 100], elf.clone()].concat()).unwrap();
        let escaped = path.to_str().unwrap().replace(' ', "%20");
        let in_file = format!("file://{escaped}#offset=100&size={size:#x}");
        for uri in [in_memory, in_file] {
            let kernel = look_up(&uri, 0x7000_0000, 0x7000_0040).unwrap();
            assert_eq!(
                (kernel.name.as_str(), kernel.entry),
                ("f", Some(0x7000_1100))
            );
            assert_eq!(
                look_up(&uri, 0x7000_0000, 0x7000_1100),
                None,
                "no descriptor"
            );
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn objects_that_are_gone_or_foreign_give_no_name() {
        let pid = std::process::id();
        for uri in [
            format!("memory://{pid}#offset=0x8&size=0x100"),
            format!("memory://{}#offset=0x1000&size=0x100", pid + 1),
            "file:///nonexistent#offset=0&size=1".to_owned(),
            "nonsense".to_owned(),
        ] {
            assert_eq!(look_up(&uri, 0, 0x40), None, "{uri}");
        }
    }

    #[test]
    fn wild_lists_give_no_name() {
        assert_eq!(kernel_at(8, 0x1000), None);
        let cycle = [0u64; 4];
        let r_debug = [0, std::ptr::from_ref(&cycle) as u64];
        assert_eq!(kernel_at(std::ptr::from_ref(&r_debug) as u64, 0x1000), None);
    }
}
