//! Executables: loaded code objects, external definitions, freezing, and lookups.

use super::elf::{self, CodeObject};
use super::reader::{Origin, Reader};
use super::state::{ExecutableKey, Handle, ObjectKey, ReaderKey, State, SymbolKey, state};
use super::symbol::{self, Detail, Symbol};
use super::{debug, reloc};
use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::memory::alloc_flag;
use crate::pool::{Pool, PoolKind};
use crate::runtime::Runtime;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// An executable.
#[derive(Debug)]
pub(super) struct Executable {
    info: ExecutableInfo,
    objects: Vec<ObjectKey>,
    /// In the order of their definition.
    symbols: Vec<SymbolKey>,
    /// By agent handle (0 for the whole program) and name.
    names: HashMap<(u64, String), SymbolKey>,
}

/// `hsa_executable_get_info`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExecutableInfo {
    /// `hsa_profile_t`
    pub profile: u32,
    /// `hsa_default_float_rounding_mode_t`
    pub rounding_mode: u32,
    /// Frozen executables take no more code and can be launched from.
    pub frozen: bool,
}

/// A code object in device memory.
#[derive(Debug)]
pub(super) struct LoadedObject {
    executable: ExecutableKey,
    agent: u64,
    /// Device address of ELF address 0.
    base: u64,
    /// What the block holds at freezing; kept for debuggers and profilers.
    image: Arc<[u8]>,
    origin: Origin,
    segments: Vec<LoadedSegment>,
}

#[derive(Clone, Copy, Debug)]
struct LoadedSegment {
    vaddr: u64,
    memory_size: u64,
    file_offset: u64,
}

/// Where the ELF file of a loaded code object is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Storage {
    /// In memory.
    Memory {
        /// Address.
        base: u64,
        /// Bytes.
        size: u64,
    },
    /// In a file.
    File {
        /// The descriptor that the reader was made of.
        fd: i32,
        /// Its name.
        path: PathBuf,
        /// Where the code object starts.
        offset: u64,
        /// Bytes.
        size: u64,
    },
}

/// `hsa_ven_amd_loader_loaded_code_object_get_info`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadedCodeObject {
    /// Handle.
    pub executable: u64,
    /// Handle.
    pub agent: u64,
    /// The ELF file.
    pub storage: Storage,
    /// Device address minus ELF address.
    pub load_delta: u64,
    /// First device address.
    pub load_base: u64,
    /// Bytes on the device.
    pub load_size: u64,
    /// Where debuggers find the ELF file.
    pub uri: String,
}

/// One loaded segment, for profilers (`hsa_ven_amd_loader_query_segment_descriptors`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentDescriptor {
    /// Handle.
    pub agent: u64,
    /// Handle.
    pub executable: u64,
    /// The ELF file.
    pub storage: Storage,
    /// Offset of the segment in the ELF file.
    pub storage_offset: u64,
    /// Device address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
}

/// Host contents of a block that freezing copies.
struct Copy {
    dst: u64,
    image: Arc<[u8]>,
}

impl Runtime {
    /// Creates an executable. Any profile is accepted: HIP asks for the full one on devices of the
    /// base profile.
    ///
    /// # Errors
    /// `NotInitialized`
    pub fn create_executable(&self, info: ExecutableInfo) -> Result<u64> {
        crate::runtime::current()?;
        let executable = Executable {
            info,
            objects: Vec::new(),
            symbols: Vec::new(),
            names: HashMap::new(),
        };
        Ok(state().executables.insert(executable).handle())
    }

    /// Destroys an executable and frees its code on the devices.
    ///
    /// # Errors
    /// `InvalidExecutable`
    pub fn destroy_executable(&self, executable: u64) -> Result<()> {
        let removed = state().take_executable(ExecutableKey::decode(executable))?;
        for (key, object) in removed {
            debug::remove(key.handle());
            // The block was ours alone; a refusal means that the runtime is closing.
            if let Err(error) = self.free(object.base) {
                tracing::warn!(%error, gpu_va = object.base, "code object memory");
            }
        }
        Ok(())
    }

    /// What an executable was created with and its state.
    ///
    /// # Errors
    /// `InvalidExecutable`
    pub fn executable_info(&self, executable: u64) -> Result<ExecutableInfo> {
        Ok(state().executable(executable)?.info)
    }

