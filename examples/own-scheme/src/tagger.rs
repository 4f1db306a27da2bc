//! Demotion by packets sent: a flow loses a priority each time it has sent four times as many.

use flowsched_schemes::tagger::{Departure, PlainTagger, Tag, Work};

/// A flow's first 3 packets have the highest priority, the next 12 the second, and so on.
pub struct PacketsSent {
    /// The lowest priority that ports have a queue for.
    pub lowest: u8,
}

impl PlainTagger for PacketsSent {
    /// Packets that the flow has sent, retransmissions included.
    type Memory = u32;

    fn start_flow(&self, sent: &mut u32) {
        *sent = 0;
    }

    fn tag(&self, sent: &mut u32, _departure: &Departure, _work: &Work) -> Tag {
        *sent += 1;
        Tag { priority: self.lowest.min(sent.ilog(4) as u8), rank: 0 }
    }
}
