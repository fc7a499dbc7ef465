//! Vendor packets of format PM4-IB: an indirect buffer of PM4 packets, as ROCr and profilers send
//! them for cache invalidation (ROCr `AqlQueue::ExecutePM4`; packet names of the kernel's `soc15d.h`
//! and `nvd.h`). Memory is coherent here, so cache and pipeline events have nothing left to do.

use amdgpu_abi::aql::Packet;
use amdgpu_abi::queue::inactive;

use super::{Halt, Outcome};
use crate::guest::Guest;

/// Type-3 opcodes.
mod op {
    pub(super) const NOP: u32 = 0x10;
    pub(super) const WRITE_DATA: u32 = 0x37;
    pub(super) const INDIRECT_BUFFER: u32 = 0x3f;
    pub(super) const PFP_SYNC_ME: u32 = 0x42;
    pub(super) const EVENT_WRITE: u32 = 0x46;
    pub(super) const ACQUIRE_MEM: u32 = 0x58;
}

/// A type-2 packet: one dword of padding.
const TYPE_2: u32 = 2;
const TYPE_3: u32 = 3;
/// WRITE_DATA destinations that are memory: L2 and memory (bits 11:8).
const WRITE_DATA_MEMORY: [u32; 2] = [2, 5];
/// Dwords of an indirect buffer that we are willing to copy (the field has 20 bits).
const MAX_DWORDS: u32 = 1 << 20;

/// Runs the buffer that the packet's jump command names.
pub(super) fn run(guest: &Guest, packet: &Packet) -> Outcome<()> {
    let jump = packet.u32_at(4);
    if opcode(jump) != Some(op::INDIRECT_BUFFER) {
        return refuse(format!(
            "PM4-IB packet whose command is {jump:#010x}, no indirect buffer"
        ));
    }
    let base = u64::from(packet.u32_at(8) & !3) | u64::from(packet.u32_at(12) & 0xffff) << 32;
    let dwords = packet.u32_at(16) & (MAX_DWORDS - 1);
    let mut bytes = vec![0; dwords as usize * 4];
    guest.read(base, &mut bytes)?;
    let (words, _) = bytes.as_chunks();
    let words: Vec<u32> = words.iter().map(|&word| u32::from_le_bytes(word)).collect();
    run_packets(guest, &words)
}

fn run_packets(guest: &Guest, mut words: &[u32]) -> Outcome<()> {
    while let Some((&header, rest)) = words.split_first() {
        if header >> 30 == TYPE_2 {
            words = rest;
            continue;
        }
        let body = (header >> 16 & 0x3fff) as usize + 1;
        // A NOP with the count of all ones is one dword long.
        let body = if header == NOP_ONE_DWORD { 0 } else { body };
        let (Some(opcode), Some((body, rest))) = (opcode(header), rest.split_at_checked(body))
        else {
            return refuse(format!("PM4 packet with header {header:#010x}"));
        };
        run_packet(guest, opcode, body)?;
        words = rest;
    }
    Ok(())
}

const NOP_ONE_DWORD: u32 = TYPE_3 << 30 | 0x3fff << 16 | op::NOP << 8;

fn opcode(header: u32) -> Option<u32> {
    (header >> 30 == TYPE_3).then_some(header >> 8 & 0xff)
}

fn run_packet(guest: &Guest, opcode: u32, body: &[u32]) -> Outcome<()> {
    match (opcode, body) {
        (op::NOP | op::ACQUIRE_MEM | op::PFP_SYNC_ME, _) => Ok(()),
        // One dword: a pipeline event without an address to write to.
        (op::EVENT_WRITE, [_]) => Ok(()),
        (op::WRITE_DATA, [control, lo, hi, data @ ..])
            if WRITE_DATA_MEMORY.contains(&(control >> 8 & 0xf)) =>
        {
            let to = u64::from(lo & !3) | u64::from(*hi) << 32;
            let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
            Ok(guest.write(to, &bytes)?)
        }
        _ => refuse(format!(
            "PM4 opcode {opcode:#x}, which this device does not run"
        )),
    }
}

fn refuse(why: String) -> Outcome<()> {
    Err(Halt::refused(inactive::INVALID_VENDOR_PACKET, why))
}
