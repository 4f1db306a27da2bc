//! The best demotion thresholds.

use flowsched_experiment::{Mistake, Place};
use flowsched_thresholds::{
    Forecast, ModelName, Objective, Path, Regret, ThresholdsError, compare, optimal_for, robust,
};
use flowsched_units::Rate;
use pyo3::prelude::*;

use crate::sizes::read;
use crate::{errors, json};

/// The thresholds that minimise `objective`, as JSON. For one workload and load, `compared` adds the costs
/// of other thresholds. For several, the one set with the least regret over all of them.
#[pyfunction]
#[pyo3(signature = (workloads, loads, queues, model, objective, link, compared, mean_regret))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of `flowsched.thresholds`")]
pub(crate) fn optimal_thresholds(
    py: Python<'_>,
    workloads: Vec<String>,
    loads: Vec<f64>,
    queues: usize,
    model: &str,
    objective: &str,
    link: &str,
    compared: bool,
    mean_regret: bool,
) -> PyResult<String> {
    let model: ModelName = model.parse().map_err(|error| refused("model", &error))?;
    let objective: Objective = objective.parse().map_err(|error| refused("objective", &error))?;
    let rate: Rate = link.parse().map_err(|error| refused("link", &error))?;
    let mut sizes = Vec::new();
    for name in &workloads {
        sizes.push(read(name)?);
    }
    let forecasts: Vec<Forecast<'_>> = sizes
        .iter()
        .flat_map(|sizes| {
            loads.iter().map(move |load| Forecast { sizes, path: Path::of_link(rate, *load) })
        })
        .collect();
    let of_thresholds = |error: ThresholdsError| refused("", &error);
    match &forecasts[..] {
        [forecast] if compared => {
            let name = workloads.first().map(String::as_str);
            let found = py.detach(|| compare(forecast, name, queues, model, &objective));
            json::text(&found.map_err(of_thresholds)?)
        }
        [forecast] => {
            let found = py.detach(|| optimal_for(forecast, queues, model, &objective));
            json::text(&found.map_err(of_thresholds)?)
        }
        _ => {
            let regret = if mean_regret { Regret::Mean } else { Regret::Worst };
            let found = py.detach(|| robust(&forecasts, queues, model, &objective, regret));
            json::text(&found.map_err(of_thresholds)?)
        }
    }
}

fn refused(key: &str, error: &dyn std::fmt::Display) -> PyErr {
    let place = Place::Argument("thresholds".to_owned());
    errors::mistakes(&Mistake::new(&place, key, error.to_string()).into())
}
