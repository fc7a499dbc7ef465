//! How ioctls are decoded: by number, for any size and direction, with any pointer.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use std::ffi::c_void;

use common::*;
use hsakmt_sys::ioctl::{self, Direction, Request};
use hsakmt_sys::{Errno, Fd, Kernel, kfd, newer};

const DIRECTIONS: [Direction; 4] = [
    Direction::None,
    Direction::Write,
    Direction::Read,
    Direction::ReadWrite,
];

fn raw(kernel: &dyn Kernel, fd: Fd, request: Request, arg: *mut c_void) -> Result<i32, Errno> {
    // SAFETY: arguments of these tests name no memory, or memory of the test.
    unsafe { kernel.ioctl(fd, request.code(), arg) }
}

/// Numbers that this interface version has no handler for.
fn is_unassigned(nr: u8) -> bool {
    nr == 0 || nr > 0x26
}

#[test]
fn unknown_numbers_are_einval_and_touch_nothing() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    for nr in (0..=255).filter(|nr| is_unassigned(*nr)) {
        for direction in DIRECTIONS {
            for size in [0, 4, 8, 40, 256] {
                let mut buffer = [0x5au8; 256];
                let request = Request::new(direction, b'K', nr, size);
                let result = raw(&*device, client.kfd, request, buffer.as_mut_ptr().cast());
                assert_eq!(result, Err(EINVAL), "number {nr:#x} size {size}");
                assert_eq!(buffer, [0x5a; 256], "number {nr:#x} wrote its argument");
            }
        }
    }
}

