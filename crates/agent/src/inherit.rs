//! Decides which maps a new tagger takes over from the installed one: those with the same layout,
//! so that counters and the state of flows continue. Other maps are created beside the old ones.
//! The old maps keep their pins until the last step that can fail has succeeded.

use std::fs;
use std::path::PathBuf;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::bpf::LAYOUT;
use crate::error::AgentError;
use crate::pins::Places;
use crate::{batch, log, map};

/// A map that this agent needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) name: &'static str,
    pub(crate) key_size: u32,
    pub(crate) value_size: u32,
    pub(crate) max_entries: u32,
}

/// Maps that cannot be taken over as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inheritance {
    fresh: Vec<&'static str>,
    /// Whether the map of flows differs only in its size.
    has_flows_to_copy: bool,
}

impl Inheritance {
    /// Examines the installed maps, and logs which are not taken over.
    pub(crate) fn find(places: &Places, wanted: &[Wanted]) -> Inheritance {
        let layout = places
            .open_map(map::SETTINGS)
            .and_then(|map| map::read_settings(&map))
            .map_or(0, |settings| settings.layout.0);
        let pinned = |one: &Wanted| places.open_map(one.name).ok();
        let has_other_sizes = |one: &Wanted| {
            pinned(one).is_some_and(|there| {
                (there.key_size(), there.value_size()) != (one.key_size, one.value_size)
            })
        };
        if (layout != 0 && layout != LAYOUT.0) || wanted.iter().any(has_other_sizes) {
            log::warn(format_args!(
                "the installed tagger is of another version: its maps have layout {layout}, this \
                 agent's have {}. Counters start again. Open connections keep their level; all \
                 other flows start again.",
                LAYOUT.0
            ));
            let there = wanted.iter().filter(|one| pinned(one).is_some());
            return Inheritance {
                fresh: there.map(|one| one.name).collect(),
                has_flows_to_copy: false,
            };
        }
        let resized = wanted.iter().filter_map(|one| Some((one, pinned(one)?.max_entries())));
        let resized: Vec<_> = resized.filter(|(one, there)| one.max_entries != *there).collect();
        for (one, there) in &resized {
            log::info(format_args!(
                "map {}: room for {} entries now, {there} before",
                one.name, one.max_entries
            ));
        }
        Inheritance {
            has_flows_to_copy: resized.iter().any(|(one, _)| one.name == map::FLOWS),
            fresh: resized.into_iter().map(|(one, _)| one.name).collect(),
        }
    }

    /// The path where the map called `name` is pinned while it is loaded. Removes the leftovers of
    /// an earlier start there.
    pub(crate) fn pin(&self, places: &Places, name: &'static str) -> PathBuf {
        if !self.fresh.contains(&name) {
            return places.map(name);
        }
        let path = fresh_pin(places, name);
        let _ = fs::remove_file(&path);
        path
    }

    /// Copies the flows of the old map once the new one is loaded, if the maps differ only in their
    /// size.
    pub(crate) fn copy_flows(&self, places: &Places, new: &impl MapCore) -> Result<(), AgentError> {
        if !self.has_flows_to_copy {
            return Ok(());
        }
        let old: MapHandle = places.open_map(map::FLOWS)?;
        batch::for_each(&old, |key, state| {
            // A flow without room begins anew.
            let _ = new.update(key, state, MapFlags::ANY);
        })
        .map_err(|e| AgentError::kernel("copy the flows", e))
    }

    /// Replaces the old maps' pins by those of the new maps, and removes links that earlier
    /// versions pinned under other names. Returns whether there were new maps.
    pub(crate) fn take_over(&self, places: &Places) -> Result<bool, AgentError> {
        for name in &self.fresh {
            let path = places.map(name);
            fs::rename(fresh_pin(places, name), &path).map_err(|e| AgentError::file(path, e))?;
        }
        places.remove_old_links()?;
        Ok(!self.fresh.is_empty())
    }

    /// Removes the pins of the new maps after a failed start.
    pub(crate) fn give_up(places: &Places) {
        for name in map::ALL {
            let _ = fs::remove_file(fresh_pin(places, name));
        }
    }
}

fn fresh_pin(places: &Places, name: &str) -> PathBuf {
    places.map(&format!("new_{name}"))
}
