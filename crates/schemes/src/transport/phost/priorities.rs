//! The queue that a packet of pHost asks for. Packets without data use the highest queue, short
//! flows the next, and long flows the last.

use flowsched_units::{Bytes, Kind as ValueKind, PacketMeaning, Parameter, SettingError, Settings};

use super::{Kind, PhostHeader};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::HostTags;
use crate::packet::Packet;
use crate::part::{Part, Role};
use crate::tagger::{Departure, TaggerPart, Tagging, Work};

/// The largest short flow.
pub const SHORT_FLOW: Parameter = Parameter {
    name: "short_flow",
    kind: ValueKind::Size(PacketMeaning::Payload),
    default: Some("70pkt"),
    about: "The largest size of flows that use the second queue; larger flows use the third.",
    source: "the authors' simulator: a bandwidth-delay product",
};

/// Writes on each packet the queue of its kind and its flow's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhostPriorities {
    short: Bytes,
}

impl TaggerPart for PhostPriorities {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "phost",
        about: "Requests, tokens and answers go first, then short flows, then long ones.",
        source: "Gao et al., CoNEXT 2015; the authors' simulator",
        parameters: &[&[SHORT_FLOW]],
    };

    fn build(settings: &Settings, _queues: usize) -> Result<PhostPriorities, SettingError> {
        Ok(PhostPriorities { short: settings.size(&SHORT_FLOW) })
    }

    fn fluid(&self) -> Tagged {
        Tagged::without_ranks(Sharing::SHORTEST_REMAINING_FIRST)
    }

    fn on_linux(&self) -> Option<HostTags> {
        None
    }
}

impl Tagging<PhostHeader> for PhostPriorities {
    type Flow = ();

    #[inline]
    fn tag(&self, (): &mut (), _: &Departure, work: &Work, packet: &mut Packet<PhostHeader>) {
        packet.priority = match packet.header.kind {
            Kind::Data if work.size <= self.short => 1,
            Kind::Data => 2,
            Kind::Request | Kind::Token | Kind::Done => 0,
        };
    }
}
