//! Guarded access to host memory that others write and that may vanish.
//!
//! Each access is a short piece of assembly whose address range is recorded in the link-time table
//! `hansa_fixups`. A SIGSEGV or SIGBUS inside such a range resumes behind it with the fault address
//! in RCX; any other fault goes to the handler that was installed before. So an access that succeeds
//! costs nothing extra, and no Rust frame is ever unwound by a signal.
//!
//! Every function takes `fault`: zero, or the first faulting host address so far. The access never
//! makes a Rust reference, so concurrent writers are no undefined behaviour here: to the compiler
//! this is memory outside the abstract machine.

use std::arch::asm;
use std::sync::Once;

/// Wraps assembly text with the range markers and the table entry.
macro_rules! guarded {
    ($($line:literal),+ ; $($rest:tt)*) => {
        asm!(
            "2:",
            $($line,)+
            "3:",
            ".pushsection hansa_fixups,\"aR\",@progbits",
            ".balign 4",
            ".long 2b - .",
            ".long 3b - .",
            ".popsection",
            $($rest)*
        )
    };
}

macro_rules! plain {
    ($load:ident, $store:ident, $type:ty, $class:ident, $text_load:literal, $text_store:literal) => {
        /// Loads one element; the value is unspecified after a fault.
        ///
        /// # Safety
        /// The address range belongs to memory that the GPU may read: not to any Rust object.
        #[inline(always)]
        pub(crate) unsafe fn $load(address: u64, fault: &mut u64) -> $type {
            let value;
            // SAFETY: reads memory outside the abstract machine; a fault is caught by the table.
            unsafe {
                guarded!($text_load;
                    address = in(reg) address,
                    value = out($class) value,
                    inout("rcx") *fault,
                    options(nostack, preserves_flags, readonly)
                );
            }
            value
        }

        /// Stores one element.
        ///
        /// # Safety
        /// The address range belongs to memory that the GPU may write: not to any Rust object.
        #[inline(always)]
        pub(crate) unsafe fn $store(address: u64, value: $type, fault: &mut u64) {
            // SAFETY: writes memory outside the abstract machine; a fault is caught by the table.
            unsafe {
                guarded!($text_store;
                    address = in(reg) address,
                    value = in($class) value,
                    inout("rcx") *fault,
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

plain!(
    load8,
    store8,
    u8,
    reg_byte,
    "mov {value}, byte ptr [{address}]",
    "mov byte ptr [{address}], {value}"
);
plain!(
    load16,
    store16,
    u16,
    reg,
    "mov {value:x}, word ptr [{address}]",
    "mov word ptr [{address}], {value:x}"
);
plain!(
    load32,
    store32,
    u32,
    reg,
    "mov {value:e}, dword ptr [{address}]",
    "mov dword ptr [{address}], {value:e}"
);
plain!(
    load64,
    store64,
    u64,
    reg,
    "mov {value}, qword ptr [{address}]",
    "mov qword ptr [{address}], {value}"
);

macro_rules! atomic {
    ($add:ident, $swap:ident, $compare_swap:ident, $type:ty, $size:literal, $add_text:literal, $swap_text:literal, $cas_text:literal, $acc:tt) => {
        /// Adds and returns the old value.
        ///
        /// # Safety
        #[doc = concat!("The ", $size, " aligned bytes belong to memory that the GPU may write.")]
        #[inline(always)]
        pub(crate) unsafe fn $add(address: u64, mut value: $type, fault: &mut u64) -> $type {
            // SAFETY: a locked operation on memory outside the abstract machine, guarded.
            unsafe {
                guarded!($add_text;
                    address = in(reg) address,
                    value = inout(reg) value,
                    inout("rcx") *fault,
                    options(nostack)
                );
            }
            value
        }

        /// Exchanges and returns the old value.
        ///
        /// # Safety
        #[doc = concat!("The ", $size, " aligned bytes belong to memory that the GPU may write.")]
        #[inline(always)]
        pub(crate) unsafe fn $swap(address: u64, mut value: $type, fault: &mut u64) -> $type {
            // SAFETY: a locked operation on memory outside the abstract machine, guarded.
            unsafe {
                guarded!($swap_text;
                    address = in(reg) address,
                    value = inout(reg) value,
                    inout("rcx") *fault,
                    options(nostack)
                );
            }
            value
        }

        /// Stores `new` if memory holds `expected`; returns the old value.
        ///
        /// # Safety
        #[doc = concat!("The ", $size, " aligned bytes belong to memory that the GPU may write.")]
        #[inline(always)]
        pub(crate) unsafe fn $compare_swap(
            address: u64,
            expected: $type,
            new: $type,
            fault: &mut u64,
        ) -> $type {
            let old;
            // SAFETY: a locked operation on memory outside the abstract machine, guarded.
            unsafe {
                guarded!($cas_text;
                    address = in(reg) address,
                    new = in(reg) new,
                    inout($acc) expected => old,
                    inout("rcx") *fault,
                    options(nostack)
                );
            }
            old
        }
    };
}

atomic!(
    add32,
    swap32,
    compare_swap32,
    u32,
    "4",
    "lock xadd dword ptr [{address}], {value:e}",
    "xchg dword ptr [{address}], {value:e}",
    "lock cmpxchg dword ptr [{address}], {new:e}",
    "eax"
);
atomic!(
    add64,
    swap64,
    compare_swap64,
    u64,
    "8",
    "lock xadd qword ptr [{address}], {value}",
    "xchg qword ptr [{address}], {value}",
    "lock cmpxchg qword ptr [{address}], {new}",
    "rax"
);

/// Copies `blocks` times 128 bytes with 16-byte moves.
///
/// # Safety
/// One side is memory that the GPU may access, the other an object of at least that size that the
/// caller may read or write.
#[inline(always)]
pub(crate) unsafe fn copy(to: u64, from: u64, blocks: usize, fault: &mut u64) {
    // SAFETY: see the function's contract; a fault leaves the rest uncopied.
    unsafe {
        guarded!(
            "movups {a}, [{from}]", "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]", "movups {d}, [{from} + 48]",
            "movups [{to}], {a}", "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}", "movups [{to} + 48], {d}",
            "movups {a}, [{from} + 64]", "movups {b}, [{from} + 80]",
            "movups {c}, [{from} + 96]", "movups {d}, [{from} + 112]",
            "movups [{to} + 64], {a}", "movups [{to} + 80], {b}",
            "movups [{to} + 96], {c}", "movups [{to} + 112], {d}",
            "add {from}, 128", "add {to}, 128", "dec {blocks}", "jnz 2b";
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks.max(1) => _,
            inout("rcx") *fault,
            a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
            options(nostack)
        );
    }
}

/// [`copy`] with 32-byte moves.
///
/// # Safety
/// As for [`copy`]; the host has AVX.
#[inline]
#[target_feature(enable = "avx")]
pub(crate) unsafe fn copy_avx(to: u64, from: u64, blocks: usize, fault: &mut u64) {
    // SAFETY: see the function's contract; a fault leaves the rest uncopied.
    unsafe {
        guarded!(
            "vmovups {a}, [{from}]", "vmovups {b}, [{from} + 32]",
            "vmovups {c}, [{from} + 64]", "vmovups {d}, [{from} + 96]",
            "vmovups [{to}], {a}", "vmovups [{to} + 32], {b}",
            "vmovups [{to} + 64], {c}", "vmovups [{to} + 96], {d}",
            "add {from}, 128", "add {to}, 128", "dec {blocks}", "jnz 2b";
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks.max(1) => _,
            inout("rcx") *fault,
            a = out(ymm_reg) _, b = out(ymm_reg) _, c = out(ymm_reg) _, d = out(ymm_reg) _,
            options(nostack)
        );
    }
}

unsafe extern "C" {
    /// First table entry, placed by the linker.
    static __start_hansa_fixups: [i32; 2];
    /// End of the table.
    static __stop_hansa_fixups: [i32; 2];
}

/// Where execution goes on after a fault at `pc`, if the table covers it.
fn fixup(pc: u64) -> Option<u64> {
    let mut entry = &raw const __start_hansa_fixups;
    let stop = &raw const __stop_hansa_fixups;
    while entry < stop {
        // SAFETY: the linker concatenates whole entries between the two symbols.
        let [begin, end] = unsafe { *entry };
        let at = entry as u64;
        let begin = at.wrapping_add_signed(i64::from(begin));
        let end = (at + 4).wrapping_add_signed(i64::from(end));
        if (begin..end).contains(&pc) {
            return Some(end);
        }
        // SAFETY: at most one past the last entry.
        entry = unsafe { entry.add(1) };
    }
    None
}

static mut PREVIOUS: [Option<libc::sigaction>; 2] = [None, None];

/// Installs the handler once per process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        install_for(libc::SIGSEGV, 0);
        install_for(libc::SIGBUS, 1);
    });
}

#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "one system call and its output"
)]
fn install_for(signal: i32, slot: usize) {
    // SAFETY: the structures are plain data valid as zero; the handler has the signature that
    // SA_SIGINFO demands. `PREVIOUS` is written before the handler can run on this slot.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut old);
        PREVIOUS[slot] = Some(old);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// # Safety
/// Called by the kernel with a valid `info` and `context`.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "reads of one signal frame"
)]
#[expect(clippy::cast_sign_loss, reason = "register values are bit patterns")]
#[expect(
    clippy::cast_possible_wrap,
    reason = "register values are bit patterns"
)]
unsafe extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the third argument is a ucontext_t.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as u64;
    if let Some(resume) = fixup(pc) {
        // SAFETY: SIGSEGV and SIGBUS carry an address.
        let address = unsafe { (*info).si_addr() } as u64;
        let fault = &mut registers[libc::REG_RCX as usize];
        if *fault == 0 {
            *fault = address.max(1) as i64;
        }
        registers[libc::REG_RIP as usize] = resume as i64;
        return;
    }
    // SAFETY: same arguments as this function's own.
    unsafe { chain(signal, info, context) };
}

