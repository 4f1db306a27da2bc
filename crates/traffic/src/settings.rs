//! What a client is told beside its configuration.

use std::time::Duration;

use flowsched_units::{Rate, Time};

/// How a client goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The load of the client's link, headers counted.
    pub load: Rate,
    /// How many requests, if that ends them.
    pub requests: Option<u64>,
    /// The time at and after which no request starts, if that ends them.
    pub duration: Option<Time>,
    /// How long to wait for flows after the last request: flows that have not come then are unfinished.
    pub wait: Duration,
}
