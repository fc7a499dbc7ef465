//! The copy engine: reads SDMA packets and acts on them.
//!
//! Packets run in order. Long copies and fills run in pieces, one per step, so that a queue can be
//! stopped in the middle; a poll that does not pass leaves the packet at the head.

mod atomic;
mod rect;
mod ring;

use std::sync::Arc;

use amdgpu_abi::sdma::{DecodeError, FillSize, Generation, Packet, Poll, PollSpace};

use crate::guest::{Guest, GuestError};
use crate::queue::QueueDesc;
use crate::report::{self, Subject};
use crate::scheduler::{Control, Host, Processor, Step, notify_waiting};
use ring::Ring;

/// Bytes moved per step: long enough for full speed, short enough to stop within a millisecond.
const PIECE: u64 = 4 << 20;

/// Why a queue stops.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Fault {
    /// Memory access.
    Guest(GuestError),
    /// Bytes that are no packet.
    Malformed(DecodeError),
    /// A packet that makes no sense where it is.
    Refused(String),
}

impl From<GuestError> for Fault {
    fn from(error: GuestError) -> Self {
        Self::Guest(error)
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// How far a packet came.
enum Flow {
    Done,
    /// So many bytes of its work are done; more steps are needed.
    Partial(u64),
    Blocked,
}

/// A queue of SDMA packets.
pub struct SdmaQueue {
    queue_id: u32,
    guest: Guest,
    generation: Generation,
    ring: Ring,
    /// Bytes of the packet at the head that are done already.
    progress: u64,
    halted: bool,
}

impl SdmaQueue {
    /// The processor of a queue; it starts at the read pointer that it finds.
    pub fn new(desc: QueueDesc, host: Arc<dyn Host>) -> Self {
        let generation = host.sdma_generation();
        let guest = Guest::new(host);
        let queue_id = desc.queue_id;
        let ring = Ring::new(desc, &guest);
        Self {
            queue_id,
            guest,
            generation,
            ring,
            progress: 0,
            halted: false,
        }
    }

    fn look(&mut self, control: &Control) -> Result<Step> {
        let Some(words) = self.ring.head(&self.guest, self.generation)? else {
            return Ok(Step::Idle);
        };
        let (packet, used) = Packet::decode(&words, self.generation).map_err(Fault::Malformed)?;
        if self.ring.first_look() {
            report::trace(self.guest.host(), || self.describe(&packet));
        }
        match self.run(&packet, control)? {
            Flow::Done => {
                self.progress = 0;
                self.retire(&packet, used)?;
                Ok(Step::Progress)
            }
            Flow::Partial(progress) => {
                self.progress = progress;
                Ok(Step::Progress)
            }
            Flow::Blocked => Ok(Step::Waiting),
        }
    }

    fn retire(&mut self, packet: &Packet<'_>, used: usize) -> Result<()> {
        self.ring.advance(&self.guest, used)?;
        if let Packet::Indirect { addr, dwords } = *packet {
            self.ring.enter(addr, dwords)?;
        }
        Ok(())
    }

    fn run(&self, packet: &Packet<'_>, control: &Control) -> Result<Flow> {
        let guest = &self.guest;
        match *packet {
            Packet::Nop { .. } | Packet::CacheControl | Packet::Indirect { .. } => {}
            Packet::Copy {
                src,
                dst,
                dst2,
                bytes,
            } => return self.copy(src, dst, dst2, bytes),
            Packet::CopyRect(ref rect) => return rect::copy(guest, rect, self.progress),
            Packet::Write { dst, data } => write(guest, dst, data)?,
            Packet::Fill {
                dst,
                value,
                size,
                bytes,
            } => return self.fill(dst, value, size, bytes),
            Packet::Fence { addr, value } => guest.store_u32(addr, value)?,
            Packet::Trap { context } => guest.host().interrupt(context),
            Packet::Poll(ref poll) => return passes(guest, poll, control),
            Packet::Atomic(ref atomic) => return atomic::run(guest, atomic),
            Packet::Timestamp { addr } => guest.store_u64(addr, guest.host().ticks())?,
        }
        if matches!(packet, Packet::Fence { .. } | Packet::Write { .. }) {
            notify_waiting();
        }
        Ok(Flow::Done)
    }

    /// One piece of a linear copy. A copy to a higher, overlapping address runs from its end, so
    /// that it moves the bytes that were there before.
    fn copy(&self, src: u64, dst: u64, dst2: Option<u64>, bytes: u64) -> Result<Flow> {
        let left = bytes - self.progress;
        let backwards = dst2.is_none() && dst > src && dst - src < bytes;
        let piece = left.min(PIECE);
        let at = if backwards {
            left - piece
        } else {
            self.progress
        };
        let (src, dst) = (src.wrapping_add(at), dst.wrapping_add(at));
        self.transfer(src, dst, piece, backwards)?;
        if let Some(dst2) = dst2 {
            self.transfer(src, dst2.wrapping_add(at), piece, false)?;
        }
        Ok(self.advanced(piece, bytes))
    }

    fn transfer(&self, src: u64, dst: u64, bytes: u64, backwards: bool) -> Result<()> {
        let mut left = bytes;
        while left > 0 {
            let at = if backwards { 0 } else { bytes - left };
            left -=
                self.guest
                    .transfer(src.wrapping_add(at), dst.wrapping_add(at), left, backwards)?;
        }
        Ok(())
    }

    fn fill(&self, dst: u64, value: u32, size: FillSize, bytes: u64) -> Result<Flow> {
        let (mut pattern, bytes) = pattern(value, size, bytes);
        let piece = (bytes - self.progress).min(PIECE);
        let mut done = 0;
        while done < piece {
            let at = dst.wrapping_add(self.progress + done);
            let count = self.guest.fill(at, piece - done, pattern)?;
            // A range may end within the pattern, if the destination is not dword-aligned.
            pattern.rotate_left((count % 4) as usize);
            done += count;
        }
        Ok(self.advanced(piece, bytes))
    }

    fn advanced(&self, piece: u64, bytes: u64) -> Flow {
        let progress = self.progress + piece;
        if progress == bytes {
            Flow::Done
        } else {
            Flow::Partial(progress)
        }
    }

    fn halt(&mut self, fault: &Fault) {
        self.halted = true;
        let host = self.guest.host();
        let subject = Subject {
            queue_id: self.queue_id,
            position: self.ring.position(),
            kernel_object: 0,
        };
        match fault {
            Fault::Guest(GuestError::Fault(fault)) => {
                report::copy(host, &subject, "memory access fault", Some(fault));
                host.memory_fault(fault);
            }
            other => {
                report::copy(host, &subject, &other.text(), None);
                host.hw_exception();
            }
        }
    }

    fn describe(&self, packet: &Packet<'_>) -> String {
        let (queue, position) = (self.queue_id, self.ring.position());
        match packet {
            Packet::Write { dst, data } => {
                let dwords = data.len();
                format!(
                    "SDMA queue {queue} byte {position:#x}: Write {{ dst: {dst:x}, {dwords} dwords }}"
                )
            }
            other => format!("SDMA queue {queue} byte {position:#x}: {other:x?}"),
        }
    }
}

impl Processor for SdmaQueue {
    fn step(&mut self, control: &Control) -> Step {
        if self.halted {
            return Step::Halted;
        }
        self.look(control).unwrap_or_else(|fault| {
            self.halt(&fault);
            Step::Halted
        })
    }

    fn abandon(&mut self) {
        self.halt(&Fault::Refused("internal error".to_owned()));
    }
}

impl Fault {
    fn text(&self) -> String {
        match self {
            Self::Guest(GuestError::Fault(_)) => "memory access fault".to_owned(),
            Self::Guest(GuestError::Misaligned { gpu_va }) => {
                format!("misaligned address {gpu_va:#x}")
            }
            Self::Malformed(error) => format!("malformed packet: {error}"),
            Self::Refused(why) => why.clone(),
        }
    }
}

fn write(guest: &Guest, dst: u64, data: &[u32]) -> Result<()> {
    if let [word] = *data {
        // A single dword may be something that others poll.
        return Ok(guest.store_u32(dst, word)?);
    }
    let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(guest.write(dst, &bytes)?)
}

/// The fill as a repeated dword, with the size rounded up to whole elements as the engine does,
/// which ignores the low bits of the (size - 1) field.
fn pattern(value: u32, size: FillSize, bytes: u64) -> ([u8; 4], u64) {
    let [b0, b1, b2, b3] = value.to_le_bytes();
    match size {
        FillSize::Byte => ([b0; 4], bytes),
        FillSize::Word => ([b0, b1, b0, b1], bytes.next_multiple_of(2)),
        FillSize::Dword => ([b0, b1, b2, b3], bytes.next_multiple_of(4)),
    }
}

/// Register polls pass: user queues only send ROCr's HDP flush, and memory is coherent.
fn passes(guest: &Guest, poll: &Poll, control: &Control) -> Result<Flow> {
    if poll.space != PollSpace::Memory || control.cancelled() {
        return Ok(Flow::Done);
    }
    let memory = guest.load_u32(poll.addr)?;
    match poll.func.passes(memory, poll.mask, poll.reference) {
        Some(true) => Ok(Flow::Done),
        Some(false) => Ok(Flow::Blocked),
        None => Err(Fault::Refused(format!(
            "poll with reserved function {}",
            poll.func.0
        ))),
    }
}
