//! Remaining size (pFabric): what is left of a flow decides, the least first.
//!
//! Alizadeh et al., SIGCOMM 2013, 4.2: "packets carry a single priority number set independently
//! by each flow", the flow's remaining size when the packet is sent.

use super::{Tag, Work};
use crate::catalogue::{Part, Role};

/// The catalogue's entry.
pub const PART: Part = Part {
    role: Role::Tagger,
    name: "remaining",
    about: "Ranks are what is left of the flow when the packet is sent: its packets that neither \
            an ACK nor a SACK block has reported.",
    source: "pFabric: Alizadeh et al., SIGCOMM 2013; SACK: the PIAS authors' simulator",
    parameters: &[],
};

/// The tag of a packet.
#[inline]
pub fn tag(work: &Work) -> Tag {
    Tag { priority: 0, rank: work.remaining }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Bytes;

    use super::*;

    #[test]
    fn the_rank_is_what_remains() {
        let work = Work { size: Bytes::new(14_600), remaining: 4 };
        assert_eq!(tag(&work), Tag { priority: 0, rank: 4 });
    }
}
