//! Attributes of shared virtual memory (`hsa_amd_svm_attributes_*`).

use super::SvmAttribute;
use crate::Result;
use crate::agent::Agent;
use crate::error::{Error, driver};
use crate::runtime::Runtime;
use crate::signal::Signal;
use hsakmt::{HostPtr, NodeId, SvmAccess, SvmAttribute as Attribute, SvmFlags, SvmLocation};

/// `hsa_amd_svm_attribute_t` (hsa_ext_amd.h).
mod name {
    pub(super) const GLOBAL_FLAG: u64 = 0;
    pub(super) const READ_ONLY: u64 = 1;
    pub(super) const HIVE_LOCAL: u64 = 2;
    pub(super) const MIGRATION_GRANULARITY: u64 = 3;
    pub(super) const PREFERRED_LOCATION: u64 = 4;
    pub(super) const PREFETCH_LOCATION: u64 = 5;
    pub(super) const READ_MOSTLY: u64 = 6;
    pub(super) const GPU_EXEC: u64 = 7;
    pub(super) const AGENT_ACCESSIBLE: u64 = 0x200;
    pub(super) const AGENT_ACCESSIBLE_IN_PLACE: u64 = 0x201;
    pub(super) const AGENT_NO_ACCESS: u64 = 0x202;
    pub(super) const ACCESS_QUERY: u64 = 0x203;
}

/// `hsa_amd_svm_model_t`.
const FINE_GRAINED: u64 = 0;
const COARSE_GRAINED: u64 = 1;
const INDETERMINATE: u64 = 2;
/// Ranges are handled in pages.
const PAGE: u64 = 4096;

