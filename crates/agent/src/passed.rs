//! Whether all packets of an interface pass the tagger: compares the tagger's count with the
//! interface's. If another program on the hook keeps packets from the tagger, they leave untagged,
//! and only this comparison shows it.

use std::fmt;
use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use crate::attach::{self, Hook};
use crate::bpf::types;
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
use crate::stats;

/// What records of the counts at the beginning are called.
pub(crate) const RECORD: &str = "seen_";
/// So many missed packets are normal: some were queued when the tagger was attached, others are under
/// way while the counts are read.
const FEW: u64 = 64;
/// One missed packet in so many is normal, too.
const SELDOM: u64 = 100;

/// Both counts when the tagger was put on an interface.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
struct Counts {
    /// Packets that the interface has sent.
    sent: u64,
    /// Wire packets that have passed the tagger on the interface, or on one that shares its counter.
    seen: u64,
}

/// An interface that is tagged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) interface: Interface,
    pub(crate) hook: Hook,
    /// Packets that the interface has sent since the tagger is on it.
    pub(crate) sent: u64,
    /// Those of them that passed the tagger: no more than were sent.
    pub(crate) seen: u64,
    /// Programs that run before the tagger.
    pub(crate) before: Vec<String>,
}

impl Passed {
    /// How many packets have left without passing the tagger.
    pub(crate) fn missed(&self) -> u64 {
        self.sent - self.seen
    }

    /// Whether so many that something keeps packets from the tagger.
    pub(crate) fn is_bypassed(&self) -> bool {
        self.missed() > FEW && self.missed() > self.sent / SELDOM
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passed { interface, hook, sent, seen, before } = self;
        write!(f, "{} by {hook}: {seen} of {sent} packets passed the tagger", interface.name)?;
        if self.is_bypassed() {
            write!(f, "; WARNING: {} left without a tag", self.missed())?;
        }
        if !before.is_empty() {
            write!(f, "; before the tagger: {}", before.join(", "))?;
        }
        Ok(())
    }
}

/// Notes both counts: the tagger was put on the interface just now.
pub(crate) fn begin(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    let seen = stats::counters(places)?.seen[slot(interface)];
    let sent = interfaces::sent_packets(&interface.name).unwrap_or(0);
    let text = serde_json::to_string(&Counts { sent, seen }).unwrap_or_default();
    places.write_record(&record(interface.index), &text)
}

/// The tagger is off the interface.
pub(crate) fn end(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    let path = places.record(&record(interface.index));
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(AgentError::file(path, error)),
        _ => Ok(()),
    }
}

fn record(index: u32) -> String {
    format!("{RECORD}{index}")
}

/// All tagged interfaces.
///
/// # Errors
/// If no tagger is installed, or its counters may not be read.
pub(crate) fn all(places: &Places) -> Result<Vec<Passed>, AgentError> {
    let attached = attach::attached(places);
    // First what was sent: a packet passes the tagger before the interface counts it.
    let sent: Vec<(Interface, u64)> = attached
        .iter()
        .map(|(interface, _)| (interface.clone(), sent_since(places, interface)))
        .collect();
    let counters = stats::counters(places)?;
    let mut found: Vec<Passed> = attached
        .iter()
        .map(|(interface, hook)| {
            let (sent, seen) = seen_of(places, interface, &sent, &counters);
            Passed {
                interface: interface.clone(),
                hook: *hook,
                sent,
                seen,
                before: attach::before(places, interface, *hook),
            }
        })
        .collect();
    found.sort_by(|one, other| one.interface.name.cmp(&other.interface.name));
    Ok(found)
}

/// Packets that the interface has sent since the tagger is on it.
fn sent_since(places: &Places, interface: &Interface) -> u64 {
    let before = recorded(places, interface.index).sent;
    interfaces::sent_packets(&interface.name).unwrap_or(0).saturating_sub(before)
}

/// Packets that the interface has sent, and how many of them passed the tagger. Interfaces that share a
/// counter have the same difference, that of all of them together.
fn seen_of(
    places: &Places,
    interface: &Interface,
    sent: &[(Interface, u64)],
    counters: &types::counters,
) -> (u64, u64) {
    let sharing = || sent.iter().filter(|(other, _)| slot(other) == slot(interface));
    let first_seen = sharing().map(|(other, _)| recorded(places, other.index).seen).min();
    let seen = counters.seen[slot(interface)].saturating_sub(first_seen.unwrap_or(0));
    let missed = sharing().map(|(_, sent)| sent).sum::<u64>().saturating_sub(seen);
    let here = sent.iter().find(|(other, _)| other == interface).map_or(0, |(_, sent)| *sent);
    (here, here.saturating_sub(missed))
}

fn recorded(places: &Places, index: u32) -> Counts {
    let text = places.read_record(&record(index)).ok().flatten().unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn slot(interface: &Interface) -> usize {
    interface.index as usize % types::counters::default().seen.len()
}
