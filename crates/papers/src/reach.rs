//! How far a key can go before a figure falls below a limit: PDQ's "number of flows at 99%
//! application throughput" (PDQ 2012, Figure 3c).

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

/// A value of the key, and the figure of every seed at this value.
pub(crate) type Step = (f64, Vec<f64>);

impl Reach {
    /// The jackknife's pseudo-values of the log of the reach, one per seed. Their mean is the estimate, and
    /// their spread gives its error.
    ///
    /// If the figure is never below the limit, the reach is only known to be at least the last step. An
    /// order (`for_order`) then takes the last step, which can only make two schemes more alike. Otherwise
    /// this is `None`.
    pub(crate) fn log_of_seeds(&self, steps: &[Step], for_order: bool) -> Option<Vec<f64>> {
        let seeds = steps.iter().map(|(_, figures)| figures.len()).min()?;
        let last = steps.last()?.0.ln();
        let whole = self.log_without(steps, None).or(for_order.then_some(last))?;
        let pseudo = |seed| {
            let rest = self.log_without(steps, Some(seed)).unwrap_or(last);
            seeds as f64 * whole - (seeds - 1) as f64 * rest
        };
        match seeds {
            1 => Some(vec![whole]),
            _ => Some((0..seeds).map(pseudo).collect()),
        }
    }

    /// The log of the value at which the mean without the seed `left_out` falls below the limit; `None` if it
    /// never does. Interpolates linearly between the steps, starting with a mean of 1 at the value 0.
    fn log_without(&self, steps: &[Step], left_out: Option<usize>) -> Option<f64> {
        let mut before = (0.0, 1.0);
        for (value, figures) in steps {
            let kept = figures.iter().enumerate().filter(|(seed, _)| Some(*seed) != left_out);
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

    #[test]
    fn the_reach_is_where_the_mean_crosses_the_limit() {
        let steps = [(10.0, vec![1.0, 1.0]), (20.0, vec![0.99, 0.97])];
        let logs = reach().log_of_seeds(&steps, false).unwrap();
        let whole = 15f64.ln();
        // Without the first seed it is 10 + 10/3; without the second it is past the last step.
        let expected = [10.0 + 10.0 / 3.0f64, 20.0].map(|rest| 2.0 * whole - rest.ln());
        assert_eq!(logs.len(), 2);
        let close = logs.iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-9);
        assert!(close, "{logs:?}");
    }

    #[test]
    fn an_order_counts_with_the_last_step_of_a_figure_that_never_falls() {
        let steps = [(5.0, vec![1.0, 1.0]), (10.0, vec![1.0, 1.0])];
        assert_eq!(reach().log_of_seeds(&steps, true), Some(vec![10f64.ln(); 2]));
    }

    #[test]
    fn a_figure_that_never_falls_has_no_reach() {
        assert_eq!(reach().log_of_seeds(&[(10.0, vec![1.0, 1.0])], false), None);
        let alone = reach().log_of_seeds(&[(8.0, vec![0.5])], false).unwrap();
        assert!((alone[0].exp() - 8.0 * 0.02).abs() < 1e-9, "{alone:?}");
    }
}
