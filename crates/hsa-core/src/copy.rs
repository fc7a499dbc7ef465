//! Asynchronous copies: on SDMA queues where the GPU reaches both sides, else on a host thread.
//!
//! There are no blit kernels yet: copies inside of one device run on SDMA as well.

use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::live::Live;
use crate::runtime::Runtime;
use crate::signal::Signal;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod engine;
mod hidden;
mod host;
mod packets;
mod rect;
mod route;

use engine::Engine;
use host::Host;
use packets::Piece;
use route::Route;

/// `hsa_pitched_ptr_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PitchedPtr {
    /// Address of element (0, 0, 0).
    pub base: u64,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// Bytes from a slice to the next.
    pub slice: u64,
}

/// `hsa_amd_copy_direction_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Direction {
    /// 0
    HostToHost = 0,
    /// 1
    HostToDevice = 1,
    /// 2
    DeviceToHost = 2,
    /// 3
    DeviceToDevice = 3,
}

/// A rectangle copy; x in bytes, y in rows, z in slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RectCopy {
    /// Destination.
    pub dst: PitchedPtr,
    /// Offset in the destination.
    pub dst_offset: [u32; 3],
    /// Source.
    pub src: PitchedPtr,
    /// Offset in the source.
    pub src_offset: [u32; 3],
    /// Extent.
    pub range: [u32; 3],
}

/// One asynchronous copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyRequest<'a> {
    /// Destination address.
    pub dst: u64,
    /// Agent whose memory the destination is.
    pub dst_agent: &'a Agent,
    /// Source address.
    pub src: u64,
    /// Agent whose memory the source is.
    pub src_agent: &'a Agent,
    /// Bytes.
    pub size: u64,
    /// The copy starts when all of them are 0.
    pub deps: &'a [Signal],
    /// Decremented once when the copy is done.
    pub completion: Option<Signal>,
}

/// The copy engines of one open runtime, made when they are first needed.
#[derive(Debug)]
pub(crate) struct Copies {
    /// SDMA queues by agent and lane.
    engines: Mutex<HashMap<(usize, u32), Arc<Engine>>>,
    host: Arc<Host>,
    /// Copies take timestamps.
    pub(crate) profiling: AtomicBool,
}

impl Copies {
    pub(crate) fn new() -> Self {
        Self {
            engines: Mutex::default(),
            host: Host::new(),
            profiling: AtomicBool::new(false),
        }
    }

    /// Ends the host thread and the SDMA queues; copies that have not run never will.
    pub(crate) fn stop(&self) {
        self.host.stop();
        self.engines.lock().clear();
    }

    fn engine(&self, live: &Live, agent: &Agent, lane: u32) -> Result<Arc<Engine>> {
        let mut engines = self.engines.lock();
        if let Some(engine) = engines.get(&(agent.index, lane)) {
            return Ok(Arc::clone(engine));
        }
        let engine = Arc::new(Engine::new(&live.kfd, agent)?);
        engines.insert((agent.index, lane), Arc::clone(&engine));
        Ok(engine)
    }

    fn is_idle(&self, agent: usize, lane: u32) -> bool {
        self.engines
            .lock()
            .get(&(agent, lane))
            .is_none_or(|e| e.is_idle())
    }

    /// Runs `work` on the host thread once `deps` are 0, then decrements `completion`.
    ///
    /// # Errors
    /// `OutOfResources`
    pub(crate) fn on_host(
        &self,
        live: &Arc<Live>,
        deps: &[Signal],
        completion: Option<Signal>,
        work: Box<dyn FnOnce() + Send>,
    ) -> Result<()> {
        let profiled = self.profiling.load(Ordering::Relaxed);
        self.host.submit(live, deps, completion, profiled, work)
    }
}

impl Runtime {
    /// Starts a copy (`hsa_amd_memory_async_copy`). A copy of no bytes still waits for its
    /// dependencies and completes.
    ///
    /// The agents say which engine to prefer; the memory's real place decides whether it can be used,
    /// so a wrong agent does not give a wrong copy.
    ///
    /// # Errors
    /// `InvalidArgument` for null addresses, `InvalidAgent` if nobody reaches both sides,
    /// `OutOfResources`.
    ///
    /// # Safety
    /// Both ranges stay valid until the completion signal is decremented.
    pub unsafe fn async_copy(&self, request: &CopyRequest<'_>) -> Result<()> {
        self.start(request, None, false)
    }

