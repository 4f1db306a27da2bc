//! Which message sends next, which messages are granted, and at which priority.

use std::collections::BTreeMap;

use flowsched_units::{Bytes, Rate, Time};
use proptest::prelude::*;

use super::*;
use crate::tagger::{Departure, TaggerPart, Tagging, Work};
use crate::transport::homa::card::{Card, Claim};
use crate::transport::homa::grants::Grants;
use crate::transport::homa::priorities::{HomaPriorities, Levels};

#[test]
fn the_lowest_levels_are_used_first() {
    // 3.4: a new, shorter message finds a free level above.
    let levels = Levels { count: 4, lowest: 7 };
    let used =
        |active: usize| (0..active).map(|rank| levels.level(rank, active)).collect::<Vec<_>>();
    assert_eq!(used(1), [7]);
    assert_eq!(used(2), [6, 7]);
    assert_eq!(used(4), [4, 5, 6, 7]);
    assert_eq!(used(6), [4, 4, 4, 5, 6, 7], "more messages than levels share the highest");
}

#[test]
fn unscheduled_packets_have_their_sizes_priority_and_scheduled_ones_their_grants() {
    let rule = HomaPriorities::build(&settings(&[("unscheduled_cutoffs", "300B 2KB")]), 8).unwrap();
    let tag = |size: u64, kind| {
        let mut packet = packet(0, 0, kind, 0);
        let (now, offset, payload) = (Time::ZERO, 0, 1460);
        let departure = Departure { now, offset, payload, idle: false, timeouts_in_a_row: 0 };
        let work = Work { size: Bytes::new(size), remaining: 1 };
        rule.tag(&mut (), &departure, &work, &mut packet);
        packet.priority
    };
    assert_eq!(
        [1, 300, 301, 2_000, 2_001].map(|size| tag(size, Kind::Unscheduled)),
        [0, 0, 1, 1, 2]
    );
    assert_eq!([Kind::Scheduled, Kind::Busy, Kind::Asking].map(|kind| tag(5_000, kind)), [5, 0, 0]);
    assert_eq!(rule.scheduled(), Levels { count: 5, lowest: 7 });
}

/// A plain model of the paper's rules for grants, which looks at all messages at every arrival.
#[derive(Default)]
struct Model {
    /// For each message, the numbers of its segments, of those that came, and of those granted.
    messages: BTreeMap<u32, [u32; 3]>,
}

impl Model {
    /// The grants that follow a segment of `flow`: the message, the end of its granted segments,
    /// and the queue.
    fn on_segment(&mut self, homa: &Homa, flow: u32, segments: u32) -> Vec<(u32, u32, u8)> {
        let rtt = homa.settings.rtt_segments;
        let message = self.messages.entry(flow).or_insert([segments, 0, rtt]);
        message[1] += 1;
        self.messages.retain(|_, [segments, came, _]| came < segments);
        let mut waiting: Vec<(u32, u32)> = self
            .messages
            .iter()
            .filter(|(_, [segments, _, granted])| granted < segments)
            .map(|(flow, [segments, came, _])| (segments - came, *flow))
            .collect();
        waiting.sort_unstable();
        let most = homa.settings.overcommitment;
        let active = waiting.len().min(most);
        let (mut grants, mut rank) = (Vec::new(), 0);
        for (_, flow) in waiting {
            if rank == most {
                break;
            }
            let [segments, came, granted] = self.messages.get_mut(&flow).unwrap();
            let until = (*segments).min(*came + rtt);
            if until > *granted {
                *granted = until;
                let lowest = homa.settings.scheduled.lowest;
                let above = active.saturating_sub(rank + 1).min(most - 1) as u8;
                grants.push((flow, until, lowest - above));
            }
            rank += usize::from(until < *segments);
        }
        grants
    }
}

proptest! {
    #[test]
    fn the_messages_with_the_fewest_bytes_left_are_granted(
        sizes in prop::collection::vec(8u32..40, 1..12),
        order in prop::collection::vec(any::<prop::sample::Index>(), 400),
        levels in 1u32..8,
    ) {
        let homa = homa(&[("queues", &(levels + 1).to_string())]);
        let (mut grants, mut model) = (Grants::default(), Model::default());
        let mut left: Vec<(u32, u32)> = (0..).zip(sizes.iter().copied()).collect();
        let mut outstanding = BTreeMap::new();
        for index in order {
            if left.is_empty() {
                break;
            }
            let place = index.index(left.len());
            let (flow, remaining) = left[place];
            left[place].1 -= 1;
            left.retain(|(_, remaining)| *remaining > 0);
            let segments = sizes[flow as usize];
            let mut sent = Vec::new();
            let message = (flow, segments, remaining - 1);
            grants.on_segment(&homa.settings, Time::ZERO, message, |grant| {
                sent.push((grant.flow, grant.header.until, grant.header.priority));
            });
            outstanding.extend(sent.iter().map(|(flow, until, _)| (*flow, *until)));
            prop_assert_eq!(&sent, &model.on_segment(&homa, flow, segments));
            for (flow, until) in &outstanding {
                let came = sizes[*flow as usize]
                    - left.iter().find(|(other, _)| other == flow).map_or(0, |(_, left)| *left);
                prop_assert!(*until <= came + homa.settings.rtt_segments, "more than RTTbytes");
            }
        }
        // No message waits for a grant for ever: each one that came completely was granted
        // completely.
        if left.is_empty() {
            for (flow, until) in outstanding {
                prop_assert_eq!(until, sizes[flow as usize]);
            }
        }
    }

    #[test]
    fn the_card_takes_the_least_claim_once_it_is_free(
        claims in prop::collection::vec((0u32..9, 0u32..20), 1..30),
    ) {
        let mut card = Card::new(Rate::from_gbps(10));
        card.occupy(Time::ZERO, 1_500);
        let mut expected = Vec::new();
        for (remaining, flow) in claims {
            let claim = Claim { remaining, flow };
            prop_assert!(!card.is_turn_of(claim, Time::from_ns(1_199)));
            // A claim that is there already is withdrawn.
            if let Some(place) = expected.iter().position(|other| *other == claim) {
                expected.remove(place);
                card.withdraw(claim);
            } else {
                expected.push(claim);
                card.wait(claim);
            }
        }
        expected.sort_unstable();
        let free = Time::from_ns(1_200);
        prop_assert_eq!(card.next(Time::from_ns(1_199)), None, "1500 B take 1.2 us");
        prop_assert_eq!(card.deadline(), if expected.is_empty() { Time::MAX } else { free });
        let taken: Vec<u32> = std::iter::from_fn(|| card.next(free)).collect();
        prop_assert_eq!(taken, expected.iter().map(|claim| claim.flow).collect::<Vec<_>>());
    }
}
