//! Translated straight-line code and its cache.
//!
//! A block is keyed by address and by all that translation depends on. It keeps the bytes it was
//! made from; before it runs for the first time in a dispatch these are compared with memory, so
//! that code loaded to the same address later is never mistaken for it. The comparison also is the
//! check of the execute right.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::api::Stop;
use crate::memory::Port;
use crate::poll;
use crate::step::{Step, TranslateEnv};
use crate::translate::{self, Translated};
use crate::valu::fuse;

/// Instructions of a block at most.
const MAX_INSTRUCTIONS: u32 = 256;
/// The longest instruction: MIMG with three address dwords and more.
const MAX_INSTRUCTION_BYTES: usize = 20;
/// Blocks kept; more than any program's hot code.
const MAX_BLOCKS: usize = 1 << 16;
/// No successor known.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// A number no block has been checked under yet.
pub(crate) fn next_epoch() -> u64 {
    static EPOCH: AtomicU64 = AtomicU64::new(1);
    // ORDERING: only uniqueness counts.
    EPOCH.fetch_add(1, Ordering::Relaxed)
}

/// Straight code from one address.
pub(crate) struct Block {
    pub(crate) pc: u64,
    /// Address after the last instruction.
    pub(crate) end: u64,
    pub(crate) steps: Vec<Step>,
    /// Instructions, including those without a step.
    pub(crate) instructions: u32,
    /// What they are charged to the turn of a wave, see [`crate::poll`].
    pub(crate) cost: u32,
    bytes: Vec<u8>,
}

/// What a block belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) pc: u64,
    pub(crate) env: TranslateEnv,
}

/// Multiplicative hashing: keys are few words and not chosen by an adversary who gains from it.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value.cast_unsigned() as u64);
    }
}

type Map<V> = HashMap<Key, V, BuildHasherDefault<KeyHasher>>;

/// Blocks that all workers share.
#[derive(Default)]
pub(crate) struct SharedBlocks(RwLock<Map<Arc<Block>>>);

/// One worker's blocks with their links.
#[derive(Default)]
pub(crate) struct BlockTable {
    map: Map<u32>,
    pub(crate) entries: Vec<Entry>,
}

/// A block in a worker's table.
pub(crate) struct Entry {
    pub(crate) block: Arc<Block>,
    key: Key,
    /// Dispatch under which the bytes were compared last.
    pub(crate) epoch: u64,
    /// Entry that followed last time when execution fell through.
    pub(crate) next: u32,
    /// Entry that followed last time after a branch.
    pub(crate) taken: u32,
}

impl BlockTable {
    /// The entry for a key, checked against memory under `epoch`.
    pub(crate) fn find(
        &mut self,
        key: &Key,
        epoch: u64,
        port: &mut Port<'_>,
        shared: &SharedBlocks,
    ) -> Result<u32, Stop> {
        if let Some(&index) = self.map.get(key) {
            self.check(index, epoch, port, shared)?;
            return Ok(index);
        }
        let block = obtain(key, port, shared)?;
        Ok(self.insert(*key, block, epoch))
    }

    /// Compares an entry with memory unless that was done under `epoch`.
    #[inline]
    pub(crate) fn check(
        &mut self,
        index: u32,
        epoch: u64,
        port: &mut Port<'_>,
        shared: &SharedBlocks,
    ) -> Result<(), Stop> {
        let entry = &mut self.entries[index as usize];
        if entry.epoch == epoch {
            return Ok(());
        }
        if !unchanged(&entry.block, port)? {
            entry.block = obtain(&entry.key, port, shared)?;
            entry.next = UNKNOWN;
            entry.taken = UNKNOWN;
        }
        entry.epoch = epoch;
        Ok(())
    }

    /// The same environment at another address, or another environment: does entry `index` fit?
    #[inline(always)]
    pub(crate) fn fits(&self, index: u32, pc: u64, mode: u32) -> bool {
        self.entries
            .get(index as usize)
            .is_some_and(|entry| entry.key.pc == pc && entry.key.env.mode == mode)
    }

    fn insert(&mut self, key: Key, block: Arc<Block>, epoch: u64) -> u32 {
        if self.entries.len() >= MAX_BLOCKS {
            self.map.clear();
            self.entries.clear();
        }
        // PANIC: bounded by MAX_BLOCKS.
        let index = u32::try_from(self.entries.len()).unwrap_or(UNKNOWN);
        self.entries.push(Entry {
            block,
            key,
            epoch,
            next: UNKNOWN,
            taken: UNKNOWN,
        });
        self.map.insert(key, index);
        index
    }
}

fn unchanged(block: &Block, port: &mut Port<'_>) -> Result<bool, Stop> {
    port.matches(block.pc, &block.bytes)
        .map_err(Stop::MemoryFault)
}

/// A block that agrees with memory: another worker's or a new one.
fn obtain(key: &Key, port: &mut Port<'_>, shared: &SharedBlocks) -> Result<Arc<Block>, Stop> {
    let known = shared.0.read().get(key).cloned();
    if let Some(block) = known
        && unchanged(&block, port)?
    {
        return Ok(block);
    }
    let block = Arc::new(build(key, port)?);
    let mut blocks = shared.0.write();
    if blocks.len() >= MAX_BLOCKS {
        blocks.clear();
    }
    blocks.insert(*key, Arc::clone(&block));
    Ok(block)
}

/// Translates from `key.pc` up to a branch. Code that cannot run ends the block before it, so that
/// it is reported only when it is reached.
fn build(key: &Key, port: &mut Port<'_>) -> Result<Block, Stop> {
    let mut block = Block {
        pc: key.pc,
        end: key.pc,
        steps: Vec::new(),
        instructions: 0,
        cost: 0,
        bytes: Vec::new(),
    };
    while block.instructions < MAX_INSTRUCTIONS {
        match append(&mut block, key, port) {
            Ok(true) => {}
            Ok(false) => break,
            Err(stop) if block.instructions == 0 => return Err(stop),
            Err(_) => break,
        }
    }
    block.steps.shrink_to_fit();
    Ok(block)
}

/// Adds one instruction; false if it ends the block.
fn append(block: &mut Block, key: &Key, port: &mut Port<'_>) -> Result<bool, Stop> {
    let pc = block.end;
    let mut bytes = [0; MAX_INSTRUCTION_BYTES];
    let available = port.fetch(pc, &mut bytes).map_err(Stop::MemoryFault)?;
    let bytes = &bytes[..available];
    let inst = translate::decode(key.env.target, bytes)?;
    let size = usize::from(inst.size_bytes);
    let more = match translate::translate(&inst, pc, &key.env)? {
        Translated::Nothing => true,
        Translated::Steps(steps, more) => {
            block.steps.extend(steps);
            fuse(&mut block.steps, &key.env);
            more
        }
    };
    block.bytes.extend(&bytes[..size]);
    block.end = pc + size as u64;
    block.instructions += 1;
    block.cost += poll::cost(&inst);
    Ok(more)
}

/// Joins the last two steps if one step can do both.
fn fuse(steps: &mut Vec<Step>, env: &TranslateEnv) {
    if let [.., first, second] = &steps[..]
        && let Some(both) = fuse::pair(first, second, env)
    {
        steps.truncate(steps.len() - 2);
        steps.push(both);
    }
}
