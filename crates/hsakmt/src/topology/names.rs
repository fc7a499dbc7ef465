//! Product names of GPUs, from the table that libdrm installs.

/// Lines `device id, revision, name` in hexadecimal.
pub(crate) const TABLE: &str = "/usr/share/libdrm/amdgpu.ids";

/// Finds the product name for a PCI device and revision.
pub(crate) fn find(table: &str, device_id: u32, revision: u32) -> Option<&str> {
    table.lines().find_map(|line| {
        let mut fields = line.split(',').map(str::trim);
        let hex = |text: Option<&str>| u32::from_str_radix(text?, 16).ok();
        let matches = hex(fields.next()) == Some(device_id) && hex(fields.next()) == Some(revision);
        fields.next().filter(|_| matches)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCERPT: &str =
        "# comment\n1.0.0\n73BF,\tC0,\tAMD Radeon RX 6900 XT\n73BF,\tC1,\tAMD Radeon RX 6800 XT\n";

    #[test]
    fn name_is_found_by_device_and_revision() {
        assert_eq!(find(EXCERPT, 0x73bf, 0xc0), Some("AMD Radeon RX 6900 XT"));
        assert_eq!(find(EXCERPT, 0x73bf, 0xc1), Some("AMD Radeon RX 6800 XT"));
        assert_eq!(find(EXCERPT, 0x73bf, 0xff), None);
        assert_eq!(find(EXCERPT, 0x1, 0), None);
    }
}
