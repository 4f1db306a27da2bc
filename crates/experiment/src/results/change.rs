//! A relative difference, with its 95% confidence interval.
//!
//! FCTs are positive, so no change is below -100%. Intervals that are symmetric around the log of the
//! ratio respect this bound; intervals around the change itself do not. The ratios are computed
//! elsewhere.

use serde::{Deserialize, Serialize};

use super::distribution::mean;
use super::student::half_width;

/// A relative difference with its 95% confidence interval: -0.2 is 20% less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The difference, at least -1: the geometric mean of the seeds' ratios, less 1. `None` if there is
    /// nothing to compare.
    pub change: Option<f64>,
    /// The lower end of the interval, at least -1. `None` if the data do not give one.
    pub low: Option<f64>,
    /// The upper end of the interval. `None` if the data do not give one.
    pub high: Option<f64>,
}

impl Change {
    /// The change of one log ratio, without an interval.
    pub(super) fn exact(log: f64) -> Change {
        Change { change: Some(libm::expm1(log)), low: None, high: None }
    }

    /// The change of a log ratio that is known to within `half_width`. There is no interval if
    /// `half_width` is not finite.
    pub(super) fn within(log: f64, half_width: f64) -> Change {
        let end = |end: f64| half_width.is_finite().then(|| libm::expm1(end));
        Change { low: end(log - half_width), high: end(log + half_width), ..Change::exact(log) }
    }

    /// The change of the geometric mean of independent ratios, given their logs, with Student's
    /// interval over the logs.
    pub fn over_seeds(logs: &[f64]) -> Change {
        let Some(log) = mean(logs) else { return Change::default() };
        Change::within(log, half_width(logs))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;

    /// A standard normal value (Box and Muller).
    fn normal(random: &mut TestRng) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(random.random_range(1e-12..1.0)));
        radius * libm::cos(std::f64::consts::TAU * random.random_range(0.0..1.0))
    }

    /// The share of 4,000 studies whose interval contains the truth.
    fn coverage(mut study: impl FnMut(&mut TestRng) -> bool) -> f64 {
        let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        (0..4_000).filter(|_| study(&mut random)).count() as f64 / 4_000.0
    }

    #[test]
    fn intervals_of_changes_cover_the_truth_in_95_of_100_studies() {
        for (seeds, spread) in [(2, 0.02), (3, 1.5), (5, 0.3), (20, 1.0)] {
            // Each seed's ratio is 0.3, multiplied by a random factor.
            let covered = coverage(|random| {
                let logs: Vec<f64> =
                    (0..seeds).map(|_| libm::log(0.3) + spread * normal(random)).collect();
                let Change { low, high, .. } = Change::over_seeds(&logs);
                low.is_some_and(|low| low <= -0.7) && high.is_some_and(|high| high >= -0.7)
            });
            assert!((0.94..0.96).contains(&covered), "{seeds} seeds: {covered}");
        }
    }

    proptest! {
        #[test]
        fn no_interval_has_an_impossible_end(
            figures in prop::collection::vec((1e-3..1e9f64, 1e-3..1e9f64), 2..9),
        ) {
            let logs: Vec<f64> = figures.iter().map(|(a, b)| libm::log(b / a)).collect();
            let Change { change, low, high } = Change::over_seeds(&logs);
            prop_assert!(low >= Some(-1.0) && low <= change && change <= high);
        }
    }
}
