//! Asynchronous copies.

use crate::agent::Agent;
use crate::error::Error;
use crate::runtime::Runtime;
use crate::signal::Signal;
use crate::Result;

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

impl Runtime {
    /// Starts a copy (`hsa_amd_memory_async_copy`).
    ///
    /// # Errors
    /// `InvalidArgument` for null addresses, `OutOfResources`.
    ///
    /// # Safety
    /// Both ranges stay valid until the completion signal is decremented.
    pub unsafe fn async_copy(&self, request: &CopyRequest<'_>) -> Result<()> {
        let _ = request;
        Err(Error::NotSupported)
    }

    /// Starts a copy on one engine (`hsa_amd_memory_async_copy_on_engine`); `engine` is a mask with
    /// one bit, `force` insists on SDMA.
    ///
    /// # Errors
    /// As [`Runtime::async_copy`]; `InvalidArgument` for an engine that does not exist.
    ///
    /// # Safety
    /// As [`Runtime::async_copy`].
    pub unsafe fn async_copy_on_engine(&self, request: &CopyRequest<'_>, engine: u32, force: bool) -> Result<()> {
        let _ = (request, engine, force);
        Err(Error::NotSupported)
    }

    /// Starts a rectangle copy on `agent`'s engines (`hsa_amd_memory_async_copy_rect`).
    ///
    /// # Errors
    /// `InvalidArgument` for null bases or pitches smaller than the range.
    ///
    /// # Safety
    /// As [`Runtime::async_copy`].
    pub unsafe fn async_copy_rect(
        &self,
        rect: &RectCopy,
        agent: &Agent,
        direction: Direction,
        deps: &[Signal],
        completion: Option<Signal>,
    ) -> Result<()> {
        let _ = (rect, agent, direction, deps, completion);
        Err(Error::NotSupported)
    }

    /// Mask of idle engines for copies from `src` to `dst`
    /// (`hsa_amd_memory_copy_engine_status`).
    ///
    /// # Errors
    /// `OutOfResources` if no engine is idle.
    pub fn copy_engine_status(&self, dst: &Agent, src: &Agent) -> Result<u32> {
        let _ = (dst, src);
        Err(Error::NotSupported)
    }

    /// Mask of the engine that suits copies from `src` to `dst` best
    /// (`hsa_amd_memory_get_preferred_copy_engine`), 0 if none stands out.
    ///
    /// # Errors
    /// `InvalidAgent`
    pub fn preferred_copy_engine(&self, dst: &Agent, src: &Agent) -> Result<u32> {
        let _ = (dst, src);
        Err(Error::NotSupported)
    }
}