    /// Loads a code object for an agent; the handle names the loaded code object.
    ///
    /// # Errors
    /// `InvalidExecutable`, `FrozenExecutable`, `InvalidAgent` for a CPU, `InvalidCodeObjectReader`,
    /// `InvalidCodeObject` for bytes that are none, `IncompatibleArguments` for another ISA,
    /// `VariableAlreadyDefined` and `VariableUndefined` for symbols, `OutOfResources`.
    pub fn load_code_object(&self, executable: u64, agent: &Agent, reader: u64) -> Result<u64> {
        let reader = {
            let state = state();
            state.unfrozen(executable)?;
            let reader = state.readers.get(ReaderKey::decode(reader));
            reader.cloned().ok_or(Error::InvalidCodeObjectReader)?
        };
        let object = elf::parse(reader.data.bytes())?;
        self.require_isa(agent, &object)?;
        let base = self.allocate_image(agent, object.image_size)?;
        let placed = place(executable, agent, &reader, &object, base);
        if placed.is_err() {
            self.free(base)?;
        }
        placed
    }

    fn require_isa(&self, agent: &Agent, object: &CodeObject<'_>) -> Result<()> {
        if !agent.is_gpu() {
            return Err(Error::InvalidAgent);
        }
        let isas = self.agent_isas(agent);
        if isas.iter().any(|isa| object.target.runs_on(isa)) {
            return Ok(());
        }
        tracing::info!(target = ?object.target, agent = agent.name, "code object of another ISA");
        Err(Error::IncompatibleArguments)
    }

    /// One block for the whole image, so that PC-relative addresses hold.
    fn allocate_image(&self, agent: &Agent, size: u64) -> Result<u64> {
        let pools = self.agent_pools(agent);
        let of_kind = |kind| pools.iter().find(|pool: &&Pool| pool.kind == kind);
        let pool = of_kind(PoolKind::VramCoarse).or_else(|| of_kind(PoolKind::VramFine));
        let pool = pool.ok_or(Error::OutOfResources)?;
        // What a pool refuses as too large is, for a code object, a lack of memory.
        self.allocate(pool, size, alloc_flag::EXECUTABLE)
            .map_err(|error| match error {
                Error::InvalidAllocation => Error::OutOfResources,
                other => other,
            })
    }

    /// Copies the code to the devices and closes the executable for more.
    ///
    /// # Errors
    /// `InvalidExecutable`, `FrozenExecutable`, or what the copy answers.
    pub fn freeze_executable(&self, executable: u64) -> Result<()> {
        let copies = state().freeze(executable)?;
        for copy in &copies {
            let (src, size) = (
                copy.image.as_ptr().expose_provenance() as u64,
                copy.image.len() as u64,
            );
            // SAFETY: the block was allocated with the image's size; the image is ours.
            unsafe { self.copy(copy.dst, src, size) }?;
        }
        // The instruction caches need no flush: the packet processors invalidate them at the
        // acquire fence of each dispatch.
        for (id, delta, uri) in state().uris(executable)? {
            debug::add(id, delta, &uri);
        }
        Ok(())
    }

    /// Defines a variable that code objects refer to: for one agent, or for the whole program.
    ///
    /// # Errors
    /// `InvalidExecutable`, `FrozenExecutable`, `VariableAlreadyDefined`.
    pub fn define_variable(
        &self,
        executable: u64,
        agent: Option<&Agent>,
        name: &str,
        address: u64,
        constant: bool,
    ) -> Result<()> {
        let mut state = state();
        state.unfrozen(executable)?;
        let symbol = Symbol {
            name: name.to_owned(),
            agent: agent.map(Agent::handle),
            address,
            size: 0,
            detail: Detail::Variable {
                constant,
                alignment: 0,
                external: true,
            },
        };
        state.require_new(executable, std::slice::from_ref(&symbol))?;
        state.add_symbol(executable, symbol)
    }

    /// The symbol of a name, for one agent or for the whole program.
    ///
    /// # Errors
    /// `InvalidExecutable`, `InvalidSymbolName`.
    pub fn symbol_by_name(&self, executable: u64, name: &str, agent: Option<u64>) -> Result<u64> {
        let state = state();
        let names = &state.executable(executable)?.names;
        let key = names.get(&(agent.unwrap_or(0), name.to_owned()));
        key.map(|key| key.handle()).ok_or(Error::InvalidSymbolName)
    }

    /// The symbols of an executable in the order of their definition, with their handles.
    ///
    /// # Errors
    /// `InvalidExecutable`
    pub fn symbols(&self, executable: u64) -> Result<Vec<(u64, Symbol)>> {
        let state = state();
        let keys = &state.executable(executable)?.symbols;
        Ok(keys
            .iter()
            .map(|key| (key.handle(), state.symbols[*key].clone()))
            .collect())
    }

