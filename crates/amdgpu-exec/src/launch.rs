//! The state a dispatch gives to its waves.
//!
//! Register contents at wave start: LLVM AMDGPUUsage, "Initial Kernel Execution State"; bit
//! positions: "Code Object V3 Kernel Descriptor".

use amdgpu_abi::descriptor::{KernelDescriptor, property};
use amdgpu_isa::Target;
use amdgpu_isa::scalar;

use crate::api::{Dispatch, Memory, Stop};
use crate::memory::Port;
use crate::wave::{CHUNK_LANES, Chunk, Place, Wave, chunk_index, mode};

/// Work-items of a group at most, on all targets.
const MAX_GROUP: u32 = 1024;
/// LDS of a group at most, on both targets.
const MAX_LDS_BYTES: u32 = 64 << 10;
/// Scratch of a wave at most: the 13-bit WAVESIZE field counts KiB (`COMPUTE_TMPRING_SIZE`).
const MAX_WAVE_SCRATCH_BYTES: u64 = 0x1fff << 10;
/// User SGPRs at most (`USER_SGPR` of both targets).
const MAX_USER_SGPRS: usize = 16;

/// A validated dispatch.
pub(crate) struct Launch {
    pub(crate) target: Target,
    pub(crate) lanes: u8,
    /// Workgroups per dimension.
    pub(crate) groups: [u32; 3],
    pub(crate) entry: u64,
    pub(crate) lds_bytes: u32,
    /// Private bytes of a work-item.
    pub(crate) scratch_bytes: u32,
    /// Base address in the private segment buffer at wave start.
    pub(crate) scratch_base: u64,
    grid: [u32; 3],
    workgroup: [u16; 3],
    mode: u32,
    user: [u32; MAX_USER_SGPRS],
    user_count: usize,
    system: SystemRegisters,
}

/// What follows the user SGPRs.
#[derive(Clone, Copy, Debug)]
struct SystemRegisters {
    workgroup_id: [bool; 3],
    info: bool,
    wave_offset: bool,
    work_item_ids: u32,
}

/// Extent of one workgroup after clipping at the grid's edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) id: [u32; 3],
    size: [u32; 3],
    pub(crate) waves: u32,
}

fn invalid(reason: String) -> Stop {
    Stop::InvalidDispatch { reason }
}

impl Launch {
    /// Checks a dispatch against the target's limits and precomputes its wave state.
    pub(crate) fn new(dispatch: &Dispatch, memory: &dyn Memory) -> Result<Self, Stop> {
        let descriptor = KernelDescriptor::parse(&dispatch.descriptor);
        let lanes = wave_size(dispatch.target, &descriptor)?;
        check_sizes(dispatch, lanes)?;
        check_registers(dispatch.target, lanes, &descriptor)?;
        let mut launch = Self {
            target: dispatch.target,
            lanes,
            groups: [0, 1, 2].map(|d| dispatch.grid[d].div_ceil(u32::from(dispatch.workgroup[d]))),
            entry: entry(dispatch, &descriptor)?,
            lds_bytes: dispatch.group_segment_bytes,
            scratch_bytes: dispatch.private_segment_bytes,
            scratch_base: 0,
            grid: dispatch.grid,
            workgroup: dispatch.workgroup,
            mode: initial_mode(descriptor.compute_pgm_rsrc1),
            user: [0; MAX_USER_SGPRS],
            user_count: 0,
            system: system_registers(descriptor.compute_pgm_rsrc2),
        };
        launch.fill_user(dispatch, &descriptor, memory)?;
        Ok(launch)
    }

    /// Number of workgroups.
    pub(crate) fn group_count(&self) -> u64 {
        self.groups.iter().map(|&n| u64::from(n)).product()
    }

    /// Waves of a full workgroup.
    pub(crate) fn waves_per_group(&self) -> u32 {
        let items: u32 = self.workgroup.iter().map(|&n| u32::from(n)).product();
        items.div_ceil(u32::from(self.lanes))
    }

