//! The figures of one scheme over all seeds. How schemes compare is not decided here.

use serde::{Deserialize, Serialize};

use crate::results::{Point, SteadyState};

/// What the seeds of one scheme at one point say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AcrossSeeds {
    /// The point of the sweep.
    pub point: Point,
    /// The scheme.
    pub scheme: String,
    /// Seeds with complete runs.
    pub seeds: u64,
    /// How many of these seeds differ in the FCT of any flow.
    pub samples: u64,
    /// Whether the runs are in steady state; `None` where this means nothing or cannot be said.
    pub steady_state: Option<SteadyState>,
}