    /// The symbol of a handle.
    ///
    /// # Errors
    /// `InvalidExecutableSymbol`
    pub fn symbol(&self, symbol: u64) -> Result<Symbol> {
        let state = state();
        let found = state.symbols.get(SymbolKey::decode(symbol));
        found.cloned().ok_or(Error::InvalidExecutableSymbol)
    }

    /// Host address with the contents of a device address inside of loaded code.
    #[must_use]
    pub fn host_address(&self, device: u64) -> Option<u64> {
        let state = state();
        let object = state
            .objects
            .values()
            .find(|object| object.covers(device))?;
        let host = object.image.as_ptr().expose_provenance() as u64;
        Some(host + (device - object.base))
    }

    /// The executable around a device address.
    #[must_use]
    pub fn executable_at(&self, device: u64) -> Option<u64> {
        let state = state();
        let object = state
            .objects
            .values()
            .find(|object| object.covers(device))?;
        Some(object.executable.handle())
    }

    /// All segments of frozen executables.
    #[must_use]
    pub fn segments(&self) -> Vec<SegmentDescriptor> {
        let state = state();
        let frozen = |object: &&LoadedObject| state.executables[object.executable].info.frozen;
        state
            .objects
            .values()
            .filter(frozen)
            .flat_map(LoadedObject::describe)
            .collect()
    }

    /// The code objects that an executable has loaded.
    ///
    /// # Errors
    /// `InvalidExecutable`
    pub fn loaded_code_objects(&self, executable: u64) -> Result<Vec<u64>> {
        let state = state();
        Ok(state
            .executable(executable)?
            .objects
            .iter()
            .map(|key| key.handle())
            .collect())
    }

    /// A loaded code object.
    ///
    /// # Errors
    /// `InvalidCodeObject`
    pub fn loaded_code_object(&self, object: u64) -> Result<LoadedCodeObject> {
        let state = state();
        let found = state.objects.get(ObjectKey::decode(object));
        found
            .map(LoadedObject::info)
            .ok_or(Error::InvalidCodeObject)
    }

    /// All executables.
    #[must_use]
    pub fn executables(&self) -> Vec<u64> {
        state().executables.keys().map(Handle::handle).collect()
    }
}

/// Forgets everything; the runtime frees the memory itself when it closes.
pub(crate) fn forget_all() {
    let mut state = state();
    for key in state.objects.keys() {
        debug::remove(key.handle());
    }
    *state = State::default();
}

/// Builds the host image of a code object and enters it and its symbols.
fn place(
    executable: u64,
    agent: &Agent,
    reader: &Reader,
    object: &CodeObject<'_>,
    base: u64,
) -> Result<u64> {
    let mut image = host_image(object)?;
    let symbols = exported(object, &image, agent.handle(), base);
    let mut state = state();
    state.unfrozen(executable)?;
    state.require_new(executable, &symbols)?;
    let names = &state.executable(executable)?.names;
    reloc::apply(object, &mut image, base, |name| {
        let find = |agent| names.get(&(agent, name.to_owned()));
        let key = find(agent.handle()).or_else(|| find(0))?;
        Some(state.symbols[*key].address)
    })?;
    let key = ExecutableKey::decode(executable);
    let loaded = LoadedObject {
        executable: key,
        agent: agent.handle(),
        base,
        image: image.into(),
        origin: reader.origin.clone(),
        segments: object.segments.iter().map(loaded_segment).collect(),
    };
    let id = state.objects.insert(loaded);
    state.executables[key].objects.push(id);
    for symbol in symbols {
        state.add_symbol(executable, symbol)?;
    }
    Ok(id.handle())
}

/// The image as the file gives it: zeros where no segment has data.
pub(super) fn host_image(object: &CodeObject<'_>) -> Result<Vec<u8>> {
    let size = usize::try_from(object.image_size).map_err(|_| Error::OutOfResources)?;
    let mut image = Vec::new();
    image
        .try_reserve_exact(size)
        .map_err(|_| Error::OutOfResources)?;
    image.resize(size, 0);
    for segment in &object.segments {
        let start = usize::try_from(segment.vaddr).map_err(|_| Error::InvalidCodeObject)?;
        let end = start
            .checked_add(segment.data.len())
            .ok_or(Error::InvalidCodeObject)?;
        let place = image.get_mut(start..end).ok_or(Error::InvalidCodeObject)?;
        place.copy_from_slice(segment.data);
    }
    Ok(image)
}

fn loaded_segment(segment: &elf::Segment<'_>) -> LoadedSegment {
    LoadedSegment {
        vaddr: segment.vaddr,
        memory_size: segment.memory_size,
        file_offset: segment.file_offset,
    }
}

