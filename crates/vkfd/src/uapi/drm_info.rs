//! AMDGPU_INFO: what libdrm asks of a device.

use hsakmt_sys::{Errno, drm};

use super::EINVAL;
use super::wire::Info;
use crate::clock;
use crate::device::Device;
use crate::kernel::VirtualKfd;
use crate::memory::HeapKind;
use crate::uaccess::{self, Wire};

/// GB_ADDR_CONFIG, in dwords.
const REG_GB_ADDR_CONFIG: u32 = 0x263e;
/// First and last address of the high half (`AMDGPU_GMC_HOLE_END` and the top of the space).
const HIGH_VA_START: u64 = 0xffff_8000_0000_0000;

pub(super) fn info(kfd: &VirtualKfd, gpu: usize, args: &mut Info) -> Result<(), Errno> {
    let device = &kfd.devices[gpu];
    let memory = &device.memory;
    match args.query {
        drm::AMDGPU_INFO_ACCEL_WORKING => answer(args, &1u32),
        drm::AMDGPU_INFO_DEV_INFO => answer(args, &dev_info(device)),
        drm::AMDGPU_INFO_READ_MMR_REG => read_registers(device, args),
        drm::AMDGPU_INFO_HW_IP_COUNT => answer(args, &ip_count(device, args.words[0])),
        drm::AMDGPU_INFO_HW_IP_INFO => answer(args, &drm::drm_amdgpu_info_hw_ip::default()),
        drm::AMDGPU_INFO_TIMESTAMP => answer(args, &clock::gpu_ticks()),
        drm::AMDGPU_INFO_FW_VERSION => answer(args, &firmware(device, args.words[0])),
        drm::AMDGPU_INFO_VRAM_USAGE | drm::AMDGPU_INFO_VIS_VRAM_USAGE => {
            answer(args, &memory.used(HeapKind::Vram))
        }
        drm::AMDGPU_INFO_GTT_USAGE => answer(args, &memory.used(HeapKind::Gtt)),
        drm::AMDGPU_INFO_VRAM_GTT => answer(args, &sizes(device)),
        drm::AMDGPU_INFO_MEMORY => answer(args, &memory_info(device)),
        drm::AMDGPU_INFO_NUM_BYTES_MOVED | drm::AMDGPU_INFO_NUM_EVICTIONS => answer(args, &0u64),
        drm::AMDGPU_INFO_VRAM_LOST_COUNTER => answer(args, &0u32),
        query => {
            tracing::debug!(
                query,
                "AMDGPU_INFO query that a compute client does not need"
            );
            Err(EINVAL)
        }
    }
}

/// Copies as much as the caller has room for.
fn answer<T: Wire>(args: &Info, value: &T) -> Result<(), Errno> {
    if args.return_pointer == 0 || args.return_size == 0 {
        return Err(EINVAL);
    }
    uaccess::write_prefix(args.return_pointer, value, args.return_size as usize)
}

/// Registers of the address configuration; others read 0, which clients of compute never look at.
fn read_registers(device: &Device, args: &Info) -> Result<(), Errno> {
    const MOST: u32 = 128;
    let [first, count, ..] = args.words;
    if count > MOST || args.return_pointer == 0 {
        return Err(EINVAL);
    }
    let room = args.return_size / 4;
    for index in 0..count.min(room) {
        let value = match first.wrapping_add(index) {
            REG_GB_ADDR_CONFIG => device.gpu.profile.extra.drm.gb_addr_config,
            _ => 0,
        };
        let address = args
            .return_pointer
            .checked_add(u64::from(index) * 4)
            .ok_or(EINVAL)?;
        uaccess::put(address, &value)?;
    }
    Ok(())
}

fn ip_count(device: &Device, ip: u32) -> u32 {
    match ip {
        drm::AMDGPU_HW_IP_GFX | drm::AMDGPU_HW_IP_COMPUTE => 1,
        drm::AMDGPU_HW_IP_DMA => device.gpu.profile.node.get_u32("num_sdma_engines"),
        _ => 0,
    }
}

