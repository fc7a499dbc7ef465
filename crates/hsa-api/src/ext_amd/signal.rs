//! hsa_ext_amd.h: waits for several signals, handlers, the value's address.

use crate::args::{In, InMut, Out};
use crate::entry::hsa_export;
use crate::signal::{conditions, hint, list, required};
use hsa_core::signal::{Condition, Signal};
use hsa_core::{Error as Core, Result, runtime};
use hsa_sys::*;
use std::ffi::c_void;

/// What both waits take.
struct Wait {
    signals: Vec<Signal>,
    conditions: Vec<Condition>,
    compares: Vec<i64>,
}

impl Wait {
    fn read(
        count: u32,
        signals: &In<hsa_signal_t>,
        conds: &In<hsa_signal_condition_t>,
        values: &In<i64>,
    ) -> Result<Self> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Self {
            signals: list(signals, count)?,
            conditions: conditions(conds, count)?,
            compares: values.array(count)?,
        })
    }
}

hsa_export! { amd_ext:
    /// Waits until one condition holds: its index, or `UINT32_MAX` on timeout or a bad argument.
    value fn hsa_amd_signal_wait_any(
        signal_count: u32,
        signals: InMut<hsa_signal_t>,
        conds: InMut<hsa_signal_condition_t>,
        values: InMut<i64>,
        timeout_hint: u64,
        wait_hint: hsa_wait_state_t,
        satisfying_value: Out<i64>,
    ) -> u32 {
        let Ok(runtime) = runtime::current() else { return u32::MAX };
        let Ok(wait) = Wait::read(signal_count, &signals.0, &conds.0, &values.0) else { return u32::MAX };
        let found = runtime.wait_any(&wait.signals, &wait.conditions, &wait.compares, timeout_hint, hint(wait_hint));
        let Some((index, value)) = found else { return u32::MAX };
        if let Some(out) = satisfying_value.optional() {
            let _ = out.write(value);
        }
        u32::try_from(index).unwrap_or(u32::MAX)
    }
}

hsa_export! { amd_ext:
    /// Waits until every condition has held: 0, or `UINT32_MAX` on timeout or a bad argument.
    value fn hsa_amd_signal_wait_all(
        signal_count: u32,
        signals: InMut<hsa_signal_t>,
        conds: InMut<hsa_signal_condition_t>,
        values: InMut<i64>,
        timeout_hint: u64,
        wait_hint: hsa_wait_state_t,
        satisfying_values: Out<i64>,
    ) -> u32 {
        let Ok(runtime) = runtime::current() else { return u32::MAX };
        let Ok(wait) = Wait::read(signal_count, &signals.0, &conds.0, &values.0) else { return u32::MAX };
        let seen = runtime.wait_all(&wait.signals, &wait.conditions, &wait.compares, timeout_hint, hint(wait_hint));
        let Some(seen) = seen else { return u32::MAX };
        if let Some(out) = satisfying_values.optional() {
            let _ = out.write_all(seen);
        }
        0
    }
}

/// A user's pointer that handlers carry to the runtime's thread.
pub(crate) struct UserData(pub(crate) *mut c_void);
// SAFETY: the pointer is only handed back to the user's own function, never followed here.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    pub(crate) fn get(&self) -> *mut c_void {
        self.0
    }
}

hsa_export! { amd_ext:
    /// Calls back on the runtime's thread when the condition holds.
    fn hsa_amd_signal_async_handler(signal: hsa_signal_t, cond: hsa_signal_condition_t, value: i64, handler: hsa_amd_signal_handler, arg: *mut c_void) {
        let runtime = runtime::current()?;
        let handler = handler.ok_or(Core::InvalidArgument)?;
        let condition = Condition::from_raw(cond.0).ok_or(Core::InvalidArgument)?;
        let arg = UserData(arg);
        // SAFETY: the user's function, called with the user's data.
        let call = move |value| unsafe { handler(value, arg.get()) };
        Ok(runtime.async_handler(required(signal)?, condition, value, Box::new(call))?)
    }
}

hsa_export! { amd_ext:
    /// Calls back once on the runtime's thread.
    fn hsa_amd_async_function(callback: Option<unsafe extern "C-unwind" fn(*mut c_void)>, arg: *mut c_void) {
        let runtime = runtime::current()?;
        let callback = callback.ok_or(Core::InvalidArgument)?;
        let arg = UserData(arg);
        // SAFETY: the user's function, called with the user's data.
        let call = move || unsafe { callback(arg.get()) };
        Ok(runtime.async_function(Box::new(call))?)
    }
}

hsa_export! { amd_ext:
    /// The address of a signal's value, for kernels and hosts that use it as memory.
    fn hsa_amd_signal_value_pointer(signal: hsa_signal_t, value_ptr: Out<*mut i64>) {
        runtime::current()?;
        let out = value_ptr.required()?;
        let address = required(signal)?.value_address()?;
        out.write(usize::try_from(address).map_err(|_| Core::Generic)? as *mut i64)
    }
}
