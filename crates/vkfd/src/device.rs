//! The GPUs of a virtual KFD: identity, memory, doorbells and what the client set up on each.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;

use hsakmt_sys::Errno;
use parking_lot::Mutex;

use crate::config::Config;
use crate::doorbell::Slice;
use crate::event::Events;
use crate::gpu::{Facts, Gpu, RuntimeDebug, Settings};
use crate::kernel::Error;
use crate::memory::{DeviceMemory, Segment};
use crate::profile::Profile;
use crate::svm::SvmRanges;
use crate::vm::AddressSpace;

/// First render node's minor number.
pub(crate) const FIRST_RENDER_MINOR: u32 = 128;

/// One GPU with everything that the ioctls need of it.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) memory: Arc<DeviceMemory>,
    pub(crate) doorbells: Slice,
    /// The page of HDP flush registers; stores to it mean nothing here.
    pub(crate) mmio: Arc<Segment>,
    pub(crate) render_minor: u32,
    /// PCI location: bus << 8 | device << 3 | function.
    pub(crate) location: u32,
    /// PCI domain.
    pub(crate) domain: u32,
    pub(crate) state: Mutex<DeviceState>,
}

/// What the client set on a GPU.
#[derive(Debug, Default)]
pub(crate) struct DeviceState {
    /// Number of the render file whose VM is the compute VM.
    pub(crate) vm_file: Option<u64>,
    /// Scratch backing address.
    pub(crate) scratch_va: u64,
    /// Second-level trap handler: code and memory addresses.
    pub(crate) trap_handler: (u64, u64),
}

impl Device {
    pub(crate) fn is_bound(&self) -> bool {
        self.state.lock().vm_file.is_some()
    }

    /// The CPU can reach all VRAM (`HSA_MEM_HEAP_TYPE_FB_PUBLIC`).
    pub(crate) fn has_large_bar(&self) -> bool {
        self.gpu
            .profile
            .mem_banks
            .iter()
            .any(|bank| bank.get("heap_type") == 1)
    }
}

/// Makes the devices of a configuration.
pub(crate) fn create(
    config: &Config,
    events: &Arc<Events>,
    svm: &Arc<SvmRanges>,
    debug: &Arc<RuntimeDebug>,
) -> Result<Vec<Device>, Error> {
    let mut ids = HashSet::new();
    let gtt_bytes = host_memory_bytes();
    let settings = Settings {
        threads: config.threads,
        seed: config.seed,
        trace: config.trace,
    };
    let devices = config.gpus.iter().enumerate().map(|(index, profile)| {
        let gpu = Arc::new(Gpu {
            index: small(index),
            gpu_id: unique_id(&mut ids, profile.gpu_id),
            target: profile.target,
            profile: Arc::clone(profile),
            facts: Facts::of(profile),
            vm: AddressSpace::new(small(index), Arc::clone(svm)),
            events: Arc::clone(events),
            debug: Arc::clone(debug),
            settings: settings.clone(),
        });
        let vram_bytes = config.vram_bytes.unwrap_or_else(|| profile.vram_bytes());
        assemble(gpu, vram_bytes, gtt_bytes).map_err(|errno| Error::Device { gpu: index, errno })
    });
    devices.collect()
}

fn assemble(gpu: Arc<Gpu>, vram_bytes: u64, gtt_bytes: u64) -> Result<Device, Errno> {
    let (domain, location) = pci_place(&gpu.profile, gpu.index);
    Ok(Device {
        memory: DeviceMemory::new(vram_bytes, gtt_bytes)?,
        doorbells: Slice::new()?,
        mmio: Arc::new(Segment::new(c"vkfd-mmio", 4096)?),
        render_minor: FIRST_RENDER_MINOR + gpu.index,
        location,
        domain,
        state: Mutex::default(),
        gpu,
    })
}

/// The profile's id, or the next free one; 16 bits and never 0, as the kernel hashes and bumps it.
fn unique_id(taken: &mut HashSet<u32>, wanted: u32) -> u32 {
    let mut id = wanted & 0xffff;
    while id == 0 || !taken.insert(id) {
        id = (id + 1) & 0xffff;
    }
    id
}

/// Domain and location: the first GPU where its profile says, the next ones on following buses.
fn pci_place(profile: &Profile, index: u32) -> (u32, u32) {
    let location = profile.node.get_u32("location_id");
    let bus = (location >> 8) + index;
    (
        profile.node.get_u32("domain") + (bus >> 8),
        (bus & 0xff) << 8 | location & 0xff,
    )
}

/// Bytes of the host's memory.
pub(crate) fn host_memory_bytes() -> u64 {
    const FALLBACK: u64 = 4 << 30;
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|rest| {
        rest.trim()
            .trim_end_matches(" kB")
            .trim()
            .parse::<u64>()
            .ok()
    });
    kib.map_or(FALLBACK, |kib| kib << 10)
}

/// Logical CPUs that are online.
pub(crate) fn host_cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_profiles_get_different_ids() {
        let mut taken = HashSet::new();
        assert_eq!(unique_id(&mut taken, 50149), 50149);
        assert_eq!(unique_id(&mut taken, 50149), 50150);
        assert_eq!(unique_id(&mut taken, 0xffff), 0xffff);
        assert_eq!(unique_id(&mut taken, 0xffff), 1);
    }
}
