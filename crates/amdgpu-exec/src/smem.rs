//! SMEM: scalar loads and stores, clocks and cache control.

use amdgpu_isa::{Inst, Op, Operand, scalar};

use crate::access::Denied;
use crate::context::Context;
use crate::memory::{Refusal, guard};
use crate::salu::{nothing, operand};
use crate::step::{Flow, Step, StepFn, TranslateEnv};
use crate::wave::{Wave, slot};

/// Translates a scalar memory instruction.
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    let mut step = Step::new(run(inst.op)?, inst, pc);
    step.dst = u16::from(operand::destination(inst.dst, env.target)?);
    if let Operand::Scalar(base) = inst.src[0] {
        step.src[0] = u16::from(base);
    }
    step.constant[0] = i64::from(inst.imm).cast_unsigned();
    // The register offset reads as zero from NULL's entry when there is none.
    step.src[1] = u16::from(slot::ZERO);
    match inst.src[1] {
        Operand::Scalar(scalar::NULL) | Operand::None => {}
        Operand::Scalar(index) => step.src[1] = u16::from(index),
        Operand::Int(value) => {
            step.constant[0] = step.constant[0].wrapping_add_signed(i64::from(value));
        }
        Operand::Literal(value) => {
            step.constant[0] = step.constant[0].wrapping_add(u64::from(value));
        }
        _ => return None,
    }
    if let Operand::Scalar(data) = inst.src[2] {
        step.src[2] = u16::from(data);
    }
    Some(step)
}

fn run(op: Op) -> Option<StepFn> {
    Some(match op {
        Op::S_LOAD_DWORD => load::<1>,
        Op::S_LOAD_DWORDX2 => load::<2>,
        Op::S_LOAD_DWORDX4 => load::<4>,
        Op::S_LOAD_DWORDX8 => load::<8>,
        Op::S_LOAD_DWORDX16 => load::<16>,
        Op::S_BUFFER_LOAD_DWORD => buffer_load::<1>,
        Op::S_BUFFER_LOAD_DWORDX2 => buffer_load::<2>,
        Op::S_BUFFER_LOAD_DWORDX4 => buffer_load::<4>,
        Op::S_BUFFER_LOAD_DWORDX8 => buffer_load::<8>,
        Op::S_BUFFER_LOAD_DWORDX16 => buffer_load::<16>,
        Op::S_LOAD_B96 => load::<3>,
        Op::S_BUFFER_LOAD_B96 => buffer_load::<3>,
        Op::S_LOAD_U8 => load_part::<1, false>,
        Op::S_LOAD_I8 => load_part::<1, true>,
        Op::S_LOAD_U16 => load_part::<2, false>,
        Op::S_LOAD_I16 => load_part::<2, true>,
        Op::S_BUFFER_LOAD_U8 => buffer_load_part::<1, false>,
        Op::S_BUFFER_LOAD_I8 => buffer_load_part::<1, true>,
        Op::S_BUFFER_LOAD_U16 => buffer_load_part::<2, false>,
        Op::S_BUFFER_LOAD_I16 => buffer_load_part::<2, true>,
        Op::S_STORE_DWORD => store::<1>,
        Op::S_STORE_DWORDX2 => store::<2>,
        Op::S_STORE_DWORDX4 => store::<4>,
        Op::S_BUFFER_STORE_DWORD => buffer_store::<1>,
        Op::S_BUFFER_STORE_DWORDX2 => buffer_store::<2>,
        Op::S_BUFFER_STORE_DWORDX4 => buffer_store::<4>,
        Op::S_MEMTIME => memory_time,
        Op::S_MEMREALTIME => real_time,
        Op::S_GET_WAVEID_IN_WORKGROUP => wave_id,
        Op::S_DCACHE_INV
        | Op::S_DCACHE_INV_VOL
        | Op::S_DCACHE_WB
        | Op::S_DCACHE_WB_VOL
        | Op::S_DCACHE_DISCARD
        | Op::S_DCACHE_DISCARD_X2
        | Op::S_GL1_INV
        | Op::S_PREFETCH_INST
        | Op::S_PREFETCH_INST_PC_REL
        | Op::S_PREFETCH_DATA
        | Op::S_PREFETCH_DATA_PC_REL
        | Op::S_BUFFER_PREFETCH_DATA
        | Op::S_ATC_PROBE
        | Op::S_ATC_PROBE_BUFFER => nothing,
        _ => return None,
    })
}

/// Immediate and register offset. Hardware ignores the two low bits of base and offset.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn offset(wave: &Wave, step: &Step) -> u64 {
    step.constant[0].wrapping_add(u64::from(wave.scalar(step.src[1] as u8)))
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn address(wave: &Wave, step: &Step) -> u64 {
    (wave.scalar64(step.src[0] as u8) & !3).wrapping_add(offset(wave, step) & !3)
}

