//! The host's floating-point environment.

use std::arch::asm;

/// Nearest even, no flushing, all exceptions masked: what step bodies rely on.
const DEFAULT: u32 = 0x1f80;
/// Sticky exception flags, which nobody reads.
const FLAGS: u32 = 0x3f;

/// Holds MXCSR at its default and restores the thread's own value when dropped.
pub(crate) struct FloatEnvironment(u32);

impl FloatEnvironment {
    pub(crate) fn enter() -> Self {
        let saved = read();
        if saved & !FLAGS != DEFAULT {
            write(DEFAULT);
        }
        Self(saved)
    }
}

impl Drop for FloatEnvironment {
    fn drop(&mut self) {
        if read() != self.0 {
            write(self.0);
        }
    }
}

/// MXCSR.
pub(crate) fn read() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores four bytes to a local.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

/// Sets MXCSR. Code that computes with floats must not run under a value it does not expect.
pub(crate) fn write(value: u32) {
    // SAFETY: loads a valid control word; callers restore the default before Rust code computes.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags)) };
}
