//! An AQL queue: takes packets from the ring in order and retires them.

use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use amdgpu_abi::aql::{Barrier, BarrierValue, KernelDispatch, PACKET_BYTES, Packet};
use amdgpu_abi::aql::{packet_type, vendor};
use amdgpu_abi::queue::{AmdQueue, inactive};
use amdgpu_exec::Outcome as DispatchOutcome;
use amdgpu_exec::{Dispatch, Stop};

use super::dispatch::{self, Place};
use super::signal::{self, Times};
use super::waves::WaveDevice;
use super::{Halt, Outcome, barrier, pm4};
use crate::guest::{Guest, GuestError};
use crate::queue::QueueDesc;
use crate::report::{self, Subject};
use crate::scheduler::{Control, Host, Processor, Step};

const READ_ID: u64 = offset_of!(AmdQueue, read_dispatch_id) as u64;
const INACTIVE_SIGNAL: u64 = offset_of!(AmdQueue, queue_inactive_signal) as u64;

/// Format byte of a vendor packet.
const VENDOR_FORMAT: usize = 2;

/// A queue of AQL packets.
pub struct AqlQueue {
    desc: QueueDesc,
    guest: Guest,
    /// `amd_queue_t`, which holds the read pointer.
    queue_va: u64,
    /// Index of the packet at the head.
    head: u64,
    halted: bool,
    /// When the packet at the head was first looked at.
    started: Option<u64>,
}

/// What became of the packet at the head.
enum Flow {
    /// Done; to be completed with these times.
    Done(Times),
    /// Its condition does not hold yet.
    Blocked,
}

impl AqlQueue {
    /// The processor of a queue; it starts at the read pointer that it finds.
    pub fn new(desc: QueueDesc, host: Arc<dyn Host>) -> Self {
        let guest = Guest::new(host);
        let head = guest.load_u64(desc.rptr_va).unwrap_or(0);
        let queue_va = desc.rptr_va.wrapping_sub(READ_ID);
        Self {
            desc,
            guest,
            queue_va,
            head,
            halted: false,
            started: None,
        }
    }

    fn look(&mut self, control: &Control) -> Outcome<Step> {
        // ORDERING: the index is loaded with acquire before the header, so a header is at least as
        // new as the index that covers it.
        let written = self.guest.load_u64(self.desc.wptr_va)?;
        if written <= self.head {
            return Ok(Step::Idle);
        }
        let header = self.guest.load_u32(self.slot())?;
        if header.to_le_bytes()[0] == packet_type::INVALID {
            return Ok(self.unpublished(written));
        }
        let packet = self.fetch()?;
        self.process(&packet, control)
    }

    /// The packet at the head is reserved but not written. Its producer rings after it has
    /// published it; only if the doorbell already came, the header has to be looked for.
    fn unpublished(&self, written: u64) -> Step {
        let rung = self.desc.doorbell.0.cell().load(Ordering::Acquire);
        if (self.head..written).contains(&rung) {
            Step::Waiting
        } else {
            Step::Idle
        }
    }

    fn slot(&self) -> u64 {
        let packets = (u64::from(self.desc.ring_bytes) / PACKET_BYTES as u64).max(1);
        self.desc
            .ring_va
            .wrapping_add(self.head % packets * PACKET_BYTES as u64)
    }

    fn fetch(&self) -> Outcome<Packet> {
        let mut packet = Packet::zeroed();
        self.guest.read(self.slot(), &mut packet.0)?;
        Ok(packet)
    }

    fn process(&mut self, packet: &Packet, control: &Control) -> Outcome<Step> {
        let started = self.started.unwrap_or_else(|| {
            report::trace(self.guest.host(), || self.describe(packet));
            self.guest.host().ticks()
        });
        self.started = Some(started);
        let times = match self.run(packet, started, control)? {
            Flow::Done(times) => times,
            Flow::Blocked => return Ok(Step::Waiting),
        };
        self.retire()?;
        signal::complete(&self.guest, packet.completion_signal(), times)?;
        Ok(Step::Progress)
    }

    fn run(&self, packet: &Packet, started: u64, control: &Control) -> Outcome<Flow> {
        let guest = &self.guest;
        let met = match packet.header().packet_type() {
            packet_type::KERNEL_DISPATCH => return self.dispatch(packet, control),
            packet_type::BARRIER_AND => barrier::all_met(guest, &Barrier::parse(packet))?,
            packet_type::BARRIER_OR => barrier::any_met(guest, &Barrier::parse(packet))?,
            packet_type::VENDOR_SPECIFIC => self.vendor(packet)?,
            unknown => return Err(unknown_packet(unknown)),
        };
        if !met {
            return Ok(Flow::Blocked);
        }
        Ok(Flow::Done(Times {
            start: started,
            end: guest.host().ticks(),
        }))
    }

    fn vendor(&self, packet: &Packet) -> Outcome<bool> {
        match packet.0[VENDOR_FORMAT] {
            vendor::BARRIER_VALUE => barrier::value_met(&self.guest, &BarrierValue::parse(packet)),
            vendor::PM4_IB => pm4::run(&self.guest, packet).map(|()| true),
            format => Err(Halt::refused(
                inactive::INVALID_VENDOR_PACKET,
                format!("vendor packet of unknown format {format}"),
            )),
        }
    }

