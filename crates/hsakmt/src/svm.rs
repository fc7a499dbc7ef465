//! Attributes of shared virtual memory.

use crate::driver::Driver;
use crate::error::Error;
use crate::types::{HostPtr, NodeId};
use bitflags::bitflags;
use hsakmt_sys::fam::SvmArgs;
use hsakmt_sys::kfd::{
    KFD_IOCTL_SVM_ATTR_ACCESS, KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, KFD_IOCTL_SVM_ATTR_CLR_FLAGS,
    KFD_IOCTL_SVM_ATTR_GRANULARITY, KFD_IOCTL_SVM_ATTR_NO_ACCESS, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC,
    KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, KFD_IOCTL_SVM_ATTR_SET_FLAGS, KFD_IOCTL_SVM_LOCATION_SYSMEM,
    KFD_IOCTL_SVM_LOCATION_UNDEFINED, KFD_IOCTL_SVM_OP_GET_ATTR, KFD_IOCTL_SVM_OP_SET_ATTR,
    kfd_ioctl_svm_attribute,
};

bitflags! {
    /// `KFD_IOCTL_SVM_FLAG_*`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct SvmFlags: u32 {
        /// The host may access.
        const HOST_ACCESS = 0x01;
        /// Fine grained.
        const COHERENT = 0x02;
        /// Coherent within a hive only.
        const HIVE_LOCAL = 0x04;
        /// GPUs only read.
        const GPU_RO = 0x08;
        /// GPUs may execute.
        const GPU_EXEC = 0x10;
        /// Mostly read by GPUs.
        const GPU_READ_MOSTLY = 0x20;
        /// Stays mapped to GPUs.
        const GPU_ALWAYS_MAPPED = 0x40;
        /// Coherent with atomics of other devices.
        const EXT_COHERENT = 0x80;
    }
}

/// Where pages are or should be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SvmLocation {
    /// Host memory.
    System,
    /// A GPU's memory.
    Node(NodeId),
    /// Not set, or not the same for all pages.
    Undefined,
}

/// Access of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SvmAccess {
    /// None.
    None,
    /// Pages may migrate.
    Migrate,
    /// Pages stay where they are.
    InPlace,
}

/// One attribute of a range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SvmAttribute {
    /// Preferred location.
    PreferredLocation(SvmLocation),
    /// Location of the last prefetch; setting it migrates.
    PrefetchLocation(SvmLocation),
    /// Access of a GPU. In a query the access given does not matter.
    Access(NodeId, SvmAccess),
    /// Flags to set; in a query, flags set on all pages.
    SetFlags(SvmFlags),
    /// Flags to clear; in a query, flags clear on all pages.
    ClearFlags(SvmFlags),
    /// log2 of the pages that migrate together.
    Granularity(u32),
}

/// The kernel's numbers for an attribute.
fn encode(driver: &Driver, attribute: &SvmAttribute) -> Result<kfd_ioctl_svm_attribute, Error> {
    let gpu_id = |node| driver.gpu(node).map(|gpu| gpu.gpu_id);
    let place = |location| match location {
        SvmLocation::System => Ok(KFD_IOCTL_SVM_LOCATION_SYSMEM),
        SvmLocation::Undefined => Ok(KFD_IOCTL_SVM_LOCATION_UNDEFINED),
        SvmLocation::Node(node) => gpu_id(node),
    };
    let (type_, value) = match *attribute {
        SvmAttribute::PreferredLocation(at) => (KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, place(at)?),
        SvmAttribute::PrefetchLocation(at) => (KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, place(at)?),
        SvmAttribute::Access(node, SvmAccess::Migrate) => {
            (KFD_IOCTL_SVM_ATTR_ACCESS, gpu_id(node)?)
        }
        SvmAttribute::Access(node, SvmAccess::InPlace) => {
            (KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, gpu_id(node)?)
        }
        SvmAttribute::Access(node, SvmAccess::None) => {
            (KFD_IOCTL_SVM_ATTR_NO_ACCESS, gpu_id(node)?)
        }
        SvmAttribute::SetFlags(flags) => (KFD_IOCTL_SVM_ATTR_SET_FLAGS, flags.bits()),
        SvmAttribute::ClearFlags(flags) => (KFD_IOCTL_SVM_ATTR_CLR_FLAGS, flags.bits()),
        SvmAttribute::Granularity(log2) => (KFD_IOCTL_SVM_ATTR_GRANULARITY, log2),
    };
    Ok(kfd_ioctl_svm_attribute { type_, value })
}

