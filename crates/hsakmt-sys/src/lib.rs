//! The Linux KFD and amdgpu DRM interface as data, and the seam behind which a driver stands.
//!
//! What it is: ioctl numbers ([`ioctl`]), argument structs and constants of the kernel's uapi
//! headers ([`kfd`], [`drm`], and what later kernels added in [`newer`]), arguments with a
//! trailing array ([`fam`]), and the [`Kernel`] trait through which everything above issues system
//! calls. What it is not: a driver, or anything that interprets an answer; that is `hsakmt`.
//!
//! ```
//! use hsakmt_sys::ioctl::{self, Request};
//!
//! assert_eq!(ioctl::GET_VERSION.code(), 0x8008_4b01);
//! assert_eq!(Request::from_code(0xc058_4b02).nr(), ioctl::CREATE_QUEUE.nr());
//! ```

pub mod device;
pub mod fam;
pub mod ioctl;
pub mod newer;

#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the C header, whose names stay verbatim; the header documents them"
)]
pub mod kfd;

#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the C header, whose names stay verbatim; the header documents them"
)]
pub mod drm;

pub use device::{Errno, Fd, Kernel};
