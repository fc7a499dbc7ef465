//! Who makes a copy.

use super::engine::Engine;
use super::packets::Piece;
use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::live::Live;
use std::sync::Arc;

/// SDMA queue of copies to the device, from it, and inside of or between devices.
const TO_DEVICE: u32 = 0;
const FROM_DEVICE: u32 = 1;
const BETWEEN: u32 = 2;

/// Who makes a copy.
pub(super) enum Route {
    /// An SDMA queue of the agent with this index.
    Engine { engine: Arc<Engine>, agent: usize },
    /// The host thread.
    Host,
}

/// The GPU whose engines are asked first: the source's, so that data is pushed.
pub(super) fn preferred_gpu<'a>(src: &'a Agent, dst: &'a Agent) -> Option<&'a Agent> {
    [src, dst].into_iter().find(|a| a.is_gpu())
}

/// The SDMA queue of `gpu` for a direction. A device with one engine has one queue.
pub(super) fn lane(gpu: &Agent, src: &Agent, dst: &Agent) -> u32 {
    let lane = match (src.is_gpu(), dst.is_gpu()) {
        (false, _) => TO_DEVICE,
        (true, false) => FROM_DEVICE,
        (true, true) => BETWEEN,
    };
    if lane < gpu.sdma_engines {
        lane
    } else {
        TO_DEVICE
    }
}

/// Chooses the way of a copy: a GPU of the two that reaches both ranges, else the host.
pub(super) fn choose(
    live: &Live,
    src: &Agent,
    dst: &Agent,
    piece: Piece,
    wanted: Option<u32>,
    force: bool,
) -> Result<Route> {
    let reaches = |gpu: &&Agent| {
        gpu.is_gpu()
            && gpu.sdma_engines != 0
            && live.memory.reaches(gpu, piece.src, piece.bytes)
            && live.memory.reaches(gpu, piece.dst, piece.bytes)
    };
    let hidden = live.memory.is_hidden(piece.src) || live.memory.is_hidden(piece.dst);
    let gpu = [src, dst]
        .into_iter()
        .find(reaches)
        .filter(|_| live.env.sdma || hidden || force);
    if let Some(gpu) = gpu {
        let lane = match wanted {
            Some(lane) if lane >= gpu.sdma_engines + gpu.sdma_xgmi_engines => {
                return Err(Error::InvalidArgument);
            }
            Some(lane) => lane,
            None => lane(gpu, src, dst),
        };
        match live.copies.engine(live, gpu, lane) {
            Ok(engine) => {
                return Ok(Route::Engine {
                    engine,
                    agent: gpu.index,
                });
            }
            Err(error) => {
                tracing::warn!(%error, gpu = gpu.index, "no copy engine; the host copies")
            }
        }
    }
    if hidden {
        Err(Error::InvalidAgent)
    } else {
        Ok(Route::Host)
    }
}
