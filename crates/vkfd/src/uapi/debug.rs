//! Runtime announcement, debugger, checkpointing, and the numbers that have no implementation.

use std::ffi::c_int;

use hsakmt_sys::{Errno, kfd, newer};

use super::EINVAL;
use crate::kernel::VirtualKfd;

/// DBG_REGISTER to DBG_WAVE_CONTROL: `EPERM` in every current kernel.
const OLD_DEBUG: std::ops::RangeInclusive<u8> = 0x0d..=0x10;
/// `KFD_IOC_DBG_TRAP_ENABLE`.
const TRAP_ENABLE: u32 = 0;

/// Numbers without a handler. AMD's own additions (0x80 and up) are not in an upstream kernel.
pub(super) fn unlisted(nr: u8) -> Result<c_int, Errno> {
    tracing::debug!(nr, "ioctl without an implementation");
    if OLD_DEBUG.contains(&nr) {
        Err(Errno(libc::EPERM))
    } else {
        Err(EINVAL)
    }
}

pub(super) fn runtime_enable(
    kfd: &VirtualKfd,
    args: &mut newer::kfd_ioctl_runtime_enable_args,
) -> Result<(), Errno> {
    let mut state = kfd.runtime.lock();
    if args.mode_mask & newer::KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK == 0 {
        state.enabled = false;
        kfd.debug.publish(0);
        return Ok(());
    }
    if state.enabled {
        return Err(Errno(libc::EBUSY));
    }
    if !kfd.queues.is_empty() {
        return Err(Errno(libc::EEXIST));
    }
    state.enabled = true;
    kfd.debug.publish(args.r_debug);
    args.capabilities_mask = 0;
    Ok(())
}

/// There is no wave-level debugger support: the answers are those of a GPU without it.
pub(super) fn dbg_trap(args: &mut newer::kfd_ioctl_dbg_trap_args) -> Result<(), Errno> {
    let pid = libc::pid_t::try_from(args.pid).map_err(|_| Errno(libc::ESRCH))?;
    if pid == 0 || !exists(pid) {
        return Err(Errno(libc::ESRCH));
    }
    if args.pid != std::process::id() {
        return Err(Errno(libc::EPERM));
    }
    Err(if args.op == TRAP_ENABLE {
        Errno(libc::EACCES)
    } else {
        EINVAL
    })
}

fn exists(pid: libc::pid_t) -> bool {
    // SAFETY: signal 0 only asks whether the process is there.
    let failed = unsafe { libc::kill(pid, 0) };
    failed == 0 || Errno::last() == Errno(libc::EPERM)
}

/// Checkpointing needs privileges that this driver never grants.
pub(super) fn criu(_: &mut kfd::kfd_ioctl_criu_args) -> Result<(), Errno> {
    Err(Errno(libc::EACCES))
}
