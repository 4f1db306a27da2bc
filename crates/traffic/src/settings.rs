//! Settings of a client that are not in its configuration file.

use std::time::Duration;

use flowsched_units::{Rate, Time};

/// Settings of a client.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The seed of all random draws.
    pub seed: u64,
    /// The load of the client's link, headers included.
    pub load: Rate,
    /// The number of requests; `None` for no limit.
    pub requests: Option<u64>,
    /// No request starts at or after this time; `None` for no limit.
    pub duration: Option<Time>,
    /// How long to wait for flows after the last request. Flows that have not ended then are unfinished.
    pub wait: Duration,
}
