//! What happened to the packets of a run on their way, as shares.

use flowsched_schemes::world::Uncounted;
use serde::{Deserialize, Serialize};

use super::{FlowRow, PacketCounters};

/// Shares of the packets of the measured flows. `None` if there are no such packets, or if they are not
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PacketFigures {
    /// The number of data packets that arrived.
    pub arrived: Option<u64>,
    /// The share of packets that some port marked.
    pub marked: Option<f64>,
    /// The share of packets that more than one port marked.
    pub marked_again: Option<f64>,
    /// The share of packets that more than one port marked, among tail flows: those whose FCT is beyond the
    /// 95th percentile (Slytherin 2018, III-A and Table I).
    pub marked_again_in_tail: Option<f64>,
    /// The share of packets that were sent for the first time and came after a packet that was sent later
    /// (Slytherin 2018, V-F).
    pub reordered: Option<f64>,
    /// The share of ACKs that acknowledged nothing new, among the ACKs of flows that lost no packet (EPN 2018,
    /// Fig. 6).
    pub duplicate_acks: Option<f64>,
    /// The share of ACKs that were at least the third in a row to acknowledge nothing new, among the same
    /// ACKs.
    pub third_duplicate_acks: Option<f64>,
}

impl PacketFigures {
    /// The shares over all flows together, for worlds that count data packets but not by flow, and no ACKs.
    pub(super) fn of_all(packets: PacketCounters) -> PacketFigures {
        let share = |part: u64| (packets.arrived > 0).then(|| part as f64 / packets.arrived as f64);
        PacketFigures {
            arrived: Some(packets.arrived),
            marked: share(packets.marked),
            marked_again: share(packets.marked_again),
            reordered: share(packets.reordered),
            ..PacketFigures::default()
        }
    }

    /// The shares over these flows.
    pub(super) fn from_flows(flows: &[&FlowRow], uncounted: Uncounted) -> PacketFigures {
        if uncounted.arrivals {
            return PacketFigures::default();
        }
        let whole = |flow: &&FlowRow| flow.packets.lost == 0;
        let safe: Vec<&FlowRow> = match uncounted.losses {
            true => Vec::new(),
            false => flows.iter().copied().filter(whole).collect(),
        };
        let tail = tail(flows);
        PacketFigures {
            arrived: Some(flows.iter().map(|flow| flow.packets.arrived).sum()),
            marked: share(flows, |flow| (flow.packets.marked, flow.packets.arrived)),
            marked_again: share(flows, |flow| (flow.packets.marked_again, flow.packets.arrived)),
            marked_again_in_tail: share(&tail, |flow| {
                (flow.packets.marked_again, flow.packets.arrived)
            }),
            reordered: share(flows, |flow| (flow.packets.reordered, flow.packets.arrived)),
            duplicate_acks: share(&safe, |flow| (flow.packets.duplicate_acks, flow.packets.acks)),
            third_duplicate_acks: share(&safe, |flow| {
                (flow.packets.third_duplicate_acks, flow.packets.acks)
            }),
        }
    }
}

/// The flows whose FCT is beyond the 95th percentile of those that finished.
fn tail<'a>(flows: &[&'a FlowRow]) -> Vec<&'a FlowRow> {
    let mut finished: Vec<&FlowRow> =
        flows.iter().copied().filter(|flow| flow.finished()).collect();
    finished.sort_by_key(|flow| flow.fct);
    finished.split_off((finished.len() * 95).div_ceil(100))
}

/// The sum of the first counts divided by the sum of the second counts; `None` if the second sum is 0.
fn share(flows: &[&FlowRow], counts: impl Fn(&FlowRow) -> (u64, u64)) -> Option<f64> {
    let (part, whole) = flows.iter().fold((0, 0), |(part, whole), flow| {
        let (more, all) = counts(flow);
        (part + more, whole + all)
    });
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use flowsched_units::Time;

    use super::*;

    fn flow(fct_us: u64, packets: PacketCounters) -> FlowRow {
        FlowRow { fct: Some(Time::from_us(fct_us)), packets, ..FlowRow::default() }
    }

    #[test]
    fn totals_say_nothing_of_acks_and_tails() {
        let all = PacketCounters { arrived: 50, marked: 10, reordered: 1, ..Default::default() };
        let figures = PacketFigures::of_all(all);
        let shares = (figures.marked, figures.marked_again, figures.reordered);
        assert_eq!(shares, (Some(0.2), Some(0.0), Some(0.02)));
        assert_eq!((figures.marked_again_in_tail, figures.duplicate_acks), (None, None));
        assert_eq!(PacketFigures::of_all(PacketCounters::default()).reordered, None);
    }

    #[test]
    fn the_tail_is_the_slowest_twentieth_and_losers_send_no_acks_that_count() {
        let calm = PacketCounters { arrived: 10, marked: 5, acks: 10, ..PacketCounters::default() };
        let slow = PacketCounters {
            arrived: 10,
            marked: 8,
            marked_again: 6,
            acks: 10,
            ..PacketCounters::default()
        };
        let loser =
            PacketCounters { lost: 1, duplicate_acks: 9, acks: 10, ..PacketCounters::default() };
        let mut flows: Vec<FlowRow> = (0..18).map(|us| flow(us, calm)).collect();
        flows.extend([flow(99, slow), flow(5, loser)]);
        let flows: Vec<&FlowRow> = flows.iter().collect();
        let of = |uncounted| PacketFigures::from_flows(&flows, uncounted);
        let figures = of(Uncounted::default());
        assert_eq!(figures.marked_again_in_tail, Some(0.6));
        assert_eq!(figures.marked_again, Some(6.0 / 190.0));
        assert_eq!(figures.duplicate_acks, Some(0.0));
        assert_eq!(figures.arrived, Some(190));
        let without_losses = of(Uncounted { losses: true, ..Uncounted::default() });
        assert_eq!((without_losses.duplicate_acks, without_losses.arrived), (None, Some(190)));
        let uncounted = of(Uncounted { arrivals: true, ..Uncounted::default() });
        assert_eq!(uncounted, PacketFigures::default());
        assert_eq!(PacketFigures::from_flows(&[], Uncounted::default()).reordered, None);
    }
}