/// Hands a signal to the handler that was there first.
///
/// # Safety
/// As for [`handler`].
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "one hand-over")]
unsafe fn chain(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let slot = usize::from(signal == libc::SIGBUS);
    // SAFETY: written once, before this handler was installed.
    let previous = unsafe { PREVIOUS[slot] };
    match previous {
        Some(old) if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN => {
            // SAFETY: a handler address given to sigaction; extra arguments are harmless to the
            // one-argument form under the C calling convention.
            unsafe {
                let call: unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(old.sa_sigaction);
                call(signal, info, context);
            }
        }
        // The default action happens when the instruction faults again.
        // SAFETY: resets this signal only.
        _ => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> u64 {
        // SAFETY: a fresh anonymous mapping.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                8192,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let second = page.cast::<u8>().wrapping_add(4096);
        // SAFETY: the second page of the mapping above.
        unsafe { libc::mprotect(second.cast(), 4096, libc::PROT_NONE) };
        page as u64
    }

    #[test]
    fn an_access_to_a_vanished_page_reports_its_address() {
        install();
        let page = page();
        let mut fault = 0;
        // SAFETY: the page was mapped for this test.
        unsafe { store32(page + 4092, 7, &mut fault) };
        // SAFETY: as above.
        assert_eq!(unsafe { load32(page + 4092, &mut fault) }, 7);
        assert_eq!(fault, 0);
        // SAFETY: the second page is inaccessible; the guard catches it.
        unsafe { store64(page + 4096 + 8, 7, &mut fault) };
        assert_eq!(fault, page + 4096 + 8);
        // SAFETY: as above; the first address stays.
        unsafe { add32(page + 4096 + 64, 7, &mut fault) };
        assert_eq!(fault, page + 4096 + 8);
    }

    #[test]
    fn a_block_copy_stops_at_the_first_bad_byte() {
        install();
        let page = page();
        let from = [0x5au8; 256];
        let mut fault = 0;
        // SAFETY: 128 bytes fit before the bad page, the next 128 do not.
        unsafe { copy(page + 4096 - 128, from.as_ptr() as u64, 2, &mut fault) };
        assert_eq!(fault, page + 4096);
        let mut check = 0;
        // SAFETY: inside the good page.
        assert_eq!(unsafe { load8(page + 4095, &mut check) }, 0x5a);
    }

    #[test]
    fn atomics_return_the_old_value() {
        install();
        let page = page();
        let mut fault = 0;
        // SAFETY: inside the good page, for all three.
        unsafe { store64(page, 40, &mut fault) };
        // SAFETY: as above.
        assert_eq!(unsafe { add64(page, 2, &mut fault) }, 40);
        // SAFETY: as above.
        assert_eq!(unsafe { compare_swap64(page, 42, 5, &mut fault) }, 42);
        // SAFETY: as above.
        assert_eq!(unsafe { swap32(page, 9, &mut fault) }, 5);
        assert_eq!(fault, 0);
    }
}
