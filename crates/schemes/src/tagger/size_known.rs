//! Known sizes (TCP\[a\]Q, SJF): a flow has the priority of its size from start to end.
//!
//! EPN 2018, VI-A: TCP\[a\]Q "classifies flows to different priority queues at the switch based on
//! flow size"; Slytherin 2018, IV-3: ideal SJF "is aware of flow sizes and maps short flows to
//! higher priority queues".

use flowsched_units::{Kind, PACKET_PAYLOAD, PacketMeaning, Parameter, SettingError, Settings};

use super::thresholds::{self, Thresholds};
use super::{Departure, PlainTagger, Tag, TaggerPart, Work};
use crate::flow_level::{Sharing, Tagged};
use crate::on_linux::{HostTags, SizeTags};
use crate::part::{Part, Role};

/// Words that may stand for thresholds. The reader of the experiment replaces them by sizes.
const THRESHOLD_WORDS: &[&str] = &["optimal-known-sizes", "equal-split"];

const THRESHOLDS: Parameter = Parameter {
    kind: Kind::Sizes { packet: PacketMeaning::Payload, words: THRESHOLD_WORDS },
    default: Some("optimal-known-sizes"),
    about: "The largest size of each priority but the last, one fewer than queues, none below \
            the one before it.",
    source: "pFabric: Alizadeh et al., SIGCOMM 2013, 6",
    ..thresholds::THRESHOLDS
};

const PARAMETERS: &[Parameter] = &[THRESHOLDS];

/// The rule that all flows of a host share.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeKnown {
    thresholds: Thresholds,
}

impl TaggerPart for SizeKnown {
    const PART: Part = Part {
        role: Role::Tagger,
        name: "size-known",
        about: "The priority follows from the flow's size, and the rank is the size in packets.",
        source: "pFabric: Alizadeh et al., SIGCOMM 2013, 6; EPN 2018, VI-A",
        parameters: &[PARAMETERS],
    };

    /// # Errors
    /// If there is not one threshold fewer than queues, or one is below the one before it, or a
    /// word still stands for the thresholds.
    fn build(settings: &Settings, queues: usize) -> Result<SizeKnown, SettingError> {
        let thresholds = Thresholds::from_settings(settings, &THRESHOLDS)?;
        thresholds.check(queues)?;
        Ok(SizeKnown { thresholds })
    }

    fn fluid(&self) -> Tagged {
        Tagged {
            by_priority: Sharing::Sizes(self.thresholds.sizes()),
            by_rank: Ok(Sharing::SHORTEST_FIRST),
        }
    }

    fn on_linux(&self) -> Option<HostTags> {
        Some(HostTags::Size(SizeTags(self.thresholds.sizes())))
    }
}

impl PlainTagger for SizeKnown {
    type Memory = ();

    /// The tag is the same for every packet of a flow.
    #[inline]
    fn tag(&self, (): &mut (), _departure: &Departure, work: &Work) -> Tag {
        let size = work.size.get();
        Tag {
            priority: self.thresholds.priority_at(size),
            rank: u32::try_from(size.div_ceil(PACKET_PAYLOAD)).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Time, Value};
    use proptest::prelude::*;

    use super::*;

    fn rule(thresholds: &[u64], queues: usize) -> Result<SizeKnown, SettingError> {
        let mut settings = Settings::new();
        let sizes = thresholds.iter().copied().map(Bytes::new).collect();
        settings.set("thresholds", Value::Sizes(sizes));
        SizeKnown::build(&settings, queues)
    }

    fn tag(rule: &SizeKnown, size: u64) -> Tag {
        let (now, offset, payload) = (Time::ZERO, 0, 1460);
        let departure = Departure { now, offset, payload, idle: false, timeouts_in_a_row: 0 };
        rule.tag(&mut (), &departure, &Work { size: Bytes::new(size), remaining: 1 })
    }

    #[test]
    fn applications_write_what_the_tagger_writes() {
        let rule = rule(&[1_000, 1_000, 50_000], 4).unwrap();
        let Some(HostTags::Size(tags)) = rule.on_linux() else { panic!("sizes") };
        assert_eq!(tags.priorities(), 4);
        for size in [1, 1_000, 1_001, 50_000, 50_001] {
            assert_eq!(tags.priority_of(Bytes::new(size)), tag(&rule, size).priority, "{size} B");
        }
    }

    #[test]
    fn short_flows_have_higher_priorities_from_their_first_packet_on() {
        // EPN 2018, VI-A: TCP[a]Q "classifies flows to different priority queues at the switch
        // based on flow size".
        let rule = rule(&[10_000, 1_000_000], 3).unwrap();
        let priority = |size| tag(&rule, size).priority;
        assert_eq!([priority(1), priority(10_000), priority(10_001)], [0, 0, 1]);
        assert_eq!([priority(1_000_000), priority(1_000_001)], [1, 2]);
    }

    #[test]
    fn ranks_are_sizes_in_packets() {
        let rule = rule(&[], 1).unwrap();
        let rank = |size| tag(&rule, size).rank;
        assert_eq!([rank(1), rank(1460), rank(1461), rank(u64::MAX)], [1, 1, 2, u32::MAX]);
    }

    #[test]
    fn thresholds_have_to_fit_the_queues() {
        assert!(rule(&[10], 3).is_err());
        assert_eq!(rule(&[10, 5], 3).unwrap_err().key, "thresholds");
        assert!(SizeKnown::build(&Settings::defaults(PARAMETERS), 8).is_err(), "a word");
    }

    proptest! {
        #[test]
        fn a_larger_flow_never_goes_first(
            mut thresholds in prop::collection::vec(0u64..1_000_000, 0..7),
            a in 1u64..2_000_000, b in 1u64..2_000_000,
        ) {
            thresholds.sort_unstable();
            let rule = rule(&thresholds, thresholds.len() + 1).unwrap();
            let (short, long) = (tag(&rule, a.min(b)), tag(&rule, a.max(b)));
            prop_assert!(short.priority <= long.priority && short.rank <= long.rank);
        }
    }
}
