//! Schedules on one link of rate 1 for flows whose sizes are known: fair sharing, the optimal
//! schedules, and D3 (PDQ, SIGCOMM 2012, section 2.1 and Figure 1).

use std::cmp::Ordering;

/// A flow that is there from time `start` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// When it starts.
    pub start: f64,
    /// How long the link takes for it alone.
    pub size: f64,
    /// The deadline, infinite without one.
    pub deadline: f64,
}

impl Flow {
    /// A flow without a deadline that is there from the beginning.
    pub fn of_size(size: f64) -> Flow {
        Flow { start: 0.0, size, deadline: f64::INFINITY }
    }

    /// A flow with a deadline that is there from the beginning.
    pub fn with_deadline(size: f64, deadline: f64) -> Flow {
        Flow { start: 0.0, size, deadline }
    }
}

/// What a scheduler sees of a flow that has started and not ended.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: usize,
    left: f64,
    deadline: f64,
}

/// Serves `flows` at the rates that `rates` gives the waiting flows, in the order of their list.
/// `rates` is called again whenever a flow starts, ends or misses its deadline. Returns when each
/// flow ends.
fn serve(flows: &[Flow], rates: impl Fn(f64, &[Waiting]) -> Vec<f64>) -> Vec<f64> {
    let mut left: Vec<f64> = flows.iter().map(|flow| flow.size).collect();
    let mut ends = vec![f64::NAN; flows.len()];
    let mut now = flows.iter().map(|flow| flow.start).fold(f64::INFINITY, f64::min);
    while now.is_finite() {
        let waiting: Vec<Waiting> = (0..flows.len())
            .filter(|&index| ends[index].is_nan() && flows[index].start <= now)
            .map(|index| Waiting { index, left: left[index], deadline: flows[index].deadline })
            .collect();
        let rates = rates(now, &waiting);
        let starts = flows.iter().map(|flow| flow.start);
        let deadlines = waiting.iter().map(|flow| flow.deadline);
        let finishes = waiting.iter().zip(&rates).map(|(flow, rate)| now + flow.left / rate);
        let later = starts.chain(deadlines).filter(|time| *time > now);
        let next =
            later.chain(finishes.filter(|time| !time.is_nan())).fold(f64::INFINITY, f64::min);
        for (flow, rate) in waiting.iter().zip(&rates) {
            // A flow that is meant to end at `next` does, whatever rounding leaves.
            if now + flow.left / rate <= next {
                ends[flow.index] = next;
            } else {
                left[flow.index] -= rate * (next - now);
            }
        }
        now = next;
    }
    ends
}

/// Serves the first waiting flow by `order`. Among equals, the earlier in the list goes first.
fn first_by(flows: &[Flow], order: impl Fn(&Waiting, &Waiting) -> Ordering) -> Vec<f64> {
    serve(flows, |_, waiting| {
        let first = waiting.iter().min_by(|a, b| order(a, b).then(a.index.cmp(&b.index)));
        let first = first.map(|flow| flow.index);
        waiting.iter().map(|flow| f64::from(Some(flow.index) == first)).collect()
    })
}

/// When each flow ends if all flows share the link equally.
pub fn fair_sharing(flows: &[Flow]) -> Vec<f64> {
    serve(flows, |_, waiting| vec![1.0 / waiting.len() as f64; waiting.len()])
}

/// When each flow ends if the shortest remaining flow goes first. No schedule has a lower mean flow
/// completion time. If all flows start at once, this is shortest job first.
pub fn shortest_remaining_first(flows: &[Flow]) -> Vec<f64> {
    first_by(flows, |a, b| a.left.total_cmp(&b.left))
}

/// When each flow ends if the earliest deadline goes first. This meets all deadlines if any
/// schedule does.
pub fn earliest_deadline_first(flows: &[Flow]) -> Vec<f64> {
    first_by(flows, |a, b| a.deadline.total_cmp(&b.deadline))
}

/// The largest number of flows, all there from the beginning, that can meet their deadlines (Moore
/// and Hodgson 1968). Takes flows by deadline, and gives up the longest whenever one is late.
pub fn most_in_time(flows: &[Flow]) -> usize {
    let mut by_deadline: Vec<&Flow> = flows.iter().collect();
    by_deadline.sort_by(|a, b| a.deadline.total_cmp(&b.deadline));
    let mut kept: Vec<f64> = Vec::new();
    for flow in by_deadline {
        kept.push(flow.size);
        kept.sort_by(f64::total_cmp);
        if kept.iter().sum::<f64>() > flow.deadline {
            kept.pop();
        }
    }
    kept.len()
}

/// When each flow ends under D3, as a fluid. In the order of the list, each flow gets the rate that
/// it needs to end at its deadline, as far as there is any left. All flows share the rest equally.
pub fn d3(flows: &[Flow]) -> Vec<f64> {
    serve(flows, |now, waiting| {
        let mut free = 1.0;
        let mut granted: Vec<f64> = Vec::with_capacity(waiting.len());
        for flow in waiting {
            let time_left = flow.deadline - now;
            let wanted = if time_left > 0.0 { flow.left / time_left } else { 0.0 };
            let rate = f64::min(wanted, free);
            free -= rate;
            granted.push(rate);
        }
        let share = free / waiting.len() as f64;
        granted.iter().map(|rate| rate + share).collect()
    })
}