/// Peer fault 25, the other half: any size and pointer gives an errno, never a crash.
#[test]
fn every_number_survives_every_size_and_pointer() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let read_only = anonymous(4096);
    protect(read_only, 4096, libc::PROT_READ);
    let edge = anonymous(8192).wrapping_byte_add(4096 - 4);
    unmap(edge.wrapping_byte_add(4), 4096);
    let pointers = [
        std::ptr::null_mut(),
        8 as *mut c_void,
        usize::MAX as *mut c_void,
        read_only,
        edge,
    ];
    for fd in [client.kfd, client.render[0]] {
        for magic in [b'K', b'd'] {
            for nr in 0..=255 {
                for direction in DIRECTIONS {
                    for size in [0, 1, 3, 8, 24, 96, 400, 4096, 16383] {
                        for pointer in pointers {
                            let _ = raw(
                                &*device,
                                fd,
                                Request::new(direction, magic, nr, size),
                                pointer,
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(
        client.create_event(0, true).is_ok(),
        "the device still works"
    );
}

#[test]
fn garbage_arguments_are_survived() {
    let device = device("gfx90a,gfx1030");
    let client = Client::new(&*device);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..60_000 {
        let mut words = [0u64; 64];
        for word in &mut words[..12] {
            *word = match random() % 8 {
                0 => 0,
                1 => u64::MAX,
                2 => random(),
                3 => random() & 0xffff,
                4 => u64::from(client.gpu_ids[0]) << 32 | random() & 3,
                5 => u64::from(client.gpu_ids[1]),
                6 => 0x7000_0000_0000 + (random() & 0xf_f000),
                _ => 1 << (random() % 64),
            };
        }
        let nr = (random() % 0x28).to_le_bytes()[0];
        if nr == ioctl::WAIT_EVENTS.nr() {
            continue; // A random wait may rightly last for ever.
        }
        let size = usize::try_from(random() % 128).unwrap();
        let request = Request::new(Direction::ReadWrite, b'K', nr, size);
        let _ = raw(&*device, client.kfd, request, words.as_mut_ptr().cast());
        let drm = Request::new(
            Direction::ReadWrite,
            b'd',
            (random() % 0x60).to_le_bytes()[0],
            size,
        );
        let _ = raw(&*device, client.render[0], drm, words.as_mut_ptr().cast());
    }
    assert!(
        client.create_event(0, true).is_ok(),
        "the device still works"
    );
}

#[test]
fn short_arguments_are_extended_with_zeroes() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let base = client.shared(0x4000).address;
    // 88 bytes, as before interface 1.17: no sdma_engine_id.
    let mut args = newer::kfd_ioctl_create_queue_args {
        ring_base_address: base,
        ring_size: 4096,
        read_pointer_address: base + 0x2080,
        write_pointer_address: base + 0x2038,
        gpu_id: client.gpu_ids[0],
        queue_type: kfd::KFD_IOC_QUEUE_TYPE_SDMA,
        queue_percentage: 100,
        sdma_engine_id: 0x7777,
        pad: 0x7777,
        ..Default::default()
    };
    client
        .ioctl(ioctl::CREATE_QUEUE.with_size(88), &mut args)
        .unwrap();
    assert_eq!(
        (args.sdma_engine_id, args.pad),
        (0x7777, 0x7777),
        "beyond the caller's size"
    );
    let mut version = kfd::kfd_ioctl_get_version_args {
        major_version: 9,
        minor_version: 9,
    };
    client
        .ioctl(ioctl::GET_VERSION.with_size(4), &mut version)
        .unwrap();
    assert_eq!((version.major_version, version.minor_version), (1, 9));
}

#[test]
fn long_arguments_keep_their_tail() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let mut words = [0xffff_ffffu32; 16];
    client
        .ioctl(ioctl::GET_VERSION.with_size(64), &mut words)
        .unwrap();
    assert_eq!(words[..2], [1, 18]);
    assert_eq!(words[2..], [0xffff_ffff; 14]);
}

#[test]
fn clocks_come_from_one_instant_and_do_not_go_back() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let mut last = kfd::kfd_ioctl_get_clock_counters_args {
        gpu_id: client.gpu_ids[0],
        ..Default::default()
    };
    for _ in 0..1000 {
        let mut now = last;
        client.ioctl(ioctl::GET_CLOCK_COUNTERS, &mut now).unwrap();
        assert_eq!(now.system_clock_freq, 1_000_000_000);
        assert!(now.gpu_clock_counter >= last.gpu_clock_counter);
        assert!(now.cpu_clock_counter >= last.cpu_clock_counter);
        assert!(now.system_clock_counter >= last.system_clock_counter);
        last = now;
    }
    last.gpu_id = 1;
    client.ioctl(ioctl::GET_CLOCK_COUNTERS, &mut last).unwrap();
    assert_eq!(last.gpu_clock_counter, 0, "unknown GPU: counter 0, success");
}

#[test]
fn apertures_are_counted_or_filled() {
    let device = device("gfx90a*3");
    let client = Client::new(&*device);
    let mut args = kfd::kfd_ioctl_get_process_apertures_new_args::default();
    client
        .ioctl(ioctl::GET_PROCESS_APERTURES_NEW, &mut args)
        .unwrap();
    assert_eq!(args.num_of_nodes, 3);
    let mut entries = [kfd::kfd_process_device_apertures::default(); 4];
    args.kfd_process_device_apertures_ptr = entries.as_mut_ptr() as u64;
    args.num_of_nodes = 2;
    client
        .ioctl(ioctl::GET_PROCESS_APERTURES_NEW, &mut args)
        .unwrap();
    assert_eq!(args.num_of_nodes, 2);
    assert_eq!(
        entries.map(|entry| entry.gpu_id),
        [client.gpu_ids[0], client.gpu_ids[1], 0, 0]
    );
    assert_eq!(
        (entries[0].lds_base, entries[0].lds_limit),
        (1 << 48, 0x1_0000_ffff_ffff)
    );
    assert_eq!(
        (entries[0].scratch_base, entries[0].scratch_limit),
        (2 << 48, 0x2_0000_ffff_ffff)
    );
    assert_eq!(
        (entries[0].gpuvm_base, entries[0].gpuvm_limit),
        (0x4000, 0x7fff_ffff_ffff)
    );
    args.kfd_process_device_apertures_ptr = 8;
    assert_eq!(
        client.ioctl(ioctl::GET_PROCESS_APERTURES_NEW, &mut args),
        Err(EFAULT)
    );
    let mut old = kfd::kfd_ioctl_get_process_apertures_args::default();
    client
        .ioctl(ioctl::GET_PROCESS_APERTURES, &mut old)
        .unwrap();
    assert_eq!(old.num_of_nodes, 3);
}

#[test]
fn settings_check_their_gpu() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let gpu_id = client.gpu_ids[0];
    let mut policy = newer::kfd_ioctl_set_memory_policy_args {
        gpu_id,
        default_policy: 1,
        ..Default::default()
    };
    client.ioctl(ioctl::SET_MEMORY_POLICY, &mut policy).unwrap();
    policy.alternate_policy = 2;
    assert_eq!(
        client.ioctl(ioctl::SET_MEMORY_POLICY, &mut policy),
        Err(EINVAL)
    );
    let mut scratch = kfd::kfd_ioctl_set_scratch_backing_va_args {
        va_addr: 0x10020,
        gpu_id,
        pad: 0,
    };
    client
        .ioctl(ioctl::SET_SCRATCH_BACKING_VA, &mut scratch)
        .unwrap();
    scratch.gpu_id = 1;
    assert_eq!(
        client.ioctl(ioctl::SET_SCRATCH_BACKING_VA, &mut scratch),
        Err(EINVAL)
    );
    let mut trap = kfd::kfd_ioctl_set_trap_handler_args {
        gpu_id,
        ..Default::default()
    };
    client.ioctl(ioctl::SET_TRAP_HANDLER, &mut trap).unwrap();
    let mut tiles = [1u32; 40];
    let mut config = kfd::kfd_ioctl_get_tile_config_args {
        tile_config_ptr: tiles.as_mut_ptr() as u64,
        num_tile_configs: 40,
        gpu_id,
        ..Default::default()
    };
    client.ioctl(ioctl::GET_TILE_CONFIG, &mut config).unwrap();
    assert_eq!((config.num_tile_configs, tiles[31], tiles[32]), (32, 0, 1));
    assert_ne!(config.gb_addr_config, 0);
}

#[test]
fn runtime_is_announced_once_and_before_queues() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let enable = |mode_mask| {
        let mut args = newer::kfd_ioctl_runtime_enable_args {
            r_debug: 0x1234,
            mode_mask,
            capabilities_mask: 0,
        };
        client.ioctl(ioctl::RUNTIME_ENABLE, &mut args)
    };
    assert_eq!(enable(1), Ok(()));
    assert_eq!(enable(1), Err(Errno(libc::EBUSY)));
    assert_eq!(enable(0), Ok(()));
    assert_eq!(enable(1), Ok(()));
}

#[test]
fn debugger_and_checkpoint_answers() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let debug = |pid, op| {
        let mut args = newer::kfd_ioctl_dbg_trap_args {
            pid,
            op,
            operation: [0; 3],
        };
        client.ioctl(ioctl::DBG_TRAP, &mut args)
    };
    assert_eq!(debug(0, 0), Err(Errno(libc::ESRCH)));
    assert_eq!(debug(u32::MAX, 0), Err(Errno(libc::ESRCH)));
    assert_eq!(debug(1, 0), Err(Errno(libc::EPERM)));
    assert_eq!(debug(std::process::id(), 0), Err(Errno(libc::EACCES)));
    assert_eq!(debug(std::process::id(), 1), Err(EINVAL));
    let mut criu = [0u64; 7];
    assert_eq!(
        client.ioctl(ioctl::CRIU_OP, &mut criu),
        Err(Errno(libc::EACCES))
    );
    for nr in 0x0d..=0x10 {
        let request = Request::new(Direction::Write, b'K', nr, 8);
        assert_eq!(
            raw(&*device, client.kfd, request, std::ptr::null_mut()),
            Err(Errno(libc::EPERM))
        );
    }
}