/// An answer in place of the question. The kernel answers access by changing the type.
fn decode(
    driver: &Driver,
    asked: SvmAttribute,
    answer: kfd_ioctl_svm_attribute,
) -> Result<SvmAttribute, Error> {
    let place = |value| match value {
        KFD_IOCTL_SVM_LOCATION_SYSMEM => Ok(SvmLocation::System),
        KFD_IOCTL_SVM_LOCATION_UNDEFINED => Ok(SvmLocation::Undefined),
        gpu_id => driver
            .node_of(gpu_id)
            .map(SvmLocation::Node)
            .ok_or(nonsense("unknown gpu_id")),
    };
    let value = answer.value;
    Ok(match asked {
        SvmAttribute::PreferredLocation(_) => SvmAttribute::PreferredLocation(place(value)?),
        SvmAttribute::PrefetchLocation(_) => SvmAttribute::PrefetchLocation(place(value)?),
        SvmAttribute::Access(node, _) => SvmAttribute::Access(node, access(answer.type_)?),
        SvmAttribute::SetFlags(_) => SvmAttribute::SetFlags(SvmFlags::from_bits_retain(value)),
        SvmAttribute::ClearFlags(_) => SvmAttribute::ClearFlags(SvmFlags::from_bits_retain(value)),
        SvmAttribute::Granularity(_) => SvmAttribute::Granularity(value),
    })
}

fn access(type_: u32) -> Result<SvmAccess, Error> {
    match type_ {
        KFD_IOCTL_SVM_ATTR_ACCESS => Ok(SvmAccess::Migrate),
        KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE => Ok(SvmAccess::InPlace),
        KFD_IOCTL_SVM_ATTR_NO_ACCESS => Ok(SvmAccess::None),
        _ => Err(nonsense("access is none of the three kinds")),
    }
}

const fn nonsense(reason: &'static str) -> Error {
    Error::Protocol {
        request: "SVM",
        reason,
    }
}

fn arguments(
    driver: &Driver,
    start: HostPtr,
    size_bytes: u64,
    operation: u32,
    attributes: &[SvmAttribute],
) -> Result<SvmArgs, Error> {
    driver.need("shared virtual memory", 5)?;
    let encoded: Vec<_> = attributes
        .iter()
        .map(|a| encode(driver, a))
        .collect::<Result<_, Error>>()?;
    SvmArgs::new(start.addr() as u64, size_bytes, operation, &encoded)
        .ok_or(Error::Invalid("too many SVM attributes in one call"))
}

pub(crate) fn set(
    driver: &Driver,
    start: HostPtr,
    size_bytes: u64,
    attributes: &[SvmAttribute],
) -> Result<(), Error> {
    let operation = KFD_IOCTL_SVM_OP_SET_ATTR;
    driver.device.svm(&mut arguments(
        driver, start, size_bytes, operation, attributes,
    )?)
}

pub(crate) fn get(
    driver: &Driver,
    start: HostPtr,
    size_bytes: u64,
    attributes: &mut [SvmAttribute],
) -> Result<(), Error> {
    let operation = KFD_IOCTL_SVM_OP_GET_ATTR;
    // The kernel refuses a question for in-place or no access; it asks for ACCESS and rewrites it.
    let questions: Vec<_> = attributes
        .iter()
        .map(|attribute| match *attribute {
            SvmAttribute::Access(node, _) => SvmAttribute::Access(node, SvmAccess::Migrate),
            other => other,
        })
        .collect();
    let mut argument = arguments(driver, start, size_bytes, operation, &questions)?;
    driver.device.svm(&mut argument)?;
    let answers: Vec<_> = questions
        .iter()
        .zip(argument.attributes())
        .map(|(asked, answer)| decode(driver, *asked, answer))
        .collect::<Result<_, Error>>()?;
    attributes.copy_from_slice(&answers);
    Ok(())
}
