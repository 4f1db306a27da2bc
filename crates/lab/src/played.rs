//! What hosts tell of the flows that they played.

use flowsched_schemes::world::{FlowOutcome, Uncounted};
use flowsched_units::Time;

/// What became of flows that were played.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// By flow.
    pub flows: Vec<FlowOutcome>,
    /// By how much the latest of them began too late.
    pub latest: Time,
    /// What hosts do not tell of the flows.
    pub uncounted: Uncounted,
}
