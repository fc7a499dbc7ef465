//! Attributes of shared virtual memory.

use crate::harness::{GPU, on_both, open};
use hsakmt::{HostPtr, SvmAccess, SvmAttribute, SvmFlags, SvmLocation};
use hsakmt_sys::{Errno, Kernel};
use std::sync::Arc;

on_both! { "gfx90a":
    attributes_are_remembered
    defaults_are_those_of_the_kernel
    bad_ranges_are_refused
}

#[repr(align(4096))]
struct Pages([u8; 8192]);

fn attributes_are_remembered(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let pages = Box::new(Pages([1; 8192]));
    let start = HostPtr::from_ptr(pages.0.as_ptr());
    let set = [
        SvmAttribute::PreferredLocation(SvmLocation::Node(GPU)),
        SvmAttribute::Access(GPU, SvmAccess::InPlace),
        SvmAttribute::SetFlags(SvmFlags::GPU_EXEC),
        SvmAttribute::Granularity(4),
    ];
    kfd.svm_set(start, 8192, &set).unwrap();
    let mut get = [
        SvmAttribute::PreferredLocation(SvmLocation::Undefined),
        SvmAttribute::Access(GPU, SvmAccess::None),
        SvmAttribute::SetFlags(SvmFlags::empty()),
        SvmAttribute::Granularity(0),
    ];
    kfd.svm_get(start, 8192, &mut get).unwrap();
    assert_eq!((get[0], get[1], get[3]), (set[0], set[1], set[3]));
    let SvmAttribute::SetFlags(flags) = get[2] else {
        panic!("{get:?}")
    };
    assert!(flags.contains(SvmFlags::GPU_EXEC));
}

/// Location undefined, granularity 9 (kfd-contract, a.4, SVM).
fn defaults_are_those_of_the_kernel(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let pages = Box::new(Pages([1; 8192]));
    let mut get = [
        SvmAttribute::PreferredLocation(SvmLocation::System),
        SvmAttribute::Granularity(0),
    ];
    kfd.svm_get(HostPtr::from_ptr(pages.0.as_ptr()), 8192, &mut get)
        .unwrap();
    let location = SvmAttribute::PreferredLocation(SvmLocation::Undefined);
    assert_eq!(get, [location, SvmAttribute::Granularity(9)]);
}

fn bad_ranges_are_refused(kernel: &Arc<dyn Kernel>) {
    let kfd = open(kernel);
    let pages = Box::new(Pages([1; 8192]));
    let start = HostPtr::from_ptr(pages.0.as_ptr());
    let set = [SvmAttribute::Granularity(4)];
    for (start, size) in [(start.add(1), 4096), (start, 0), (start, 100)] {
        let error = kfd.svm_set(start, size, &set).unwrap_err();
        assert_eq!(error.errno(), Some(Errno(libc::EINVAL)));
    }
    let error = kfd
        .svm_set(HostPtr::from_addr(0x1000), 4096, &set)
        .unwrap_err();
    assert_eq!(error.errno(), Some(Errno(libc::EFAULT)));
}