    /// The workgroup with a linear number, x fastest.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "remainders of 32-bit divisors"
    )]
    pub(crate) fn extent(&self, number: u64) -> Extent {
        let [x, y, _] = self.groups.map(u64::from);
        let id = [
            (number % x) as u32,
            (number / x % y) as u32,
            (number / x / y) as u32,
        ];
        let size = [0, 1, 2].map(|d| {
            let full = u32::from(self.workgroup[d]);
            full.min(self.grid[d] - id[d] * full)
        });
        let waves = size.iter().product::<u32>().div_ceil(u32::from(self.lanes));
        Extent { id, size, waves }
    }

    /// Puts wave `index` of a workgroup into its initial state.
    pub(crate) fn start(&self, wave: &mut Wave, extent: &Extent, index: u32, place: Place) {
        wave.retarget(self.target, self.lanes);
        wave.clear_scalars();
        wave.resume_hint = crate::block::UNKNOWN;
        wave.pc = self.entry;
        wave.mode = self.mode;
        wave.place = Place {
            workgroup: extent.id,
            wave: index,
            ..place
        };
        self.write_scalars(wave, extent, index);
        let items: u32 = extent.size.iter().product();
        let first = index * u32::from(self.lanes);
        let active = (items - first).min(u32::from(self.lanes));
        wave.set_exec(u64::MAX >> (64 - active));
        self.write_work_item_ids(wave, extent, first);
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most 22 registers")]
    fn write_scalars(&self, wave: &mut Wave, extent: &Extent, index: u32) {
        for (i, value) in self.user.iter().enumerate() {
            wave.set_scalar(i as u8, *value);
        }
        let mut next = self.user_count as u8;
        let mut push = |value| {
            wave.set_scalar(next, value);
            next += 1;
        };
        for d in 0..3 {
            if self.system.workgroup_id[d] {
                push(extent.id[d]);
            }
        }
        if self.system.info {
            // First wave in bit 31, number of waves in 5:0.
            push(u32::from(index == 0) << 31 | extent.waves & 0x3f);
        }
        if self.system.wave_offset {
            // Each wave has its own backing memory, so all of them begin at its start.
            push(0);
        }
    }

    fn write_work_item_ids(&self, wave: &mut Wave, extent: &Extent, first: u32) {
        let [sx, sy, _] = extent.size;
        let lanes = usize::from(self.lanes);
        let mut at = [first % sx, first / sx % sy, first / sx / sy];
        for chunk in 0..lanes / CHUNK_LANES {
            let register = |register| usize::from(chunk_index(register, lanes)) + chunk;
            if self.target.has_unified_registers() {
                // x, y and z in 10 bits each.
                fill(wave.chunk_mut(register(0)), at, sx, sy, |[x, y, z]| {
                    x | y << 10 | z << 20
                });
            } else {
                fill(wave.chunk_mut(register(0)), at, sx, sy, |[x, _, _]| x);
                if self.system.work_item_ids >= 1 {
                    fill(wave.chunk_mut(register(1)), at, sx, sy, |[_, y, _]| y);
                }
                if self.system.work_item_ids >= 2 {
                    fill(wave.chunk_mut(register(2)), at, sx, sy, |[_, _, z]| z);
                }
            }
            at = advance(at, 32, sx, sy);
        }
    }

    /// User SGPRs in the order of the property bits.
    fn fill_user(
        &mut self,
        dispatch: &Dispatch,
        descriptor: &KernelDescriptor,
        memory: &dyn Memory,
    ) -> Result<(), Stop> {
        use property as p;
        let buffer = private_segment_buffer(dispatch);
        self.scratch_base = u64::from(buffer[0]) | u64::from(buffer[1] & 0xffff) << 32;
        let has = |bit| descriptor.kernel_code_properties & bit != 0;
        let mut values = Vec::with_capacity(MAX_USER_SGPRS);
        if has(p::ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER) {
            values.extend(buffer);
        }
        for (bit, value) in [
            (p::ENABLE_SGPR_DISPATCH_PTR, dispatch.packet_va),
            (p::ENABLE_SGPR_QUEUE_PTR, dispatch.queue_va),
            (p::ENABLE_SGPR_KERNARG_SEGMENT_PTR, dispatch.kernarg_va),
            (p::ENABLE_SGPR_DISPATCH_ID, dispatch.dispatch_id),
            (
                p::ENABLE_SGPR_FLAT_SCRATCH_INIT,
                dispatch.scratch.backing_location,
            ),
        ] {
            if has(bit) {
                values.extend(halves(value));
            }
        }
        if has(p::ENABLE_SGPR_PRIVATE_SEGMENT_SIZE) {
            values.push(dispatch.private_segment_bytes);
        }
        self.preload(dispatch, descriptor, memory, &mut values)?;
        let count = (descriptor.compute_pgm_rsrc2 >> 1 & 0x1f) as usize;
        if values.len() > count || count > MAX_USER_SGPRS {
            let needed = values.len();
            return Err(invalid(format!(
                "descriptor enables {needed} user SGPRs, USER_SGPR_COUNT is {count}, the limit \
                 {MAX_USER_SGPRS}"
            )));
        }
        self.user[..values.len()].copy_from_slice(&values);
        self.user_count = count;
        Ok(())
    }

    /// Kernel arguments in SGPRs (gfx90a). The entry then lies 256 bytes on, behind the code that
    /// loads them for firmware without this feature.
    fn preload(
        &mut self,
        dispatch: &Dispatch,
        descriptor: &KernelDescriptor,
        memory: &dyn Memory,
        values: &mut Vec<u32>,
    ) -> Result<(), Stop> {
        let length = usize::from(descriptor.kernarg_preload & 0x7f);
        if length == 0 || !self.target.has_unified_registers() {
            return Ok(());
        }
        let offset = u64::from(descriptor.kernarg_preload >> 7);
        let from = dispatch.kernarg_va.wrapping_add(offset * 4);
        let mut bytes = vec![0; length * 4];
        Port::new(memory)
            .read(self.entry, from, &mut bytes)
            .map_err(Stop::MemoryFault)?;
        let dwords = bytes.as_chunks::<4>().0;
        values.extend(dwords.iter().map(|dword| u32::from_le_bytes(*dword)));
        self.entry += 256;
        Ok(())
    }
}

