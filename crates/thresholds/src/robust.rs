//! One set of thresholds for several forecasts: a range of loads, several distributions, links that
//! differ.
//!
//! The regret of a forecast is the excess of its objective over the one with its own best
//! thresholds, relative to the latter. The mean regret is a sum over forecasts, thus over levels,
//! and its minimum is exact. The worst regret is not such a sum. The minimum of every weighted mean
//! of the regrets is a lower bound on it, and the search looks for the weights with the highest
//! bound.

use flowsched_units::Bytes;
use serde::Serialize;

use crate::ThresholdsError;
use crate::forecast::Forecast;
use crate::names::ModelName;
use crate::objective::Objective;
use crate::optimal::{self, Solution, optimal_for};
use crate::term::CANDIDATES;

/// Which regret is to be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regret {
    /// The largest of all forecasts.
    Worst,
    /// The mean over the forecasts.
    Mean,
}

/// One set of thresholds for several forecasts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Robust {
    /// One fewer than queues.
    pub thresholds_bytes: Vec<u64>,
    /// The regret of each forecast.
    pub regrets: Vec<f64>,
    /// The largest regret.
    pub worst: f64,
    /// The mean regret.
    pub mean: f64,
    /// A lower bound: no thresholds have less of the requested regret.
    pub at_least: f64,
}

/// Rounds of looking for weights, each an optimum for all forecasts together.
const ROUNDS: usize = 24;

/// Sizes to choose from in each round.
const CANDIDATES_A_ROUND: usize = 2_000;

/// The thresholds for `queues` queues that have the smallest regret over `forecasts`.
///
/// # Errors
/// As [`optimal_for`] for each forecast, and for a model whose costs are not sums over levels.
pub fn robust(
    forecasts: &[Forecast],
    queues: usize,
    model: ModelName,
    objective: &Objective,
    regret: Regret,
) -> Result<Robust, ThresholdsError> {
    if forecasts.is_empty() {
        return Err(ThresholdsError::NoForecast);
    }
    if model == ModelName::PiasMm1Bound && forecasts.len() > 1 {
        return Err(ThresholdsError::NotASum { model });
    }
    let best: Vec<f64> = forecasts
        .iter()
        .map(|forecast| {
            optimal_for(forecast, queues, model, objective).map(|best| best.objective_value)
        })
        .collect::<Result<_, _>>()?;
    let search = Search { forecasts, best, queues, model, objective };
    match regret {
        Regret::Mean => search.weighted(&vec![1.0; forecasts.len()], CANDIDATES),
        Regret::Worst => search.worst(),
    }
}

struct Search<'a> {
    forecasts: &'a [Forecast<'a>],
    /// The objective of each forecast with its own best thresholds.
    best: Vec<f64>,
    queues: usize,
    model: ModelName,
    objective: &'a Objective,
}

impl Search<'_> {
    /// The thresholds with the smallest mean regret, weighted by `weights`.
    fn weighted(&self, weights: &[f64], candidates: usize) -> Result<Robust, ThresholdsError> {
        let parts = self.forecasts.iter().zip(weights.iter().zip(&self.best));
        let counted: Vec<(Forecast, f64)> = parts
            .filter(|(_, (weight, _))| **weight > 0.0)
            .map(|(forecast, (weight, best))| (forecast.clone(), weight / best))
            .collect();
        let found =
            optimal::minimise(&counted, self.queues, self.model, self.objective, candidates)?;
        let mut robust = self.regrets(&found.thresholds)?;
        let total: f64 = weights.iter().sum();
        let products = robust.regrets.iter().zip(weights).map(|(regret, weight)| regret * weight);
        robust.at_least = products.sum::<f64>() / total;
        Ok(robust)
    }

    fn regrets(&self, thresholds: &[Bytes]) -> Result<Robust, ThresholdsError> {
        let regret = |(forecast, best): (&Forecast, &f64)| {
            let solution = Solution::evaluate(forecast, self.model, self.objective, thresholds)?;
            Ok(solution.objective_value / best - 1.0)
        };
        let regrets: Vec<f64> =
            self.forecasts.iter().zip(&self.best).map(regret).collect::<Result<_, _>>()?;
        Ok(Robust {
            thresholds_bytes: thresholds.iter().map(|threshold| threshold.get()).collect(),
            worst: regrets.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean: regrets.iter().sum::<f64>() / regrets.len() as f64,
            at_least: f64::NEG_INFINITY,
            regrets,
        })
    }

    /// Moves weight to the forecasts that lose more, in smaller steps each round (multiplicative
    /// weights), and keeps the thresholds with the smallest worst regret.
    fn worst(&self) -> Result<Robust, ThresholdsError> {
        let mut weights = vec![1.0; self.forecasts.len()];
        let mut best = self.weighted(&weights, CANDIDATES_A_ROUND)?;
        let mut at_least = best.at_least;
        let mut found = best.clone();
        for round in 1..ROUNDS {
            let step = 4.0 / libm::sqrt(round as f64);
            let scale = found.worst.max(1e-12);
            for (weight, regret) in weights.iter_mut().zip(&found.regrets) {
                *weight *= libm::exp(step * (regret - found.mean) / scale);
            }
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            found = self.weighted(&weights, CANDIDATES_A_ROUND)?;
            at_least = at_least.max(found.at_least);
            if found.worst < best.worst {
                best = found.clone();
            }
            if best.worst - at_least < 1e-4 {
                break;
            }
        }
        Ok(Robust { at_least, ..best })
    }
}

/// Thresholds of one of several links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkThresholds {
    /// The link's name.
    pub link: String,
    /// Its own best thresholds.
    pub own: Solution,
    /// The relative excess of its objective with the common thresholds over that with its own best
    /// ones.
    pub loss_with_common: f64,
}

/// Thresholds for links that differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerLink {
    /// For each link.
    pub links: Vec<LinkThresholds>,
    /// The one set for all links with the smallest mean regret.
    pub common: Robust,
}

/// The best thresholds for each of several links, which have their own sizes and loads, and the
/// best common ones.
///
/// # Errors
/// As [`robust`].
pub fn per_link(
    links: &[(String, Forecast)],
    queues: usize,
    model: ModelName,
    objective: &Objective,
) -> Result<PerLink, ThresholdsError> {
    let forecasts: Vec<Forecast> = links.iter().map(|(_, forecast)| forecast.clone()).collect();
    let common = robust(&forecasts, queues, model, objective, Regret::Mean)?;
    let of_link = |((link, forecast), regret): (&(String, Forecast), &f64)| {
        Ok(LinkThresholds {
            link: link.clone(),
            own: optimal_for(forecast, queues, model, objective)?,
            loss_with_common: *regret,
        })
    };
    let links = links.iter().zip(&common.regrets).map(of_link).collect::<Result<_, _>>()?;
    Ok(PerLink { links, common })
}