#[test]
fn smi_stream_never_has_events() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let mut args = kfd::kfd_ioctl_smi_events_args {
        gpuid: client.gpu_ids[0],
        anon_fd: 0,
    };
    client.ioctl(ioctl::SMI_EVENTS, &mut args).unwrap();
    let fd = args.anon_fd.cast_signed();
    let mask = 0xffffu64;
    let mut buffer = [0u8; 96];
    // SAFETY: reads a local variable.
    assert_eq!(unsafe { libc::write(fd, (&raw const mask).cast(), 8) }, 8);
    // SAFETY: writes to a local variable.
    let read = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), 96) };
    assert_eq!(read, -1);
    assert_eq!(Errno::last(), Errno(libc::EAGAIN));
    device.close(Fd(fd)).unwrap();
    args.gpuid = 1;
    assert_eq!(client.ioctl(ioctl::SMI_EVENTS, &mut args), Err(EINVAL));
}

#[test]
fn closed_and_foreign_descriptors_are_ebadf() {
    let device = device("gfx90a");
    let other = self::device("gfx90a");
    let client = Client::new(&*device);
    let request = ioctl::GET_VERSION;
    let mut args = [0u32; 2];
    device.close(client.kfd).unwrap();
    assert_eq!(client.ioctl(request, &mut args), Err(Errno(libc::EBADF)));
    assert_eq!(device.close(client.kfd), Err(Errno(libc::EBADF)));
    assert_eq!(
        ioctl_on(&*other, client.render[0], request, &mut args),
        Err(Errno(libc::EBADF))
    );
    assert_eq!(
        ioctl_on(&*device, Fd(-1), request, &mut args),
        Err(Errno(libc::EBADF))
    );
    assert_eq!(
        open(&*device, "/dev/dri/renderD129"),
        Err(Errno(libc::ENOENT))
    );
    assert_eq!(open(&*device, "/dev/null"), Err(Errno(libc::ENOENT)));
}

#[test]
fn child_of_fork_has_no_device() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let mut args = [0u32; 2];
    // SAFETY: the child only makes calls that take no lock held by another thread of this test.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let inherited = client.ioctl(ioctl::GET_VERSION, &mut args) == Err(Errno(libc::EBADF));
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(if inherited { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(
        client.ioctl(ioctl::GET_VERSION, &mut args),
        Ok(()),
        "the parent goes on"
    );
}
