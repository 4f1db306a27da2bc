//! Taggers: the priority that a host writes on each packet it sends.
//!
//! A tagger sees what the sending host sees of its own flow and nothing of the network.

pub mod bytes_sent;
pub mod mlfq;
pub mod none;
pub mod priority_mapper;
pub mod remaining;
pub mod size_known;
mod thresholds;

pub use thresholds::MAX_PRIORITIES;

use flowsched_units::{Bytes, Time};

use crate::packet::{Header, Packet};
use crate::transport::Start;

use mlfq::{Mlfq, MlfqFlow};
use size_known::SizeKnown;

/// What the sending host knows about a data packet at the moment it leaves the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When.
    pub now: Time,
    /// Bytes of the flow before this packet's first, counted from the flow's start.
    pub offset: u64,
    /// Payload bytes of the packet.
    pub payload: u32,
    /// Whether everything sent before had been acknowledged.
    pub idle: bool,
    /// Retransmission timeouts of the flow since it last made progress.
    pub timeouts_in_a_row: u32,
}

/// What the sending host knows of a flow only where applications say how much they will send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The flow's size.
    pub size: Bytes,
    /// Packets of the flow that are not known to have arrived, by ACK or SACK.
    pub remaining: u32,
}

/// What a tagger writes on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The queue that ports put the packet into: 0 is the highest priority.
    pub priority: u8,
    /// The rank among packets at ports that order by rank: 0 goes first.
    pub rank: u32,
}

/// Which priority pure ACKs carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPriority {
    /// The highest.
    Top,
    /// That of the data packet which they acknowledge.
    Echo,
}

/// What a sending host writes on the packets of its flows.
pub trait Tagging<H: Header> {
    /// What it remembers of one connection, from flow to flow.
    type Flow: Copy + Default;

    /// A new flow begins on the connection that `flow` belongs to.
    fn start_flow(&self, flow: &mut Self::Flow, start: &Start);
    /// Writes on the next packet of the flow.
    fn tag(
        &self,
        flow: &mut Self::Flow,
        departure: &Departure,
        work: &Work,
        packet: &mut Packet<H>,
    );
    /// The priority of a pure ACK for a packet of priority `acknowledged`.
    fn ack_priority(&self, acknowledged: u8) -> u8;
    /// A message from a controller came.
    fn on_message(&self, _flow: &mut Self::Flow, _message: &Packet<H>) {}
}

/// The tagger of a scheme: what all its flows share.
#[derive(Clone, Debug, PartialEq)]
pub enum Tagger {
    /// Every packet has the highest priority.
    None,
    /// Priorities fall with bytes sent (PIAS).
    Mlfq(Mlfq),
    /// Priorities and ranks are those of the flow's size (TCP\[a\]Q, SJF).
    SizeKnown(SizeKnown),
    /// Ranks rise with bytes sent (LAS).
    BytesSent,
    /// Ranks are what remains (pFabric).
    Remaining,
}

/// What a tagger remembers of one connection, from flow to flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaggerFlow {
    mlfq: MlfqFlow,
}

impl Tagger {
    /// The tag of the next packet of the flow that `flow` belongs to.
    #[inline]
    pub fn tag(&self, flow: &mut TaggerFlow, departure: &Departure, work: &Work) -> Tag {
        match self {
            Tagger::None => Tag::default(),
            Tagger::Mlfq(mlfq) => Tag { priority: mlfq.tag(&mut flow.mlfq, departure), rank: 0 },
            Tagger::SizeKnown(rule) => rule.tag(work),
            Tagger::BytesSent => bytes_sent::tag(departure),
            Tagger::Remaining => remaining::tag(work),
        }
    }

    /// The priority of a pure ACK for a packet of priority `acknowledged`.
    #[inline]
    pub fn ack_priority(&self, acknowledged: u8) -> u8 {
        match self {
            Tagger::Mlfq(Mlfq { ack_priority: AckPriority::Echo, .. }) => acknowledged,
            _ => 0,
        }
    }

    /// A new flow begins on the connection that `flow` belongs to.
    pub fn start_flow(&self, flow: &mut TaggerFlow) {
        if let Tagger::Mlfq(mlfq) = self {
            mlfq.start_flow(&mut flow.mlfq);
        }
    }
}

impl<H: Header> Tagging<H> for &Tagger {
    type Flow = TaggerFlow;

    fn start_flow(&self, flow: &mut TaggerFlow, _start: &Start) {
        Tagger::start_flow(self, flow);
    }

    #[inline]
    fn tag(
        &self,
        flow: &mut TaggerFlow,
        departure: &Departure,
        work: &Work,
        packet: &mut Packet<H>,
    ) {
        let tag = Tagger::tag(self, flow, departure, work);
        packet.priority = tag.priority;
        packet.set_rank(tag.rank);
    }

    #[inline]
    fn ack_priority(&self, acknowledged: u8) -> u8 {
        Tagger::ack_priority(self, acknowledged)
    }
}
