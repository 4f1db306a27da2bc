//! The tagger's maps: their names, which are also those of their pins, and the reading of the
//! settings.

use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Shared, types};
use crate::error::AgentError;

pub(crate) const SETTINGS: &str = "settings";
pub(crate) const COUNTERS: &str = "counters_of_cpu";
pub(crate) const HISTOGRAM: &str = "histogram";
pub(crate) const SOCKETS: &str = "sockets";
pub(crate) const FLOWS: &str = "flows";
pub(crate) const PREFIXES: &str = "prefixes";
pub(crate) const CGROUPS: &str = "cgroups";
pub(crate) const AGENT: &str = "agent_counters";
pub(crate) const WRITERS: &str = "writers";

/// All maps. Other files among the pins are not taken for maps.
pub(crate) const ALL: [&str; 9] =
    [SETTINGS, COUNTERS, HISTOGRAM, SOCKETS, FLOWS, PREFIXES, CGROUPS, AGENT, WRITERS];

/// The kernel's name of the map that is pinned under `pin`.
pub(crate) fn kernel_name(pin: &str) -> &str {
    if pin == SETTINGS { ".data.settings" } else { pin }
}

/// Reads the content of the map [`SETTINGS`].
pub(crate) fn read_settings(map: &impl MapCore) -> Result<types::settings, AgentError> {
    let bytes = map
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .map_err(|e| AgentError::kernel("read the rule", e))?;
    Ok(types::settings::from_bytes(&bytes.unwrap_or_default()))
}
