//! hsa.h: queues and their indices.

use crate::args::Out;
use crate::entry::{hsa_alias, hsa_export};
use crate::ext_amd::signal::UserData;
use crate::signal;
use crate::status::Error;
use hsa_core::queue::{self, ErrorCallback, Queue, QueueType};
use hsa_core::{Error as Core, Result, runtime};
use hsa_sys::*;
use std::ffi::c_void;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The user's function that learns why a queue failed.
pub(crate) type QueueCallback =
    Option<unsafe extern "C-unwind" fn(hsa_status_t, *mut hsa_queue_t, *mut c_void)>;

/// The live queue at an address; null is an invalid argument, anything else dead an invalid queue.
pub(crate) fn required(queue: *const hsa_queue_t) -> Result<Queue> {
    if queue.is_null() {
        return Err(Core::InvalidArgument);
    }
    find(queue).ok_or(Core::InvalidQueue)
}

fn find(queue: *const hsa_queue_t) -> Option<Queue> {
    queue::lookup(queue.addr() as u64)
}

/// The queue's address as C knows it.
fn pointer(queue: u64) -> *mut hsa_queue_t {
    std::ptr::with_exposed_provenance_mut(usize::try_from(queue).unwrap_or(0))
}

pub(crate) fn error_callback(callback: QueueCallback, data: *mut c_void) -> Option<ErrorCallback> {
    let callback = callback?;
    let data = UserData(data);
    Some(Box::new(move |error, queue| {
        let status = Error::Core(error).status();
        // SAFETY: the user's function, called with the queue it was registered for and its data.
        unsafe { callback(status, pointer(queue), data.get()) }
    }))
}

hsa_export! { core:
    /// Creates a queue that the device's packet processor serves.
    fn hsa_queue_create(
        agent: hsa_agent_t,
        size: u32,
        type_: u32,
        callback: QueueCallback,
        data: *mut c_void,
        private_segment_size: u32,
        group_segment_size: u32,
        queue: Out<*mut hsa_queue_t>,
    ) {
        let runtime = runtime::current()?;
        let out = queue.required()?;
        let agent = runtime.agent(agent.handle)?;
        let queue_type = QueueType::from_raw(type_).ok_or(Core::InvalidArgument)?;
        if !size.is_power_of_two() {
            return Err(Core::InvalidArgument.into());
        }
        let callback = error_callback(callback, data);
        let queue = runtime.create_queue(agent, size, queue_type, callback, private_segment_size, group_segment_size)?;
        out.write(pointer(queue.handle()))
    }
}

hsa_export! { core:
    /// Creates a queue that the program serves itself.
    fn hsa_soft_queue_create(region: hsa_region_t, size: u32, type_: u32, features: u32, doorbell_signal: hsa_signal_t, queue: Out<*mut hsa_queue_t>) {
        let runtime = runtime::current()?;
        let out = queue.required()?;
        let region = runtime.region(region.handle)?;
        let queue_type = QueueType::from_raw(type_).ok_or(Core::InvalidArgument)?;
        let doorbell = signal::required(doorbell_signal)?;
        if !size.is_power_of_two() || features == 0 {
            return Err(Core::InvalidArgument.into());
        }
        out.write(pointer(runtime.create_soft_queue(region, size, queue_type, features, doorbell)?.handle()))
    }
}

hsa_export! { core:
    /// Stops a queue and frees it.
    fn hsa_queue_destroy(queue: *mut hsa_queue_t) {
        runtime::current()?;
        Ok(required(queue)?.destroy()?)
    }
}

hsa_export! { core:
    /// Stops a queue for good.
    fn hsa_queue_inactivate(queue: *mut hsa_queue_t) {
        runtime::current()?;
        Ok(required(queue)?.inactivate()?)
    }
}

/// Reads of an index; 0 for what is no live queue.
macro_rules! load {
    ($($name:ident $method:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Reads an index.
        value fn $name(queue: *const hsa_queue_t) -> u64 {
            find(queue).map_or(0, |queue| queue.$method($order))
        }
    })* };
}

load! {
    hsa_queue_load_read_index_relaxed load_read_index Relaxed;
    hsa_queue_load_read_index_scacquire load_read_index Acquire;
    hsa_queue_load_write_index_relaxed load_write_index Relaxed;
    hsa_queue_load_write_index_scacquire load_write_index Acquire;
}

macro_rules! store {
    ($($name:ident $method:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Stores an index.
        value fn $name(queue: *const hsa_queue_t, value: u64) -> () {
            if let Some(queue) = find(queue) {
                queue.$method(value, $order);
            }
        }
    })* };
}

store! {
    hsa_queue_store_write_index_relaxed store_write_index Relaxed;
    hsa_queue_store_write_index_screlease store_write_index Release;
    hsa_queue_store_read_index_relaxed store_read_index Relaxed;
    hsa_queue_store_read_index_screlease store_read_index Release;
}

macro_rules! add {
    ($($name:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Adds to the write index and answers the old one.
        value fn $name(queue: *const hsa_queue_t, value: u64) -> u64 {
            find(queue).map_or(0, |queue| queue.add_write_index(value, $order))
        }
    })* };
}

add! {
    hsa_queue_add_write_index_relaxed Relaxed;
    hsa_queue_add_write_index_scacquire Acquire;
    hsa_queue_add_write_index_screlease Release;
    hsa_queue_add_write_index_scacq_screl AcqRel;
}

macro_rules! cas {
    ($($name:ident $order:ident;)*) => { $(hsa_export! { core:
        /// Swaps the write index if it is as expected and answers the old one.
        value fn $name(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64 {
            find(queue).map_or(0, |queue| queue.cas_write_index(expected, value, $order))
        }
    })* };
}

cas! {
    hsa_queue_cas_write_index_relaxed Relaxed;
    hsa_queue_cas_write_index_scacquire Acquire;
    hsa_queue_cas_write_index_screlease Release;
    hsa_queue_cas_write_index_scacq_screl AcqRel;
}

/// The deprecated names.
macro_rules! old_names {
    ($($old:ident = $new:ident($($arg:ident),*) -> $ret:ty;)*) => {
        $(hsa_alias! { core $old = $new(queue: *const hsa_queue_t $(, $arg: u64)*) -> $ret })*
    };
}

old_names! {
    hsa_queue_load_read_index_acquire = hsa_queue_load_read_index_scacquire() -> u64;
    hsa_queue_load_write_index_acquire = hsa_queue_load_write_index_scacquire() -> u64;
    hsa_queue_store_write_index_release = hsa_queue_store_write_index_screlease(value) -> ();
    hsa_queue_store_read_index_release = hsa_queue_store_read_index_screlease(value) -> ();
    hsa_queue_add_write_index_acquire = hsa_queue_add_write_index_scacquire(value) -> u64;
    hsa_queue_add_write_index_release = hsa_queue_add_write_index_screlease(value) -> u64;
    hsa_queue_add_write_index_acq_rel = hsa_queue_add_write_index_scacq_screl(value) -> u64;
    hsa_queue_cas_write_index_acquire = hsa_queue_cas_write_index_scacquire(expected, value) -> u64;
    hsa_queue_cas_write_index_release = hsa_queue_cas_write_index_screlease(expected, value) -> u64;
    hsa_queue_cas_write_index_acq_rel = hsa_queue_cas_write_index_scacq_screl(expected, value) -> u64;
}
