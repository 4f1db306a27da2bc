//! What a switch remembers of the flows on one link (PDQ 2012, 3.3.1).
//!
//! "It remembers the most recent variables (R, P, D, T, RTT) obtained from observed packet
//! headers for flow i", for the most critical flows only, the most critical first.

use std::cmp::Ordering;

use flowsched_units::{Bytes, Rate, Time};

use super::comparator::{Comparator, Criticality};
use crate::transport::pdq::{Pauser, PdqHeader};

/// One remembered flow: a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct Entry {
    /// The flow, and how critical it is: D and T.
    pub criticality: Criticality,
    /// R: the rate that it was accepted with; zero while it is paused.
    pub rate: Rate,
    /// P: who paused it.
    pub paused_by: Option<Pauser>,
    /// RTT; zero while it is not known.
    pub rtt: Time,
    /// T in round-trip times; infinite while these are not known.
    pub round_trips: f64,
    /// When the switch last saw a packet of it.
    pub seen: Time,
}

impl Entry {
    /// The memory that a switch needs for a flow: R, P, D, T and RTT, 4 bytes each.
    ///
    /// The header has 4 bytes for each field (footnote 11), and "storing all these flows requires
    /// 0.23 MByte" for 12,000 flows (3.3.1) makes 20 bytes a flow. Like the paper, this counts
    /// nothing for the flow's name.
    pub const WIDTH: Bytes = Bytes::new(5 * 4);

    /// Whether it is paused and has not been accepted since. A flow that has been accepted, and
    /// probes on until the ACK is back, is no "other paused flow".
    pub fn waits(&self) -> bool {
        self.paused_by.is_some() && self.rate == Rate::from_bps(0)
    }
}

/// The most critical flows of one link, the most critical first.
#[derive(Clone, Debug)]
pub struct FlowList {
    comparator: Comparator,
    /// The name of the flow in each place. A search reads nothing but these.
    names: Vec<u64>,
    entries: Vec<Entry>,
}

impl FlowList {
    /// An empty list.
    pub fn new(comparator: Comparator) -> FlowList {
        FlowList { comparator, names: Vec::new(), entries: Vec::new() }
    }

    /// The remembered flows, the most critical first.
    #[inline]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The flow's place.
    #[inline]
    pub fn place(&self, flow: u32, path: u32) -> Option<usize> {
        let sought = name(flow, path);
        self.names.iter().position(|name| *name == sought)
    }

    /// The flow in this place.
    pub fn entry(&mut self, place: usize) -> &mut Entry {
        &mut self.entries[place]
    }

    /// The number of flows that send: the paper's kappa.
    pub fn sending(&self) -> usize {
        self.entries.iter().filter(|entry| entry.rate > Rate::from_bps(0)).count()
    }

    /// Forgets a flow.
    pub fn remove(&mut self, flow: u32, path: u32) {
        if let Some(place) = self.place(flow, path) {
            self.names.remove(place);
            self.entries.remove(place);
        }
    }

    /// Whether the flow is more critical than the least critical one in the list.
    pub fn outranks_last(&self, criticality: &Criticality) -> bool {
        self.entries.last().is_some_and(|last| {
            self.comparator.compare(criticality, &last.criticality) == Ordering::Less
        })
    }

    /// The number of flows in the list that are more critical.
    pub fn rank(&self, criticality: &Criticality) -> usize {
        let precedes = |entry: &Entry| {
            self.comparator.compare(&entry.criticality, criticality) == Ordering::Less
        };
        self.entries.partition_point(precedes)
    }

    /// Adds a flow and returns its place. P is "obtained from observed packet headers" (3.3.1). But a
    /// flow that has no round-trip time yet is sending its first packet, and counts as paused by
    /// `me`: it does not send.
    pub fn add(
        &mut self,
        flow: u32,
        header: &PdqHeader,
        path: u32,
        me: Pauser,
        now: Time,
    ) -> usize {
        let is_new = header.rtt == Time::ZERO;
        self.names.push(name(flow, path));
        self.entries.push(Entry {
            criticality: criticality(flow, header),
            rate: Rate::from_bps(0),
            paused_by: if is_new { Some(me) } else { header.paused_by },
            rtt: Time::ZERO,
            round_trips: f64::INFINITY,
            seen: now,
        });
        self.update(self.entries.len() - 1, header, now)
    }

    /// Forgets the least critical flows beyond `most`.
    pub fn truncate(&mut self, most: usize) {
        self.names.truncate(most);
        self.entries.truncate(most);
    }

    /// Takes D, T and RTT from a header of the flow in `place`. Returns its new place.
    #[inline]
    pub fn update(&mut self, place: usize, header: &PdqHeader, now: Time) -> usize {
        let entry = &mut self.entries[place];
        entry.seen = now;
        if header.rtt > Time::ZERO {
            entry.rtt = header.rtt;
        }
        let flow = entry.criticality.flow;
        entry.criticality = criticality(flow, header);
        if entry.rtt > Time::ZERO {
            entry.round_trips = header.transmission.as_ps() as f64 / entry.rtt.as_ps() as f64;
        }
        self.sort(place)
    }

    /// Moves one entry to its place among the others, which are in order. Returns this place.
    #[inline]
    fn sort(&mut self, mut place: usize) -> usize {
        while place > 0 && self.precedes(place, place - 1) {
            self.swap(place, place - 1);
            place -= 1;
        }
        while place + 1 < self.entries.len() && self.precedes(place + 1, place) {
            self.swap(place, place + 1);
            place += 1;
        }
        place
    }

    #[inline]
    fn precedes(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.entries[one].criticality, &self.entries[other].criticality);
        self.comparator.compare(one, other) == Ordering::Less
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.names.swap(one, other);
        self.entries.swap(one, other);
    }

    /// Forgets flows that have been silent too long. `silence` returns how long a flow in a place may
    /// be silent.
    pub fn forget_silent(&mut self, now: Time, silence: impl Fn(usize, &Entry) -> Time) {
        let is_heard =
            |place, entry: &Entry| now.saturating_sub(entry.seen) <= silence(place, entry);
        let mut places = (0..).zip(&self.entries);
        self.names.retain(|_| places.next().is_some_and(|(place, entry)| is_heard(place, entry)));
        let mut places = 0..;
        self.entries.retain(|entry| places.next().is_some_and(|place| is_heard(place, entry)));
    }

    /// The mean of the known round-trip times of the remembered flows.
    pub fn mean_rtt(&self) -> Option<Time> {
        let known = self.entries.iter().map(|entry| entry.rtt).filter(|rtt| *rtt > Time::ZERO);
        let (sum, count) = known.fold((Time::ZERO, 0), |(sum, count), rtt| (sum + rtt, count + 1));
        (count > 0).then(|| sum / count)
    }
}

/// The numbers of a flow and of one of its paths, as one number.
#[inline]
fn name(flow: u32, path: u32) -> u64 {
    u64::from(flow) << 32 | u64::from(path)
}

/// How critical a flow is by its header.
#[inline]
pub fn criticality(flow: u32, header: &PdqHeader) -> Criticality {
    let transmission = header.transmission.saturating_sub(header.head_start);
    Criticality { deadline: header.deadline, transmission, flow }
}
