//! Why thresholds cannot be found.

use flowsched_units::Bytes;
use thiserror::Error;

use crate::names::{ModelName, OBJECTIVES};

/// The largest number of queues that a port has.
pub const MOST_QUEUES: usize = 64;

/// Why there are no thresholds.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ThresholdsError {
    /// A load at which there is no steady state, or no traffic.
    #[error("load: found {found}, expected a number over 0 and less than 1")]
    Load {
        /// What was given.
        found: f64,
    },
    /// No queue, or more than a port has.
    #[error("queues: found {found}, expected a whole number from 1 to {MOST_QUEUES}")]
    Queues {
        /// What was given.
        found: usize,
    },
    /// A path without a link.
    #[error("path: found no link, expected at least one")]
    NoLink,
    /// A link that carries nothing.
    #[error("link: found a rate of 0, expected one over 0 such as \"10Gbps\"")]
    NoRate,
    /// No objective.
    #[error(
        "objective: found \"{found}\", expected {}, \"small-fct SIZE\", or a mixture with weights \
         over 0 such as \"0.7 mean-fct + 0.3 mean-slowdown\"", OBJECTIVES.join(", ")
    )]
    Objective {
        /// What was given.
        found: String,
    },
    /// No model.
    #[error("model: found \"{found}\", expected one of {}", ModelName::allowed())]
    Model {
        /// What was given.
        found: String,
    },
    /// An objective over small flows where there are none.
    #[error(
        "objective: found \"small-fct\" up to {limit}, but the smallest flow has {smallest}; \
         expected a size that some flows do not exceed"
    )]
    NoSmallFlow {
        /// Up to where flows are small.
        limit: Bytes,
        /// The smallest size.
        smallest: Bytes,
    },
    /// A model that has no steady state although the link has.
    #[error(
        "{model} has no steady state at load {load} with {queues} queues: its upper bound on the \
         traffic of a queue exceeds what the link carries, whatever the thresholds. Use {}, or a load \
         of at most {highest:.3}",
        ModelName::PiasMm1
    )]
    Unstable {
        /// The model.
        model: ModelName,
        /// The load asked for.
        load: f64,
        /// The number of queues.
        queues: usize,
        /// The load up to which the best choice of thresholds is stable.
        highest: f64,
    },
    /// Thresholds given for evaluation under which a model has no steady state.
    #[error("thresholds: {model} has no steady state with these thresholds at load {load}")]
    UnstableThresholds {
        /// The model.
        model: ModelName,
        /// The load asked for.
        load: f64,
    },
    /// Thresholds that fall.
    #[error("thresholds: found {next} after {before}, expected sizes that do not fall")]
    Falling {
        /// A threshold.
        before: Bytes,
        /// The one after it.
        next: Bytes,
    },
    /// A model that has no thresholds for several forecasts at once.
    #[error(
        "{model}: its delays are not a sum over levels, so it has no thresholds for several loads, \
         workloads or links. Use {} or {}.",
        ModelName::PiasMm1,
        ModelName::MultilevelFcfs
    )]
    NotASum {
        /// The model.
        model: ModelName,
    },
    /// A list of forecasts or links with nothing in it.
    #[error("forecasts: found none, expected at least one load, distribution or link")]
    NoForecast,
}
