//! Properties of the system (`hsa_system_get_info`).

/// Version of the HSA runtime specification: 1.1 in AMD's headers and libraries.
pub const VERSION: (u16, u16) = (1, 1);
/// Ticks of [`timestamp`] in a second.
pub const TIMESTAMP_FREQUENCY: u64 = 1_000_000_000;
/// `HSA_EXTENSION_IMAGES`
pub const EXTENSION_IMAGES: u16 = 1;
/// `HSA_EXTENSION_AMD_PROFILER`
pub const EXTENSION_AMD_PROFILER: u16 = 0x200;
/// `HSA_EXTENSION_AMD_LOADER`
pub const EXTENSION_AMD_LOADER: u16 = 0x201;

/// The system clock that waits and profiling times count: `CLOCK_BOOTTIME` in ns, the clock that
/// KFD samples together with the device clock.
#[must_use]
pub fn timestamp() -> u64 {
    crate::clock::boottime_ns()
}

/// `HSA_SYSTEM_INFO_EXTENSIONS`: bit *n* says that extension *n* is there.
#[must_use]
pub fn extension_map() -> [u8; 128] {
    let mut map = [0; 128];
    for extension in [EXTENSION_AMD_PROFILER, EXTENSION_AMD_LOADER] {
        map[usize::from(extension / 8)] |= 1 << (extension % 8);
    }
    map
}
