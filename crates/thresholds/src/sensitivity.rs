//! What is lost when load or sizes are not what the thresholds were made for.

use flowsched_units::Bytes;
use serde::Serialize;

use crate::ThresholdsError;
use crate::forecast::Forecast;
use crate::names::ModelName;
use crate::objective::Objective;
use crate::optimal::{Solution, optimal_for};

/// How traffic differs from the forecast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deviation {
    /// The load is this.
    Load(f64),
    /// All sizes are this many times as large, at the same load.
    SizesTimes(f64),
}

/// What thresholds lose if traffic differs from the forecast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// How the traffic differs.
    pub deviation: Deviation,
    /// The objective with the thresholds; nothing where the model has no steady state.
    pub objective_value: Option<f64>,
    /// The objective with the best thresholds for that traffic.
    pub best_value: Option<f64>,
    /// The relative excess of `objective_value` over `best_value`.
    pub loss: Option<f64>,
}

/// The usual differences of the load from the forecast.
const LOADS_OFF: [f64; 4] = [-0.2, -0.1, 0.1, 0.15];
/// The usual factors of sizes.
const SIZES_TIMES: [f64; 4] = [0.5, 0.8, 1.25, 2.0];

/// The usual deviations: loads up to 0.2 lower and 0.15 higher, as far as they are between 0.05 and
/// 0.95, and sizes half to twice as large.
pub fn usual_deviations(load: f64) -> Vec<Deviation> {
    let loads = LOADS_OFF.iter().map(|off| libm::round((load + off) * 1e6) / 1e6);
    let possible = loads.filter(|load| (0.05..=0.95).contains(load)).map(Deviation::Load);
    possible.chain(SIZES_TIMES.map(Deviation::SizesTimes)).collect()
}

/// What `thresholds` lose under each of `deviations`.
///
/// # Errors
/// As [`optimal_for`], except for a missing steady state.
pub fn sensitivity(
    forecast: &Forecast,
    thresholds: &[Bytes],
    model: ModelName,
    objective: &Objective,
    deviations: &[Deviation],
) -> Result<Vec<Loss>, ThresholdsError> {
    let loss = |deviation: &Deviation| {
        let sizes = match deviation {
            Deviation::Load(_) => forecast.sizes.clone(),
            Deviation::SizesTimes(factor) => forecast.sizes.scaled(*factor),
        };
        let other = Forecast { sizes: &sizes, path: forecast.path.clone() };
        let other = match deviation {
            Deviation::Load(load) => other.at_load(*load),
            Deviation::SizesTimes(_) => other,
        };
        let stable = |found: Result<Solution, ThresholdsError>| match found {
            Ok(solution) => Ok(Some(solution.objective_value)),
            Err(ThresholdsError::Unstable { .. } | ThresholdsError::UnstableThresholds { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        };
        let value = stable(Solution::evaluate(&other, model, objective, thresholds))?;
        let best = stable(optimal_for(&other, thresholds.len() + 1, model, objective))?;
        Ok(Loss {
            deviation: *deviation,
            objective_value: value,
            best_value: best,
            loss: value.zip(best).map(|(value, best)| value / best - 1.0),
        })
    };
    deviations.iter().map(loss).collect()
}
