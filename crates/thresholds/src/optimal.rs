//! The thresholds that minimise an objective under a model.

use flowsched_units::Bytes;
use serde::Serialize;

use crate::ThresholdsError;
use crate::bound;
use crate::error::MOST_QUEUES;
use crate::forecast::Forecast;
use crate::instance::{self, Chosen};
use crate::names::ModelName;
use crate::objective::Objective;
use crate::prediction::{Predicted, Predictor};
use crate::term::CANDIDATES;

/// Thresholds, and what a model says of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// The model.
    pub model: ModelName,
    /// The objective that was minimised, or that thresholds are compared by.
    pub objective: Objective,
    /// The highest load of the path.
    pub load: f64,
    /// The number of queues.
    pub queues: usize,
    /// One fewer than queues, none smaller than the one before.
    pub thresholds_bytes: Vec<u64>,
    /// The share of flows that are not larger than each threshold, in percent.
    pub thresholds_percentile: Vec<f64>,
    /// The number of sizes that the thresholds were chosen from, as the best of all choices, before
    /// they were refined. Nothing for thresholds that were not chosen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// How many queues no packet ever uses, their level being empty.
    pub unused_queues: usize,
    /// The value of the objective: in microseconds if it is a time, else a ratio. For models of
    /// packet delays, it is that of these delays.
    pub objective_value: f64,
    /// Means by size class.
    pub predicted: Predicted,
}

impl Solution {
    /// What `model` says of `thresholds`, one fewer than queues.
    ///
    /// # Errors
    /// [`ThresholdsError`] if there is no steady state or the thresholds fall.
    pub fn evaluate(
        forecast: &Forecast,
        model: ModelName,
        objective: &Objective,
        thresholds: &[Bytes],
    ) -> Result<Solution, ThresholdsError> {
        objective.check()?;
        let predictor = Predictor::new(forecast, model, thresholds)?;
        let unit = if objective.is_time() { 1e6 } else { 1.0 };
        let percentile = |threshold: &Bytes| 100.0 * forecast.sizes.cdf(threshold.get() as f64);
        Ok(Solution {
            model,
            objective: objective.clone(),
            load: forecast.path.load(),
            queues: thresholds.len() + 1,
            thresholds_bytes: thresholds.iter().map(|threshold| threshold.get()).collect(),
            thresholds_percentile: thresholds.iter().map(percentile).collect(),
            candidates: None,
            unused_queues: unused(forecast, thresholds),
            objective_value: unit * predictor.objective(objective)?,
            predicted: predictor.predicted(),
        })
    }

    /// The thresholds.
    pub fn thresholds(&self) -> Vec<Bytes> {
        self.thresholds_bytes.iter().map(|bytes| Bytes::new(*bytes)).collect()
    }
}

/// The number of levels that hold no size.
fn unused(forecast: &Forecast, thresholds: &[Bytes]) -> usize {
    let starts = [0].into_iter().chain(thresholds.iter().map(|threshold| threshold.get()));
    let ends = thresholds.iter().map(|threshold| threshold.get()).chain([u64::MAX]);
    let largest = forecast.sizes.max();
    starts.zip(ends).filter(|(start, end)| start == end || *start as f64 >= largest).count()
}

/// The thresholds for `queues` queues that minimise `objective` under `model`. There is always one
/// fewer than queues. Those that are of no use are at the largest size.
///
/// The optimum is the global one among [`CANDIDATES`] sizes (for `pias-mm1-bound`, among 96), then
/// refined around it down to a whole packet or byte.
///
/// # Errors
/// [`ThresholdsError`] for a load or a number of queues out of range, an objective that no flow
/// counts for, or a model without a steady state.
pub fn optimal_for(
    forecast: &Forecast,
    queues: usize,
    model: ModelName,
    objective: &Objective,
) -> Result<Solution, ThresholdsError> {
    let bounded = model == ModelName::PiasMm1Bound;
    let candidates = if bounded { bound::CANDIDATES } else { CANDIDATES };
    let chosen = minimise(&[(forecast.clone(), 1.0)], queues, model, objective, candidates)?;
    let solution = Solution::evaluate(forecast, model, objective, &chosen.thresholds)?;
    Ok(Solution { candidates: Some(chosen.candidates), ..solution })
}

/// Thresholds, and the number of sizes that they were chosen from.
pub(crate) struct Minimum {
    pub(crate) thresholds: Vec<Bytes>,
    candidates: usize,
}

/// The thresholds that minimise a weighted sum over forecasts, padded to one fewer than queues.
pub(crate) fn minimise(
    forecasts: &[(Forecast, f64)],
    queues: usize,
    model: ModelName,
    objective: &Objective,
    candidates: usize,
) -> Result<Minimum, ThresholdsError> {
    if !(1..=MOST_QUEUES).contains(&queues) {
        return Err(ThresholdsError::Queues { found: queues });
    }
    objective.check()?;
    for (forecast, _) in forecasts {
        forecast.check()?;
    }
    let found = instance::minimise(forecasts, queues, model, objective, candidates)?;
    let Some(Chosen { mut thresholds, candidates, .. }) = found else {
        return Err(unstable(forecasts, queues, model));
    };
    let ceilings = forecasts.iter().map(|(forecast, _)| forecast.ceiling().get());
    thresholds.resize(queues - 1, ceilings.max().unwrap_or(0) as f64);
    let thresholds = thresholds.into_iter().map(|threshold| Bytes::new(threshold as u64));
    Ok(Minimum { thresholds: thresholds.collect(), candidates })
}

/// The error that says up to which load the model has a steady state.
fn unstable(forecasts: &[(Forecast, f64)], queues: usize, model: ModelName) -> ThresholdsError {
    let highest = |(forecast, _): &(Forecast, f64)| {
        let highest = bound::most_stable(forecast, queues).map_or(0.0, |stable| stable.load);
        (forecast.path.load(), highest)
    };
    let margin = |(load, highest): &(f64, f64)| highest / load;
    let least = forecasts.iter().map(highest).min_by(|a, b| margin(a).total_cmp(&margin(b)));
    let (load, highest) = least.unwrap_or_default();
    ThresholdsError::Unstable { model, load, queues, highest }
}
