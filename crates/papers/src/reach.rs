//! How far a key can go before a figure falls below a limit: PDQ's "number of flows at 99%
//! application throughput" (PDQ 2012, Figure 3c).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The value of a varied key up to which the mean of a figure over seeds stays at or above a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// The varied key, whose values are numbers.
    pub key: String,
    /// The limit.
    pub least: f64,
}

/// The figures of all seeds along the key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) seeds: Vec<u64>,
    /// A value of the key, and the figure of every seed at this value. Values grow.
    pub(crate) values: Vec<(f64, Vec<f64>)>,
}

impl Steps {
    /// What `of` gives for the place of each seed.
    fn by_seed(&self, of: impl Fn(usize) -> f64) -> BTreeMap<u64, f64> {
        self.seeds.iter().enumerate().map(|(place, seed)| (*seed, of(place))).collect()
    }
}

impl Reach {
    /// The jackknife's pseudo-value of the reach for each seed. The mean of their logarithms is the estimate, and the
    /// spread gives its error.
    ///
    /// If the figure is never below the limit, the reach is only known to be at least the last value. An order
    /// (`for_order`) then takes the last value, which can only make two schemes more alike. Otherwise this is `None`.
    pub(crate) fn of_seeds(&self, steps: &Steps, for_order: bool) -> Option<BTreeMap<u64, f64>> {
        let last = steps.values.last()?.0.ln();
        let whole = self.log_of(steps, |_| true).or(for_order.then_some(last))?;
        let seeds = steps.seeds.len();
        let pseudo = |place: usize| {
            let rest = self.log_of(steps, |kept| kept != place).unwrap_or(last);
            seeds as f64 * whole - (seeds - 1) as f64 * rest
        };
        let log = |place| if seeds == 1 { whole } else { pseudo(place) };
        Some(steps.by_seed(|place| log(place).exp()))
    }

    /// The reach of each seed's figures alone. It is the last value if they are never below the limit.
    pub(crate) fn alone(&self, steps: &Steps) -> Option<BTreeMap<u64, f64>> {
        let last = steps.values.last()?.0;
        let of = |place| self.log_of(steps, |kept| kept == place).map_or(last, f64::exp);
        Some(steps.by_seed(of))
    }

    /// Whether the mean over seeds falls below the limit.
    pub(crate) fn is_known(&self, steps: &Steps) -> bool {
        self.log_of(steps, |_| true).is_some()
    }

    /// The log of the value at which the mean over the kept seeds falls below the limit; `None` if it never does.
    /// Interpolates linearly between the values, starting with a mean of 1 at 0.
    fn log_of(&self, steps: &Steps, is_kept: impl Fn(usize) -> bool) -> Option<f64> {
        let mut before = (0.0, 1.0);
        for (value, figures) in &steps.values {
            let kept = figures.iter().enumerate().filter(|(place, _)| is_kept(*place));
            let (sum, count) = kept.fold((0.0, 0), |(sum, n), (_, figure)| (sum + figure, n + 1));
            let mean = sum / f64::from(count);
            if mean < self.least {
                let share = (before.1 - self.least) / (before.1 - mean);
                return Some((before.0 + share * (value - before.0)).ln());
            }
            before = (*value, mean);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach() -> Reach {
        Reach { key: "workload.flows".to_owned(), least: 0.99 }
    }

    fn steps(values: &[(f64, &[f64])]) -> Steps {
        Steps {
            seeds: (1..=values[0].1.len() as u64).collect(),
            values: values.iter().map(|(value, figures)| (*value, figures.to_vec())).collect(),
        }
    }

    fn assert_close(found: Option<BTreeMap<u64, f64>>, wanted: &[f64]) {
        let found: Vec<f64> = found.unwrap().into_values().collect();
        let is_close = found.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-9);
        assert!(is_close && found.len() == wanted.len(), "{found:?}, not {wanted:?}");
    }

    #[test]
    fn the_reach_is_where_the_mean_crosses_the_limit() {
        let steps = steps(&[(10.0, &[1.0, 1.0]), (20.0, &[0.99, 0.97])]);
        // Without the first seed it is 10 + 10/3; without the second it is past the last step.
        let pseudo = [10.0 + 10.0 / 3.0f64, 20.0].map(|rest| 15.0 * 15.0 / rest);
        assert_close(reach().of_seeds(&steps, false), &pseudo);
    }

    #[test]
    fn an_order_counts_with_the_last_step_of_a_figure_that_never_falls() {
        let steps = steps(&[(5.0, &[1.0, 1.0]), (10.0, &[1.0, 1.0])]);
        assert_close(reach().of_seeds(&steps, true), &[10.0, 10.0]);
        assert!(!reach().is_known(&steps));
    }

    #[test]
    fn a_seed_alone_reaches_where_its_own_figures_fall() {
        let steps = steps(&[(10.0, &[1.0, 0.5, 1.0]), (20.0, &[0.98, 1.0, 1.0])]);
        assert_close(reach().alone(&steps), &[15.0, 0.2, 20.0]);
        assert!(reach().is_known(&steps));
    }

    #[test]
    fn a_figure_that_never_falls_has_no_reach() {
        assert_eq!(reach().of_seeds(&steps(&[(10.0, &[1.0, 1.0])]), false), None);
        assert_close(reach().of_seeds(&steps(&[(8.0, &[0.5])]), false), &[8.0 * 0.02]);
    }
}
