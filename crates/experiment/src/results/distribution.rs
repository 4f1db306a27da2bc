//! The figures that are reported of a set of values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Mean, percentiles and maximum of a set of values. Without values, only the count is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The number of values.
    pub count: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// The median. All percentiles are by nearest rank.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The 99.9th percentile.
    #[serde(default)]
    pub p999: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

impl Distribution {
    /// The distribution of values that occur as often as `counts` says.
    pub(super) fn of_counts(counts: &BTreeMap<u64, u64>) -> Distribution {
        let count: u64 = counts.values().sum();
        let sum: u128 = counts.iter().map(|(value, n)| u128::from(*value) * u128::from(*n)).sum();
        let percentile = |per_mille: u64| {
            let rank = (u128::from(per_mille) * u128::from(count)).div_ceil(1000).max(1);
            let mut so_far = 0;
            let is_there = |(_, n): &(&u64, &u64)| {
                so_far += u128::from(**n);
                so_far >= rank
            };
            counts.iter().find(is_there).map(|(value, _)| *value as f64)
        };
        Distribution {
            count,
            mean: (count > 0).then(|| sum as f64 / count as f64),
            p50: percentile(500),
            p95: percentile(950),
            p99: percentile(990),
            p999: percentile(999),
            max: counts.keys().next_back().map(|value| *value as f64),
        }
    }

    /// The distribution of these values, none of which may be NaN.
    pub fn from_values(mut values: Vec<f64>) -> Distribution {
        values.sort_unstable_by(f64::total_cmp);
        Distribution {
            count: values.len() as u64,
            mean: mean(&values),
            p50: percentile(&values, 500),
            p95: percentile(&values, 950),
            p99: percentile(&values, 990),
            p999: percentile(&values, 999),
            max: values.last().copied(),
        }
    }
}

/// The mean; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The smallest of the sorted values that at least `per_mille` thousandths of them do not exceed.
/// This is the percentile by nearest rank: the ⌈per_mille·n/1000⌉-th smallest value. Integers keep
/// the rank exact.
pub(super) fn percentile(sorted: &[f64], per_mille: usize) -> Option<f64> {
    let rank = (per_mille * sorted.len()).div_ceil(1000);
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let d = Distribution::from_values((1..=200).rev().map(f64::from).collect());
        assert_eq!((d.p50, d.p95, d.p99), (Some(100.0), Some(190.0), Some(198.0)));
        assert_eq!((d.count, d.mean, d.max), (200, Some(100.5), Some(200.0)));
        let d = Distribution::from_values(vec![15.0, 20.0, 35.0, 40.0, 50.0]);
        assert_eq!((d.p50, d.p95, d.p99), (Some(35.0), Some(50.0), Some(50.0)));
    }

    #[test]
    fn the_rank_of_a_thousandth_is_exact() {
        let p999 =
            |count: u32| Distribution::from_values((1..=count).map(f64::from).collect()).p999;
        assert_eq!(
            [1, 999, 1_000, 1_001, 2_000, 10_000].map(p999),
            [1.0, 999.0, 999.0, 1_000.0, 1_998.0, 9_990.0].map(Some)
        );
    }

    #[test]
    fn a_summary_without_p999_still_opens() {
        let old = r#"{"count":1,"mean":2.0,"p50":2.0,"p95":2.0,"p99":2.0,"max":2.0}"#;
        let d: Distribution = serde_json::from_str(old).unwrap();
        assert_eq!((d.p99, d.p999, d.max), (Some(2.0), None, Some(2.0)));
    }

    #[test]
    fn nothing_has_a_count_and_no_figures() {
        assert_eq!(Distribution::from_values(Vec::new()), Distribution::default());
    }

    proptest! {
        #[test]
        fn counted_values_have_the_figures_of_all(values in prop::collection::vec(0u64..20, 0..99)) {
            let mut counts = BTreeMap::new();
            for value in &values {
                *counts.entry(*value).or_default() += 1;
            }
            let all = Distribution::from_values(values.into_iter().map(|value| value as f64).collect());
            prop_assert_eq!(Distribution::of_counts(&counts), all);
        }

        /// The definition: the smallest value that is at least as large as that share of all values.
        #[test]
        fn a_percentile_is_the_first_value_that_enough_do_not_exceed(
            mut values in prop::collection::vec(0.0..100.0f64, 1..300), per_mille in 1usize..=1000,
        ) {
            values.sort_unstable_by(f64::total_cmp);
            let enough = |v: f64| {
                values.iter().filter(|x| **x <= v).count() * 1000 >= per_mille * values.len()
            };
            let expected = values.iter().copied().find(|v| enough(*v));
            prop_assert_eq!(percentile(&values, per_mille), expected);
        }
    }
}
