//! Demotion thresholds: models of what they do to flow completion times, and their exact
//! optimum.
//!
//! What lives here: the models, the optimiser, thresholds to compare with, how much is lost when
//! load or sizes differ from the forecast. What may not: tagging packets, files, output.
//!
//! The insight: if the traffic of a queue is exact, the delay of a flow is a sum of terms that each
//! depend on the two ends of one level. The best thresholds are then a shortest path with K steps
//! over candidate sizes, and dynamic programming finds the exact optimum.

mod baseline;
mod bound;
mod branch_and_bound;
mod candidates;
mod comparison;
mod edge;
mod error;
mod forecast;
mod instance;
mod known_size;
mod level_costs;
mod model;
mod names;
mod objective;
mod optimal;
mod prediction;
mod robust;
mod sensitivity;
mod shortest_path;
mod term;

pub use baseline::{
    EXPONENTIAL_BASE, EXPONENTIAL_FACTOR, PUBLISHED, PUBLISHED_QUEUES, Published, equal_split,
    exponential, published,
};
pub use comparison::{Other, ThresholdComparison, compare};
pub use error::{MOST_QUEUES, ThresholdsError};
pub use forecast::{DEFAULT_LINK, Forecast, Link, Path};
pub use known_size::optimal_known_sizes;
pub use names::{DEFAULT_MODEL, MODELS, ModelName, OBJECTIVES};
pub use objective::{Objective, SMALL};
pub use optimal::{Solution, optimal_for};
pub use prediction::{ByClass, Predicted, Predictor};
pub use robust::{LinkThresholds, PerLink, Regret, Robust, per_link, robust};
pub use sensitivity::{Deviation, Loss, sensitivity, usual_deviations};
pub use term::CANDIDATES;

use flowsched_units::Bytes;
use flowsched_workload::sizes::SizeDistribution;

/// The thresholds for `queues` queues on one link at `load`: what `thresholds = "optimal"` in an
/// experiment stands for.
///
/// # Errors
/// As [`optimal_for`].
pub fn optimal(
    sizes: &SizeDistribution,
    load: f64,
    queues: usize,
    model: ModelName,
    objective: &Objective,
) -> Result<Vec<Bytes>, ThresholdsError> {
    let solution = optimal_for(&Forecast::new(sizes, load), queues, model, objective)?;
    Ok(solution.thresholds())
}
