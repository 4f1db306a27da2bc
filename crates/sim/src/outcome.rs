//! What a run gives.

use flowsched_units::Time;

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOutcome {
    /// When its sender had the acknowledgement of its last byte.
    pub finished_at_sender: Option<Time>,
    /// When its last byte arrived.
    pub finished_at_receiver: Option<Time>,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Which of its pair's connections carried it: 0 is the one that is open from the start.
    pub connection: u32,
}

/// A port at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSample {
    /// When.
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
    /// Bytes of these that have not arrived at the far end yet.
    pub in_flight_bytes: u64,
    /// Packets dropped since the start.
    pub drops: u64,
    /// Packets marked since the start.
    pub marks: u64,
}

/// What a run gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What became of each flow.
    pub flows: Vec<FlowOutcome>,
    /// Every port at every sampling time and at the end.
    pub ports: Vec<PortSample>,
    /// Packets that reached the far end of a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked, once for every port that did.
    pub ecn_marks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// When the last event was.
    pub end: Time,
}
