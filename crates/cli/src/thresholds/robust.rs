//! One set of thresholds for several workloads or loads.

use std::collections::BTreeSet;

use flowsched_thresholds::{
    Forecast, ModelName, Objective, Predicted, Regret, Robust, Solution, ThresholdsError,
};
use flowsched_units::Bytes;
use serde::Serialize;

use super::question::Named;
use super::text::{self, heading, list, percent, row, setting};
use crate::arguments::{AskedRegret, Thresholds};

/// The answer to print, whatever the format.
#[derive(Serialize)]
pub struct Answer {
    link: String,
    model: ModelName,
    objective: Objective,
    queues: usize,
    regret: Regret,
    thresholds_bytes: Vec<u64>,
    /// The largest of the forecasts' regrets, and their mean.
    worst_regret: f64,
    mean_regret: f64,
    /// A lower bound: no set has less regret of the kind that was asked for.
    at_least: f64,
    #[serde(rename = "scenes")]
    forecasts: Vec<OfForecast>,
}

/// The common thresholds under one forecast.
#[derive(Serialize)]
struct OfForecast {
    workload: String,
    load: f64,
    /// The relative excess of the objective over its value with the forecast's own best thresholds.
    regret: f64,
    objective_value: f64,
    /// The number of queues that no packet ever uses.
    unused_queues: usize,
    predicted: Predicted,
}

/// Computes the thresholds.
pub fn answer(wanted: &Thresholds, named: &[Named]) -> Result<Answer, ThresholdsError> {
    let Thresholds { queues, model, objective, .. } = wanted;
    let regret = match wanted.regret {
        Some(AskedRegret::Mean) => Regret::Mean,
        Some(AskedRegret::Worst) | None => Regret::Worst,
    };
    let forecasts: Vec<Forecast> = named.iter().map(|named| named.forecast.clone()).collect();
    let found = flowsched_thresholds::robust(&forecasts, *queues, *model, objective, regret)?;
    let Robust { thresholds_bytes, regrets, worst, mean, at_least } = found;
    let thresholds: Vec<Bytes> = thresholds_bytes.iter().copied().map(Bytes::new).collect();
    let of_forecast = |(named, regret): (&Named, &f64)| {
        let solution = Solution::evaluate(&named.forecast, *model, objective, &thresholds)?;
        Ok(OfForecast {
            workload: named.workload.to_owned(),
            load: named.load,
            regret: *regret,
            objective_value: solution.objective_value,
            unused_queues: solution.unused_queues,
            predicted: solution.predicted,
        })
    };
    Ok(Answer {
        link: list(&wanted.link),
        model: *model,
        objective: objective.clone(),
        queues: *queues,
        regret,
        forecasts: named.iter().zip(&regrets).map(of_forecast).collect::<Result<_, _>>()?,
        thresholds_bytes,
        worst_regret: worst,
        mean_regret: mean,
        at_least,
    })
}

impl Answer {
    fn forecast(&self, wanted: &Thresholds) -> String {
        let loads: BTreeSet<String> =
            self.forecasts.iter().map(|forecast| forecast.load.to_string()).collect();
        let word = if loads.len() == 1 { "load" } else { "loads" };
        format!("{} at {word} {}", list(&wanted.workload), list(loads))
    }

    /// How good the set is, in a sentence.
    fn summary(&self) -> String {
        let (worst, mean) = (percent(self.worst_regret), percent(self.mean_regret));
        let which = match self.regret {
            Regret::Worst => "worst",
            Regret::Mean => "mean",
        };
        let summary = format!("at worst {worst}, on average {mean}");
        if percent(self.at_least.max(0.0)) == percent(0.0) {
            return summary;
        }
        format!("{summary}; no set has a {which} under {}", percent(self.at_least))
    }
}

/// A line for a `[[scheme]]` table or the host agent's configuration.
pub fn toml(wanted: &Thresholds, answer: &Answer) -> String {
    let more = format!("# More than with each one's own best: {}.\n", answer.summary());
    text::comment(wanted, &answer.forecast(wanted)) + &more + &setting(&answer.thresholds_bytes)
}

/// A table to read.
pub fn table(wanted: &Thresholds, answer: &Answer) -> String {
    let mut text = heading(wanted, &answer.forecast(wanted));
    text.push_str("threshold            bytes\n");
    for (index, bytes) in answer.thresholds_bytes.iter().enumerate() {
        row(&mut text, &format!("{:>9} {bytes:>16}", index + 1));
    }
    let longest = answer.forecasts.iter().map(|forecast| forecast.workload.chars().count()).max();
    let width = longest.unwrap_or(0).max("workload".len());
    let at = format!("{} at {}", wanted.objective, answer.link);
    let value_width = at.chars().count();
    text.push('\n');
    row(&mut text, &format!("{:<width$}  load  {at}  more than with its own best", "workload"));
    for forecast in &answer.forecasts {
        let OfForecast { workload, load, regret, objective_value, .. } = forecast;
        let value = text::value(wanted, *objective_value);
        let regret = percent(*regret);
        row(&mut text, &format!("{workload:<width$}  {load:<4}  {value:>value_width$}  {regret}"));
    }
    row(&mut text, &answer.summary());
    text
}