    /// Starts a copy on one engine (`hsa_amd_memory_async_copy_on_engine`); `engine` is a mask with
    /// one bit, `force` insists on SDMA.
    ///
    /// # Errors
    /// As [`Runtime::async_copy`]; `InvalidArgument` for an engine that does not exist.
    ///
    /// # Safety
    /// As [`Runtime::async_copy`].
    pub unsafe fn async_copy_on_engine(
        &self,
        request: &CopyRequest<'_>,
        engine: u32,
        force: bool,
    ) -> Result<()> {
        if !engine.is_power_of_two() {
            return Err(Error::InvalidArgument);
        }
        self.start(request, Some(engine.trailing_zeros()), force)
    }

    fn start(&self, request: &CopyRequest<'_>, lane: Option<u32>, force: bool) -> Result<()> {
        let live = self.live()?;
        let &CopyRequest {
            dst,
            src,
            size,
            deps,
            completion,
            ..
        } = request;
        if size == 0 {
            return live
                .copies
                .on_host(&live, deps, completion, Box::new(|| ()));
        }
        if dst == 0 || src == 0 {
            return Err(Error::InvalidArgument);
        }
        let piece = Piece {
            dst,
            src,
            bytes: size,
        };
        let route = route::choose(
            &live,
            request.src_agent,
            request.dst_agent,
            piece,
            lane,
            force,
        )?;
        run(&live, &route, vec![piece], deps, completion)
    }

    /// Mask of idle engines for copies from `src` to `dst`
    /// (`hsa_amd_memory_copy_engine_status`).
    ///
    /// # Errors
    /// `OutOfResources` if no engine is idle, `InvalidAgent` if neither is a GPU.
    pub fn copy_engine_status(&self, dst: &Agent, src: &Agent) -> Result<u32> {
        let live = self.live()?;
        let gpu = route::preferred_gpu(src, dst).ok_or(Error::InvalidAgent)?;
        let engines = if live.env.sdma {
            gpu.sdma_engines.min(16)
        } else {
            0
        };
        let idle = (0..engines)
            .filter(|&e| live.copies.is_idle(gpu.index, e))
            .fold(0, |mask, e| mask | 1 << e);
        if engines != 0 && idle == 0 {
            Err(Error::OutOfResources)
        } else {
            Ok(idle)
        }
    }

    /// Mask of the engine that suits copies from `src` to `dst` best
    /// (`hsa_amd_memory_get_preferred_copy_engine`), 0 if none stands out.
    ///
    /// # Errors
    /// `InvalidAgent` if neither is a GPU.
    pub fn preferred_copy_engine(&self, dst: &Agent, src: &Agent) -> Result<u32> {
        let gpu = route::preferred_gpu(src, dst).ok_or(Error::InvalidAgent)?;
        if !self.live()?.env.sdma || gpu.sdma_engines == 0 {
            return Ok(0);
        }
        Ok(1 << route::lane(gpu, src, dst))
    }
}

/// Hands pieces to the engine of a route. The pieces of a host route are copied one after another.
fn run(
    live: &Arc<Live>,
    route: &Route,
    pieces: Vec<Piece>,
    deps: &[Signal],
    completion: Option<Signal>,
) -> Result<()> {
    match route {
        Route::Engine { engine, agent } => {
            let profiled = live.copies.profiling.load(Ordering::Relaxed);
            if let Some(signal) = completion {
                signal.set_copy_agent(*agent);
            }
            engine.submit(&packets::build(
                engine.generation(),
                &pieces,
                deps,
                completion,
                profiled,
            ));
            Ok(())
        }
        Route::Host => {
            let local: Vec<Piece> = pieces.iter().map(|p| p.for_host(&live.memory)).collect();
            let work = move || local.iter().for_each(|piece| piece.copy());
            live.copies.on_host(live, deps, completion, Box::new(work))
        }
    }
}
