use super::*;
use crate::Kfd;
use crate::mock::{FIRST_GPU, MockKernel, Wait};
use crate::pages::tests::reserved_bytes;

fn open() -> (Arc<MockKernel>, Arc<Kfd>) {
    let kernel = Arc::new(MockKernel::with_gpus(2));
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    (kernel, kfd)
}

const COMPLETE: Wait = Wait {
    result: 0,
    payload: [5, 0, 0, 0],
    errno: 0,
};

#[test]
fn the_first_event_brings_a_page_that_every_gpu_sees() {
    let (kernel, kfd) = open();
    let first = kfd.create_event(EventKind::Signal, true).unwrap();
    let second = kfd.create_event(EventKind::Signal, false).unwrap();
    let state = kernel.state();
    assert_eq!(state.buffers.len(), 1);
    let (handle, buffer) = state.buffers.first_key_value().unwrap();
    assert_eq!((buffer.flags, buffer.size), (0xd600_0002, 32768));
    assert_eq!(buffer.mapped.len(), 2);
    assert_eq!(state.event_page, Some(*handle));
    let base = buffer.va;
    drop(state);
    let offset = |event: &Event| event.mailbox().unwrap().get() - base;
    assert_eq!(offset(&first) / 8, u64::from(first.id() % 4096));
    assert_ne!(offset(&first), offset(&second));
}

#[test]
fn only_signals_have_a_mailbox() {
    let (_kernel, kfd) = open();
    assert!(
        kfd.create_event(EventKind::Signal, true)
            .unwrap()
            .mailbox()
            .is_some()
    );
    assert_eq!(
        kfd.create_event(EventKind::Memory, true).unwrap().mailbox(),
        None
    );
}

#[test]
fn a_failure_at_any_call_of_the_first_event_leaks_nothing() {
    for index in 0.. {
        let (kernel, kfd) = open();
        kernel.fail_after(index, libc::EIO);
        let result = kfd.create_event(EventKind::Signal, true);
        if kernel.failure_pending() {
            assert!(result.is_ok() && index == 4, "allocate, view, map, create");
            break;
        }
        assert!(result.is_err());
        assert!(kernel.state().buffers.is_empty() && kernel.state().events.is_empty());
        assert_eq!(reserved_bytes(), 0);
        kfd.create_event(EventKind::Signal, true).unwrap();
    }
}

#[test]
fn drop_destroys_the_event_and_leaves_the_page_to_the_driver() {
    let (kernel, kfd) = open();
    drop(kfd.create_event(EventKind::Signal, true).unwrap());
    assert!(kernel.state().events.is_empty());
    drop(kfd);
    // The driver answers EPERM to a free of the event page, so none is tried.
    assert_eq!(kernel.state().buffers.len(), 1);
    assert_eq!(reserved_bytes(), 0);
}

#[test]
fn ages_come_back() {
    let (kernel, kfd) = open();
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    kernel.state().waits.push_back(COMPLETE);
    let mut ages = [4];
    let result = kfd.wait_events(&[&event], &mut ages, false, 0).unwrap();
    assert_eq!((result.status, ages), (WaitStatus::Complete, [5]));
}

#[test]
fn the_number_of_ages_must_fit() {
    let (_kernel, kfd) = open();
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    assert!(matches!(
        kfd.wait_events(&[&event], &mut [0, 0], false, 0),
        Err(Error::Invalid(_))
    ));
}

#[test]
fn more_events_than_the_inline_array_holds_are_waited_for() {
    let (kernel, kfd) = open();
    let make = |_| kfd.create_event(EventKind::Signal, true).unwrap();
    let events: Vec<_> = (0..3 * INLINE).map(make).collect();
    kernel.state().waits.push_back(COMPLETE);
    let mut ages = vec![0; events.len()];
    let all: Vec<_> = events.iter().collect();
    kfd.wait_events(&all, &mut ages, true, 0).unwrap();
    assert!(ages.iter().all(|age| *age == 5));
}

#[test]
fn a_timeout_is_no_error() {
    let (kernel, kfd) = open();
    let event = kfd.create_event(EventKind::Memory, true).unwrap();
    kernel.state().waits.push_back(Wait {
        result: 1,
        ..COMPLETE
    });
    let result = kfd.wait_events(&[&event], &mut [], false, 0).unwrap();
    assert_eq!(
        result,
        WaitResult {
            status: WaitStatus::Timeout,
            exceptions: Vec::new()
        }
    );
}

#[test]
fn a_destroyed_event_is_an_error_of_its_own() {
    let (kernel, kfd) = open();
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    for wait in [
        Wait {
            result: 2,
            ..COMPLETE
        },
        Wait {
            errno: libc::EIO,
            ..COMPLETE
        },
    ] {
        kernel.state().waits.push_back(wait);
        let error = kfd.wait_events(&[&event], &mut [], false, 0).unwrap_err();
        assert_eq!(error, Error::EventDestroyed);
    }
}

/// Layout of `kfd_hsa_memory_exception_data`: NotPresent, ReadOnly, NoExecute, imprecise, va,
/// gpu_id, ErrorType.
#[test]
fn a_memory_fault_is_decoded() {
    let (kernel, kfd) = open();
    let signal = kfd.create_event(EventKind::Signal, true).unwrap();
    let memory = kfd.create_event(EventKind::Memory, true).unwrap();
    let gpu = u64::from(FIRST_GPU + 1);
    let payload = [1 << 32, 1, 0xdead_b000, gpu | 3 << 32];
    kernel.state().waits.push_back(Wait {
        payload,
        ..COMPLETE
    });
    let result = kfd
        .wait_events(&[&signal, &memory], &mut [], false, u32::MAX)
        .unwrap();
    let expected = MemoryException {
        node: Some(NodeId(2)),
        gpu_id: FIRST_GPU + 1,
        va: GpuVa(0xdead_b000),
        not_present: false,
        read_only: true,
        no_execute: true,
        imprecise: false,
        error_type: 3,
    };
    assert_eq!(result.exceptions, [(1, Exception::Memory(expected))]);
}

/// Layout of `kfd_hsa_hw_exception_data`: reset_type, reset_cause, memory_lost, gpu_id.
#[test]
fn a_reset_is_decoded() {
    let (kernel, kfd) = open();
    let event = kfd.create_event(EventKind::HwException, true).unwrap();
    let payload = [1 << 32, 1 | u64::from(FIRST_GPU) << 32, 0, 0];
    kernel.state().waits.push_back(Wait {
        payload,
        ..COMPLETE
    });
    let result = kfd
        .wait_events(&[&event], &mut [], false, u32::MAX)
        .unwrap();
    let expected = HwException {
        node: Some(NodeId(1)),
        gpu_id: FIRST_GPU,
        reset_type: 0,
        reset_cause: 1,
        memory_lost: true,
    };
    assert_eq!(result.exceptions, [(0, Exception::Hardware(expected))]);
}

#[test]
fn events_without_a_gpu_use_the_drivers_page() {
    let kernel = Arc::new(MockKernel::with_gpus(0));
    let kfd = Kfd::open(Arc::clone(&kernel) as Arc<dyn hsakmt_sys::Kernel>).unwrap();
    let event = kfd.create_event(EventKind::Signal, true).unwrap();
    assert!(event.mailbox().is_some());
    assert!(kernel.state().buffers.is_empty());
}