fn load<const N: usize>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let va = address(wave, step);
    match fetch::<N>(context, step.pc, va) {
        Ok(values) => write(wave, step, &values),
        Err(denied) => denied.stop(context, 0),
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn write(wave: &mut Wave, step: &Step, values: &[u32]) -> Flow {
    let dst = step.dst as u8;
    if dst != slot::SINK {
        for (index, value) in (dst..).zip(values) {
            wave.set_scalar(index, *value);
        }
    }
    Flow::Next
}

/// Reads `N` dwords.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "splits quadwords")]
fn fetch<const N: usize>(context: &mut Context<'_>, pc: u64, va: u64) -> Result<[u32; N], Denied> {
    let mut values = [0; N];
    let host = match context.port.locate::<false>(pc, va, 4 * N as u64) {
        Ok(host) => host,
        Err(Refusal::Fault(fault)) => return Err(Denied::Fault(fault)),
        Err(Refusal::Split) => return fetch_split(context, pc, va),
    };
    let mut fault = 0;
    if N % 2 == 1 {
        let last = host + 4 * (N as u64 - 1);
        // SAFETY: the port granted the bytes for reading.
        values[N - 1] = unsafe { guard::load32(last, &mut fault) };
    }
    for (i, pair) in values.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        // SAFETY: the port granted the bytes for reading.
        let value = unsafe { guard::load64(host + 8 * i as u64, &mut fault) };
        *pair = [value as u32, (value >> 32) as u32];
    }
    if fault != 0 {
        return Err(gone(
            va.wrapping_add(fault.wrapping_sub(host)),
            crate::Access::Read,
        ));
    }
    Ok(values)
}

#[cold]
fn gone(gpu_va: u64, access: crate::Access) -> Denied {
    let reason = crate::FaultReason::NotPresent;
    Denied::Fault(crate::AccessFault {
        gpu_va,
        access,
        reason,
    })
}

#[cold]
fn fetch_split<const N: usize>(
    context: &mut Context<'_>,
    pc: u64,
    va: u64,
) -> Result<[u32; N], Denied> {
    let mut bytes = [0; 64];
    context
        .port
        .read(pc, va, &mut bytes[..4 * N])
        .map_err(Denied::Fault)?;
    let mut values = [0; N];
    for (value, bytes) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *value = u32::from_le_bytes(*bytes);
    }
    Ok(values)
}

/// Base and size in bytes of the buffer descriptor in four SGPRs.
#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn buffer(wave: &Wave, step: &Step) -> (u64, u64) {
    let first = step.src[0] as u8 & !3;
    let base = wave.scalar64(first) & 0xffff_ffff_ffff;
    let stride = u64::from(wave.scalar(first + 1) >> 16 & 0x3fff);
    let records = u64::from(wave.scalar(first + 2));
    (
        base,
        if stride == 0 {
            records
        } else {
            records * stride
        },
    )
}

/// Dwords outside the buffer read as zero.
fn buffer_load<const N: usize>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let (base, size) = buffer(wave, step);
    let offset = offset(wave, step) & !3;
    let mut values = [0; N];
    for (value, at) in values.iter_mut().zip((offset..).step_by(4)) {
        if at.saturating_add(4) > size {
            continue;
        }
        match fetch::<1>(context, step.pc, base.wrapping_add(at)) {
            Ok([dword]) => *value = dword,
            Err(denied) => return denied.stop(context, 0),
        }
    }
    write(wave, step, &values)
}

/// Bytes and words of gfx12: the address need not be a dword's.
#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn load_part<const BYTES: usize, const SIGNED: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let va = wave
        .scalar64(step.src[0] as u8)
        .wrapping_add(offset(wave, step));
    part::<BYTES, SIGNED>(wave, context, step, va)
}

/// As [`load_part`]; zero outside of the buffer.
fn buffer_load_part<const BYTES: usize, const SIGNED: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
) -> Flow {
    let (base, size) = buffer(wave, step);
    let offset = offset(wave, step);
    if offset.saturating_add(BYTES as u64) > size {
        return write(wave, step, &[0]);
    }
    part::<BYTES, SIGNED>(wave, context, step, base.wrapping_add(offset))
}

fn part<const BYTES: usize, const SIGNED: bool>(
    wave: &mut Wave,
    context: &mut Context<'_>,
    step: &Step,
    va: u64,
) -> Flow {
    let va = va & !(BYTES as u64 - 1);
    let mut bytes = [0; 4];
    if let Err(fault) = context.port.read(step.pc, va, &mut bytes[..BYTES]) {
        return context.fault(0, fault);
    }
    let shift = 8 * (4 - BYTES);
    let value = u32::from_le_bytes(bytes) << shift;
    let value = if SIGNED {
        (value.cast_signed() >> shift).cast_unsigned()
    } else {
        value >> shift
    };
    write(wave, step, &[value])
}

fn store<const N: u8>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let va = address(wave, step);
    store_dwords(wave, context, step, va, N)
}

fn buffer_store<const N: u8>(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    let (base, size) = buffer(wave, step);
    let offset = offset(wave, step) & !3;
    let inside = size.saturating_sub(offset) / 4;
    let count = u8::try_from(inside).unwrap_or(u8::MAX).min(N);
    store_dwords(wave, context, step, base.wrapping_add(offset), count)
}

#[expect(clippy::cast_possible_truncation, reason = "scalar indexes fit u8")]
fn store_dwords(wave: &Wave, context: &mut Context<'_>, step: &Step, va: u64, count: u8) -> Flow {
    for i in 0..count {
        let value = wave.scalar(step.src[2] as u8 + i);
        let at = va.wrapping_add(4 * u64::from(i));
        if let Err(fault) = context.port.write(step.pc, at, &value.to_le_bytes()) {
            return context.fault(0, fault);
        }
    }
    Flow::Next
}

fn memory_time(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    operand::write64(wave, step, context.device.clock_ticks());
    Flow::Next
}

fn real_time(wave: &mut Wave, context: &mut Context<'_>, step: &Step) -> Flow {
    operand::write64(wave, step, context.device.realtime_ticks());
    Flow::Next
}

fn wave_id(wave: &mut Wave, _: &mut Context<'_>, step: &Step) -> Flow {
    operand::write32(wave, step, wave.place.wave);
    Flow::Next
}
