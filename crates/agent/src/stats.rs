//! The tagger's counters, read from the pinned maps for `status`, `top`, `thresholds` and the metrics.

use std::os::fd::AsFd;
use std::path::Path;

use libbpf_rs::{MapCore, MapFlags, MapHandle, Program};

use crate::bpf::types::left_alone;
use crate::bpf::{LEVELS, Shared, types};
use crate::entry::Entry;
use crate::error::AgentError;
use crate::histogram::{BUCKETS, Histogram};
use crate::pins::Places;
use crate::sys::{self, ProgramFacts};
use crate::{batch, map};

/// All counters at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) counters: types::counters,
    pub(crate) agent: types::agent_counters,
    pub(crate) levels: usize,
    pub(crate) code_points: [u8; LEVELS],
    pub(crate) thresholds: [u64; LEVELS],
    /// The number of flows that are known by their 5-tuple now, and the most that there may be.
    pub(crate) flows: u64,
    pub(crate) max_flows: u32,
    pub(crate) programs: ProgramFacts,
}

impl Snapshot {
    /// Reads all counters.
    ///
    /// # Errors
    /// If no tagger is installed, or its maps may not be read.
    pub(crate) fn read(places: &Places) -> Result<Snapshot, AgentError> {
        let settings = map::read_settings(&places.open_map(map::SETTINGS)?)?;
        let rule = settings.rules[settings.active as usize % settings.rules.len()];
        let flows = places.open_map(map::FLOWS)?;
        Ok(Snapshot {
            counters: counters(places)?,
            agent: agent_counters(places)?,
            levels: 1 + rule.thresholds.iter().filter(|bytes| **bytes != u64::MAX).count(),
            code_points: rule.dscp,
            thresholds: rule.thresholds,
            flows: live_flows(&flows)?,
            max_flows: flows.max_entries(),
            programs: programs(places)?,
        })
    }

    /// Flows that were removed to make room for others.
    pub(crate) fn evicted(&self) -> u64 {
        let gone = self.counters.flows_closed + self.agent.flows_swept + self.flows;
        self.counters.flows_hash.saturating_sub(gone)
    }

    /// The number of tagged packets.
    pub(crate) fn tagged(&self) -> u64 {
        self.counters.levels.iter().map(|level| level.packets).sum()
    }
}

/// The kinds of packets that are left alone: their place in the counters, their name in the metrics, and
/// a description.
pub(crate) const LEFT_ALONE: [(left_alone, &str, &str); left_alone::FS_LEFT_KINDS.0 as usize] = [
    (left_alone::FS_NOT_IP, "not_ip", "neither TCP nor UDP over IP"),
    (left_alone::FS_UNCLEAR, "unclear", "truncated, malformed or with unknown headers"),
    (left_alone::FS_NOT_SELECTED, "not_selected", "not selected by the configuration"),
    (left_alone::FS_RESPECTED, "respected", "with a DSCP of their own"),
    (left_alone::FS_NO_STATE, "no_state", "no memory for the flow's state"),
    (left_alone::FS_NOT_WRITTEN, "not_written", "the header could not be written"),
];

pub(crate) fn counters(places: &Places) -> Result<types::counters, AgentError> {
    let map = places.open_map(map::COUNTERS)?;
    let cores = map
        .lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)
        .map_err(|e| AgentError::kernel("read the counters", e))?
        .unwrap_or_default();
    let mut sum = types::counters::default();
    for core in cores.iter().map(|bytes| types::counters::from_bytes(bytes)) {
        for (sum, core) in sum.levels.iter_mut().zip(core.levels) {
            sum.packets += core.packets;
            sum.payload_bytes += core.payload_bytes;
            sum.wire_bytes += core.wire_bytes;
            sum.wire_packets += core.wire_packets;
        }
        for (sum, core) in sum.left_alone.iter_mut().zip(core.left_alone) {
            *sum += core;
        }
        for (sum, core) in sum.seen.iter_mut().zip(core.seen) {
            sum.packets += core.packets;
            sum.wire_packets += core.wire_packets;
            sum.wire_bytes += core.wire_bytes;
        }
        sum.messages_idle += core.messages_idle;
        sum.messages_application += core.messages_application;
        sum.starved += core.starved;
        sum.flows_socket += core.flows_socket;
        sum.flows_hash += core.flows_hash;
        sum.flows_closed += core.flows_closed;
        sum.ect_forced += core.ect_forced;
    }
    Ok(sum)
}

