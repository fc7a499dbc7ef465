//! Init, shut-down, and what they leave behind.

use crate::{Open, device, open_files, threads};
use hsa_core::signal::Condition;
use hsa_core::{Error, runtime};
use std::sync::Arc;

#[test]
fn calls_outside_of_init_and_shut_down_are_refused() {
    assert_eq!(runtime::current().unwrap_err(), Error::NotInitialized);
    assert_eq!(runtime::release().unwrap_err(), Error::NotInitialized);
    let rt = Open::new("gfx1030");
    runtime::acquire(|| unreachable!("the open runtime needs no driver")).unwrap();
    runtime::release().unwrap();
    assert!(runtime::current().is_ok());
    let known = rt.0;
    drop(rt);
    assert_eq!(runtime::current().unwrap_err(), Error::NotInitialized);
    assert_eq!(
        known.create_signal(0, &[], 0).unwrap_err(),
        Error::NotInitialized
    );
    assert_eq!(
        known.pointer_info(0x1000).unwrap_err(),
        Error::NotInitialized
    );
}

#[test]
fn a_failed_open_leaves_the_runtime_closed() {
    assert_eq!(
        runtime::acquire(|| Err(Error::OutOfResources)).unwrap_err(),
        Error::OutOfResources
    );
    assert_eq!(runtime::release().unwrap_err(), Error::NotInitialized);
    drop(Open::new("gfx90a"));
}

#[test]
fn a_thousand_cycles_leave_no_thread_no_file_and_no_signal() {
    let kernel = device("gfx1030");
    let cycle = || {
        runtime::acquire(|| Ok(Arc::clone(&kernel))).unwrap();
        let rt = runtime::current().unwrap();
        let signal = rt.create_signal(1, &[], 0).unwrap();
        rt.async_handler(signal, Condition::Lt, 1, Box::new(|_| false))
            .unwrap();
        runtime::release().unwrap();
        assert!(
            hsa_core::signal::lookup(signal.handle()).is_none(),
            "a signal outlived the runtime"
        );
    };
    cycle();
    let before = (open_files(), threads());
    for _ in 0..1000 {
        cycle();
    }
    assert_eq!((open_files(), threads()), before);
}

#[test]
fn shut_down_ends_queues_and_copies_that_are_under_way() {
    let rt = Open::new("gfx90a");
    let gpu = rt.gpu(0);
    let queue = rt
        .create_queue(
            gpu,
            1024,
            hsa_core::queue::QueueType::Multi,
            None,
            u32::MAX,
            u32::MAX,
        )
        .unwrap();
    let never = rt.create_signal(1, &[], 0).unwrap();
    let (host, vram) = (rt.host_buffer(4096), rt.device_buffer(gpu, 4096));
    let request = hsa_core::copy::CopyRequest {
        dst: vram,
        dst_agent: gpu,
        src: host,
        src_agent: rt.cpu(),
        size: 4096,
        deps: &[never],
        completion: None,
    };
    // SAFETY: the copy waits for ever, so the buffers outlive it.
    unsafe { rt.async_copy(&request) }.unwrap();
    let handle = queue.handle();
    drop(rt);
    assert!(hsa_core::queue::lookup(handle).is_none());
}

#[test]
fn a_forked_child_has_to_initialise_again() {
    let rt = Open::new("gfx1030");
    // SAFETY: the child only makes the two calls below and leaves with `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let closed = runtime::current().is_err() && runtime::release().is_err();
        // SAFETY: ends the child without running anything else.
        unsafe { libc::_exit(i32::from(!closed)) }
    }
    let mut status = -1;
    // SAFETY: waits for the child that was just made.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child saw an open runtime");
    assert!(rt.create_signal(0, &[], 0).is_ok());
}
