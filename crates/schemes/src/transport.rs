//! Transports: when and how fast a host sends.

mod carrying;
pub mod d3;
pub mod explicit;
pub mod pdq;
pub mod tcp;

pub use carrying::Carrying;

use crate::catalogue::{Part, Role};

/// TCP Reno.
pub const RENO: Part = Part {
    role: Role::Transport,
    name: "reno",
    about: "TCP Reno with SACK, fast retransmit and timeouts with back-off.",
    source: "RFC 5681, 6298, 6675",
    parameters: &[tcp::settings::PARAMETERS],
};

/// ECN*.
pub const ECN_STAR: Part = Part {
    role: Role::Transport,
    name: "ecn-star",
    about: "TCP Reno that halves its window once a round trip on ECN marks.",
    source: "RFC 3168; Wu et al., CoNEXT 2012",
    parameters: &[tcp::settings::PARAMETERS],
};

/// DCTCP.
pub const DCTCP: Part = Part {
    role: Role::Transport,
    name: "dctcp",
    about: "TCP whose window shrinks by the share of packets that were marked.",
    source: "RFC 8257",
    parameters: &[tcp::settings::PARAMETERS, tcp::settings::DCTCP],
};

/// L2DCT.
pub const L2DCT: Part = Part {
    role: Role::Transport,
    name: "l2dct",
    about: "DCTCP whose flows grow less and are cut more, the more they have sent.",
    source: "Munir et al., INFOCOM 2013 (PIAS ToN 2017, V-C.1)",
    parameters: &[tcp::settings::PARAMETERS, tcp::settings::DCTCP, tcp::settings::L2DCT],
};

/// D2TCP.
pub const D2TCP: Part = Part {
    role: Role::Transport,
    name: "d2tcp",
    about: "DCTCP whose flows are cut less, the nearer their deadlines are.",
    source: "Vamanan et al., SIGCOMM 2012",
    parameters: &[tcp::settings::PARAMETERS, tcp::settings::DCTCP],
};

use flowsched_units::{Bytes, Rate, Time};

use crate::packet::{Flags, Header, Packet};
use crate::tagger::Work;

/// What a sending host knows of a flow when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When.
    pub now: Time,
    /// Bytes to send.
    pub size: Bytes,
    /// When it should have finished, if it has a deadline.
    pub deadline: Option<Time>,
    /// The rate of the host's network card.
    pub rate: Rate,
    /// A random number of the flow's own.
    pub random: u64,
}

/// How far a sender is with its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// There is something to send, or to wait for.
    Sending,
    /// The whole flow is acknowledged.
    Acknowledged,
    /// The flow is given up: it would not finish by its deadline.
    GaveUp,
}

/// A data packet that a sender wants on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<H = ()> {
    /// The segment's number.
    pub seq: u32,
    /// Payload bytes.
    pub payload: u32,
    /// Bytes of the flow before the first of these.
    pub offset: u64,
    /// What the packet says.
    pub flags: Flags,
    /// Whether everything sent before was acknowledged.
    pub idle: bool,
    /// Timeouts since the flow last made progress.
    pub timeouts_in_a_row: u32,
    /// How much there is to send.
    pub work: Work,
    /// The scheme's own header.
    pub header: H,
}

/// When and how fast to send: the rule that all flows of a scheme follow.
///
/// Whoever runs a transport hands it packets and timers, and after each of these polls it for
/// packets until there is none. A deadline may come too early; it never comes too late.
pub trait Transport {
    /// What its packets carry for the switches; [`Carrying`] puts a header on the packets of a
    /// transport that has none.
    type Header: Header;
    /// What stays when a flow ends and the next begins on the same connection.
    type Connection;
    /// The sending side of a flow.
    type Sender;
    /// The receiving side of a flow.
    type Receiver;

    /// Whether a connection outlives its flow.
    fn is_persistent(&self) -> bool;
    /// A connection that is open before its first flow, on a path with this round-trip time.
    fn open_connection(&self, round_trip: Time) -> Self::Connection;
    /// A connection that its first flow has to open.
    fn new_connection(&self) -> Self::Connection;

    /// The sender of a flow that begins now.
    fn sender(&self, start: &Start, connection: Self::Connection) -> Self::Sender;
    /// The next packet that may be sent now.
    fn poll(&self, sender: &mut Self::Sender, now: Time) -> Option<Outgoing<Self::Header>>;
    /// An ACK came.
    fn on_ack(&self, sender: &mut Self::Sender, now: Time, ack: &Packet<Self::Header>);
    /// The sender's deadline may have come.
    fn on_sender_timer(&self, sender: &mut Self::Sender, now: Time);
    /// When [`Transport::on_sender_timer`] is due; [`Time::MAX`]: not at all.
    fn sender_deadline(&self, sender: &Self::Sender) -> Time;
    /// How far the sender is with its flow.
    fn phase(&self, sender: &Self::Sender) -> Phase;
    /// The flow has ended: its connection, for the next one.
    fn finish(&self, sender: &mut Self::Sender, now: Time) -> Self::Connection;
    /// Packets sent again so far.
    fn retransmissions(&self, sender: &Self::Sender) -> u32;
    /// Timeouts so far.
    fn timeouts(&self, sender: &Self::Sender) -> u32;

    /// The receiver of a flow of `size` bytes.
    fn receiver(&self, size: Bytes) -> Self::Receiver;
    /// A data packet came; what to answer goes to `send`.
    fn on_data(
        &self,
        receiver: &mut Self::Receiver,
        now: Time,
        packet: &Packet<Self::Header>,
        send: impl FnMut(Packet<Self::Header>),
    );
    /// The receiver's deadline may have come.
    fn on_receiver_timer(
        &self,
        receiver: &mut Self::Receiver,
        now: Time,
        send: impl FnMut(Packet<Self::Header>),
    );
    /// When [`Transport::on_receiver_timer`] is due; [`Time::MAX`]: not at all.
    fn receiver_deadline(&self, receiver: &Self::Receiver) -> Time;
    /// Whether every byte came.
    fn is_delivered(&self, receiver: &Self::Receiver) -> bool;
}
