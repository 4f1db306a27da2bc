//! Bytes sent (LAS): the flow that has sent least goes first.
//!
//! Least attained service, PIAS ToN 2017, III-A and V-C.1: "pFabric using bytes sent as the
//! priority". The rank is the packet's place in its flow, so that a retransmission keeps its
//! first rank.

use flowsched_units::{PACKET_PAYLOAD, SettingError, Settings};

use super::{Departure, PlainTagger, Tag, TaggerPart, Work};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::HostTags;
use crate::part::{Part, Role};

/// Ranks rise with the bytes sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesSent;

impl TaggerPart for BytesSent {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "bytes-sent",
        about: "The rank is the packet's place in its flow: what the flow has sent before it.",
        source: "PIAS ToN 2017, V-C.1; place in the flow: the PIAS authors' simulator",
        parameters: &[],
    };

    fn build(_settings: &Settings, _queues: usize) -> Result<BytesSent, SettingError> {
        Ok(BytesSent)
    }

    fn fluid(&self) -> Tagged {
        Tagged::by_rank(Sharing::least_attained())
    }

    fn on_linux(&self) -> Option<HostTags> {
        None
    }
}

impl PlainTagger for BytesSent {
    type Memory = ();

    /// Ranks count full packets, so that they fit into 32 bits.
    #[inline]
    fn tag(&self, (): &mut (), departure: &Departure, _work: &Work) -> Tag {
        let packets = departure.offset / PACKET_PAYLOAD;
        Tag { priority: 0, rank: u32::try_from(packets).unwrap_or(u32::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Time};

    use super::*;

    #[test]
    fn the_rank_is_the_place_in_the_flow() {
        let at = |offset| {
            let (now, payload) = (Time::ZERO, 1460);
            let departure = Departure { now, offset, payload, idle: false, timeouts_in_a_row: 0 };
            let work = Work { size: Bytes::MAX, remaining: 1 };
            BytesSent.tag(&mut (), &departure, &work).rank
        };
        assert_eq!([at(0), at(1460), at(14_600)], [0, 1, 10]);
        assert_eq!(at(u64::MAX), u32::MAX);
    }
}
