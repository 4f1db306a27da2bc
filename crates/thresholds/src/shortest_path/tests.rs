//! Compares the two ways to add a level with the plain one.

use proptest::prelude::*;

use super::*;

/// Costs from random factors.
#[derive(Debug)]
pub(crate) struct ByFactors {
    begins: Vec<Vec<f64>>,
    ends: Vec<Vec<f64>>,
    monge: bool,
}

impl LevelCosts for ByFactors {
    fn last(&self) -> usize {
        self.begins.len() - 1
    }

    fn cost(&self, from: usize, to: usize) -> f64 {
        self.begins[from].iter().zip(&self.ends[to]).map(|(begin, end)| begin * end).sum()
    }

    fn factors(&self) -> usize {
        self.begins[0].len()
    }

    fn begin(&self, _origin: usize, place: usize, factors: &mut [f64]) {
        factors.copy_from_slice(&self.begins[place]);
    }

    fn end(&self, _origin: usize, to: usize, factors: &mut [f64]) {
        factors.copy_from_slice(&self.ends[to]);
    }

    fn is_monge(&self) -> bool {
        self.monge
    }
}

/// The cheapest cost with at most `levels`. Tries every beginning of every level.
fn plain(costs: &ByFactors, levels: usize) -> f64 {
    let last = costs.last();
    let mut layer: Vec<f64> = (0..=last).map(|to| costs.cost(0, to)).collect();
    layer[0] = f64::INFINITY;
    let mut best = layer[last];
    for _ in 1..levels {
        let least = |to: usize| {
            (1..to).map(|from| layer[from] + costs.cost(from, to)).fold(f64::INFINITY, f64::min)
        };
        layer = (0..=last).map(least).collect();
        best = best.min(layer[last]);
    }
    best
}

fn cost_of(costs: &ByFactors, places: &[usize]) -> f64 {
    let starts = [0].into_iter().chain(places.iter().copied());
    let ends = places.iter().copied().chain([costs.last()]);
    starts.zip(ends).map(|(from, to)| costs.cost(from, to)).sum()
}

/// Values that are smooth for a while and then jump.
fn values(len: usize, from: f64) -> impl Strategy<Value = Vec<f64>> {
    let pieces = prop::collection::vec((0usize..len, -1.0f64..1.0, -3.0f64..3.0), 1..5);
    (pieces, -9.0f64..9.0).prop_map(move |(pieces, curve)| {
        let value = |place: usize| {
            let at = place as f64 / len as f64;
            let steps = pieces.iter().filter(|(start, ..)| *start <= place);
            let sum: f64 = steps.map(|(_, jump, slope)| jump + slope * at).sum();
            (sum + curve * at * at * at).max(from)
        };
        (0..len).map(value).collect()
    })
}

fn transposed(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

pub(crate) fn by_factors() -> impl Strategy<Value = ByFactors> {
    (2usize..180, 1usize..4).prop_flat_map(|(len, factors)| {
        let begins = prop::collection::vec(values(len, f64::NEG_INFINITY), factors);
        let ends = prop::collection::vec(values(len, 0.0), factors);
        (begins, ends).prop_map(|(begins, mut ends)| {
            ends.iter_mut().for_each(|end| end.sort_by(f64::total_cmp));
            let (begins, ends) = (transposed(&begins), transposed(&ends));
            ByFactors { begins, ends, monge: false }
        })
    })
}

/// Products of a falling and a rising factor.
fn monge() -> impl Strategy<Value = ByFactors> {
    let columns = (2usize..180).prop_flat_map(|len| (values(len, 0.0), values(len, 0.0)));
    columns.prop_map(|(mut begins, mut ends)| {
        begins.sort_by(|a, b| b.total_cmp(a));
        ends.sort_by(f64::total_cmp);
        ByFactors { begins: transposed(&[begins]), ends: transposed(&[ends]), monge: true }
    })
}

fn check(costs: &ByFactors, levels: usize) -> Result<(), TestCaseError> {
    let found = cheapest(costs, levels);
    let expected = plain(costs, levels);
    let slack = 1e-11 * (1.0 + expected.abs());
    prop_assert!((found.cost - expected).abs() <= slack, "{} for {expected}", found.cost);
    prop_assert!(found.places.len() < levels);
    prop_assert!(found.places.is_sorted_by(|a, b| a < b));
    prop_assert!((cost_of(costs, &found.places) - found.cost).abs() <= slack);
    Ok(())
}

proptest! {
    #[test]
    fn branch_and_bound_finds_the_cheapest(costs in by_factors(), levels in 1usize..7) {
        check(&costs, levels)?;
    }

    #[test]
    fn divide_and_conquer_finds_the_cheapest(costs in monge(), levels in 1usize..7) {
        check(&costs, levels)?;
    }
}
