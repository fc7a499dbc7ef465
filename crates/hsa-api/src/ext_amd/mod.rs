//! The chapters of hsa_ext_amd.h.

pub(crate) mod copy;
pub(crate) mod event;
pub(crate) mod ipc;
pub(crate) mod misc;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod profile;
pub(crate) mod queue;
pub(crate) mod signal;
pub(crate) mod svm;
pub(crate) mod vmem;
