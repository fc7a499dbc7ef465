//! The Linux KFD and amdgpu DRM interface as data, and the seam behind which a driver stands.
//!
//! What it is: ioctl numbers, argument structs and constants of the kernel's uapi headers, and the
//! [`Kernel`] trait through which everything above issues system calls. What it is not: a driver,
//! or anything that interprets an answer; that is `hsakmt`.

pub mod device;

pub use device::{Errno, Fd, Kernel};