/// The symbols that the program can ask for.
pub(super) fn exported(
    object: &CodeObject<'_>,
    image: &[u8],
    agent: u64,
    base: u64,
) -> Vec<Symbol> {
    let symbols = object
        .symbols
        .iter()
        .filter(|symbol| symbol.global && symbol.defined);
    let symbols = symbols.filter_map(|symbol| {
        Some(Symbol {
            name: symbol.name.clone(),
            agent: Some(agent),
            address: base + symbol.value,
            size: symbol.size,
            detail: symbol::classify(symbol, image)?,
        })
    });
    symbols.collect()
}

impl State {
    fn executable(&self, handle: u64) -> Result<&Executable> {
        let found = self.executables.get(ExecutableKey::decode(handle));
        found.ok_or(Error::InvalidExecutable)
    }

    fn unfrozen(&self, handle: u64) -> Result<()> {
        if self.executable(handle)?.info.frozen {
            Err(Error::FrozenExecutable)
        } else {
            Ok(())
        }
    }

    /// Refuses names that the executable has already.
    fn require_new(&self, executable: u64, symbols: &[Symbol]) -> Result<()> {
        let names = &self.executable(executable)?.names;
        let known = |s: &Symbol| names.contains_key(&(s.agent.unwrap_or(0), s.name.clone()));
        if symbols.iter().any(known) {
            Err(Error::VariableAlreadyDefined)
        } else {
            Ok(())
        }
    }

    fn add_symbol(&mut self, executable: u64, symbol: Symbol) -> Result<()> {
        self.executable(executable)?;
        let name = (symbol.agent.unwrap_or(0), symbol.name.clone());
        let key = self.symbols.insert(symbol);
        let executable = &mut self.executables[ExecutableKey::decode(executable)];
        executable.symbols.push(key);
        executable.names.insert(name, key);
        Ok(())
    }

    fn freeze(&mut self, executable: u64) -> Result<Vec<Copy>> {
        self.unfrozen(executable)?;
        let executable = &mut self.executables[ExecutableKey::decode(executable)];
        executable.info.frozen = true;
        let objects = executable.objects.iter().map(|key| &self.objects[*key]);
        Ok(objects
            .map(|object| Copy {
                dst: object.base,
                image: object.image.clone(),
            })
            .collect())
    }

    /// What the debugger's list says of each code object: id, load delta, URI.
    fn uris(&self, executable: u64) -> Result<Vec<(u64, u64, String)>> {
        let keys = self.executable(executable)?.objects.iter();
        let entry = |key: &ObjectKey| {
            let object = &self.objects[*key];
            (key.handle(), object.base, object.origin.uri())
        };
        Ok(keys.map(entry).collect())
    }

    /// Removes an executable with its symbols and answers the blocks to free.
    fn take_executable(&mut self, key: ExecutableKey) -> Result<Vec<(ObjectKey, LoadedObject)>> {
        let executable = self
            .executables
            .remove(key)
            .ok_or(Error::InvalidExecutable)?;
        for symbol in executable.symbols {
            self.symbols.remove(symbol);
        }
        let objects = executable.objects.into_iter();
        Ok(objects
            .filter_map(|key| Some((key, self.objects.remove(key)?)))
            .collect())
    }
}

impl LoadedObject {
    fn size(&self) -> u64 {
        self.image.len() as u64
    }

    fn covers(&self, device: u64) -> bool {
        device
            .checked_sub(self.base)
            .is_some_and(|offset| offset < self.size())
    }

    fn storage(&self) -> Storage {
        match self.origin.clone() {
            Origin::Memory { base, size } => Storage::Memory { base, size },
            Origin::File {
                fd,
                path,
                offset,
                size,
            } => Storage::File {
                fd,
                path,
                offset,
                size,
            },
        }
    }

    fn info(&self) -> LoadedCodeObject {
        LoadedCodeObject {
            executable: self.executable.handle(),
            agent: self.agent,
            storage: self.storage(),
            load_delta: self.base,
            load_base: self.base,
            load_size: self.size(),
            uri: self.origin.uri(),
        }
    }

    fn describe(&self) -> Vec<SegmentDescriptor> {
        let describe = |segment: &LoadedSegment| SegmentDescriptor {
            agent: self.agent,
            executable: self.executable.handle(),
            storage: self.storage(),
            storage_offset: segment.file_offset,
            base: self.base + segment.vaddr,
            size: segment.memory_size,
        };
        self.segments.iter().map(describe).collect()
    }
}
