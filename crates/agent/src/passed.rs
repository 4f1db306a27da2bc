//! Whether all packets of an interface pass the tagger: compares the tagger's count with the
//! interface's. If another program on the hook keeps packets from the tagger, they leave untagged,
//! and only this comparison shows it.
//!
//! The metrics show what has passed since the tagger was attached. Warnings are about the recent past, so
//! that they appear soon after their cause, and disappear with it.

use std::fmt;
use std::io::ErrorKind;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::attach::{self, Hook};
use crate::bpf::types;
use crate::error::AgentError;
use crate::interfaces::{self, Interface, Sent};
use crate::pins::Places;
use crate::stats;

/// The prefix of records of counts.
pub(crate) const RECORD: &str = "seen_";
/// This many missed packets are normal: some were queued when the tagger was attached, and others are
/// under way while the counts are read.
const FEW: u64 = 64;
/// One missed packet in this many is also normal.
const SELDOM: u64 = 100;
/// How often the agent moves the start of the recent past, which is therefore up to twice as long.
pub(crate) const RECENT: Duration = Duration::from_secs(60);

/// The counts of an interface and its tagger, at one time or between two.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(default)]
struct Counts {
    /// Packets that the interface has sent.
    sent: u64,
    sent_bytes: u64,
    /// Packets that have passed the tagger on the interface, or on another one that shares its counter. A
    /// super-packet counts as one.
    packets: u64,
    /// The same packets, with the segments of super-packets counted one by one.
    wire_packets: u64,
    wire_bytes: u64,
}

impl Counts {
    fn new(sent: Sent, seen: types::seen_counters) -> Counts {
        Counts {
            sent: sent.packets,
            sent_bytes: sent.bytes,
            packets: seen.packets,
            wire_packets: seen.wire_packets,
            wire_bytes: seen.wire_bytes,
        }
    }

    fn each(self, other: Counts, with: impl Fn(u64, u64) -> u64) -> Counts {
        Counts {
            sent: with(self.sent, other.sent),
            sent_bytes: with(self.sent_bytes, other.sent_bytes),
            packets: with(self.packets, other.packets),
            wire_packets: with(self.wire_packets, other.wire_packets),
            wire_bytes: with(self.wire_bytes, other.wire_bytes),
        }
    }

    /// Whether the interface counts a super-packet as one packet, as virtual interfaces do. Such an
    /// interface has sent far fewer packets than passed the tagger on the wire, but hardly fewer bytes.
    /// (Packets that a queue behind the tagger drops are missing from both counts.)
    fn has_whole_super_packets(&self) -> bool {
        let lack = |sent: u64, seen: u64| 1.0 - sent as f64 / seen.max(1) as f64;
        let bytes = lack(self.sent_bytes, self.wire_bytes).max(0.0);
        lack(self.sent, self.wire_packets) > 0.1 + 2.0 * bytes
    }

    /// The packets that have passed the tagger, as the interface counts them. If it is unclear how it
    /// counts, the larger number.
    fn seen(&self) -> u64 {
        if self.has_whole_super_packets() { self.packets } else { self.wire_packets }
    }

    /// A lower bound for the number of packets that left without passing the tagger.
    fn missed(&self) -> u64 {
        self.sent.saturating_sub(self.seen())
    }
}

/// The counts at some time.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(default)]
struct Mark {
    counts: Counts,
    /// Packets that had passed since the tagger was attached.
    passed: u64,
}

/// The record of an interface.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(default)]
struct Record {
    /// Packets that the interface had sent when the tagger was attached.
    sent: u64,
    /// The start of the recent past.
    recent: Mark,
    /// The start of the recent past after its next move.
    next: Mark,
    /// The highest number of passed packets that was reported. The reported number never falls.
    most: u64,
}

impl Record {
    /// The record at `mark`, when the tagger was attached or its agent was started.
    fn new(sent: u64, mark: Mark) -> Record {
        Record { sent, recent: mark, next: mark, most: mark.passed }
    }
}

/// An interface that is tagged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) interface: Interface,
    pub(crate) hook: Hook,
    /// Packets that the interface has sent since the tagger was attached.
    pub(crate) sent: u64,
    /// Bytes that the interface has sent since it exists.
    pub(crate) sent_bytes: u64,
    /// Packets that passed the tagger since it was attached; at most `sent`.
    pub(crate) seen: u64,
    /// Packets that the interface has sent in the recent past.
    pub(crate) sent_recently: u64,
    /// Packets of the recent past that left without passing the tagger.
    pub(crate) missed_recently: u64,
    /// Programs that run before the tagger.
    pub(crate) before: Vec<String>,
}

