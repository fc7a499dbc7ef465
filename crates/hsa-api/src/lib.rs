//! `libhsa-runtime64.so.1`: the HSA C interface over [`hsa_core`].
//!
//! What it is: the 262 names of ROCm 7.2.4's library under version `ROCR_1` (`exports.txt`), the
//! checks of their arguments, the API tables for tools, and the choice of the driver. What it is
//! not: the runtime; every body hands on to `hsa-core`. `unsupported.txt` lists the names that
//! only answer a documented error so far.
//!
//! Cargo leaves `libhsa_runtime64.so`; its SONAME is `libhsa-runtime64.so.1`, so programs find it
//! through a link of that name, which `hsa run` makes (or `ln -s`).
//!
//! Variables: `VKFD_GPUS` (virtual GPUs), `HANSA_LOG` and `HANSA_LOG_FILE` (log), `HSA_TOOLS_LIB`
//! (tools), and what `hsa-core` and the virtual device read themselves.

mod agent;
mod args;
mod code_object;
mod driver;
mod entry;
mod executable;
mod ext_amd;
mod ext_finalize;
mod ext_image;
mod extensions;
mod isa;
mod loader_export;
mod log;
mod memory;
mod plain;
mod queue;
mod signal;
mod status;
mod system;
mod tables;
mod tools;
mod ven_amd_loader;
mod ven_amd_pcs;
