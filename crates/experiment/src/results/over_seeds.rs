//! The mean of a figure over several seeds, with its 95% confidence interval.
//!
//! No figure of a run is negative, and on the log scale no interval reaches below 0. The figures
//! are computed elsewhere.

use super::distribution::mean;
use super::student::half_width;

/// The mean over seeds of a figure, with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverSeeds {
    /// The arithmetic mean.
    pub mean: f64,
    /// The ends of the interval. `None` with one seed, and for figures that are never negative also if all seeds give
    /// the same value.
    pub interval: Option<(f64, f64)>,
}

impl OverSeeds {
    /// The mean of `values`, which has one value per seed and none below 0. `None` if there are none. The interval
    /// is Student's for the mean, carried to the log scale by the delta method: from `mean` divided
    /// by exp(t·s/mean) to `mean` multiplied by it, where s is the standard error.
    pub fn from_values(values: &[f64]) -> Option<OverSeeds> {
        let mean = mean(values)?;
        let half_width = half_width(values);
        let factor = libm::exp(half_width / mean);
        let is_known = half_width > 0.0 && mean > 0.0;
        Some(OverSeeds { mean, interval: is_known.then_some((mean / factor, mean * factor)) })
    }

    /// The mean of shares, which do not exceed 1. The interval does not exceed 1 either.
    pub fn of_shares(values: &[f64]) -> Option<OverSeeds> {
        let over = OverSeeds::from_values(values)?;
        let interval = over.interval.map(|(low, high)| (low, high.min(1.0)));
        Some(OverSeeds { interval, ..over })
    }

    /// The mean of values that may be negative, such as differences, with Student's interval. If all seeds give the
    /// same value, both of its ends are this value.
    pub fn of_differences(values: &[f64]) -> Option<OverSeeds> {
        let (mean, half_width) = (mean(values)?, half_width(values));
        let ends = half_width.is_finite().then_some((mean - half_width, mean + half_width));
        Some(OverSeeds { mean, interval: ends })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    use super::*;

    #[test]
    fn intervals_of_means_cover_the_truth_in_about_95_of_100_studies() {
        for seeds in [3, 5, 20] {
            // Each seed's mean FCT is the mean of 50 exponential FCTs of mean 1.
            let exponential = |random: &mut TestRng| -libm::log(random.random_range(1e-12..1.0));
            let mean =
                |random: &mut TestRng| (0..50).map(|_| exponential(random)).sum::<f64>() / 50.0;
            let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            let mut covers = || {
                let means: Vec<f64> = (0..seeds).map(|_| mean(&mut random)).collect();
                let (low, high) = OverSeeds::from_values(&means).unwrap().interval.unwrap();
                (low..=high).contains(&1.0)
            };
            let covered = (0..4_000).filter(|_| covers()).count() as f64 / 4_000.0;
            assert!((0.935..0.965).contains(&covered), "{seeds} seeds: {covered}");
        }
    }

    #[test]
    fn no_share_is_above_one() {
        let over = OverSeeds::of_shares(&[0.9, 0.1]).unwrap();
        let (low, high) = over.interval.unwrap();
        assert!(low > 0.0 && low < 0.5 && high == 1.0, "{low} {high}");
        assert_eq!(OverSeeds::of_shares(&[0.4, 0.5]).unwrap().mean, 0.45);
    }

    #[test]
    fn one_value_and_equal_values_have_no_interval_of_the_mean() {
        let alone = OverSeeds { mean: 7.0, interval: None };
        assert_eq!(OverSeeds::from_values(&[7.0]), Some(alone));
        assert_eq!(OverSeeds::from_values(&[7.0, 7.0, 7.0]), Some(alone));
        assert_eq!(OverSeeds::from_values(&[0.0]).unwrap().interval, None);
        assert_eq!(OverSeeds::from_values(&[]), None);
    }

    #[test]
    fn differences_may_be_negative() {
        let over = OverSeeds::of_differences(&[-1.0, 0.0, 1.0]).unwrap();
        let (low, high) = over.interval.unwrap();
        // Student's t with two degrees of freedom is 4.303, and the standard error is the root of 1/3.
        assert!((high - 4.303 / 3f64.sqrt()).abs() < 1e-3 && low == -high, "{low} {high}");
        assert_eq!(OverSeeds::of_differences(&[0.5, 0.5]).unwrap().interval, Some((0.5, 0.5)));
        assert_eq!(OverSeeds::of_differences(&[0.5]).unwrap().interval, None);
        assert_eq!(OverSeeds::of_differences(&[]), None);
    }

    proptest! {
        #[test]
        fn no_interval_of_a_mean_is_negative(means in prop::collection::vec(1e-3..1e9f64, 2..9)) {
            let found = OverSeeds::from_values(&means).unwrap();
            if let Some((low, high)) = found.interval {
                prop_assert!(low >= 0.0 && low <= found.mean && found.mean <= high);
            }
        }
    }
}
