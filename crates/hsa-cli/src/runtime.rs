//! The few HSA functions that the command calls, loaded by name from a library file.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use hsa_sys::{HSA_STATUS_SUCCESS, hsa_agent_t, hsa_amd_memory_pool_t, hsa_isa_t, hsa_status_t};

use crate::run::Error;

type Callback<T> = unsafe extern "C" fn(T, *mut c_void) -> hsa_status_t;

type NoArguments = unsafe extern "C" fn() -> hsa_status_t;
type StatusString = unsafe extern "C" fn(hsa_status_t, *mut *const c_char) -> hsa_status_t;
type Iterate<T> = unsafe extern "C" fn(Callback<T>, *mut c_void) -> hsa_status_t;
type IterateOf<T> = unsafe extern "C" fn(hsa_agent_t, Callback<T>, *mut c_void) -> hsa_status_t;
type GetInfo<T> = unsafe extern "C" fn(T, u32, *mut c_void) -> hsa_status_t;

/// A loaded runtime library; it stays loaded.
pub(crate) struct Runtime {
    init: NoArguments,
    shut_down: NoArguments,
    status_string: StatusString,
    iterate_agents: Iterate<hsa_agent_t>,
    agent_get_info: GetInfo<hsa_agent_t>,
    iterate_isas: IterateOf<hsa_isa_t>,
    isa_get_info: GetInfo<hsa_isa_t>,
    iterate_pools: IterateOf<hsa_amd_memory_pool_t>,
    pool_get_info: GetInfo<hsa_amd_memory_pool_t>,
}

/// Looks a function up and gives it its type.
macro_rules! symbol {
    ($library:expr, $path:expr, $name:literal as $ty:ty) => {{
        // SAFETY: the handle is a loaded library and the name ends with a zero.
        let address = unsafe { libc::dlsym($library, $name.as_ptr()) };
        if address.is_null() {
            return Err(load_error($path));
        }
        // SAFETY: the HSA headers give the function of this name this signature.
        unsafe { std::mem::transmute::<*mut c_void, $ty>(address) }
    }};
}

