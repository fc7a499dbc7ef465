//! The choice of the driver: the one place that knows there is more than `/dev/kfd`.

use hsa_core::{Error as Core, Result};
use hsakmt::{Kfd, LinuxKfd};
use hsakmt_sys::Kernel;
use std::sync::{Arc, Once};

/// The driver of this process: virtual GPUs if `VKFD_GPUS` asks for them, `/dev/kfd` otherwise.
/// There is no silent change from one to the other.
///
/// # Errors
/// `OutOfResources` after one line on stderr, if the variables cannot be followed.
pub(crate) fn choose() -> Result<Arc<dyn Kernel>> {
    match virtual_device() {
        Ok(Some(kernel)) => Ok(kernel),
        Ok(None) => Ok(Arc::new(LinuxKfd)),
        Err(message) => {
            complain(&message);
            Err(Core::OutOfResources)
        }
    }
}

/// The virtual device that the environment asks for. It outlives the runtime: a process that opens
/// it again finds the same device, as it would find the same hardware.
#[cfg(feature = "vkfd")]
fn virtual_device() -> std::result::Result<Option<Arc<dyn Kernel>>, String> {
    use std::sync::Mutex;
    static DEVICE: Mutex<Option<Arc<dyn Kernel>>> = Mutex::new(None);
    let mut device = DEVICE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if device.is_none() {
        let config = vkfd::Config::from_env().map_err(|error| error.to_string())?;
        let open = |config| vkfd::VirtualKfd::new(config).map_err(|error| error.to_string());
        *device = config
            .map(open)
            .transpose()?
            .map(|kernel| -> Arc<dyn Kernel> { kernel });
    }
    Ok(device.clone())
}

#[cfg(not(feature = "vkfd"))]
fn virtual_device() -> std::result::Result<Option<Arc<dyn Kernel>>, String> {
    match std::env::var_os("VKFD_GPUS") {
        None => Ok(None),
        Some(_) => {
            Err("VKFD_GPUS is set, but this library was built without the feature vkfd".into())
        }
    }
}

/// Tells the user why no device could be opened, once per process. hsa_init itself only has a
/// number for it, which programs turn into "no device".
pub(crate) fn explain_failure() {
    if std::env::var_os("VKFD_GPUS").is_none()
        && let Err(error) = Kfd::open(Arc::new(LinuxKfd))
    {
        complain(&format!(
            "{error}; VKFD_GPUS=gfx90a runs on a virtual GPU instead"
        ));
    }
    complain("the runtime cannot start on this device; HANSA_LOG=debug tells more");
}

/// One line on stderr; only the first of a process is printed.
#[expect(
    clippy::print_stderr,
    reason = "without it the user sees only a status number"
)]
fn complain(message: &str) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| eprintln!("hsa-runtime (Hansa): {message}"));
}
