//! Calls that no client should make.

use crate::harness::on_both;
use hsakmt_sys::ioctl::{self, Direction, KFD_MAGIC, Request};
use hsakmt_sys::{Errno, Fd, Kernel};
use std::sync::Arc;

on_both! { "gfx90a":
    an_unknown_ioctl_is_refused_and_writes_nothing
    a_bad_argument_pointer_is_a_fault
    a_short_argument_is_answered_in_its_size
    unknown_devices_do_not_exist
    a_closed_descriptor_is_bad
}

fn open(kernel: &Arc<dyn Kernel>) -> Fd {
    kernel
        .open(c"/dev/kfd", libc::O_RDWR | libc::O_CLOEXEC)
        .unwrap()
}

fn issue(
    kernel: &Arc<dyn Kernel>,
    fd: Fd,
    request: Request,
    words: &mut [u64],
) -> Result<i32, Errno> {
    // SAFETY: the buffer is as large as any request here says.
    unsafe { kernel.ioctl(fd, request.code(), words.as_mut_ptr().cast()) }
}

/// rocm-systems#8812: an unknown ioctl "succeeded".
fn an_unknown_ioctl_is_refused_and_writes_nothing(kernel: &Arc<dyn Kernel>) {
    let fd = open(kernel);
    let known = |nr: u8| {
        let table = ioctl::ALL.iter().map(|(request, _)| request);
        table
            .clone()
            .any(|r| r.magic() == KFD_MAGIC && r.nr() == nr)
    };
    for nr in 0..=u8::MAX {
        // 0x0d-0x10 are retired, 0x22-0x28 and 0x80-0x87 differ between kernels.
        if known(nr) || matches!(nr, 0x0d..=0x10 | 0x22..=0x28 | 0x80..=0x87) {
            continue;
        }
        for size in [0, 4, 8, 96, 4096] {
            for direction in [Direction::Write, Direction::Read, Direction::ReadWrite] {
                let mut words = [0x5a5a_5a5a_5a5a_5a5a; 512];
                let request = Request::new(direction, KFD_MAGIC, nr, size);
                let result = issue(kernel, fd, request, &mut words);
                assert_eq!(result, Err(Errno(libc::EINVAL)), "{request:?}");
                assert!(
                    words.iter().all(|word| *word == 0x5a5a_5a5a_5a5a_5a5a),
                    "{request:?}"
                );
            }
        }
    }
    kernel.close(fd).unwrap();
}

fn a_bad_argument_pointer_is_a_fault(kernel: &Arc<dyn Kernel>) {
    let fd = open(kernel);
    let code = ioctl::GET_VERSION.code();
    for address in [0_usize, 8, usize::MAX - 4095] {
        let pointer = std::ptr::without_provenance_mut(address);
        // SAFETY: the driver checks the pointer; that is what is tested.
        let result = unsafe { kernel.ioctl(fd, code, pointer) };
        assert_eq!(result, Err(Errno(libc::EFAULT)), "{address:#x}");
    }
    kernel.close(fd).unwrap();
}

fn a_short_argument_is_answered_in_its_size(kernel: &Arc<dyn Kernel>) {
    let fd = open(kernel);
    let mut words = [u64::MAX; 2];
    let request = ioctl::GET_VERSION.with_size(4);
    issue(kernel, fd, request, &mut words).unwrap();
    assert_eq!(words, [0xffff_ffff_0000_0001, u64::MAX]);
    kernel.close(fd).unwrap();
}

fn unknown_devices_do_not_exist(kernel: &Arc<dyn Kernel>) {
    for path in [c"/dev/dri/renderD200", c"/dev/dri/card0", c"/dev/kfd0"] {
        assert_eq!(
            kernel.open(path, libc::O_RDWR),
            Err(Errno(libc::ENOENT)),
            "{path:?}"
        );
    }
}

fn a_closed_descriptor_is_bad(kernel: &Arc<dyn Kernel>) {
    let fd = open(kernel);
    kernel.close(fd).unwrap();
    assert_eq!(kernel.close(fd), Err(Errno(libc::EBADF)));
    let result = issue(kernel, fd, ioctl::GET_VERSION, &mut [0]);
    assert_eq!(result, Err(Errno(libc::EBADF)));
}
