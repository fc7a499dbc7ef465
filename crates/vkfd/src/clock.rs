//! Clocks: what KFD's clock counters and the GPU's own counter show.

use std::time::Duration;

/// Frequency of the GPU counter in kHz: 100 MHz, what DEV_INFO reports for all supported chips.
pub const GPU_COUNTER_KHZ: u32 = 100_000;

/// Nanoseconds of one tick of the GPU counter.
const TICK_NS: u64 = 10;

/// The GPU counter: AQL timestamps, `s_memrealtime` and the `gpu` field of GET_CLOCK_COUNTERS.
///
/// It is the raw monotonic clock in another unit, so fits against it are exact.
pub fn gpu_ticks() -> u64 {
    monotonic_raw_ns() / TICK_NS
}

/// `CLOCK_MONOTONIC_RAW`, in ns (the `cpu` field of GET_CLOCK_COUNTERS).
pub fn monotonic_raw_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// `CLOCK_BOOTTIME`, in ns (the `system` field of GET_CLOCK_COUNTERS).
pub fn boottime_ns() -> u64 {
    read(libc::CLOCK_BOOTTIME)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid place for the result; the call has no other effect.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut now) };
    debug_assert_eq!(failed, 0, "both clocks exist since Linux 2.6.39");
    let since = Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    );
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpu_counter_runs_at_100_mhz_of_the_raw_clock() {
        let before = monotonic_raw_ns();
        let ticks = gpu_ticks();
        let after = monotonic_raw_ns();
        assert!(ticks >= before / 10 && ticks <= after / 10);
    }
}