impl Runtime {
    /// Sets attributes of an SVM range; partial pages at its ends count as whole.
    ///
    /// # Errors
    /// `InvalidArgument` for a range or an attribute that cannot be set, `InvalidAgent`, `Generic` if
    /// the driver has no SVM.
    pub fn svm_attributes_set(
        &self,
        ptr: u64,
        size: u64,
        attributes: &[SvmAttribute],
    ) -> Result<()> {
        let (start, bytes) = page_range(ptr, size)?;
        let mut list = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            list.extend(self.to_driver(*attribute)?);
        }
        self.live()?
            .kfd
            .svm_set(start, bytes, &list)
            .map_err(driver("SVM"))
    }

    /// `None` for what needs no word to the driver: the host always has access.
    fn to_driver(&self, a: SvmAttribute) -> Result<Option<Attribute>> {
        let access = |kind| {
            self.gpu_node(a.value)
                .map(|node| node.map(|n| Attribute::Access(n, kind)))
        };
        let switch = |flag, on| {
            if on {
                Attribute::SetFlags(flag)
            } else {
                Attribute::ClearFlags(flag)
            }
        };
        Ok(Some(match a.attribute {
            name::GLOBAL_FLAG => match a.value {
                FINE_GRAINED => Attribute::SetFlags(SvmFlags::COHERENT),
                COARSE_GRAINED => Attribute::ClearFlags(SvmFlags::COHERENT),
                _ => return Err(Error::InvalidArgument),
            },
            name::READ_ONLY => switch(SvmFlags::GPU_RO, a.value != 0),
            name::HIVE_LOCAL => switch(SvmFlags::HIVE_LOCAL, a.value != 0),
            name::READ_MOSTLY => switch(SvmFlags::GPU_READ_MOSTLY, a.value != 0),
            name::GPU_EXEC => switch(SvmFlags::GPU_EXEC, a.value != 0),
            name::MIGRATION_GRANULARITY => {
                // The driver's unit is log2 of pages; hsa_ext_amd.h gives the same.
                Attribute::Granularity(u32::try_from(a.value.min(63)).unwrap_or(63))
            }
            name::PREFERRED_LOCATION => Attribute::PreferredLocation(self.location(a.value)?),
            name::AGENT_ACCESSIBLE => return access(SvmAccess::Migrate),
            name::AGENT_ACCESSIBLE_IN_PLACE => return access(SvmAccess::InPlace),
            name::AGENT_NO_ACCESS => return access(SvmAccess::None),
            _ => return Err(Error::InvalidArgument),
        }))
    }

    fn location(&self, handle: u64) -> Result<SvmLocation> {
        if handle == 0 {
            return Ok(SvmLocation::Undefined);
        }
        let agent = self.agent(handle)?;
        Ok(if agent.is_gpu() {
            SvmLocation::Node(agent.node_id())
        } else {
            SvmLocation::System
        })
    }

    /// The node of a GPU; `None` for a CPU.
    fn gpu_node(&self, handle: u64) -> Result<Option<NodeId>> {
        let agent = self.agent(handle)?;
        Ok(agent.is_gpu().then(|| agent.node_id()))
    }

    fn location_handle(&self, location: SvmLocation) -> u64 {
        let find = |f: &dyn Fn(&Agent) -> bool| {
            self.agents().iter().find(|a| f(a)).map_or(0, Agent::handle)
        };
        match location {
            SvmLocation::Undefined => 0,
            SvmLocation::System => find(&|a| !a.is_gpu()),
            SvmLocation::Node(node) => find(&|a| a.is_gpu() && a.node_id() == node),
        }
    }

    /// Reads attributes of an SVM range into `attributes[..].value`; an access query is answered by
    /// changing its attribute to the access that the agent has.
    ///
    /// # Errors
    /// As [`Runtime::svm_attributes_set`].
    pub fn svm_attributes_get(
        &self,
        ptr: u64,
        size: u64,
        attributes: &mut [SvmAttribute],
    ) -> Result<()> {
        let (start, bytes) = page_range(ptr, size)?;
        let live = self.live()?;
        for attribute in attributes {
            let mut query = self.to_query(*attribute)?;
            if !query.is_empty() {
                live.kfd
                    .svm_get(start, bytes, &mut query)
                    .map_err(driver("SVM"))?;
            }
            *attribute = self.answer(*attribute, &query)?;
        }
        Ok(())
    }

    fn to_query(&self, a: SvmAttribute) -> Result<Vec<Attribute>> {
        let flags = || {
            vec![
                Attribute::SetFlags(SvmFlags::empty()),
                Attribute::ClearFlags(SvmFlags::empty()),
            ]
        };
        Ok(match a.attribute {
            name::GLOBAL_FLAG
            | name::READ_ONLY
            | name::HIVE_LOCAL
            | name::READ_MOSTLY
            | name::GPU_EXEC => flags(),
            name::MIGRATION_GRANULARITY => vec![Attribute::Granularity(0)],
            name::PREFERRED_LOCATION => vec![Attribute::PreferredLocation(SvmLocation::Undefined)],
            name::PREFETCH_LOCATION => vec![Attribute::PrefetchLocation(SvmLocation::Undefined)],
            name::ACCESS_QUERY => self
                .gpu_node(a.value)?
                .map(|node| Attribute::Access(node, SvmAccess::None))
                .into_iter()
                .collect(),
            _ => return Err(Error::InvalidArgument),
        })
    }

    fn answer(&self, asked: SvmAttribute, query: &[Attribute]) -> Result<SvmAttribute> {
        let value = match (asked.attribute, query) {
            (name::GLOBAL_FLAG, _) => match flag_state(query, SvmFlags::COHERENT) {
                Some(true) => FINE_GRAINED,
                Some(false) => COARSE_GRAINED,
                None => INDETERMINATE,
            },
            (name::READ_ONLY, _) => u64::from(flag_state(query, SvmFlags::GPU_RO) == Some(true)),
            (name::HIVE_LOCAL, _) => {
                u64::from(flag_state(query, SvmFlags::HIVE_LOCAL) == Some(true))
            }
            (name::READ_MOSTLY, _) => {
                u64::from(flag_state(query, SvmFlags::GPU_READ_MOSTLY) == Some(true))
            }
            (name::GPU_EXEC, _) => u64::from(flag_state(query, SvmFlags::GPU_EXEC) == Some(true)),
            (_, [Attribute::Granularity(g)]) => u64::from(*g),
            (_, [Attribute::PreferredLocation(l) | Attribute::PrefetchLocation(l)]) => {
                self.location_handle(*l)
            }
            (_, [Attribute::Access(_, access)]) => {
                let attribute = match access {
                    SvmAccess::None => name::AGENT_NO_ACCESS,
                    SvmAccess::Migrate => name::AGENT_ACCESSIBLE,
                    SvmAccess::InPlace => name::AGENT_ACCESSIBLE_IN_PLACE,
                };
                return Ok(SvmAttribute {
                    attribute,
                    value: asked.value,
                });
            }
            // Only an access query of a CPU asks the driver nothing.
            (_, []) => {
                return Ok(SvmAttribute {
                    attribute: name::AGENT_ACCESSIBLE_IN_PLACE,
                    value: asked.value,
                });
            }
            _ => return Err(Error::Generic),
        };
        Ok(SvmAttribute {
            attribute: asked.attribute,
            value,
        })
    }

    /// Moves an SVM range to `agent` once `deps` are 0, then decrements `completion`.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty range; what the driver refuses later is logged and completes
    /// the signal all the same, since a prefetch is a hint.
    pub fn svm_prefetch(
        &self,
        ptr: u64,
        size: u64,
        agent: &Agent,
        deps: &[Signal],
        completion: Option<Signal>,
    ) -> Result<()> {
        let (start, bytes) = page_range(ptr, size)?;
        let location = self.location(agent.handle())?;
        let live = self.live()?;
        let kfd = std::sync::Arc::clone(&live.kfd);
        let work = move || {
            if let Err(error) = kfd.svm_set(start, bytes, &[Attribute::PrefetchLocation(location)])
            {
                tracing::debug!(%error, "prefetch was refused");
            }
        };
        live.copies.on_host(&live, deps, completion, Box::new(work))
    }
}

/// Whether a flag is set on all pages, on none, or neither.
fn flag_state(query: &[Attribute], flag: SvmFlags) -> Option<bool> {
    query.iter().find_map(|a| match a {
        Attribute::SetFlags(set) if set.contains(flag) => Some(true),
        Attribute::ClearFlags(clear) if clear.contains(flag) => Some(false),
        _ => None,
    })
}

/// Whole pages around a range.
fn page_range(ptr: u64, size: u64) -> Result<(HostPtr, u64)> {
    let end = ptr
        .checked_add(size)
        .filter(|_| size != 0 && ptr != 0)
        .ok_or(Error::InvalidArgument)?;
    let start = ptr / PAGE * PAGE;
    let address = usize::try_from(start).map_err(|_| Error::InvalidArgument)?;
    Ok((
        HostPtr::from_addr(address),
        end.next_multiple_of(PAGE) - start,
    ))
}