fn firmware(device: &Device, kind: u32) -> drm::drm_amdgpu_info_firmware {
    let node = |name| device.gpu.profile.node.get_u32(name);
    let ver = match kind {
        drm::AMDGPU_INFO_FW_GFX_MEC => node("fw_version") & 0x3ff,
        drm::AMDGPU_INFO_FW_SDMA => node("sdma_fw_version"),
        _ => 0,
    };
    drm::drm_amdgpu_info_firmware { ver, feature: 0 }
}

fn sizes(device: &Device) -> drm::drm_amdgpu_info_vram_gtt {
    let vram = device.memory.limit(HeapKind::Vram);
    drm::drm_amdgpu_info_vram_gtt {
        vram_size: vram,
        vram_cpu_accessible_size: if device.has_large_bar() { vram } else { 0 },
        gtt_size: device.memory.limit(HeapKind::Gtt),
    }
}

fn memory_info(device: &Device) -> drm::drm_amdgpu_memory_info {
    let vram = heap_info(device, HeapKind::Vram);
    drm::drm_amdgpu_memory_info {
        vram,
        cpu_accessible_vram: if device.has_large_bar() {
            vram
        } else {
            drm::drm_amdgpu_heap_info::default()
        },
        gtt: heap_info(device, HeapKind::Gtt),
    }
}

fn heap_info(device: &Device, kind: HeapKind) -> drm::drm_amdgpu_heap_info {
    let limit = device.memory.limit(kind);
    drm::drm_amdgpu_heap_info {
        total_heap_size: limit,
        usable_heap_size: limit,
        heap_usage: device.memory.used(kind),
        // The kernel reports three quarters.
        max_allocation: limit / 4 * 3,
    }
}

fn dev_info(device: &Device) -> drm::drm_amdgpu_info_device {
    let profile = &device.gpu.profile;
    let (node, chip) = (|name| profile.node.get_u32(name), &profile.extra.drm);
    let bank = |name| {
        profile
            .mem_banks
            .first()
            .map_or(0, |bank| bank.get_u32(name))
    };
    let engines = profile.shader_engines();
    let arrays = node("simd_arrays_per_engine");
    drm::drm_amdgpu_info_device {
        device_id: node("device_id"),
        chip_rev: chip.chip_rev,
        external_rev: chip.external_rev,
        pci_rev: chip.pci_rev,
        family: chip.family,
        num_shader_engines: engines,
        num_shader_arrays_per_engine: arrays,
        gpu_counter_freq: clock::GPU_COUNTER_KHZ,
        max_engine_clock: u64::from(node("max_engine_clk_fcompute")) * 1000,
        max_memory_clock: u64::from(bank("mem_clk_max")) * 1000,
        cu_active_number: profile.compute_units(),
        cu_bitmap: cu_bitmap(engines, arrays, profile.compute_units()),
        num_hw_gfx_contexts: 8,
        ids_flags: chip.ids_flags,
        virtual_address_offset: 2 << 20,
        virtual_address_max: 0x8000_0000_0000,
        virtual_address_alignment: 4096,
        pte_fragment_size: 2 << 20,
        gart_page_size: 4096,
        vram_type: chip.vram_type,
        vram_bit_width: bank("width"),
        wave_front_size: node("wave_front_size"),
        num_shader_visible_vgprs: chip.shader_visible_vgprs,
        num_cu_per_sh: node("cu_per_simd_array"),
        gs_vgt_table_depth: chip.gs_vgt_table_depth,
        high_va_offset: HIGH_VA_START,
        high_va_max: 0xffff_ffff_ffff_f000,
        ..Default::default()
    }
}

/// One bit per active compute unit, by engine and array. Engines 4 to 7 of large chips follow in
/// the second half of each row, as the kernel lays them out.
fn cu_bitmap(engines: u32, arrays: u32, units: u32) -> [[u32; 4]; 4] {
    let mut bitmap = [[0; 4]; 4];
    let count = (engines * arrays).max(1);
    for array in 0..count {
        let (engine, within) = (array / arrays.max(1), array % arrays.max(1));
        let cell = bitmap
            .get_mut((engine % 4) as usize)
            .and_then(|row| row.get_mut((within + engine / 4 * arrays.max(1)) as usize));
        let share = units / count + u32::from(array < units % count);
        if let Some(cell) = cell {
            *cell = 1u32.checked_shl(share).map_or(u32::MAX, |bit| bit - 1);
        }
    }
    bitmap
}
