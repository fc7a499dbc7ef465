//! The device around a dispatch's waves.

use amdgpu_exec::Device;

use crate::scheduler::{Control, Host, notify_waiting};

/// What waves of one queue ask of their device.
pub(super) struct WaveDevice<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) control: &'a Control,
}

impl Device for WaveDevice<'_> {
    fn interrupt(&self, event_id: u32) {
        notify_waiting();
        self.host.interrupt(event_id);
    }

    fn realtime_ticks(&self) -> u64 {
        self.host.ticks()
    }

    fn clock_ticks(&self) -> u64 {
        self.host.clock()
    }

    fn cancelled(&self) -> bool {
        self.control.cancelled()
    }

    fn memory_written(&self) {
        notify_waiting();
    }
}
