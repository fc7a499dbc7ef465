//! Copies and fills of device memory that the host cannot reach (small BAR), waited for.

use super::packets::Piece;
use super::{Route, route, run};
use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::live::Live;
use crate::runtime::Runtime;
use crate::signal::{self, Condition, WaitHint};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Runtime {
    /// Copies over an engine of the GPU that reaches both sides.
    pub(crate) fn copy_hidden(
        &self,
        live: &Arc<Live>,
        dst: u64,
        src: u64,
        size: u64,
    ) -> Result<()> {
        let piece = Piece {
            dst,
            src,
            bytes: size,
        };
        let route = self.agents().iter().filter(|a| a.is_gpu()).find_map(|gpu| {
            let route = route::choose(live, gpu, gpu, piece, None, true).ok()?;
            matches!(route, Route::Engine { .. }).then_some(route)
        });
        let route = route.ok_or(Error::InvalidArgument)?;
        let done = signal::create(live, 1, true)?;
        let result = run(live, &route, vec![piece], &[], Some(done));
        if result.is_ok() {
            done.wait(
                Condition::Lt,
                1,
                u64::MAX,
                WaitHint::Blocked,
                Ordering::Acquire,
            );
        }
        done.destroy().and(result)
    }

    /// Fills over a host buffer and [`Runtime::copy_hidden`].
    pub(crate) fn fill_hidden(
        &self,
        live: &Arc<Live>,
        dst: u64,
        value: u32,
        count: u64,
    ) -> Result<()> {
        const CHUNK: u64 = 1 << 20;
        let gpus: Vec<&Agent> = self.agents().iter().filter(|a| a.is_gpu()).collect();
        let host = self
            .agents()
            .iter()
            .find(|a| !a.is_gpu())
            .ok_or(Error::InvalidAgent)?;
        let pool = self
            .agent_pools(host)
            .last()
            .ok_or(Error::InvalidMemoryPool)?;
        let bytes = count * 4;
        let buffer = self.allocate(pool, bytes.clamp(4, CHUNK), 0)?;
        let filled = self.allow_access(&gpus, buffer).and_then(|()| {
            // SAFETY: the buffer was just allocated with that many bytes.
            unsafe { crate::memory::raw::fill(buffer, value, bytes.min(CHUNK) / 4) };
            let chunks = (0..bytes).step_by(usize::try_from(CHUNK).unwrap_or(usize::MAX));
            chunks
                .into_iter()
                .try_for_each(|at| self.copy_hidden(live, dst + at, buffer, CHUNK.min(bytes - at)))
        });
        self.free(buffer).and(filled)
    }
}
