use super::*;
use crate::mock::{FIRST_GPU, MockKernel};
use crate::pages::tests::reserved_bytes;

fn open(kernel: &Arc<MockKernel>) -> Result<Arc<Kfd>, Error> {
    Kfd::open(Arc::clone(kernel) as Arc<dyn Kernel>)
}

#[test]
fn open_and_drop_leave_nothing_open() {
    let kernel = Arc::new(MockKernel::with_gpus(2));
    let kfd = open(&kernel).unwrap();
    assert_eq!(kernel.state().open.len(), 3);
    assert_eq!(
        kfd.version(),
        Version {
            major: 1,
            minor: 17
        }
    );
    assert_eq!(kfd.topology().gpus().count(), 2);
    drop(kfd);
    assert!(kernel.state().open.is_empty());
}

#[test]
fn every_failing_call_of_open_is_reported_and_closes_everything() {
    for errno in [libc::ENOMEM, libc::EIO] {
        for index in 0.. {
            let kernel = Arc::new(MockKernel::with_gpus(2));
            kernel.fail_after(index, errno);
            let result = open(&kernel);
            if kernel.failure_pending() {
                assert!(result.is_ok());
                assert!(index > 8, "open makes only {index} calls");
                break;
            }
            // Two questions have refusal as an answer: XNACK, and the product name.
            if let Err(error) = result {
                assert!(kernel.state().open.is_empty(), "call {index}: {error}");
            }
        }
    }
}

#[test]
fn a_missing_device_is_told_from_a_missing_module() {
    let kernel = Arc::new(MockKernel::default());
    kernel.refuse_kfd(libc::ENOENT);
    assert_eq!(open(&kernel).unwrap_err(), Error::ModuleMissing);
    kernel.set_absolute("/sys/module/amdgpu/initstate", "live\n");
    assert_eq!(open(&kernel).unwrap_err(), Error::NoDevice);
    kernel.refuse_kfd(libc::EACCES);
    let error = open(&kernel).unwrap_err();
    assert_eq!(
        error,
        Error::Permission {
            path: "/dev/kfd".into()
        }
    );
    assert!(error.to_string().contains("group"), "{error}");
}

#[test]
fn another_major_version_is_refused() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.state().version = (2, 0);
    assert_eq!(
        open(&kernel).unwrap_err(),
        Error::UnsupportedAbi { major: 2, minor: 0 }
    );
}

/// rocm-systems: one unreadable render node made the whole initialisation fail.
#[test]
fn an_unreadable_render_node_hides_one_gpu_only() {
    let kernel = Arc::new(MockKernel::with_gpus(4));
    for (minor, errno) in [(128, libc::EACCES), (129, libc::EPERM), (131, libc::ENOENT)] {
        kernel.refuse_render(minor, errno);
    }
    let kfd = open(&kernel).unwrap();
    let gpus: Vec<_> = kfd.topology().gpus().map(|n| (n.id, n.gpu_id)).collect();
    assert_eq!(gpus, [(NodeId(1), FIRST_GPU + 2)]);
}

#[test]
fn clocks_of_a_cpu_have_no_gpu_counter() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = open(&kernel).unwrap();
    assert_eq!(kfd.clock_counters(NodeId(0)).unwrap().gpu, 0);
    assert_eq!(
        kfd.clock_counters(NodeId(1)).unwrap().gpu,
        u64::from(FIRST_GPU)
    );
    assert!(matches!(
        kfd.clock_counters(NodeId(2)),
        Err(Error::BadNode { .. })
    ));
}

#[test]
fn flush_registers_are_two_words_of_one_page() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = open(&kernel).unwrap();
    let flush = kfd.hdp_flush(NodeId(1)).unwrap();
    assert_eq!(flush.mem.wrapping_add(1), flush.reg);
    assert_eq!(kfd.hdp_flush(NodeId(1)), Some(flush));
    assert_eq!(kfd.hdp_flush(NodeId(0)), None);
    assert_eq!(
        kernel.state().buffers.values().next().unwrap().flags,
        0x9400_0010
    );
    drop(kfd);
    assert!(kernel.state().buffers.is_empty());
    assert_eq!(reserved_bytes(), 0);
}

#[test]
fn a_driver_without_debugger_support_does_not_fail_runtime_enable() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = open(&kernel).unwrap();
    assert_eq!(kfd.runtime_enable(0), Ok(true));
    for (errno, answer) in [
        (libc::EBUSY, true),
        (libc::EINVAL, true),
        (libc::EFAULT, false),
    ] {
        kernel.fail_after(0, errno);
        assert_eq!(kfd.runtime_enable(0).is_ok_and(|on| !on), answer);
    }
}

#[test]
fn scratch_must_be_aligned() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = open(&kernel).unwrap();
    assert!(kfd.set_scratch_backing(NodeId(1), GpuVa(0x1_8000)).is_err());
    assert!(kfd.set_scratch_backing(NodeId(1), GpuVa(0x2_0000)).is_ok());
}

#[test]
fn svm_attributes_travel_both_ways() {
    use crate::svm::{SvmAccess, SvmFlags, SvmLocation};
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = open(&kernel).unwrap();
    let start = HostPtr::from_addr(0x10000);
    let given = [
        SvmAttribute::PreferredLocation(SvmLocation::Node(NodeId(1))),
        SvmAttribute::Access(NodeId(1), SvmAccess::InPlace),
        SvmAttribute::SetFlags(SvmFlags::COHERENT | SvmFlags::GPU_EXEC),
    ];
    kfd.svm_set(start, 4096, &given).unwrap();
    assert_eq!(
        kernel.state().svm,
        [(0, FIRST_GPU), (3, FIRST_GPU), (5, 0x12)]
    );
    let mut asked = [
        SvmAttribute::Access(NodeId(1), SvmAccess::None),
        SvmAttribute::Granularity(0),
    ];
    kfd.svm_get(start, 4096, &mut asked).unwrap();
    let access = SvmAttribute::Access(NodeId(1), SvmAccess::InPlace);
    assert_eq!(asked, [access, SvmAttribute::Granularity(7)]);
}

#[test]
fn an_interrupted_ioctl_is_repeated() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    let kfd = open(&kernel).unwrap();
    for errno in [libc::EINTR, libc::EAGAIN] {
        kernel.fail_after(0, errno);
        assert_eq!(kfd.available_vram(NodeId(1)), Ok(123 << 20));
    }
}

#[test]
fn an_old_driver_is_named_in_the_error() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.state().version = (1, 8);
    let kfd = open(&kernel).unwrap();
    let error = kfd.available_vram(NodeId(1)).unwrap_err();
    assert_eq!(
        error,
        Error::TooOld {
            what: "available memory",
            needed: 9,
            have: 8
        }
    );
}

#[test]
fn a_driver_that_outlives_close_is_opened_once() {
    let kernel = Arc::new(MockKernel::with_gpus(1));
    kernel.state().keeps_state = true;
    let first = open(&kernel).unwrap();
    let weak = Arc::downgrade(&first);
    drop(first);
    assert!(Arc::ptr_eq(
        &open(&kernel).unwrap(),
        &weak.upgrade().unwrap()
    ));
    let other = Arc::new(MockKernel::with_gpus(1));
    other.state().keeps_state = true;
    let second = open(&other).unwrap();
    assert!(Arc::ptr_eq(
        &(Arc::clone(&other) as Arc<dyn Kernel>),
        second.kernel()
    ));
}