/// Writes what `value` makes of the ids of 32 work-items from `at` on.
#[inline(always)]
fn fill(row: &mut Chunk, at: [u32; 3], sx: u32, sy: u32, value: impl Fn([u32; 3]) -> u32) {
    let [x, y, z] = at;
    if x + 32 <= sx {
        for (lane, place) in (0u32..).zip(&mut row.0) {
            *place = value([x + lane, y, z]);
        }
        return;
    }
    let mut at = at;
    for place in &mut row.0 {
        *place = value(at);
        at = advance(at, 1, sx, sy);
    }
}

/// The work-item `by` further on.
#[inline(always)]
fn advance([mut x, mut y, mut z]: [u32; 3], by: u32, sx: u32, sy: u32) -> [u32; 3] {
    x += by;
    while x >= sx {
        x -= sx;
        y += 1;
        if y == sy {
            y = 0;
            z += 1;
        }
    }
    [x, y, z]
}

fn wave_size(target: Target, descriptor: &KernelDescriptor) -> Result<u8, Stop> {
    let wave32 = descriptor.kernel_code_properties & property::ENABLE_WAVEFRONT_SIZE32 != 0;
    match (target.is_gfx9(), wave32) {
        (true, true) => Err(invalid(format!(
            "descriptor asks for 32 lanes, {} waves have 64",
            target.name()
        ))),
        (_, true) => Ok(32),
        (_, false) => Ok(64),
    }
}

