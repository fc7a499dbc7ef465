//! The SVM and XNACK ioctls.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use amdgpu_exec::{Access, Memory};
use common::*;
use hsakmt_sys::Errno;
use hsakmt_sys::fam::SvmArgs;
use hsakmt_sys::ioctl::{self, Request};
use hsakmt_sys::kfd::{self, kfd_ioctl_svm_attribute as Attribute};

const SET: u32 = 0;
const GET: u32 = 1;
const PREFERRED: u32 = 0;
const PREFETCH: u32 = 1;
const ACCESS: u32 = 2;
const IN_PLACE: u32 = 3;
const NO_ACCESS: u32 = 4;
const SET_FLAGS: u32 = 5;
const CLR_FLAGS: u32 = 6;
const GRANULARITY: u32 = 7;

fn attribute(type_: u32, value: u32) -> Attribute {
    Attribute { type_, value }
}

fn svm(
    client: &Client<'_>,
    op: u32,
    start: u64,
    size: u64,
    attributes: &[Attribute],
) -> Result<Vec<(u32, u32)>, Errno> {
    let mut args = SvmArgs::new(start, size, op, attributes).unwrap();
    let request = args.request();
    // SAFETY: the range outlives the device.
    unsafe {
        client
            .kernel
            .ioctl(client.kfd, request.code(), args.as_mut_ptr())
    }?;
    Ok(args
        .attributes()
        .map(|attribute| (attribute.type_, attribute.value))
        .collect())
}

#[test]
fn access_lets_the_gpu_use_host_memory_in_place() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    let start = anonymous(0x4000) as u64;
    let vm = |gpu| device.address_space(gpu).unwrap();
    assert!(vm(0).resolve(start, Access::Read).is_err());
    svm(
        &client,
        SET,
        start,
        0x2000,
        &[attribute(ACCESS, client.gpu_ids[0])],
    )
    .unwrap();
    let range = vm(0).resolve(start + 0x1fff, Access::Write).unwrap();
    assert_eq!(
        (range.base, range.limit, range.delta, range.stable),
        (start, start + 0x2000, 0, false)
    );
    assert!(vm(0).resolve(start + 0x2000, Access::Read).is_err());
    assert!(
        vm(0).resolve(start, Access::Execute).is_err(),
        "GPU_EXEC is not set"
    );
    assert!(
        vm(1).resolve(start, Access::Read).is_err(),
        "the other GPU has no access"
    );
    let before = vm(0).generation();
    svm(
        &client,
        SET,
        start,
        0x2000,
        &[attribute(NO_ACCESS, client.gpu_ids[0])],
    )
    .unwrap();
    assert!(vm(0).resolve(start, Access::Read).is_err());
    assert_ne!(vm(0).generation(), before, "running waves must notice");
}

#[test]
fn attributes_read_back_as_common_values() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let gpu = client.gpu_ids[0];
    let start = anonymous(0x4000) as u64;
    let all =
        [PREFERRED, PREFETCH, SET_FLAGS, CLR_FLAGS, GRANULARITY].map(|kind| attribute(kind, 0));
    let fresh = svm(&client, GET, start, 0x4000, &all).unwrap();
    assert_eq!(
        fresh,
        [
            (PREFERRED, u32::MAX),
            (PREFETCH, u32::MAX),
            (SET_FLAGS, 3),
            (CLR_FLAGS, 0xfc),
            (GRANULARITY, 9)
        ]
    );
    // What the runtime sets for a context-save area.
    let area = [
        attribute(PREFETCH, gpu),
        attribute(PREFERRED, 0),
        attribute(CLR_FLAGS, 0xffff_ffae),
        attribute(SET_FLAGS, 0x51),
        attribute(ACCESS, gpu),
        attribute(GRANULARITY, 0xff),
    ];
    svm(&client, SET, start, 0x2000, &area).unwrap();
    let one = svm(&client, GET, start, 0x2000, &all).unwrap();
    assert_eq!(
        one,
        [
            (PREFERRED, 0),
            (PREFETCH, gpu),
            (SET_FLAGS, 0x51),
            (CLR_FLAGS, 0xae),
            (GRANULARITY, 0x3f)
        ]
    );
    let both = svm(&client, GET, start, 0x4000, &all).unwrap();
    assert_eq!(
        both[2..],
        [(SET_FLAGS, 1), (CLR_FLAGS, 0xac), (GRANULARITY, 9)]
    );
    let access = |length| svm(&client, GET, start, length, &[attribute(ACCESS, gpu)]).unwrap()[0].0;
    assert_eq!((access(0x2000), access(0x4000)), (ACCESS, NO_ACCESS));
    svm(&client, SET, start, 0x1000, &[attribute(IN_PLACE, gpu)]).unwrap();
    assert_eq!((access(0x1000), access(0x2000)), (IN_PLACE, IN_PLACE));
}

