//! The SVM ioctl and SET_XNACK_MODE.

use hsakmt_sys::ioctl::Request;
use hsakmt_sys::{Errno, kfd};

use super::EINVAL;
use super::wire::SvmHeader;
use crate::kernel::VirtualKfd;
use crate::maps;
use crate::svm::{Change, GpuAccess, LOCATION_UNDEFINED, Summary, flag};
use crate::uaccess;

type Attribute = kfd::kfd_ioctl_svm_attribute;

const SET: u32 = 0;
const GET: u32 = 1;

/// `KFD_IOCTL_SVM_ATTR_*`.
mod kind {
    pub(super) const PREFERRED_LOC: u32 = 0;
    pub(super) const PREFETCH_LOC: u32 = 1;
    pub(super) const ACCESS: u32 = 2;
    pub(super) const ACCESS_IN_PLACE: u32 = 3;
    pub(super) const NO_ACCESS: u32 = 4;
    pub(super) const SET_FLAGS: u32 = 5;
    pub(super) const CLR_FLAGS: u32 = 6;
    pub(super) const GRANULARITY: u32 = 7;
}

pub(super) fn svm(kfd: &VirtualKfd, request: Request, arg: u64) -> Result<(), Errno> {
    let header: SvmHeader = uaccess::read_prefix(arg, request.size_bytes())?;
    let count = header.nattr as usize;
    let room = request.size_bytes().saturating_sub(size_of::<SvmHeader>()) / size_of::<Attribute>();
    if count > room {
        return Err(EINVAL);
    }
    let attributes: Vec<Attribute> =
        uaccess::get_array(arg.wrapping_add(size_of::<SvmHeader>() as u64), count)?;
    let (start, end) = span(&header)?;
    match header.op {
        SET => set(kfd, start, end, &attributes),
        GET => get(
            kfd,
            start,
            end,
            attributes,
            arg.wrapping_add(size_of::<SvmHeader>() as u64),
        ),
        _ => Err(EINVAL),
    }
}

fn span(header: &SvmHeader) -> Result<(u64, u64), Errno> {
    let is_aligned = header.start.is_multiple_of(4096) && header.size.is_multiple_of(4096);
    if !is_aligned || header.start == 0 || header.size == 0 {
        return Err(EINVAL);
    }
    let end = header.start.checked_add(header.size).ok_or(EINVAL)?;
    Ok((header.start, end))
}

fn set(kfd: &VirtualKfd, start: u64, end: u64, attributes: &[Attribute]) -> Result<(), Errno> {
    let changes = attributes
        .iter()
        .map(|attribute| change(kfd, attribute))
        .collect::<Result<Vec<_>, _>>()?;
    if !maps::is_mapped(start, end - start) {
        return Err(Errno(libc::EFAULT));
    }
    kfd.svm.set(start, end, &changes);
    Ok(())
}

fn change(kfd: &VirtualKfd, attribute: &Attribute) -> Result<Change, Errno> {
    let Attribute { type_, value } = *attribute;
    let access = |access| Ok(Change::Access(kfd.device(value)?.gpu.index, access));
    match type_ {
        kind::PREFERRED_LOC => location(kfd, value, true).map(Change::Preferred),
        kind::PREFETCH_LOC => location(kfd, value, false).map(Change::Prefetch),
        kind::ACCESS => access(GpuAccess::Migrate),
        kind::ACCESS_IN_PLACE => access(GpuAccess::InPlace),
        kind::NO_ACCESS => access(GpuAccess::None),
        kind::SET_FLAGS => Ok(Change::SetFlags(value & flag::ALL)),
        kind::CLR_FLAGS => Ok(Change::ClearFlags(value & flag::ALL)),
        kind::GRANULARITY => Ok(Change::Granularity(
            u8::try_from(value.min(0x3f)).unwrap_or(0x3f),
        )),
        _ => Err(EINVAL),
    }
}

/// System memory, a GPU, or (preference only) no preference.
fn location(kfd: &VirtualKfd, value: u32, may_be_undefined: bool) -> Result<u32, Errno> {
    let is_known = value == 0
        || (value == LOCATION_UNDEFINED && may_be_undefined)
        || kfd.device(value).is_ok();
    if is_known { Ok(value) } else { Err(EINVAL) }
}

fn get(
    kfd: &VirtualKfd,
    start: u64,
    end: u64,
    mut attributes: Vec<Attribute>,
    address: u64,
) -> Result<(), Errno> {
    let summary = kfd.svm.get(start, end);
    for attribute in &mut attributes {
        answer(kfd, &summary, attribute)?;
    }
    let mut at = address;
    for attribute in &attributes {
        uaccess::put(at, attribute)?;
        at += size_of::<Attribute>() as u64;
    }
    Ok(())
}

fn answer(kfd: &VirtualKfd, summary: &Summary, attribute: &mut Attribute) -> Result<(), Errno> {
    match attribute.type_ {
        kind::PREFERRED_LOC => attribute.value = summary.preferred,
        kind::PREFETCH_LOC => attribute.value = summary.prefetch,
        kind::ACCESS => {
            attribute.type_ = access_kind(summary, kfd.device(attribute.value)?.gpu.index)
        }
        kind::SET_FLAGS => attribute.value = summary.flags_set,
        kind::CLR_FLAGS => attribute.value = summary.flags_clear,
        kind::GRANULARITY => attribute.value = summary.granularity.into(),
        _ => return Err(EINVAL),
    }
    Ok(())
}

fn access_kind(summary: &Summary, gpu_index: u32) -> u32 {
    let has = |mask: u64| mask >> gpu_index & 1 != 0;
    match (has(summary.access), has(summary.in_place)) {
        (true, _) => kind::ACCESS,
        (false, true) => kind::ACCESS_IN_PLACE,
        (false, false) => kind::NO_ACCESS,
    }
}

pub(super) fn set_xnack_mode(
    kfd: &VirtualKfd,
    args: &mut kfd::kfd_ioctl_set_xnack_mode_args,
) -> Result<(), Errno> {
    if args.xnack_enabled < 0 {
        args.xnack_enabled = kfd.svm.xnack().into();
        return Ok(());
    }
    let wanted = args.xnack_enabled != 0;
    if wanted == kfd.svm.xnack() {
        return Ok(());
    }
    if !kfd.queues.is_empty() {
        return Err(Errno(libc::EBUSY));
    }
    if wanted
        && !kfd
            .devices
            .iter()
            .all(|device| device.gpu.profile.extra.kfd.xnack_per_process)
    {
        return Err(Errno(libc::EPERM));
    }
    kfd.svm.set_xnack(wanted);
    Ok(())
}