/// Mean flow completion time of flows that end at `ends`.
pub fn mean_completion(flows: &[Flow], ends: &[f64]) -> f64 {
    let total: f64 = flows.iter().zip(ends).map(|(flow, end)| end - flow.start).sum();
    total / flows.len() as f64
}

/// How many of the flows that end at `ends` meet their deadlines, up to rounding.
pub fn in_time(flows: &[Flow], ends: &[f64]) -> usize {
    flows.iter().zip(ends).filter(|(flow, end)| **end <= flow.deadline * (1.0 + 1e-9)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figure_1() -> [Flow; 3] {
        [
            Flow::with_deadline(1.0, 1.0),
            Flow::with_deadline(2.0, 4.0),
            Flow::with_deadline(3.0, 6.0),
        ]
    }

    /// All orders of `flows`.
    fn orders(flows: &[Flow]) -> Vec<Vec<Flow>> {
        if flows.len() <= 1 {
            return vec![flows.to_vec()];
        }
        let mut all = Vec::new();
        for first in 0..flows.len() {
            let mut rest = flows.to_vec();
            let flow = rest.remove(first);
            all.extend(orders(&rest).into_iter().map(|mut order| {
                order.insert(0, flow);
                order
            }));
        }
        all
    }

    #[test]
    fn pdq_figure_1_to_the_digit() {
        let flows = figure_1();
        let rounded =
            |ends: Vec<f64>| ends.iter().map(|end| format!("{end:.9}")).collect::<Vec<_>>();
        let at = |ends: [f64; 3]| rounded(ends.to_vec());
        assert_eq!(rounded(fair_sharing(&flows)), at([3.0, 5.0, 6.0]));
        assert_eq!(rounded(shortest_remaining_first(&flows)), at([1.0, 3.0, 6.0]));
        assert_eq!(rounded(earliest_deadline_first(&flows)), at([1.0, 3.0, 6.0]));
        let mean = |ends: &[f64]| format!("{:.2}", mean_completion(&flows, ends));
        assert_eq!(mean(&fair_sharing(&flows)), "4.67");
        assert_eq!(mean(&shortest_remaining_first(&flows)), "3.33");
        assert_eq!(in_time(&flows, &fair_sharing(&flows)), 1);
        assert_eq!(in_time(&flows, &earliest_deadline_first(&flows)), 3);
        assert_eq!(most_in_time(&flows), 3);
        let all_met = orders(&flows).iter().filter(|order| in_time(order, &d3(order)) == 3).count();
        assert_eq!(all_met, 1);
        assert_eq!(in_time(&flows, &d3(&flows)), 3, "the one order is that of the deadlines");
    }

    fn flows(starts: bool) -> impl Strategy<Value = Vec<Flow>> {
        let latest = if starts { 8 } else { 1 };
        prop::collection::vec((0..latest, 1u32..9, 1u32..30), 1..6).prop_map(|flows| {
            let flow = |(start, size, deadline): (i32, u32, u32)| Flow {
                start: f64::from(start),
                size: f64::from(size),
                deadline: f64::from(deadline),
            };
            flows.into_iter().map(flow).collect()
        })
    }

    proptest! {
        /// Compares with flows that are served one after the other, in every order.
        #[test]
        fn nothing_beats_the_optimal_schedules(flows in flows(false)) {
            let (mut best_mean, mut most) = (f64::INFINITY, 0);
            for order in orders(&flows) {
                let mut now = 0.0;
                let ends: Vec<f64> = order.iter().map(|flow| { now += flow.size; now }).collect();
                best_mean = best_mean.min(mean_completion(&order, &ends));
                most = most.max(in_time(&order, &ends));
            }
            let found = mean_completion(&flows, &shortest_remaining_first(&flows));
            prop_assert!((found - best_mean).abs() < 1e-9);
            prop_assert_eq!(most_in_time(&flows), most);
            let earliest = in_time(&flows, &earliest_deadline_first(&flows));
            prop_assert!(most < flows.len() || earliest == flows.len());
        }

        #[test]
        fn every_discipline_ends_the_last_flow_at_the_same_time(flows in flows(true)) {
            let last = |ends: Vec<f64>| ends.into_iter().fold(0.0, f64::max);
            let expected = last(shortest_remaining_first(&flows));
            for found in [
                last(fair_sharing(&flows)),
                last(earliest_deadline_first(&flows)),
                last(d3(&flows)),
            ] {
                prop_assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
            }
        }

        #[test]
        fn sharing_is_never_better_in_the_mean(flows in flows(true)) {
            let best = mean_completion(&flows, &shortest_remaining_first(&flows));
            prop_assert!(best <= mean_completion(&flows, &fair_sharing(&flows)) + 1e-9);
            prop_assert!(best <= mean_completion(&flows, &earliest_deadline_first(&flows)) + 1e-9);
        }
    }
}