    fn dispatch(&self, packet: &Packet, control: &Control) -> Outcome<Flow> {
        let place = Place {
            queue_va: self.queue_va,
            packet_va: self.slot(),
            index: self.head,
        };
        let dispatch = dispatch::prepare(&self.guest, &KernelDispatch::parse(packet), place)?;
        let start = self.guest.host().ticks();
        self.launch(&dispatch, control)?;
        Ok(Flow::Done(Times {
            start,
            end: self.guest.host().ticks(),
        }))
    }

    fn launch(&self, dispatch: &Dispatch, control: &Control) -> Outcome<()> {
        let host = self.guest.host();
        let device = WaveDevice { host, control };
        match host.engine().run(dispatch, host.memory(), &device) {
            DispatchOutcome::Complete(_) => Ok(()),
            DispatchOutcome::Stopped { stop, at } => Err(Halt::Wave { stop, at }),
        }
    }

    /// Gives the slot back: header first, since a producer may write as soon as the index moves.
    /// The index moves only now because kernels read their packet (`dispatch_ptr`) while they run.
    fn retire(&mut self) -> Outcome<()> {
        self.guest
            .store_u16(self.slot(), packet_type::INVALID.into())?;
        self.head += 1;
        self.started = None;
        Ok(self.guest.store_u64(self.desc.rptr_va, self.head)?)
    }

    /// Stops the queue and tells the client. The packet at the head keeps its slot and its signal.
    fn halt(&mut self, halt: &Halt) {
        self.halted = true;
        if matches!(
            halt,
            Halt::Wave {
                stop: Stop::Killed,
                ..
            }
        ) {
            return;
        }
        self.report(halt);
        let host = self.guest.host();
        match halt {
            Halt::Guest(GuestError::Fault(fault))
            | Halt::Wave {
                stop: Stop::MemoryFault(fault),
                ..
            } => host.memory_fault(fault),
            _ => {}
        }
        if let Some(bits) = halt.inactive_bits() {
            self.store_inactive(bits);
        }
    }

    fn store_inactive(&self, bits: i64) {
        let stored = self
            .guest
            .load_u64(self.queue_va.wrapping_add(INACTIVE_SIGNAL))
            .and_then(|handle| signal::store(&self.guest, handle, bits));
        if stored.is_err() {
            // A client without a queue block has no signal to hear of the error by.
            self.guest.host().hw_exception();
        }
    }

    fn report(&self, halt: &Halt) {
        let kernel_object = match self.fetch() {
            Ok(p) if p.header().packet_type() == packet_type::KERNEL_DISPATCH => {
                KernelDispatch::parse(&p).kernel_object
            }
            _ => 0,
        };
        let subject = Subject {
            queue_id: self.desc.queue_id,
            position: self.head,
            kernel_object,
        };
        report::halt(&self.guest, &subject, halt);
    }

    /// One line for the trace.
    fn describe(&self, packet: &Packet) -> String {
        let what = match packet.header().packet_type() {
            packet_type::KERNEL_DISPATCH => self.describe_kernel(&KernelDispatch::parse(packet)),
            packet_type::BARRIER_AND => {
                format!("barrier-and {:x?}", Barrier::parse(packet).dep_signals)
            }
            packet_type::BARRIER_OR => {
                format!("barrier-or {:x?}", Barrier::parse(packet).dep_signals)
            }
            packet_type::VENDOR_SPECIFIC => format!("vendor format {}", packet.0[VENDOR_FORMAT]),
            other => format!("type {other:#x}"),
        };
        let (queue, index) = (self.desc.queue_id, self.head);
        let (header, signal) = (packet.header().0, packet.completion_signal());
        format!("queue {queue} packet {index}: {what}, header {header:#06x}, signal {signal:#x}")
    }

    fn describe_kernel(&self, k: &KernelDispatch) -> String {
        format!(
            "kernel {} dims {} grid {:?} workgroup {:?} lds {} scratch {}",
            report::kernel_text(self.guest.host(), k.kernel_object),
            k.setup & 3,
            k.grid_size,
            k.workgroup_size,
            k.group_segment_size,
            k.private_segment_size
        )
    }
}

impl Processor for AqlQueue {
    fn step(&mut self, control: &Control) -> Step {
        if self.halted {
            return Step::Halted;
        }
        self.look(control).unwrap_or_else(|halt| {
            self.halt(&halt);
            Step::Halted
        })
    }

    fn abandon(&mut self) {
        self.halted = true;
        let queue = self.desc.queue_id;
        self.guest.host().report(&format!(
            "queue {queue}: internal error in packet {}; the queue is stopped\n",
            self.head
        ));
        self.store_inactive(inactive::TRAP);
    }
}

fn unknown_packet(packet_type: u8) -> Halt {
    let why = match packet_type {
        packet_type::AGENT_DISPATCH => "agent dispatch packet; this is no agent queue".to_owned(),
        other => format!("packet of unknown type {other:#x}"),
    };
    Halt::refused(inactive::INVALID_PACKET, why)
}
