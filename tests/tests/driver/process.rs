//! Forked children.

use crate::harness::{GPU, on_both, open, read, shared, write};
use hsakmt::MemoryKind;
use hsakmt_sys::{Errno, Kernel, ioctl};
use std::sync::Arc;

on_both! { "gfx90a":
    system_memory_can_be_read_in_a_forked_child
    an_inherited_descriptor_is_bad_in_a_forked_child
}

/// Runs `body` in a forked child; true if it answers true there.
fn in_child(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child makes only plain system calls and memory accesses, and then ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let code = i32::from(!body());
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(code) }
    }
    let mut status = -1;
    // SAFETY: our own child and a valid place for its status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

/// rocm-systems#356: a child that read its parent's pinned memory died.
fn system_memory_can_be_read_in_a_forked_child(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let memory = shared(&kfd, GPU, MemoryKind::System, 64 << 20);
    for page in 0..16384 {
        write(&memory, 1024 * page, u32::try_from(page).unwrap());
    }
    assert!(in_child(
        || (0..16384).all(|page| read(&memory, 1024 * page) as usize == page)
    ));
    let target = shared(&kfd, GPU, MemoryKind::Vram, 4096);
    crate::queues::copy(
        &kfd,
        GPU,
        memory.gpu_va().add(4096 * 77),
        target.gpu_va(),
        4,
    );
    assert_eq!(read(&target, 0), 77);
}

fn an_inherited_descriptor_is_bad_in_a_forked_child(kernel: &Arc<dyn Kernel>) {
    let fd = kernel.open(c"/dev/kfd", libc::O_RDWR).unwrap();
    let version = || {
        let mut words = [0_u64];
        let code = ioctl::GET_VERSION.code();
        // SAFETY: GET_VERSION writes 8 bytes.
        unsafe { kernel.ioctl(fd, code, words.as_mut_ptr().cast()) }
    };
    assert!(version().is_ok());
    assert!(in_child(|| version() == Err(Errno(libc::EBADF))));
    assert!(version().is_ok());
    kernel.close(fd).unwrap();
}
