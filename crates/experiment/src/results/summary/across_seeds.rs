//! The figures of one scheme over all seeds. Schemes are compared elsewhere.

use serde::{Deserialize, Serialize};

use crate::results::{Point, SteadyState};

/// What the seeds of one scheme at one point show together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AcrossSeeds {
    /// The point of the sweep.
    pub point: Point,
    /// The scheme.
    pub scheme: String,
    /// The number of seeds with complete runs.
    pub seeds: u64,
    /// The number of distinct results among these seeds. Seeds with the same FCTs flow by flow
    /// count once.
    pub samples: u64,
    /// Whether the runs are in steady state. `None` if this means nothing here, or if there are too
    /// few flows.
    pub steady_state: Option<SteadyState>,
}
