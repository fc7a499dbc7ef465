//! The runtime on virtual devices. Each test opens a device of its own; tests run in processes of
//! their own (nextest), as the runtime is one for a process.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod agents;
mod copies;
mod handlers;
mod lifetime;
mod memory;
mod queues;
mod signals;

use hsa_core::{Agent, Pool, Runtime, runtime};
use hsakmt_sys::Kernel;
use std::sync::Arc;

/// The runtime on the GPUs of a `VKFD_GPUS` list; closed when dropped.
struct Open(&'static Runtime);

impl Open {
    fn new(gpus: &str) -> Self {
        runtime::acquire(|| Ok(device(gpus))).unwrap();
        Self(runtime::current().unwrap())
    }

    fn cpu(&self) -> &'static Agent {
        self.0.agents().iter().find(|a| !a.is_gpu()).unwrap()
    }

    fn gpu(&self, number: usize) -> &'static Agent {
        self.0
            .agents()
            .iter()
            .filter(|a| a.is_gpu())
            .nth(number)
            .unwrap()
    }

    fn pool(&self, agent: &Agent, kind: hsa_core::pool::PoolKind) -> &'static Pool {
        self.0
            .agent_pools(agent)
            .iter()
            .find(|p| p.kind == kind)
            .unwrap()
    }

    /// Host memory that every GPU can access.
    fn host_buffer(&self, bytes: u64) -> u64 {
        let pool = self.pool(self.cpu(), hsa_core::pool::PoolKind::SystemCoarse);
        let buffer = self.0.allocate(pool, bytes, 0).unwrap();
        let gpus: Vec<&Agent> = self.0.agents().iter().filter(|a| a.is_gpu()).collect();
        self.0.allow_access(&gpus, buffer).unwrap();
        buffer
    }

    fn device_buffer(&self, gpu: &Agent, bytes: u64) -> u64 {
        self.0
            .allocate(
                self.pool(gpu, hsa_core::pool::PoolKind::VramCoarse),
                bytes,
                0,
            )
            .unwrap()
    }
}

impl std::ops::Deref for Open {
    type Target = Runtime;
    fn deref(&self) -> &Runtime {
        self.0
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // A test that closed the runtime itself has nothing left to release.
        let _ = runtime::release();
    }
}

fn device(gpus: &str) -> Arc<dyn Kernel> {
    vkfd::VirtualKfd::new(vkfd::Config::of_gpus(gpus).unwrap()).unwrap()
}

/// Writes bytes to an address that the test allocated.
fn write(address: u64, bytes: &[u8]) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(address).unwrap());
    // SAFETY: the caller allocated at least that many bytes there.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Reads bytes from an address that the test allocated.
fn read(address: u64, bytes: usize) -> Vec<u8> {
    let from = std::ptr::with_exposed_provenance::<u8>(usize::try_from(address).unwrap());
    let mut data = vec![0; bytes];
    // SAFETY: as in `write`.
    unsafe { std::ptr::copy_nonoverlapping(from, data.as_mut_ptr(), bytes) };
    data
}

/// Bytes that differ from their neighbours and from other seeds.
fn pattern(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes)
        .map(|i| u8::try_from((i * 7 + i / 251 + usize::from(seed) * 31) % 256).unwrap())
        .collect()
}

/// Open descriptors of this process.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}
