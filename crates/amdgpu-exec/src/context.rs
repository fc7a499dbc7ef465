//! What a running wave reaches outside its registers.

use crate::api::{AccessFault, Device, Stop};
use crate::launch::Launch;
use crate::memory::Port;
use crate::memory::lds::Lds;
use crate::memory::scratch::Scratch;
use crate::step::Flow;
use crate::sync::Gws;

/// Memory, local data share and device of the wave that runs, and the reason when it must stop.
pub struct Context<'a> {
    /// The device around the wave.
    pub device: &'a dyn Device,
    /// LDS of the wave's workgroup.
    pub lds: Lds,
    /// Private memory of the wave.
    pub scratch: Scratch,
    pub(crate) port: Port<'a>,
    pub(crate) launch: &'a Launch,
    /// Global wave sync of the queue.
    pub(crate) gws: &'a Gws,
    /// Why the wave stops, and the lane that caused it.
    pub(crate) stopped: Option<(Stop, u32)>,
    /// Blocks entered under another number are compared with memory again.
    pub(crate) code_epoch: u64,
}

impl Context<'_> {
    /// Ends the dispatch because of lane `lane` of the running instruction.
    #[cold]
    pub fn stop(&mut self, lane: u32, stop: Stop) -> Flow {
        self.stopped = Some((stop, lane));
        Flow::Stop
    }

    /// Ends the dispatch with a memory fault.
    #[cold]
    pub(crate) fn fault(&mut self, lane: usize, fault: AccessFault) -> Flow {
        self.stop(u32::try_from(lane).unwrap_or(0), Stop::MemoryFault(fault))
    }

    /// Code may have changed: compare blocks with memory before they run again.
    pub(crate) fn forget_code(&mut self) {
        self.code_epoch = crate::block::next_epoch();
    }
}
