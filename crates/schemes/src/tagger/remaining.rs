//! Remaining size (pFabric): the flow with the least left to send goes first.
//!
//! Alizadeh et al., SIGCOMM 2013, 4.2: "packets carry a single priority number set independently
//! by each flow", the flow's remaining size when the packet is sent.

use flowsched_units::{SettingError, Settings};

use super::{Departure, PlainTagger, Tag, TaggerPart, Work};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::HostTags;
use crate::part::{Part, Role};

/// Ranks are what remains of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining;

impl TaggerPart for Remaining {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "remaining",
        about: "The rank is the flow's remaining size when the packet is sent: its packets that no \
                ACK or SACK block has reported.",
        source: "pFabric: Alizadeh et al., SIGCOMM 2013; SACK: the PIAS authors' simulator",
        parameters: &[],
    };

    fn build(_settings: &Settings, _queues: usize) -> Result<Remaining, SettingError> {
        Ok(Remaining)
    }

    fn fluid(&self) -> Tagged {
        Tagged::by_rank(Sharing::SHORTEST_REMAINING_FIRST)
    }

    fn on_linux(&self) -> Option<HostTags> {
        None
    }
}

impl PlainTagger for Remaining {
    type Memory = ();

    #[inline]
    fn tag(&self, (): &mut (), _departure: &Departure, work: &Work) -> Tag {
        Tag { priority: 0, rank: work.remaining }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Time};

    use super::*;

    #[test]
    fn the_rank_is_what_remains() {
        let work = Work { size: Bytes::new(14_600), remaining: 4 };
        let (now, offset, payload) = (Time::ZERO, 0, 1460);
        let departure = Departure { now, offset, payload, idle: false, timeouts_in_a_row: 0 };
        let tag = Remaining.tag(&mut (), &departure, &work);
        assert_eq!(tag, Tag { priority: 0, rank: 4 });
    }
}
