//! Bytes sent (LAS): the flow that has sent least goes first.
//!
//! Least attained service, PIAS ToN 2017, III-A and V-C.1: "pFabric using bytes sent as the
//! priority". The rank is the packet's place in its flow, so that a retransmission keeps its
//! first rank.

use flowsched_units::PACKET_PAYLOAD;

use super::{Departure, Tag};
use crate::catalogue::{Part, Role};

/// The catalogue's entry.
pub const PART: Part = Part {
    role: Role::Tagger,
    name: "bytes-sent",
    about: "Ranks are what the flow has sent before the packet: the packet's place in its flow.",
    source: "PIAS ToN 2017, V-C.1; place in the flow: the PIAS authors' simulator",
    parameters: &[],
};

/// The tag of the packet that departs; ranks count full packets, so that they fit.
#[inline]
pub fn tag(departure: &Departure) -> Tag {
    let packets = departure.offset / PACKET_PAYLOAD;
    Tag { priority: 0, rank: u32::try_from(packets).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Time;

    use super::*;

    #[test]
    fn the_rank_is_the_place_in_the_flow() {
        let at = |offset| {
            let now = Time::ZERO;
            tag(&Departure { now, offset, payload: 1460, idle: false, timeouts_in_a_row: 0 }).rank
        };
        assert_eq!([at(0), at(1460), at(14_600)], [0, 1, 10]);
        assert_eq!(at(u64::MAX), u32::MAX);
    }
}
