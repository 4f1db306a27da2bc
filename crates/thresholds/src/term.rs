//! The terms that the optimiser adds up: one link of one forecast, with the weight of a byte of
//! service there.

use crate::ThresholdsError;
use crate::edge::Edges;
use crate::forecast::Forecast;
use crate::objective::Objective;

/// The number of sizes among which the optimum is exact.
pub const CANDIDATES: usize = 10_000;

/// One link of one forecast, with the weight of a byte of service there.
pub(crate) struct Term {
    /// The forecast's weight, times the seconds that a byte takes.
    pub(crate) scale: f64,
    pub(crate) edges: Edges,
}

/// The terms of `forecasts`, each counted this many times, with edges at `sizes`.
pub(crate) fn terms(
    forecasts: &[(Forecast, f64)],
    objective: &Objective,
    sizes: &[f64],
) -> Result<Vec<Term>, ThresholdsError> {
    let mut terms = Vec::new();
    for (forecast, factor) in forecasts {
        let weight = objective.weight(forecast)?;
        for link in &forecast.path.links {
            let scale = factor * forecast.seconds_per_byte(link);
            terms.push(Term { scale, edges: Edges::new(forecast, link, &weight, sizes) });
        }
    }
    Ok(terms)
}
