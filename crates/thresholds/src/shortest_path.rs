//! The global optimum: a path of at most K steps from the start of the sizes to their end. Each
//! step is a level whose cost depends only on where it begins and ends.
//!
//! This is dynamic programming over the number of levels. One more level is, for each place where
//! the last level may end, a minimum over all places where it may begin: K n^2 costs at worst. Two
//! ways need fewer costs, and both are exact:
//! - where the costs are found to be Monge, the best beginning never moves back as the end moves
//!   on, and divide and conquer needs n log n costs;
//! - elsewhere the beginnings are searched by branch and bound: a block of them is left out when
//!   a lower bound of its costs is no better than what has been found.

use crate::branch_and_bound::Search;
use crate::level_costs::{LevelCosts, Step};

/// A choice of levels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cuts {
    /// The places between levels, rising; fewer than asked for if fewer levels cost no more.
    pub(crate) places: Vec<usize>,
    /// The sum of the costs of the levels.
    pub(crate) cost: f64,
}

/// The cheapest choice of at most `levels` levels; of equal ones, the one with the fewest.
pub(crate) fn cheapest(costs: &impl LevelCosts, levels: usize) -> Cuts {
    let last = costs.last();
    let monge = costs.is_monge();
    let search = if monge || levels < 3 || last < 3 { None } else { Some(Search::new(costs)) };
    // One layer for each number of levels: the cheapest ways to each place.
    let mut layers: Vec<Vec<Step>> = vec![first_level(costs)];
    let mut best = Cuts { places: Vec::new(), cost: costs.cost(0, last) };
    for used in 2..=levels.min(last) {
        let before = &layers[used - 2];
        let step = |from: usize| Step { cost: before[from].cost + costs.cost(from, last), from };
        let end = (used - 1..last).map(step).min_by(|a, b| a.cost.total_cmp(&b.cost));
        if let Some(end) = end.filter(|end| end.cost < best.cost) {
            best = Cuts { places: trace(&layers, end.from), cost: end.cost };
        }
        if used < levels.min(last) {
            let layer = match &search {
                Some(search) => search.one_more_level(before),
                None => by_halves(costs, before),
            };
            layers.push(layer);
        }
    }
    best
}

/// The ways to each place with one level.
fn first_level(costs: &impl LevelCosts) -> Vec<Step> {
    let step = |to| Step { cost: costs.cost(0, to), from: 0 };
    [Step::NONE].into_iter().chain((1..=costs.last()).map(step)).collect()
}

/// The places of the path that `layers` hold, the last of them `place`.
fn trace(layers: &[Vec<Step>], place: usize) -> Vec<usize> {
    let mut places = vec![place];
    for layer in layers.iter().skip(1).rev() {
        let to = places[places.len() - 1];
        places.push(layer[to].from);
    }
    places.reverse();
    places
}

/// Adds one level by divide and conquer. The middle end comes first: its best beginning separates
/// those of the ends before it from those of the ends after it.
fn by_halves(costs: &impl LevelCosts, before: &[Step]) -> Vec<Step> {
    let mut layer = vec![Step::NONE; before.len()];
    // Ranges of ends, with the ranges of their best beginnings.
    let mut open = vec![(2, before.len(), 1, before.len())];
    while let Some((ends_from, ends_to, from, to)) = open.pop() {
        if ends_from >= ends_to {
            continue;
        }
        let end = ends_from + (ends_to - ends_from) / 2;
        let beginnings = from..to.min(end);
        for (place, step) in beginnings.clone().zip(&before[beginnings]) {
            let cost = step.cost + costs.cost(place, end);
            if cost < layer[end].cost {
                layer[end] = Step { cost, from: place };
            }
        }
        let parting = if layer[end].cost.is_finite() { layer[end].from } else { from };
        open.push((ends_from, end, from, parting + 1));
        open.push((end + 1, ends_to, parting, to));
    }
    layer
}

#[cfg(test)]
pub(crate) mod tests;
