//! Taggers: the priority that a host writes on each packet it sends.
//!
//! A tagger sees what the sending host sees of its own flow and nothing of the network.

mod any;
pub mod bytes_sent;
mod family;
pub mod mlfq;
pub mod none;
pub mod priority_mapper;
pub mod remaining;
pub mod size_known;
mod thresholds;

#[doc(hidden)]
pub use any::{AnyMemory, AnyTagger};
#[doc(hidden)]
pub use family::TaggerFamily;
pub use thresholds::{MAX_PRIORITIES, THRESHOLDS};

use flowsched_units::{SettingError, Settings};

use crate::flow_level::Tagged;
use crate::knowledge::Start;
pub use crate::knowledge::{Departure, Work};
use crate::on_linux::HostTags;
use crate::packet::{Header, Packet};
use crate::part::Part;

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

/// What a sending host writes on the packets of its flows: the rule that all flows share.
pub trait Tagging<H: Header>: Send + Sync {
    /// What it remembers of one connection, from flow to flow.
    type Flow: Copy + Default + Send;

    /// A new flow begins on the connection that `flow` belongs to.
    fn start_flow(&self, _flow: &mut Self::Flow, _start: &Start) {}
    /// Tags the next packet of the flow.
    fn tag(
        &self,
        flow: &mut Self::Flow,
        departure: &Departure,
        work: &Work,
        packet: &mut Packet<H>,
    );
    /// The priority of a pure ACK for a packet of priority `acknowledged`.
    fn ack_priority(&self, _acknowledged: u8) -> u8 {
        0
    }
    /// A message from a controller came.
    fn on_message(&self, _flow: &mut Self::Flow, _message: &Packet<H>) {}
}

/// A tagger of the catalogue.
pub trait TaggerPart: Clone + std::fmt::Debug + 'static {
    /// What experiment files and catalogues say of it.
    const PART: Part;

    /// The tagger that complete and checked settings describe, for ports with this many queues.
    ///
    /// # Errors
    /// If the values do not fit each other or the queues.
    fn build(settings: &Settings, queues: usize) -> Result<Self, SettingError>;

    /// The fluid forms of its tags.
    fn fluid(&self) -> Tagged;

    /// What hosts with the kernel's TCP write on packets; `None` if they cannot write it.
    fn on_linux(&self) -> Option<HostTags>;
}

/// A tagger that knows nothing of headers: what it writes is a [`Tag`].
///
/// Every plain tagger is a [`Tagging`] for packets with any header.
pub trait PlainTagger: Send + Sync {
    /// What it remembers of one connection, from flow to flow.
    type Memory: Copy + Default + std::fmt::Debug + Send;

    /// A new flow begins on the connection that `memory` belongs to.
    fn start_flow(&self, _memory: &mut Self::Memory) {}
    /// The tag of the next packet of the flow.
    fn tag(&self, memory: &mut Self::Memory, departure: &Departure, work: &Work) -> Tag;
    /// The priority of a pure ACK for a packet of priority `acknowledged`.
    fn ack_priority(&self, _acknowledged: u8) -> u8 {
        0
    }
}

#[deny(clippy::missing_trait_methods)]
impl<H: Header, G: PlainTagger> Tagging<H> for G {
    type Flow = G::Memory;

    fn start_flow(&self, memory: &mut G::Memory, _start: &Start) {
        PlainTagger::start_flow(self, memory);
    }

    #[inline]
    fn tag(
        &self,
        memory: &mut G::Memory,
        departure: &Departure,
        work: &Work,
        packet: &mut Packet<H>,
    ) {
        let tag = PlainTagger::tag(self, memory, departure, work);
        packet.priority = tag.priority;
        packet.set_rank(tag.rank);
    }

    #[inline]
    fn ack_priority(&self, acknowledged: u8) -> u8 {
        PlainTagger::ack_priority(self, acknowledged)
    }

    fn on_message(&self, _memory: &mut G::Memory, _message: &Packet<H>) {}
}
