//! The queue that a packet of Homa asks for.
//!
//! Montazeri et al., SIGCOMM 2018, 3.4:
//!
//! - Unscheduled packets have a priority that depends on their message's size, by cutoffs that
//!   divide the unscheduled bytes evenly.
//! - Scheduled packets have the priority of their grant, below those of all unscheduled packets.
//! - Packets without data have the highest priority.

use flowsched_units::{
    Bytes, Kind as ValueKind, PacketMeaning, Parameter, SettingError, Settings, Value,
};

use super::header::{HomaHeader, Kind};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::HostTags;
use crate::packet::Packet;
use crate::part::{Part, Role};
use crate::tagger::{Departure, TaggerPart, Tagging, Work};

/// The largest message size of each unscheduled priority but the last.
pub const UNSCHEDULED_CUTOFFS: Parameter = Parameter {
    name: "unscheduled_cutoffs",
    kind: ValueKind::Sizes { packet: PacketMeaning::Payload, words: &[] },
    default: Some(""),
    about: "The largest message size of each unscheduled priority but the last, none below the \
            one before it; scheduled packets have the queues that are left.",
    source: "Montazeri et al., SIGCOMM 2018, 3.4; one unscheduled priority: the paper's W4 and W5",
};

/// Writes on each packet the queue that its sender or its receiver chose.
#[derive(Clone, Debug, PartialEq)]
pub struct HomaPriorities {
    cutoffs: Vec<Bytes>,
    scheduled: Levels,
}

/// The queues for scheduled packets: the lowest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The number of these queues.
    pub count: u8,
    /// The lowest queue.
    pub lowest: u8,
}

impl Levels {
    /// The queue of the message of this rank, where `active` messages are granted. The message with
    /// the fewest bytes left has rank 0. If there are more messages than queues, the first ones
    /// share the highest queue.
    #[inline]
    pub fn level(self, rank: usize, active: usize) -> u8 {
        let below = active.saturating_sub(1 + rank).min(usize::from(self.count) - 1);
        self.lowest - below as u8
    }
}

impl HomaPriorities {
    /// The queues that are left for scheduled packets.
    pub fn scheduled(&self) -> Levels {
        self.scheduled
    }
}

impl TaggerPart for HomaPriorities {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "homa",
        about: "Packets sent without a grant have the priority of the message's size, all others \
                the priority that the receiver grants.",
        source: "Montazeri et al., SIGCOMM 2018, 3.4",
        parameters: &[&[UNSCHEDULED_CUTOFFS]],
    };

    /// # Errors
    /// If there are as many cutoffs as queues or more, or if a cutoff is below the one before it.
    fn build(settings: &Settings, queues: usize) -> Result<HomaPriorities, SettingError> {
        let cutoffs = match settings.get(&UNSCHEDULED_CUTOFFS) {
            Some(Value::Sizes(sizes)) => sizes.clone(),
            _ => Vec::new(),
        };
        let error = |found, allowed| Err(SettingError::new(&UNSCHEDULED_CUTOFFS, found, allowed));
        if cutoffs.len() >= queues {
            let allowed = format!("fewer of them than the {queues} queues");
            return error(format!("{} cutoffs", cutoffs.len()), allowed);
        }
        if let Some(fall) = cutoffs.windows(2).find(|pair| pair[1] < pair[0]) {
            return error(
                format!("{} after {}", fall[1], fall[0]),
                "cutoffs that do not fall".into(),
            );
        }
        // If there is a single queue, or if cutoffs leave no queue, scheduled packets share the
        // last queue.
        let count = (queues - cutoffs.len() - 1).max(1) as u8;
        Ok(HomaPriorities { cutoffs, scheduled: Levels { count, lowest: (queues - 1) as u8 } })
    }

    fn fluid(&self) -> Tagged {
        Tagged::without_ranks(Sharing::SHORTEST_REMAINING_FIRST)
    }

    fn on_linux(&self) -> Option<HostTags> {
        None
    }
}

impl Tagging<HomaHeader> for HomaPriorities {
    type Flow = ();

    #[inline]
    fn tag(&self, (): &mut (), _: &Departure, work: &Work, packet: &mut Packet<HomaHeader>) {
        packet.priority = match packet.header.kind {
            Kind::Unscheduled => {
                self.cutoffs.iter().take_while(|cutoff| work.size > **cutoff).count() as u8
            }
            Kind::Scheduled => packet.header.priority,
            _ => 0,
        };
    }
}
