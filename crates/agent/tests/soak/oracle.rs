//! Decides which tag each captured packet must have. The senders say where messages begin, not the
//! packets. The history says which rule was in force.

#[path = "oracle/datagrams.rs"]
mod datagrams;
#[path = "oracle/stream.rs"]
mod stream;
#[cfg(test)]
#[path = "oracle/tests.rs"]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::capture::Packet;
use crate::draw::{Case, Rule};
use crate::history::{History, Phase};
use crate::seen::Seen;
use crate::traffic::port;

/// A violation of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The name of its row in the figures.
    pub kind: String,
    pub text: String,
}

impl Violation {
    pub fn new(kind: &str, text: impl Into<String>) -> Violation {
        Violation { kind: kind.to_owned(), text: text.into() }
    }
}

/// The findings about all packets of a case.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub violations: Vec<Violation>,
    /// The number of packets of each kind.
    pub packets: BTreeMap<&'static str, u64>,
    /// The number of packets for which more than one tag would be right.
    pub unsure: u64,
}

/// What is known about a packet's place in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Its offset is at least the first and at most the second number.
    From(u64, u64),
    /// Its level is not known.
    Any,
}

impl Place {
    fn code_points(&self, rule: &Rule) -> BTreeSet<u8> {
        match self {
            Place::Any => rule.dscp.into(),
            Place::From(least, most) => {
                let between = rule.thresholds.iter().map(|threshold| threshold + 1);
                let between = between.filter(|offset| (least..=most).contains(&offset));
                [*least, *most].into_iter().chain(between).map(|at| rule.code_point(at)).collect()
            }
        }
    }
}

/// Judges one packet at a time.
struct Judge<'a> {
    history: &'a History,
    findings: Findings,
}

impl Judge<'_> {
    /// Judges a packet. `place` returns where in its message the packet is, if it was sent in this
    /// phase.
    fn judge(&mut self, kind: &'static str, packet: &Packet, place: impl Fn(&Phase) -> Place) {
        let mut right = BTreeSet::new();
        for phase in self.history.at(packet.at) {
            match &phase.rule {
                Some(rule) => right.extend(place(&phase).code_points(rule)),
                None => {
                    right.insert(0);
                }
            }
        }
        *self.findings.packets.entry(kind).or_default() += 1;
        self.findings.unsure += u64::from(right.len() > 1);
        if !right.contains(&packet.seen.dscp) {
            let what = if packet.seen.dscp == 0 { "untagged" } else { "wrong tag" };
            self.add(&format!("{what}: {kind}"), packet, &format!("{right:?} would be right"));
        }
        if !packet.seen.checksums_right {
            self.add("wrong checksum", packet, kind);
        }
    }

    fn add(&mut self, kind: &str, packet: &Packet, text: &str) {
        let Packet { at, seen } = packet;
        let text = format!("at {at}: {text}, for {seen:?}");
        self.findings.violations.push(Violation::new(kind, text));
    }
}

/// Judges all packets of a case, which are in the order of time.
pub fn judge(case: &Case, history: &History, packets: &[Packet]) -> Findings {
    let mut judge = Judge { history, findings: Findings::default() };
    let mut streams = Vec::new();
    let mut open = BTreeMap::new();
    let mut flows: BTreeMap<(u16, u16), Vec<&Packet>> = BTreeMap::new();
    for packet in packets {
        let Seen { from, to, .. } = packet.seen;
        if !packet.seen.from_first_host {
            *judge.findings.packets.entry("from other hosts, untagged").or_default() += 1;
            // A kernel answers packets of unknown connections with the tag that they had.
            if packet.seen.payload > 0 && packet.seen.dscp != 0 {
                judge.add("tag on another host's packet", packet, "0 would be right");
            }
        } else if port::is_udp(to) {
            flows.entry((from, to)).or_default().push(packet);
        } else {
            if packet.seen.syn
                && open.get(&(from, to)).is_none_or(|(isn, _)| *isn != packet.seen.seq)
            {
                open.insert((from, to), (packet.seen.seq, streams.len()));
                streams.push(Vec::new());
            }
            match open.get(&(from, to)) {
                Some((_, index)) => streams[*index].push(packet),
                None => judge.add("unknown connection", packet, "its SYN was not seen"),
            }
        }
    }
    for packets in &streams {
        let to = packets.first().map_or(0, |packet| packet.seen.to);
        match port::conversation(to).and_then(|number| case.conversations.get(number)) {
            Some(conversation) => stream::conversation(&mut judge, conversation, packets),
            None if to == port::STARVED => {
                stream::bulk(&mut judge, "TCP of starved senders", packets)
            }
            None => stream::bulk(&mut judge, "bulk TCP", packets),
        }
    }
    for ((_, to), packets) in &flows {
        let kind = if *to == port::QUIC { "QUIC" } else { "UDP" };
        datagrams::flow(&mut judge, kind, case.flow_idle, packets);
    }
    judge.findings
}
