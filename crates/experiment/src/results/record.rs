//! The record of one run, which an engine returns when the run has finished.

use std::fmt;

use flowsched_schemes::world::Uncounted;
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::FlowParts;
use serde::{Deserialize, Serialize};

use super::{OfferedLoad, Point, SizeClass};

/// The run that rows belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// The point of the sweep.
    pub point: Point,
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
}

/// Writes `scheme "pias" with seed 1 at workload.load = 0.8`.
impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scheme \"{}\" with seed {}", self.scheme, self.seed)?;
        if self.point.is_empty() { Ok(()) } else { write!(f, " at {}", self.point) }
    }
}

/// The record of one run, without its port samples: one scheme, one seed, one point of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// The varied keys and their values; empty if no key is varied.
    pub point: Point,
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// Whether the run was cut short, so that its figures cover only a part of it.
    pub stopped: bool,
    /// The quality of the scheme as a schedule, if it is a schedule and not a protocol.
    pub schedule: Option<Schedule>,
    /// The load of the flows.
    pub load: OfferedLoad,
    /// Totals and costs of the run.
    pub counters: Counters,
    /// Which of these totals, and of the flows' counters, are 0 because they are not counted.
    pub uncounted: Uncounted,
    /// The time of the last event.
    pub end: Time,
    /// The hosts' names, by number.
    pub hosts: Vec<String>,
    /// The flows, in ascending order of their numbers.
    pub flows: Vec<FlowRow>,
    /// The part of the workload that each flow belongs to.
    pub parts: FlowParts,
}

impl RunRecord {
    /// The key that tells it from the other runs of the study.
    pub fn key(&self) -> RunKey {
        RunKey { point: self.point.clone(), scheme: self.scheme.clone(), seed: self.seed }
    }

    /// The name of host number `host`; empty if the name is not known.
    pub fn host_name(&self, host: u32) -> &str {
        self.hosts.get(host as usize).map_or("", String::as_str)
    }
}

/// Samples of one run's ports: all of them, or a piece that has whole sample times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortsOfRun {
    /// The run.
    pub run: RunKey,
    /// Its ports.
    pub ports: Vec<PortRecord>,
    /// Samples in the order of time, with every port at each time. Those at the end of the run come
    /// last.
    pub samples: Vec<PortRow>,
}

impl PortsOfRun {
    /// The port of sample number `row`.
    pub(super) fn port_of(&self, row: usize) -> &PortRecord {
        &self.ports[self.samples[row].port as usize]
    }
}

/// The quality of an omniscient schedule of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// No scheme has a lower mean FCT.
    LeastMeanFct,
    /// No scheme meets more deadlines.
    MostDeadlinesMet,
    /// The schedule is no bound.
    Heuristic,
}

/// Totals over the whole run, including unmeasured flows, and the cost of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Packets, data or ACK, that reached the far end of a link.
    pub packet_hops: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// User CPU time in seconds.
    pub cpu_s: f64,
    /// Elapsed time in seconds.
    pub wall_s: f64,
    /// The largest resident memory of the process up to the end of the run.
    pub peak_rss_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked by ECN.
    pub ecn_marks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Sequences of two or more timeouts of a flow, without a new acknowledgement between them.
    pub repeated_timeouts: u64,
    /// The number of timeouts in the longest such sequence.
    pub longest_timeouts: u32,
    /// Flows with so many timeouts that a real host would have ended the connection.
    pub terminations: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Counters of the data packets of all flows together, if they are not known by flow.
    pub packets: Option<PacketCounters>,
    /// The overhead of the scheme.
    pub overhead: OverheadRecord,
}

/// The overhead of a scheme, in bytes. What is not counted is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverheadRecord {
    /// Bytes that its header adds to every packet.
    pub header_bytes: Option<u64>,
    /// Bytes of probes that senders sent, including headers.
    pub probe_bytes: Option<u64>,
    /// The largest state of a switch port; `None` if the scheme's controllers do not count their
    /// state.
    pub port_state_bytes: Option<u64>,
    /// The largest sum of these over the ports of one switch: an upper bound, since ports need not
    /// peak together.
    pub switch_state_bytes: Option<u64>,
}

/// One flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowRow {
    /// Its number. The same flow has the same number under every scheme.
    pub flow: u64,
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Payload bytes.
    pub size: Bytes,
    /// When it started.
    pub start: Time,
    /// The time from its start until the sender knows that the last byte has arrived; `None` if that
    /// never happened.
    pub fct: Option<Time>,
    /// The time from its start until the last byte arrived; `None` if that never happened.
    pub receiver_fct: Option<Time>,
    /// Whether its sender gave it up because it could not finish by its deadline.
    pub gave_up: bool,
    /// `fct` of the same flow alone on the idle network, without a handshake and without a window limit.
    pub ideal_fct: Time,
    /// The time from its start to its deadline; `None` if it has no deadline.
    pub deadline: Option<Time>,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// What happened to its packets on their way.
    pub packets: PacketCounters,
    /// Whether its figures count. Warm-up and cool-down flows are not measured.
    pub measured: bool,
}

/// What happened to the packets of a flow on their way. All 0 for an engine without packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounters {
    /// Data packets that arrived while the flow was under way.
    pub arrived: u64,
    /// Arrived data packets that some port marked.
    pub marked: u64,
    /// Arrived data packets that more than one port marked (Slytherin 2018, Table I).
    pub marked_again: u64,
    /// Arrived data packets that were sent for the first time and came after a packet that was sent
    /// later.
    pub reordered: u64,
    /// Data packets that were dropped or lost.
    pub lost: u64,
    /// ACKs that reached the sender.
    pub acks: u64,
    /// ACKs that reached the sender and acknowledged nothing new.
    pub duplicate_acks: u64,
    /// ACKs that were at least the third in a row to acknowledge nothing new.
    pub third_duplicate_acks: u64,
}

impl FlowRow {
    /// Whether the sender knows that every byte has arrived.
    pub fn finished(&self) -> bool {
        self.fct.is_some()
    }

    /// FCT over ideal FCT, for a flow that finished.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal = (self.ideal_fct > Time::ZERO).then(|| self.ideal_fct.as_us_f64())?;
        self.fct.map(|fct| fct.as_us_f64() / ideal)
    }

    /// Whether the flow finished at its sender within its deadline; `None` without a deadline.
    pub fn deadline_met(&self) -> Option<bool> {
        self.deadline.map(|deadline| self.fct.is_some_and(|fct| fct <= deadline))
    }

    /// The flow's size class.
    pub fn class(&self) -> SizeClass {
        SizeClass::containing(self.size)
    }
}

/// One egress port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortRecord {
    /// The host or switch that it belongs to.
    pub owner: String,
    /// The host or switch at the other end of the link.
    pub peer: String,
    /// The group of ports that it belongs to, such as `"leaf to spine"`.
    pub class: String,
    /// The link's rate.
    pub rate: Rate,
}

/// The counters of one port at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortRow {
    /// The time.
    pub time: Time,
    /// The port, by its place in [`PortsOfRun::ports`].
    pub port: u32,
    /// Bytes waiting now.
    pub queue_bytes: u64,
    /// Packets waiting now.
    pub queue_packets: u64,
    /// Bytes sent so far.
    pub tx_bytes: u64,
    /// Packets sent so far.
    pub tx_packets: u64,
    /// Packets dropped so far.
    pub drops: u64,
    /// Packets marked so far.
    pub ecn_marks: u64,
}