impl Passed {
    /// Whether so many packets left untagged that something keeps packets from the tagger.
    pub(crate) fn is_bypassed(&self) -> bool {
        self.missed_recently > FEW && self.missed_recently > self.sent_recently / SELDOM
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passed { interface, hook, sent, seen, before, .. } = self;
        write!(f, "{} by {hook}: {seen} of {sent} packets passed the tagger", interface.name)?;
        if self.is_bypassed() {
            let (missed, sent) = (self.missed_recently, self.sent_recently);
            write!(f, "; WARNING: {missed} of the last {sent} left without a tag")?;
        }
        if !before.is_empty() {
            write!(f, "; before the tagger: {}", before.join(", "))?;
        }
        Ok(())
    }
}

/// Begins to count, just after the tagger was attached to the interface.
pub(crate) fn begin(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    let seen = stats::counters(places)?.seen[slot(interface)];
    let counts = Counts::new(interfaces::sent_by(&interface.name).unwrap_or_default(), seen);
    let record = Record::new(counts.sent, Mark { counts, passed: 0 });
    write(places, interface, record)
}

/// Restarts the recent past on all interfaces when the agent starts, because something may have kept
/// packets from the tagger before.
pub(crate) fn renew(places: &Places) -> Result<(), AgentError> {
    let all = read(places)?;
    all.iter().try_for_each(|one| {
        write(places, &one.interface, Record::new(one.record.sent, one.mark(&all)))
    })
}

/// Records the number of passed packets, so that it never falls. `is_over`: whether the start of the
/// recent past moves.
pub(crate) fn follow(places: &Places, is_over: bool) -> Result<(), AgentError> {
    let all = read(places)?;
    all.iter().try_for_each(|one| {
        let mark = one.mark(&all);
        let mut record = Record { most: mark.passed, ..one.record };
        if is_over {
            (record.recent, record.next) = (record.next, mark);
        }
        if record == one.record { Ok(()) } else { write(places, &one.interface, record) }
    })
}

/// Removes the record of an interface after the tagger was removed.
pub(crate) fn end(places: &Places, interface: &Interface) -> Result<(), AgentError> {
    let path = places.record(&name(interface.index));
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(AgentError::file(path, error)),
        _ => Ok(()),
    }
}

fn name(index: u32) -> String {
    format!("{RECORD}{index}")
}

fn write(places: &Places, interface: &Interface, record: Record) -> Result<(), AgentError> {
    let text = serde_json::to_string(&record).unwrap_or_default();
    places.write_record(&name(interface.index), &text)
}

/// All tagged interfaces.
///
/// # Errors
/// If no tagger is installed, or its counters may not be read.
pub(crate) fn all(places: &Places) -> Result<Vec<Passed>, AgentError> {
    let all = read(places)?;
    let mut found: Vec<Passed> = all
        .iter()
        .map(|one| {
            let (sent_recently, missed_recently) = one.recently(&all);
            Passed {
                interface: one.interface.clone(),
                hook: one.hook,
                sent: one.sent(),
                sent_bytes: one.now.sent_bytes,
                seen: one.passed(&all),
                sent_recently,
                missed_recently,
                before: attach::before(places, &one.interface, one.hook),
            }
        })
        .collect();
    found.sort_by(|one, other| one.interface.name.cmp(&other.interface.name));
    Ok(found)
}

/// The counts and the record of a tagged interface.
#[derive(Debug)]
struct Known {
    interface: Interface,
    hook: Hook,
    record: Record,
    /// The counts. What the interface had sent was read before the tagger's counts, because a packet
    /// passes the tagger before the interface counts it.
    now: Counts,
    /// What the interface had sent after the tagger's counts were read. From then on, the
    /// tagger counts every packet that the interface counts.
    sent_after: Sent,
}

impl Known {
    fn sent(&self) -> u64 {
        self.now.sent.saturating_sub(self.record.sent)
    }

    /// The number of packets that the interface has sent in the recent past, and how many of them did not
    /// pass the tagger. Interfaces that share a counter each count the missed packets of all of them
    /// together.
    fn recently(&self, all: &[Known]) -> (u64, u64) {
        let sharing = || all.iter().filter(|other| slot(&other.interface) == slot(&self.interface));
        let first = sharing().map(|other| other.record.recent.counts);
        let first = first.reduce(|one, other| one.each(other, u64::min)).unwrap_or_default();
        let sent = |one: &Known| one.now.each(one.record.recent.counts, u64::saturating_sub);
        let together = sharing().map(sent).fold(Counts::default(), |sum, one| Counts {
            sent: sum.sent + one.sent,
            sent_bytes: sum.sent_bytes + one.sent_bytes,
            ..self.now.each(first, u64::saturating_sub)
        });
        let here = sent(self).sent;
        (here, together.missed().min(here))
    }

