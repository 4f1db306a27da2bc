//! Curves out of many values: distributions and figures by flow size.

use std::collections::BTreeMap;

use flowsched_experiment::results::Distribution;

use crate::gather::Flow;

/// The most points of a curve; more could not be told apart.
const POINTS: usize = 160;
/// Bins of flow size in a factor of ten.
const BINS_A_DECADE: f64 = 4.0;
/// A bin of fewer flows has no figures.
const LEAST_FLOWS: u64 = 20;

/// The distribution function of `values`: for some of them, the share that do not exceed it.
pub(crate) fn cumulative(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    let at = |rank: usize| (values[rank], (rank + 1) as f64 / count as f64);
    let step = count.div_ceil(POINTS).max(1);
    let mut curve: Vec<(f64, f64)> = (0..count).step_by(step).map(at).collect();
    // The tail deserves its points even where the steps are long.
    let tail = count - count.min(step);
    curve.extend((tail..count).step_by(step.div_ceil(8)).skip(1).map(at));
    curve.extend(count.checked_sub(1).map(at));
    curve.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    curve.dedup();
    curve
}

/// The same of values that are counted, as a staircase.
pub(crate) fn cumulative_counts(counts: &BTreeMap<u64, u64>) -> Vec<(f64, f64)> {
    let total: u64 = counts.values().sum();
    let (mut below, mut last) = (0, -1.0);
    let mut curve = Vec::new();
    for (value, count) in counts {
        let before = below as f64 / total as f64;
        below += count;
        let share = below as f64 / total as f64;
        let is_end = below == total;
        if share - last < 1.0 / POINTS as f64 && !is_end {
            continue;
        }
        if last >= 0.0 {
            curve.push((*value as f64, before));
        }
        curve.push((*value as f64, share));
        last = share;
    }
    curve
}

/// Slowdown by flow size: for each bin with enough flows its middle and the distribution.
pub(crate) fn slowdown_by_size(flows: &[Flow]) -> Vec<(f64, Distribution)> {
    let mut bins: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
    for flow in flows {
        let bin = ((flow.size.max(1) as f64).log10() * BINS_A_DECADE).floor() as i32;
        bins.entry(bin).or_default().extend(flow.slowdown);
    }
    let middle = |bin: i32| 10f64.powf((f64::from(bin) + 0.5) / BINS_A_DECADE);
    bins.into_iter()
        .map(|(bin, values)| (middle(bin), Distribution::of(values)))
        .filter(|(_, distribution)| distribution.count >= LEAST_FLOWS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_thin_rises_and_ends_at_the_largest() {
        for count in [0, 1, 2, 159, 160, 161, 5_000] {
            let curve = cumulative((0..count).rev().map(f64::from).collect());
            assert!(curve.len() <= POINTS + 12, "{} points of {count}", curve.len());
            assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{curve:?}");
            let end = (count > 0).then(|| (f64::from(count) - 1.0, 1.0));
            assert_eq!(curve.last().copied(), end);
        }
    }

    #[test]
    fn counted_values_make_a_staircase() {
        let counts = BTreeMap::from([(0, 6), (1_500, 3), (9_000, 1)]);
        let stairs = [(0.0, 0.6), (1_500.0, 0.6), (1_500.0, 0.9), (9_000.0, 0.9), (9_000.0, 1.0)];
        assert_eq!(cumulative_counts(&counts), stairs);
        assert_eq!(cumulative_counts(&BTreeMap::new()), []);
    }
}
