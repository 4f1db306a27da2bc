//! A question for the optimiser: weighted forecasts, a model, and an objective.

use crate::ThresholdsError;
use crate::bound;
use crate::candidates;
use crate::forecast::Forecast;
use crate::level_costs::LevelCosts;
use crate::model::{LevelModel, MultilevelFcfs, MultilevelPs, PiasMm1};
use crate::names::ModelName;
use crate::objective::Objective;
use crate::shortest_path::{self, Cuts};
use crate::term::{Term, terms};

/// Steps on each side of a threshold when it is refined.
const FINER: usize = 24;

/// The cheapest levels between the edges of `terms`; `None` if none has a steady state.
pub(crate) fn cheapest(model: ModelName, terms: &[Term], queues: usize) -> Option<Cuts> {
    match model {
        ModelName::PiasMm1 => Some(among(PiasMm1, terms, queues)),
        ModelName::MultilevelFcfs => Some(among(MultilevelFcfs, terms, queues)),
        ModelName::MultilevelPs => Some(among(MultilevelPs, terms, queues)),
        ModelName::PiasMm1Bound => bound::cheapest(terms, queues),
    }
}

fn among<M: LevelModel>(model: M, terms: &[Term], queues: usize) -> Cuts {
    shortest_path::cheapest(&Costs { model, terms }, queues)
}

/// The costs of levels, summed over several terms with the same edges.
struct Costs<'a, M> {
    model: M,
    terms: &'a [Term],
}

impl<M: LevelModel> LevelCosts for Costs<'_, M> {
    fn last(&self) -> usize {
        self.terms[0].edges.edges.len() - 1
    }

    fn cost(&self, from: usize, to: usize) -> f64 {
        let cost = |Term { scale, edges }: &Term| {
            scale * self.model.level_cost(edges, &edges.edges[from], &edges.edges[to])
        };
        self.terms.iter().map(cost).sum()
    }

    fn factors(&self) -> usize {
        M::FACTORS * self.terms.len()
    }

    fn begin(&self, origin: usize, place: usize, factors: &mut [f64]) {
        for (Term { scale, edges }, factors) in
            self.terms.iter().zip(factors.chunks_mut(M::FACTORS))
        {
            self.model.begin(edges, &edges.edges[origin], &edges.edges[place], factors);
            factors.iter_mut().for_each(|factor| *factor *= scale);
        }
    }

    fn end(&self, origin: usize, to: usize, factors: &mut [f64]) {
        for (Term { edges, .. }, factors) in self.terms.iter().zip(factors.chunks_mut(M::FACTORS)) {
            self.model.end(&edges.edges[origin], &edges.edges[to], factors);
        }
    }

    fn is_monge(&self) -> bool {
        self.terms.iter().all(|term| self.model.is_monge(&term.edges))
    }
}

/// The thresholds, at most one fewer than `queues`, that minimise the weighted sum over
/// `forecasts`: the global optimum among `candidates` sizes, then refined around it down to a whole
/// packet or byte. `None` if no thresholds have a steady state.
pub(crate) fn minimise(
    forecasts: &[(Forecast, f64)],
    queues: usize,
    model: ModelName,
    objective: &Objective,
    candidates: usize,
) -> Result<Option<Chosen>, ThresholdsError> {
    let plain: Vec<Forecast> = forecasts.iter().map(|(forecast, _)| forecast.clone()).collect();
    let mut fixed = Vec::new();
    for forecast in &plain {
        fixed.extend(objective.weight(forecast)?.jumps());
        if model == ModelName::PiasMm1Bound {
            // Few candidates might all be unstable.
            fixed.extend(bound::most_stable(forecast, queues)?.thresholds);
        }
    }
    let unit = candidates::unit(&plain);
    let steps = if model == ModelName::PiasMm1Bound { bound::FINER } else { FINER };
    let mut sizes = candidates::grid(&plain, &fixed, candidates);
    let mut best = Chosen { candidates: sizes.len(), ..Chosen::default() };
    loop {
        let terms = terms(forecasts, objective, &sizes)?;
        let Some(cuts) = cheapest(model, &terms, queues) else { return Ok(None) };
        best.update(&cuts, &sizes, steps);
        if best.widths.iter().all(|width| *width <= unit) {
            return Ok(Some(best));
        }
        sizes = candidates::around(&plain, &best.thresholds, &best.widths, steps);
    }
}

/// The best thresholds so far, and how far away better ones may be.
pub(crate) struct Chosen {
    pub(crate) thresholds: Vec<f64>,
    /// How many sizes they were chosen from at first.
    pub(crate) candidates: usize,
    cost: f64,
    widths: Vec<f64>,
}

impl Default for Chosen {
    fn default() -> Chosen {
        let (thresholds, widths) = (Vec::new(), Vec::new());
        Chosen { thresholds, candidates: 0, cost: f64::INFINITY, widths }
    }
}

impl Chosen {
    /// Takes over `cuts` among `sizes` if they are better by more than rounding. Otherwise better
    /// thresholds can only be nearer.
    fn update(&mut self, cuts: &Cuts, sizes: &[f64], steps: usize) {
        if cuts.cost >= self.cost * (1.0 - 1e-12) {
            self.widths.iter_mut().for_each(|width| *width /= steps as f64);
            return;
        }
        self.cost = cuts.cost;
        self.thresholds = cuts.places.iter().map(|place| sizes[place - 1]).collect();
        self.widths = cuts.places.iter().map(|place| gap(sizes, place - 1)).collect();
    }
}

/// The distance from the size at `index` to the farther of its neighbours.
fn gap(sizes: &[f64], index: usize) -> f64 {
    let before = if index == 0 { 0.0 } else { sizes[index - 1] };
    let after = sizes.get(index + 1).copied().unwrap_or(sizes[index]);
    (sizes[index] - before).max(after - sizes[index])
}

#[cfg(test)]
mod tests;