#[test]
fn bad_ranges_and_attributes_are_refused_whole() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let start = anonymous(0x2000) as u64;
    let flag = [attribute(SET_FLAGS, 1)];
    assert_eq!(svm(&client, SET, start + 1, 0x1000, &flag), Err(EINVAL));
    assert_eq!(svm(&client, SET, start, 0, &flag), Err(EINVAL));
    assert_eq!(svm(&client, SET, start, 0x800, &flag), Err(EINVAL));
    assert_eq!(svm(&client, SET, !0xfff, 0x1000, &flag), Err(EINVAL));
    assert_eq!(
        svm(&client, SET, 0x1000, 0x1000, &flag),
        Err(EFAULT),
        "nothing is mapped there"
    );
    assert_eq!(svm(&client, 2, start, 0x1000, &flag), Err(EINVAL));
    let bad_last = [attribute(SET_FLAGS, 0x10), attribute(ACCESS, 7)];
    assert_eq!(svm(&client, SET, start, 0x1000, &bad_last), Err(EINVAL));
    assert_eq!(device.live_counts().2, 0, "the good attribute did not stay");
    for kind in [8, u32::MAX] {
        assert_eq!(
            svm(&client, SET, start, 0x1000, &[attribute(kind, 0)]),
            Err(EINVAL)
        );
    }
    for kind in [IN_PLACE, NO_ACCESS] {
        assert_eq!(
            svm(
                &client,
                GET,
                start,
                0x1000,
                &[attribute(kind, client.gpu_ids[0])]
            ),
            Err(EINVAL)
        );
    }
    // More attributes than the code's size has room for.
    let mut words = [start, 0x1000, 100 << 32, 0, 0];
    let request = Request::from_code(0xc018_4b20).with_size(24 + 16);
    // SAFETY: the argument is too short for what it says, which is the test.
    let result = unsafe {
        client
            .kernel
            .ioctl(client.kfd, request.code(), words.as_mut_ptr().cast())
    };
    assert_eq!(result, Err(EINVAL));
}

#[test]
fn an_address_belongs_to_svm_or_to_a_buffer_object() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let start = anonymous(0x4000);
    svm(
        &client,
        SET,
        start as u64,
        0x4000,
        &[attribute(SET_FLAGS, 1)],
    )
    .unwrap();
    let inside = start as u64 + 0x1000;
    assert_eq!(
        client.alloc(0, inside, 0x1000, VRAM),
        Err(Errno(libc::EADDRINUSE))
    );
    assert_eq!(
        client.user(0, 0x7000_0000_0000, inside, 0x1000),
        Err(Errno(libc::EADDRINUSE))
    );
    // The client gave the memory back and reserved the range again, as a runtime does for each
    // allocation: the kernel would have dropped the range when it was unmapped.
    protect(start, 0x4000, libc::PROT_NONE);
    assert!(client.alloc(0, inside, 0x1000, VRAM).is_ok());
}

#[test]
fn unmapping_ends_the_range() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let start = anonymous(0x3000) as u64;
    svm(
        &client,
        SET,
        start,
        0x3000,
        &[attribute(ACCESS, client.gpu_ids[0])],
    )
    .unwrap();
    device.unmapped(usize::try_from(start).unwrap() + 0x1000, 0x1000);
    let vm = device.address_space(0).unwrap();
    assert!(vm.resolve(start, Access::Read).is_ok());
    assert!(vm.resolve(start + 0x1000, Access::Read).is_err());
    assert!(vm.resolve(start + 0x2000, Access::Read).is_ok());
}

fn xnack(client: &Client<'_>, wanted: i32) -> Result<i32, Errno> {
    let mut args = kfd::kfd_ioctl_set_xnack_mode_args {
        xnack_enabled: wanted,
    };
    client
        .ioctl(ioctl::SET_XNACK_MODE, &mut args)
        .map(|()| args.xnack_enabled)
}

#[test]
fn xnack_is_a_choice_where_all_gpus_have_it() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    assert_eq!(xnack(&client, -1), Ok(0));
    assert_eq!(xnack(&client, 1), Ok(1));
    assert_eq!(xnack(&client, -1), Ok(1));
    let heap = anonymous(0x1000) as u64;
    assert!(
        device
            .address_space(0)
            .unwrap()
            .resolve(heap, Access::Write)
            .is_ok()
    );
    let mixed = self::device("gfx90a,gfx1030");
    let client = Client::new(&*mixed);
    assert_eq!(xnack(&client, 1), Err(Errno(libc::EPERM)));
    assert_eq!(xnack(&client, 0), Ok(0));
}
