//! Questions about the client's own mappings.

use std::fs;

/// True if every page of `start..start + bytes` belongs to some mapping.
///
/// `msync` with `MS_ASYNC` does nothing but walk the mappings (Linux 2.6.19 and newer).
pub(crate) fn is_mapped(start: u64, bytes: u64) -> bool {
    let (Ok(address), Ok(length)) = (usize::try_from(start), usize::try_from(bytes)) else {
        return false;
    };
    // SAFETY: `MS_ASYNC` changes nothing; an unmapped range is an error, not a fault.
    unsafe {
        libc::msync(
            std::ptr::with_exposed_provenance_mut(address),
            length,
            libc::MS_ASYNC,
        ) == 0
    }
}

/// True if some page of `start..end` is in a mapping with any right. A range that has become an
/// inaccessible reservation, or is unmapped, holds no user memory any more.
pub(crate) fn is_accessible(start: u64, end: u64) -> bool {
    let Ok(text) = fs::read_to_string("/proc/self/maps") else {
        return true;
    };
    text.lines()
        .filter_map(parse)
        .any(|(low, high, rights)| low < end && start < high && rights)
}

fn parse(line: &str) -> Option<(u64, u64, bool)> {
    let (range, rest) = line.split_once(' ')?;
    let (low, high) = range.split_once('-')?;
    let has_rights = rest.as_bytes().get(..3)? != b"---";
    Some((
        u64::from_str_radix(low, 16).ok()?,
        u64::from_str_radix(high, 16).ok()?,
        has_rights,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_ranges_are_told_from_holes() {
        let value = [0u8; 64];
        let page = value.as_ptr() as u64 & !0xfff;
        assert!(is_mapped(page, 4096));
        assert!(is_accessible(page, page + 4096));
        assert!(!is_mapped(0, 4096));
        assert!(!is_accessible(0, 4096));
    }

    #[test]
    fn map_lines_parse() {
        assert_eq!(
            parse("1000-2000 ---p 00000000 00:00 0"),
            Some((0x1000, 0x2000, false))
        );
        assert_eq!(
            parse("1000-2000 r--p 00000000 00:00 0 /x"),
            Some((0x1000, 0x2000, true))
        );
    }
}