impl Runtime {
    /// Loads the library file.
    ///
    /// # Errors
    /// [`Error::Load`] with the dynamic loader's words.
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::Load {
            path: path.into(),
            message: "its path holds a zero byte".into(),
        })?;
        // SAFETY: the library's initialisers are those of an HSA runtime, which may run anywhere.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if library.is_null() {
            return Err(load_error(path));
        }
        Ok(Self {
            init: symbol!(library, path, c"hsa_init" as NoArguments),
            shut_down: symbol!(library, path, c"hsa_shut_down" as NoArguments),
            status_string: symbol!(library, path, c"hsa_status_string" as StatusString),
            iterate_agents: symbol!(library, path, c"hsa_iterate_agents" as Iterate<hsa_agent_t>),
            agent_get_info: symbol!(library, path, c"hsa_agent_get_info" as GetInfo<hsa_agent_t>),
            iterate_isas: symbol!(
                library,
                path,
                c"hsa_agent_iterate_isas" as IterateOf<hsa_isa_t>
            ),
            isa_get_info: symbol!(library, path, c"hsa_isa_get_info_alt" as GetInfo<hsa_isa_t>),
            iterate_pools: symbol!(
                library,
                path,
                c"hsa_amd_agent_iterate_memory_pools" as IterateOf<hsa_amd_memory_pool_t>
            ),
            pool_get_info: symbol!(
                library,
                path,
                c"hsa_amd_memory_pool_get_info" as GetInfo<hsa_amd_memory_pool_t>
            ),
        })
    }

    /// `hsa_init`.
    pub(crate) fn init(&self) -> Result<(), Error> {
        // SAFETY: no arguments.
        self.check("hsa_init", unsafe { (self.init)() })
    }

    /// `hsa_shut_down`.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        // SAFETY: no arguments.
        self.check("hsa_shut_down", unsafe { (self.shut_down)() })
    }

    /// All agents in their order.
    pub(crate) fn agents(&self) -> Result<Vec<hsa_agent_t>, Error> {
        let mut list = Vec::new();
        // SAFETY: `collect` gets the list that it is made for.
        let status =
            unsafe { (self.iterate_agents)(collect::<hsa_agent_t>, pointer_to(&mut list)) };
        self.check("hsa_iterate_agents", status).map(|()| list)
    }

    /// All ISAs of an agent.
    pub(crate) fn isas(&self, agent: hsa_agent_t) -> Result<Vec<hsa_isa_t>, Error> {
        let mut list = Vec::new();
        // SAFETY: `collect` gets the list that it is made for.
        let status =
            unsafe { (self.iterate_isas)(agent, collect::<hsa_isa_t>, pointer_to(&mut list)) };
        // A CPU agent has none, which AMD's runtime reports as an error.
        Ok(if status == HSA_STATUS_SUCCESS {
            list
        } else {
            Vec::new()
        })
    }

    /// All memory pools of an agent.
    pub(crate) fn pools(&self, agent: hsa_agent_t) -> Result<Vec<hsa_amd_memory_pool_t>, Error> {
        let mut list = Vec::new();
        // SAFETY: `collect` gets the list that it is made for.
        let status = unsafe {
            (self.iterate_pools)(
                agent,
                collect::<hsa_amd_memory_pool_t>,
                pointer_to(&mut list),
            )
        };
        self.check("hsa_amd_agent_iterate_memory_pools", status)
            .map(|()| list)
    }

    /// A 32-bit attribute of an agent.
    pub(crate) fn agent_u32(&self, agent: hsa_agent_t, attribute: u32) -> Result<u32, Error> {
        let mut value = 0;
        // SAFETY: the attribute's value has 32 bits.
        let status = unsafe { (self.agent_get_info)(agent, attribute, pointer_to(&mut value)) };
        self.check("hsa_agent_get_info", status).map(|()| value)
    }

    /// A text attribute of an agent, of at most `N` bytes.
    pub(crate) fn agent_text<const N: usize>(
        &self,
        agent: hsa_agent_t,
        attribute: u32,
    ) -> Result<String, Error> {
        let mut text = [0u8; N];
        // SAFETY: the attribute's value has at most `N` bytes.
        let status = unsafe { (self.agent_get_info)(agent, attribute, pointer_to(&mut text)) };
        self.check("hsa_agent_get_info", status)
            .map(|()| until_zero(&text))
    }

    /// A text attribute of an ISA.
    pub(crate) fn isa_text(&self, isa: hsa_isa_t, attribute: u32) -> Result<String, Error> {
        let mut text = [0u8; 256];
        // SAFETY: ISA names have fewer than 256 bytes.
        let status = unsafe { (self.isa_get_info)(isa, attribute, pointer_to(&mut text)) };
        self.check("hsa_isa_get_info_alt", status)
            .map(|()| until_zero(&text))
    }

    /// A 32-bit attribute of a pool.
    pub(crate) fn pool_u32(
        &self,
        pool: hsa_amd_memory_pool_t,
        attribute: u32,
    ) -> Result<u32, Error> {
        let mut value = 0;
        // SAFETY: the attribute's value has 32 bits.
        let status = unsafe { (self.pool_get_info)(pool, attribute, pointer_to(&mut value)) };
        self.check("hsa_amd_memory_pool_get_info", status)
            .map(|()| value)
    }

    /// A 64-bit attribute of a pool.
    pub(crate) fn pool_u64(
        &self,
        pool: hsa_amd_memory_pool_t,
        attribute: u32,
    ) -> Result<u64, Error> {
        let mut value = 0;
        // SAFETY: the attribute's value has 64 bits.
        let status = unsafe { (self.pool_get_info)(pool, attribute, pointer_to(&mut value)) };
        self.check("hsa_amd_memory_pool_get_info", status)
            .map(|()| value)
    }

    fn check(&self, call: &'static str, status: hsa_status_t) -> Result<(), Error> {
        if status == HSA_STATUS_SUCCESS {
            return Ok(());
        }
        Err(Error::Hsa {
            call,
            status: format!("{:#x} ({})", status.0, self.text(status)),
        })
    }

    fn text(&self, status: hsa_status_t) -> String {
        let mut text = std::ptr::null();
        // SAFETY: `text` is valid for a pointer.
        let known = unsafe { (self.status_string)(status, &raw mut text) } == HSA_STATUS_SUCCESS;
        if !known || text.is_null() {
            return "unknown status".into();
        }
        // SAFETY: the runtime answers with a static text that ends with a zero.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    }
}

/// The callback of every iteration: keeps what it is given.
///
/// # Safety
/// `list` is the `Vec<T>` of the iteration.
unsafe extern "C" fn collect<T>(item: T, list: *mut c_void) -> hsa_status_t {
    // SAFETY: the caller's promise; nothing else uses the list during the iteration.
    unsafe { &mut *list.cast::<Vec<T>>() }.push(item);
    HSA_STATUS_SUCCESS
}

fn pointer_to<T>(value: &mut T) -> *mut c_void {
    (&raw mut *value).cast()
}

fn until_zero(text: &[u8]) -> String {
    let length = text
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(text.len());
    String::from_utf8_lossy(&text[..length]).into_owned()
}

fn load_error(path: &Path) -> Error {
    // SAFETY: called right after a failed call of the dynamic loader, on the same thread.
    let message = unsafe { libc::dlerror() };
    let message = if message.is_null() {
        "unknown reason".into()
    } else {
        // SAFETY: the loader's message ends with a zero and lives until its next call.
        unsafe { CStr::from_ptr(message) }
            .to_string_lossy()
            .into_owned()
    };
    Error::Load {
        path: path.into(),
        message,
    }
}