fn check_sizes(dispatch: &Dispatch, lanes: u8) -> Result<(), Stop> {
    let Dispatch {
        grid, workgroup, ..
    } = dispatch;
    if grid.contains(&0) || workgroup.contains(&0) {
        return Err(invalid(format!(
            "grid {grid:?} or workgroup {workgroup:?} has a zero"
        )));
    }
    let items: u64 = workgroup.iter().map(|&n| u64::from(n)).product();
    if items > u64::from(MAX_GROUP) {
        return Err(invalid(format!(
            "workgroup has {items} work-items, limit {MAX_GROUP}"
        )));
    }
    let lds = dispatch.group_segment_bytes;
    if lds > MAX_LDS_BYTES {
        return Err(invalid(format!(
            "group segment has {lds} bytes, limit {MAX_LDS_BYTES}"
        )));
    }
    let scratch = u64::from(dispatch.private_segment_bytes) * u64::from(lanes);
    if scratch > MAX_WAVE_SCRATCH_BYTES {
        return Err(invalid(format!(
            "private segments of a wave have {scratch} bytes, limit {MAX_WAVE_SCRATCH_BYTES}"
        )));
    }
    Ok(())
}

fn entry(dispatch: &Dispatch, descriptor: &KernelDescriptor) -> Result<u64, Stop> {
    let entry = dispatch
        .kernel_object
        .wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
    if entry.is_multiple_of(256) {
        Ok(entry)
    } else {
        Err(invalid(format!(
            "kernel entry {entry:#x} is not aligned to 256 bytes"
        )))
    }
}

/// `GRANULATED_WORKITEM_VGPR_COUNT` (rsrc1 5:0) can ask for more than gfx10 has in wave32; gfx90a
/// has what 6 bits of granules of 8 can name. The wave's file holds them all anyway.
fn check_registers(target: Target, lanes: u8, descriptor: &KernelDescriptor) -> Result<(), Stop> {
    let granules = (descriptor.compute_pgm_rsrc1 & 0x3f) + 1;
    let vgprs = granules * if lanes == 32 { 8 } else { 4 };
    if target.is_rdna() && vgprs > 256 {
        return Err(invalid(format!(
            "descriptor asks for {vgprs} VGPRs, limit 256"
        )));
    }
    Ok(())
}

/// MODE from rsrc1: rounding and denormals 19:12, DX10_CLAMP 21, IEEE 23, FP16_OVFL 26.
fn initial_mode(rsrc1: u32) -> u32 {
    let bit = |bit: u32, to: u32| (rsrc1 >> bit & 1) * to;
    rsrc1 >> 12 & 0xff
        | bit(21, mode::DX10_CLAMP)
        | bit(23, mode::IEEE)
        | bit(26, mode::FP16_OVERFLOW)
}

fn system_registers(rsrc2: u32) -> SystemRegisters {
    let bit = |n: u32| rsrc2 >> n & 1 != 0;
    SystemRegisters {
        workgroup_id: [bit(7), bit(8), bit(9)],
        info: bit(10),
        wave_offset: bit(0),
        work_item_ids: rsrc2 >> 11 & 3,
    }
}

/// The private segment buffer: the queue's descriptor, or one made up when the queue has none.
/// SWIZZLE_ENABLE (word 1 bit 31) and ADD_TID_ENABLE (word 3 bit 23) mark accesses through it.
fn private_segment_buffer(dispatch: &Dispatch) -> [u32; 4] {
    let mut words = dispatch.scratch.resource_descriptor;
    if words == [0; 4] {
        let [low, high] = halves(dispatch.scratch.backing_location);
        words = [low, high & 0xffff, u32::MAX, 0];
    }
    words[1] |= SWIZZLE_ENABLE;
    words[3] |= ADD_TID_ENABLE;
    words
}

/// Word 1 of a buffer descriptor: records are swizzled.
pub(crate) const SWIZZLE_ENABLE: u32 = 1 << 31;
/// Word 3 of a buffer descriptor: the lane number is added to the index.
pub(crate) const ADD_TID_ENABLE: u32 = 1 << 23;

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a value into its halves"
)]
fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Scalar registers that a wave may name: VCC lies above them.
const _: () = assert!(MAX_USER_SGPRS + 6 < scalar::VCC_LO as usize);
