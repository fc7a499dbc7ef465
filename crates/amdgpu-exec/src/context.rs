//! What a running wave reaches outside its registers.

use crate::api::{Device, Stop};

/// Memory, local data share and device of the wave that runs, and the reason when it must stop.
pub struct Context<'a> {
    /// The device around the wave.
    pub device: &'a dyn Device,
    /// Why the wave stops and the lane that caused it, set before [`crate::step::Flow::Stop`].
    pub stop: Option<(Stop, u32)>,
}
