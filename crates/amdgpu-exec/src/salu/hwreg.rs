//! `s_getreg` and `s_setreg`: fields of hardware registers.
//!
//! Register numbers and field layouts: Vega, CDNA2 and RDNA2 ISA manuals, "Hardware Registers", and
//! LLVM's `SIDefines.h` (`Hwreg::Id`).

use super::operand;
use super::sopp::leave;
use crate::api::Stop;
use crate::context::Context;
use crate::step::{Flow, Step};
use crate::wave::Wave;

mod id {
    pub(super) const MODE: u32 = 1;
    pub(super) const STATUS: u32 = 2;
    pub(super) const TRAPSTS: u32 = 3;
    pub(super) const HW_ID: u32 = 4;
    pub(super) const GPR_ALLOC: u32 = 5;
    pub(super) const LDS_ALLOC: u32 = 6;
    pub(super) const IB_STS: u32 = 7;
    pub(super) const SH_MEM_BASES: u32 = 15;
    pub(super) const FLAT_SCR_LO: u32 = 20;
    pub(super) const FLAT_SCR_HI: u32 = 21;
    pub(super) const HW_ID1: u32 = 23;
    pub(super) const HW_ID2: u32 = 24;
    pub(super) const SHADER_CYCLES: u32 = 29;
}

/// Bits 31:16 of the shared, 15:0 of the private aperture's high half, halved again by hardware:
/// apertures 1 << 48 and 2 << 48.
const SH_MEM_BASES: u32 = 1 << 16 | 2;

/// The field that the immediate names: id, first bit, width.
fn field(step: &Step) -> (u32, u32, u32) {
    let imm = step.inst.imm.cast_unsigned();
    (imm & 0x3f, imm >> 6 & 0x1f, (imm >> 11 & 0x1f) + 1)
}

fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

pub(super) fn get(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let (id, offset, width) = field(step);
    let Some(value) = read(wave, context, id) else {
        return unsupported(context, step);
    };
    operand::write32(wave, step, value >> offset & mask(width));
    Flow::Next
}

pub(super) fn set_register(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let value = operand::read32::<true>(wave, step, 0);
    set(wave, context, step, value)
}

pub(super) fn set_constant(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let value = operand::read32::<false>(wave, step, 0);
    set(wave, context, step, value)
}

fn set(wave: &mut Wave, context: &mut Context<'_>, step: &Step, value: u32) -> Flow {
    let (register, offset, width) = field(step);
    match register {
        id::MODE => write_mode(wave, offset, width, value),
        id::FLAT_SCR_LO | id::FLAT_SCR_HI if wave.target.is_rdna() => {
            let shift = if register == id::FLAT_SCR_HI { 32 } else { 0 };
            let bits = u64::from(mask(width) << offset) << shift;
            let value = u64::from(value) << offset << shift & bits;
            wave.place.flat_scratch = wave.place.flat_scratch & !bits | value;
        }
        // Exception flags: none is ever raised, so clearing them changes nothing.
        id::TRAPSTS => {}
        _ => return unsupported(context, step),
    }
    leave(wave, step, Flow::Branch)
}

/// Replaces `width` bits of MODE from bit `offset`.
pub(crate) fn write_mode(wave: &mut Wave, offset: u32, width: u32, value: u32) {
    let bits = mask(width) << offset;
    wave.mode = wave.mode & !bits | value << offset & bits;
}

fn unsupported(context: &mut Context<'_>, step: &Step) -> Flow {
    context.stop(
        0,
        Stop::Unsupported {
            text: crate::translate::describe(&step.inst),
        },
    )
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "halves of 64-bit registers and counters"
)]
fn read(wave: &Wave, context: &Context<'_>, register: u32) -> Option<u32> {
    let gfx10 = wave.target.is_rdna();
    Some(match register {
        id::MODE => wave.mode,
        id::STATUS => status(wave),
        id::TRAPSTS | id::IB_STS => 0,
        id::HW_ID if !gfx10 => hw_id(wave),
        id::GPR_ALLOC => 0,
        id::LDS_ALLOC => lds_alloc(context),
        id::SH_MEM_BASES => SH_MEM_BASES,
        id::FLAT_SCR_LO if gfx10 => wave.place.flat_scratch as u32,
        id::FLAT_SCR_HI if gfx10 => (wave.place.flat_scratch >> 32) as u32,
        id::HW_ID1 if gfx10 => hw_id1(wave),
        id::HW_ID2 if gfx10 => wave.place.unit_layer << 16 & 0x1f_0000,
        id::SHADER_CYCLES if gfx10 => context.device.clock_ticks() as u32 & 0xf_ffff,
        _ => return None,
    })
}

/// SCC, EXECZ, VCCZ, IN_TG and VALID.
fn status(wave: &Wave) -> u32 {
    let flags = [
        (wave.scc, 0),
        (wave.exec() == 0, 9),
        (wave.vcc() == 0, 10),
        (true, 11),
        (true, 16),
    ];
    flags
        .iter()
        .fold(0, |bits, &(set, bit)| bits | u32::from(set) << bit)
}

/// LDS_SIZE in bits 20:12, units of 128 dwords.
#[expect(clippy::cast_possible_truncation, reason = "LDS has at most 64 KiB")]
fn lds_alloc(context: &Context<'_>) -> u32 {
    (context.lds.size_bytes() as u32).div_ceil(512) << 12
}

/// gfx9: WAVE_ID 3:0, SIMD_ID 5:4, CU_ID 11:8, SH_ID 12, SE_ID 15:13, TG_ID 19:16.
fn hw_id(wave: &Wave) -> u32 {
    let place = &wave.place;
    let in_engine = place.compute_unit / place.shader_engines.max(1);
    let engine = place.compute_unit % place.shader_engines.max(1);
    place.wave_slot & 0xf
        | (place.simd & 3) << 4
        | (in_engine & 0xf) << 8
        | (in_engine >> 4 & 1) << 12
        | (engine & 7) << 13
        | (place.unit_layer & 0xf) << 16
}

/// gfx10: WAVE_ID 4:0, SIMD_ID 9:8, WGP_ID 13:10, SA_ID 16, SE_ID 19:18.
fn hw_id1(wave: &Wave) -> u32 {
    let place = &wave.place;
    let in_engine = place.compute_unit / place.shader_engines.max(1);
    let engine = place.compute_unit % place.shader_engines.max(1);
    let workgroup_processor = in_engine / 2;
    place.wave_slot & 0x1f
        | (place.simd & 3) << 8
        | (workgroup_processor & 0xf) << 10
        | (workgroup_processor >> 4 & 1) << 16
        | (engine & 3) << 18
}
