//! The text of a stop report.

use std::fmt::Write;

use amdgpu_exec::{Access, AccessFault, FaultReason, Stop, WaveLocation};

use super::names::{Kernel, kernel_at};
use crate::cp::Halt;
use crate::guest::{Guest, GuestError};
use crate::scheduler::Host;

/// Bytes of the longest instruction (MIMG with NSA dwords on gfx10).
const MAX_INSTRUCTION_BYTES: usize = 20;

/// What a report is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// KFD queue id.
    pub queue_id: u32,
    /// Index of the packet, or byte position in an SDMA ring.
    pub position: u64,
    /// Kernel object of a dispatch, 0 if the packet is none.
    pub kernel_object: u64,
}

/// Reports why a compute queue stopped.
pub fn halt(guest: &Guest, subject: &Subject, halt: &Halt) {
    let host = guest.host();
    let mut text = format!(
        "{} queue {} packet {} stopped: {}\n",
        host.label(),
        subject.queue_id,
        subject.position,
        cause(halt)
    );
    if subject.kernel_object != 0 {
        line(
            &mut text,
            "kernel",
            &kernel_text(host, subject.kernel_object),
        );
    }
    if let Halt::Wave { at, .. } = halt {
        wave(&mut text, guest, subject, at);
    }
    if let Some(fault) = fault_of(halt) {
        access(&mut text, host, fault);
    }
    host.report(&text);
}

/// Reports why a copy engine's queue stopped.
pub fn copy(host: &dyn Host, subject: &Subject, why: &str, fault: Option<&AccessFault>) {
    let mut text = format!(
        "{} SDMA queue {} stopped at ring byte {:#x}: {why}\n",
        host.label(),
        subject.queue_id,
        subject.position
    );
    if let Some(fault) = fault {
        access(&mut text, host, fault);
    }
    host.report(&text);
}

fn line(text: &mut String, what: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {what:<11} {value}");
}

fn cause(halt: &Halt) -> String {
    match halt {
        Halt::Refused { why, .. } => why.clone(),
        Halt::Guest(GuestError::Fault(_)) => {
            "memory access fault of the packet processor".to_owned()
        }
        Halt::Guest(GuestError::Misaligned { gpu_va }) => {
            format!("misaligned address {gpu_va:#x} in the packet")
        }
        Halt::Wave { stop, .. } => stop_text(stop),
    }
}

fn stop_text(stop: &Stop) -> String {
    match stop {
        Stop::MemoryFault(_) => "memory access fault".to_owned(),
        Stop::ApertureViolation { gpu_va } => format!("aperture violation at {gpu_va:#x}"),
        Stop::IllegalInstruction { bytes } => format!("illegal instruction {}", hex(bytes)),
        Stop::Unsupported { text } => format!("instruction not implemented: {text}"),
        Stop::Trap { id: 2 } => {
            "trap 2: the kernel aborted (assertion or __builtin_trap)".to_owned()
        }
        Stop::Trap { id } => format!("trap {id}"),
        Stop::InvalidDispatch { reason } => format!("invalid dispatch: {reason}"),
        Stop::Killed => "killed".to_owned(),
    }
}

fn fault_of(halt: &Halt) -> Option<&AccessFault> {
    match halt {
        Halt::Guest(GuestError::Fault(fault))
        | Halt::Wave {
            stop: Stop::MemoryFault(fault),
            ..
        } => Some(fault),
        _ => None,
    }
}

/// The name of the kernel behind a kernel object, or the object's address.
pub fn kernel_text(host: &dyn Host, kernel_object: u64) -> String {
    match kernel_at(host.debug_map(), kernel_object) {
        Some(Kernel { name, .. }) => name,
        None => format!("object {kernel_object:#x}"),
    }
}

fn wave(text: &mut String, guest: &Guest, subject: &Subject, at: &WaveLocation) {
    let host = guest.host();
    let [x, y, z] = at.workgroup;
    line(
        text,
        "where",
        &format!(
            "workgroup ({x}, {y}, {z}) wave {} lane {}",
            at.wave, at.lane
        ),
    );
    let entry = kernel_at(host.debug_map(), subject.kernel_object).and_then(|k| k.entry);
    let offset = match entry.and_then(|entry| at.pc.checked_sub(entry)) {
        Some(offset) => format!(" (kernel + {offset:#x})"),
        None => String::new(),
    };
    line(
        text,
        "pc",
        &format!("{:#x}{offset}: {}", at.pc, instruction(guest, at.pc)),
    );
}

/// The instruction in LLVM's syntax, and its bytes.
fn instruction(guest: &Guest, pc: u64) -> String {
    let mut bytes = [0; MAX_INSTRUCTION_BYTES];
    // Near the end of a mapping fewer bytes can be read.
    let readable = (4..=MAX_INSTRUCTION_BYTES).rev().step_by(4);
    let Some(count) = readable
        .into_iter()
        .find(|&n| guest.read(pc, &mut bytes[..n]).is_ok())
    else {
        return "not readable".to_owned();
    };
    let target = guest.host().target();
    match amdgpu_isa::decode(target, &bytes[..count]) {
        Ok(inst) => {
            let own = &bytes[..count.min(inst.size_bytes.into())];
            format!("{} ({})", inst.display(target), hex(own))
        }
        Err(_) => hex(&bytes[..count.min(8)]),
    }
}

fn access(text: &mut String, host: &dyn Host, fault: &AccessFault) {
    let verb = match fault.access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Execute => "instruction fetch",
    };
    let reason = match fault.reason {
        FaultReason::NotPresent => "no memory is mapped to this GPU there",
        FaultReason::ReadOnly => "the memory is read-only for this GPU",
        FaultReason::NoExecute => "the memory is not executable",
    };
    line(
        text,
        "address",
        &format!("{:#x}, {verb}: {reason}", fault.gpu_va),
    );
    line(text, "nearest", &host.memory().describe_near(fault.gpu_va));
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}
