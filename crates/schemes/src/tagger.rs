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

use flowsched_units::{SettingError, Settings};

use crate::flow_level::Tagged;
use crate::knowledge::Start;
pub use crate::knowledge::{Departure, Work};
use crate::packet::{Header, Packet};
use crate::part::{self, Part, Role};

use bytes_sent::BytesSent;
use mlfq::Mlfq;
use none::NoTagger;
use remaining::Remaining;
use size_known::SizeKnown;

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
pub trait Tagging<H: Header> {
    /// What it remembers of one connection, from flow to flow.
    type Flow: Copy + Default;

    /// A new flow begins on the connection that `flow` belongs to.
    fn start_flow(&self, _flow: &mut Self::Flow, _start: &Start) {}
    /// Writes on the next packet of the flow.
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

    /// The tagger that complete and checked settings describe, for ports with so many queues.
    ///
    /// # Errors
    /// If the values do not fit each other or the queues.
    fn build(settings: &Settings, queues: usize) -> Result<Self, SettingError>;

    /// What its tags come down to where flows are fluids.
    fn fluid(&self) -> Tagged;
}

/// A tagger that knows nothing of headers: what it writes is a [`Tag`].
pub trait PlainTagger: TaggerPart {
    /// What it remembers of one connection, from flow to flow.
    type Memory: Copy + Default + std::fmt::Debug;

    /// A new flow begins on the connection that `memory` belongs to.
    fn start_flow(&self, _memory: &mut Self::Memory) {}
    /// The tag of the next packet of the flow.
    fn tag(&self, memory: &mut Self::Memory, departure: &Departure, work: &Work) -> Tag;
    /// The priority of a pure ACK for a packet of priority `acknowledged`.
    fn ack_priority(&self, _acknowledged: u8) -> u8 {
        0
    }
}

/// The taggers that hosts may have whose packets carry `H`: one of them.
pub trait TaggerFamily<H: Header>: Tagging<H> + Clone + std::fmt::Debug + 'static {
    /// The tagger that the settings name, for ports with so many queues.
    ///
    /// # Errors
    /// If it is not one of the family, or its values do not fit.
    fn from_settings(settings: &Settings, queues: usize) -> Result<Self, SettingError>;

    /// What its tags come down to where flows are fluids.
    fn fluid(&self) -> Tagged;
}

/// A family of one.
impl<H: Header, G: TaggerPart + Tagging<H>> TaggerFamily<H> for G {
    fn from_settings(settings: &Settings, queues: usize) -> Result<G, SettingError> {
        if !G::PART.is_named_by(settings) {
            return Err(part::does_not_fit(Role::Tagger, Role::Controller, settings, &[G::PART]));
        }
        G::build(settings, queues)
    }

    fn fluid(&self) -> Tagged {
        TaggerPart::fluid(self)
    }
}

/// Writes a type that is any of some plain taggers, so that they share one compiled engine.
macro_rules! any_tagger {
    ($($Name:ident: $memory:ident),*) => {
        /// Any of the taggers that know nothing of headers.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyTagger {
            $(#[allow(missing_docs, reason = "the type says it")] $Name($Name)),*
        }

        impl AnyTagger {
            /// All of them.
            pub const PARTS: &[Part] = &[$($Name::PART),*];
        }

        /// What any of them remembers of one connection, from flow to flow.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct AnyMemory {
            $($memory: <$Name as PlainTagger>::Memory),*
        }

        impl<H: Header> Tagging<H> for AnyTagger {
            type Flow = AnyMemory;

            fn start_flow(&self, flow: &mut AnyMemory, _start: &Start) {
                match self {
                    $(AnyTagger::$Name(tagger) => {
                        PlainTagger::start_flow(tagger, &mut flow.$memory);
                    })*
                }
            }

            #[inline]
            fn tag(
                &self,
                flow: &mut AnyMemory,
                departure: &Departure,
                work: &Work,
                packet: &mut Packet<H>,
            ) {
                let tag = match self {
                    $(AnyTagger::$Name(tagger) => {
                        PlainTagger::tag(tagger, &mut flow.$memory, departure, work)
                    })*
                };
                packet.priority = tag.priority;
                packet.set_rank(tag.rank);
            }

            #[inline]
            fn ack_priority(&self, acknowledged: u8) -> u8 {
                match self {
                    $(AnyTagger::$Name(tagger) => PlainTagger::ack_priority(tagger, acknowledged)),*
                }
            }
        }

        impl<H: Header> TaggerFamily<H> for AnyTagger {
            fn from_settings(settings: &Settings, queues: usize) -> Result<AnyTagger, SettingError> {
                $(if $Name::PART.is_named_by(settings) {
                    return $Name::build(settings, queues).map(AnyTagger::$Name);
                })*
                Err(part::does_not_fit(Role::Tagger, Role::Controller, settings, AnyTagger::PARTS))
            }

            fn fluid(&self) -> Tagged {
                match self { $(AnyTagger::$Name(tagger) => TaggerPart::fluid(tagger)),* }
            }
        }
    };
}

any_tagger!(NoTagger: none, Mlfq: mlfq, SizeKnown: size_known, BytesSent: bytes_sent, Remaining: remaining);
