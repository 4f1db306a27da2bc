//! The optimum beside other thresholds, under one model.

use flowsched_units::Bytes;
use serde::Serialize;

use crate::ThresholdsError;
use crate::baseline::{self, EXPONENTIAL_BASE, EXPONENTIAL_FACTOR};
use crate::forecast::Forecast;
use crate::names::ModelName;
use crate::objective::Objective;
use crate::optimal::{Solution, optimal_for};

/// The optimum and what it is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdComparison {
    /// The optimum.
    pub optimal: Solution,
    /// Other thresholds.
    pub others: Vec<Other>,
}

/// Thresholds that the optimum is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Other {
    /// `one-queue`, `equal-split`, `exponential` or `published`.
    pub name: &'static str,
    /// Where they come from.
    pub source: String,
    /// One fewer than queues.
    pub thresholds_bytes: Vec<u64>,
    /// What the model says of them; nothing where it has no steady state.
    pub solution: Option<Solution>,
    /// The part by which the optimum lowers the objective, `1 - optimum / this`.
    pub gain: Option<f64>,
}

/// Compares the optimum for `queues` queues with one queue, equal split and exponential thresholds.
/// For 8 queues and sizes whose `name` has published thresholds, also compares it with these.
///
/// # Errors
/// As [`optimal_for`].
pub fn compare(
    forecast: &Forecast,
    name: Option<&str>,
    queues: usize,
    model: ModelName,
    objective: &Objective,
) -> Result<ThresholdComparison, ThresholdsError> {
    let optimal = optimal_for(forecast, queues, model, objective)?;
    let mut others = Vec::new();
    let mut add = |name, source: String, thresholds: Vec<Bytes>| {
        let solution = Solution::evaluate(forecast, model, objective, &thresholds).ok();
        let gain = |other: &Solution| 1.0 - optimal.objective_value / other.objective_value;
        others.push(Other {
            name,
            source,
            thresholds_bytes: thresholds.iter().map(|threshold| threshold.get()).collect(),
            gain: solution.as_ref().map(gain),
            solution,
        });
    };
    add("one-queue", "no thresholds".to_owned(), Vec::new());
    let split = baseline::equal_split(forecast.sizes, queues);
    add("equal-split", "PIAS ToN 2017, V-B".to_owned(), split);
    let doubled = baseline::exponential(EXPONENTIAL_BASE, EXPONENTIAL_FACTOR, queues);
    let source = format!("EPN 2018: from {EXPONENTIAL_BASE}, factor {EXPONENTIAL_FACTOR}");
    add("exponential", source, doubled);
    let published = name.and_then(|name| baseline::published(name, forecast.path.load()));
    if let Some(published) = published.filter(|row| row.packets.len() + 1 == queues) {
        add("published", published.source(), published.thresholds());
    }
    Ok(ThresholdComparison { optimal, others })
}
