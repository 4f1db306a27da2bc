//! The optimum of the PIAS paper's model with its upper bound. Its delays depend on all earlier
//! thresholds, but only through one number: the sum of the bounds so far.
//!
//! Ways to a place are kept as long as no other has both a smaller sum and a smaller cost
//! (Pareto labels). That is exact, and affordable for some dozens of candidates.

use crate::ThresholdsError;
use crate::candidates;
use crate::edge::Edge;
use crate::forecast::Forecast;
use crate::level_costs::LevelCosts;
use crate::model::PiasMm1Bound;
use crate::objective::Objective;
use crate::shortest_path::{self, Cuts};
use crate::term::{self, CANDIDATES as CANDIDATES_FOR_STABILITY, Term};

/// The number of sizes among which the optimum is exact.
pub(crate) const CANDIDATES: usize = 96;

/// Steps on each side of a threshold when it is refined.
pub(crate) const FINER: usize = 4;

/// The sum of the bounds of the levels, per arrival: `(b - a) P(S > a)`.
struct BoundedTraffic<'a>(&'a [Edge]);

impl LevelCosts for BoundedTraffic<'_> {
    fn last(&self) -> usize {
        self.0.len() - 1
    }

    fn cost(&self, from: usize, to: usize) -> f64 {
        (self.0[to].size - self.0[from].size) * self.0[from].share_above
    }

    fn factors(&self) -> usize {
        2
    }

    fn begin(&self, origin: usize, place: usize, factors: &mut [f64]) {
        let share = self.0[place].share_above;
        factors[0] = share;
        factors[1] = -share * (self.0[place].size - self.0[origin].size);
    }

    fn end(&self, origin: usize, to: usize, factors: &mut [f64]) {
        factors[0] = self.0[to].size - self.0[origin].size;
        factors[1] = 1.0;
    }

    /// Where shares fall and sizes rise, the cost is Monge: a lower share at the beginning is worth
    /// more in a longer level.
    fn is_monge(&self) -> bool {
        self.0.is_sorted_by(|a, b| a.share_above >= b.share_above && a.size <= b.size)
    }
}

/// The thresholds that keep the sum of the bounds lowest.
pub(crate) struct MostStable {
    pub(crate) thresholds: Vec<f64>,
    /// The highest load at which these thresholds have a steady state. No thresholds have one at a
    /// higher load.
    pub(crate) load: f64,
}

/// The most stable thresholds for `queues` queues.
pub(crate) fn most_stable(
    forecast: &Forecast,
    queues: usize,
) -> Result<MostStable, ThresholdsError> {
    let sizes = candidates::grid(std::slice::from_ref(forecast), &[], CANDIDATES_FOR_STABILITY);
    let terms = term::terms(&[(forecast.clone(), 1.0)], &Objective::MeanFct, &sizes)?;
    let cuts = shortest_path::cheapest(&BoundedTraffic(&terms[0].edges.edges), queues);
    let thresholds = cuts.places.iter().map(|place| sizes[place - 1]).collect();
    Ok(MostStable { thresholds, load: forecast.sizes.mean() / cuts.cost })
}

/// A way to a place.
#[derive(Clone, Copy, Debug)]
struct Label {
    /// Sum of the bounds so far, per arrival.
    traffic: f64,
    cost: f64,
    from: usize,
    /// Which of the labels of `from`.
    label: usize,
}

/// The cheapest choice of at most `queues` levels; `None` if none has a steady state.
pub(crate) fn cheapest(terms: &[Term], queues: usize) -> Option<Cuts> {
    let edges = &terms[0].edges.edges;
    let last = edges.len() - 1;
    let start = Label { traffic: 0.0, cost: 0.0, from: 0, label: 0 };
    let mut layers: Vec<Vec<Vec<Label>>> = vec![vec![Vec::new(); last + 1]];
    layers[0][0].push(start);
    let mut best: Option<(Label, usize)> = None;
    for used in 1..=queues.min(last) {
        let before = &layers[used - 1];
        let layer: Vec<Vec<Label>> = (0..=last).map(|to| extend(terms, before, to)).collect();
        // Labels rise in traffic and fall in cost: the last is the cheapest.
        if let Some(label) = layer[last].last()
            && best.is_none_or(|(found, _)| label.cost < found.cost)
        {
            best = Some((*label, used));
        }
        layers.push(layer);
    }
    let (mut label, used) = best?;
    let cost = label.cost;
    let mut places = Vec::new();
    for layer in layers[..used].iter().skip(1).rev() {
        places.push(label.from);
        label = layer[label.from][label.label];
    }
    places.reverse();
    Some(Cuts { places, cost })
}

/// The ways to `to` with one level more than `before`, none worse than another in both numbers.
fn extend(terms: &[Term], before: &[Vec<Label>], to: usize) -> Vec<Label> {
    let edges = &terms[0].edges.edges;
    let mut labels = Vec::new();
    for (from, ways) in before.iter().enumerate().take(to) {
        let more = (edges[to].size - edges[from].size) * edges[from].share_above;
        for (label, way) in ways.iter().enumerate() {
            let traffic = way.traffic + more;
            if let Some(delay) = delay(terms, from, traffic) {
                labels.push(Label { traffic, cost: way.cost + delay, from, label });
            }
        }
    }
    labels.sort_by(|a, b| a.traffic.total_cmp(&b.traffic).then(a.cost.total_cmp(&b.cost)));
    let mut least = f64::INFINITY;
    labels.retain(|label| {
        let better = label.cost < least;
        least = least.min(label.cost);
        better
    });
    labels
}

/// What the packet delays of the queue that begins at `from` add to the objective, if the bounds of
/// this queue and the higher ones sum up to `traffic`. `None` where they exceed the capacity of a
/// link.
fn delay(terms: &[Term], from: usize, traffic: f64) -> Option<f64> {
    let mut total = 0.0;
    for term in terms {
        let edges = &term.edges;
        let load = edges.arrival_rate * traffic;
        if load >= 1.0 {
            return None;
        }
        total += term.scale * edges.edges[from].flows_above * PiasMm1Bound::packet_delay(load);
    }
    Some(total)
}
