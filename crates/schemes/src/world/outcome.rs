//! The outcome of a run, in the same form for every world.
//!
//! Worlds without packets leave the counters of packets at 0. A world with packets that it cannot count says so in
//! [`Uncounted`].

use flowsched_units::{Bytes, Time};

use crate::timeouts::Timeouts;

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOutcome {
    /// When its sender had the acknowledgement of its last byte.
    pub finished_at_sender: Option<Time>,
    /// When its last byte arrived.
    pub finished_at_receiver: Option<Time>,
    /// When its sender gave it up, because it would not finish by its deadline.
    pub gave_up: Option<Time>,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: Timeouts,
    /// The number of the connection that carried it, among those of its pair of hosts: 0 is the one that is open from
    /// the start.
    pub connection: u32,
    /// What its packets met on their way.
    pub passage: Passage,
}

/// What the packets of a flow met on their way. Probes and packets that open connections do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Data packets that arrived while the flow was under way.
    pub arrived: u32,
    /// Arrived packets that some port marked.
    pub marked: u32,
    /// Arrived packets that more than one port marked (Slytherin 2018, Table I).
    pub marked_again: u32,
    /// Packets sent for the first time that arrived after a packet sent later (Slytherin 2018, V-F).
    pub reordered: u32,
    /// Data packets that were dropped or lost.
    pub lost: u32,
    /// ACKs that reached the sender.
    pub acks: u32,
    /// ACKs that acknowledged nothing new (EPN 2018, Fig. 6).
    pub duplicate_acks: u32,
    /// ACKs that were at least the third duplicate ACK in a row. At the third, a sender takes a packet for lost.
    pub third_duplicate_acks: u32,
}

/// A port at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSample {
    /// When the sample was taken.
    pub time: Time,
    /// The port's number in the network.
    pub port: u32,
    /// Bytes that wait.
    pub queue_bytes: u64,
    /// Packets that wait.
    pub queue_packets: u32,
    /// Bytes sent since the start.
    pub sent_bytes: u64,
    /// Packets sent since the start.
    pub sent_packets: u64,
    /// Sent bytes that have not arrived at the far end yet.
    pub in_flight_bytes: u64,
    /// Packets dropped since the start.
    pub drops: u64,
    /// Packets marked since the start.
    pub marks: u64,
}

impl PortSample {
    /// Whether `later` differs in the queue, the drops or the marks.
    pub fn has_changed(&self, later: &PortSample) -> bool {
        (self.queue_bytes, self.queue_packets, self.drops, self.marks)
            != (later.queue_bytes, later.queue_packets, later.drops, later.marks)
    }
}

/// How close to optimal an omniscient schedule of flows is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// No schedule has a lower mean flow completion time: flows without deadlines pass one
    /// bottleneck, the shortest remaining first.
    LeastMeanFct,
    /// No schedule meets more deadlines: flows that have one start together and pass one bottleneck.
    MostDeadlinesMet,
    /// A good schedule, but not a bound.
    Heuristic,
}

/// What a scheme sends and stores beside its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Bytes that its header adds to every packet.
    pub header: Bytes,
    /// Probes that senders sent, headers included: packets without data, or with one byte of it, that
    /// neither open nor end a flow.
    pub probes: Bytes,
    /// The largest state of a switch's port; `None` if controllers do not count their state.
    pub port_state: Option<Bytes>,
    /// The largest sum of these states over the ports of one switch. Ports may have their largest states at different
    /// times, so no switch needed more than this.
    pub switch_state: Option<Bytes>,
}

/// Which counters of an [`Outcome`] are 0 only because the world does not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// [`Outcome::retransmissions`]. The world may count these over all flows, although each flow has 0.
    pub retransmissions: bool,
    /// [`FlowOutcome::timeouts`].
    pub timeouts: bool,
    /// Which of the timeouts came in a row.
    pub timeout_rows: bool,
    /// The packets and ACKs that arrived, in [`FlowOutcome::passage`]. [`Outcome::passage`] may still count those of
    /// all flows together.
    pub arrivals: bool,
    /// [`Passage::lost`].
    pub losses: bool,
    /// [`Outcome::overhead`].
    pub overhead: bool,
    /// [`Outcome::drops`] and [`Outcome::ecn_marks`].
    pub ports: bool,
}

impl Uncounted {
    /// What at least one of two parts of a run does not count.
    #[must_use]
    pub fn or(self, other: Uncounted) -> Uncounted {
        Uncounted {
            retransmissions: self.retransmissions || other.retransmissions,
            timeouts: self.timeouts || other.timeouts,
            timeout_rows: self.timeout_rows || other.timeout_rows,
            arrivals: self.arrivals || other.arrivals,
            losses: self.losses || other.losses,
            overhead: self.overhead || other.overhead,
            ports: self.ports || other.ports,
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What became of each flow, by its number.
    pub flows: Vec<FlowOutcome>,
    /// The samples of every port at every sampling time and at the end.
    pub ports: Vec<PortSample>,
    /// How close to optimal the schedule is, if it is an omniscient one.
    pub worth: Option<Worth>,
    /// Packets that reached the far end of a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked. A packet counts once for every port that marked it.
    pub ecn_marks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// What the data packets of all flows met on their way, in a world that does not know it for each flow.
    pub passage: Option<Passage>,
    /// What the scheme sends and stores beside its data.
    pub overhead: Overhead,
    /// Which of these counters the world does not count.
    pub uncounted: Uncounted,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// The time of the last event, or the time at which the run was cut off.
    pub end: Time,
}