fn agent_counters(places: &Places) -> Result<types::agent_counters, AgentError> {
    let map = places.open_map(map::AGENT)?;
    let bytes = map
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .map_err(|e| AgentError::kernel("read the agent's counters", e))?;
    Ok(types::agent_counters::from_bytes(&bytes.unwrap_or_default()))
}

/// Changes the agent's own counters. Only the agent that holds the lock may call this.
pub(crate) fn count(
    places: &Places,
    add: impl FnOnce(&mut types::agent_counters),
) -> Result<(), AgentError> {
    let mut counters = agent_counters(places)?;
    add(&mut counters);
    places
        .open_map(map::AGENT)?
        .update(&0u32.to_ne_bytes(), counters.bytes(), MapFlags::ANY)
        .map_err(|e| AgentError::kernel("write the agent's counters", e))
}

fn live_flows(flows: &MapHandle) -> Result<u64, AgentError> {
    let mut count = 0;
    batch::for_each(flows, |_, _| count += 1)
        .map_err(|e| AgentError::kernel("count the flows", e))?;
    Ok(count)
}

/// The sum of both programs' facts.
///
/// # Errors
/// If a program's pin is missing, or may not be read: 0 would look like a program that never ran.
fn programs(places: &Places) -> Result<ProgramFacts, AgentError> {
    let mut sum = ProgramFacts::default();
    for entry in Entry::TAGGERS {
        let facts = facts_of(&places.program(entry.name()))?;
        sum.runs += facts.runs;
        sum.run_time_ns += facts.run_time_ns;
        sum.verified_instructions = sum.verified_instructions.max(facts.verified_instructions);
    }
    Ok(sum)
}

fn facts_of(pin: &Path) -> Result<ProgramFacts, AgentError> {
    let failed = |reason: &dyn std::fmt::Display| {
        let advice = "`flowsched agent start` pins the program anew";
        AgentError::kernel(
            format!("read the program at {}", pin.display()),
            format!("{reason}; {advice}"),
        )
    };
    let program = Program::fd_from_pinned_path(pin).map_err(|e| failed(&e))?;
    sys::program_facts(program.as_fd()).map_err(|e| failed(&e))
}

/// The sizes of all messages that have ended.
pub(crate) fn histogram(places: &Places) -> Result<Histogram, AgentError> {
    let map = places.open_map(map::HISTOGRAM)?;
    let mut counts = vec![0; BUCKETS];
    batch::for_each(&map, |key, value| counts[index(key) % BUCKETS] += number(value))
        .map_err(|e| AgentError::kernel("read the histogram", e))?;
    Ok(Histogram::new(counts))
}

/// Removes the flows that have been idle for at least `idle_ns` from the map, and adds the sizes of
/// their last messages to the histogram. Returns the number of removed flows.
pub(crate) fn sweep(places: &Places, now_ns: u64, idle_ns: u64) -> Result<u64, AgentError> {
    let flows = places.open_map(map::FLOWS)?;
    let histogram = places.open_map(map::HISTOGRAM)?;
    let mut swept = 0;
    let mut idle: Vec<Vec<u8>> = Vec::new();
    batch::for_each(&flows, |key, state| {
        let state = types::flow_state::from_bytes(state);
        if now_ns.saturating_sub(state.last_sent.max(state.last_heard)) >= idle_ns {
            idle.push(key.to_vec());
        }
    })
    .map_err(|e| AgentError::kernel("read the flows", e))?;
    for key in idle {
        let Ok(Some(state)) = flows.lookup_and_delete(&key) else { continue };
        let state = types::flow_state::from_bytes(&state);
        swept += 1;
        let size = state.next_offset.saturating_sub(state.size_from);
        if state.ended == 0 && size > 0 {
            // The agent has a half of the map of its own, where nobody else writes.
            let bucket = (BUCKETS + crate::histogram::bucket_of(size)) as u32;
            let count = histogram.lookup(&bucket.to_ne_bytes(), MapFlags::ANY);
            let count = count.ok().flatten().map_or(0, |bytes| number(&bytes)) + 1;
            let _ = histogram.update(&bucket.to_ne_bytes(), &count.to_ne_bytes(), MapFlags::ANY);
        }
    }
    if swept > 0 {
        count(places, |counters| counters.flows_swept += swept)?;
    }
    Ok(swept)
}

fn index(key: &[u8]) -> usize {
    key.try_into().map_or(0, |key| u32::from_ne_bytes(key) as usize)
}

fn number(value: &[u8]) -> u64 {
    value.try_into().map_or(0, u64::from_ne_bytes)
}