    /// Packets that have passed the tagger since it was attached to the interface.
    fn passed(&self, all: &[Known]) -> u64 {
        let (sent, missed) = self.recently(all);
        let passed = self.record.recent.passed + sent - missed;
        passed.max(self.record.most).min(self.sent())
    }

    fn mark(&self, all: &[Known]) -> Mark {
        let (sent, sent_bytes) = (self.sent_after.packets, self.sent_after.bytes);
        Mark { counts: Counts { sent, sent_bytes, ..self.now }, passed: self.passed(all) }
    }
}

fn read(places: &Places) -> Result<Vec<Known>, AgentError> {
    let attached = attach::attached(places);
    let sent = || -> Vec<Sent> {
        let by = |interface: &Interface| interfaces::sent_by(&interface.name).unwrap_or_default();
        attached.iter().map(|(interface, _)| by(interface)).collect()
    };
    let before = sent();
    let counters = stats::counters(places)?;
    let after = sent();
    let all = attached.iter().zip(before.into_iter().zip(after));
    Ok(all
        .map(|((interface, hook), (before, sent_after))| Known {
            interface: interface.clone(),
            hook: *hook,
            record: recorded(places, interface.index),
            now: Counts::new(before, counters.seen[slot(interface)]),
            sent_after,
        })
        .collect())
}

fn recorded(places: &Places, index: u32) -> Record {
    let text = places.read_record(&name(index)).ok().flatten().unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn slot(interface: &Interface) -> usize {
    interface.index as usize % types::counters::default().seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of an interface. `wire` packets of full size have passed the tagger, in super-packets of
    /// `segments`. `missed` small packets have not.
    fn counts(wire: u64, segments: u64, missed: u64, counts_segments: bool) -> Counts {
        let packets = wire / segments;
        let (sent, headers) = if counts_segments { (wire, wire) } else { (packets, packets) };
        Counts {
            sent: sent + missed,
            sent_bytes: 1448 * wire + 66 * headers + 100 * missed,
            packets,
            wire_packets: wire,
            wire_bytes: 1514 * wire,
        }
    }

    #[test]
    fn super_packets_are_counted_as_the_interface_counts_them() {
        for missed in [0, 5_000, 50_000] {
            assert_eq!(counts(100_000, 40, missed, false).missed(), missed);
            assert_eq!(counts(100_000, 40, missed, true).missed(), missed);
            assert_eq!(counts(100_000, 1, missed, true).missed(), missed);
        }
    }

    #[test]
    fn packets_that_a_queue_drops_are_not_missed() {
        let mut dropped = counts(100_000, 40, 0, true);
        dropped.sent -= 30_000;
        dropped.sent_bytes -= 30_000 * 1514;
        assert_eq!(dropped.missed(), 0);
    }

    fn known(record: Record, now: Counts) -> Known {
        let sent_after = Sent { packets: now.sent, bytes: now.sent_bytes };
        let interface = Interface { index: 7, name: "eth0".into() };
        Known { interface, hook: Hook::Tcx, record, now, sent_after }
    }

    fn is_bypassed(known: Known) -> (bool, u64) {
        let all = [known];
        let (sent_recently, missed_recently) = all[0].recently(&all);
        let passed = Passed {
            interface: all[0].interface.clone(),
            hook: Hook::Tcx,
            sent: all[0].sent(),
            sent_bytes: all[0].now.sent_bytes,
            seen: all[0].passed(&all),
            sent_recently,
            missed_recently,
            before: Vec::new(),
        };
        (passed.is_bypassed(), passed.seen)
    }

    /// A bypass after days without one.
    #[test]
    fn a_bypass_is_told_soon_and_forgotten_with_its_cause() {
        let many = 10_000_000_000;
        let mark = Mark { counts: counts(many, 1, 0, true), passed: many };
        let record = Record::new(0, mark);
        assert_eq!(is_bypassed(known(record, mark.counts)), (false, many));
        let mut now = mark.counts;
        now.sent += 10_000;
        assert_eq!(is_bypassed(known(record, now)), (true, many));
        // The cause is gone, and the agent is restarted.
        let all = [known(record, now)];
        let record = Record::new(0, all[0].mark(&all));
        assert_eq!(is_bypassed(known(record, now)), (false, many));
    }

    #[test]
    fn what_has_passed_never_falls() {
        let record = Record { most: 90, ..Record::default() };
        let now = Counts { sent: 100, packets: 10, wire_packets: 10, ..Counts::default() };
        assert_eq!(is_bypassed(known(record, now)).1, 90);
    }
}
